"""The six lookups as LangChain tools: the retrieval graph's nodes, `kb.as_tools()` and MCP call the same ones."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Annotated, Any, Literal

from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, ToolException
from pydantic import BaseModel, Field, create_model

from ..graph_store.graph_index import GraphIndex
from ..prompts.rendering import block_text
from ..runtime.threads import in_thread
from ..schemas import lookups
from ..schemas.errors import BanyanError
from ..schemas.inquiry import Block
from ..schemas.retrieval import EVERYTHING, Switches
from ..text.times import DateError
from .document_status import mark_versions, note_outdated_rows
from .fact_lookups import look_up_entity, look_up_paths, look_up_triples
from .fact_rows import fit_blocks
from .passages import look_up_passages
from .reports import look_up_reports
from .retriever import Retriever
from .several_bases import Retrievers, join_lookups, lookup_in, open_tables
from .table_query import look_up_query

TOOL_DESCRIPTIONS: dict[lookups.Tool, str] = {
    "entity_search": "Look up what the knowledge graph knows of an entity: type, names, facts and values, with times "
                     "and documents. An unknown name gets the nearest ones.",
    "triple_search": "List all rows of a relation or an attribute of the schema, filtered by parts of names, document "
                     "or date. An unknown relation gets those that exist.",
    "table_query": "Compute over tables by one SELECT in DuckDB's SQL: over the records of documents' tables, over "
                   "`documents`, `entities`, `facts`, `attribute_values`, and over each relation and attribute by its "
                   "name. The result says over how many records it is. An unknown name gets those that exist.",
    "dfs_search": "Find chains of facts that connect two entities, or that begin at one.",
    "community_search": "Read reports on a theme, or on the documents as a whole where no theme is given.",
    "passage_search": "Find the passages of the documents that are most relevant to a query."}
Lease = Callable[[], AbstractContextManager[Retrievers]]
_TOKENS = 1500  # the budget of one lookup, in estimated tokens, if the caller sets none


def lookup_tools(lease: Lease) -> list[BaseTool]:
    """Return each lookup as a tool, named as in `TOOLS`; each call leases the current retrievers.

    The content is lines that name the documents which support them; the artifact is a list of `Block`, whose items lead
    to documents, offsets and words.
    """
    return [_lookup_tool(lease, tool) for tool in lookups.TOOLS]


async def call_tool(lease: Lease, lookup: lookups.Lookup, *, tokens: int, question: str, seen: Sequence[str],
                    switches: Switches) -> list[Block]:
    """Run a lookup by its tool, as the agent does; `seen` are the keys of passages that were shown before."""
    tool = _lookup_tool(lease, lookup.tool)
    arguments = {**lookups.lookup_arguments(lookup), "tokens": tokens, "question": question, "seen": list(seen),
                 "switches": switches}
    message = await tool.ainvoke({"type": "tool_call", "id": lookup.tool, "name": tool.name, "args": arguments})
    blocks: list[Block] = message.artifact
    return blocks


def _lookup_tool(lease: Lease, tool: lookups.Tool) -> BaseTool:
    """Return one lookup as a LangChain tool, for synchronous and asynchronous callers; see `lookup_tools`."""

    def search(tokens: int = _TOKENS, question: str = "", seen: Sequence[str] = (), switches: Switches = EVERYTHING,
               **arguments: Any) -> tuple[str, list[Block]]:
        """Make the lookup; return its lines and its blocks. A BanyanError becomes an error that the agent reads."""
        try:
            with lease() as retrievers:
                lookup = lookups.LOOKUPS[tool](**{**arguments, "tool": tool})
                blocks = look_up_in(retrievers, lookup, tokens=tokens, question=question, seen=seen, switches=switches)
        except BanyanError as error:
            raise ToolException(str(error)) from error
        return "\n\n".join(map(block_text, blocks)), blocks

    async def asearch(**arguments: Any) -> tuple[str, list[Block]]:
        return await in_thread(search, **arguments)

    return StructuredTool(name=tool, description=TOOL_DESCRIPTIONS[tool], args_schema=_arguments_schema(tool),
                          func=search, coroutine=asearch, response_format="content_and_artifact",
                          handle_tool_error=True)


@cache
def _arguments_schema(tool: lookups.Tool) -> type[BaseModel]:
    """Return the arguments of a lookup, with those that the caller sets and that a model does not see."""
    injected: dict[str, Any] = {
        "tool": (Annotated[Literal[tool], InjectedToolArg], tool),
        "tokens": (Annotated[int, InjectedToolArg], Field(_TOKENS, ge=1)),
        "question": (Annotated[str, InjectedToolArg], ""),
        "seen": (Annotated[list[str], InjectedToolArg], []),
        "switches": (Annotated[Switches, InjectedToolArg], EVERYTHING)}
    return create_model(f"{tool}_arguments", __base__=lookups.LOOKUPS[tool], **injected)


def look_up_in(retrievers: Retrievers, lookup: lookups.Lookup, *, tokens: int, question: str, seen: Sequence[str],
               switches: Switches) -> list[Block]:
    """Run a lookup in each of some knowledge bases, or a query over the tables of all; see `look_up`."""
    if len(retrievers) == 1:
        (retriever,) = retrievers.values()
        return look_up(retriever, lookup, tokens=tokens, question=question, seen=seen, switches=switches)
    if isinstance(lookup, lookups.TableQuery):
        with open_tables(retrievers) as engine:
            return look_up_query(engine, lookup, tokens)
    found = {base: look_up(retriever, own, tokens=tokens, question=question, seen=seen, switches=switches)
             for base, retriever in retrievers.items() if (own := lookup_in(lookup, base, retrievers)) is not None}
    return join_lookups(lookup, found, retrievers, tokens, switches)


def look_up(retriever: Retriever, lookup: lookups.Lookup, *, tokens: int = _TOKENS, question: str = "",
            seen: Sequence[str] = (), switches: Switches = EVERYTHING) -> list[Block]:
    """Run a lookup: check its arguments against the schema in force and return what it finds.

    An unknown name or a date without a year is no error: the note of a block says what is wrong. Items of superseded
    documents are marked.
    """
    index = retriever.index
    terms = retriever.labelled_terms(index.store.schemas.current())
    try:
        match lookup:
            case lookups.EntityLookup():
                blocks = fit_blocks(look_up_entity(index, lookup), tokens)
            case lookups.TripleLookup() if not lookup.relation.strip("| "):
                blocks = fit_blocks(_cards_of_ends(index, lookup), tokens)
            case lookups.TripleLookup():
                blocks = fit_blocks(look_up_triples(index, terms, lookup), tokens)
            case lookups.TableQuery():
                blocks = note_outdated_rows(index, look_up_query(index.sql, lookup, tokens))
            case lookups.PathLookup():
                blocks = fit_blocks(look_up_paths(index, lookup), tokens)
            case lookups.CommunityLookup():
                blocks = look_up_reports(retriever, terms, lookup, question, tokens)
            case lookups.PassageLookup():
                query = lookup.query if lookup.query.strip() else question[:lookups.LONGEST]
                lookup = lookup.model_copy(update={"query": query})
                blocks = look_up_passages(retriever, lookup, tokens, seen, switches)
    except DateError as error:
        return [Block(title=lookup.tool, note=str(error))]
    return mark_versions(index, blocks, question)


def _cards_of_ends(index: GraphIndex, lookup: lookups.TripleLookup) -> list[Block]:
    """Return the cards of the ends of a lookup that names no relation, with only the lines of its document, if any."""
    ends = [name for end in (lookup.head, lookup.tail) for name in end.split("|") if name.strip()]
    if not ends:
        return [Block(title=lookup.tool, note="give a relation, a head or a tail")]
    cards = [card for name in ends for card in look_up_entity(index, lookups.EntityLookup(entity=name, at=lookup.at))]
    if not lookup.document:
        return cards
    allowed = index.documents_with([lookup.document])
    of_document = [[item for item in card.items if not allowed.isdisjoint(place.document for place in item.places)]
                   for card in cards]
    return [card.model_copy(update={"items": tuple(items)}) for card, items in zip(cards, of_document, strict=True)]
