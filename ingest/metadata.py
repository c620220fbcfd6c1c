"""Metadata of a file or record: author, date, or any further field."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from ..text.cleaning import clean_text
from ..text.metadata_line import UNREAD
from ..text.table_rows import DOCUMENT, LIST_MARK, Cell, row_lines

CREATED = "created"
"""The field with the creation date: the document's own, or that of its file, which alone is no statement."""
MOST_FIELDS, _LONGEST_NAME, _LONGEST_VALUE = 50, 60, 1000
"""The most fields of a document and their longest name and value; the rest is dropped, because metadata is embedded
and shown with citations."""


def clean_metadata(fields: Mapping[str, object]) -> dict[str, str]:
    """Return the fields that can be shown: texts, numbers and lists of them, neither empty nor too long."""
    shown: dict[str, str] = {}
    for name, value in fields.items():
        items = value if isinstance(value, list) else [value]
        texts = [" ".join(clean_text(str(item)).split()) for item in items[:MOST_FIELDS]
                 if isinstance(item, str | int | float)]
        text, key = LIST_MARK.join(filter(None, texts)), " ".join(clean_text(str(name)[:1000]).split())
        if key and text and len(key) <= _LONGEST_NAME and len(text) <= _LONGEST_VALUE and len(shown) < MOST_FIELDS:
            shown[key] = text
    return shown


def with_unread(metadata: Mapping[str, str], *notes: str) -> dict[str, str]:
    """Return metadata with a note of what was not read, if anything was not."""
    note = "; ".join(filter(None, notes))[:_LONGEST_VALUE]
    return {**metadata, UNREAD: note} if note else dict(metadata)


def with_metadata(text: str, document_id: str, title: str, metadata: Mapping[str, str]) -> str:
    """Put a row with the metadata above the text, so it can be searched and cited; see `text/table_rows.py`.

    The row's subject is the document itself (see `document_name`), because the title is often the name of the text's
    subject.
    """
    if not metadata.keys() - {CREATED, UNREAD}:
        return text
    titled = _letters_of(title) not in {"", _letters_of(PurePosixPath(document_id).stem)}
    cells = [Cell(DOCUMENT, document_name(document_id, title, metadata)), *([Cell("Title", title)] if titled else []),
             *(Cell(name[:1].upper() + name[1:].replace("_", " "), value) for name, value in metadata.items()
               if name != UNREAD)]
    return "\n".join([*row_lines(cells), "", text])


def document_name(document_id: str, title: str, metadata: Mapping[str, str]) -> str:
    """Return the name of a document in the graph, which no other document of its folder has.

    Returns:
        "EIP-1559: Fee market" where a field and its value make up the file's name (`eip: 1559` in eip-1559.md);
        otherwise the title with the id, or the id.
    """
    stem = PurePosixPath(document_id).stem
    key = next((f"{name.upper()}-{value}" for name, value in metadata.items()
                if any(map(str.isdigit, value)) and _letters_of(f"{name}{value}") == _letters_of(stem)), "")
    if key and title.casefold().startswith(key.casefold()):
        title = title[len(key):].lstrip(" :-–—")
    own = title if _letters_of(title) not in {"", _letters_of(stem), _letters_of(document_id), _letters_of(key)} else ""
    if key:
        return f"{key}: {own}" if own else key
    return f"{own} ({document_id})" if own else document_id


def _letters_of(name: str) -> str:
    """Return a name's letters and digits alone, numbers without zeros before them ("pep-0008" is "pep8")."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", re.sub(r"[\W_]+", "", name.casefold()))
