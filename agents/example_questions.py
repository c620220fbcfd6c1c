"""Questions that the documents answer well, as examples for a first visit and as follow-ups.

Each question is tried before it is offered. The rules answer it, so trying costs nothing. It is offered only if the
answer is what the graph says, or quotes what the question asks for.
"""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice
from typing import Any, Literal, NamedTuple, cast

from cachetools import LRUCache
from langchain_core.messages import HumanMessage
from langgraph.graph.state import CompiledStateGraph

from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.ledger.version import EXAMPLES
from ..runtime.event_loop import run
from ..schemas.documents import Frozen
from ..schemas.naming import has_name
from ..text.content_words import Language, language_of
from ..tools.index import RetrievalIndex
from ..tools.sentence_links import is_named_in_text, link_by_sentences
from .resources import Resources
from .retrieval.graph import build_graph
from .retrieval.state import AskContext, AskInput, AskOutput, AskState

_MOST_ENTITIES = 80
"""How many entities to ask about: those that most documents mention."""
_MOST_TRIED = 8
"""How many questions of a kind to try: each takes about a tenth of a second the first time."""
_MOST_REMEMBERED = 2_000  # answers
_LONGEST_NAME, _LONGEST_VALUE = 40, 120
"""Characters of a name in a question, and of a value that answers one."""
_MOST_LISTED, _MOST_PAIRS = 8, 6
"""Items of a list that answers a question, and pairs of connected entities to ask about."""
Kind = Literal["lookup", "list", "across"]
"""One value or entity; a list or count; an answer from two or more documents."""


class ExampleQuestion(Frozen):
    """A question that was answered well when it was tried."""

    text: str
    kind: Kind


class Tried(NamedTuple):
    """What the rules answered: the short answer, the quoted words, and the documents that they are from."""

    short: str
    quotes: tuple[str, ...]
    documents: tuple[str, ...]

    @property
    def words(self) -> str:
        """The short answer, or else the first quote."""
        return self.short or "".join(self.quotes[:1])


Trial = Callable[[str], Tried | None]
"""Answers a question; None where the documents do not answer it."""


class _Candidate(NamedTuple):
    """A question to try, with the id of the entity that it is about ("": all documents) and a check of the answer."""

    text: str
    kind: Kind
    about: str
    is_right: Callable[[Tried], bool]


def example_questions(index: RetrievalIndex, answer: Trial, *, about: Sequence[str] = (), most: int = 3,
                      ) -> list[ExampleQuestion]:
    """Return questions that are answered well: one of each kind if possible, each about another entity.

    Candidates of a kind are tried one after the other until one is answered rightly. If some kinds give no question,
    the other kinds are tried for a second one.

    Args:
        index: the knowledge base.
        answer: tries a question.
        about: ids of the entities to ask about; empty means those that most documents mention.
        most: the maximum number of questions.
    """
    rows = [row for row in map(index.entity_at, about) if row is not None]
    rows = rows or [row for row in index.browsing.ranked[:_MOST_ENTITIES].tolist() if is_named_in_text(index, row)]
    generator = _QuestionGenerator(index, rows, covers_all_documents=not about)
    chosen: list[ExampleQuestion] = []
    used_entities: set[str] = set()
    kinds = [generator.lookups(), generator.lists(), generator.across()]
    for candidates in (*kinds, *kinds):  # two passes; the second continues where the first one stopped
        for candidate in islice(candidates, _MOST_TRIED):
            if len(chosen) == most or candidate.text in {question.text for question in chosen}:
                break
            if candidate.about in used_entities:
                continue
            if (tried := answer(candidate.text)) is not None and candidate.is_right(tried):
                chosen.append(ExampleQuestion(text=candidate.text, kind=candidate.kind))
                used_entities.add(candidate.about)
                break
    return chosen


