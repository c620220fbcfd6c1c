"""Decode bytes in any encoding to text; one that is neither Unicode nor declared is told by the language it gives."""

import codecs
import os
import re
import stat
from io import BufferedReader
from pathlib import Path

import chardet

from .reading import DEFAULT_LIMITS, Limits, UnreadableError, note_doubt

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
         (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
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


def open_file(path: Path) -> BufferedReader:
    """Open a regular file by its real path, as `Path.resolve` returns it.

    What was opened is checked, so neither a link nor a pipe that takes the file's place meanwhile is read: that is an
    UnreadableError. A file that cannot be opened is an OSError.
    """
    # Opening a pipe without O_NONBLOCK waits for somebody to write to it.
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    opened = os.fstat(file.fileno())
    if not stat.S_ISREG(opened.st_mode) or path.resolve() != path.absolute() or not os.path.samestat(
            opened, path.lstat()):
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
        return _CONTROL.search(codecs.getincrementaldecoder(_unicode_encoding(block))().decode(block)) is None
    except (UnicodeDecodeError, UnreadableError):
        return False
    except OSError:  # which is reported when the file is read
        return path.is_file()


def _unicode_encoding(data: bytes) -> str:
    """Return the encoding that a byte-order mark gives, or "utf-8" without one."""
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
    if 10 * invalid_count < non_ascii_count:
        raise UnreadableError("UTF-8 with damaged bytes in it: save it again as UTF-8, or remove them")
    encoding = _superset_of(declared or "")
    if encoding and encoding.replace("_", "-") not in _NO_CHARSETS and _is_valid(data, encoding):
        return encoding
    texts, scores = dict[str, str](), dict[str, float]()
    for found in chardet.detect_all(sample, ignore_threshold=True, encoding_era=_ERAS):
        encoding = _superset_of(found["encoding"] or "")
        if _is_valid(data, encoding):
            texts[encoding] = text = sample.decode(encoding, "ignore")
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
