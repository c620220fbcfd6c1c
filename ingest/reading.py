"""What all readers share: limits on what is read, the content that is returned, and the errors."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

from pydantic import Field

from ..schemas.documents import Frozen, SourceTable
from ..schemas.errors import BanyanError
from ..text.quantities import is_unit
from .source_tables import collected_tables

Fetch = Literal["off", "public", "any"]
Ocr = Literal["auto", "off"]
MEGABYTE = 1024 * 1024
LEFT_OUT = "left out: "
"""The beginning of messages about files that are left out because they are no documents; they are no failures."""
_ELSEWHERE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]{1,20}:|//|#|\{)", re.IGNORECASE)
_LEAST_EMBEDDED = 1500  # the fewest characters of a picture that is embedded in the text; shorter ones are icons
RAISED, NOTE, END = "\ufdd0", "\ufdd1", "\ufdd2"
"""The beginning of a raised text, of one that is certainly the mark of a note, and the end of both.

No text has them, as Unicode has no characters there."""
_RAISED_TEXT = re.compile(f"(?P<kind>[{RAISED}{NOTE}])(?P<raised>[^{RAISED}{NOTE}{END}\n]{{0,20}}){END}")
_RAISED_MARKS = re.compile(f"[{RAISED}{NOTE}{END}]")
_LOOK_BACK = 20
_TEN = re.compile(r"(?<![\d.,])10\Z")
_TWO = re.compile(r"(?<![\d.,])2\Z")
_LEAST_POWER_OF_TWO = 5  # a smaller figure behind a 2 is more often the mark of a note
_NEGATIVE = re.compile(r"[-−–]\d{1,3}")
_NOTE_MARK = re.compile(r"\d{1,3}(?:[,;] ?\d{1,3})*|[*†‡§¶#]{1,3}|[a-df-hA-DF-H]")
"""Not "e" and "o", which are the ends of ordinal numbers: 5<sup>e</sup>, n<sup>o</sup>."""
_BRACKETED = re.compile(r"\[[^\[\]]{1,20}\]|\([^()]{1,5}\)")
_LAST_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]+\Z")
_BEFORE_UNIT = re.compile(r"(?<=\d)(?P<mark> \[[^\[\]\s]{1,12}\]) ?(?P<unit>[€$£¥%‰℃]|°?[^\W\d_]{1,12})(?![^\W_])")
_WORDS = frozenset({"in", "a", "at"})  # units that are more often words


class Limits(Frozen):
    """Limits on the work that one file or folder can cause; see the settings of the same names."""

    file_bytes: int = Field(100 * MEGABYTE, ge=1, description="a file or record, unpacked and as text too: it is held "
                            "in memory several times over while it is parsed, and is a hundred thousand chunks then")
    documents: int = Field(1_000_000, ge=1, description="documents of one run, tiny ones included")
    json_depth: int = Field(64, ge=1, description="nesting of a JSON record")
    table_columns: int = Field(1000, ge=1, description="columns of a table: each row is written with all headers")
    seconds: float = Field(120.0, gt=0, description="reading one file that is no plain text")
    memory_mb: int = Field(4096, ge=256, description="address space of the process that reads it, with its libraries")
    title: int = Field(500, ge=1, description="characters of a title: it is embedded and shown with each of its chunks")
    failures: int = Field(100, ge=1, description="bad records of a file that are told one by one; the rest are counted")
    folder_depth: int = Field(64, ge=1, description="nesting of folders")
    ocr: Ocr = Field("auto", description="whether text in pictures is read")
    fetch: Fetch = Field("off", description="which addresses of the web are read: none, those of public networks, any")

    def size(self) -> str:
        """Return the limit on file sizes for messages."""
        mega = self.file_bytes / MEGABYTE
        return f"{mega:g} MB (BANYAN_MAX_FILE_MB)" if mega >= 1 else f"{self.file_bytes} bytes"


DEFAULT_LIMITS = Limits()
EMPTY = ("no text in it:", "no records in it:")  # how the reason of a failure begins if a file was read and is empty


class LoadFailure(Frozen):
    """A file or record that gave no document, with the cause and the fix; reading continues with the others."""

    path: str
    reason: str


class IngestError(BanyanError):
    """Nothing can be read, for example because a path does not exist."""


class UnreadableError(ValueError):
    """One file cannot be read; the message names the cause and the fix."""


class Content(NamedTuple):
    """A file that is one document: its text, not yet cleaned, its title or "", and its metadata.

    A form feed separates the pages of a printed work.
    """

    text: str
    title: str = ""
    metadata: Mapping[str, object] = {}
    paged: bool = False
    unread: str = ""  # the part of the file that could not be read, and how to fix it
    omitted: str = ""  # what is not read in any file of this kind, such as "2 pictures, 1 comment"
    records: Iterable[Any] | None = None  # of a file of records: the fields of a `Record`, or why there is none
    tables: Sequence[SourceTable] = ()  # those whose rows are marked in the text; see `source_tables`


_DOUBTS: ContextVar[list[str] | None] = ContextVar("banyan_reading_doubts", default=None)
ON_PAGE: ContextVar[Callable[[], None]] = ContextVar("banyan_page_read", default=lambda: None)
"""The function that is called when a page of a file was recognised: the deadline of a scan is for each page."""


def note_doubt(doubt: str) -> None:
    """Note for the file that is being read that a part of its text is not certain."""
    if (doubts := _DOUBTS.get()) is not None and doubt:
        doubts.append(doubt)


def read_content(reader: Callable[[bytes, Limits], Content], data: bytes, limits: Limits) -> Content:
    """Return the content of a file, with the tables that its reader writes as text, and with what it notes as doubt."""
    doubts = list[str]()
    token = _DOUBTS.set(doubts)
    try:
        with collected_tables() as tables:
            content = reader(data, limits)
    finally:
        _DOUBTS.reset(token)
    return content._replace(tables=tables, omitted=", ".join(filter(None, [content.omitted, *dict.fromkeys(doubts)])))


def list_counts(counts: Mapping[str, int]) -> str:
    """Return counts by names in the singular as text ("2 pictures, 1 comment"); "" if all are 0."""
    return ", ".join(f"{number:,} {name}{'s' * (number != 1)}" for name, number in counts.items() if number)


def count_sources(sources: Iterable[str]) -> str:
    """Return the number of the different pictures that belong to a document in words, or "" for none."""
    distinct = {unquote(source).strip() for source in sources} - {""}
    return list_counts({"picture": sum(
        len(source) >= _LEAST_EMBEDDED if source[:5].lower() == "data:" else not _ELSEWHERE.match(source)
        for source in distinct)})


def write_raised(text: str) -> str:
    """Return a text without the characters around raised texts, with an exponent behind "^" and a mark in brackets.

    A raised figure is an exponent behind 10, as "10^3", and a part of a unit behind its letters, as "m2". Behind any
    other number or word it is the mark of a note: "40<sup>1</sup> EUR" is "40 EUR [1]".
    """
    if not _RAISED_MARKS.search(text):
        return text
    apart = _RAISED_MARKS.sub("", _RAISED_TEXT.sub(_write_raised, text))
    return _BEFORE_UNIT.sub(lambda found: f" {found['unit']}{found['mark']}" if is_unit(found["unit"])
                            and found["unit"] not in _WORDS else found[0], apart)


def _write_raised(match: re.Match[str]) -> str:
    """Return a raised text as an exponent, as a mark in brackets, or as the part of a unit or word that it is."""
    raised, is_note = match["raised"].strip(), match["kind"] == NOTE
    before = _RAISED_MARKS.sub("", match.string[max(0, match.start() - _LOOK_BACK):match.start()])
    if _NEGATIVE.fullmatch(raised):
        is_exponent = before[-1:].isalnum()
    else:
        is_power_of_two = raised.isdecimal() and int(raised) >= _LEAST_POWER_OF_TWO and _TWO.search(before) is not None
        is_exponent = is_power_of_two or (raised.isdecimal() and raised != "1" and _TEN.search(before) is not None)
    if is_exponent and not is_note:
        return f"^{raised.replace('−', '-').replace('–', '-')}"
    is_bracketed = _BRACKETED.fullmatch(raised) is not None
    is_mark = _NOTE_MARK.fullmatch(raised) is not None and (not raised.isalpha() or before[-1:].isdigit())
    word = _LAST_WORD.search(before)  # the figure of "m2" or "km3", or behind a single letter, as in "x2"
    is_of_unit = word is not None and raised.isdecimal() and (len(word[0]) == 1 or is_unit(word[0] + raised))
    if not (is_bracketed or is_mark) or (is_of_unit and not is_note):
        return match["raised"]
    begins_line = not before or before[-1].isspace()
    follows_word = match.string[match.end():match.end() + 1].isalnum()
    return f"{'' if begins_line else ' '}{raised if is_bracketed else f'[{raised}]'}{' ' if follows_word else ''}"
