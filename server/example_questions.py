"""Questions that a knowledge base's graph can answer, as examples for a first visit and as follow-ups.

They are tried before the page offers them, without a model, so trying costs nothing.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, partial
from typing import Any, NamedTuple, cast

from cachetools import LRUCache
from langchain_core.messages import HumanMessage
from langgraph.graph.state import CompiledStateGraph

from ..agents.resources import Resources
from ..agents.retrieval.graph import build_graph
from ..agents.retrieval.state import AskContext, AskInput, AskOutput, AskState
from ..graph_store.graph.knowledge_graph import EdgeKey
from ..models.rules.content_words import Language, language_of
from .graph_view import GraphView
from .responses import Node

_LOOKED_AT = 80
"""Entities to consider: the best connected ones, which a visitor most likely knows."""
_TRIED = 15
"""Questions to try for one answer: each takes about a tenth of a second the first time."""
_MOST_REMEMBERED = 2_000
"""Tried questions to remember."""
_FACTS = 40
"""Facts of one entity to consider."""


_FactsFrom = Callable[[str], Sequence[EdgeKey]]
"""Returns the facts whose head is the entity with this id."""


class _Wording(NamedTuple):
    """The question for a relation, and the description of its other end; `{}` is the entity."""

    question: str
    description: str = ""


_RELATIONS: dict[Language, dict[str, _Wording]] = {
    "en": {
        "born_in": _Wording("Where was {} born?"),
        "died_in": _Wording("Where did {} die?"),
        "educated_at": _Wording("Where did {} study?"),
        "works_for": _Wording("Where did {} work?"),
        "spouse": _Wording("Who was {} married to?"),
        "child_of": _Wording("Who were the parents of {}?"),
        "located_in": _Wording("Where is {} located?"),
        "capital_of": _Wording("What is {} the capital of?"),
        "flows_into": _Wording("What does {} flow into?"),
        "founded_by": _Wording("Who founded {}?", "the founder of {}"),
        "created_by": _Wording("Who created {}?", "the creator of {}"),
        "directed_by": _Wording("Who directed {}?", "the director of {}"),
        "performed_by": _Wording("Who performed {}?", "the performer of {}"),
        "produced_by": _Wording("Who produced {}?", "the producer of {}"),
        "received_award": _Wording("Which award did {} receive?"),
        "discovered_by": _Wording("Who discovered {}?", "the discoverer of {}"),
        "named_after": _Wording("What is {} named after?"),
        "part_of": _Wording("What is {} part of?"),
        "leads": _Wording("What does {} lead?"),
        "reports_to": _Wording("Who does {} report to?"),
        "acquired": _Wording("Which company did {} acquire?"),
        "subsidiary_of": _Wording("Which company owns {}?"),
        "supplies": _Wording("Whom does {} supply?"),
    },
    "zh": {
        "born_in": _Wording("{}出生在哪里？"),
        "died_in": _Wording("{}在哪里去世？"),
        "educated_at": _Wording("{}毕业于哪所学校？"),
        "works_for": _Wording("{}在哪里工作？"),
        "spouse": _Wording("{}的配偶是谁？"),
        "child_of": _Wording("{}的父母是谁？"),
        "located_in": _Wording("{}位于哪里？"),
        "capital_of": _Wording("{}是哪里的首府？"),
        "flows_into": _Wording("{}流入哪里？"),
        "founded_by": _Wording("{}的创始人是谁？", "{}的创始人"),
        "created_by": _Wording("{}的作者是谁？", "{}的作者"),
        "produced_by": _Wording("{}由谁生产？"),
        "received_award": _Wording("{}获得过什么奖？"),
        "discovered_by": _Wording("谁发现了{}？", "发现{}的人"),
        "named_after": _Wording("{}以什么命名？"),
        "part_of": _Wording("{}属于什么？"),
    },
}
_ATTRIBUTES: dict[Language, dict[str, str]] = {
    "en": {"birth_date": "When was {} born?", "death_date": "When did {} die?",
           "founding_date": "When was {} founded?", "release_date": "When was {} released?",
           "event_date": "When did {} take place?", "population": "What is the population of {}?",
           "length": "How long is {}?", "area": "What is the area of {}?", "height": "How tall is {}?"},
    "zh": {"birth_date": "{}出生于哪一年？", "death_date": "{}于何时去世？", "founding_date": "{}成立于何时？",
           "release_date": "{}于何时发布？", "event_date": "{}发生在何时？", "population": "{}的人口是多少？",
           "length": "{}有多长？", "area": "{}的面积是多少？"},
}
_RELATED: dict[Language, str] = {"en": "How is {} related to {}?", "zh": "{}和{}有什么关系？"}


_FIRST = ("discovered_by", "founded_by", "created_by", "directed_by", "performed_by", "produced_by")
"""Relations for the first step of a question over two facts, the most informative first."""
_SHARED = 2
"""Most facts of that relation from one entity, so "the discoverer of" it identifies somebody."""
_SECOND = frozenset({"born_in", "died_in", "educated_at", "located_in", "flows_into", "founded_by", "directed_by",
                     "discovered_by"})
"""Relations for the second step: they usually have one answer."""


class _Question(NamedTuple):
    text: str
    form: str
    """The kind of question, so examples differ in kind."""
    about: str


def example_questions(view: GraphView, is_answered: Callable[[str], bool] = lambda _: True, *,
                      about: Sequence[str] = (), most: int = 3) -> list[str]:
    """Return questions whose answers are in the graph, of different forms and about different entities if possible.

    Args:
        view: the graph of a knowledge base.
        is_answered: tries a question; those without an answer are left out.
        about: ids of the entities to ask about; empty means the best connected ones.
        most: the maximum number of questions.

    Returns:
        The questions, in the language of their names; a question over two facts comes first, if there is one.
    """
    nodes = view.find(about) if about else view.nodes[:_LOOKED_AT]
    facts = cache(partial(_facts_from, view))  # every kind of question reads them, for each relation
    chosen: list[_Question] = []
    tries = iter(range(_TRIED))

    def works(question: _Question) -> bool:
        return next(tries, None) is not None and is_answered(question.text)

    # Take a question of each kind in turn; repeat a form or an entity only if nothing else is left.
    for strict in (True, False):
        waiting = [kind(view, nodes, facts) for kind in (_of_two_facts, _of_values, _of_facts, _of_pairs)]
        while waiting and len(chosen) < most:
            waiting = [questions for questions in waiting if _take(questions, chosen, works, strict=strict, most=most)]
    return [question.text for question in chosen]


def _take(questions: Iterator[_Question], chosen: list[_Question], works: Callable[[_Question], bool], *,
          strict: bool, most: int) -> bool:
    """Take the next question that works and differs from those chosen; return False if there is none."""
    for question in questions:
        alike = [one for one in chosen if one.text == question.text
                 or (strict and (one.form == question.form or one.about == question.about))]
        if alike:
            continue
        if len(chosen) == most:
            return True
        if works(question):
            chosen.append(question)
            return True
    return False


def _of_two_facts(view: GraphView, nodes: Sequence[Node], facts: _FactsFrom) -> Iterator[_Question]:
    for wanted in _FIRST:
        for node in nodes:
            for _, first, middle in facts(node.id):
                if first == wanted and view.count(node.id, first) <= _SHARED:
                    yield from _further(node, (first, middle), facts)


def _further(node: Node, step: tuple[str, str], facts: _FactsFrom) -> Iterator[_Question]:
    """Yield questions about the other end of an entity's fact; `step` is the fact's relation and that end."""
    (first, middle), wordings = step, _RELATIONS[language_of(node.name)]
    described = wordings[first].description if first in wordings else ""
    for _, second, end in facts(middle) if described else ():
        if second in _SECOND and second in wordings and second != first and end != node.id:
            yield _Question(wordings[second].question.format(described.format(node.name)), second, node.id)


def _of_facts(_view: GraphView, nodes: Sequence[Node], facts: _FactsFrom) -> Iterator[_Question]:
    for node in nodes:
        wordings = _RELATIONS[language_of(node.name)]
        for _, relation, _ in facts(node.id):
            if relation in wordings:
                yield _Question(wordings[relation].question.format(node.name), relation, node.id)


def _of_values(view: GraphView, nodes: Sequence[Node], _facts: _FactsFrom) -> Iterator[_Question]:
    for node in nodes:
        wordings = _ATTRIBUTES[language_of(node.name)]
        for attribute in sorted(view.index.attributes(node.id)):
            if attribute in wordings:
                yield _Question(wordings[attribute].format(node.name), attribute, node.id)


def _of_pairs(view: GraphView, nodes: Sequence[Node], facts: _FactsFrom) -> Iterator[_Question]:
    """Yield questions about facts whose relation has no wording."""
    for node in nodes:
        language = language_of(node.name)
        for _, relation, end in facts(node.id):
            if relation not in _RELATIONS[language]:
                yield _Question(_RELATED[language].format(node.name, view.find([end])[0].name), "related", node.id)


def _facts_from(view: GraphView, entity: str) -> list[EdgeKey]:
    """Return the facts whose head is the entity."""
    return [key for key in view.facts(entity)[:_FACTS] if key[0] == entity != key[2]]


class TriedQuestions:
    """Answers questions by the rules, and remembers whether there was an answer."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._answered: LRUCache[tuple[object, ...], bool] = LRUCache(_MOST_REMEMBERED)
        self._lock = threading.Lock()

    @cached_property
    def _graph(self) -> CompiledStateGraph[AskState, AskContext, AskInput, AskOutput]:
        """The retrieval graph without a model, over the same open knowledge bases."""
        without = {"llm_base_url": None, "llm_model": "", "reranker": "", "reranker_base_url": None}
        rules = Resources(self._resources.settings.model_copy(update=without))
        rules.readers = self._resources.readers
        return build_graph(rules)

    def is_answered(self, kb: str, question: str) -> bool:
        """Return True if the documents of a knowledge base, in their present state, answer a question."""
        key = (kb, self._resources.retriever(kb).version, question)
        with self._lock:  # the cache is not safe to use from several threads
            answered = self._answered.get(key)
        if answered is None:
            given = cast("Any", {"knowledge_base": kb, "messages": [HumanMessage(question)]})
            answered = not self._graph.invoke(given, context=AskContext())["abstained"]
            with self._lock:
                self._answered[key] = answered
        return answered
