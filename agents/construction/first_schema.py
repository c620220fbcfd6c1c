"""The first schema of a knowledge base: a seed, or one that a model proposes and a person may review."""

from ...graph_store.evolution.elements import KIND_NAMES, find_element
from ...graph_store.evolution.growth import review_elements
from ...graph_store.knowledge_base import KnowledgeBase
from ...models.llm.inferring import SchemaWriter
from ...runtime.event_loop import run
from ...schemas.delta import Candidate, Decision, ElementKind
from ...schemas.graph_schema import AttributeType, GraphSchema, RelationType, SchemaElement
from ..schema_proposal import SAMPLE, choose_excerpts, core_schema, propose_schema, reasons_of
from .asked_review import ask_person

_QUESTION = ("A model proposes these elements for the schema, beside a small core. What you do not mention "
             "stays as proposed.")


def fit_schema(kb: KnowledgeBase, writer: SchemaWriter, *, review: bool, who: str = "") -> bool:
    """Propose a schema from the documents and put it in force as version 1.

    Nothing is stored before the whole schema is known, and the model's answers are cached, so a build that ends
    meanwhile proposes the same again without a second call.

    Args:
        kb: a knowledge base without a schema.
        writer: asks the model.
        review: interrupt the run, so a person decides on the proposal.
        who: the client that resumes the run.

    Returns:
        False if there is no text yet, which leaves the knowledge base without a schema.

    Raises:
        ReasonerError: a call failed for good.
        BudgetExceeded: a call would exceed the budget.
    """
    calls = choose_excerpts(kb.documents.sample(SAMPLE), kb.documents.count_characters())
    if not calls:
        return False
    proposed = run(propose_schema, writer, calls)
    reasons = reasons_of(proposed, sum(map(len, calls)), kb.documents.count_documents())
    if not review:
        kb.schemas.append(proposed, reasons, "auto")
        return True

    def decide(decisions: list[Decision], who: str) -> None:
        reviewed, taken = review_elements(proposed, decisions)
        kb.schemas.append(reviewed, [*reasons, *taken], who)

    ask_person(kb.layout.name, proposed_candidates(proposed), decide, question=_QUESTION, who=who)
    return True


def proposed_candidates(proposed: GraphSchema) -> list[Candidate]:
    """Return the elements of a proposal that are not part of the core, as a person reviews candidates."""
    core = core_schema()
    return [_candidate(kind, element) for kind in KIND_NAMES for element in proposed.elements(kind)
            if find_element(core, kind, element.name) is None]


def _candidate(kind: ElementKind, element: SchemaElement) -> Candidate:
    subjects: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    if isinstance(element, RelationType):
        subjects, objects = element.domain, element.range
    elif isinstance(element, AttributeType):
        subjects, objects = element.owners, (element.kind,)
    return Candidate(kind=kind, name=element.name, labels=element.all_names(), documents=0, occurrences=0,
                     confidence=1.0, subject_types=subjects, object_types=objects)
