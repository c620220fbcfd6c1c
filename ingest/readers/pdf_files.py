"""Read PDF files with PDFium: the text of all pages in the order of drawing, with tables as rows, also over pages."""

import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from importlib import import_module
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

import pypdfium2

from ...text.cleaning import broken_word_joiner
from ...text.scripts import has_han
from ...text.section_lines import is_back_matter, is_from_template, is_placeholder
from ..grids import header_depth, is_single, read_grid, row_contents
from ..metadata import CREATED
from ..reading import Content, Limits, UnreadableError, list_counts
from ..source_tables import TableLine, change_collected
from ..table_lines import has_header, names_values, table_lines
from .archives import PASSWORD
from .page_tables import CAPTION, NEAR, FoundTable, caption_below, find_caption, find_open, find_ruled
from .pdf_pages import DrawnPage, TextLine, flow_lines, line_text, mask_numbers, read_page

# What programs store instead of a title: a file's name, nothing, or the codes of a journal and an archive.
_NO_TITLE = re.compile(r"(.*\.(docx?|odt|rtf|tex|dvi|indd|qxd|pptx?|xlsx?|pdf|html?))?|(?:doi|pii|arxiv)\b.*|\S*\d\S*|"
                       r".*\b\d{1,5}\s?[:(]\s?\d.*|.*\d\.\.\d+|.{1,3}", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z]{1,10}(?:\s[^<>]{0,100})?/?>", re.IGNORECASE)
_NO_PAPER = re.compile(r"journal|issn|vol(?:ume|\.)|www\.|https?:|contents|©|copyright|open access|doi", re.IGNORECASE)
_FEWEST_WORDS, _FEWEST_HAN = 3, 6  # of a title in large letters; a shorter line may be the name of the journal
_MOST_LINES = 3  # of a heading; more are a paragraph in another font
_MARGIN = 0.12  # the part of a page's height at the top and at the bottom in which its running heads are
_FEWEST_REPEATED = 3  # pages with the same line in the margin, apart from numbers
_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d)")
_LONGEST_TITLE, _MOST_LISTED = 300, 10  # characters of a title, and unread pages that a message names
_FEWEST_CHARACTERS = 20  # of a page's text; fewer do not show whether it is in a language
_UNUSABLE, _RARE = 0.05, 0.4  # the largest shares of characters that no text has, and of rare letters
_RARE_LETTERS = re.compile("[\u0100-\u024f\u3400-\u4dbf]")  # Latin Extended-A and -B, rare Chinese
_WORD = re.compile(r"[^\W\d_]{4,}")
_PAGE_BREAK = "\f"
_CONTINUED = re.compile(r"\bcont(?:inued|\.|’d|'d)|续|suite|Fortsetzung", re.IGNORECASE)
_SENTENCE_END = (".", "!", "?", "。", "！", "？", ";", "；", ",", "，", ":", "：")
_LONGEST_HEADING, _FEWEST_LETTERS = 100, 2
_LARGER = 1.15  # the size of a heading's font as a multiple of the usual one
_LINES_ABOVE = 2.5  # the largest distance between a table and its name as a multiple of the name's font size
Layout = list[list[TextLine] | FoundTable]  # the blocks of a page in reading order: a table, or lines of text
Style = tuple[str, float]  # the font and the size of letters


