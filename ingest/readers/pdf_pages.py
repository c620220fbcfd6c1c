"""Read what PDFium finds on a page: words with their places and fonts, straight lines, pictures, comments, fields."""

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from ctypes import addressof, c_double, c_float, c_int, create_string_buffer
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

from ...text.cleaning import one_line
from ...text.scripts import CJK
from ..reading import END, RAISED, write_raised

_ABOVE, _BELOW = 0.75, 0.25  # how far a line of text reaches above and below its baseline, as shares of its size
CJK_LETTER = re.compile(f"[{CJK}\u3000-\u303f\uff00-\uff65]")
_CJK_GAP = 0.4  # the narrowest space between CJK letters, and beside raised and lowered ones, as a share of the size
_COLUMN_GAP = 1.0  # a gap of this share of the size divides words even if PDFium sees no space
_SAME_LINE = 0.4  # the smallest share of the lower of two words' heights in which words of a line overlap
_RAISED, _RAISED_SIZE = 0.15, 0.9  # how far a raised figure is above the baseline, and its largest relative size
_COPY = 0.1  # the largest distance of the second copy of a letter as a share of the size
_THIN = 2.5  # the largest thickness in points of a rectangle that is a line
_MOST_PATHS = 20_000  # the most drawn lines and shapes of a page that is no drawing
_SMALLEST_PICTURE = 20  # points; smaller pictures are marks of lists and parts of rules
_CELL_GAP = 0.6  # the narrowest space between cells as a share of the size
_LINE_END_HYPHEN = "\x02"  # what PDFium gives for a hyphen at the end of a line
_SYMBOL_FONT = {0xF000 + code: sign for codes, signs in (
    (range(0x41, 0x5B), "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"), (range(0x61, 0x7B), "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"),
    (b"\x2d\xa2\xa3\xa4\xab\xac\xae\xb0\xb1\xb3\xb4\xb5\xb7\xb9\xbb\xd7", "−′≤⁄↔←→°±≥×∝•≠≈⋅"))
    for code, sign in zip(codes, signs, strict=True)}
"""The codes of the font "Symbol", which many files give in place of letters, with the letters that they show."""
_ACCENTS = dict(zip("´`¨˜ˆˇ˚¸", "\u0301\u0300\u0308\u0303\u0302\u030c\u030a\u0327", strict=True))
"""Accents that LaTeX draws apart from their letters, with the characters that Unicode puts behind these."""
_NEAREST, _SPACE = 20, 0.15  # letters between an accent and its letter, and the width of a space beside it
_UNKNOWN = "\ufffd"
_PASSWORD_FIELD = 1 << 13
_NOT_SHOWN = frozenset({pdfium.FPDF_ANNOT_POPUP, pdfium.FPDF_ANNOT_LINK})
_FIELDS = frozenset({pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX})


class Box(NamedTuple):
    """A rectangle in points; y grows downwards."""

    x0: float
    top: float
    x1: float
    bottom: float

    @property
    def center(self) -> tuple[float, float]:
        """The middle."""
        return (self.x0 + self.x1) / 2, (self.top + self.bottom) / 2


class PageWord(NamedTuple):
    """A word of a page, with the size and font of its first letter; `number` is its place in the order of drawing."""

    number: int
    text: str
    box: Box
    size: float
    font: str
    upright: bool


class TextLine(list[PageWord]):
    """The words of a line, or of a part of one, from left to right."""

    @property
    def box(self) -> Box:
        """The place of the line, as high as its first word."""
        return self[0].box._replace(x1=self[-1].box.x1)

    @property
    def size(self) -> float:
        """The size of its first letter."""
        return self[0].size


class DrawnPage(NamedTuple):
    """What is on a page; `pictures` are keys, which are the same for a picture that many pages show in one place."""

    words: list[PageWord]
    lines: list[Box]  # straight lines and the sides of rectangles, as boxes without width or without height
    height: float
    pictures: frozenset[tuple[int, ...]]
    notes: str  # the filled-in fields and the comments
    unknown: int  # letters whose font does not tell what they are


@dataclass(slots=True)
class _Letter:
    text: str
    box: Box  # from the baseline's ascent to its descent
    baseline: float
    size: float
    font: str
    upright: bool
    follows_space: bool  # True if PDFium sees a space or a new line before it


