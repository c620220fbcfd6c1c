"""Metadata of a file or record: author, date, or any further field."""

from collections.abc import Mapping

from ..text.cleaning import clean_text
from ..text.table_rows import DOCUMENT, Cell, row_lines

CREATED = "created"
"""The field with the creation date of the file: shown with citations, but not a statement about the text's subject."""
_MOST, _LONGEST_NAME, _LONGEST_VALUE = 50, 60, 1000
"""The most fields of a document and their longest name and value; the rest is dropped, because metadata is embedded
and shown with citations."""


def clean_metadata(fields: Mapping[str, object]) -> dict[str, str]:
    """Return the fields that can be shown: texts, numbers and lists of them, neither empty nor too long."""
    found: dict[str, str] = {}
    for name, value in fields.items():
        items = value if isinstance(value, list) else [value]
        texts = [" ".join(clean_text(str(item)).split()) for item in items[:_MOST]
                 if isinstance(item, str | int | float)]
        text, key = ", ".join(filter(None, texts)), " ".join(clean_text(str(name)[:1000]).split())
        if key and text and len(key) <= _LONGEST_NAME and len(text) <= _LONGEST_VALUE and len(found) < _MOST:
            found[key] = text
    return found


def with_metadata(text: str, document_id: str, title: str, metadata: Mapping[str, str]) -> str:
    """Put a row with the metadata above the text, so it can be searched and cited; see `text/table_rows.py`.

    The row's subject is the document's id, because the title is often the name of the text's subject.
    """
    if not metadata.keys() - {CREATED}:
        return text
    cells = [Cell(DOCUMENT, document_id), *([Cell("Title", title)] if title else []),
             *(Cell(name[:1].upper() + name[1:].replace("_", " "), value) for name, value in metadata.items()
               if name != CREATED)]
    return "\n".join([*row_lines(cells), "", text])
