"""Relative dates: where a text says "yesterday", "last week" or 三天前, and what that means by when it was said.

That date is the document's, or the nearest one above the words: of a message in a chat, a quoted mail, a heading or a
row. Without one they are left alone, and so are words with several readings. A meant date is ISO 8601 with the
precision that the words have: a day, a month, a year, or an interval ("2024-02-26/2024-03-03", Monday to Sunday).
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from datetime import date
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

from ..schemas.naming import label_key
from .dates import find_dates, parse_date
from .lexicon import read_patterns
from .relative_meaning import FORMS, Phrase
from .scripts import with_ascii_digits
from .table_rows import find_rows

_DATA = read_patterns("relative_dates.toml")
_FIELDS: list[str] = _DATA["fields"].split("|")
_LINES = {name: re.compile(form, re.IGNORECASE) for name, form in _DATA["lines"].items()}
_BOOKS = frozenset({".epub"})  # files whose date is that of an edition: their "yesterday" is that of a story
_MARKS = " \t[]()*_>•=~—–-.,，:：【】（）"
_PLAIN_DATE, _PLAIN_DAY = re.compile(r"\d{4}(?:-\d\d){0,2}"), re.compile(r"\d{4}-\d\d-\d\d")
_CAPITALISED_BEFORE = re.compile(r"[A-Z]\w{0,30} $")
_ONE_DAY = frozenset({"today", "yesterday", "tomorrow", "tonight"})  # also names, as in "USA Today"
_LONGEST_NAME = 40  # the most characters of the name that signs a message
_HEAD = 80  # the characters of a line in which its date is looked for; other texts are read some lines far
_BESIDE = 60  # the characters on each side of a relative date in which a date may stand that states it
_DAY_PARTS = 3
_CACHED = 256  # texts whose relative dates are cached: a build and an answer read those of each passage several times


class RelativeDate(NamedTuple):
    """Words of a text, characters `start` to `end`, and the date or period that they mean."""

    start: int
    end: int
    meant: str


def document_date(document_id: str, title: str, metadata: Mapping[str, str]) -> str:
    """Return a document's date as precisely as stated; "" if none is, or if a field and the file's name disagree."""
    if PurePosixPath(document_id).suffix.lower() in _BOOKS:
        return ""
    fields = {label_key(name): value for name, value in metadata.items()}
    stated = next(filter(None, (_only_date(fields[name]) for name in _FIELDS if name in fields)), "")
    # A year alone in a name may be part of a subject: "Budget 2024".
    in_file_name = _only_date(PurePosixPath(document_id).stem.replace("_", " "), least_parts=2)
    are_same = stated.startswith(in_file_name) or in_file_name.startswith(stated)  # true also if one of them is ""
    return (stated or _only_date(title, least_parts=2) or in_file_name) if are_same else ""


def _only_date(text: str, least_parts: int = 1) -> str:
    """Return the date of a text with at least so many parts (1: a year, 3: a day); "" if it has none or several."""
    plain = with_ascii_digits(text[:_HEAD * 4])
    if re.fullmatch(r"\d{4}-\d\d", plain.strip()):  # in a text it could be an interval of years
        return plain.strip()
    stated = {parse_date(plain[start:end]) for start, end in find_dates(plain)
              if not _LINES["limit"].search(plain[:start])}  # not those behind "until" or "since"
    dates = set(filter(_PLAIN_DATE.fullmatch, stated))
    # "2024" beside "2024-03-05" is the same date.
    precise = [one for one in dates if not any(other != one and other.startswith(one) for other in dates)]
    is_only_one = len(precise) == 1 and precise[0].count("-") + 1 >= least_parts
    return precise[0] if is_only_one else ""


class SayingDates:
    """The dates on which the parts of a text were said; each holds from its line on, up to the next one's."""

    def __init__(self, text: str, said_on: str) -> None:
        """Find the lines that state a date; `said_on` is that of the whole text, "" if it has none."""
        self._starts, self._dates = [0], [said_on]
        above = [(0, said_on)]  # the level of each heading above the current line, and the date of what is below it
        # A date in minutes may be that of another meeting. So lines count only in a text that begins with such a line,
        # and are all of one form.
        form = ""  # that of the first line with a date; "none" if the text begins otherwise
        for line in _LINES["likely"].finditer(text):
            if level := len(line[0]) - len(line[0].lstrip("#")):
                names_mail = _LINES["mail_inside"].match(line[0]) is not None
                # In a text with a date of its own, a heading states one only if it names a mail.
                says_when = names_mail or not (said_on or _LINES["other_day"].search(line[0]))
                stated = _only_date(line[0], _DAY_PARTS) if says_when else ""
                above = [(outer, day) for outer, day in above if outer < level]
                said = stated or ("" if names_mail else above[-1][1])  # a mail has its own date, or none
                above.append((level, said))
                self._starts.append(line.start())
                self._dates.append(said)
                continue
            own_form, said = _message_date(line[0])
            if own_form and own_form != "field" and not form:
                form = own_form if _LINES["opening"].fullmatch(text, 0, line.start()) else "none"
            # Elsewhere than in the head of a mail, the field "Date:" may be that of anything.
            is_in_head = _LINES["mail_head"].search(text, max(0, line.start() - _HEAD * 3), line.start()) is not None
            if said and (is_in_head if own_form == "field" else own_form == form):
                self._starts.append(line.start())
                self._dates.append(said)

    def at(self, position: int) -> str:
        """Return the date on which the words at a position were said; "" if it is not known."""
        return self._dates[bisect_right(self._starts, position) - 1]


