"""Metadata of a document (author, date, or any further field), and which texts are valid ids of documents."""

import re
import unicodedata
from collections.abc import Mapping
from pathlib import PurePosixPath

from ..schemas.naming import UNSEEN
from ..text.cleaning import clean_text, one_line
from ..text.dates import parse_date
from ..text.scripts import has_han
from ..text.section_lines import UNREAD, field_words, is_unfilled, readable_name
from ..text.table_rows import DOCUMENT, LIST_MARK, Cell, row_lines
from .objects import LONGEST_FIELD, MOST_FIELDS, name_objects, read_fields
from .reading import UnreadableError

CREATED = "created"
"""The field with the creation date of the document or of its file; if it is the only field, no row is written."""
_LONGEST_NAME = 100  # of a field
MAX_ID = 1000  # the largest number of characters in an id (see `Document`)
_DAY = re.compile(r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<mark>[-_. ]?)(?P<month>0[1-9]|1[0-2])(?P=mark)"
                  r"(?P<day>0[1-9]|[12]\d|3[01])(?!\d)")
_FOOTNOTE = re.compile(r"\^\[[^\[\]]{0,200}\]")  # of Markdown, which marks "^[Corresponding author]"
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_BREAK = re.compile("[\t-\r\x1c-\x1f\x85\u2028\u2029]")


def clean_metadata(fields: Mapping[str, object]) -> dict[str, str]:
    """Return the fields as texts, without empty ones; those that are too long or too many are left out and counted."""
    texts, left_out = dict[str, str](), 0
    for field, value in read_fields(name_objects(fields)).items():
        name = one_line(clean_text(field))
        items = _FOOTNOTE.sub("", one_line(clean_text(value))).split(LIST_MARK)  # of a list, or the whole value
        text = LIST_MARK.join(item for item in items if not is_unfilled(item, name))
        is_short = len(name) <= _LONGEST_NAME and len(text) <= LONGEST_FIELD and len(texts) < MOST_FIELDS
        if not name or not text:
            continue
        if is_short or name == UNREAD:  # what was not read is told whatever its length
            texts[name] = text
        else:
            left_out += 1
    return with_unread(texts, f"{left_out:,} field{'s' * (left_out > 1)} of its metadata (at most {MOST_FIELDS} are "
                       f"read, of {LONGEST_FIELD:,} characters each)" if left_out else "")


def with_date(metadata: Mapping[str, str], document_id: str) -> dict[str, str]:
    """Return metadata with the day that the document's file name states, such as that of a meeting or a law.

    Nothing is added if the name states several days, or if a field other than `CREATED` is a date.
    """
    days = {f"{day['year']}-{day['month']}-{day['day']}" for day in _DAY.finditer(PurePosixPath(document_id).stem)}
    is_dated = any(parse_date(value) for name, value in metadata.items() if name != CREATED)
    field = "日期" if has_han(document_id) else "date"
    return {**metadata, field: days.pop()} if len(days) == 1 and not is_dated else dict(metadata)


def with_unread(metadata: Mapping[str, str], *notes: str) -> dict[str, str]:
    """Return metadata with a field for the notes on parts that were not read, if there are any notes."""
    note = "; ".join(filter(None, [metadata.get(UNREAD), *notes]))[:LONGEST_FIELD]
    return {**metadata, UNREAD: note} if note else dict(metadata)


def with_metadata(text: str, document_id: str, title: str, metadata: Mapping[str, str]) -> str:
    """Put a row with the metadata above the text, so it can be searched and cited; see `text/table_rows.py`."""
    if not metadata.keys() - {CREATED, UNREAD}:
        return text
    fields = {DOCUMENT: document_name(document_id, title, metadata)}
    # A title that only repeats the file's name says nothing.
    if _letters_of(title) not in {"", _letters_of(PurePosixPath(document_id).stem)}:
        fields["Title"] = title
    cells = [Cell(name, value) for name, value in fields.items()]
    cells += [Cell((words := field_words(name))[:1].upper() + words[1:], value) for name, value in metadata.items()
              if name != UNREAD]
    return "\n".join([*row_lines(cells), "", text])


def document_name(document_id: str, title: str, metadata: Mapping[str, str]) -> str:
    """Return the name of a document in the graph, which no other document of its folder has.

    It is the key and title, such as "EIP-1559: Fee market", if the document has a key: a metadata field that with its
    value makes up the file's name (`eip: 1559` in eip-1559.md). Otherwise it is the title with the id in brackets. A
    title that only repeats the key, the id or the file's name is left out: a file that is called by a day, such as the
    minutes of a meeting, or by a number in a folder is then that meeting or number; any other one has its id.
    """
    stem = PurePosixPath(document_id).stem
    key = next((f"{name.upper()}-{value}" for name, value in metadata.items()
                if any(map(str.isdigit, value)) and _letters_of(f"{name}{value}") == _letters_of(stem)), "")
    if key and title.casefold().startswith(key.casefold()):
        title = title[len(key):].lstrip(" :-–—")
    says_nothing = _letters_of(title) in {"", _letters_of(stem), _letters_of(document_id), _letters_of(key)}
    if key:
        return key if says_nothing else f"{key}: {title}"
    if not says_nothing:
        return f"{title} ({document_id})"
    folder = PurePosixPath(document_id).parent
    if any(map(str.isalpha, stem)):
        if not _DAY.search(stem):  # without its suffix, "Ada Lin.txt" would be Ada Lin
            return document_id
    elif folder.name:  # which is in the name already
        folder = folder.parent
    return f"{file_title(document_id)} ({folder})" if folder.name else file_title(document_id)


def file_title(document_id: str) -> str:
    """Return the name of a document's file in words, after its folder's if that is only a number or a date."""
    path = PurePosixPath(document_id)
    if any(map(str.isalpha, path.stem)) or not path.parent.name:
        return readable_name(path.stem)
    return f"{readable_name(path.parent.name)} {path.stem}"  # "2015-07-18" in the folder "Committee"


def _letters_of(name: str) -> str:
    """Return only the letters and digits of a name; numbers lose their leading zeros ("pep-0008" becomes "pep8")."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", re.sub(r"[\W_]+", "", name.casefold()))


def check_id(text: str) -> str:
    """Return a file's relative path, or the id that a record or a caller gives, in Unicode NFC as a document's id.

    Ids that look the same are the same. People read an id as a path, so it must not contain `.` or `..`.
    """
    name = unicodedata.normalize("NFC", text)
    has_bad_character = any(form.search(name) for form in (_SURROGATE, UNSEEN, _LINE_BREAK))
    has_dots = not {".", ".."}.isdisjoint(name.replace("\\", "/").split("/"))
    if not 0 < len(name) <= MAX_ID or has_bad_character or name != name.strip() or has_dots:
        raise UnreadableError(f"the id {text[:60]!a} cannot be used: write 1 to {MAX_ID:,} visible characters, without "
                              "line breaks, blanks at its ends, and parts that are `.` or `..`")
    return name


def record_id(file: str, own: str | None, number: int) -> str:
    """Return the id of a record: `FILE/OWN`, which no file beside FILE can have, or `FILE#NUMBER`; see `check_id`."""
    return check_id(f"{file}/{check_id(own)}" if own else f"{file}#{number}")
