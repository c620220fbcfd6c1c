"""What surrounds an answer: the subgraph behind it, the facts among chosen entities, and questions to ask next."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from ...schemas.naming import triple_id
from ...subagent.answer_facts import Place, stated_by
from ..example_questions import example_questions
from ..parameters import KbName, errors
from ..responses import Edge, Items, Subgraph
from ..security.access import may
from ..service import Serving
from .graph_routes import Seen

router = APIRouter(prefix="/api/knowledge-bases/{kb}", dependencies=[may("read")])
_MOST = 500


class CitedSpan(BaseModel):
    """A quoted source of an answer: characters `start` to `end` of a document."""

    model_config = ConfigDict(extra="forbid")

    document: str = Field(min_length=1, max_length=1000)
    start: int = Field(ge=0, le=2**31)
    end: int = Field(ge=0, le=2**31)


class Cited(BaseModel):
    """The citations of an answer."""

    model_config = ConfigDict(extra="forbid")

    citations: list[CitedSpan] = Field(min_length=1, max_length=100)


@router.post("/graph/evidence", tags=["graph"], responses=errors(404))
def evidence(seen: Seen, cited: Cited) -> Subgraph:
    """Return the facts that the cited text states, their entities, and other entities that it names."""
    kb, view = seen
    known, named = stated_by(kb, view.index, [Place(**dict(span)) for span in cited.citations])
    nodes = view.find(named | {end for head, _, tail in known for end in (head, tail)})[:_MOST]
    shown = {node.id for node in nodes}
    return Subgraph(nodes=nodes, total=len(nodes), edges=[
        Edge(id=triple_id(*key), source=key[0], target=key[2], relation=key[1]) for key in known
        if key[0] in shown and key[2] in shown])


@router.get("/graph/among", tags=["graph"], responses=errors(404))
def among(seen: Seen, entities: Annotated[list[Annotated[str, Query(max_length=200)]],
                                          Query(alias="id", max_length=_MOST)]) -> Subgraph:
    """Return the given entities and the facts among them."""
    nodes = seen.view.find(dict.fromkeys(entities))
    return Subgraph(nodes=nodes, edges=seen.view.among(nodes), total=len(nodes))


@router.get("/questions", tags=["questions"], responses=errors(404))
def examples(kb: KbName, seen: Seen, service: Serving) -> Items[str]:
    """Suggest three questions, each of which was answered when it was tried; fewer if the graph is small."""
    return Items(items=example_questions(seen.view, partial(service.tried.is_answered, kb)))


@router.post("/questions/next", tags=["questions"], responses=errors(404))
def next_questions(kb: KbName, seen: Seen, service: Serving, cited: Cited) -> Items[str]:
    """Suggest questions that were answered when they were tried, about the entities in the cited text."""
    named = [node.id for node in evidence(seen, cited).nodes]
    is_answered = partial(service.tried.is_answered, kb)
    return Items(items=example_questions(seen.view, is_answered, about=named) if named else [])