def _message_date(line: str) -> tuple[str, str]:
    """Return the form and date of a line that opens a message or a day; two empty texts for any other line."""
    start, end, said_on = _first_day(line)
    if not said_on:
        return "", ""
    before = _LINES["weekday"].sub("", line[:start]).strip(_MARKS)
    time = _LINES["time"].match(line, end)
    rest = line[time.end() if time else end:]
    is_alone = not _LINES["weekday"].sub("", rest).strip(_MARKS)
    has_message = rest[:1] in tuple("])】）") or _LINES["speaker"].match(rest) is not None
    if _LINES["field"].fullmatch(line[:start].strip(" \t*_>-")):
        return "field", said_on  # "Date: 5 March 2024"
    if time and len(before) <= _LONGEST_NAME and (has_message or (is_alone and before)):
        return "signed" if before else "stamped", said_on  # "Ann, 2024-03-05 10:12", "[2024-03-05 10:12] Ann: hello"
    is_day = is_alone and not before and not _LINES["bullet"].match(line)
    return ("day", said_on) if is_day else ("", "")


def _first_day(line: str) -> tuple[int, int, str]:
    """Return where the first date of a line begins and ends, and the date; "" unless it is a day."""
    start, end = next(find_dates(line[:_HEAD]), (0, 0))
    normal = parse_date(line[start:end])
    return start, end, normal if _PLAIN_DAY.fullmatch(normal) else ""


@lru_cache(_CACHED)
def relative_dates(text: str, said_on: str) -> tuple[RelativeDate, ...]:
    """Return the relative dates of a text, whose beginning was said on `said_on`; its lines may state other dates."""
    line_starts, line_dates = _line_dates(text, said_on)
    if not any(line_dates):
        return ()
    text = _LINES["wrapped"].sub(" ", text)  # line ends within sentences; each is one sign, so places stay
    found = [(match, read) for form, read in FORMS for match in form.finditer(text)]
    found.sort(key=lambda one: (one[0].start(), -one[0].end()))  # of those that begin at one place, the longest first
    dates, end = list[RelativeDate](), 0
    for match, read in found:
        if match.start() < end:
            continue
        end = match.end()  # also where the words mean nothing: the "Friday" of "next Friday" is no date either
        day = line_dates[bisect_right(line_starts, match.start()) - 1]
        if not day or _is_title(match):
            continue
        year, month, number = [*map(int, day.split("-")), 1, 1][:3]
        meant = read(Phrase(match, date(year, month, number)))
        # By a month or a year alone, "yesterday" means nothing.
        is_known_so_exactly = meant.partition("/")[0].count("-") <= day.count("-")
        if meant and is_known_so_exactly and not _is_stated(text, *match.span()):
            dates.append(RelativeDate(match.start(), end, meant))
    return tuple(dates)


