"""Read PDF files: pypdf reads the text of all pages, and pdfplumber pages that may have tables or doubled letters."""

import logging
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from io import BytesIO
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from pypdf import PageObject, PasswordType, PdfReader
from pypdf.generic import DictionaryObject, IndirectObject

from ...text.cleaning import broken_word_joiner, one_line
from ...text.titles import is_from_template, is_placeholder
from ..metadata import CREATED
from ..raised_figures import END, RAISED, write_raised
from ..reading import Content, Limits, UnreadableError, list_counts
from ..source_tables import change_collected
from .archives import PASSWORD

# It logs details of broken files, which would go to the terminal if nothing else handles them.
logging.getLogger("pypdf").addHandler(logging.NullHandler())

# What programs store instead of a title: a file's name, or nothing.
_NO_TITLE = re.compile(r"(.*\.(docx?|odt|rtf|tex|dvi|indd|qxd|pptx?|xlsx?|pdf|html?))?", re.IGNORECASE)
_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d)")
_LONGEST_TITLE, _LISTED = 300, 10
_PICTURE = re.compile(rb"\bDo\b|\bBI\b")  # the operators that paint a picture, or a form that may contain one
_LINE = re.compile(rb"(?<!\S)(?:re|l)(?!\S)")  # the operators that draw a rectangle and a straight line
_FEWEST_LINES, _MOST_LINES = 3, 20_000
"""The fewest lines and rectangles of a page with a ruled table, and the most of a page that is no drawing."""
_COST_OF_LINE, _BUDGET = 5, 1_500_000
"""How many characters take as long to read as a line, and how many pdfplumber reads of a file: about a minute."""
_NO_COMMENTS = frozenset({"/Popup", "/Link"})
"""Kinds of annotations whose contents repeat those of others, or describe a link."""
_MOST_PARENTS = 20
_LONGEST_RAISED, _RAISED_SIZE = 2, 0.85  # figures of an exponent or the mark of a note, and their largest relative size
_PASSWORD_FLAG = 1 << 13
_FEWEST_CHARACTERS = 20
_UNUSABLE, _RARE = 0.05, 0.4  # the largest shares of characters that no text has, and of rare letters
_RARE_LETTERS = re.compile("[\u0100-\u024f\u3400-\u4dbf]")
"""Letters of Latin Extended-A and -B, and the rare Chinese of Extension A."""
_FEWEST_LETTERS, _FEWEST_DIFFERENT, _FEWEST_FREQUENT = 200, 12, 0.25
_FREQUENT = frozenset("etaoinsrETAOINSR")
"""Letters that make up more than half of a text in most languages, and a third of random letters."""
_MOST_SINGLE, _SHORTEST_REPEATED = 6, 4  # lines of one letter in a row, and letters of half a line, that are suspicious
_NUMBERED = re.compile(r"(?<!\S)(\d{1,5})\s*$")
_FEWEST_NUMBERED, _SHARE_NUMBERED = 15, 0.8
"""The fewest numbered lines of a page with line numbers, and their share; fewer may be rows of a table."""


class _Page(NamedTuple):
    """A page as pypdf reads it; `number` is its first place in the file, from 0."""

    number: int
    text: str
    lines: int  # the number of lines and rectangles that it draws
    has_pictures: bool
    pictures: frozenset[int]
    """Keys of the pictures whose text is not read; a picture on several pages has the same key."""
    notes: str  # the filled-in fields and the comments on the page


