"""From bytes to clean text, whatever the encoding."""

import codecs
import re
from pathlib import Path
from typing import TextIO

from charset_normalizer import from_bytes

from .failures import UnreadableError
from .limits import DEFAULT_LIMITS, Limits

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
         (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
# A page that names the older, smaller set is written in its superset, as browsers read it.
_SUPERSETS = {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252", "ascii": "cp1252",
              "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs", "iso8859-9": "cp1254"}
# Python's own codecs of text that are no character sets: a page that names one would be rewritten by it.
_NO_CHARSETS = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape", "utf-7", "undefined", "mbcs",
                          "oem"})
_BLOCK = 1024 * 1024
_SAMPLE = 64 * 1024

def read_bytes(path: Path, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """The bytes of a file.

    Args:
        path: a file.
        limits: its largest size.

    Returns:
        All of it.

    Raises:
        UnreadableError: the file is larger.
        OSError: the file cannot be read.
    """
    with path.open("rb") as stream:
        data = stream.read(limits.file_bytes + 1)
    if len(data) > limits.file_bytes:
        raise UnreadableError(f"{path.stat().st_size:,} bytes, larger than {limits.size()}: split it into smaller "
                              "files")
    return data


def decode(data: bytes, declared: str | None = None) -> str:
    """The text of a file read whole.

    Args:
        data: the file's bytes.
        declared: the encoding that the file names for itself, if it does.

    Returns:
        The text, not yet cleaned. A byte-order mark decides; else UTF-8 if the bytes are valid
        UTF-8, else the declared encoding if they are valid in it, else the one they look like.

    Raises:
        UnreadableError: the bytes are no text, or in no encoding that can be told.
    """
    encoding = _unicode_encoding(data)
    if encoding == "utf-8" and not _is_valid(data, "utf-8"):
        encoding = _legacy_encoding(data, declared)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableError(undecodable(error)) from error


def open_text(path: Path, newline: str | None) -> TextIO:
    """Open a text file of any encoding for streaming.

    Args:
        path: a file of any size.
        newline: as in `open`.

    Returns:
        The open file; reading it raises UnicodeDecodeError where the encoding does not hold.

    Raises:
        UnreadableError: the bytes are no text, or in no encoding that can be told.
        OSError: the file cannot be read.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    previous = b""
    with path.open("rb") as stream:
        block = stream.read(_BLOCK)
        encoding = _unicode_encoding(block)
        while encoding == "utf-8":
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError:
                encoding = _legacy_encoding(previous + block)
            if not block:
                break
            previous, block = block, stream.read(_BLOCK)
    return path.open(encoding=encoding, newline=newline)


def undecodable(error: UnicodeDecodeError) -> str:
    """The reason to give for a decoding error: what does not fit where, and the fix."""
    return (f"byte 0x{error.object[error.start]:02x} does not fit its encoding, which looks like "
            f"{error.encoding}: convert the file to UTF-8")


def _unicode_encoding(data: bytes) -> str:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return encoding
    if b"\0" in data:
        raise UnreadableError("binary data, not text: give it its own file ending, or convert it to UTF-8")
    return "utf-8"


def _is_valid(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except (UnicodeError, LookupError):  # LookupError: a codec such as "hex", which is none of text
        return False
    return True


def _legacy_encoding(data: bytes, declared: str | None = None) -> str:
    """The encoding of bytes that are not UTF-8: what they declare if they are valid in it, or look like."""
    foreign = re.search(rb"[\x80-\xff]", data)
    begin = foreign.start() if foreign else 0
    sample = data[begin : begin + _SAMPLE]
    if len(sample) == _SAMPLE:  # end it with a line, lest it end within a character
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    _refuse_damaged_utf8(sample)
    if declared:
        try:
            name = codecs.lookup(declared).name
        except LookupError:
            name = "utf-8"
        encoding = _SUPERSETS.get(name, name)
        if encoding.replace("_", "-") not in _NO_CHARSETS and _is_valid(data, encoding):
            return encoding
    best = from_bytes(sample).best()
    if best is None:
        raise UnreadableError("binary data or text in an unknown encoding: convert it to UTF-8")
    return best.encoding


def _refuse_damaged_utf8(sample: bytes) -> None:
    """A few bad bytes in UTF-8 would make any guess turn all the rest into other letters."""
    foreign = len(sample) - len(re.sub(rb"[\x80-\xff]+", b"", sample))
    bad = len(sample) - len(sample.decode("utf-8", "ignore").encode())
    if 10 * bad < foreign:
        raise UnreadableError("UTF-8 with damaged bytes in it: save it again as UTF-8, or take them out")
