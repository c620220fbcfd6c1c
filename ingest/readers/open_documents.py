"""Read OpenDocument texts and presentations (odt, odp) by converting them to HTML, which is read as any other page."""

from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree as ET  # see `archives`

from ...text.cleaning import one_line
from ..metadata import CREATED
from ..reading import Content, Limits, UnreadableError, list_counts
from .archives import PASSWORD, local_name, open_archive, parse_xml
from .web_pages import read_html

_MANIFEST = "META-INF/manifest.xml"
_DEEPEST_HEADING, _LONGEST_NUMBER = 6, 6
_UNREAD = {"annotation": "comment", "object": "embedded object", "image": "picture"}
_EDGES = frozenset({"header", "footer", "header-first", "footer-first", "header-left", "footer-left"})
_SKIPPED = frozenset({"tracked-changes", "annotation", "annotation-end", "forms", "sequence-decls", "table-of-content",
                      "alphabetical-index", "illustration-index", "user-index", "settings", "image", "object",
                      "covered-table-cell"})
_META = {"initial-creator": "author", "creator": "author", "date": "date", "creation-date": CREATED,
         "subject": "subject", "keyword": "keywords", "description": "description"}
_TAGS = {"p": "p", "text-box": "div", "table": "table", "table-row": "tr", "table-cell": "td"}
_BLANKS = frozenset({"s", "tab", "line-break"})
_SPANS = {"number-columns-spanned": "colspan", "number-rows-spanned": "rowspan"}


def read_open_document(data: bytes, limits: Limits) -> Content:
    """Read the text of an OpenDocument file as `read_html` returns it.

    Slides are sections under their titles, and notes stand where they are referred to. Deleted text is left out.
    Comments, pictures, charts, page headers and footers are counted in `omitted`.
    """
    with open_archive(data, "an OpenDocument file", limits) as archive:
        if "content.xml" not in archive.namelist():
            raise UnreadableError("not an OpenDocument file (no content.xml): open it in its program and save it again")
        if _MANIFEST in archive.namelist() and b"encryption-data" in archive.read(_MANIFEST):
            raise UnreadableError(PASSWORD)
        content = parse_xml(archive, "content.xml")
        styles = parse_xml(archive, "styles.xml") if "styles.xml" in archive.namelist() else ET.Element("none")
        about = _read_meta(parse_xml(archive, "meta.xml")) if "meta.xml" in archive.namelist() else {}
    body = next((element for element in content if local_name(element) == "body"), content)
    page = ET.Element("html")
    ET.SubElement(page, "title").text = about.pop("title", "")
    _Writer([content, styles]).add(page, body)
    read = read_html(ET.tostring(page, "utf-8", method="html"))
    counts = Counter(_UNREAD[name] for element in body.iter() if (name := local_name(element)) in _UNREAD)
    counts.update(local_name(element).split("-")[0] for element in styles.iter()
                  if local_name(element) in _EDGES and _words(element))
    return Content(read.text, read.title, about, omitted=list_counts(dict(sorted(counts.items()))))


def _read_meta(root: ET.Element) -> dict[str, str]:
    """Return the title and the metadata of a document; dates without their time."""
    fields: dict[str, str] = {}
    for element in root.iter():
        name, text = local_name(element), (element.text or "").strip()
        if name == "title":
            fields["title"] = text
        elif name in _META and text:
            fields.setdefault(_META[name], text[:10] if "date" in name else text)
    return fields


class _Writer:
    """Writes the elements of a document as elements of HTML."""

    def __init__(self, roots: Sequence[ET.Element]) -> None:
        """Read which styles are titles, and which lists are numbered, from the parts of the file with styles."""
        styles = [element for root in roots for element in root.iter()]
        self._titles = {"Title", *(_attribute(style, "name") for style in styles if local_name(style) == "style"
                                   and _attribute(style, "parent-style-name") == "Title")}
        self._numbered = {(_attribute(style, "name"), _attribute(level, "level"))
                          for style in styles if local_name(style) == "list-style" for level in style
                          if local_name(level) == "list-level-style-number" and _attribute(level, "num-format")}
        self._last: dict[str, int] = {}  # the last number of each list, by its style and by its id

    def add(self, parent: ET.Element, element: ET.Element, style: str = "", level: int = 0) -> None:
        """Add the content of an element to an element of HTML."""
        _append(parent, element.text)
        for child in element:
            name = local_name(child)
            if name in _BLANKS:
                _append(parent, " ")
            elif name == "note":
                bodies = (_words(part) for part in child if local_name(part) == "note-body")
                _append(parent, f" [{' '.join(bodies)}]")
            elif name == "page":
                self._add_page(parent, child)
            elif name == "list":
                self._add_list(parent, child, _attribute(child, "style-name") or style, level + 1)
            elif name not in _SKIPPED:
                tag = _TAGS.get(name, "")
                if name == "h" or (name == "p" and _attribute(child, "style-name") in self._titles):
                    tag = f"h{min(_number(child, 'outline-level', 1), _DEEPEST_HEADING)}"
                spans = {of: value for span, of in _SPANS.items() if (value := _attribute(child, span))}
                self.add(ET.SubElement(parent, tag, spans) if tag else parent, child)
            _append(parent, child.tail)

    def _add_page(self, parent: ET.Element, page: ET.Element) -> None:
        """Add a slide, with its title or else its name as a heading."""
        title = next((frame for frame in page if _attribute(frame, "class") == "title" and _words(frame)), None)
        ET.SubElement(parent, "h1").text = _attribute(page, "name") if title is None else _words(title)
        for frame in page:
            if frame is not title and local_name(frame) not in _SKIPPED:
                self.add(parent, frame)

    def _add_list(self, parent: ET.Element, listed: ET.Element, style: str, level: int) -> None:
        """Add a list; its numbers may continue those of the last list of its style, or of a list that it names."""
        html = ET.SubElement(parent, "ol" if (style, str(level)) in self._numbered else "ul")
        continued = style if _attribute(listed, "continue-numbering") == "true" else ""
        number = self._last.get(_attribute(listed, "continue-list") or continued, 0)
        for item in listed:
            number = _number(item, "start-value", number + 1)
            self.add(ET.SubElement(html, "li", value=str(number)), item, style, level)
        self._last[style] = number
        if list_id := _attribute(listed, "id"):
            self._last[list_id] = number


def _append(parent: ET.Element, text: str | None) -> None:
    """Add a text at the end of an element."""
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + (text or "")
    else:
        parent.text = (parent.text or "") + (text or "")


def _words(element: ET.Element) -> str:
    return one_line(" ".join(element.itertext()))


def _number(element: ET.Element, name: str, otherwise: int) -> int:
    value = _attribute(element, name)
    return max(int(value), 1) if value.isdecimal() and len(value) < _LONGEST_NUMBER else otherwise


def _attribute(element: ET.Element, name: str) -> str:
    return next((value for key, value in element.attrib.items() if key.endswith(f"}}{name}")), "")