def said_on_at(text: str, said_on: str, position: int) -> str:
    """Return the date on which the words at a position of a text were said, whose beginning was said on `said_on`."""
    starts, said = _line_dates(text, said_on)
    return said[bisect_right(starts, position) - 1] if said else said_on


def _line_dates(text: str, said_on: str) -> tuple[list[int], list[str]]:
    """Return where each line of a text begins, and the date on which it was said."""
    dates = SayingDates(text, said_on)
    date_of_row: dict[int, str] = {}
    for row in find_rows(text):
        for cell in row.cells:
            if _LINES["field"].fullmatch(f"{cell.header.replace('_', ' ')}:") and (day := _only_date(cell.value)):
                date_of_row[row.start] = day
    starts, line_dates, start = list[int](), list[str](), 0
    entry = ""  # the date of an entry such as "- 2024-02-01: kick-off", which counts for its paragraph
    for line in text.splitlines(keepends=True):
        is_likely = _LINES["likely"].match(line) is not None
        if not line.strip() or (is_likely and _message_date(line)[1]):
            entry = ""
        elif is_likely and not said_on:  # in a dated text it may be of another day, as in an agenda
            begin, end, day = _first_day(line)
            entry = day if day and not line[:begin].strip(_MARKS) and _LINES["entry"].match(line, end) else entry
        starts.append(start)
        line_dates.append(date_of_row.get(start) or entry or dates.at(start))
        start += len(line)
    return starts, line_dates


def _is_stated(text: str, start: int, end: int) -> bool:
    """Return True if a date stands beside the words: "in a week's time on Tuesday 17 January 2012"."""
    after, before = text[end:end + _BESIDE], text[max(0, start - _BESIDE):start]
    date_behind = next(find_dates(after), None)
    joint = _LINES["joint"].fullmatch(after, 0, date_behind[0]) if date_behind else None
    if date_behind and joint:
        # Of a list such as "in March, 5 May last year" no date states another: neither has a year.
        has_year = not parse_date(after[slice(*date_behind)]).startswith("XXXX")
        return has_year or "(" in joint[0] or "（" in joint[0]
    *_, (date_start, date_end) = [(0, 0), *find_dates(before)]  # the nearest date before; none is (0, 0)
    ends_meant_date = before[date_end:].strip() == "]"  # of other words: "yesterday [2024-03-04]"
    is_joined = not ends_meant_date and _LINES["joint"].fullmatch(before, date_end) is not None
    return date_end > 0 and is_joined and not parse_date(before[date_start:date_end]).startswith("XXXX")


def _is_title(match: re.Match[str]) -> bool:
    """Return True for capitalised words within a name, such as "USA Today" or “Yesterday”."""
    words, before = match[0], match.string[max(0, match.start() - 20):match.start()]
    is_quoted = before[-1:] in tuple("《“\"‘") and match.string[match.end():match.end() + 1] in tuple("》”\"’")
    is_in_name = words.lower() in _ONE_DAY and words.istitle() and _CAPITALISED_BEFORE.search(before) is not None
    return is_quoted or is_in_name or words.startswith("The Day ")  # "The Day After Tomorrow", a film


def with_meant_dates(text: str, dates: Iterable[RelativeDate], start: int = 0, end: int | None = None) -> str:
    """Return a text from `start` to `end` with the meant date behind each relative one: "yesterday [2024-03-04]"."""
    stop, parts = len(text) if end is None else end, list[str]()
    for one in dates:
        if start <= one.start and one.end <= stop:
            parts += [text[start:one.end], f" [{one.meant}]"]
            start = one.end
    return "".join([*parts, text[start:stop]])