def read_page(page: pypdfium2.PdfPage) -> DrawnPage:
    """Return the words, lines, pictures and notes of a page, upright as it is shown."""
    shown = _ShownPage(page)
    words = _join_letters(_join_accents(list(_read_letters(page.get_textpage(), shown))))
    lines, pictures, paths = list[Box](), set[tuple[int, ...]](), 0
    for drawn in page.get_objects():
        if drawn.type == pdfium.FPDF_PAGEOBJ_IMAGE:
            left, bottom, right, top = drawn.get_bounds()
            if min(right - left, top - bottom) >= _SMALLEST_PICTURE:
                pictures.add((*drawn.get_px_size(), *map(round, (left, bottom, right, top))))
        elif drawn.type == pdfium.FPDF_PAGEOBJ_PATH:
            paths += 1
            lines += _straight_lines(drawn, shown) if paths <= _MOST_PATHS else ()
    notes = "\n".join(dict.fromkeys(_read_notes(page)))
    return DrawnPage(words, lines if paths <= _MOST_PATHS else [], shown.height, frozenset(pictures), notes,
                     sum(word.text.count(_UNKNOWN) for word in words))


class _ShownPage:
    """Converts places in a page's file to those on the page as it is shown, which may be turned."""

    def __init__(self, page: pypdfium2.PdfPage) -> None:
        left, bottom, right, top = page.get_mediabox()
        degrees = page.get_rotation()
        self.height = top - bottom if degrees in {0, 180} else right - left
        self._radians = math.radians(degrees)
        # Each turns the page, and puts its corner at the top left in the place (0, 0).
        matrix = {0: (1, 0, 0, -1, -left, top), 90: (0, 1, 1, 0, -bottom, -left), 180: (-1, 0, 0, 1, right, -bottom),
                  270: (0, -1, -1, 0, top, right)}[degrees]
        self.point = pypdfium2.PdfMatrix(*matrix).on_point

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Return the place of a rectangle."""
        (x0, y0), (x1, y1) = self.point(left, bottom), self.point(right, top)
        return Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))

    def is_upright(self, radians: float) -> bool:
        """Return True if letters at an angle in the file are shown upright, give or take eight degrees."""
        return abs(math.cos(radians + self._radians) - 1) < 0.01  # noqa: PLR2004


def _read_letters(text: pypdfium2.PdfTextPage, shown: _ShownPage) -> Iterator[_Letter]:
    """Yield the letters of a page in the order of drawing."""
    places = left, right, bottom, top = tuple(c_double() for _ in range(4))  # which PDFium fills for each letter
    origin = x, y = c_double(), c_double()
    matrix, name, flags = pdfium.FS_MATRIX(), create_string_buffer(200), c_int()
    size, font, upright, last_piece, has_space = 1.0, "", True, 0, False
    for at in range(text.count_chars()):
        code = pdfium.FPDFText_GetUnicode(text, at)
        if 0xDC00 <= code < 0xE000:  # noqa: PLR2004 - the second half of a letter, such as an italic one of a formula
            continue
        if 0xD800 <= code < 0xDC00:  # noqa: PLR2004 - the first half
            code = 0x10000 + ((code - 0xD800) << 10) + pdfium.FPDFText_GetUnicode(text, at + 1) - 0xDC00
        character = "-" if code == ord(_LINE_END_HYPHEN) else _SYMBOL_FONT.get(code, chr(code))
        if character.isspace():
            has_space = True
            continue
        piece = pdfium.FPDFText_GetTextObject(text, at)
        if piece and addressof(piece.contents) != last_piece:  # all letters of a piece have the same font
            last_piece = addressof(piece.contents)
            pdfium.FPDFText_GetMatrix(text, at, matrix)
            size = pdfium.FPDFText_GetFontSize(text, at) * math.hypot(matrix.c, matrix.d) or 1.0
            length = pdfium.FPDFText_GetFontInfo(text, at, name, len(name), flags)
            font = name.raw[:max(0, min(length, len(name)) - 1)].decode(errors="replace")
            upright = shown.is_upright(pdfium.FPDFText_GetCharAngle(text, at))
        pdfium.FPDFText_GetCharBox(text, at, *places)
        pdfium.FPDFText_GetCharOrigin(text, at, *origin)
        ink = shown.box(left.value, bottom.value, right.value, top.value)
        baseline = shown.point(x.value, y.value)[1] if upright else ink.bottom
        box = Box(ink.x0, baseline - _ABOVE * size, ink.x1, baseline + _BELOW * size) if upright else ink
        if unicodedata.category(character) in {"Cc", "Co", "Cs", "Cn"}:  # a code of the font's own
            character = _UNKNOWN
        yield _Letter(character, box, baseline, size, font, upright, has_space)
        has_space = False


def _join_accents(letters: list[_Letter]) -> Iterator[_Letter]:
    """Yield letters, each with the accent that is drawn over or under it."""
    for at, accent in enumerate(letters):
        if accent.text not in _ACCENTS:
            continue
        accented, widest = accent, 0.0  # the letter that the accent shares most of its width with
        for letter in letters[max(0, at - _NEAREST):at + _NEAREST + 1]:
            shared = min(letter.box.x1, accent.box.x1) - max(letter.box.x0, accent.box.x0)
            is_level = abs(letter.baseline - accent.baseline) < accent.size / 2
            if letter.text.isalpha() and is_level and shared > widest:
                accented, widest = letter, shared
        # LaTeX draws an "i" without its dot below an accent.
        written = unicodedata.normalize("NFC", accented.text.replace("ı", "i") + _ACCENTS[accent.text])
        if accented is not accent and len(written) == 1:  # Unicode has the letter with the accent
            accented.text, accent.text = written, ""
    right, follows_accent = -math.inf, False  # of the letter before
    for letter in letters:
        if letter.text:
            if follows_accent:
                letter.follows_space = letter.box.x0 - right > _SPACE * letter.size
            right = letter.box.x1
            yield letter
        follows_accent = not letter.text


def _join_letters(letters: Iterable[_Letter]) -> list[PageWord]:
    """Return the letters as words, without the second copies that programs draw to make a text look bold."""
    words: list[list[_Letter]] = []
    lefts_of = dict[tuple[str, int], list[float]]()  # where the same letters stand on the same height
    before: Box | None = None
    has_space = False
    for letter in letters:
        has_space = has_space or letter.follows_space
        lefts = lefts_of.setdefault((letter.text, round(letter.baseline)), [])
        is_of_ligature = before == letter.box  # "ﬀ" is two letters in one place
        before = letter.box
        if not is_of_ligature and any(abs(letter.box.x0 - left) < _COPY * letter.size for left in lefts):
            continue
        lefts.append(letter.box.x0)
        last = words[-1][-1] if words else letter
        gap, size = letter.box.x0 - last.box.x1, max(last.size, letter.size)
        is_beside = -size < gap < _COLUMN_GAP * size and abs(letter.baseline - last.baseline) < size / 2
        # Turned letters are one word up to a space.
        goes_on = last.upright == letter.upright and (is_beside or not letter.upright)
        if has_space or not words or not goes_on:
            words.append([])
        words[-1].append(letter)
        has_space = False
    return [_make_word(number, word) for number, word in enumerate(words)]


def _make_word(number: int, letters: Sequence[_Letter]) -> PageWord:
    """Return letters as a word in which raised figures are marked."""
    text, is_raised, base = "", False, letters[0]  # the last letter that is not raised
    for letter in letters:
        rises = letter.size < _RAISED_SIZE * base.size and base.baseline - letter.baseline > _RAISED * base.size
        if rises != is_raised:
            text += RAISED if rises else END
        base, is_raised = base if rises else letter, rises
        text += letter.text
    left, right = min(letter.box.x0 for letter in letters), max(letter.box.x1 for letter in letters)
    box = Box(left, base.box.top, right, base.box.bottom) if base.upright else letters[0].box
    return PageWord(number, f"{text}{END}" if is_raised else text, box, base.size, base.font, base.upright)


def flow_lines(words: Sequence[PageWord]) -> list[TextLine]:
    """Return words as lines in the order in which the file draws them."""
    lines: list[TextLine] = []
    for word in words:
        before = lines[-1][-1] if lines else None
        if before is not None and is_level(before, word) and word.box.x0 >= before.box.x0:
            lines[-1].append(word)
        else:
            lines.append(TextLine([word]))
    return lines


def is_level(word: PageWord, other: PageWord) -> bool:
    """Return True if two words stand beside each other."""
    height = min(word.box.bottom - word.box.top, other.box.bottom - other.box.top)
    overlap = min(word.box.bottom, other.box.bottom) - max(word.box.top, other.box.top)
    return overlap > _SAME_LINE * height


def line_text(line: Sequence[PageWord]) -> str:
    """Return a line's words as text; justified Chinese letters have no spaces between them."""
    text = line[0].text
    for before, word in pairwise(line):
        gap = (word.box.x0 - before.box.x1) / max(word.size, 1.0)
        rise = before.box.bottom - word.box.bottom
        is_small = word.size < _RAISED_SIZE * before.size
        is_between_cjk = CJK_LETTER.match(before.text[-1]) and CJK_LETTER.match(word.text[0])
        if gap < _CJK_GAP and is_small and rise > _RAISED * before.size:
            text += f"{RAISED}{word.text}{END}"
        elif gap < _CJK_GAP and (is_between_cjk or (is_small and rise < 0) or word.text[0] in ".,;:)]"):
            text += word.text  # Chinese, a lowered figure ("H2O"), or a sign that ends words
        else:
            text += f" {word.text}"
    return write_raised(text)