def read_pdf(data: bytes, limits: Limits) -> Content:
    """Read the text of a PDF file, with a form feed between its pages.

    Ruled tables are written as rows, and filled-in fields and comments follow the text of their page. Pages that are
    pictures, or whose fonts do not say which letters they show, are read by text recognition if that is available. The
    title is the one in the file's metadata, or an empty string.

    Raises:
        UnreadableError: the file is broken, protected by a password, too large as text, or contains only pictures.
    """
    try:
        reader = PdfReader(BytesIO(data))
        pages, order = _read_pages(reader, limits)
        title, about = _read_about(reader, "\n".join(page.text for page in pages))
        attached = len(reader.attachments)
    except UnreadableError:
        raise
    except Exception as error:  # pypdf can raise anything on a broken structure
        raise UnreadableError(f"a broken PDF file ({error}): print it to a new PDF") from error
    pages, unread = _with_recognised(data, pages, limits)
    if not any(page.text.strip() or page.notes for page in pages):
        raise UnreadableError(unread or "no text in it: remove it")
    texts, broken = _with_tables(data, pages, title)
    texts = drop_line_numbers([texts[at] for at in order])
    join = broken_word_joiner(texts)
    change_collected(join)
    texts = list(map(join, texts))
    if sum(map(len, texts)) > limits.file_bytes:
        raise UnreadableError(f"its tables have more text than {limits.size()}: split it")
    texts = [f"{text.rstrip()}\n\n{pages[at].notes}" if pages[at].notes else text
             for text, at in zip(texts, order, strict=True)]
    pictures = frozenset[int]().union(*(page.pictures for page in pages))
    omitted = [list_counts({"picture": len(pictures), "attached file": attached})]
    if broken:
        omitted.append(f"tables of broken pages ({_list_pages(broken)}: {next(iter(broken.values()))})")
    return Content("\f".join(text.replace("\f", "\n") for text in texts), title, about, paged=True, unread=unread,
                   omitted=", ".join(filter(None, omitted)))


def _read_about(reader: PdfReader, text: str) -> tuple[str, dict[str, object]]:
    """Return the title, if it is of this text and no program stored it by itself, and the metadata of a file."""
    info = reader.metadata
    if info is None:
        return "", {}
    title, created = (info.title or "").strip(), _DATE.match(str(info.creation_date_raw))
    is_no_title = (len(title) > _LONGEST_TITLE or _NO_TITLE.fullmatch(title) or is_placeholder(title)
                   or is_from_template(title, text))
    return "" if is_no_title else title, {
        "author": info.author, CREATED: created and "-".join(created.groups()), "subject": info.subject}


def _read_pages(reader: PdfReader, limits: Limits) -> tuple[list[_Page], list[int]]:
    """Return the different pages, and the index of each page of the file among them.

    Each page object is read once, because a small file can show the same one a million times.
    """
    if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
        raise UnreadableError(PASSWORD)
    pages: list[_Page] = []
    order: list[int] = []
    index_of: dict[object, int] = {}
    remaining = limits.file_bytes
    for number, page in enumerate(reader.pages, 1):
        reference = page.indirect_reference
        index = index_of.setdefault((reference.idnum, reference.generation) if reference else -number, len(pages))
        if index == len(pages):
            pages.append(_read_page(number - 1, page))
        order.append(index)
        remaining -= len(pages[index].text)
        if remaining < 0:
            raise UnreadableError(f"its first {number} pages have more text than {limits.size()}: split it")
    return pages, order


def _read_page(number: int, page: PageObject) -> _Page:
    pieces: list[tuple[str, float]] = []
    text = page.extract_text(visitor_text=lambda piece, _cm, _tm, _font, size: pieces.append((piece, size)))
    contents = page.get_contents()
    drawing = contents.get_data() if contents is not None else b""
    annotations = (entry.get_object() for entry in page.get("/Annots") or ())
    notes = (_field(annotation) if annotation.get("/Subtype") == "/Widget" else _comment(annotation)
             for annotation in annotations if isinstance(annotation, DictionaryObject))
    return _Page(number, _with_raised(text, pieces), len(_LINE.findall(drawing)), _PICTURE.search(drawing) is not None,
                 frozenset(_pictures(page)), "\n".join(dict.fromkeys(filter(None, notes))))


