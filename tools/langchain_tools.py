"""The four routes as LangChain tools, for agents that do their own planning."""

from langchain_core.tools import BaseTool, StructuredTool

from ..schemas.references import literal
from ..schemas.retrieval import ROUTES, Route, SubQuery
from .retriever import Retriever

_DESCRIPTIONS: dict[Route, str] = {
    "entity": "Look up entities that a question names or is close to: their types, attributes and relations.",
    "triple": "Find single facts (subject, relation, object) close to a question.",
    "community": "Find themes: groups of entities that belong together, with a summary and their main facts.",
    "dfs": "Find chains of facts that lead from the entities in a question to others, at most five steps long.",
}


def route_tools(retriever: Retriever, limit: int = 10) -> list[BaseTool]:
    """Each route as a tool that takes a question.

    Returns:
        Tools named `entity_search`, `triple_search`, `community_search` and `dfs_search`; each returns
        one finding a line, with the ids of the documents that support it.
    """
    return [_tool(retriever, route, limit) for route in ROUTES]


def _tool(retriever: Retriever, route: Route, limit: int) -> BaseTool:
    def search(question: str) -> str:
        query = retriever.queries([SubQuery(question=literal(question))])[0]
        index = retriever.index
        lines = []
        for item in retriever.search(route, query, limit):
            documents = sorted({index.chunks[index.chunk_row[chunk]].document_id
                                for chunk in item.chunk_ids if chunk in index.chunk_row})
            lines.append(f"{item.text} [{', '.join(documents)}]" if documents else item.text)
        return "\n".join(lines) or "Nothing was found."

    return StructuredTool.from_function(search, name=f"{route}_search", description=_DESCRIPTIONS[route])
