"""JSON records without a field `text`: rows of a table, in one document."""

from collections.abc import Mapping, Sequence

from ..text.table_rows import LIST_MARK
from .reading_errors import UnreadableError
from .reading_limits import Limits
from .table_lines import table_lines

Fields = Mapping[str, str]


def is_row(value: object) -> bool:
    """Return True if a JSON value is an object with fields, but without `text`."""
    return isinstance(value, dict) and bool(value) and "text" not in value


def read_fields(value: Mapping[str, object]) -> Fields:
    """Return the fields of an object as texts; those of an inner object have both names."""
    fields: dict[str, str] = {}
    for name, item in value.items():
        if isinstance(item, dict):
            fields |= {f"{name} {inner}": text for inner, text in read_fields(item).items()}
        else:
            fields[str(name)] = _text(item)
    return {name: text for name, text in fields.items() if text}


def record_lines(records: Sequence[Fields], title: str, limits: Limits) -> str:
    """Write records as rows.

    Raises:
        UnreadableError: they have too many fields, or are too large as rows.
    """
    header = list(dict.fromkeys(name for record in records for name in record))
    if len(header) > limits.table_columns:
        raise UnreadableError(f"{len(header):,} fields in its records, at most {limits.table_columns:,} are read: "
                              "split it, or give each record a field `text`")
    lines, room = list[str](), limits.file_bytes
    for line in table_lines(header, ([record.get(name, "") for name in header] for record in records), title):
        lines.append(line)
        room -= len(line) + 1
        if room < 0:
            raise UnreadableError(f"larger than {limits.size()} with each value's name: split it into smaller files")
    return "\n".join(lines)


def object_lines(value: Mapping[str, object], title: str, limits: Limits) -> str:
    """Write a whole file that is one object: its fields as a row, and each list of objects in it as a table."""
    tables = {name: rows for name, items in value.items() if (rows := _read_rows(items))}
    alone = read_fields({name: item for name, item in value.items() if name not in tables})
    parts = [record_lines([alone], title, limits)] if alone else []
    parts += [f"## {name}\n\n{record_lines(rows, str(name), limits)}" for name, rows in tables.items()]
    return "\n\n".join(parts)


def _read_rows(items: object) -> list[Fields]:
    """Return the rows of a list of objects; none of any other value."""
    objects = [item for item in items if isinstance(item, dict) and item] if isinstance(items, list) else []
    return list(map(read_fields, objects)) if objects == items else []


def _text(value: object) -> str:
    if isinstance(value, list):
        return LIST_MARK.join(filter(None, map(_text, value)))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {text}" for name, text in read_fields(value).items())
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else " ".join(str(value).split())
