"""An anonymised corpus with its questions, in the form of AnonyRAG: a model cannot answer from memory.

Entities come from a build; then follow ids, tasks from the facts of its graph or in a model's words, and a check for
leaks.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice

from ...agents.construction.graph import build_graph
from ...agents.construction.state import BuildContext, BuildInput
from ...agents.resources import Resources
from ...graph_store.graph.resolved_graph import ResolvedGraph
from ...models.llm.judging import Reteller
from ...models.reasoner import Reasoner
from ...prompts import language_of
from ...runtime.budgets import Budget, charge_calls
from ...runtime.event_loop import in_parallel, run
from ...schemas.documents import Frozen
from ...schemas.inquiry import Inquiry
from ...schemas.naming import content_id
from ...schemas.retrieval import DraftAnswer
from .anonymous_names import MARK, Anonymiser, AnonymityError, AnonymityKey, all_leaks, leaks, named_entities
from .published_datasets import bench_question
from .scoring import score

_FACTS = 6
_OPTIONS = 4
_REVERT = {
    "en": "Read the statements below. For every anonymised person and place in them, find out from the texts which "
          "name was replaced, and give each id with its name, as in PERSON#1——Ishmael.",
    "zh": "请阅读下列陈述，结合文本推断其中所有被匿名化的人名和地名原本的内容，"
          "逐一给出编号与名称，形如 PERSON#1——鲁智深。"}
_CHOOSE = {"en": "Which is right? {head}, {relation}:", "zh": "下列哪一项正确？{head}，{relation}："}
Anonymised = Callable[[str], str]
Fact = tuple[str, str, str]
"""The ids of head and tail, and the relation in words between them."""
_FACTS_OF_PASSAGE = 12
_FEWEST_IDS = 2
_KNOWN = 0.5
"""The score above which a model knows the source: half of the names, or the right option."""


class Task(Frozen):
    """A question and its answer, as in AnonyRAG's files."""

    question: str
    answer: str


def facts_by_ids(graph: ResolvedGraph, key: AnonymityKey, anonymised: Anonymised) -> list[Fact]:
    """Return the graph's triples whose two ends have different ids, in the graph's order.

    Args:
        graph: the graph with the triples.
        key: the key with the ids.
        anonymised: replaces the names in a text.
    """
    facts = list[Fact]()
    for head, relation, tail in graph.edges():
        ends = [mark[1] for end in (head, tail) if (mark := MARK.fullmatch(anonymised(graph.name(end))))]
        if len(ends) == 2 and ends[0] != ends[1] and key.entities.keys() >= set(ends):  # noqa: PLR2004  (of a triple)
            facts.append((ends[0], relation.replace("_", " "), ends[1]))
    return facts


