"""What surrounds an answer: the subgraph behind it, the facts among chosen entities, and questions to ask next."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from ...agents.example_questions import example_questions
from ...agents.introduction import Introduction, introduce
from ...subagent.answer_facts import CitedPlace, stated_by
from ...tools.openings import DocumentSummary, summarise_documents
from ..parameters import KbName, Limit, Offset, errors
from ..responses import Body, Items, Page, Subgraph
from ..security.access import may
from ..service import Reading, Serving
from .graph_routes import Seen

router = APIRouter(prefix="/api/knowledge-bases/{kb}", dependencies=[may("read")])
_MOST = 500


class Cited(Body):
    """The citations of an answer."""

    citations: list[CitedPlace] = Field(min_length=1, max_length=100)


@router.post("/graph/evidence", tags=["graph"], responses=errors(404))
def evidence(seen: Seen, cited: Cited) -> Subgraph:
    """Return the facts that the cited text states, their entities, and other entities that it names."""
    view = seen.view
    known, named = stated_by(view.index, cited.citations)
    nodes = view.find(named | {end for head, _, tail in known for end in (head, tail)})[:_MOST]
    shown = {node.id for node in nodes}
    return view.drawn(nodes, [view.edge(key) for key in known if key[0] in shown and key[2] in shown], len(nodes))


@router.get("/graph/among", tags=["graph"], responses=errors(404))
def among(seen: Seen, entities: Annotated[list[Annotated[str, Query(max_length=200)]],
                                          Query(alias="id", max_length=_MOST)]) -> Subgraph:
    """Return the given entities and the facts among them."""
    nodes = seen.view.find(dict.fromkeys(entities))
    return seen.view.drawn(nodes, seen.view.among(nodes), len(nodes), linked=True)


@router.get("/introduction", tags=["knowledge bases"], responses=errors(404))
def show_introduction(kb: KbName, service: Serving) -> Introduction:
    """Say what the documents are about, what was not read, and three questions that were answered when tried."""
    return introduce(service.resources, kb, partial(service.tried.answer, kb))


@router.get("/summaries", tags=["knowledge bases"], responses=errors(404))
def list_summaries(reading: Reading, limit: Limit = 50, offset: Offset = 0) -> Page[DocumentSummary]:
    """Return of each document the sentence that says best what it is about, with its place."""
    documents = reading.kb.documents
    ids = [entry.id for entry in documents.entries()]
    shown = ids[offset:offset + limit]
    return Page(total=len(ids), items=summarise_documents(documents, shown) if shown else [])


@router.post("/questions/next", tags=["questions"], responses=errors(404))
def next_questions(kb: KbName, seen: Seen, service: Serving, cited: Cited) -> Items[str]:
    """Suggest questions that were answered when they were tried, about the entities in the cited text."""
    named = [node.id for node in evidence(seen, cited).nodes]
    found = example_questions(seen.view.index, partial(service.tried.answer, kb), about=named) if named else []
    return Items(items=[one.text for one in found])