def read_pdf(data: bytes, limits: Limits) -> Content:
    """Read the text of a PDF file, with a form feed between its pages, and tables as rows.

    Heads and feet that pages repeat stand once. Pages that are pictures, or whose fonts do not say which letters they
    show, are recognised. Without a stored title, it is in the largest letters of the first page.
    """
    pages, stored, attached = _read_pages(data, limits)
    layouts = [_lay_out(page) for page in pages]
    heads, usual = _take_heads(layouts, pages), _usual_font(pages)
    plain_texts = ["\n".join(map(line_text, flow_lines(page.words))) for page in pages]
    title = " ".join(_TAG.sub("", stored.get("Title", "")).split())
    is_of_program = _NO_TITLE.fullmatch(title) is not None or is_placeholder(title)
    is_of_other_text = is_from_template(title, "\n".join(plain_texts))
    if len(title) > _LONGEST_TITLE or is_of_program or is_of_other_text:
        title = _largest_text(layouts[0], pages[0].height, usual[1], heads)
    recognised, unread = _recognise(data, pages, plain_texts, limits)
    texts = _write_pages(layouts, _write_tables(layouts, title, usual), usual)
    texts = [recognised.get(number, text) for number, text in enumerate(texts)]
    if not any(text.strip() for text in texts) and not heads and not any(page.notes for page in pages):
        # Not `EMPTY`, by which stored text is deleted: pages show nothing where a file is damaged, too.
        raise UnreadableError(unread or "no text on its pages: print it to a new PDF, or remove it")
    join = broken_word_joiner(texts)  # the words of all pages tell which hyphens at line ends stay
    change_collected(join)
    texts = list(map(join, texts))
    if sum(map(len, texts)) > limits.file_bytes:
        raise UnreadableError(f"its tables have more text than {limits.size()}: split it")
    for text, number in heads.items():
        texts[number] += f"\n\n{text}"
    texts = [f"{text.rstrip()}\n\n{page.notes}" if page.notes else text
             for text, page in zip(texts, pages, strict=True)]
    created = _DATE.match(stored.get("CreationDate", ""))
    about = {"author": stored.get("Author"), CREATED: created and "-".join(created.groups()),
             "subject": stored.get("Subject")}
    shown = [page for number, page in enumerate(pages) if number not in recognised]  # of others, the pictures are read
    omitted = {"picture": len(frozenset().union(*(page.pictures for page in shown))), "attached file": attached,
               "unreadable sign": sum(page.unknown for page in shown)}
    return Content("\f".join(text.replace("\f", "\n") for text in texts), title, about, paged=True, unread=unread,
                   omitted=list_counts(omitted))


def _read_pages(data: bytes, limits: Limits) -> tuple[list[DrawnPage], dict[str, str], int]:
    """Return what is on the pages of a file, at least one, the fields that it stores, and the number of attachments."""
    pages: list[DrawnPage] = []
    room = limits.file_bytes
    try:
        with pypdfium2.PdfDocument(data) as file:
            file.init_forms()
            for page in file:
                pages.append(read_page(page))
                page.close()
                room -= sum(len(word.text) + 1 for word in pages[-1].words)
                if room < 0:
                    raise UnreadableError(f"its first {len(pages)} pages have more text than {limits.size()}: split it")
            stored, attached = file.get_metadata_dict(), file.count_attachments()
    except pypdfium2.PdfiumError as error:
        raise UnreadableError(PASSWORD if "password" in str(error).lower() else
                              f"a broken PDF file ({error}): print it to a new PDF") from error
    if not pages:
        raise UnreadableError("no pages in it: remove it")
    return pages, stored, attached


def _take_heads(layouts: Sequence[Layout], pages: Sequence[DrawnPage]) -> dict[str, int]:
    """Take the heads and feet that at least three pages repeat out of the layouts; numbers in them may differ."""
    # Each is returned with the number of the last page that has it.
    in_margins: dict[str, list[tuple[int, TextLine]]] = {}
    for number, (layout, page) in enumerate(zip(layouts, pages, strict=True)):
        for line in _lines_of(layout):
            top, bottom = line.box.top / page.height, line.box.bottom / page.height
            is_marginal = bottom < _MARGIN or top > 1 - _MARGIN or not line[0].upright  # turned: at the side
            if is_marginal and not CAPTION.match(line_text(line)):
                in_margins.setdefault(mask_numbers(line), []).append((number, line))
    heads: dict[str, int] = {}
    taken = set[int]()
    for masked, places in in_margins.items():
        if len({number for number, _ in places}) >= _FEWEST_REPEATED:
            taken |= {id(line) for _, line in places}
            last_page, line = places[-1]
            if masked not in {"#", ""}:  # page numbers are no text
                heads[line_text(line)] = last_page
    for block in chain(*layouts):
        if not isinstance(block, FoundTable):
            block[:] = [line for line in block if id(line) not in taken]
    return heads


