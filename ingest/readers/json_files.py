"""Read JSON files of records, in the process with limited memory: a parsed value takes many times its text's memory."""

import json

from ...schemas.formats.small_files import check_depth
from ..decoding import decode
from ..metadata import clean_metadata
from ..reading import Content, Limits, UnreadableError
from ..records import BadRecordError, is_row, object_lines, parse, read_fields, read_record, record_lines


def read_json(data: bytes, limits: Limits) -> Content:
    """Read the records of a list, of an object with a list in `documents` or `data`, or of a single record.

    Returns:
        The records as JSON lines for `records.read_listed`: the number from 0, and either the id, title, text and
        metadata, or the reason why the record cannot be used. If no record has a `text`, the whole file is a table:
        one record without a number.

    Raises:
        UnreadableError: the file is not JSON, or has no records.
    """
    text = decode(data)
    if not text.strip():
        return Content("")
    try:
        content = parse(text)
    except BadRecordError as error:
        raise UnreadableError(str(error)) from error
    records = _list_records(content)
    if not records or not all(map(is_row, records)):
        return Content("\n".join(json.dumps([number, _fields(number, value, limits)], ensure_ascii=False)
                                 for number, value in enumerate(records)))
    try:
        check_depth(content, limits.json_depth)
    except ValueError as error:
        raise UnreadableError(str(error)) from error
    table = object_lines(content, "", limits) if isinstance(content, dict) else record_lines(
        [read_fields(record) for record in records if isinstance(record, dict)], "", limits)
    return Content(json.dumps([None, [None, "", table, {}]], ensure_ascii=False))


def _fields(number: int, value: object, limits: Limits) -> list[object] | str:
    """Return the id, title, text and metadata of a record, or the reason why it cannot be used."""
    try:
        record = read_record(number, value, limits)
    except BadRecordError as error:
        return str(error)
    return [record.id, record.title, record.text, clean_metadata(record.metadata)]


def _list_records(content: object) -> list[object]:
    """Return the records of a file: its list, the list in `documents` or `data`, or the whole object as one record."""
    if isinstance(content, list):
        return content
    if isinstance(content, dict):
        for key in ("documents", "data"):
            if isinstance(content.get(key), list) and "text" not in content:
                return list(content[key])
        return [content]
    raise UnreadableError("neither a list of records nor an object: write "
                          '[{"text": "...", "id": "...", "title": "..."}, ...]')