def _with_raised(text: str, pieces: Sequence[tuple[str, float]]) -> str:
    """Return the text of a page with its raised figures apart: small ones right behind a figure of another size."""
    if "".join(piece for piece, _ in pieces) != text:
        return text
    marked, before, size_before = list[str](), "", 0.0
    for piece, size in pieces:
        is_figure = piece.strip().isdecimal() and len(piece.strip()) <= _LONGEST_RAISED and before[-1:].isdigit()
        if is_figure and size < _RAISED_SIZE * size_before:
            marked.append(f"{RAISED}{piece}{END}")
        elif piece:
            marked.append(piece)
            before, size_before = piece, size
    return write_raised("".join(marked))


def _pictures(page: PageObject) -> Iterator[int]:
    resources = page.get("/Resources")
    external_objects = resources.get_object().get("/XObject") if resources is not None else None
    for entry in external_objects.get_object().values() if external_objects is not None else ():
        drawing = entry.get_object()
        if isinstance(drawing, DictionaryObject) and drawing.get("/Subtype") == "/Image":
            yield entry.idnum if isinstance(entry, IndirectObject) else id(drawing)


def _comment(annotation: DictionaryObject) -> str:
    text, author = _words(annotation.get("/Contents")), _words(annotation.get("/T"))
    if not text or annotation.get("/Subtype") in _NO_COMMENTS:
        return ""
    return f"Comment{f' by {author}' if author else ''}: {text}"


def _field(annotation: DictionaryObject) -> str:
    """Return a filled-in text field as "name: value"; "" for other fields, empty ones and passwords."""
    chain: list[DictionaryObject] = []  # the field, its parent and so on; broken files have cycles
    part: Any = annotation
    while isinstance(part, DictionaryObject) and len(chain) < _MOST_PARENTS:
        chain.append(part)
        part = part["/Parent"].get_object() if "/Parent" in part else None
    kind, value, flags = (next((part[key] for part in chain if key in part), None) for key in ("/FT", "/V", "/Ff"))
    name = next(filter(None, (_words(part.get("/TU") or part.get("/T")) for part in chain)), "")
    is_text = str(kind) in {"/Tx", "/Ch"} and not (isinstance(flags, int) and flags & _PASSWORD_FLAG)
    return f"{name}: {_words(value)}" if is_text and name and _words(value) else ""


def _words(value: object) -> str:
    return one_line(value) if isinstance(value, str) else ""


def _with_recognised(data: bytes, pages: list[_Page], limits: Limits) -> tuple[list[_Page], str]:
    """Return the pages with the recognised text of those that are only pictures or have broken fonts.

    The second value is a message about the pages that cannot be read, or "".
    """
    broken = {page.number for page in pages if is_gibberish(page.text)}
    scanned = {page.number for page in pages if page.has_pictures and not page.text.strip()} - broken
    if not broken | scanned:
        return pages, ""
    scans = import_module(".scans", __package__)  # imported here, because most files do not need it
    can_recognise = scans.can_recognise(limits)
    texts = scans.read_pages(data, sorted(broken | scanned)) if can_recognise else {}
    pages = [page._replace(text=texts.get(page.number, ""), pictures=frozenset())
             if page.number in broken | scanned else page for page in pages]
    if can_recognise:
        return pages, ""
    notes = [f"{kind} were not read ({_list_pages(unread)})" for kind, unread in (
        ("pages that are only pictures", scanned), ("pages whose font does not tell its letters", broken)) if unread]
    fix = "set BANYAN_OCR=auto" if limits.ocr == "off" else scans.NOT_INSTALLED
    return pages, f"{'; '.join(notes)}: {fix}, or run text recognition (OCR) on it"


def _list_pages(numbers: Iterable[int]) -> str:
    listed = [str(number + 1) for number in sorted(numbers)]
    return ", ".join(listed[:_LISTED]) + (" and more" if len(listed) > _LISTED else "")


