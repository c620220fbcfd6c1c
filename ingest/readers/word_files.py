"""Word files (docx): converted to HTML by mammoth, which reads what is visible, and read as a page."""

from io import BytesIO

import mammoth

from ..content import Content
from ..limits import Limits
from .archives import open_archive, properties
from .web_pages import read_html

_STYLES = "p[style-name='Title'] => h1:fresh"


def read_docx(data: bytes, limits: Limits) -> Content:
    """The text of a Word file, as `read_html` gives it.

    Its title is the first paragraph in the style Title or Heading 1. Tracked insertions and content controls are read,
    deletions and pictures are not.

    Raises:
        UnreadableError: the bytes are no Word file, or a larger one than is read.
    """
    with open_archive(data, "a Word file", limits) as archive:
        about = properties(archive)
    nothing = mammoth.images.img_element(lambda _: {})
    html = mammoth.convert_to_html(BytesIO(data), style_map=_STYLES, convert_image=nothing).value
    page = read_html(f'<meta charset="utf-8">{html}'.encode())
    return Content(page.text, page.title or about.pop("title", ""), about)
