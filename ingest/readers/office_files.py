"""Read Word files (docx), rich text (rtf), PowerPoint files (pptx), OpenDocument (odt, odp), and books (epub)."""

import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Set
from io import BytesIO
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as ET  # see `archives`

import mammoth
import pptx
from pptx.enum.shapes import MSO_SHAPE_TYPE
from striprtf.striprtf import rtf_to_text

from ...text.cleaning import one_line
from ...text.section_lines import is_from_template
from ..grids import GridCell, grid_lines, place_cells
from ..metadata import CREATED
from ..reading import END, RAISED, Content, Limits, UnreadableError, list_counts, write_raised
from . import archives
from .archives import PASSWORD, local_name, not_of_kind, open_archive, parse_xml, words_of
from .web_pages import read_html

# What mammoth makes of Word's styles besides its own rules: titles, and lists inside lists.
_STYLES = "\n".join(["p[style-name='Title'] => h1:fresh", *(
    f"p[style-name='List {kind} {level}'] => {' > '.join(['ul|ol > li'] * (level - 1))} > {tag} > li:fresh"
    for kind, tag in (("Bullet", "ul"), ("Number", "ol")) for level in (2, 3))])
_BODY, _COMMENTS = "word/document.xml", "word/comments.xml"
_MARGINS = re.compile(r"word/(header|footer)\d*\.xml")
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_LEFT_OUT = {"picture": b"{\\pict", "header": b"{\\header", "footer": b"{\\footer", "footnote": b"{\\footnote",
             "comment": b"\\annotation"}  # what striprtf leaves out, each part with the mark at its beginning
_NO_TITLE = re.compile(r"(?:microsoft )?powerpoint .*|(?:slide|folie|diapositiv[ae]|スライド|幻灯片) ?\d+",
                       re.IGNORECASE)  # titles that programs store by themselves
_MANIFEST = "META-INF/manifest.xml"
_DEEPEST_HEADING = 6
_UNREAD = {"annotation": "comment", "object": "embedded object", "image": "picture"}  # elements that are counted
_SKIPPED = frozenset({"tracked-changes", "annotation", "annotation-end", "forms", "sequence-decls", "table-of-content",
                      "alphabetical-index", "illustration-index", "user-index", "settings", "image", "object",
                      "covered-table-cell"})
_META = {"title": "title", "initial-creator": "author", "creator": "author", "date": "date", "creation-date": CREATED,
         "subject": "subject", "keyword": "keywords", "description": "description"}
_RAISED_POSITIONS = ("super", *"123456789")  # a number is the share of the height by which a text is raised
_TAGS = {"p": "p", "list": "ul", "list-item": "li", "list-header": "li", "text-box": "div", "table": "table",
         "table-row": "tr", "table-cell": "td", **dict.fromkeys(_SKIPPED, "template")}
"""The tags of HTML by the elements of OpenDocument; the content of "template" is not shown."""
_SPANS = {"number-columns-spanned": "colspan", "number-rows-spanned": "rowspan"}
_CONTAINER = "META-INF/container.xml"
_OF_BOOKS = {"creator": "author", **{name: name for name in ("date", "publisher", "language", "subject")}}


