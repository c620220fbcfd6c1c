"""Read PDF files: pypdf reads the text of all pages, and pdfplumber pages that may have tables or doubled letters."""

import logging
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from io import BytesIO
from itertools import groupby, pairwise
from typing import NamedTuple

from pypdf import PageObject, PasswordType, PdfReader
from pypdf.generic import DictionaryObject, IndirectObject

from ...text.hyphenation import join_broken_words
from ...text.titles import is_from_template, is_placeholder
from ..metadata import CREATED
from ..reading import Content, Limits, UnreadableError, list_counts

# It logs details of broken files, which would go to the terminal if nothing else handles them.
logging.getLogger("pypdf").addHandler(logging.NullHandler())

# What programs store instead of a title: a file's name, or nothing.
_NO_TITLE = re.compile(r"(.*\.(docx?|odt|rtf|tex|dvi|indd|qxd|pptx?|xlsx?|pdf|html?))?", re.IGNORECASE)
_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d)")
_MAX_TITLE = 300
_FEWEST_LINES, _MOST_LINES = 3, 20_000
"""The fewest lines and rectangles of a page with a ruled table, and the most of a page that is no drawing."""
_COST_OF_LINE = 5
"""The number of characters that take as long to read as one line."""
_IMAGE = re.compile(rb"\bDo\b|\bBI\b")
"""The operators that paint a picture, or a form that may contain one."""
_LISTED = 10
_TABLES_FROM = 1_500_000
"""The budget, in characters with lines converted to characters, of pages checked for tables: about a minute."""
_UNSAID = frozenset({"/Popup", "/Link"})
"""Kinds of annotations that are no comments: their contents repeat those of others, or describe a link."""
_LONGEST_CHAIN = 20
_TEXT_FIELDS = frozenset({"/Tx", "/Ch"})
_PASSWORD_FLAG = 1 << 13
_LINE = re.compile(rb"(?<!\S)(?:re|l)(?!\S)")
"""The operators that draw a rectangle and a straight line."""
_FEWEST = 20
"""The fewest characters that are judged."""
_UNUSABLE, _RARE = 0.05, 0.4  # the largest shares of characters that no text has, and of rare letters
_FEWEST_LETTERS, _FEWEST_DIFFERENT, _FEWEST_FREQUENT = 200, 12, 0.25
_FREQUENT = frozenset("etaoinsrETAOINSR")
"""Letters that make up more than half of a text in most languages, and a third of random letters."""
_MOST_SINGLE, _SHORTEST_REPEATED = 6, 4  # lines of one letter in a row, and letters of half a line, that are suspicious
_NUMBERED = re.compile(r"(?<!\S)(\d{1,5})\s*$")
_FEWEST_PAGES = 2
_FEWEST_NUMBERED = 15
"""The fewest numbered lines of a page with line numbers; fewer may be rows of a table."""
_SHARE = 0.8
"""The smallest share of numbered lines among the lines with text, on a page with line numbers."""


def read_pdf(data: bytes, limits: Limits) -> Content:
    """Read the text of a PDF file.

    Args:
        data: the file's bytes.
        limits: the largest size of the text.

    Returns:
        The text of its pages with a form feed between them. Ruled tables are written as rows, and filled-in fields and
        comments follow the text of their page. Pages that are pictures, or whose fonts do not say which letters they
        show, are read by text recognition if that is available. The title is the one in the file's metadata, or an
        empty string.

    Raises:
        UnreadableError: the file is broken, protected by a password, too large as text, or contains only pictures.
    """
    try:
        reader = PdfReader(BytesIO(data))
        locked = reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED
        pages = [] if locked else _pages(reader, limits)
        info = None if locked else reader.metadata
        attached = 0 if locked else len(reader.attachments)
        title = _title((info and info.title) or "", "\n".join(page.text for page in pages))
        created = _DATE.match(str(info and info.creation_date_raw))
        about = {"author": info and info.author, CREATED: created and "-".join(created.groups()),
                 "subject": info and info.subject}
    except UnreadableError:
        raise
    except Exception as error:  # pypdf can raise anything on a broken structure
        raise UnreadableError(f"a broken PDF file ({error}): print it to a new PDF") from error
    if locked:
        raise UnreadableError("protected by a password: save it without one")
    doubled, tableless = dict[int, str](), dict[int, str]()
    pages, unread = _with_recognised(data, _with_single_letters(data, pages, doubled), limits)
    if not any(page.text.strip() or page.notes for page in pages):
        raise UnreadableError(unread or "no text in it: remove it")
    texts = join_broken_words(drop_line_numbers(_with_tables(data, pages, title, tableless)))
    if sum(map(len, texts)) > limits.file_bytes:
        raise UnreadableError(f"its tables have more text than {limits.size()}: split it")
    texts = [f"{text.rstrip()}\n\n{page.notes}" if page.notes else text
             for text, page in zip(texts, pages, strict=True)]
    pictures = frozenset[int]().union(*(page.pictures for page in pages))
    omitted = (list_counts({"picture": len(pictures), "attached file": attached}), _explain("tables", tableless),
               _explain("letters that are drawn twice", doubled))
    return Content("\f".join(text.replace("\f", "\n") for text in texts), title, about, paged=True, unread=unread,
                   omitted=", ".join(filter(None, omitted)))


