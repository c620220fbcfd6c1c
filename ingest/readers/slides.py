"""PowerPoint files (pptx): each slide a section under its title, with its notes."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pptx

from ..content import Content
from ..reading_limits import Limits
from ..table_lines import table_lines
from .archives import open_archive, properties


def read_pptx(data: bytes, limits: Limits) -> Content:
    """Read the text of a presentation.

    Raises:
        UnreadableError: the bytes are not a PowerPoint file, or it is too large.
    """
    with open_archive(data, "a PowerPoint file", limits) as archive:
        about = properties(archive)
    parts: list[str] = []
    for number, slide in enumerate(pptx.Presentation(BytesIO(data)).slides, 1):
        title = slide.shapes.title
        heading = " ".join(title.text_frame.text.split()) if title is not None else ""
        parts.append(f"# {heading or f'Slide {number}'}")
        parts += (text for shape in slide.shapes if title is None or shape.shape_id != title.shape_id
                  for text in _texts(shape, heading))
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            parts.append(slide.notes_slide.notes_text_frame.text)
    return Content("\n\n".join(part.strip() for part in parts if part.strip()), about.pop("title", ""), about)


def _texts(shape: Any, heading: str) -> Iterator[str]:
    """Yield the texts of a shape and of the shapes grouped in it."""
    if shape.has_text_frame:
        yield shape.text_frame.text
    elif getattr(shape, "has_table", False):
        header, *rows = [[cell.text for cell in row.cells] for row in shape.table.rows]
        yield "\n".join(table_lines(header, rows, heading))
    for inner in getattr(shape, "shapes", ()):
        yield from _texts(inner, heading)
