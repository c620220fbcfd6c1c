"""The four routes as LangChain tools: the retrieval graph's search nodes call them, and agents that plan themselves."""

from collections.abc import Callable, Sequence
from typing import Annotated

from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, ToolException
from pydantic import BaseModel, Field

from ..schemas.errors import BanyanError
from ..schemas.references import literal
from ..schemas.retrieval import ROUTES, Evidence, Route, SubQuery
from .query import Query
from .retriever import Retriever

ROUTE_DESCRIPTIONS: dict[Route, str] = {
    "entity": "Look up entities that a question names or is close to: their types, attributes and relations.",
    "triple": "Find single facts (subject, relation, object) close to a question.",
    "community": "Find themes: groups of entities that belong together, with a summary and their main facts.",
    "dfs": "Find chains of facts that lead from the entities in a question to others, at most five steps long.",
}
_LIMIT, _MOST = 10, 50


class SearchedStep(BaseModel):
    """A question with the schema elements that it uses."""

    question: str = Field(min_length=1, description="One question about one thing, with names instead of pronouns.")
    entity_types: list[str] = Field(default_factory=list, description="Types of the schema that it asks about.")
    relations: list[str] = Field(default_factory=list, description="Relations of the schema that it asks for.")
    attributes: list[str] = Field(default_factory=list, description="Attributes of the schema that it asks for.")


class SearchArguments(SearchedStep):
    """The arguments of a search along one route."""

    after: list[SearchedStep] = Field(default_factory=list, description=(
        "Questions whose unknown answers this one is about, first to last: chains of facts are followed along them."))
    limit: int = Field(_LIMIT, ge=1, le=_MOST, description="How many findings at most.")
    described: Annotated[bool, InjectedToolArg] = Field(True, description="Write the findings as lines, too.")


def route_tools(retriever_of: Callable[[], Retriever]) -> list[BaseTool]:
    """Return each route as a tool.

    Args:
        retriever_of: returns the current retriever of a knowledge base, at each call of a tool.

    Returns:
        Tools named `entity_search`, `triple_search`, `community_search` and `dfs_search`. The content is one finding
        a line, with the ids of the documents that support it; the artifact is a list of `Evidence`, best first.
    """
    return [_tool(retriever_of, route) for route in ROUTES]


def call_route(retriever: Retriever, route: Route, query: Query, limit: int) -> list[Evidence]:
    """Search one route by its tool.

    Args:
        retriever: the knowledge base.
        route: the route.
        query: a sub-query; those that it follows are passed as the steps before it.
        limit: how many findings at most.
    """
    *before, step = (_step(part) for part in query.chain)
    tool = _tool(lambda: retriever, route)
    message = tool.invoke({"type": "tool_call", "id": route, "name": tool.name,
                           "args": {**step, "after": before, "limit": limit, "described": False}})
    found: list[Evidence] = message.artifact
    return found


def _step(query: Query) -> dict[str, object]:
    part = query.sub_query
    return {"question": query.text, "entity_types": list(part.entity_types), "relations": list(part.relations),
            "attributes": list(part.attributes)}


def _tool(retriever_of: Callable[[], Retriever], route: Route) -> BaseTool:
    def search(limit: int = _LIMIT, after: Sequence[SearchedStep] = (), *, described: bool = True,
               **step: object) -> tuple[str, list[Evidence]]:
        try:
            retriever = retriever_of()
        except BanyanError as error:
            raise ToolException(str(error)) from error
        *_, query = retriever.queries([
            _sub_query(part, route, number) for number, part in enumerate([*after, SearchedStep.model_validate(step)])])
        found = retriever.search(route, query, limit)
        # The search nodes read the artifact alone, and lines are a third of the time.
        lines = "\n".join(_line(retriever, item) for item in found) if described else f"{len(found)} findings"
        return lines or "Nothing was found.", found

    return StructuredTool(name=f"{route}_search", description=ROUTE_DESCRIPTIONS[route], args_schema=SearchArguments,
                          func=search, response_format="content_and_artifact", handle_tool_error=True)


def _sub_query(step: SearchedStep, route: Route, number: int) -> SubQuery:
    """Return the sub-query of a step in a chain, which follows the step before it."""
    return SubQuery(question=literal(step.question), entity_types=tuple(step.entity_types),
                    relations=tuple(step.relations), attributes=tuple(step.attributes), routes=(route,),
                    follows=(number - 1,) if number else ())


def _line(retriever: Retriever, item: Evidence) -> str:
    index = retriever.index
    documents = sorted({index.chunks[index.chunk_row[chunk]].document_id
                        for chunk in item.chunk_ids if chunk in index.chunk_row})
    return f"{item.text} [{', '.join(documents)}]" if documents else item.text
