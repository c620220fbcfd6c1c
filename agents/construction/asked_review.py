"""Ask a person about schema candidates and about a proposed first schema: what is shown, and which answers count."""

from collections.abc import Callable, Sequence
from typing import Any

from langgraph.types import interrupt

from ...graph_store.evolution.elements import KIND_NAMES, DecisionError, only_in
from ...graph_store.evolution.growth import review_elements
from ...graph_store.knowledge_base import KnowledgeBase
from ...models.llm.llm_reasoner import SchemaWriter
from ...runtime.event_loop import run
from ...schemas.delta import ACTION, HOW, Candidate, Decision, ElementKind, ReviewError, action_request, read_answer
from ...schemas.graph_schema import AttributeType, RelationType, SchemaElement
from ..schema_proposal import SAMPLE, choose_excerpts, core_schema, propose_schema, reasons_of

REVIEWED_AT_ONCE = 20
"""How many candidates a person is shown at once."""
_SHOWN = 2
"""Examples of each candidate that the summary quotes; all are in the delta."""
_QUESTION = ("A model proposes these elements for the schema, beside a small core. What you do not mention "
             "stays as proposed.")


def ask_person(knowledge_base: str, candidates: Sequence[Candidate],
               decide: Callable[[list[Decision], str], object], *, question: str = "", who: str = "") -> None:
    """Interrupt the run and ask a person about candidates, again and again until an answer can be applied.

    `decide` applies decisions and gets the name of the person; it raises DecisionError if it cannot. `question` is what
    the person is asked; "" asks which candidates may join the schema. `who` is the client that resumes the run.
    """
    error = ""
    while True:
        answer = interrupt(request(knowledge_base, candidates, error, question))
        try:
            review = read_answer(answer, candidates, who or "reviewer")
            decide(review.on(candidates), review.who)
        except (ReviewError, DecisionError) as wrong:
            error = str(wrong)
        else:
            return


def request(knowledge_base: str, candidates: Sequence[Candidate], error: str = "", question: str = "",
            ) -> dict[str, Any]:
    """Build the value of the interrupt that a person answers: LangChain's `HITLRequest` with further keys.

    Front ends for LangChain show `action_requests` and `review_configs`. For other programs, `delta` has the candidates
    with all their evidence. `error` says why the previous answer could not be applied.
    """
    count = len(candidates)
    wrong = f"nothing was changed: {error}" if error else ""
    descriptions = list[str]()
    for number, candidate in enumerate(candidates, 1):
        subjects, objects = ("/".join(types) or "any" for types in (candidate.subject_types, candidate.object_types))
        signature = {"relation": f" ({subjects} -> {objects})", "attribute": f" ({subjects}: {objects})"}
        documents = f"{candidate.documents} document{'s' * (candidate.documents > 1)}"
        evidence = "; ".join(f'{example.document}: "{example.words}"' for example in candidate.examples[:_SHOWN])
        descriptions.append(
            f"{number}. {KIND_NAMES[candidate.kind]} {candidate.name!r}{signature.get(candidate.kind, '')}, in "
            f"{documents}, confidence {candidate.confidence:.2f}{f'. {evidence}' if evidence else ''}")
    if wrong:  # The standard form has no place for an error.
        descriptions[0] = f"{wrong}\n\n{descriptions[0]}"
    return {
        "action_requests": [*map(action_request, candidates, descriptions)],
        "review_configs": [{"action_name": ACTION, "allowed_decisions": ["approve", "edit", "reject"]}],
        "title": f"Schema review of {knowledge_base!r}: {count} candidate{'s' * (count > 1)}",
        **({"error": wrong} if wrong else {}),
        "question": question or f"The documents speak of {'these' if count > 1 else 'this'}, and the schema has no "
                                f"name for {'them' if count > 1 else 'it'}. What may join the schema?",
        "how_to_answer": HOW,
        "delta": {"candidates": [candidate.model_dump(mode="json") for candidate in candidates]},
    }


def fit_schema(kb: KnowledgeBase, writer: SchemaWriter, *, review: bool, who: str = "") -> bool:
    """Propose a schema from the documents and put it in force as version 1, after a person's review if `review`.

    The schema is stored only when it is complete. If the build is interrupted before, the next build proposes the same
    schema again without new calls, because the model's answers are cached.

    Returns:
        False if the documents have no text yet; the knowledge base then still has no schema.

    Raises:
        ReasonerError: a call failed for good.
        BudgetExceeded: a call would exceed the budget.
    """
    excerpts_by_call = choose_excerpts(kb.documents.sample(SAMPLE), kb.documents.count_characters())
    if not excerpts_by_call:
        return False
    proposed = run(propose_schema, writer, excerpts_by_call)
    reasons = reasons_of(proposed, sum(map(len, excerpts_by_call)), kb.documents.count_documents())
    if not review:
        kb.schemas.append(proposed, reasons, "auto")
        return True

    def decide(decisions: list[Decision], who: str) -> None:
        reviewed, review_reasons = review_elements(proposed, decisions)
        kb.schemas.append(reviewed, [*reasons, *review_reasons], who)

    candidates = [_candidate(kind, element) for kind, element in only_in(proposed, core_schema())]
    ask_person(kb.layout.name, candidates, decide, question=_QUESTION, who=who)
    return True


def _candidate(kind: ElementKind, element: SchemaElement) -> Candidate:
    """Return a proposed schema element as a candidate; a model proposed it, so no document counts as its support."""
    subjects: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    if isinstance(element, RelationType):
        subjects, objects = element.domain, element.range
    elif isinstance(element, AttributeType):
        subjects, objects = element.owners, (element.kind,)
    return Candidate(kind=kind, name=element.name, labels=element.all_names(), documents=0, occurrences=0,
                     confidence=1.0, subject_types=subjects, object_types=objects)
