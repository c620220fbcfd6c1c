"""What a file is by its content, whatever its name says."""

import zipfile
from io import BytesIO

_OLE_MARK = bytes.fromhex("d0cf11e0a1b11ae1")
ZIP_MARK = b"PK\x03\x04"
PASSWORD = "protected by a password: save it without one"  # noqa: S105 - a message
_STREAMS = {"WordDocument": "a Word file from before 2007: save it as .docx",
            "PowerPoint Document": "a PowerPoint file from before 2007: save it as .pptx",
            "Workbook": "an Excel file from before 2007: rename it to .xls",
            "Book": "an Excel file from before 2007: rename it to .xls",
            "__properties_version1.0": "an Outlook message: save it as .eml"}
"""Kinds of OLE files by a stream that each contains."""
_PARTS = {"word/": "a Word file: rename it to .docx", "xl/": "an Excel file: rename it to .xlsx",
          "ppt/": "a PowerPoint file: rename it to .pptx", "META-INF/container.xml": "an EPUB file: rename it to .epub"}
_MARKS = {b"%PDF-": "a PDF file: rename it to .pdf", b"{\\rtf": "a rich text file: rename it to .rtf",
          b"\x89PNG": "a picture: rename it to .png", b"\xff\xd8\xff": "a picture: rename it to .jpg",
          b"\x1f\x8b": "a gzip archive: unpack it", b"<?xml": "XML", b"<!doc": "a web page: rename it to .html",
          b"<html": "a web page: rename it to .html"}


def other_kind(data: bytes) -> str:
    """Return what a file is, and the fix, if it is known by its content; "" otherwise."""
    if not data.strip(b"\0 \r\n\t"):
        return "an empty file: remove it"
    if data.startswith(_OLE_MARK):
        return _ole_kind(data)
    if data.startswith(ZIP_MARK):
        return _archive_kind(data)
    begin = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:5].lower()
    return next((kind for mark, kind in _MARKS.items() if begin.startswith(mark.lower())), "")


def _ole_kind(data: bytes) -> str:
    """Return the kind of an OLE file, whose directory names its streams in UTF-16."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        return PASSWORD
    return next((kind for stream, kind in _STREAMS.items() if f"{stream}\0".encode("utf-16-le") in data
                 or (stream.startswith("__") and stream.encode("utf-16-le") in data)),
                "a file of an old program: save it in a current format")


def _archive_kind(data: bytes) -> str:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            if any(entry.flag_bits & 1 for entry in archive.infolist()):
                return PASSWORD
            return next((kind for part, kind in _PARTS.items()
                         if any(name.startswith(part) for name in archive.namelist())), "a zip archive: unpack it")
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return "a damaged archive, perhaps cut off: copy or download it again"