def _explain(things: str, broken: Mapping[int, str]) -> str:
    """Return a note on things that could not be read on broken pages, such as "tables"; "" if there are none."""
    if not broken:
        return ""
    return f"{things} of broken pages ({_list_pages(sorted(broken))}: {next(iter(broken.values()))})"


def _title(written: str, text: str) -> str:
    """Return a stored title, or "" if it is too long, what a program stores by itself, or not of this text."""
    title = written.strip()
    is_no_title = (len(title) > _MAX_TITLE or _NO_TITLE.fullmatch(title) or is_placeholder(title)
                   or is_from_template(title, text))
    return "" if is_no_title else title


class _Page(NamedTuple):
    """A page as pypdf reads it."""

    text: str
    id: int
    """The object number of the page in the file; 0 if it has none."""
    lines: int
    """The number of lines and rectangles that it draws."""
    may_have_tables: bool
    has_pictures: bool
    pictures: frozenset[int]
    """Keys of the pictures whose text is not read."""
    notes: str
    """The filled-in fields and the comments on the page."""


def _with_single_letters(data: bytes, pages: list[_Page], broken: dict[int, str]) -> list[_Page]:
    """Return the pages, without the second copy of letters on pages that draw letters twice in one place."""
    doubled = {page.id: number for number, page in enumerate(pages) if page.id and is_doubled(page.text)}
    if not doubled:
        return pages
    layouts = import_module(".pdf_tables", __package__)
    texts = dict(layouts.read_single_letters(data, doubled, broken))
    return [page._replace(text=texts.get(page.id, page.text)) for page in pages]


def _with_recognised(data: bytes, pages: list[_Page], limits: Limits) -> tuple[list[_Page], str]:
    """Return the pages with the recognised text of those that are only pictures or have broken fonts."""
    broken = {number for number, page in enumerate(pages) if is_gibberish(page.text)}
    pages = [page._replace(text="") if number in broken else page for number, page in enumerate(pages)]
    # The first page number of each page object; a page without an object number is known by its own number.
    wanted = {(page.id or -number): number for number, page in reversed(list(enumerate(pages)))
              if number in broken or (page.has_pictures and not page.text.strip())}
    if not wanted:
        return pages, ""
    numbers = set(wanted.values())
    pages = [page._replace(pictures=frozenset()) if number in numbers else page for number, page in enumerate(pages)]
    scans = import_module(".scans", __package__)
    if scans.can_recognise(limits):
        texts = scans.read_pages(data, sorted(numbers))
        text_of = {page_id: texts[number] for page_id, number in wanted.items()}
        return [page._replace(text=text_of.get(page.id or -number, page.text)) for number, page in enumerate(pages)], ""
    scanned = sorted(numbers - broken)
    notes = [*([f"pages that are only pictures were not read ({_list_pages(scanned)})"] if scanned else []),
             *([f"pages whose font does not tell its letters were not read ({_list_pages(sorted(broken))})"] if broken
               else [])]
    fix = "set BANYAN_OCR=auto" if limits.ocr == "off" else scans.NOT_INSTALLED
    return pages, f"{'; '.join(notes)}: {fix}, or run text recognition (OCR) on it"


def _list_pages(numbers: list[int]) -> str:
    return ", ".join(str(number + 1) for number in numbers[:_LISTED]) + (" and more" if len(numbers) > _LISTED else "")


