"""Titles of documents, and what introduces a line: the headings above it, a caption, and the opening of its list."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import NamedTuple

from .dates import parse_date
from .lexicon import WORDS, read_patterns, word_set
from .scripts import estimate_tokens, has_han
from .sentences import ITEM_MARK, split_sentences

BETWEEN = " > "  # separates headings, outermost first
_FORMS = {name: re.compile(form) for name, form in read_patterns("headings.toml", item_mark=ITEM_MARK).items()}
LIST_MARK = _FORMS["list_mark"]
_GENERAL = WORDS["general headings"]  # words of headings of any document, which say nothing of what is below
_REFERENCES = WORDS["headings of references"]
_BACK_MATTER = _REFERENCES | WORDS["headings of back matter"]  # their sections are no content of their document
_LONGEST = 80  # characters of the headings that are stored with a fact
_LONGEST_CAPTION = 8  # words of a line directly above a table that is its caption
_MOST_HEADINGS = 2  # headings of a section that are stored with a fact: the innermost one, and the one that it is under
_SHORT_HAN = 6  # the most characters of a Chinese heading that is like one word
_LOOKED_BACK = 50_000  # the characters in which the opening of a list is looked for; a longer list has none
_LONGEST_OPENING = 300
_OPEN_END = " -–—:：|,;"  # characters at the end of a line that goes on; a title does not end with them
_LEADING_FIELDS = word_set("date created updated sent author authors from to by")  # when and by whom; they come first
_FIELDS_OF_STATES = WORDS["fields of states"]  # in which "TODO" is a value: one of several states or kinds
UNREAD = "not read"  # the field that names what Banyan could not read; it is not shown with the document's own


class Heading(NamedTuple):
    """A heading line from character `start` to `end` of the text; `level` counts from 1."""

    level: int
    title: str
    start: int
    end: int


class Line(NamedTuple):
    """A line of a text, from character `start`.

    `above` are the headings above it, outermost first. `caption` is a bold line or the title of a table that follows
    the last heading; "" if there is none.
    """

    start: int
    text: str
    above: tuple[str, ...]
    caption: str
    is_code: bool


def lines_under(text: str, heading: str, title: str = "") -> Iterator[Line]:
    """Yield the lines of a chunk's text, each with the headings and the caption above it.

    `heading` are the headings above the chunk, joined by `BETWEEN`. A chunk is cut at headings, so if it has some above
    it, a line in it that looks like a heading is code. The document's title counts as a heading above all others.
    """
    path = [(0, name) for name in (title, *heading.split(BETWEEN)) if name]  # level 0 is above all "#" headings
    marks_by_start = {mark.start(): (mark, fence) for mark, fence in _headings_and_fences(text)}
    caption, previous_line, open_fence, start = "", "", "", 0
    for line in text.split("\n"):
        mark, open_fence = marks_by_start.get(start, (None, open_fence))
        new_heading = _heading_of(mark) if mark and not open_fence and not heading else None
        bold = None if open_fence else _FORMS["bold_line"].fullmatch(line.strip())
        if new_heading is not None:
            outer = [(level, name) for level, name in path if level < new_heading.level]
            path = [*outer, (new_heading.level, new_heading.title)]
            caption = ""
        elif bold is not None:
            caption = (bold["name"] or bold["named"]).rstrip(" :：")
        elif line.startswith("| ") and _is_caption(previous_line):
            caption = previous_line.strip(" :：")
        yield Line(start, line, tuple(name for _, name in path), caption, bool(open_fence))
        previous_line, start = line, start + len(line) + 1


def headings(text: str) -> Iterator[Heading]:
    """Yield the `#` headings of a text in order, except in fenced code; no title is blank."""
    for mark, open_fence in _headings_and_fences(text):
        if not open_fence and (heading := _heading_of(mark)):
            yield heading


def code_fences(text: str) -> Iterator[tuple[int, str]]:
    """Yield where fenced code begins and ends in a text: a character, and the line that opens it, "" behind its end."""
    previous_fence = ""
    for mark, open_fence in _headings_and_fences(text):
        if open_fence != previous_fence:
            yield mark.end(), text[mark.start() :].partition("\n")[0].strip() if open_fence else ""
        previous_fence = open_fence


def _headings_and_fences(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each heading or fence of a text, and the marks ("```") of the code that is open behind it, "" if none."""
    open_fence = ""
    for mark in _FORMS["heading"].finditer(text):
        if not open_fence:
            open_fence = mark["fence"] or ""
        elif mark["fence"] and mark["fence"].startswith(open_fence):
            open_fence = ""
        yield mark, open_fence


