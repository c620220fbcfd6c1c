"""Zip archives of XML (Word, PowerPoint, Excel and EPUB files), checked before anything is unpacked."""

import re
import zipfile
from io import BytesIO
from xml.etree import ElementTree as ET  # expat limits entity expansion, and the reading process is bounded

from ..metadata import CREATED
from ..reading_errors import UnreadableError
from ..reading_limits import Limits
from .file_kinds import PASSWORD, other_kind

_MAX_PARTS = 10_000  # typical files have a few dozen, and one for each picture
_NAMESPACE = re.compile(r"\{[^{}]*\}")
_PROPERTIES = {"creator": "author", "created": CREATED, "subject": "subject", "keywords": "keywords", "category":
               "category"}
_NOBODY = frozenset({"", "python-docx", "openpyxl", "xlsxwriter", "unknown", "user", "microsoft office user"})
"""The author names that programs fill in by default."""


def open_archive(data: bytes, kind: str, limits: Limits) -> zipfile.ZipFile:
    """Open a file as a zip archive.

    Args:
        data: the file's bytes.
        kind: the expected kind of file, for messages.
        limits: the largest unpacked size.

    Raises:
        UnreadableError: the file is not an archive, or is too large.
    """
    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise not_of_kind(data, kind, str(error)) from error
    entries = archive.infolist()
    if any(entry.flag_bits & 1 for entry in entries):
        raise UnreadableError(PASSWORD)
    # An entry never unpacks to more than it declares: `zipfile` stops there.
    size = sum(entry.file_size for entry in entries)
    if size > limits.file_bytes:
        raise UnreadableError(f"{size:,} bytes when unpacked, larger than {limits.size()}: split it, or remove "
                              "pictures")
    if len(entries) > _MAX_PARTS:
        raise UnreadableError(f"{len(entries):,} parts in it, at most {_MAX_PARTS:,} are read: split it, or remove "
                              "pictures")
    return archive


def not_of_kind(data: bytes, kind: str, error: str) -> UnreadableError:
    """Return the error for a file that is not what its name says, with what it is if that is known."""
    actual = other_kind(data)
    if actual == PASSWORD:
        return UnreadableError(PASSWORD)
    return UnreadableError(f"not {kind}, but {actual}" if actual
                           else f"not {kind} ({error}): open it in its program and save it again")


def properties(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the title, author, subject and creation day in an Office file's properties."""
    if "docProps/core.xml" not in archive.namelist():
        return {}
    found = {local_name(element): element.text or "" for element in parse_xml(archive, "docProps/core.xml")}
    found["created"] = found.get("created", "")[:10]  # only the date
    if found.get("creator", "").lower() in _NOBODY:
        found["creator"] = ""
    return {_PROPERTIES[name]: value for name, value in found.items() if name in _PROPERTIES} | {
        "title": found.get("title", "")}


def parse_xml(archive: zipfile.ZipFile, name: str) -> ET.Element:
    """Parse a part of an archive as XML; raise KeyError or ParseError if that fails."""
    return ET.fromstring(archive.read(name))  # noqa: S314


def local_name(element: ET.Element) -> str:
    """Return an element's name without its namespace."""
    return _NAMESPACE.sub("", element.tag)