def _write_pages(layouts: Sequence[Layout], tables: dict[int, str], usual: Style) -> list[str]:
    """Return the texts of the pages: lines, tables between blank lines, and headings as in Markdown."""
    def style_and_back(line: TextLine) -> tuple[Style | None, bool]:
        """Return a line's style, and True if it is a heading of references or the like, which may look like text."""
        name = line_text(line)
        return _line_style(line), is_back_matter(name) and not name[:1].islower() and not name.endswith(".")

    pages: list[str] = []
    back_style: Style | None = None  # of the heading of references or the like above
    for layout in layouts:
        blocks: list[str] = []
        for block in layout:
            if isinstance(block, FoundTable):
                blocks.append(tables[id(block)])
                continue
            lines: list[str] = []
            for (style, is_back), group in groupby(block, style_and_back):
                texts = [line_text(line) for line in group]
                name = " ".join(texts)
                # Below such a heading, names in a list are set in other fonts, too, so a heading needs the same style.
                may_be_heading = len(texts) <= _MOST_LINES and back_style in {None, style} and not CAPTION.match(name)
                if is_back or (may_be_heading and _is_heading(name, style, usual)):
                    back_style = style if is_back else None
                    blocks += ["\n".join(lines), f"## {name}"]
                    lines = []
                else:
                    lines += texts
            blocks.append("\n".join(lines))
        pages.append("\n\n".join(filter(None, blocks)))
    return pages


def _largest_text(layout: Layout, height: float, usual_size: float, heads: Container[str]) -> str:
    """Return the text in the largest letters on the upper half of a page that may be a title and is no head, or ""."""
    titles = [(0.0, "")]  # each with the size of its letters
    lines = [line for line in _lines_of(layout) if line[0].upright and line.box.top < height / 2]
    # The size of a line is that of its longest word.
    for size, group in groupby(lines, lambda line: round(max(line, key=lambda word: len(word.text)).size)):
        text = " ".join(map(line_text, sorted(group, key=lambda line: line.box.top)))
        is_long = len(text) >= _FEWEST_HAN if has_han(text) else len(text.split()) >= _FEWEST_WORDS
        is_of_journal = _NO_PAPER.search(text) is not None or text in heads
        is_large = size >= _LARGER * usual_size
        if is_long and is_large and len(text) <= _LONGEST_TITLE and not is_of_journal and not _is_gibberish(text):
            titles.append((size, text))
    return max(titles, key=itemgetter(0))[1]


def _recognise(data: bytes, pages: Sequence[DrawnPage], plain_texts: Sequence[str],
               limits: Limits) -> tuple[dict[int, str], str]:
    """Return the text of the pages that are only pictures or have broken fonts by number, and what was not read."""
    broken = {number for number, text in enumerate(plain_texts) if _is_gibberish(text)}
    scanned = {number for number, (page, text) in enumerate(zip(pages, plain_texts, strict=True))
               if page.pictures and not text.strip()}
    recognised, unread = dict.fromkeys(broken, ""), broken | scanned  # "", so that gibberish is never read
    fix = "set BANYAN_OCR=auto, or recognise their text with another program"
    if limits.ocr == "auto" and unread:
        scans = import_module(".scans", __package__)  # imported here, because most files do not need it
        texts = dict(scans.read_pages(data, sorted(unread)))
        recognised |= {number: text for number, text in texts.items() if text is not None}
        unread = {number for number, text in texts.items() if text is None}
        fix = f"they are in {scans.UNKNOWN_SCRIPT}, or too many: recognise their text with another program, or split it"
    if not unread:
        return recognised, ""
    listed = ", ".join(str(number + 1) for number in sorted(unread)[:_MOST_LISTED])
    return recognised, ("pages that are pictures, or whose font names no letters, were not read "
                        f"({listed}{' and more' if len(unread) > _MOST_LISTED else ''}): {fix}")


