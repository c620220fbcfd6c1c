"""Recognise files by their content, and open zip archives of XML (Office and EPUB files), with charts and diagrams."""

import re
import zipfile
from collections.abc import Mapping
from io import BytesIO
from itertools import chain
from xml.etree import ElementTree as ET  # expat limits entity expansion, and the reading process is bounded

from ...text.cleaning import one_line
from ..metadata import CREATED
from ..reading import Limits, UnreadableError
from ..table_lines import table_lines

_NAMESPACE = re.compile(r"\{[^{}]*\}")
_PROPERTIES = {"title": "title", "creator": "author", "created": CREATED, "subject": "subject", "keywords": "keywords",
               "category": "category"}
# What programs store in place of an author.
_NOBODY = frozenset({"", "python-docx", "openpyxl", "xlsxwriter", "unknown", "user", "microsoft office user"})
ZIP_MARK = b"PK\x03\x04"
PASSWORD = "protected by a password: save it without one"  # noqa: S105 - a message
_ENCRYPTED = "EncryptedPackage\0".encode("utf-16-le")  # the name of a stream in an encrypted Office file
_NEW_CHART = re.compile(r"(?:word|ppt|xl)/charts/chartEx\d*\.xml")


def open_archive(data: bytes, kind: str, limits: Limits) -> zipfile.ZipFile:
    """Open a zip archive of limited size, or raise UnreadableError; `kind` is the expected kind, for messages."""
    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise not_of_kind(data, kind, str(error)) from error
    entries = archive.infolist()
    if any(entry.flag_bits & 1 for entry in entries):  # the mark of an encrypted entry
        raise UnreadableError(PASSWORD)
    # An entry never unpacks to more than it declares: `zipfile` stops there.
    size = sum(entry.file_size for entry in entries)
    if size > limits.file_bytes:
        raise UnreadableError(f"{size:,} bytes when unpacked, larger than {limits.size()}: split it, or remove "
                              "pictures")
    return archive


def not_of_kind(data: bytes, kind: str, error: str) -> UnreadableError:
    """Return the error for a file that is not of the expected kind, or is encrypted."""
    if _ENCRYPTED in data:
        return UnreadableError(PASSWORD)
    return UnreadableError(f"not {kind} ({error}): open it in its program and save it again")


def properties(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the title, author, subject and creation day in an Office file's properties."""
    if "docProps/core.xml" not in archive.namelist():
        return {}
    fields = {local_name(element): element.text or "" for element in parse_xml(archive, "docProps/core.xml")}
    fields["created"] = fields.get("created", "")[:10]  # only the date
    if fields.get("creator", "").lower() in _NOBODY:
        fields["creator"] = ""
    return {_PROPERTIES[name]: value for name, value in fields.items() if name in _PROPERTIES}


def parse_xml(archive: zipfile.ZipFile, name: str) -> ET.Element:
    """Parse a part of an archive as XML; raise KeyError or ParseError if that fails."""
    return ET.fromstring(archive.read(name))  # noqa: S314


def replace_parts(archive: zipfile.ZipFile, parts: Mapping[str, ET.Element]) -> bytes:
    """Return an archive as bytes, with other XML in the parts of some names."""
    replaced = BytesIO()
    with zipfile.ZipFile(replaced, "w", zipfile.ZIP_DEFLATED) as copy:
        for name in archive.namelist():
            copy.writestr(name, ET.tostring(parts[name], "utf-8") if name in parts else archive.read(name))
    return replaced.getvalue()


def local_name(element: ET.Element) -> str:
    """Return an element's name without its namespace."""
    return _NAMESPACE.sub("", element.tag)


def words_of(element: ET.Element | None, *names: str) -> str:
    """Return the texts of the elements of some names ("t") inside an element in one line; "" for None."""
    text = ""
    for part in element.iter() if element is not None else ():
        if local_name(part) in {"p", "tab"}:  # paragraphs and tabs separate words
            text += " "
        elif local_name(part) in names:
            text += part.text or ""
    return one_line(text)


def count_new_charts(archive: zipfile.ZipFile) -> int:
    """Return the number of charts of the kinds that Office has had since 2016 (waterfall, ...); they are not read."""
    return sum(_NEW_CHART.fullmatch(name) is not None for name in archive.namelist())


def diagram_text(data: ET.Element) -> str:
    """Return the texts of a diagram (SmartArt), each on a line; `data` is the root of its data part in the file."""
    return "\n".join(f"- {text}" for point in data.iterfind(".//{*}pt") if (text := words_of(point, "t", "v")))


def chart_text(chart: ET.Element, heading: str) -> str:
    """Return a chart's title, and a row for each of its categories with the stored values of all series."""
    def points(series: ET.Element, *names: str) -> dict[int, str]:
        """Return the texts or numbers in some parts of a series, such as its categories ("cat"), by their index."""
        return {int(point.get("idx", "0")): words_of(point, "t", "v")
                for name in names for point in series.iterfind(f"{{*}}{name}//{{*}}pt")}

    title = words_of(chart.find(".//{*}chart/{*}title"), "t", "v")
    axis = words_of(chart.find(".//{*}catAx/{*}title"), "t", "v")  # of the categories
    all_series = chart.findall(".//{*}ser")
    names = [points(series, "tx").get(0, "") or f"Series {number}" for number, series in enumerate(all_series, 1)]
    # Charts of points store "xVal" and "yVal" in place of "cat" and "val".
    categories = next(filter(None, (points(series, "cat", "xVal") for series in all_series)), {})
    values = [points(series, "val", "yVal") for series in all_series]
    rows = [[categories.get(place, f"Point {place + 1}"), *(value.get(place, "") for value in values)]
            for place in sorted({*categories, *chain(*values)})]
    lines = table_lines([axis or "Category", *names], rows, title or heading) if any(values) else ()
    return "\n".join(filter(None, [title, *lines]))