def mask_numbers(line: Sequence[PageWord]) -> str:
    """Return a line's text with "#" for numbers, by which pages have the same running head; "#" is a page number."""
    return re.sub(r"\d+", "#", line_text(line)).strip(" -–—|.").casefold()


def rows_of(words: Iterable[PageWord]) -> list[TextLine]:
    """Return words as lines from top to bottom, whatever the order in which the file draws them."""
    rows: list[TextLine] = []
    for word in sorted(words, key=lambda word: (word.box.center[1], word.box.x0)):
        # Where lines beside each other have different heights, the word's line may not be the last one.
        if row := next((row for row in reversed(rows[-3:]) if is_level(row[0], word)), None):
            row.append(word)
        else:
            rows.append(TextLine([word]))
    return [TextLine(sorted(row, key=lambda word: word.box.x0)) for row in rows]


def parts_of(row: TextLine, gap: float = _CELL_GAP) -> list[TextLine]:
    """Return the parts of a line between spaces wider than `gap`, as a share of the font size."""
    parts: list[TextLine] = []
    for word in row:
        before = parts[-1][-1] if parts else word
        if not parts or word.box.x0 - before.box.x1 > gap * max(before.size, word.size):
            parts.append(TextLine())
        parts[-1].append(word)
    return parts


def _straight_lines(drawn: Any, shown: _ShownPage) -> Iterator[Box]:
    """Yield the horizontal and vertical lines of a drawn path; a thin rectangle is one line."""
    for piece in _path_corners(drawn):
        xs, ys = zip(*piece, strict=True)
        box = shown.box(min(xs), min(ys), max(xs), max(ys))
        if box.bottom - box.top <= _THIN:
            yield Box(box.x0, (box.top + box.bottom) / 2, box.x1, (box.top + box.bottom) / 2)
        elif box.x1 - box.x0 <= _THIN:
            yield Box((box.x0 + box.x1) / 2, box.top, (box.x0 + box.x1) / 2, box.bottom)
        else:
            for (x0, y0), (x1, y1) in pairwise(piece):
                if min(abs(x1 - x0), abs(y1 - y0)) <= _THIN / 10:  # level or upright
                    yield shown.box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def _path_corners(drawn: Any) -> Iterator[list[tuple[float, float]]]:
    """Yield the corners of each piece of a path in the page's places; pieces with curves are left out."""
    matrices, part = [], drawn
    while part is not None:  # a path may be in a form, which is placed on the page
        matrices.append(part.get_matrix())
        part = part.container
    pieces: list[list[tuple[float, float]]] = []
    curved = set[int]()
    x, y = c_float(), c_float()
    for at in range(pdfium.FPDFPath_CountSegments(drawn)):
        segment = pdfium.FPDFPath_GetPathSegment(drawn, at)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO or not pieces:
            pieces.append([])
        elif kind == pdfium.FPDF_SEGMENT_BEZIERTO:
            curved.add(len(pieces) - 1)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        place = x.value, y.value
        for matrix in matrices:
            place = matrix.on_point(*place)
        pieces[-1].append(place)
    yield from (piece for number, piece in enumerate(pieces) if len(piece) > 1 and number not in curved)


