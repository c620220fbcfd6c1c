"""The groups of a view that a question about the whole speaks of: "in the 1990s", "by decade", "by region", 按行业.

A view exists where a person asked for it (`banyan tree --view`), and is kept up with the graph. Its groups have names,
so they need no description: their name, most typical members and facts are read.
"""

import re
from collections.abc import Iterator

from ..graph_store.ledger.communities import Community
from ..schemas.graph_schema import GraphSchema
from ..schemas.naming import normalise
from ..text.dates import find_dates, parse_date, years_of
from .index import RetrievalIndex

_BY = {True: r"\b(?:by|per|each|every)(?: the)? (?:{})s?\b", False: r"(?:按照?|各个?|每个?|不同)(?:{})"}
_PERIODS = {"year": ("year", "年", "年份"), "decade": ("decade", "年代"), "century": ("century", "世纪")}


def spoken_groups(index: RetrievalIndex, question: str) -> list[Community]:
    """Return the groups that a question names in the first view it mentions, or all groups of that view.

    Args:
        index: the knowledge base.
        question: in any language.

    Returns:
        Empty if the question mentions no view's dimension or groups. The group without a value is never returned.
    """
    tables = index.store.communities
    for view in tables.views():
        dimension, *rest = view.split(":")
        if dimension in {"attribute", "relation"}:
            groups = [group for group in tables.all(view) if group.label and group.label != f"without {rest[0]}"]
            named = [group for group in groups if _is_named(group.label, question)]
            if named or _is_grouped(question, _words(index.store.schemas.current(), dimension, *rest)):
                return named or groups
    return []


def _words(schema: GraphSchema, dimension: str, name: str, period: str = "") -> Iterator[str]:
    """Yield the words for a dimension: its period, its element's names, and the types that a relation leads to."""
    yield from _PERIODS.get(period, ())
    if dimension == "attribute":
        attribute = schema.attribute_type(name)
        yield from attribute.all_names() if attribute else (name,)
        return
    relation = schema.relation_type(name.lstrip("^"))
    yield from relation.all_names() if relation else (name.lstrip("^"),)
    ends = (relation.domain if name.startswith("^") else relation.range) if relation else ()
    for kind in schema.entity_types:
        if kind.name in ends:
            yield from kind.all_names()


def _is_grouped(question: str, words: Iterator[str]) -> bool:
    folded = normalise(question)
    return any(re.search(_BY[word.isascii()].format(re.escape(normalise(word.replace("_", " ")))), folded)
               for word in words)


def _is_named(label: str, question: str) -> bool:
    """Return True if a question has a group's name, or a time that contains it."""
    years = years_of(parse_date(label))
    if years:
        spoken = [years_of(parse_date(question[start:end])) for start, end in find_dates(question)]
        return any(said and said[0] <= years[0] and years[1] <= said[1] for said in spoken)
    name, folded = normalise(label), normalise(question)
    return bool(re.search(rf"\b{re.escape(name)}\b", folded)) if name.isascii() else name in folded