def _is_gibberish(text: str) -> bool:
    """Return True if a page's text is in no language, because its font maps letters wrongly to Unicode."""
    characters = "".join(text.split())
    if len(characters) < _FEWEST_CHARACTERS:
        return False
    unusable = sum(unicodedata.category(character) in {"Cc", "Co", "Cn", "Cs"} or character == "\ufffd"
                   for character in characters)
    # Letters that are mapped wrongly make words with capitals inside. Formulas, too, have characters that no text has,
    # but beside them are more readable words.
    readable = sum(len(word) for word in _WORD.findall(text) if word[1:] == word[1:].lower())
    has_rare_letters = len(_RARE_LETTERS.findall(characters)) > _RARE * len(characters)
    return unusable > max(_UNUSABLE * len(characters), readable) or has_rare_letters


class _Part(NamedTuple):
    """A table, or its part on one page, whose first `skipped` rows repeat those of the first part."""

    page: int
    table: FoundTable
    skipped: int = 0


def _lay_out(page: DrawnPage) -> Layout:
    """Return the lines and tables of a page in the order of its words; a table is at the place of its first word."""
    ruled = find_ruled(page)
    found = [*ruled, *find_open(page, [table.box for table in ruled])]
    inside = frozenset[int]().union(*(table.words for table in found))
    outside = [word for word in page.words if word.number not in inside]
    captions = [(find_caption(outside, table.box)[0], caption_below(outside, table.box)) for table in found]
    first = min(range(len(found)), key=lambda at: found[at].box.top, default=None)
    # If the first table has its caption below it, a caption above another one may be that of the table before.
    are_below = first is not None and not captions[first][0] and bool(captions[first][1])
    all_below = {below for _, below in captions}
    table_of: dict[int, FoundTable] = {}
    for plain, (above, below) in zip(found, captions, strict=True):
        caption = below if are_below and (below or above in all_below) else above or below
        table_of.update(dict.fromkeys(plain.words, plain._replace(caption=caption)))
    blocks: Layout = []
    placed = set[int]()
    for table, words in groupby(page.words, key=lambda word: table_of.get(word.number)):
        if table is None:
            blocks.append(flow_lines(list(words)))
        elif id(table) not in placed:
            placed.add(id(table))
            blocks.append(table)
    return blocks


def _lines_of(layout: Layout) -> list[TextLine]:
    """Return the lines of a page outside its tables."""
    return [*chain.from_iterable(block for block in layout if not isinstance(block, FoundTable))]


def _write_tables(layouts: Sequence[Layout], title: str, usual: Style) -> dict[int, str]:
    """Return the text of each table, or of its part on a page, by its `id`; all parts have the header of the first."""
    written: dict[int, str] = {}
    for parts in _join_parts(layouts):
        name = _find_name(layouts[parts[0].page], parts[0].table, usual) or title
        captions, header, rows = read_grid(parts[0].table.grid)
        for part in parts[1:]:
            further = row_contents(part.table.grid[part.skipped:])
            above, below = rows[-1], next(iter(further), TableLine(""))
            # A row without a name is the end of one that the page divides.
            if not isinstance(above, TableLine) and not isinstance(below, TableLine) and not below[0]:
                rows[-1] = [f"{cell} {more}".strip() for cell, more in zip(above, below, strict=True)]
                further.pop(0)
            rows += [TableLine(_PAGE_BREAK), *further]
        text = "\n".join([*captions, *table_lines(header, rows, next(reversed(captions), name))])
        for part, part_text in zip(parts, text.split(_PAGE_BREAK), strict=True):
            written[id(part.table)] = part_text.strip("\n")
    return written


def _join_parts(layouts: Sequence[Layout]) -> list[list[_Part]]:
    """Return the tables of all pages, each as the list of its parts on consecutive pages."""
    chains: list[list[_Part]] = []
    above: list[_Part] = []  # the parts of the lowest table on the page before, which the first one may continue
    for page, layout in enumerate(layouts):
        lowest: list[_Part] = []
        tables = [block for block in layout if isinstance(block, FoundTable)]
        for table in sorted(tables, key=lambda table: (table.box.top, table.box.x0)):
            repeated = _repeated_rows(layouts[page - 1], above, layout, table) if above else None
            parts = above if repeated is not None else []
            if repeated is None:
                chains.append(parts)
            parts.append(_Part(page, table, repeated or 0))
            if not lowest or table.box.bottom > lowest[-1].table.box.bottom:
                lowest = parts
            above = []  # only the first table of a page continues one
        above = lowest
    return chains


