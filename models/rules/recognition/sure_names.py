"""The names of a chunk that are entities: those whose context confirms the recogniser's kind.

A finder may mark a doubtful name in a quote, where a reader sees it. In the graph it would be an entity of a wrong
type. Therefore a name that occurs once, and that neither its own words nor its neighbours confirm, is omitted.
"""

import re
from collections.abc import Mapping, Sequence

from ....text.scripts import is_han
from ..lexicon import words
from .name_kinds import infer_type
from .name_likeness import may_be
from .name_words import PREPOSITIONS, ROLES
from .typed_span import Span

_LEADS_TO_PLACE = PREPOSITIONS | words("between outside inside throughout north south east west")
_OFTEN = frozenset({"organization", "location", "event", "work"})
"""The kinds that are confirmed by two occurrences."""
_LEADS_TO_BODY = words("by at for from joined of with under against")
_LAST_WORD = re.compile(r"\w{1,20}$")
_JOINED = re.compile(r"(?:,|,? and|,? or) $")
_QUOTED = re.compile(r"[\"“«]$")
_ITEM = re.compile(r"(?:^|\n)[ \t]*[-*•] \[?$")
_AROUND = 40


def sure_names(text: str, names: Mapping[str, Sequence[Span]]) -> set[str]:
    """Return the names that their context confirms.

    Args:
        text: the chunk's text.
        names: each name with its places; names without places are ignored.
    """
    places = {span.end for spans in names.values() for span in spans if span.kind == "location"}
    return {name for name, spans in names.items() if any(
        _is_sure(text, span, places) or (len(spans) > 1 and span.kind in _OFTEN and (
            span.kind != "work" or " " in name)) for span in spans)}


def _is_sure(text: str, span: Span, places: set[int]) -> bool:
    name = text[span.start : span.end]
    if is_han(name[0]) or is_han(name[-1]):
        return span.kind != "name"
    before = text[max(0, span.start - _AROUND) : span.start]
    last = _LAST_WORD.search(before.rstrip(" ("))
    leading = last[0].lower() if last else ""
    match span.kind:
        case "person":
            return " " in name or leading in ROLES
        case "location":
            joined = _JOINED.search(before)
            listed = joined is not None and span.start - len(joined[0]) in places
            return leading in _LEADS_TO_PLACE or (leading == "the" and " " in name) or listed or (
                text.startswith(("'s", "’s"), span.end))
        case "organization":
            body = " " in name and leading in _LEADS_TO_BODY
            return leading == "the" or body
        case "work":
            told = infer_type(name) == "Work" and may_be("organization", name.rpartition(" ")[0])
            return " " in name and ((told and _ITEM.search(before)) or _QUOTED.search(before)) is not None
    return False