def _with_tables(data: bytes, pages: list[_Page], title: str, broken: dict[int, str]) -> list[str]:
    """Return the text of each page, with its tables as rows, which are found until a budget of time is used up."""
    wanted: dict[int, tuple[int, str]] = {}
    budget = _TABLES_FROM
    for number, page in enumerate(pages):
        if page.may_have_tables and page.id not in wanted:
            budget -= len(page.text) + _COST_OF_LINE * page.lines
            if budget < 0:
                break
            wanted[page.id] = (number, page.text)
    if not wanted:
        return [page.text for page in pages]
    # Imported here, because the libraries take a while to import, and most files do not need them.
    tables = import_module(".pdf_tables", __package__)
    texts_of = dict(tables.read_tables(data, wanted, title, broken))
    first_number = {page_id: number for page_id, (number, _) in wanted.items()}
    return [texts_of.get(first_number.get(page.id, -1), page.text) for page in pages]


def _pages(reader: PdfReader, limits: Limits) -> list[_Page]:
    """Read all pages. Each page object is read once, because a small file can show the same one a million times."""
    pages: list[_Page] = []
    pages_by_object: dict[object, _Page] = {}
    remaining = limits.file_bytes
    for number, page in enumerate(reader.pages, 1):
        reference = page.indirect_reference
        key = (reference.idnum, reference.generation) if reference else number
        if key not in pages_by_object:
            pages_by_object[key] = _page(page, reference.idnum if reference else 0)
        pages.append(pages_by_object[key])
        remaining -= len(pages[-1].text)
        if remaining < 0:
            raise UnreadableError(f"its first {number} pages have more text than {limits.size()}: split it")
    return pages


def _page(page: PageObject, page_id: int) -> _Page:
    """Read one page; `page_id` is its object number in the file, or 0."""
    text, contents = page.extract_text(), page.get_contents()
    drawing = contents.get_data() if contents is not None else b""
    lines = count_lines(drawing)
    may_have_tables = bool(page_id) and _FEWEST_LINES <= lines <= _MOST_LINES
    return _Page(text, page_id, lines, may_have_tables, _IMAGE.search(drawing) is not None, find_pictures(page),
                 page_notes(page))


def page_notes(page: PageObject) -> str:
    """Return the filled-in fields and the comments on a page, one on each line."""
    annotations = (entry.get_object() for entry in page.get("/Annots") or ())
    lines = (_field(annotation) if annotation.get("/Subtype") == "/Widget" else _comment(annotation)
             for annotation in annotations if isinstance(annotation, DictionaryObject))
    return "\n".join(dict.fromkeys(filter(None, lines)))


def find_pictures(page: PageObject) -> frozenset[int]:
    """Return a key for each picture that a page can show; a picture on several pages has the same key."""
    return frozenset(_pictures(page))


def _pictures(page: PageObject) -> Iterator[int]:
    """Yield the object numbers of a page's pictures; see `find_pictures`."""
    resources = page.get("/Resources")
    external_objects = resources.get_object().get("/XObject") if resources is not None else None
    for entry in external_objects.get_object().values() if external_objects is not None else ():
        drawing = entry.get_object()
        if isinstance(drawing, DictionaryObject) and drawing.get("/Subtype") == "/Image":
            yield entry.idnum if isinstance(entry, IndirectObject) else id(drawing)


def _comment(annotation: DictionaryObject) -> str:
    """Return a comment with its author, or "" if the annotation is none."""
    text = _words(annotation.get("/Contents"))
    author = _words(annotation.get("/T"))
    if not text or annotation.get("/Subtype") in _UNSAID:
        return ""
    return f"Comment{f' by {author}' if author else ''}: {text}"


def _field(annotation: DictionaryObject) -> str:
    """Return a filled-in text field as "name: value"; "" for other fields, empty ones and passwords."""
    chain = list(_ancestors(annotation))
    kind, value, flags = (next((part[key] for part in chain if key in part), None) for key in ("/FT", "/V", "/Ff"))
    name = next(filter(None, (_words(part.get("/TU") or part.get("/T")) for part in chain)), "")
    is_password = isinstance(flags, int) and bool(flags & _PASSWORD_FLAG)
    is_text = str(kind) in _TEXT_FIELDS and not is_password
    return f"{name}: {_words(value)}" if is_text and name and _words(value) else ""


