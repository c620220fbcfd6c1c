"""The values of a result as JSON has them, and the kinds of its columns."""

import datetime
import math
from decimal import Decimal
from typing import Any

from ...schemas.records import ColumnKind

_DIGITS = 15
"""Significant digits of a number: those that a float has for certain."""
_OTHER_TYPES = ("VARCHAR", "STRUCT", "INTERVAL", "TIME", "BLOB", "UUID", "MAP", "JSON", '"NULL"')


def kind_of(sql_type: str) -> ColumnKind:
    """Return the kind of a column of a result by its type in DuckDB."""
    if sql_type.endswith("]") or sql_type == "list":
        return "list"
    if sql_type.startswith(("DATE", "TIMESTAMP")):
        return "date"
    if sql_type == "BOOLEAN":
        return "boolean"
    return "text" if sql_type.startswith(_OTHER_TYPES) else "number"


def plain(value: Any) -> Any:
    """Return a value as JSON has it; numbers without the digits in which floats differ, None if they are not finite."""
    if isinstance(value, float | Decimal):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value if value is None or isinstance(value, bool | int | str) else str(value)