def read_docx(data: bytes, limits: Limits) -> Content:
    """Read the text of a Word file as `read_html` returns it, and what mammoth leaves out."""
    with open_archive(data, "a Word file", limits) as archive:
        if not any(name.startswith("word/") for name in archive.namelist()):
            raise not_of_kind(data, "a Word file", "no document in it")
        about, left_out = archives.properties(archive), list(_left_out_parts(archive))
        content = archive.read(_BODY) if _BODY in archive.namelist() else b""
        embedded = content.count(b"<o:OLEObject ")
        # Each embedded file also has a picture that shows it.
        unread = {"picture": max(len(re.findall(rb"<(?:a:blip|v:imagedata)\b", content)) - embedded, 0),
                  "embedded file": embedded, "chart": archives.count_new_charts(archive),
                  "equation": len(re.findall(rb"<m:oMath[ >]", content)), "hidden text": 0}
        if b"<w:vanish" in content:
            root = parse_xml(archive, _BODY)
            unread["hidden text"] = _remove_hidden(root)
            data = archives.replace_parts(archive, {_BODY: root})
    without_content = mammoth.images.img_element(lambda _: {})  # otherwise each picture is in the page as text
    html = mammoth.convert_to_html(BytesIO(data), style_map=_STYLES, convert_image=without_content).value
    page = read_html(f'<meta charset="utf-8">{html}'.encode())
    stored = about.pop("title", "")
    title = page.title or ("" if is_from_template(stored, page.text) else stored)
    return Content("\n\n".join(filter(None, [page.text, *left_out])), title, about,
                   omitted=", ".join(filter(None, [list_counts(unread), page.omitted])))


def _remove_hidden(body: ET.Element) -> int:
    """Remove the hidden texts of a Word file, which mammoth would read; return their number."""
    hidden = 0
    for parent in body.iter():
        for run in parent.findall(f"{_WORD}r"):
            mark = run.find(f"{_WORD}rPr/{_WORD}vanish")
            if mark is not None and mark.get(f"{_WORD}val", "true") not in {"0", "false", "off"}:
                parent.remove(run)
                hidden += 1
    return hidden


