"""PowerPoint files (pptx): each slide a section under its title, with its tables, charts, notes and comments."""

import re
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from xml.etree import ElementTree as ET  # expat limits entity expansion, and the reading process is bounded

import pptx
from pptx.enum.shapes import MSO_SHAPE_TYPE

from ...text.titles import is_from_template
from ..grids import GridCell, grid_lines
from ..reading import Content, Limits, list_counts
from .archives import chart_text, count_new_charts, diagram_text, local_name, not_of_kind, open_archive, properties

_NO_TITLE = re.compile(r"(?:microsoft )?powerpoint .*|(?:slide|folie|diapositiv[ae]|スライド|幻灯片) ?\d+",
                       re.IGNORECASE)
"""Titles that programs store by themselves."""
_EMBEDDED = frozenset({MSO_SHAPE_TYPE.EMBEDDED_OLE_OBJECT, MSO_SHAPE_TYPE.LINKED_OLE_OBJECT})


def read_pptx(data: bytes, limits: Limits) -> Content:
    """Read the text of a presentation; the title is that of the file's properties, or else of the first slide."""
    with open_archive(data, "a PowerPoint file", limits) as archive:
        about = properties(archive)
        if not any(name.startswith("ppt/") for name in archive.namelist()):
            raise not_of_kind(data, "a PowerPoint file", "no slides in it")
        omitted = Counter({"picture": 0, "chart": count_new_charts(archive)})
    parts: list[str] = []
    titles: list[str] = []
    for number, slide in enumerate(pptx.Presentation(BytesIO(data)).slides, 1):
        title = slide.shapes.title
        heading = " ".join(title.text_frame.text.split()) if title is not None else ""
        titles.append(heading)
        parts.append(f"# {heading or f'Slide {number}'}")
        parts += (text for shape in slide.shapes if title is None or shape.shape_id != title.shape_id
                  for text in _texts(shape, heading, omitted))
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            parts.append(slide.notes_slide.notes_text_frame.text)
        parts += map(diagram_text, _related_parts(slide, "/diagramData"))
        parts += (f"Comment: {text}" for root in _related_parts(slide, "/comments") for text in _comments(root))
    stored = about.pop("title", "")
    text = "\n\n".join(part.strip() for part in parts if part.strip())
    if _NO_TITLE.fullmatch(stored) or is_from_template(stored, text):
        stored = ""
    return Content(text, stored or next(iter(titles), ""), about, omitted=list_counts(omitted))


def _texts(shape: Any, heading: str, omitted: Counter[str]) -> Iterator[str]:
    """Yield the texts of a shape and of the shapes grouped in it; `omitted` counts unreadable ones by kind."""
    if shape.has_text_frame:
        yield shape.text_frame.text
    elif getattr(shape, "has_table", False):
        yield _table_text(shape.table, heading)
    elif getattr(shape, "has_chart", False):
        yield chart_text(ET.fromstring(shape.chart.part.blob), heading)  # noqa: S314
    elif local_name(shape.element) == "pic":
        omitted["recording" if shape.shape_type is MSO_SHAPE_TYPE.MEDIA else "picture"] += 1
    elif shape.shape_type in _EMBEDDED:
        omitted["embedded file"] += 1
    for inner in getattr(shape, "shapes", ()):
        yield from _texts(inner, heading, omitted)


def _table_text(table: Any, heading: str) -> str:
    """Return the lines of a table; the text of a merged cell is in each of its places."""
    grid = [[GridCell(cell.text) for cell in row.cells] for row in table.rows]
    for top, row in enumerate(table.rows):
        for left, cell in enumerate(row.cells):
            if cell.is_merge_origin:
                for below in grid[top : top + cell.span_height]:
                    below[left : left + cell.span_width] = [grid[top][left]] * cell.span_width
    return "\n".join(grid_lines(grid, heading))


def _related_parts(slide: Any, kind: str) -> Iterator[ET.Element]:
    """Yield the parts of the file to which a slide refers with relationships of a type that ends with `kind`."""
    for relation in slide.part.rels.values():
        if not relation.is_external and relation.reltype.endswith(kind):
            yield ET.fromstring(relation.target_part.blob)  # noqa: S314


def _comments(root: ET.Element) -> Iterator[str]:
    """Yield the texts of the comments in a part of the file."""
    for comment in root.iter():
        if local_name(comment) == "cm":
            words = " ".join(part.text or "" for part in comment.iter() if local_name(part) in {"t", "text"})
            if text := " ".join(words.split()):
                yield text
