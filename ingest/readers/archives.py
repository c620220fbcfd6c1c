"""Files that are zip archives of XML: Word, PowerPoint, Excel and EPUB; checked before anything is unpacked."""

import re
import zipfile
from io import BytesIO
from xml.etree import ElementTree as ET  # expat stops entities that grow, and the reader's process is bounded

from ..failures import UnreadableError
from ..limits import Limits
from ..metadata import CREATED

_MAX_PARTS = 10_000  # a few dozen and one for each picture are usual
_OLE_MARK = bytes.fromhex("d0cf11e0a1b11ae1")
_NAMESPACE = re.compile(r"\{[^{}]*\}")
_PROPERTIES = {"creator": "author", "created": CREATED, "subject": "subject", "keywords": "keywords", "category":
               "category"}
_NOBODY = frozenset({"", "python-docx", "openpyxl", "xlsxwriter", "unknown", "user", "microsoft office user"})
"""What programs put there instead of an author."""


def open_archive(data: bytes, kind: str, limits: Limits) -> zipfile.ZipFile:
    """The archive that a file is.

    Args:
        data: the file's bytes.
        kind: what the file should be, for messages.
        limits: the largest size when unpacked.

    Raises:
        UnreadableError: it is no archive, or a larger one than is read.
    """
    if data.startswith(_OLE_MARK):
        raise UnreadableError("protected by a password, or in a format of before 2007: save it in the present format "
                              "without a password")
    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise UnreadableError(f"not {kind} ({error}): open it in its program and save it again") from error
    entries = archive.infolist()
    # What an entry unpacks to is never more than it declares: `zipfile` stops there.
    size = sum(entry.file_size for entry in entries)
    if size > limits.file_bytes:
        raise UnreadableError(f"{size:,} bytes when unpacked, larger than {limits.size()}: split it, or take "
                              "pictures out")
    if len(entries) > _MAX_PARTS:
        raise UnreadableError(f"{len(entries):,} parts in it, at most {_MAX_PARTS:,} are read: split it, or take "
                              "pictures out")
    return archive


def properties(archive: zipfile.ZipFile) -> dict[str, str]:
    """The author, subject and day of creation that an Office file states of itself, with its title."""
    if "docProps/core.xml" not in archive.namelist():
        return {}
    found = {local_name(element): element.text or "" for element in parse_xml(archive, "docProps/core.xml")}
    found["created"] = found.get("created", "")[:10]  # the day
    if found.get("creator", "").lower() in _NOBODY:
        found["creator"] = ""
    return {_PROPERTIES[name]: value for name, value in found.items() if name in _PROPERTIES} | {
        "title": found.get("title", "")}


def parse_xml(archive: zipfile.ZipFile, name: str) -> ET.Element:
    """A part of an archive as XML; raises KeyError or ParseError."""
    return ET.fromstring(archive.read(name))  # noqa: S314


def local_name(element: ET.Element) -> str:
    """An element's name without its namespace."""
    return _NAMESPACE.sub("", element.tag)