def _left_out_parts(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the texts that mammoth leaves out: headers and footers, comments, charts and diagrams."""
    names = sorted(archive.namelist(), key=lambda name: (len(name), name))  # by their numbers
    kinds_by_text: dict[str, str] = {}  # most sections repeat the header and footer of others
    for found in filter(None, map(_MARGINS.fullmatch, names)):
        kinds_by_text[words_of(parse_xml(archive, found[0]), "t")] = found[1].capitalize()
    for text, kind in kinds_by_text.items():
        if re.search(r"[^\W\d_]", text):  # a page number alone is no text
            yield f"{kind}: {text}"
    for comment in parse_xml(archive, _COMMENTS).iter(f"{_WORD}comment") if _COMMENTS in names else ():
        author = comment.get(f"{_WORD}author")
        if text := words_of(comment, "t"):
            yield f"Comment{f' by {author}' if author else ''}: {text}"
    for name in names:
        if re.fullmatch(r"word/charts/chart\d*\.xml", name):
            yield archives.chart_text(parse_xml(archive, name), "")
        elif re.fullmatch(r"word/diagrams/data\d*\.xml", name):
            yield archives.diagram_text(parse_xml(archive, name))


def read_rtf(data: bytes, _: Limits) -> Content:
    """Read the text of an RTF file without its control words."""
    if not data.startswith(b"{\\rtf"):
        raise UnreadableError("not a rich text file: save it again as RTF")
    text = rtf_to_text(data.decode("latin-1"), errors="replace")  # type: ignore[no-untyped-call]
    return Content(text, omitted=list_counts({name: data.count(mark) for name, mark in _LEFT_OUT.items()}))


def read_pptx(data: bytes, limits: Limits) -> Content:
    """Read the text of a presentation; the title is that of the file's properties, or else of the first slide."""
    with open_archive(data, "a PowerPoint file", limits) as archive:
        if not any(name.startswith("ppt/") for name in archive.namelist()):
            raise not_of_kind(data, "a PowerPoint file", "no slides in it")
        about = archives.properties(archive)
        omitted = Counter({"picture": 0, "chart": archives.count_new_charts(archive)})
    parts, titles = list[str](), list[str]()
    for number, slide in enumerate(pptx.Presentation(BytesIO(data)).slides, 1):
        if slide.element.get("show") == "0":
            omitted["hidden slide"] += 1
            continue
        _mark_runs(slide.element, omitted)
        title = slide.shapes.title
        heading = write_raised(" ".join(title.text_frame.text.split())) if title is not None else ""
        titles.append(heading)
        parts.append(f"# {heading or f'Slide {number}'}")
        for shape in slide.shapes:
            if title is None or shape.shape_id != title.shape_id:
                parts += _shape_texts(shape, heading, omitted)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            parts.append(slide.notes_slide.notes_text_frame.text)
        for relation in slide.part.rels.values():
            if not relation.is_external and relation.reltype.endswith(("/diagramData", "/comments")):
                parts += _part_texts(ET.fromstring(relation.target_part.blob), relation.reltype)  # noqa: S314
    stored = about.pop("title", "")
    text = "\n\n".join(part.strip() for part in parts if part.strip())
    if _NO_TITLE.fullmatch(stored) or is_from_template(stored, text):
        stored = ""
    return Content(text, stored or next(iter(titles), ""), about, omitted=list_counts(omitted))


def _mark_runs(slide: Any, omitted: Counter[str]) -> None:
    """Mark raised texts of a slide, and take struck-out ones away, which `omitted` counts."""
    for run in slide.iter(f"{_DRAWING}r"):
        look, text = run.find(f"{_DRAWING}rPr"), run.find(f"{_DRAWING}t")
        if look is None or text is None or not text.text:
            continue
        if look.get("strike", "noStrike") != "noStrike":
            omitted["struck-out text"] += 1
            text.text = ""
        elif not look.get("baseline", "0").startswith(("-", "0")):  # above the baseline, in thousandths of a per cent
            text.text = f"{RAISED}{text.text}{END}"


def _shape_texts(shape: Any, heading: str, omitted: Counter[str]) -> Iterator[str]:
    """Yield the texts of a shape and of the shapes grouped in it; `omitted` counts unreadable ones by kind."""
    if shape.has_text_frame:
        yield write_raised(shape.text_frame.text)
    elif getattr(shape, "has_table", False):
        rows = ([(GridCell(write_raised(cell.text)), cell.span_width, cell.span_height)
                 for cell in row.cells if not cell.is_spanned] for row in shape.table.rows)
        yield "\n".join(grid_lines(place_cells(rows), heading))
    elif getattr(shape, "has_chart", False):
        yield archives.chart_text(ET.fromstring(shape.chart.part.blob), heading)  # noqa: S314
    elif local_name(shape.element) == "pic":
        omitted["recording" if shape.shape_type is MSO_SHAPE_TYPE.MEDIA else "picture"] += 1
    elif shape.shape_type in {MSO_SHAPE_TYPE.EMBEDDED_OLE_OBJECT, MSO_SHAPE_TYPE.LINKED_OLE_OBJECT}:
        omitted["embedded file"] += 1
    for inner in getattr(shape, "shapes", ()):
        yield from _shape_texts(inner, heading, omitted)


def _part_texts(root: ET.Element, kind: str) -> Iterator[str]:
    """Yield the texts of a part of the file that belongs to a slide: a diagram, or comments."""
    if kind.endswith("/diagramData"):
        yield archives.diagram_text(root)
    for comment in root.iterfind(".//{*}cm") if kind.endswith("/comments") else ():
        if text := words_of(comment, "t", "text"):
            yield f"Comment: {text}"


def read_open_document(data: bytes, limits: Limits) -> Content:
    """Read the text of an OpenDocument file as `read_html` returns it."""
    with open_archive(data, "an OpenDocument file", limits) as archive:
        names = set(archive.namelist())
        if "content.xml" not in names:
            raise UnreadableError("not an OpenDocument file (no content.xml): open it in its program and save it again")
        if _MANIFEST in names and b"encryption-data" in archive.read(_MANIFEST):
            raise UnreadableError(PASSWORD)
        content = parse_xml(archive, "content.xml")
        meta = parse_xml(archive, "meta.xml") if "meta.xml" in names else ET.Element("none")
    about: dict[str, str] = {}
    for element in meta.iter():
        name, text = local_name(element), (element.text or "").strip()
        if name in _META and text:
            about.setdefault(_META[name], text[:10] if "date" in name else text)
    body = next(content.iterfind("{*}body"), content)
    counts = Counter(_UNREAD[name] for name in map(local_name, body.iter()) if name in _UNREAD)
    raised_styles: set[str] = set()
    for style in content.iter():
        positions = [_attribute(part, "text-position") for part in style if local_name(style) == "style"]
        if any(position.startswith(_RAISED_POSITIONS) for position in positions):
            raised_styles.add(_attribute(style, "name"))
    for element in list(body.iter()):
        _rename_to_html(element, raised_styles)
    page = ET.Element("html")
    ET.SubElement(page, "title").text = about.pop("title", "")
    page.append(body)
    read = read_html(ET.tostring(page, "utf-8", method="html"))
    return Content(read.text, read.title, about, omitted=list_counts(dict(sorted(counts.items()))))


def _rename_to_html(element: ET.Element, raised_styles: Set[str]) -> None:
    """Change an element of an OpenDocument file into the one of HTML; notes stand in brackets in their place."""
    name = local_name(element)
    tag = _TAGS.get(name, "span")
    if name in {"s", "tab", "line-break"}:  # spaces
        element.text = " "
    elif name == "note":
        notes = [_words(part) for part in element if local_name(part) == "note-body"]
        element[:], element.text = [], f" [{' '.join(notes)}]"
    elif name == "h":
        tag = f"h{min(int(_attribute(element, 'outline-level') or 1), _DEEPEST_HEADING)}"
    elif name == "page":  # a slide begins with its title, or with its name
        title = next((frame for frame in element if _attribute(frame, "class") == "title" and _words(frame)), None)
        heading = ET.Element("h1")
        heading.text = _attribute(element, "name") if title is None else _words(title)
        element[:] = [heading, *(part for part in element if part is not title)]
    elif name == "span" and _attribute(element, "style-name") in raised_styles:
        tag = "sup"
    element.tag = tag
    spans = {html: _attribute(element, span) for span, html in _SPANS.items()}
    element.attrib = {html: value for html, value in spans.items() if value}


def _words(element: ET.Element) -> str:
    return one_line(" ".join(element.itertext()))


def _attribute(element: ET.Element, name: str) -> str:
    """Return an attribute by its name without the namespace; "" if the element has none."""
    return next((value for key, value in element.attrib.items() if key.endswith(f"}}{name}")), "")


def read_epub(data: bytes, limits: Limits) -> Content:
    """Read a book: the text of each page as `read_html` returns it."""
    with open_archive(data, "an EPUB file", limits) as archive:
        names = set(archive.namelist())
        if _CONTAINER not in names:
            raise UnreadableError(f"not an EPUB file (no {_CONTAINER}): export it again")
        first_file = parse_xml(archive, _CONTAINER).find(".//{*}rootfile")
        root = first_file.get("full-path", "") if first_file is not None else ""
        package = parse_xml(archive, root)
        items = list(package.iterfind(".//{*}item"))
        folder = posixpath.dirname(root)
        pages = {item.get("id"): posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
                 for item in items if "html" in item.get("media-type", "")}
        spine = [pages.get(link.get("idref")) for link in package.iterfind(".//{*}itemref")]
        # A page that occurs several times in the spine is read once.
        texts = [read_html(archive.read(name)).text for name in dict.fromkeys(spine) if name in names]
        pictures = sum(item.get("media-type", "").startswith("image/") for item in items)
    # Of several fields of a name, the first counts, which is the last one here.
    fields = {local_name(element): element.text for element in reversed([*package.iter()]) if element.text}
    return Content("\n\n".join(filter(None, texts)), fields.get("title", ""),
                   {_OF_BOOKS[name]: value for name, value in fields.items() if name in _OF_BOOKS},
                   omitted=list_counts({"picture": pictures}))
