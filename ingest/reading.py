"""What all readers share: limits, the content that is returned, errors, and text from bytes in any encoding.

An encoding that is neither Unicode nor declared is told by the language that it gives.
"""

import codecs
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from io import BufferedReader
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

import chardet
from pydantic import Field

from ..schemas.documents import Frozen, SourceTable
from ..schemas.errors import BanyanError
from ..text.quantities import is_unit
from .source_tables import collected_tables

Ocr = Literal["auto", "off"]
MEGABYTE = 1024 * 1024
LEFT_OUT = "left out: "
"""The beginning of messages about files that are left out because they are no documents; they are no failures."""
# An address with a scheme or a host, a fragment, or a template's placeholder: no picture of the document's own.
_ELSEWHERE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]{1,20}:|//|#|\{)", re.IGNORECASE)
_LEAST_EMBEDDED = 1500  # the fewest characters of a picture that is embedded in the text; shorter ones are icons
RAISED, NOTE, END = "\ufdd0", "\ufdd1", "\ufdd2"
"""The beginning of a raised text, of one that is certainly the mark of a note, and the end of both: no text has them,
as Unicode has no characters there."""
_RAISED_TEXT = re.compile(f"(?P<kind>[{RAISED}{NOTE}])(?P<raised>[^{RAISED}{NOTE}{END}\n]{{0,20}}){END}")
_RAISED_MARKS = re.compile(f"[{RAISED}{NOTE}{END}]")
_LOOK_BACK = 20  # characters in front of a raised text that tell what it is
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
# UTF-32 comes before UTF-16, with whose mark its own begins.
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
         (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_DAMAGED = 0.1  # the share of invalid among non-ASCII bytes below which a text is damaged UTF-8, not another encoding
# Browsers read a page that declares the older, smaller set in its superset.
_SUPERSETS = {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252", "ascii": "cp1252",
              "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs", "iso8859-9": "cp1254"}
# Python's own text codecs are not character sets: decoding a page with one would change it.
_NO_CHARSETS = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape", "utf-7", "undefined", "mbcs",
                          "oem"})
_ERAS = chardet.EncodingEra.ALL & ~chardet.EncodingEra.MAINFRAME & ~chardet.EncodingEra.LEGACY_MAC
"""Not those of mainframes and old Macs: almost no file is in one, and each fits most of the texts in another."""
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")  # what is no white space, as binary data has it
_BLOCK = _SAMPLE = 64 * 1024  # bytes by which a file is told to be text, and those by which its encoding is guessed
_COMMONEST, _TIMES_LIKELIER = "Windows-1252", 1.5
"""The encoding of most texts that are not UTF-8, and how much likelier it is than one that fits a text equally well."""
_CLOSE, _UNSURE = 0.85, 0.03
"""A guess is doubtful if another encoding has this share of its score, or its own score is lower."""
_FOREIGN = re.compile("[\u0370-\u1dff]")
_BESIDE_LATIN = re.compile("(?<=[A-Za-z])[\u0370-\u1dff]|[\u0370-\u1dff](?=[A-Za-z])")
"""Letters of other alphabets, such as Greek; beside a Latin letter, they are those of a wrong encoding."""
_ODD = re.compile(r"[£¥¢¯¨´¸¦¬](?=[^\W\d_])|[\u2190-\u25ff]|¤|(?<!\w)[\u00c0-\u00ff]{3,}+(?!\w)")
"""A sign before a letter, a line of a box, "¤" and a word of accented letters alone: letters of another encoding."""
_ODDITY = 1 / 10  # what a text with something odd keeps of its score


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
    def belongs_to_document(source: str) -> bool:
        is_embedded = source[:5].lower() == "data:"
        return len(source) >= _LEAST_EMBEDDED if is_embedded else not _ELSEWHERE.match(source)

    distinct = {unquote(source).strip() for source in sources} - {""}
    return list_counts({"picture": sum(map(belongs_to_document, distinct))})


