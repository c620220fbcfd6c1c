"""What a file or record says of itself: author, date, any further field."""

from collections.abc import Mapping

from ..text.cleaning import clean_text
from ..text.table_rows import DOCUMENT, Cell, row_lines

CREATED = "created"
"""When a program made the file: shown with citations, but no statement about what the text is about."""
_MOST, _LONGEST_NAME, _LONGEST_VALUE = 50, 60, 1000
"""Fields of a document and characters of each: what is more is left out, as it is embedded and shown with citations."""


def clean_metadata(said: Mapping[str, object]) -> dict[str, str]:
    """The fields that can be shown: texts, numbers and lists of them, by name, without what is empty or too long."""
    found: dict[str, str] = {}
    for name, value in said.items():
        items = value if isinstance(value, list) else [value]
        texts = [" ".join(clean_text(str(item)).split()) for item in items[:_MOST]
                 if isinstance(item, str | int | float)]
        text, key = ", ".join(filter(None, texts)), " ".join(clean_text(str(name)[:1000]).split())
        if key and text and len(key) <= _LONGEST_NAME and len(text) <= _LONGEST_VALUE and len(found) < _MOST:
            found[key] = text
    return found


def with_metadata(text: str, document_id: str, title: str, metadata: Mapping[str, str]) -> str:
    """The text under a row with its metadata, which so can be searched, cited and asked for; see `text/table_rows.py`.

    The row is about the document's id, because a title is often the name of what the text is about.
    """
    if not metadata.keys() - {CREATED}:
        return text
    cells = [Cell(DOCUMENT, document_id), *([Cell("Title", title)] if title else []),
             *(Cell(name[:1].upper() + name[1:].replace("_", " "), value) for name, value in metadata.items()
               if name != CREATED)]
    return "\n".join([*row_lines(cells), "", text])
