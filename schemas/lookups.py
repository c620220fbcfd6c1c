"""What the retrieval agent can look up: one typed request for each of its tools."""

from typing import Annotated, Literal, Self, TypeAlias, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

Tool = Literal["entity_search", "triple_search", "table_query", "dfs_search", "community_search", "passage_search"]
TOOLS: tuple[Tool, ...] = get_args(Tool)
"""The tools in the order in which prompts and agents see them; CONTRIBUTING.md says how to add one."""
LONGEST = 1000  # characters of one argument; a question has at most ten times as many
LONGEST_SQL = 4000  # characters of a query
Text = Annotated[str, Field(max_length=LONGEST)]
Wanted = Annotated[str, Field(min_length=1, max_length=LONGEST)]
Texts = Annotated[tuple[Text, ...], Field(max_length=20), AfterValidator(lambda texts: tuple(filter(str.strip, texts)))]
"""Some texts; strict decoding gives every field, and [""] means none, as "" does."""


class _Request(BaseModel):
    """What all lookups have in common: models may add fields to them, and write a year as a number."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)


class EntityLookup(_Request):
    """The card of an entity: its type, names, facts and values."""

    tool: Literal["entity_search"] = "entity_search"
    entity: Wanted = Field(description="The entity's name.")
    relations: Texts = Field(default=(), description="Only these relations or attributes; empty: all.")
    at: Text = Field(default="", description="Only what holds at this date, such as 2021 or 2021-03-05; empty: all.")


class TripleLookup(_Request):
    """The rows of a relation or an attribute, by parts of names."""

    tool: Literal["triple_search"] = "triple_search"
    relation: Text = Field(default="", description="A relation or an attribute of the schema; A|B: either; empty: "
                                                   "all, of a head or tail.")
    head: Text = Field(default="", description="Only rows whose subject has this name or part of one; A|B: either.")
    tail: Text = Field(default="", description="Only rows whose object or value is this or has it as a part; A|B: "
                                               "either.")
    document: Text = Field(default="", description="Only rows of documents with this part in their id or title.")
    at: Text = Field(default="", description="Only rows that hold at this date; empty: all.")


class TableQuery(_Request):
    """What SQL computes over the tables of records and of the graph."""

    tool: Literal["table_query"] = "table_query"
    sql: str = Field(min_length=1, max_length=LONGEST_SQL, description="One SELECT in DuckDB's SQL over the tables of "
                     "records, `documents`, `entities`, `facts`, `attribute_values`, or a relation or attribute by "
                     "its name.")


class PathLookup(_Request):
    """Chains of facts from one entity."""

    tool: Literal["dfs_search"] = "dfs_search"
    start: Wanted = Field(description="The entity where the chains begin.")
    end: Text = Field(default="", description="The entity where they end; empty: wherever they lead.")
    along: Texts = Field(default=(), description="Only along these relations, in any order; empty: all.")


class CommunityLookup(_Request):
    """Reports on a theme."""

    tool: Literal["community_search"] = "community_search"
    theme: Text = Field(default="", description="The theme; empty: the documents as a whole.")


class PassageLookup(_Request):
    """Passages of the documents."""

    tool: Literal["passage_search"] = "passage_search"
    query: Text = Field(default="", description="A question or words, with names written out; empty, beside documents: "
                                                "the question that is asked.")
    documents: Texts = Field(default=(), description="Only documents with one of these parts in their id or title.")

    @model_validator(mode="after")
    def _check_any(self) -> Self:
        """Raise ValueError if neither a query nor a document is given: the search would have nothing to go by."""
        if not self.query.strip() and not self.documents:
            raise ValueError("query: give words to search by, or documents")
        return self


Lookup: TypeAlias = Annotated[EntityLookup | TripleLookup | TableQuery | PathLookup | CommunityLookup | PassageLookup,
                              Field(discriminator="tool")]
LOOKUPS: dict[Tool, type[Lookup]] = {
    "entity_search": EntityLookup, "triple_search": TripleLookup, "table_query": TableQuery, "dfs_search": PathLookup,
    "community_search": CommunityLookup, "passage_search": PassageLookup}


def lookup_text(lookup: Lookup) -> str:
    """Return a lookup as people read it, with the arguments that are set: `triple_search: born_in, tail Warsaw`."""
    parts: list[str] = []
    arguments = [(name, value) for name, value in lookup if name != "tool"]
    for number, (name, value) in enumerate(arguments):
        text = ", ".join(value) if isinstance(value, tuple) else " ".join(str(value).split())
        if text and value != type(lookup).model_fields[name].default:
            parts.append(text if number == 0 else f"{name} {text}")
    return f"{lookup.tool}: {', '.join(parts) or 'everything'}"


def lookup_arguments(lookup: Lookup) -> dict[str, object]:
    """Return the arguments of a lookup that differ from their defaults."""
    return lookup.model_dump(mode="json", exclude_defaults=True, exclude={"tool"})
