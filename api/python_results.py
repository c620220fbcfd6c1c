"""The results of the Python API: answers with the facts behind them, entities, facts, communities, rows of SQL."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

from pydantic import Field

from ..agents.retrieval.state import AskOutput
from ..agents.snapshots import JoinedSnapshots
from ..graph_store.graph.graph_file import Sources
from ..graph_store.graph.knowledge_graph import EdgeKey, KnowledgeGraph
from ..graph_store.graph_index import GraphIndex
from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.ledger import entity_rows as ledger
from ..graph_store.ledger.document_rows import joined_id
from ..schemas.documents import Citation, Frozen, Span
from ..schemas.errors import BanyanError
from ..schemas.inquiry import TraceStep
from ..schemas.naming import triple_id
from ..schemas.records import SqlResult
from ..schemas.retrieval import Grade

MOST_ROWS, SQL_SECONDS = 1000, 10.0  # the limits of one `sql`, unless the caller sets others


class Source(Span):
    """The source of a fact: characters `start` to `end` of a document."""

    document: str = Field(description="the document's id")
    time: str = Field(default="", description="the document's words for when the fact holds")


class Entity(Frozen):
    """An entity with its names, attributes and documents."""

    id: str
    name: str
    type: str
    names: tuple[str, ...] = Field(description="all its names, sorted")
    attributes: dict[str, tuple[str, ...]]
    times: dict[str, dict[str, str]] = Field(description="when values hold, by attribute and value, as `Fact.time`; "
                                             "values without a time are left out")
    documents: tuple[str, ...] = Field(description="ids of the documents that name it")


class Fact(Frozen):
    """A fact with the text that states it; `subject` and `object` are names, and the ids distinguish equal names."""

    id: str
    subject: str
    relation: str
    object: str
    subject_id: str
    object_id: str
    confidence: float = Field(description="the best of its sources', 0 to 1")
    sources: tuple[Source, ...]
    time: str = Field(default="", description='when and with what it holds, as its sources say: "since 2019", '
                      '"former"; "superseded 2021" is added where a later fact took its place. Empty: nobody says')
    start: str = Field(default="", description="the first date of its latest period, as ISO 8601: 2019, 2019-03, "
                                               "2019-03-05; empty: not known")
    end: str = Field(default="", description="the last date, or that from which a later fact holds")

    def __str__(self) -> str:
        statement = f"{self.subject} {self.relation.replace('_', ' ')} {self.object}"
        return f"{statement} ({self.time})" if self.time else statement


class Community(Frozen):
    """A community of the knowledge tree."""

    id: str
    name: str
    summary: str
    level: int = Field(description="0: the finest")
    keywords: tuple[str, ...] = Field(description="names of its central entities, best first")
    members: tuple[str, ...] = Field(description="ids of its entities")
    parent: str = Field(description="the community that it lies in; empty: none")


class Answer(Frozen):
    """An answer in which every citation was found in its source; as a string it is its text."""

    text: str = Field(description="with [1], [2] behind each claim")
    short: str = Field(description="the answer in the fewest words, where it has such")
    abstained: bool = Field(description="whether the documents do not answer the question")
    confidence: float = Field(description="the chance that the passages answer the question, 0 to 1")
    citations: tuple[Citation, ...]
    facts: tuple[Fact, ...] = Field(description="facts of the graph that the cited words state; "
                                     "none where it abstains and cites what comes closest")
    trace: tuple[TraceStep, ...] = Field(description="every step that led to it")
    grade: Grade = Field(description="found (passages alone), stated, inferred (the text says which link is not "
                                    "stated), or none")
    sub_queries: tuple[str, ...] = Field(description="the question, and what was looked up for it")
    iterations: int = Field(description="rounds: the first look, and those of lookups")

    def __str__(self) -> str:
        return self.text


class Step(Frozen):
    """A step on the way to an answer, reported while the answer is in progress."""

    step: str
    found: tuple[str, ...]


def answer_of(lease: AbstractContextManager[JoinedSnapshots], output: AskOutput) -> Answer:
    """Return the output of the retrieval graph as an answer, with the facts of the graph that its citations state."""
    citations = tuple(Citation(**cited) for cited in output["citations"])
    facts = list[Fact]()
    # An abstention cites what comes closest, which supports no answer, so it has no facts and opens no graph.
    if not output["abstained"]:
        with lease as snapshots:
            for name, retriever in snapshots.retrievers.items():
                facts += _facts_of_base(name, retriever.index, citations)
    same_fields = {name: output[name] for name in Answer.model_fields if name in output}  # type: ignore[literal-required]
    return Answer.model_validate({**same_fields, "text": output["answer"], "citations": citations, "facts": facts})


def _facts_of_base(name: str, index: GraphIndex, citations: Sequence[Citation]) -> Iterator[Fact]:
    """Yield the facts of a base that citations state; `name` is the BASE in their BASE/DOCUMENT, "" if there is one."""
    prefix = f"{name}/" if name else ""  # the index knows its documents by their own ids
    cited = [citation.model_copy(update={"document": citation.document.removeprefix(prefix)})
             for citation in citations if citation.document.startswith(prefix)]
    stated, _ = find_stated(index, cited)
    for fact in facts_of(index.store, index, stated):
        sources = [source.model_copy(update={"document": joined_id(name, source.document)}) for source in fact.sources]
        yield fact.model_copy(update={"sources": tuple(sources)})


class CitedPlace(Frozen):
    """A quoted source of an answer: characters `start` to `end` of a document."""

    document: str = Field(min_length=1, max_length=1000)
    start: int = Field(ge=0, le=2**31)
    end: int = Field(ge=0, le=2**31)


Cited = CitedPlace | Citation


def find_stated(index: GraphIndex, cited: Sequence[Cited]) -> tuple[list[EdgeKey], set[str]]:
    """Return the sorted keys of the facts, and the ids of the entities, whose place overlaps a cited place."""
    facts, entities = set[EdgeKey](), set[str]()
    cited_in: dict[str, list[Cited]] = {}  # by document
    for citation in cited:
        cited_in.setdefault(citation.document, []).append(citation)
    for chunk in index.store.documents.chunks_of(cited_in):
        # Cited places count from the document's beginning, those of facts and mentions from the chunk's.
        places = [(cited.start - chunk.start, cited.end - chunk.start) for cited in cited_in[chunk.document_id]]

        def is_cited(start: int, end: int, places: Sequence[tuple[int, int]] = places) -> bool:
            """Return True if this part of the chunk overlaps a cited place."""
            return any(first < end and last > start for first, last in places)

        facts.update(fact for fact, start, end in index.stated_in(chunk.id) if is_cited(start, end))
        entities.update(entity for entity, _, start, end in index.mentioned_in(chunk.id) if is_cited(start, end))
    return sorted(facts), entities


def facts_of(kb: KnowledgeBase, graph: KnowledgeGraph, keys: Iterable[EdgeKey]) -> tuple[Fact, ...]:
    """Return the facts with these keys, in the order of the keys, each with its sources."""
    ordered_keys = list(keys)
    chunks = {chunk for key in ordered_keys for chunk in graph.support(key)}
    sources = Sources(kb.documents.chunks(sorted(chunks)))
    facts = []
    for key in ordered_keys:
        head, relation, tail = key
        support, validity = graph.support(key), graph.validity(key)
        start, end = validity.bounds()
        located = sources.locate(support, graph.times_of(graph.triple_row(key)))
        facts.append(Fact(
            id=triple_id(*key), subject=graph.name(head), relation=relation, object=graph.name(tail), subject_id=head,
            object_id=tail, confidence=max(confidence for _start, _end, confidence in support.values()),
            sources=tuple(Source(**source) for source in located), time=validity.note(), start=start, end=end))
    return tuple(facts)


def entity_of(kb: KnowledgeBase, node: str, document_of_chunk: dict[str, str]) -> Entity:
    """Return the entity with this id; `document_of_chunk` maps the ids of chunks to those of documents.

    Documents that it leaves out, such as those outside a scope, are not the entity's.
    """
    graph = kb.graph
    entity = graph.entity(node)
    attributes = {name: tuple(values) for name, values in graph.descriptive_values(node).items()}
    times = {name: {value: validity.note() for value, validity in values.items()}
             for name, values in graph.validities(node).items()}
    documents = {document_of_chunk[chunk] for chunk in graph.entity_support(node) if chunk in document_of_chunk}
    return Entity(id=node, name=entity.name, type=entity.type, names=tuple(graph.names(node)), attributes=attributes,
                  times=times, documents=tuple(sorted(documents)))


def community_of(graph: KnowledgeGraph, community: ledger.TreeCommunity) -> Community:
    """Return a community with the names of its keywords; entities that no longer exist are left out."""
    return Community(
        id=community.id, name=community.name, summary=community.summary, level=community.level,
        keywords=tuple(graph.name(node) for node in community.keywords if node in graph),
        members=tuple(node for node in community.members if node in graph), parent=community.parent)


class SqlRows(SqlResult):
    """The result of `kb.sql`: iterate over it for its rows as dicts."""

    def __iter__(self) -> Iterator[dict[str, Any]]:  # type: ignore[override]  # rows are of more use than fields
        """Yield each row as a dict by column."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def __len__(self) -> int:
        """Return the number of rows here; `total` is that of the whole result."""
        return len(self.rows)

    def df(self) -> Any:
        """Return the rows as a data frame; BanyanError: pandas is not installed."""
        try:
            pandas = import_module("pandas")  # optional, and slow to import
        except ImportError as error:
            raise BanyanError("df() needs pandas: run `pip install pandas`, or use `rows` or `to_csv()`") from error
        return pandas.DataFrame(list(self.rows), columns=list(self.columns))

    def to_csv(self) -> str:
        """Return the rows as CSV with a line of headers; cells that look like formulas get an apostrophe."""
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows(map(_csv_cell, row) for row in (self.columns, *self.rows))
        return written.getvalue()


def _csv_cell(value: object) -> object:
    """Return a value as a cell of CSV: a list as one text; a text that looks like a formula gets an apostrophe."""
    if isinstance(value, list | tuple):
        value = "; ".join("" if element is None else str(element) for element in value)
    is_formula = isinstance(value, str) and value.startswith(tuple("=+-@\t\r"))  # a spreadsheet would run it
    return f"'{value}" if is_formula else value