class _QuestionGenerator:
    """Generates questions about some entities, of each kind the most promising first.

    Args:
        index: the knowledge base.
        rows: the entities' rows in the index.
        covers_all_documents: also ask about documents, not only about what they say of these entities.
    """

    def __init__(self, index: RetrievalIndex, rows: Sequence[int], *, covers_all_documents: bool) -> None:
        self._index, self._rows, self._covers_all_documents = index, rows, covers_all_documents

    def _name(self, row: int) -> str:
        return self._index.about(row)[0]

    def _names(self, row: int) -> list[str]:
        name, _, *others = self._index.about(row)
        return [name, *others]

    def _id(self, row: int) -> str:
        return self._index.entity_row.at(row)

    def _rows_with_short_names(self) -> Iterator[int]:
        return (row for row in self._rows if len(self._name(row)) <= _LONGEST_NAME)

    def lookups(self) -> Iterator[_Candidate]:
        """Yield questions whose answer is one value, then questions whose answer is one other entity."""
        yield from self._value_lookups()
        for row in self._rows_with_short_names():
            name = self._name(row)
            for relation, wording in RELATIONS[language_of(name)].items():
                if len(tails := self._tails(row, relation)) == 1:
                    yield _Candidate(wording.tail.format(name), "lookup", self._id(row), _says(self._names(tails[0])))

    def _value_lookups(self) -> Iterator[_Candidate]:
        """Yield questions for an attribute of which an entity has exactly one value, and a short one."""
        for row in self._rows_with_short_names():
            name, values = self._name(row), self._index.attributes(self._id(row))
            for attribute, text in ATTRIBUTES[language_of(name)].items():
                attribute_values = list(values.get(attribute, ()))
                if len(attribute_values) == 1 and len(attribute_values[0]) <= _LONGEST_VALUE:
                    yield _Candidate(text.format(name), "lookup", self._id(row), _says(attribute_values))

    def _facts(self, row: int, relation: str) -> list[tuple[int, int]]:
        """Return the facts of a relation that have an entity as head or tail: the rows of their heads and tails."""
        relation_rows = self._index.relation_rows([relation])
        facts = self._index.triples[self._index.incident_at(row)].tolist()
        return [(head, tail) for head, relation_row, tail in facts if relation_row in relation_rows and head != tail]

    def _tails(self, row: int, relation: str) -> list[int]:
        return [tail for head, tail in self._facts(row, relation) if head == row]

    def _heads(self, row: int, relation: str) -> list[int]:
        return [head for head, tail in self._facts(row, relation) if tail == row]

    def lists(self) -> Iterator[_Candidate]:
        """Yield questions that ask for a list: the heads of a relation to an entity ("Who works for Acme?")."""
        for row in self._rows_with_short_names():
            name = self._name(row)
            for relation, wording in RELATIONS[language_of(name)].items():
                heads = self._heads(row, relation) if wording.heads else []
                # A list of what only metadata names, such as the documents of an author, shows nothing of the text.
                if 1 < len(heads) <= _MOST_LISTED and all(is_named_in_text(self._index, head) for head in heads):
                    yield _Candidate(wording.heads.format(name), "list", self._id(row),
                                     _lists([self._names(head) for head in heads]))
        if self._covers_all_documents:
            yield from self._mention_lists()

    def _mention_lists(self) -> Iterator[_Candidate]:
        """Yield questions for the documents that mention an entity, if these are at least two but not many."""
        for row in self._rows_with_short_names():
            name = self._name(row)
            if 1 < self._index.browsing.documents[row] <= _MOST_LISTED:
                yield _Candidate(MENTIONING[language_of(name)].format(name), "list", self._id(row), _lists_documents)

    def across(self) -> Iterator[_Candidate]:
        """Yield questions whose answer takes several documents."""
        entities = [self._id(row) for row in self._rows_with_short_names() if self._index.browsing.documents[row] > 1]
        for first, second, _ in link_by_sentences(self._index, entities)[:_MOST_PAIRS]:
            names, others = (self._names(self._index.entity_row[entity]) for entity in (first, second))
            if has_name(names[0], others[0]) or has_name(others[0], names[0]):
                continue  # one name contains the other, so the question would be odd
            yield _Candidate(RELATED[language_of(names[0])].format(names[0], others[0]), "across", first,
                             _connects([names, others]))
        entries = self._index.store.documents.entries() if self._covers_all_documents else ()
        documents = {entry.id for entry in entries}
        if len(documents) > 1:
            language = language_of(self._name(self._rows[0]) if self._rows else "")
            yield _Candidate(ABOUT[language], "across", "", _cites(documents))


