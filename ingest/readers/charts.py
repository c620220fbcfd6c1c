"""Charts and diagrams of Office files: the numbers that a chart shows, as a table, and the texts of a diagram."""

import re
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree as ET  # expat limits entity expansion, and the reading process is bounded

from ..table_lines import table_lines
from .archives import local_name, parse_xml

_CHART = re.compile(r"word/charts/chart\d*\.xml")
_DIAGRAM = re.compile(r"word/diagrams/data\d*\.xml")
_NEW_CHART = re.compile(r"(?:word|ppt|xl)/charts/chartEx\d*\.xml")
_MOST_POINTS = 100_000


def read_charts(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the texts of the charts and the diagrams in a Word file, in the order of their numbers."""
    names = sorted(archive.namelist(), key=lambda name: (len(name), name))
    yield from filter(None, (chart_text(parse_xml(archive, name), "") for name in filter(_CHART.fullmatch, names)))
    yield from filter(None, (diagram_text(parse_xml(archive, name)) for name in filter(_DIAGRAM.fullmatch, names)))


def count_new_charts(archive: zipfile.ZipFile) -> int:
    """Return how many charts of the kinds since 2016 (waterfall, treemap, ...), which are not read, a file has."""
    return sum(1 for name in archive.namelist() if _NEW_CHART.fullmatch(name))


def diagram_text(data: ET.Element) -> str:
    """Return the texts of a diagram (SmartArt), each on a line.

    Args:
        data: the root of the diagram's data part in the file.
    """
    texts = (_text(point) for point in data.iter() if local_name(point) == "pt")
    return "\n".join(f"- {text}" for text in texts if text)


def chart_text(chart: ET.Element, heading: str) -> str:
    """Return a chart's title, and a row for each of its categories with the values of all series.

    Args:
        chart: the root of the chart's part in the file.
        heading: the heading above it, which names a chart without a title.

    Returns:
        The text; without the rows if the chart stores no values.
    """
    title, axis = (_title(chart, of) for of in ("chart", "catAx"))
    series = [element for element in chart.iter() if local_name(element) == "ser"]
    names = [_points(part, "tx").get(0, "") or f"Series {number}" for number, part in enumerate(series, 1)]
    categories = next(filter(None, ({**_points(part, "cat"), **_points(part, "xVal")} for part in series)), {})
    values = [{**_points(part, "val"), **_points(part, "yVal")} for part in series]
    places = sorted({*categories, *(place for points in values for place in points)})
    rows = [[categories.get(place, f"Point {place + 1}"), *(points.get(place, "") for points in values)]
            for place in places]
    lines = table_lines([axis or "Category", *names], rows, title or heading) if any(values) else ()
    return "\n".join(filter(None, [title, *lines]))


def _title(chart: ET.Element, of: str) -> str:
    return next((_text(child) for element in chart.iter() if local_name(element) == of for child in element
                 if local_name(child) == "title"), "")


def _points(series: ET.Element, name: str) -> dict[int, str]:
    """Return the stored texts or numbers of a part of a series, by their places."""
    points = (point for part in series if local_name(part) == name for point in part.iter()
              if local_name(point) == "pt")
    return {int(point.get("idx", "0")): _text(point) for point, _ in zip(points, range(_MOST_POINTS), strict=False)}


def _text(element: ET.Element) -> str:
    """Return the words of a title, or the value of a point."""
    return " ".join("".join(part.text or "" for part in element.iter() if local_name(part) in {"t", "v"}).split())
