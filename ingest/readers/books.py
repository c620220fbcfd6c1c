"""E-books (epub): the pages of the spine, in order."""

import posixpath
from urllib.parse import unquote

from ..reading import Content, Limits, UnreadableError, list_counts
from .archives import local_name, open_archive, parse_xml
from .web_pages import read_html

_CONTAINER = "META-INF/container.xml"
_FIELDS = {"creator": "author", "date": "date", "publisher": "publisher", "language": "language", "subject": "subject"}


def read_epub(data: bytes, limits: Limits) -> Content:
    """Read a book: the text of each page as `read_html` returns it.

    Raises:
        UnreadableError: the bytes are not a book, or it is too large.
    """
    with open_archive(data, "an EPUB file", limits) as archive:
        names = set(archive.namelist())
        if _CONTAINER not in names:
            raise UnreadableError(f"not an EPUB file (no {_CONTAINER}): export it again")
        root = next((e.get("full-path", "") for e in parse_xml(archive, _CONTAINER).iter()
                     if local_name(e) == "rootfile"), "")
        package = list(parse_xml(archive, root).iter())
        pages = {e.get("id"): posixpath.normpath(posixpath.join(posixpath.dirname(root), unquote(e.get("href", ""))))
                 for e in package if local_name(e) == "item" and "html" in e.get("media-type", "")}
        spine = [pages.get(e.get("idref")) for e in package if local_name(e) == "itemref"]
        # A page that occurs several times in the spine is read once.
        texts = [read_html(archive.read(name)).text for name in dict.fromkeys(spine) if name in names]
        pictures = sum(1 for e in package if local_name(e) == "item" and e.get("media-type", "").startswith("image/"))
    fields = {local_name(e): e.text or "" for e in reversed(package) if e.text}
    return Content("\n\n".join(filter(None, texts)), fields.get("title", ""),
                   {_FIELDS[name]: value for name, value in fields.items() if name in _FIELDS},
                   omitted=list_counts({"picture": pictures}))