def _says(names: Sequence[str]) -> Callable[[Tried], bool]:
    """Return a check that the answer has one of the names."""
    return lambda tried: any(has_name(tried.words, name) for name in names)


def _lists(names_by_entity: Sequence[Sequence[str]]) -> Callable[[Tried], bool]:
    """Return a check that the short answer names each entity by one of its names."""
    return lambda tried: all(any(has_name(tried.short, name) for name in names) for names in names_by_entity)


def _lists_documents(tried: Tried) -> bool:
    """Return True if there is a short answer that rests on at least two documents, but not many."""
    return bool(tried.short) and 1 < len(set(tried.documents)) <= _MOST_LISTED


def _cites(documents: set[str]) -> Callable[[Tried], bool]:
    """Return a check that all of some documents are cited."""
    return lambda tried: documents <= set(tried.documents)


def _connects(names_by_entity: Sequence[Sequence[str]]) -> Callable[[Tried], bool]:
    """Return a check that quotes from at least two documents name both entities, and one of them is quoted first."""

    def names_both(quote: str) -> bool:
        return all(any(has_name(quote, name) for name in names) for names in names_by_entity)

    def is_right(tried: Tried) -> bool:
        connecting = {document for quote, document in zip(tried.quotes, tried.documents, strict=True)
                      if names_both(quote)}
        return len(connecting) > 1 and tried.documents[0] in connecting

    return is_right


def note_examples(kb: KnowledgeBase, examples: Sequence[ExampleQuestion]) -> None:
    """Store the example questions with the version of the knowledge base, so they need not be tried again."""
    kb.database.set_meta(EXAMPLES, json.dumps([list(kb.version()), [example.model_dump() for example in examples]]))


def noted_examples(kb: KnowledgeBase) -> list[ExampleQuestion] | None:
    """Return the stored example questions; None if there are none, or the knowledge base has changed since."""
    version, examples = json.loads(kb.database.get_meta(EXAMPLES) or "[null, []]")
    return [ExampleQuestion(**example) for example in examples] if version == list(kb.version()) else None