def _ancestors(annotation: DictionaryObject) -> Iterator[DictionaryObject]:
    """Yield a field, its parent, its parent's parent and so on, up to a limit, because broken files have cycles."""
    part: object = annotation
    for _ in range(_LONGEST_CHAIN):
        if not isinstance(part, DictionaryObject):
            return
        yield part
        part = part["/Parent"].get_object() if "/Parent" in part else None


def _words(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def count_lines(drawing: bytes) -> int:
    """Return how many straight lines and rectangles the content of a page draws, except in its pictures."""
    return len(_LINE.findall(drawing))


def is_gibberish(text: str) -> bool:
    """Return True if a page's text is in no language, because its font maps letters wrongly to Unicode.

    Such a text has control or private characters, or many letters that are rare in every language. Or it consists of
    Latin letters, and has only few of those that are frequent in most languages.
    """
    characters = [character for character in text if not character.isspace()]
    if len(characters) < _FEWEST:
        return False
    if sum(map(_is_unusable, characters)) > _UNUSABLE * len(characters):
        return True
    letters = list(filter(str.isalpha, characters))
    if sum(map(_is_rare, letters)) > _RARE * len(characters):
        return True
    latin = list(filter(str.isascii, letters))
    return (len(latin) >= max(_FEWEST_LETTERS, len(characters) / 2) and len(set(latin)) >= _FEWEST_DIFFERENT
            and sum(letter in _FREQUENT for letter in latin) < _FEWEST_FREQUENT * len(latin))


def is_doubled(text: str) -> bool:
    """Return True if a page may draw letters twice, as a substitute for a bold font.

    Such a text has many lines of a single letter in a row, or a line that repeats each letter or its first half.
    """
    lines = [line.strip() for line in text.split("\n")]
    runs = groupby(lines, lambda line: len(line) <= 1)
    longest_run = max((sum(1 for _ in run) for is_single, run in runs if is_single), default=0)
    return longest_run >= _MOST_SINGLE or any(map(_is_repeated, lines))


def _is_unusable(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Co", "Cn", "Cs"} or character == "\ufffd"


def _is_rare(letter: str) -> bool:
    """Return True for letters of Latin Extended-A and -B, and of the rare Chinese of Extension A."""
    return "\u0100" <= letter <= "\u024f" or "\u3400" <= letter <= "\u4dbf"


def _is_repeated(line: str) -> bool:
    """Return True if a line has its first half twice, or each letter twice; short lines and dots do not count."""
    letters = "".join(line.split())
    first_half, second_half = letters[:len(letters) // 2], letters[len(letters) // 2:]
    is_short = len(first_half) < _SHORTEST_REPEATED
    has_words = len(set(letters)) >= _SHORTEST_REPEATED and any(map(str.isalpha, letters))
    return not is_short and has_words and (first_half == second_half or letters[::2] == letters[1::2])


def drop_line_numbers(pages: Sequence[str]) -> list[str]:
    """Return the pages without the numbers at the ends of their lines, which would be read as words.

    They are taken for line numbers if at least two pages have them at nearly all lines, each one more than the last.
    Other pages of the file stay as they are.
    """
    numbered = {number: lines for number, page in enumerate(pages) if (lines := _numbered_lines(page.split("\n")))}
    if len(numbered) < _FEWEST_PAGES:
        return list(pages)
    return [_without_numbers(page.split("\n"), numbered[number]) if number in numbered else page
            for number, page in enumerate(pages)]


def _numbered_lines(lines: Sequence[str]) -> frozenset[int]:
    """Return the indices of the lines of a page that end with a line number; none if the page has no such numbers."""
    numbers = [(index, int(match[1])) for index, line in enumerate(lines) if (match := _NUMBERED.search(line))]
    # Lines whose number follows that of the line above, or is followed by that of the line below.
    consecutive = {index for (above, first), (below, second) in pairwise(numbers) if second == first + 1
                   for index in (above, below)}
    texts = [index for index, line in enumerate(lines) if _NUMBERED.sub("", line).strip()]
    has_most_lines = sum(index in consecutive for index in texts) >= _SHARE * len(texts)
    return frozenset(consecutive if len(consecutive) >= _FEWEST_NUMBERED and has_most_lines else ())


def _without_numbers(lines: Sequence[str], numbered: frozenset[int]) -> str:
    """Return the text of a page without the numbers at the ends of some lines."""
    return "\n".join(_NUMBERED.sub("", line).rstrip() if index in numbered else line
                     for index, line in enumerate(lines))