def by_head(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    """Group facts by the id of their head."""
    by_id: dict[str, list[Fact]] = {}
    for fact in facts:
        by_id.setdefault(fact[0], []).append(fact)
    return by_id


def tasks_from_facts(facts: Sequence[Fact], key: AnonymityKey) -> list[Task]:
    """Create a reversion task for each entity with facts, and a multiple-choice task for its first fact."""
    names, stated = key.usual_names, by_head(facts)
    tails: dict[str, list[str]] = {}
    for *_, tail in facts:
        tails.setdefault(tail.partition("#")[0], []).append(tail)
    return [task for identifier in sorted(stated, key=_number) for task in (
        _reversion(stated[identifier][:_FACTS], names), *_choices(stated[identifier][:1], stated, tails, names))]


def _number(identifier: str) -> tuple[str, int]:
    kind, _, number = identifier.partition("#")
    return kind, int(number)


def reversion(statements: str, ids: Iterable[str], names: dict[str, str]) -> Task:
    """Create a task of finding the names of ids from statements about them."""
    asked = {identifier: names[identifier] for identifier in ids}
    return Task(question=f"{_REVERT[language_of(''.join(asked.values()))]}\n{statements}",
                answer="\n".join(f"{identifier}——{name}" for identifier, name in asked.items()))


def _reversion(facts: Sequence[Fact], names: dict[str, str]) -> Task:
    lines = [f"- [{head}] {relation} [{tail}]" for head, relation, tail in facts]
    return reversion("\n".join(lines), dict.fromkeys(end for head, _, tail in facts for end in (head, tail)), names)


def _choices(facts: Sequence[Fact], stated: dict[str, list[Fact]],
             tails: dict[str, list[str]], names: dict[str, str]) -> list[Task]:
    made = []
    for head, relation, tail in facts:
        true = {other for _, same, other in stated[head] if same == relation}
        others = [other for other in dict.fromkeys(tails[tail.partition("#")[0]]) if other not in true | {head}]
        if len(others) < _OPTIONS - 1:
            continue
        place = _number(tail)[1] % _OPTIONS  # spreads the right answers over the letters, reproducibly
        options = others[:_OPTIONS - 1]
        options.insert(place, tail)
        lines = [f"{chr(ord('A') + number)}. [{option}]" for number, option in enumerate(options)]
        asked = _CHOOSE[language_of(names[tail])].format(head=f"[{head}]", relation=relation)
        made.append(Task(question="\n".join([asked, *lines]),
                         answer=f"{chr(ord('A') + place)}. [{tail}]"))
    return made


def written_tasks(reteller: Reteller, facts: Sequence[Fact], key: AnonymityKey, anonymised: Anonymised,
                  most: int) -> list[Task]:
    """Create tasks of Anonymity Reversion over passages that a model writes, each from the facts around one entity.

    Entities with the most facts come first. A passage with fewer than two ids, or with a leaked name, is dropped.

    Args:
        reteller: the model.
        facts: the facts of the graph, by ids.
        key: the names of the ids.
        anonymised: replaces the names in a text.
        most: the number of passages to write.

    Raises:
        ReasonerError: the endpoint failed, or wrote nothing usable.
        BudgetExceeded: a call would exceed the budget.
    """
    names, around = key.usual_names, by_head(facts)
    first = sorted(around, key=lambda identifier: (-len(around[identifier]), identifier))[:most]
    groups = []
    for identifier in first:
        near = [*around[identifier], *(fact for *_, tail in around[identifier] for fact in around.get(tail, ()))]
        groups.append([f"{names[head]} | {relation} | {names[tail]}"
                       for head, relation, tail in islice(dict.fromkeys(near), _FACTS_OF_PASSAGE)])
    tasks = []
    for passage in map(anonymised, run(reteller.retell, groups)):
        ids = [mark for mark in dict.fromkeys(MARK.findall(passage)) if mark in names]
        if len(ids) >= _FEWEST_IDS and not leaks(passage, key):
            tasks.append(reversion(passage, ids, names))
    return tasks


def not_from_memory(tasks: Collection[Task], reasoner: Reasoner, workers: int) -> list[Task]:
    """Return the tasks that a model does not solve without the texts (AnonyRAG's zero-shot filter).

    Args:
        tasks: tasks of reversion and multiple choice.
        reasoner: answers from its own knowledge.
        workers: the number of tasks asked at once.

    Raises:
        ReasonerError: the endpoint failed, or gave no usable answer.
        BudgetExceeded: a call would exceed the budget.
    """
    async def knows(task: Task) -> bool:
        asked = Inquiry(question=task.question, mode="open", is_last=True)
        draft = (await reasoner.judge(asked)).draft or DraftAnswer(answerable=False)
        question = bench_question("", task.question, task.answer)
        answer = "\n".join(claim.text for claim in draft.claims)
        right = score(question, draft.short, answer, declined=not draft.answerable).right if question else None
        return (right or 0) > _KNOWN

    return [task for task, known in zip(tasks, run(in_parallel, knows, [*tasks], workers), strict=True) if not known]


class Corpus(Frozen):
    """Anonymised texts by their names, tasks about them, the user's questions, and the key, stored separately."""

    texts: dict[str, str]
    tasks: tuple[Task, ...]
    questions: tuple[Task, ...]
    key: AnonymityKey
    leaks: tuple[str, ...]


def anonymise(resources: Resources, texts: Mapping[str, str], types: Collection[str], *, schema: str = "general",
              questions: Collection[Task] = (), written: int = 0, from_memory: bool = True,
              max_tokens: int | None = None) -> Corpus:
    """Anonymise texts and the user's questions, generate tasks about them, and check for leaks.

    The knowledge base that finds the entities remains, so another run pays nothing again. The model writes as many
    tasks as `written`, in addition to those from facts; without `from_memory` those that it solves without the texts
    are left out.

    Raises:
        AnonymityError: the build stopped or failed in part, no entity of the types was found, or the options need a
            model and the settings name no model.
        ReasonerError: the model failed at a task.
        BudgetExceeded: the budget is reached; paid replies are stored for the next run.
    """
    if (written or not from_memory) and not resources.settings.uses_llm:
        raise AnonymityError("tasks in a model's words, and the check of what it solves from memory, need a model: set "
                             "BANYAN_LLM_BASE_URL and BANYAN_LLM_MODEL, or leave them out")
    budget = None if max_tokens is None else Budget(max_tokens)
    name = f"anonymise-{content_id(schema, *(part for item in sorted(texts.items()) for part in item))[:12]}"
    build_input: BuildInput = {"knowledge_base": name, "schema": schema,
                               "documents": [{"id": key, "text": text} for key, text in texts.items() if text.strip()]}
    context = BuildContext(max_tokens=max_tokens, retry_failed=True)
    report = run(partial(build_graph(resources).ainvoke, build_input, context=context))["report"]
    if budget:
        budget.add("", report["tokens"]["prompt"], report["tokens"]["completion"])
    if report["stopped"] or report["chunks_failed"]:
        why = report["stopped"] or f"{report['chunks_failed']} chunks failed"
        raise AnonymityError(f"finding the names: {why}; run the command again to resume")
    all_texts = [*texts.values(), *(part for task in questions for part in (task.question, task.answer))]
    with resources.snapshot(name) as snapshot:
        entities = named_entities(snapshot.kb.graph, types, all_texts)
        if not entities:
            raise AnonymityError(f"no entity of the types {', '.join(sorted(types))} was found: name others (--types), "
                                 "or another schema (--schema)")
        anonymiser = Anonymiser(entities)
        changed = {key: anonymiser.replace(key, text) for key, text in texts.items()}
        places = anonymiser.key.places
        hide = partial(anonymiser.replace, "")
        facts = facts_by_ids(snapshot.kb.graph, anonymiser.key, hide)
    hidden_questions = tuple(Task(question=hide(task.question), answer=hide(task.answer)) for task in questions)
    tasks = tasks_from_facts(facts, anonymiser.key)
    if written or not from_memory:
        with resources.standalone_reasoner() as (reasoner, calls), charge_calls(build=name, budget=budget):
            tasks += written_tasks(Reteller(resources.settings, calls), facts, anonymiser.key, hide, written)
            if not from_memory:
                tasks = not_from_memory(tasks, reasoner, resources.settings.llm_concurrency)
    key = AnonymityKey(entities=anonymiser.key.entities, places=places)
    # Answers of reversion tasks contain the names, so only questions are checked.
    asked = [("questions", task.question) for task in (*tasks, *hidden_questions)]
    return Corpus(texts=changed, tasks=tuple(tasks), questions=hidden_questions, key=key,
                  leaks=tuple(all_leaks([*changed.items(), *asked], key)))


def as_rows(texts: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the texts as rows of AnonyRAG's file of chunks."""
    return [{"title": name, "text": text} for name, text in texts.items()]