def write_raised(text: str) -> str:
    """Return a text without the characters around raised texts, with an exponent behind "^" and a mark in brackets.

    A raised figure is an exponent behind 10, as "10^3", and a part of a unit behind its letters, as "m2". Behind any
    other number or word it is the mark of a note: "40<sup>1</sup> EUR" is "40 EUR [1]".
    """
    def put_mark_behind_unit(found: re.Match[str]) -> str:
        is_measured = is_unit(found["unit"]) and found["unit"] not in _WORDS
        return f" {found['unit']}{found['mark']}" if is_measured else found[0]

    if not _RAISED_MARKS.search(text):
        return text
    apart = _RAISED_MARKS.sub("", _RAISED_TEXT.sub(_write_raised, text))
    return _BEFORE_UNIT.sub(put_mark_behind_unit, apart)  # a number and its unit belong together: "40 EUR [1]"


def _write_raised(match: re.Match[str]) -> str:
    """Return a raised text as an exponent, as a mark in brackets, or as the part of a unit or word that it is."""
    raised, is_note = match["raised"].strip(), match["kind"] == NOTE
    before = _RAISED_MARKS.sub("", match.string[max(0, match.start() - _LOOK_BACK):match.start()])
    is_negative = _NEGATIVE.fullmatch(raised) is not None and before[-1:].isalnum()
    is_number = raised.isdecimal()
    is_power_of_ten = is_number and raised != "1" and _TEN.search(before) is not None  # nobody writes 10 to the first
    is_power_of_two = is_number and int(raised) >= _LEAST_POWER_OF_TWO and _TWO.search(before) is not None
    if (is_negative or is_power_of_ten or is_power_of_two) and not is_note:
        return f"^{raised.replace('−', '-').replace('–', '-')}"
    is_bracketed = _BRACKETED.fullmatch(raised) is not None
    # A letter is a mark behind a figure only; behind letters it is the end of an abbreviation.
    is_mark = _NOTE_MARK.fullmatch(raised) is not None and (not raised.isalpha() or before[-1:].isdigit())
    word = _LAST_WORD.search(before)  # the figure of "m2" or "km3", or behind a single letter, as in "x2"
    is_of_unit = word is not None and raised.isdecimal() and (len(word[0]) == 1 or is_unit(word[0] + raised))
    if not (is_bracketed or is_mark) or (is_of_unit and not is_note):
        return match["raised"]
    space_before = "" if not before or before[-1].isspace() else " "
    space_after = " " if match.string[match.end():match.end() + 1].isalnum() else ""
    return f"{space_before}{raised if is_bracketed else f'[{raised}]'}{space_after}"


def open_file(path: Path) -> BufferedReader:
    """Open a regular file by its real path, as `Path.resolve` returns it.

    What was opened is checked, so neither a link nor a pipe that takes the file's place meanwhile is read: that is an
    UnreadableError. A file that cannot be opened is an OSError.
    """
    # Opening a pipe without O_NONBLOCK waits for somebody to write to it.
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    opened = os.fstat(file.fileno())
    is_by_link = path.resolve() != path.absolute()
    if not stat.S_ISREG(opened.st_mode) or is_by_link or not os.path.samestat(opened, path.lstat()):
        file.close()
        raise UnreadableError("not a regular file: save its content to one")
    return file