def _read_notes(page: pypdfium2.PdfPage) -> Iterator[str]:
    """Yield the filled-in text fields of a page as "name: value", and its comments; no passwords."""
    for at in range(pdfium.FPDFPage_GetAnnotCount(page)):
        note = pdfium.FPDFPage_GetAnnot(page, at)
        kind = pdfium.FPDFAnnot_GetSubtype(note)
        form = page.formenv  # None if the file has no form
        if kind == pdfium.FPDF_ANNOT_WIDGET and form is not None:
            is_field = pdfium.FPDFAnnot_GetFormFieldType(form, note) in _FIELDS
            is_password = pdfium.FPDFAnnot_GetFormFieldFlags(form, note) & _PASSWORD_FIELD
            name = (_read_wide(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, note)
                    or _read_wide(pdfium.FPDFAnnot_GetFormFieldName, form, note).rpartition(".")[2])
            value = _read_wide(pdfium.FPDFAnnot_GetFormFieldValue, form, note)
            if is_field and not is_password and name and value:
                yield f"{name}: {value}"
        elif kind not in _NOT_SHOWN and (text := _read_wide(pdfium.FPDFAnnot_GetStringValue, note, b"Contents")):
            author = _read_wide(pdfium.FPDFAnnot_GetStringValue, note, b"T")
            yield f"Comment{f' by {author}' if author else ''}: {text}"
        pdfium.FPDFPage_CloseAnnot(note)


def _read_wide(get: Any, *arguments: Any) -> str:
    """Return a text that PDFium writes as UTF-16 into a buffer."""
    length = get(*arguments, None, 0)
    buffer = create_string_buffer(length)
    get(*arguments, pdfium.cast(buffer, pdfium.POINTER(pdfium.FPDF_WCHAR)), length)
    return one_line(buffer.raw[:max(0, length - 2)].decode("utf-16-le", errors="replace"))
