"""The graph and its tree, in the parts that are looked at; what surrounds an answer; tables, SQL and exports."""

from collections.abc import Iterable
from itertools import chain, pairwise
from typing import Annotated

import anyio.to_thread
import numpy as np
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field

from ...agents.introduction import Introduction, introduce, suggest_questions
from ...api.python_results import MOST_ROWS, SQL_SECONDS, CitedPlace, Fact, Source, facts_of, find_stated
from ...export.export_formats import FORMATS, ExportFormat
from ...graph_store.graph.graph_file import Sources
from ...graph_store.ledger.entity_rows import TreeCommunity
from ...runtime.threads import check_cancelled, in_thread
from ...schemas.documents import DocumentNames, MetadataValues, Scope
from ...schemas.lookups import LONGEST_SQL
from ...schemas.records import SqlResult, TableInfo
from ...text.times import read_day
from ...tools.reports import DocumentSummary, summarise_documents
from ..graph_view import GraphView, Node, Subgraph, Together, mentioned_together
from ..responses import At, Body, Items, KbName, KbNames, Limit, NodeId, NotFoundError, Offset, Page, TypeName
from ..security.clients import may
from ..service import OwnFolder, Reading, Serving

router = APIRouter(prefix="/api/knowledge-bases/{kb}", tags=["graph"], dependencies=[may("read")])
content_router = APIRouter(prefix="/api/knowledge-bases/{kb}", dependencies=[may("read")])
_MOST_FACTS = 50  # facts to send with an entity; the others are in the pages of its neighbourhood
_MOST_NODES = 500  # entities of one drawing
_MOST_ROWS = 10_000
_Documents = Annotated[list[Annotated[str, Query(max_length=1000)]], Query(
    max_length=100, description="only rows of these documents: ids, titles, paths or patterns; none: all")]
_EntityId = Annotated[str, Query(max_length=100)]


class Count(BaseModel):
    """A name and its number of occurrences."""

    name: str
    count: int


class EntityAnswer(Node):
    """An entity with its names, attributes, documents and first 50 facts."""

    aliases: list[str]
    attributes: dict[str, list[str]]
    times: dict[str, dict[str, str]] = Field(description="when values hold, by attribute and value")
    documents: list[str]
    facts: tuple[Fact, ...]
    together: list[Together] = Field(description="entities that sentences name with it, without a fact between them")


class CommunityItem(BaseModel):
    """A community of the tree; level 0 is the finest."""

    id: str
    name: str
    summary: str
    size: int
    cohesion: float
    level: int
    keywords: list[str]
    parent: str | None


class Tree(Page[CommunityItem]):
    """Some communities, of `total` that match."""

    levels: int


class CommunityAnswer(CommunityItem):
    """A community with some of its `total` members, the most important first."""

    members: list[Node]
    total: int


class Cited(Body):
    """The citations of an answer."""

    citations: list[CitedPlace] = Field(min_length=1, max_length=100)


class SqlQuery(Body):
    """A SELECT, and the documents whose rows it reads."""

    sql: str = Field(min_length=1, max_length=LONGEST_SQL, description="one SELECT in DuckDB's SQL over the tables "
                     "that `tables` lists")
    documents: DocumentNames = Field(default=[])
    where: MetadataValues = Field(default={})
    limit: int = Field(default=MOST_ROWS, ge=1, le=_MOST_ROWS, description="the most rows to return; `total` counts "
                       "all")
    citations: int = Field(default=10, ge=0, le=MOST_ROWS, description="the most records to cite; of a list of rows, "
                           "each row is a record, in the same order")


View = Annotated[GraphView, Depends()]


@router.get("/graph/types")
def graph_types(view: View, limit: Annotated[int | None, Query(ge=1, le=500, description="the most frequent of "
                                                               "each; none: all")] = None) -> dict[str, list[Count]]:
    """Count the `entity_types` and `relations`, the most frequent first."""
    def count(counts: Iterable[tuple[str, int]]) -> list[Count]:
        listed = [Count(name=name, count=number) for name, number in counts]
        return sorted(listed, key=lambda one: (-one.count, one.name))[:limit]

    index = view.index
    types = zip(index.types, np.bincount(index.type_of).tolist(), strict=True)  # each type has an entity
    return {"entity_types": count(types), "relations": count(index.relation_counts.items())}


@router.get("/graph/search")
def search_graph(view: View, q: Annotated[str, Query(min_length=1, max_length=200)], kind: TypeName = "",
                 limit: Limit = 20) -> Items[Node]:
    """Find entities with a name that contains these words: exact matches first, then names that begin with them."""
    return Items(items=view.make_nodes(view.index.find_containing(q, kind)[:limit]))