def _heading_of(mark: re.Match[str]) -> Heading | None:
    """Return the heading of a line that the form "heading" matched; None for a code fence or a blank title."""
    title = _FORMS["closing_marks"].sub("", mark["title"] or "").strip()
    title = _FORMS["formatted"].sub(lambda found: (found["bold"] or found["link"]).strip(), title)
    return Heading(len(mark["level"]), title, mark.start(), mark.end()) if title.strip("#") else None


def section_of(line: Line, label: str, known: Container[str]) -> str:
    """Return the section that a line is in, as its innermost specific headings ("Sales > Second quarter").

    From the innermost heading outwards, general ("Overview") and known ones are skipped; then up to two neighbours are
    taken. `label`, a short name of the document, is put before a single heading of one word, which says too little
    alone. `known` are names shown beside the section, such as the row's subject.
    """
    path = [*line.above, *filter(None, [line.caption])]
    # `path` becomes the headings down to the innermost one that says something.
    while path and not (is_telling(path[-1]) and path[-1] not in known):
        path.pop()
    chosen = list[str]()
    for heading in reversed(path[-_MOST_HEADINGS:]):
        plain = " ".join(_FORMS["numbering"].sub("", _FORMS["marks"].sub("", heading)).split()).rstrip(":：")
        is_too_long = len(BETWEEN.join([plain, *chosen])) > _LONGEST
        # A semicolon would separate the section from other qualifiers of a fact.
        if not is_telling(heading) or heading in known or re.search("[;；]", plain) or is_too_long:
            break
        chosen.insert(0, plain)
    is_single = len(chosen) == 1 and " " not in chosen[0]
    is_one_word = is_single and (not has_han(chosen[0][0]) or len(chosen[0]) <= _SHORT_HAN)  # Chinese has no blanks
    if is_one_word and label:
        chosen.insert(0, label)
    return BETWEEN.join(chosen)


def is_telling(heading: str) -> bool:
    """Return True for a specific heading: it has a word that is no number and not general, as "Overview" is."""
    plain = _FORMS["numbering"].sub("", _FORMS["marks"].sub("", heading)).strip()
    specific_words = [word for word in re.findall(r"[^\W_]+", plain.lower())
                      if word not in _GENERAL and not word.isdigit()]
    return bool(specific_words) and not is_placeholder(plain)


def _is_caption(line: str) -> bool:
    """Return True for a line that can be a table's caption: short, and no sentence, row, item of a list or value."""
    if not 0 < len(line.split()) <= _LONGEST_CAPTION or len(line) > _LONGEST:
        return False
    is_value_or_mark = ": " in line or line[0] in "|-*#>`"
    is_sentence = line.rstrip()[-1] in ".。?？!！"
    return not (is_value_or_mark or is_sentence) and (has_han(line[0]) or line[0].isupper())


def is_item(text: str, at: int) -> bool:
    """Return True if an item of a list begins at character `at`, with only blanks before it on its line."""
    return _FORMS["item"].match(text, at) is not None and not text[text.rfind("\n", 0, at) + 1:at].strip()


def mark_length(text: str) -> int:
    """Return the number of characters of the mark ("- ", "6. ") with which a text begins; 0 if it has none."""
    mark = LIST_MARK.match(text)
    return len(mark[0]) if mark else 0


