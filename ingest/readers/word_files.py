"""Read Word files (docx), which mammoth converts to HTML, and rich text (rtf)."""

import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from xml.etree import ElementTree as ET  # see `archives`

import mammoth
from striprtf.striprtf import rtf_to_text

from ...text.titles import is_from_template
from ..reading import Content, Limits, UnreadableError, list_counts
from .archives import count_new_charts, local_name, not_of_kind, open_archive, parse_xml, properties, read_charts
from .web_pages import read_html

_STYLES = "p[style-name='Title'] => h1:fresh"
_BODY, _COMMENTS = "word/document.xml", "word/comments.xml"
_MARGINS = re.compile(r"word/(header|footer)\d*\.xml")
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MARKS = {"num": "", "den": "/", "e": "", "sub": "_", "sup": "^"}
"""The parts of a fraction and of a letter with scripts, in order, each with the mark in front of it."""
_SEPARATED = {"mr": ", ", "m": "; ", "eqArr": "; ", "func": " "}
_ATOM = re.compile(r"\w+|\W")
_LEFT_OUT = {"picture": b"{\\pict", "header": b"{\\header", "footer": b"{\\footer", "footnote": b"{\\footnote",
             "comment": b"\\annotation"}
"""Parts that striprtf leaves out, each with the mark with which it begins."""


def read_docx(data: bytes, limits: Limits) -> Content:
    """Read the text of a Word file as `read_html` returns it.

    The title is the first paragraph in the style Title or Heading 1. Tracked insertions and content controls are read;
    deletions and pictures are not. Equations are written in one line. Headers, footers, comments, charts and diagrams
    follow the text.
    """
    with open_archive(data, "a Word file", limits) as archive:
        about = properties(archive)
        left_out = list(left_out_parts(archive))
        unread = count_unread(archive)
        if not any(name.startswith("word/") for name in archive.namelist()):
            raise not_of_kind(data, "a Word file", "no document in it")
    nothing = mammoth.images.img_element(lambda _: {})
    html = mammoth.convert_to_html(BytesIO(with_equations(data)), style_map=_STYLES, convert_image=nothing).value
    page = read_html(f'<meta charset="utf-8">{html}'.encode())
    stored = about.pop("title", "")
    title = page.title or ("" if is_from_template(stored, page.text) else stored)
    return Content("\n\n".join(filter(None, [page.text, *left_out])), title, about,
                   omitted=list_counts(unread))


def with_equations(data: bytes) -> bytes:
    """Return a Word file with a text such as "(a+b)/2" in place of each equation, because mammoth reads only texts."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        body = archive.read(_BODY) if _BODY in archive.namelist() else b""
        if b"oMath" not in body:
            return data
        root = ET.fromstring(body)  # noqa: S314
        for parent in list(root.iter()):
            for place, child in enumerate(list(parent)):
                if child.tag == f"{_MATH}oMath" and not parent.tag.startswith(_MATH + "oMath"):
                    parent[place] = _run(_linear(child))
                elif child.tag == f"{_MATH}oMathPara":
                    parent[place] = _run("; ".join(map(_linear, child.iter(f"{_MATH}oMath"))))
        changed = BytesIO()
        with zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as copy:
            for entry in archive.namelist():
                copy.writestr(entry, ET.tostring(root, "utf-8") if entry == _BODY else archive.read(entry))
        return changed.getvalue()


def left_out_parts(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the texts that mammoth leaves out: headers and footers, comments, charts and diagrams."""
    names = archive.namelist()
    margins = {name: _paragraphs(parse_xml(archive, name)) for name in sorted(filter(_MARGINS.fullmatch, names))}
    seen: set[str] = set()
    for name, text in margins.items():
        if re.search(r"[^\W\d_]", text) and text not in seen:  # a page number alone is no text
            seen.add(text)
            yield f"{'Header' if 'header' in name else 'Footer'}: {text}"
    for comment in parse_xml(archive, _COMMENTS).iter(f"{_WORD}comment") if _COMMENTS in names else ():
        author = comment.get(f"{_WORD}author")
        if text := _paragraphs(comment):
            yield f"Comment{f' by {author}' if author else ''}: {text}"
    yield from read_charts(archive)


def count_unread(archive: zipfile.ZipFile) -> dict[str, int]:
    """Return how many pictures, embedded files and charts a Word file has, which are not read."""
    body = archive.read(_BODY) if _BODY in archive.namelist() else b""
    embedded = len(re.findall(rb"<o:OLEObject\b", body))
    # Each embedded file also has a picture that shows it.
    pictures = len(re.findall(rb"<(?:a:blip|v:imagedata)\b", body)) - embedded
    return {"picture": max(pictures, 0), "embedded file": embedded, "chart": count_new_charts(archive)}


def _paragraphs(element: ET.Element) -> str:
    """Return the texts of the paragraphs in an element, in one line."""
    texts = ("".join(part.text or "" if part.tag == f"{_WORD}t" else "\t" for part in paragraph.iter()
                     if part.tag in {f"{_WORD}t", f"{_WORD}tab"}) for paragraph in element.iter(f"{_WORD}p"))
    return " ".join(" ".join(texts).split())


def _run(text: str) -> ET.Element:
    run = ET.Element(f"{_WORD}r")
    ET.SubElement(run, f"{_WORD}t", {"{http://www.w3.org/XML/1998/namespace}space": "preserve"}).text = text
    return run


def _linear(element: ET.Element) -> str:
    """Return an equation, or a part of one, as text in one line, such as "(a+b)/2" or "sqrt(x)"."""
    name = local_name(element)
    if name == "t":
        return element.text or ""
    texts = [(local_name(child), _linear(child)) for child in element]
    parts = dict(texts)
    # Without brackets around a letter, and without a part that is not there.
    marked = {part: f"{_MARKS[part]}{text if _ATOM.fullmatch(text) else f'({text})'}" for part, text in texts
              if part in _MARKS and text}
    if name in {"f", "sSup", "sSub", "sSubSup"}:
        return "".join(marked.get(part, "") for part in _MARKS)
    if name == "rad":
        root = f"root({parts['deg']})" if parts.get("deg") else "sqrt"
        return f"{root}({parts.get('e', '')})"
    if name == "d":
        return f"({','.join(text for part, text in texts if part == 'e')})"
    return _SEPARATED.get(name, "").join(text for _, text in texts if text)


def read_rtf(data: bytes, _: Limits) -> Content:
    """Read the text of an RTF file without its control words."""
    if not data.startswith(b"{\\rtf"):
        raise UnreadableError("not a rich text file: save it again as RTF")
    text = rtf_to_text(data.decode("latin-1"), errors="replace")  # type: ignore[no-untyped-call]
    return Content(text, omitted=list_counts({name: data.count(mark) for name, mark in _LEFT_OUT.items()}))