@router.get("/graph/names")
def named_entities(view: View, names: Annotated[list[Annotated[str, Query(max_length=500)]], Query(max_length=200)],
                   ) -> Items[Node]:
    """Find the entities with exactly these names."""
    rows = dict.fromkeys(chain.from_iterable(view.index.find_named(name).tolist() for name in names))  # each once
    return Items(items=[view.make_node(row) for row in rows])


@router.get("/graph/overview")
def graph_overview(
    view: View, kind: TypeName = "", limit: Limit = 100, offset: Offset = 0,
    q: Annotated[str, Query(max_length=200, description="only entities with a name that contains these words")] = "",
    relation: Annotated[str, Query(max_length=200, description="only entities with a fact of this relation")] = "",
    document: Annotated[str, Query(max_length=1000, description="only entities that this document mentions")] = "",
    community: Annotated[str, Query(max_length=100, description="only members of this community")] = "",
) -> Subgraph:
    """Return a page of the entities, best connected first, and the facts among them."""
    chunks = members = None  # any
    if document:
        chunk_owners = view.index.store.documents.of_chunks()
        chunks = {chunk for chunk, source in chunk_owners.items() if source == document}
    if community:
        members = _require_community(view, community).members
    matches = view.matching(kind, relation, chunks, members, q)
    shown = matches[offset:offset + limit]
    # A page for one relation shows only its facts, and no links by sentences.
    return view.subgraph(shown, view.among(shown, relation), len(matches), linked=not relation)


@router.get("/graph/path")
def path_between(view: View, start: _EntityId, end: _EntityId) -> Subgraph:
    """Return a shortest path between two entities along facts, with its entities in order; empty if there is none."""
    nodes = view.path(view.node(start), view.node(end))
    steps = {frozenset((node.id, next_node.id)) for node, next_node in pairwise(nodes)}
    edges = [edge for edge in view.among(nodes) if frozenset((edge.source, edge.target)) in steps]
    return view.subgraph(nodes, edges, len(nodes))


@router.get("/graph/fact")
def show_fact(view: View, source: _EntityId, target: _EntityId,
              relation: Annotated[str, Query(max_length=200)]) -> Fact:
    """Show a fact with its sources."""
    fact = (source, relation, target)
    if view.index.find_triple(fact) is None:
        raise NotFoundError(f"there is no fact {relation!r} between these entities: see those of one of them")
    return facts_of(view.index.store, view.index, [fact])[0]


@router.get("/graph/sentences")
def show_sentences(view: View, source: _EntityId, target: _EntityId) -> Items[Source]:
    """Show the sentences that name two entities which share no fact."""
    index, node, other = view.index, view.node(source), view.node(target)
    shared_chunks = set(index.entity_support(source)) & set(index.entity_support(target))
    together = mentioned_together(view, node, index.store.documents.chunks(sorted(shared_chunks)), [other])
    return Items(items=together[0].evidence if together else [])


@router.get("/graph/neighbourhood")
def neighbourhood(view: View, entity: NodeId, limit: Limit = 50, offset: Offset = 0) -> Subgraph:
    """Return an entity, a page of its `total` neighbours, best connected first, and the facts among them."""
    centre = view.node(entity)
    matches = view.neighbours(entity)
    shown = [centre, *matches[offset:offset + limit]]
    return view.subgraph(shown, view.among(shown), len(matches), linked=True)


@router.get("/graph/entity")
def show_entity(view: View, entity: NodeId, at: At = "") -> EntityAnswer:
    """Show an entity: its names, attributes, documents, facts with their sources, and what is mentioned with it."""
    node, index = view.node(entity), view.index
    facts = index.triples_of(entity).tolist()
    if at:
        day = read_day(at)
        facts = [row for row in facts if index.validity(row).holds(*day)]
    mentioning = index.entity_support(entity)  # ids of the chunks that mention it
    chunks = index.store.documents.chunks(sorted(mentioning))
    return EntityAnswer(
        **node.model_dump(), aliases=index.labels_of(index.row(entity)).other_names,
        documents=Sources(chunks).documents(mentioning),
        attributes={name: sorted(values) for name, values in sorted(index.descriptive_values(entity).items())},
        times={name: {value: validity.note() for value, validity in values.items()}
               for name, values in index.validities(entity).items()},
        facts=facts_of(index.store, index, map(index.edge, facts[:_MOST_FACTS])),
        together=mentioned_together(view, node, chunks))


def _require_community(view: GraphView, community: str) -> TreeCommunity:
    found = view.index.store.communities.get(community)
    if found is None:
        raise NotFoundError(f"there is no community {community!r}: `GET .../tree` lists them")
    return found


@router.get("/tree")
def show_tree(view: View, level: Annotated[int | None, Query(ge=0, le=100, description="none: the coarsest")] = None,
              parent: Annotated[str, Query(max_length=100, description="only those within this one")] = "",
              limit: Limit = 50, offset: Offset = 0) -> Tree:
    """List the communities of a level, or those within one community, largest first."""
    communities = view.index.store.communities
    levels = communities.levels()
    shown, total = communities.page(levels - 1 if level is None else level, parent, limit=limit, offset=offset)
    return Tree(levels=levels, total=total, items=[_community_item(community, view) for community in shown])


