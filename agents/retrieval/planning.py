"""Which sub-queries are searched, along which routes: in the schema's terms, within the caps, none twice."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ...config import Settings
from ...graph_store.bounding.labels import Bounds
from ...models.rules.decomposition import sub_query
from ...schemas.delta import ElementKind
from ...schemas.errors import BanyanError
from ...schemas.graph_schema import GraphSchema
from ...schemas.naming import canonical_name
from ...schemas.retrieval import Route, SubQuery
from .state import AskContext


class CapError(BanyanError):
    """A cap on a question's cost allows no search at all."""


@dataclass(frozen=True)
class Caps:
    """Limits on what one question may cost.

    `rounds` of retrieval; `sub_queries` of one round, the question itself not counted; `sub_queries_in_all`
    and `tool_calls` (searches of one sub-query along one route) over all rounds.
    """

    rounds: int
    sub_queries: int
    sub_queries_in_all: int
    tool_calls: int

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise CapError(f"max_{name} is {value}, which allows no search: give 1 or more")

    def at_most(self, most: "Caps") -> "Caps":
        """Return the lower of both caps, field by field."""
        return Caps(**{name: min(value, getattr(most, name)) for name, value in vars(self).items()})


def caps_of(context: AskContext, settings: Settings, *, served: bool) -> Caps:
    """Return the context's caps; those that it does not set are the settings'.

    A client of a server (`served`) may only lower them: what a question may cost is not its decision.
    """
    most = Caps(rounds=settings.max_rounds, sub_queries=settings.max_sub_queries,
                sub_queries_in_all=settings.max_sub_queries_in_all, tool_calls=settings.max_tool_calls)
    given = {"rounds": context.max_rounds, "sub_queries": context.max_sub_queries,
             "sub_queries_in_all": context.max_sub_queries_in_all, "tool_calls": context.max_tool_calls}
    caps = replace(most, **{name: value for name, value in given.items() if value is not None})
    return caps.at_most(most) if served else caps


@dataclass(frozen=True)
class Plan:
    """The additions of one round: numbered sub-queries, their searches, and notes of what was left out and why."""

    new: tuple[tuple[int, SubQuery], ...]
    searches: tuple[tuple[int, Route], ...]
    notes: tuple[str, ...]


def key(question: str) -> str:
    """Return the form in which equal sub-queries agree: case, width, spaces and end marks do not matter."""
    return canonical_name(question)


def distinct(parts: Sequence[SubQuery]) -> list[SubQuery]:
    """Return the sub-queries without repetitions: the last of equal ones, in the place of the first."""
    return list({key(part.question): part for part in parts}.values())


def plan_round(parts: Sequence[SubQuery], asked: Sequence[SubQuery], calls: int, routes: Collection[Route],
               caps: Caps) -> Plan:
    """Assign numbers and searches to the new sub-queries, as far as the caps allow.

    Args:
        parts: the sub-queries of this round, most important first; repetitions are left out.
        asked: those of earlier rounds.
        calls: the searches made so far.
        routes: the routes switched on.
        caps: the limits.

    Returns:
        The plan. A sub-query left without any of its searches by the cap is not asked at all.
    """
    known = {key(part.question) for part in asked}
    fresh = [part for part in distinct(parts) if key(part.question) not in known]
    # The question itself is the first of all and does not count as a part of it.
    limit = caps.sub_queries + (not asked)
    notes = [f"cap of {caps.sub_queries} sub-queries a round: left out {part.question!r}" for part in fresh[limit:]]
    new: list[tuple[int, SubQuery]] = []
    searches: list[tuple[int, Route]] = []
    for part in fresh[:limit]:
        number = len(asked) + len(new)
        wanted = [route for route in part.routes if route in routes]
        left = wanted[:max(0, caps.tool_calls - calls - len(searches))]
        if number >= caps.sub_queries_in_all:
            notes.append(f"cap of {caps.sub_queries_in_all} sub-queries in all: left out {part.question!r}")
            continue
        if len(left) < len(wanted):
            missed = ", ".join(wanted[len(left):])
            notes.append(f"cap of {caps.tool_calls} tool calls: left out {missed} for {part.question!r}")
        if left or not wanted:
            new.append((number, part))
            searches.extend((number, route) for route in left)
    return Plan(tuple(new), tuple(searches), tuple(notes))


def in_schema(part: SubQuery, bounds: Bounds) -> tuple[SubQuery, list[str]]:
    """Map a sub-query's labels to the schema's names, and return it with notes of what was mapped or dropped.

    Args:
        part: a sub-query as a reasoner gave it.
        bounds: the schema in force; an open schema admits every label.
    """
    notes: list[str] = []
    types = _map_labels("entity_type", part.entity_types, bounds, notes)
    relations = _map_labels("relation", part.relations, bounds, notes)
    attributes = _map_labels("attribute", part.attributes, bounds, notes)
    return part.model_copy(update={"entity_types": types, "relations": relations, "attributes": attributes}), notes


def with_elements(part: SubQuery, schema: GraphSchema) -> SubQuery:
    """Return a sub-query with the schema elements that its words name, where it names none itself."""
    if part.entity_types or part.relations or part.attributes:
        return part
    found = sub_query(part.question, schema, chained=False)
    return found.model_copy(update={"routes": part.routes, "follows": part.follows})


def _map_labels(kind: ElementKind, labels: Sequence[str], bounds: Bounds, notes: list[str]) -> tuple[str, ...]:
    names: list[str] = []
    for label in labels:
        known = bounds.find(kind, label)
        element = kind.replace("_", " ")
        if known is None:
            notes.append(f"{element} {label!r} is not in the schema: dropped")
            continue
        if known.name != label:
            notes.append(f"{element} {label!r} is {known.name!r} in the schema")
        names.append(known.name)
    return tuple(dict.fromkeys(names))
