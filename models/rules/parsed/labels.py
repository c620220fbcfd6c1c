"""One label for an attribute however a text words it: what recurs must be called the same."""

from collections.abc import Sequence

from ..lexicon import words

_MODIFIERS = words(
    "annual yearly quarterly monthly daily current recent latest previous estimated approximate projected "
    "expected reported recorded official overall new first second third fourth fifth sixth seventh eighth ninth "
    "tenth last final full former fiscal consolidated combined record same own respective initial whole entire "
    "high low higher lower highest lowest large small larger smaller huge strong mere miles kilometres kilometers"
)
"""Adjectives of time, rank and guess before a noun: they do not name another attribute."""

_PLURALS = words(
    "sales assets liabilities earnings proceeds savings reserves goods headquarters series species means odds "
    "securities receivables payables")
"""Nouns that name an attribute in the plural."""

_GENERIC_NOUNS = words(
    "number total average amount figure value sum rate percentage share level rest maximum minimum record most one "
    "majority minority part half third quarter result group list set series period thing time way kind type name "
    "ones percent range factor lot pair answer term rank rating ranking position place increase decrease growth rise "
    "fall drop decline change difference distance age")
_MOST_WORDS = 3
_ES = ("sses", "shes", "ches", "xes", "zzes")


def attribute_label(said: Sequence[str]) -> str:
    """The label of a noun phrase in small letters: 'net profit' for 'annual net profits'; "" for none."""
    kept = list(said)
    while kept and kept[0] in _MODIFIERS:
        kept = kept[1:]
    if not 0 < len(kept) <= _MOST_WORDS:
        return ""
    kept[-1] = _singular(kept[-1])
    return "" if len(kept) == 1 and (kept[0] in _GENERIC_NOUNS or len(kept[0]) < 3) else " ".join(kept)  # noqa: PLR2004


def _singular(noun: str) -> str:
    if noun in _PLURALS or not noun.endswith("s") or noun.endswith(("ss", "us", "is")):
        return noun
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    return noun[:-2] if noun.endswith(_ES) else noun[:-1]