@router.get("/tree/community")
def show_community(view: View, community: NodeId, limit: Limit = 50, offset: Offset = 0) -> CommunityAnswer:
    """Show a community with a page of its members."""
    shown = _require_community(view, community)
    members = view.find(shown.members)
    return CommunityAnswer(**_community_item(shown, view).model_dump(), members=members[offset:offset + limit],
                           total=len(members))


def _community_item(community: TreeCommunity, view: GraphView) -> CommunityItem:
    return CommunityItem(
        id=community.id, name=community.name, summary=community.summary, size=len(community.members),
        cohesion=community.cohesion, level=community.level, parent=community.parent or None,
        keywords=[node.name for node in view.find(community.keywords)])


@router.post("/graph/evidence")
def evidence(view: View, cited: Cited) -> Subgraph:
    """Return the facts that the cited text states, their entities, and other entities that it names."""
    facts, named = find_stated(view.index, cited.citations)
    nodes = view.find({*named, *chain.from_iterable((head, tail) for head, _, tail in facts)})[:_MOST_NODES]
    shown = {node.id for node in nodes}
    edges = [view.edge((head, relation, tail)) for head, relation, tail in facts if {head, tail} <= shown]
    return view.subgraph(nodes, edges, len(nodes))


@router.get("/graph/among")
def among(view: View, entities: Annotated[list[Annotated[str, Query(max_length=200)]],
                                          Query(alias="id", max_length=_MOST_NODES)]) -> Subgraph:
    """Return the given entities and the facts among them."""
    nodes = view.find(dict.fromkeys(entities))
    return view.subgraph(nodes, view.among(nodes), len(nodes), linked=True)


@content_router.get("/introduction", tags=["knowledge bases"])
async def show_introduction(request: Request, kb: KbName, service: Serving) -> Introduction:
    """Say what the documents are about, what was not read, and some questions about it."""
    return await service.shares.run_heavy(request, lambda: in_thread(introduce, service.resources, kb))


@content_router.get("/summaries", tags=["knowledge bases"])
def list_summaries(reading: Reading, limit: Limit = 50, offset: Offset = 0) -> Page[DocumentSummary]:
    """Return of each document the sentence that says best what it is about, with its place."""
    documents = reading.kb.documents
    shown = documents.ids(offset, limit)
    items = summarise_documents(documents, shown) if shown else []  # no ids would mean all documents
    return Page(total=documents.count_documents(), items=items)


@content_router.post("/questions/next", tags=["questions"])
def next_questions(view: View, cited: Cited) -> Items[str]:
    """Suggest questions about the entities in the cited text."""
    index = view.index
    return Items(items=suggest_questions(index, [index.row(node.id) for node in evidence(view, cited).nodes]))


@content_router.get("/tables", tags=["tables"])
def list_tables(kb: KbNames, service: Serving, documents: _Documents = []) -> Items[TableInfo]:  # noqa: B006  (FastAPI copies it)
    """List the tables: those of the documents' records, `documents`, then those of the graph."""
    with service.resources.tables_of(kb, Scope.of(documents)) as engine:
        return Items(items=list(engine.tables()))


@content_router.post("/sql", tags=["tables"])
async def run_sql(request: Request, kb: KbNames, query: SqlQuery, service: Serving,
                  client: Annotated[str, may("read")]) -> SqlResult:
    """Run a SELECT over the tables; the result says on how many records it rests, and cites the first of them."""
    def run() -> SqlResult:
        with service.resources.tables_of(kb, Scope.of(query.documents, query.where)) as engine:
            return engine.run(query.sql, most_rows=query.limit, seconds=SQL_SECONDS, most_cited=query.citations)

    # A query takes as long as a question may, so it waits for a slot as questions do.
    async with service.questions.turn(client, request):
        return await anyio.to_thread.run_sync(run)


@content_router.get("/export", tags=["graph"], response_class=FileResponse)
async def export(request: Request, kb: KbName, service: Serving, folder: OwnFolder,
                 form: Annotated[ExportFormat, Query(alias="format")]) -> FileResponse:
    """Export the graph with its tree as a file."""
    file = folder / f"{kb}.{FORMATS[form].suffix}"

    def write() -> None:
        with service.resources.snapshot(kb) as snapshot, file.open("wb") as stream:
            for piece in FORMATS[form].write(snapshot.kb.make_node_link().graph(), snapshot.index.sql):
                check_cancelled()
                stream.write(piece)

    # It is written as a whole before it is sent, so a client that reads slowly holds no graph in memory.
    await service.shares.run_heavy(request, lambda: in_thread(write))
    return FileResponse(file, media_type=FORMATS[form].media_type, filename=file.name)