def _with_tables(data: bytes, pages: Sequence[_Page], title: str) -> tuple[list[str], dict[int, str]]:
    """Return the texts of the pages with their tables as rows, and the cause for each page where this fails, by number.

    Pages are checked until a budget of time is used up. Pages that draw letters twice are read without the second copy.
    """
    doubled = {page.number for page in pages if is_doubled(page.text)}
    wanted: dict[int, str] = {}
    budget = _BUDGET
    for page in pages:
        may_have_table = _FEWEST_LINES <= page.lines <= _MOST_LINES
        budget -= len(page.text) + _COST_OF_LINE * page.lines if may_have_table else 0
        if page.number in doubled or (may_have_table and budget >= 0):
            wanted[page.number] = page.text
    texts, broken = dict[int, str](), dict[int, str]()
    if wanted:
        # Imported here, because the libraries take a while to import, and most files do not need them.
        tables = import_module(".pdf_tables", __package__)
        texts = tables.read_pages(data, wanted, doubled, title, broken)
    return [texts.get(page.number, page.text) for page in pages], broken


def is_gibberish(text: str) -> bool:
    """Return True if a page's text is in no language, because its font maps letters wrongly to Unicode.

    Such a text has control or private characters, or many letters that are rare in every language. Or it consists of
    Latin letters, and has only few of those that are frequent in most languages.
    """
    characters = "".join(text.split())
    if len(characters) < _FEWEST_CHARACTERS:
        return False
    unusable = sum(unicodedata.category(character) in {"Cc", "Co", "Cn", "Cs"} or character == "\ufffd"
                   for character in characters)
    latin = [letter for letter in characters if letter.isalpha() and letter.isascii()]
    has_rare_letters = len(_RARE_LETTERS.findall(characters)) > _RARE * len(characters)
    has_odd_letters = (len(latin) >= max(_FEWEST_LETTERS, len(characters) / 2) and len(set(latin)) >= _FEWEST_DIFFERENT
                       and sum(letter in _FREQUENT for letter in latin) < _FEWEST_FREQUENT * len(latin))
    return unusable > _UNUSABLE * len(characters) or has_rare_letters or has_odd_letters


def is_doubled(text: str) -> bool:
    """Return True if a page may draw letters twice, as a substitute for a bold font.

    Such a text has many lines of a single letter in a row, or a line that repeats each letter or its first half.
    """
    lines = ["".join(line.split()) for line in text.split("\n")]
    runs = [sum(1 for _ in run) for is_single, run in groupby(lines, lambda line: len(line) <= 1) if is_single]
    if max(runs, default=0) >= _MOST_SINGLE:
        return True
    for letters in lines:
        half = len(letters) // 2
        has_words = len(set(letters)) >= _SHORTEST_REPEATED and any(map(str.isalpha, letters))
        if half >= _SHORTEST_REPEATED and has_words and (
                letters[:half] == letters[half:] or letters[::2] == letters[1::2]):
            return True
    return False


def drop_line_numbers(pages: Sequence[str]) -> list[str]:
    """Return the pages without the numbers at the ends of their lines, which would be read as words.

    They are taken for line numbers if at least two pages have them at nearly all lines, each one more than the last.
    Other pages of the file stay as they are.
    """
    numbered = {number: lines for number, page in enumerate(pages) if (lines := _numbered_lines(page.split("\n")))}
    if len(numbered) < 2:  # noqa: PLR2004
        return list(pages)
    return ["\n".join(_NUMBERED.sub("", line).rstrip() if index in numbered.get(number, ()) else line
                      for index, line in enumerate(page.split("\n"))) for number, page in enumerate(pages)]


def _numbered_lines(lines: Sequence[str]) -> set[int]:
    """Return the indices of the lines of a page that end with a line number; none if the page has no such numbers."""
    numbers = [(index, int(match[1])) for index, line in enumerate(lines) if (match := _NUMBERED.search(line))]
    # Lines whose number follows that of the line above, or is followed by that of the line below.
    consecutive = {index for (above, first), (below, second) in pairwise(numbers) if second == first + 1
                   for index in (above, below)}
    texts = [index for index, line in enumerate(lines) if _NUMBERED.sub("", line).strip()]
    has_most_lines = sum(index in consecutive for index in texts) >= _SHARE_NUMBERED * len(texts)
    return consecutive if len(consecutive) >= _FEWEST_NUMBERED and has_most_lines else set()