def opening_of(text: str, start: int) -> str:
    """Return the sentence that opens the list whose item begins at character `start` ("The parts are:"), or ""."""
    line_start = text.rfind("\n", 0, start) + 1
    if text[line_start:start].strip() or not is_item(text, line_start):
        return ""
    is_apart = False
    for line in reversed(text[max(0, line_start - _LOOKED_BACK):line_start].splitlines()):
        words = line.strip()
        if not words:
            is_apart = True
        elif line[0].isspace() or is_item(line, 0):  # a line of an item of the list
            is_apart = False
        elif words.startswith(("#", "|")) or (is_apart and not words.endswith((":", "："))):
            return ""  # behind a blank line only a colon leads to the list
        else:
            *_, (begin, end) = split_sentences(words)
            return words[begin:end] if end - begin <= _LONGEST_OPENING else ""
    return ""


def is_back_matter(heading: str) -> bool:
    """Return True if one of the headings above a text, joined by `BETWEEN`, is that of references or the like."""
    return any(_name_of(part) in _BACK_MATTER for part in heading.split(BETWEEN))


def is_reference_list(headings: Iterable[str]) -> bool:
    """Return True if one of some headings is that of a list of references."""
    return any(_name_of(heading) in _REFERENCES for heading in headings)


def _name_of(heading: str) -> str:
    """Return a heading as lists of words have it: in lower case, without its number and marks."""
    return _FORMS["ordinal"].sub("", heading.strip().casefold()).strip(" .:：")


def is_placeholder(title: str) -> bool:
    """Return True for a title that does not name a document: a program's default, a date, "Foreword", "XII"."""
    return _FORMS["placeholder"].fullmatch(title.strip()) is not None


def is_from_template(title: str, text: str) -> bool:
    """Return True if the text lacks most words of its file's stored title, which is then that of another text."""
    words = _FORMS["word"].findall(title.casefold())
    letters = "".join(_FORMS["word"].findall(text.casefold()))  # without blanks, as PDF files have some within words
    return letters != "" and 2 * sum(word in letters for word in words) < len(words)


def document_title(title: str, stem: str) -> str:
    """Return a document's title; if it is empty, a placeholder or a day of any year, the name of its file (`stem`)."""
    title = title.rstrip(_OPEN_END)
    is_day_of_any_year = parse_date(title).startswith("X")  # "February 1" is the first heading of many minutes
    return stem if not title or is_day_of_any_year or is_placeholder(title) else title


def readable_name(name: str) -> str:
    """Return the name of a file or folder as words: "Weaver SC resign" for "Weaver_SC_resign"; dates and codes stay."""
    if " " in name or not _FORMS["joint"].search(name):
        return name
    words = " ".join(_FORMS["joint"].sub(" ", name).split())
    return words[:1].upper() + words[1:]


def field_words(name: str) -> str:
    """Return the name of a field as words: "start year" for "startYear" and "start_year"."""
    words = name.replace("_", " ")
    if name[:1].islower():  # a program's name, and not "GitHub user"
        words = _FORMS["camel"].sub(lambda found: f" {found[0].lower()}", words)
    return " ".join(words.split())


def plain_title(title: str) -> str:
    """Return a title as others quote it: without 中华人民共和国, a note in brackets at its end, and a path."""
    name = title if " " in title else title.rpartition("/")[2]  # a path has no blanks
    return _FORMS["not_quoted"].sub("", name).strip() or title


def metadata_line(metadata: Mapping[str, str], most_tokens: int) -> str:
    """Return the fields of metadata that fit a budget of tokens, dates and authors first, without web addresses."""
    shown, tokens_left = list[str](), most_tokens
    for name, value in sorted(metadata.items(), key=lambda field: field[0].lower() not in _LEADING_FIELDS):
        field = f"{name}: {value}"
        cost = estimate_tokens(field) + 1
        if name != UNREAD and "://" not in value and cost <= tokens_left:
            shown.append(field)
            tokens_left -= cost
    return "; ".join(shown)


def is_unfilled(value: str, field: str = "") -> bool:
    """Return True for what a template has in place of a value; the name of the field decides about "TODO"."""
    words = " ".join(value.casefold().strip(" .,:;!*_-").split())
    if words == "todo":
        return _FIELDS_OF_STATES.isdisjoint(re.split(r"[\W_]+", field.casefold()))
    return words in WORDS["unfilled"] or _FORMS["blank"].fullmatch(words) is not None