class TriedQuestions:
    """Answers questions by the rules, and remembers the answers."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._answered: LRUCache[tuple[object, ...], Tried | None] = LRUCache(_MOST_REMEMBERED)
        self._lock = threading.Lock()

    @cached_property
    def _graph(self) -> CompiledStateGraph[AskState, AskContext, AskInput, AskOutput]:
        """The retrieval graph without a language model or reranker, over the same open knowledge bases."""
        no_models = {"llm_base_url": None, "llm_model": "", "reranker": "", "reranker_base_url": None}
        resources = Resources(self._resources.settings.model_copy(update=no_models))
        resources.snapshots = self._resources.snapshots
        return build_graph(resources)

    def answer(self, kb: str, question: str) -> Tried | None:
        """Return the answer to a question from a knowledge base as it is now; None if it has no answer.

        The answer is remembered until the knowledge base changes.
        """
        with self._resources.snapshot(kb) as snapshot:
            key = (kb, snapshot.kb.version(), question)
        with self._lock:  # the cache is not safe to use from several threads
            if key in self._answered:
                return self._answered[key]
        graph_input = cast("Any", {"knowledge_base": kb, "messages": [HumanMessage(question)]})
        output = run(partial(self._graph.ainvoke, graph_input, context=AskContext()))
        citations = output["citations"]
        tried = None if output["abstained"] else Tried(
            output["short"], tuple(citation["quote"] for citation in citations),
            tuple(citation["document"] for citation in citations))
        with self._lock:
            self._answered[key] = tried
        return tried


class Wording(NamedTuple):
    """The questions for a relation: for its tail, and for all of its heads; `{}` is the entity at the other end."""

    tail: str
    heads: str = ""


RELATIONS: dict[Language, dict[str, Wording]] = {
    "en": {
        "born_in": Wording("Where was {} born?", "Who was born in {}?"),
        "died_in": Wording("Where did {} die?", "Who died in {}?"),
        "educated_at": Wording("Where did {} study?", "Who studied at {}?"),
        "works_for": Wording("Where did {} work?", "Who works for {}?"),
        "spouse": Wording("Who was {} married to?"),
        "child_of": Wording("Who were the parents of {}?"),
        "located_in": Wording("Where is {} located?", "What is located in {}?"),
        "capital_of": Wording("What is {} the capital of?"),
        "flows_into": Wording("What does {} flow into?", "What flows into {}?"),
        "founded_by": Wording("Who founded {}?", "What was founded by {}?"),
        "created_by": Wording("Who created {}?", "What was created by {}?"),
        "directed_by": Wording("Who directed {}?", "What was directed by {}?"),
        "performed_by": Wording("Who performed {}?", "What was performed by {}?"),
        "produced_by": Wording("Who produced {}?", "What was produced by {}?"),
        "received_award": Wording("Which award did {} receive?", "Who received {}?"),
        "discovered_by": Wording("Who discovered {}?", "What was discovered by {}?"),
        "named_after": Wording("What is {} named after?", "What is named after {}?"),
        "part_of": Wording("What is {} part of?", "What is part of {}?"),
        "member_of": Wording("What is {} a member of?", "Who are the members of {}?"),
        "leads": Wording("What does {} lead?", "Who leads {}?"),
        "reports_to": Wording("Who does {} report to?", "Who reports to {}?"),
        "acquired": Wording("Which company did {} acquire?"),
        "subsidiary_of": Wording("Which company owns {}?"),
        "supplies": Wording("Whom does {} supply?"),
    },
    "zh": {
        "born_in": Wording("{}出生在哪里？", "哪些人出生在{}？"),
        "died_in": Wording("{}在哪里去世？", "哪些人在{}去世？"),
        "educated_at": Wording("{}毕业于哪所学校？", "哪些人毕业于{}？"),
        "works_for": Wording("{}在哪里工作？", "哪些人在{}工作？"),
        "spouse": Wording("{}的配偶是谁？"),
        "child_of": Wording("{}的父母是谁？"),
        "located_in": Wording("{}位于哪里？", "哪些地方位于{}？"),
        "capital_of": Wording("{}是哪里的首府？"),
        "flows_into": Wording("{}流入哪里？", "哪些河流流入{}？"),
        "founded_by": Wording("{}的创始人是谁？"),
        "created_by": Wording("{}的作者是谁？", "{}有哪些作品？"),
        "produced_by": Wording("{}由谁生产？"),
        "received_award": Wording("{}获得过什么奖？", "哪些人获得过{}？"),
        "discovered_by": Wording("谁发现了{}？"),
        "named_after": Wording("{}以什么命名？"),
        "part_of": Wording("{}属于什么？"),
    },
}
ATTRIBUTES: dict[Language, dict[str, str]] = {
    "en": {"birth_date": "When was {} born?", "death_date": "When did {} die?",
           "founding_date": "When was {} founded?", "release_date": "When was {} released?",
           "event_date": "When did {} take place?", "population": "What is the population of {}?",
           "length": "How long is {}?", "area": "What is the area of {}?", "height": "How tall is {}?",
           "responsible_for": "What is {} responsible for?",
           "role": "What is the role of {}?", "occupation": "What was the occupation of {}?",
           "definition": "What is the definition of {}?"},
    "zh": {"birth_date": "{}出生于哪一年？", "death_date": "{}于何时去世？", "founding_date": "{}成立于何时？",
           "release_date": "{}于何时发布？", "event_date": "{}发生在何时？", "population": "{}的人口是多少？",
           "length": "{}有多长？", "area": "{}的面积是多少？", "role": "{}担任什么职务？"},
}
RELATED: dict[Language, str] = {"en": "How is {} connected to {}?", "zh": "{}和{}有什么关系？"}
MENTIONING: dict[Language, str] = {"en": "Which documents mention {}?", "zh": "哪些文档提到{}？"}
ABOUT: dict[Language, str] = {"en": "What are these documents about?", "zh": "这些文档讲什么？"}