def _repeated_rows(page_before: Layout, parts_before: list[_Part], layout: Layout, table: FoundTable) -> int | None:
    """Return how many rows a table repeats of one on the page before that it continues; None if it continues none."""
    above, first = parts_before[-1].table, parts_before[0].table
    if len(above.edges) != len(table.edges):
        return None
    if _CONTINUED.search(table.caption):  # it says so, whatever stands between the two
        return sum(all(cell.is_header for cell in row) for row in table.grid)
    has_same_columns = all(abs(edge - other) <= NEAR for edge, other in zip(above.edges, table.edges, strict=True))
    lines_after = [line for line in _lines_of(page_before) if line.box.top >= above.box.bottom]
    lines_before = [line for line in _lines_of(layout) if line.box.bottom <= table.box.top]
    # Only the foot of one page and the head of the next may stand between the two, as they do on the other page.
    if not has_same_columns or not _is_margin(lines_after, layout) or not _is_margin(lines_before, page_before):
        return None
    captions = next(at for at, row in enumerate(first.grid) if not is_single(row))
    head = captions + header_depth(first.grid[captions:])
    if captions < head and table.grid[:head] == first.grid[:head]:
        return head
    # A table with a caption of its own, or with texts above the numbers in a column, is another one.
    names_numbers = any(map(names_values, zip(*table.grid, strict=True)))
    is_other_table = is_single(table.grid[0]) or (names_numbers and has_header(table.grid))
    return None if is_other_table else 0


def _is_margin(lines: list[TextLine], other: Layout) -> bool:
    """Return True if all lines are page numbers, or also stand on another page, with other numbers in them perhaps."""
    return set(map(mask_numbers, lines)) <= {"#", *map(mask_numbers, _lines_of(other))}


def _find_name(layout: Layout, table: FoundTable, usual: Style) -> str:
    """Return the name of a table: the caption or heading in the line right above it, or ""."""
    if table.caption:
        words = CAPTION.sub("", table.caption, count=1)  # without "Table 3:"
        return words.rstrip("".join(_SENTENCE_END))[:2 * _LONGEST_HEADING]  # it may explain the table, too
    above = [line for line in _lines_of(layout)
             if 0 <= table.box.top - line.box.bottom <= _LINES_ABOVE * line.size
             and line.box.x0 < table.box.x1 and line.box.x1 > table.box.x0]
    if not above:
        return ""
    line = max(above, key=lambda line: line.box.bottom)
    text = line_text(line)
    return text if _is_heading(text, _line_style(line), usual) else ""


def _usual_font(pages: Iterable[DrawnPage]) -> Style:
    """Return the font and the size of most letters of a file."""
    letters = Counter[Style]()
    for page in pages:
        for word in page.words:
            letters[word.font, round(word.size, 1)] += len(word.text)
    return max(letters, key=lambda font: (letters[font], font), default=("", 1.0))


def _line_style(line: TextLine) -> Style | None:
    """Return the font and size of all words of a line; None if they differ."""
    styles = {(word.font, round(word.size, 1)) for word in line}
    return styles.pop() if len(styles) == 1 else None


def _is_heading(text: str, style: Style | None, usual: Style) -> bool:
    """Return True for a short text in a bold or larger font than most of the document."""
    if style is None:
        return False
    (font, size), (usual_font, usual_size) = style, usual
    is_set_apart = size > _LARGER * usual_size or (font != usual_font and size >= usual_size)
    return (is_set_apart and len(text) <= _LONGEST_HEADING and sum(map(str.isalpha, text)) >= _FEWEST_LETTERS
            and not text[0].islower() and not text.endswith((*_SENTENCE_END, "-")))
