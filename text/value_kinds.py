"""Values by kind: of which kind a value is, and when two spellings are one value."""

from ..schemas.graph_schema import ValueKind
from .dates import parse_date
from .quantities import parse_number

_YEAR_DIGITS = 4


def parse_value(text: str, kind: ValueKind, unit: str = "") -> str:
    """The normal form of a value of a kind.

    Args:
        text: the value as said.
        kind: what it should be; a text has no normal form.
        unit: for numbers: the unit meant where the value names none.

    Returns:
        See `parse_date` and `parse_number`; "" if the value is not of that kind, or a text.
    """
    if kind == "date":
        return parse_date(text)
    if kind == "number":
        normal = parse_number(text)
        return f"{normal} {unit}" if normal and unit and " " not in normal else normal
    return ""


def kind_of(text: str) -> ValueKind:
    """The kind of a value: a date before a number, so that "1867" is a year and "186" a number."""
    if len(parse_date(text)) >= _YEAR_DIGITS:
        return "date"
    return "number" if parse_number(text) else "text"


def means(said: str, source: str, kind: ValueKind) -> bool:
    """Whether a source's value is the one that was said, or the same said less precisely.

    A day or month that the source does not give was added by the reasoner, and so was nothing by
    leaving out a unit.

    Args:
        said: normal form of the value as said.
        source: normal form of the value in the source.
        kind: of both.
    """
    if not said or not source:
        return False
    if kind == "date":
        return said == source or said.startswith(f"{source}-")
    return said == source or said == source.partition(" ")[0]