def read_bytes(path: Path, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """Return all bytes of a file; raise UnreadableError if it is larger than the limit, and OSError as `open_file`."""
    with open_file(path) as stream:
        data = stream.read(limits.file_bytes + 1)
    if len(data) > limits.file_bytes:
        raise UnreadableError(f"{path.stat().st_size:,} bytes, larger than {limits.size()}: split it into smaller "
                              "files")
    return data


def decode(data: bytes, declared: str | None = None) -> str:
    """Return the text of a whole file, not yet cleaned.

    A byte-order mark gives the encoding. Without one it is UTF-8 if the bytes are valid UTF-8, else the encoding that
    the file declares if they are valid in it, else the most likely one, which is noted if it is doubtful. Bytes that
    are not text, or whose encoding cannot be detected, are an UnreadableError.
    """
    encoding = _unicode_encoding(data)
    if encoding == "utf-8" and not _is_valid(data, "utf-8"):
        encoding = _legacy_encoding(data, declared)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableError(f"byte 0x{data[error.start]:02x} does not fit its encoding, which looks like "
                              f"{error.encoding}: convert the file to UTF-8") from error


def begins_as_text(path: Path) -> bool:
    """Return True if a file begins with plain text in Unicode, or cannot be read; False if it is no file."""
    try:
        with open_file(path.resolve()) as stream:
            block = stream.read(_BLOCK)
        # An incremental decoder accepts a character that the end of the block divides.
        text = codecs.getincrementaldecoder(_unicode_encoding(block))().decode(block)
        return _CONTROL.search(text) is None
    except (UnicodeDecodeError, UnreadableError):
        return False
    except OSError:  # which is reported when the file is read
        return path.is_file()


def _unicode_encoding(data: bytes) -> str:
    """Return the encoding that a byte-order mark gives, or "utf-8" without one; raise UnreadableError for a zero."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return encoding
    if b"\0" in data:
        raise UnreadableError("binary data, not text: give it its own file ending, or convert it to UTF-8")
    return "utf-8"


def _is_valid(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except (UnicodeError, LookupError):  # LookupError: a codec such as "hex", which is not for text
        return False
    return True


def _legacy_encoding(data: bytes, declared: str | None) -> str:
    """Return the encoding of bytes that are not UTF-8: the declared one if they are valid in it, else the likeliest."""
    # Lines with such bytes, because the words around these tell the language; the last may end inside a character.
    sample = b"\n".join(line for line in data.split(b"\n") if not line.isascii())[:_SAMPLE]
    non_ascii_count = len(sample) - len(re.sub(rb"[\x80-\xff]+", b"", sample))
    invalid_count = len(sample) - len(sample.decode("utf-8", "ignore").encode())
    if invalid_count < _DAMAGED * non_ascii_count:
        raise UnreadableError("UTF-8 with damaged bytes in it: save it again as UTF-8, or remove them")
    encoding = _superset_of(declared or "")
    if encoding and encoding.replace("_", "-") not in _NO_CHARSETS and _is_valid(data, encoding):
        return encoding
    texts, scores = dict[str, str](), dict[str, float]()
    for found in chardet.detect_all(sample, ignore_threshold=True, encoding_era=_ERAS):
        encoding = _superset_of(found["encoding"] or "")
        if _is_valid(data, encoding):
            texts[encoding] = text = sample.decode(encoding, "ignore")  # the sample may end inside a character
            beside_latin = len(_BESIDE_LATIN.findall(text)) / max(1, len(_FOREIGN.findall(text)))
            likelihood = found["confidence"] * (1 - beside_latin) * (_ODDITY if _ODD.search(text) else 1)
            scores[encoding] = likelihood * (_TIMES_LIKELIER if encoding == _COMMONEST else 1)
    if not scores:
        raise UnreadableError("binary data or text in an unknown encoding: convert it to UTF-8")
    best = max(scores, key=scores.__getitem__)  # of equal ones the first
    has_rival = any(score >= _CLOSE * scores[best] and texts[other] != texts[best] for other, score in scores.items())
    if has_rival or scores[best] < _UNSURE:
        note_doubt(f"read as {best}, which is not certain: save it as UTF-8 if letters are wrong")
    return best


def _superset_of(encoding: str) -> str:
    """Return the set in which browsers read an encoding, or the encoding itself."""
    try:
        return _SUPERSETS.get(codecs.lookup(encoding).name, encoding)
    except LookupError:
        return encoding
