"""When facts hold: read the words in which a text says so, and decide which facts hold at a date.

The words stay as written ("since March 2019", "until 2021", "planned for 2027", "former", 自2019年起). Their dates are
ISO 8601 with the precision that they have ("2019", "2019-03", "2019-03-05"). Qualifiers may stand beside them, names
with values that say with what a fact holds ("since 2019; votes: 27").
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple, TypeVar

from .cleaning import one_line
from .dates import MEANT, find_dates, parse_date, years_of

TimeKind = Literal["at", "from", "until", "during", "planned", "former", "with"]
_Key = TypeVar("_Key")
_Day = tuple[int, int, int]

CELL_MARK = " | "
"""Separates the parts of a fact in a line: "Orio | CEO | Ana Ruiz | since 2019"."""
SECTION = ("under", "见于")
"""What marks the section that a fact holds in, in English and in Chinese: "under: Second quarter"."""
LONGEST = 80
"""The most characters of words that say when; longer ones are a sentence."""
_QUALIFIER = re.compile(r"[^\W\d][^:：;；]{0,40}[:：]\s*+\S[^;；]{0,80}")
_MOST_NOTED = 4
"""How many of a fact's times a note shows, the latest ones."""
_DURING = re.compile(r"^(?:between|during|for) ", re.IGNORECASE)
_QUARTER = re.compile(r"\bQ[1-4] ?\d{4}\b|\b\d{4} ?Q[1-4]\b|\d{4} ?年第?[一二三四1-4]季度?", re.IGNORECASE)
_ISO_MONTH = re.compile(r"(?<![\d-])\d{4}-(?:0[1-9]|1[0-2])(?![\d-])")
_PLANNED = re.compile(
    r"\b(?:plan(?:s|ned|ning)?|scheduled|due(?! to)|expected|upcoming|future|will|proposed|intended|forthcoming"
    r"|projected)\b|计划|预计|规划|将于|将在|拟于|拟在|拟建|即将|待建", re.IGNORECASE)
_FORMER = re.compile(
    r"\b(?:former(?:ly)?|ex|previous(?:ly)?(?! (?:year|quarter|month))|no longer|used to|ceased|discontinued|abolished"
    r"|retired|resigned)\b|^前(?!往)|^原|曾|前任|原任|卸任|离任|不再|已终止|已结束|已停", re.IGNORECASE)
_OPEN_END = re.compile(r"\b(?:present|now|today|to date|onwards?|ongoing|current(?:ly)?)\b|至今|迄今|现在",
                       re.IGNORECASE)
_UNTIL_BEFORE = re.compile(
    r"\b(?:to|through)\b\W*(?:the |end of |early |late |mid)*\W*$|(?:\b(?:until|till|til|thru|up to|ends?|ended|ending"
    r"|expir(?:y|es|ed)|terminated|closed|left|before|prior to)\b|(?<!截)[至到]|截止)[^\d]{0,20}$", re.IGNORECASE)
_UNTIL_AFTER = re.compile(r"^ ?[日号月年]?(?:为?止|之?以?前|结束|到期|终止|届满|离任|卸任)")
_FROM_BEFORE = re.compile(
    r"(?:\b(?:since|from|as from|starting|starts|started|beginning|begins|began|effective|after|joined|became|appointed"
    r"|opened|took over|takes effect|took effect)\b|[自从])[^\d]{0,20}$", re.IGNORECASE)
_FROM_AFTER = re.compile(r"^ ?[日号月年]?(?:起|以来|开始|之?以?后|上任|就任|生效)")
_FIRST_WORD = re.compile(r"(?!end |start |beginning )\w+ |[自从至到]")
_RANGE = re.compile(r"^\W*[–—~-]\W*$|^\W*(?:\w+ )?(?:to|until|till|through|至|到)\W*(?:\w+ )?$", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\b", re.IGNORECASE)
_QUARTERS, _MONTHS_EACH = range(33, 37), 3
_EARLIEST, _LATEST = (-(10**6), 1, 1), (10**6, 12, 31)


class FactTime(NamedTuple):
    """One statement of when a fact holds.

    `start` and `end` are the first and last dates that the words give; "" if they give none. The kinds "at" and
    "during" have both. "at" means that the fact held then, not that it ended then. "with" has qualifiers but no dates.
    """

    words: str
    kind: TimeKind
    start: str
    end: str
    qualifiers: str = ""


@lru_cache(maxsize=10_000)
def read_time(words: str) -> FactTime | None:
    """Return when a few words in English or Chinese, such as "since 2019" or "former", say that a fact holds.

    None means that they name neither a date with its year, nor that a fact is planned or former, nor a qualifier.
    """
    when, qualifiers = split_qualifiers(one_line(words).replace(CELL_MARK, ", "))
    if not qualifiers:
        return _read_when(when)
    time, qualifier_text = _read_when(when), "; ".join(qualifiers)
    if time is None:
        return FactTime(qualifier_text, "with", "", "", qualifier_text)
    return FactTime(f"{time.words}; {qualifier_text}", time.kind, time.start, time.end, qualifier_text)


def split_qualifiers(words: str) -> tuple[str, tuple[str, ...]]:
    """Split words at semicolons into those that say when a fact holds, and qualifiers such as "votes: 27".

    A part is a qualifier if it has the form "name: value" and does not say when, or if it names a section.
    """
    when, qualifiers = list[str](), list[str]()
    for part in filter(None, map(_strip_brackets, re.split("[;；]", _strip_brackets(words)))):
        is_section = part.startswith(tuple(f"{mark}: " for mark in SECTION))
        is_qualifier = is_section or (_QUALIFIER.fullmatch(part) is not None and _read_when(part) is None)
        (qualifiers if is_qualifier else when).append(part)
    return "; ".join(when).strip(" ()（）"), tuple(qualifiers)


def _strip_brackets(words: str) -> str:
    """Return words without separators at their ends, and without brackets that enclose all of them."""
    bare = words.strip(" ,;，；")
    is_bracketed = bare[:1] in {"(", "（"} and bare[-1] in ")）"
    return bare[1:-1].strip() if is_bracketed else bare


def _read_when(words: str) -> FactTime | None:
    """Return when words without qualifiers say that a fact holds; None if they do not say so."""
    if not words or len(words) > LONGEST:
        return None
    dated = _read_dates(words)
    if dated is None:
        return None
    kind, start, end = dated
    if _PLANNED.search(words):
        return FactTime(words, "planned", start, end)
    if _FORMER.search(words):
        return FactTime(words, "former", start, end)
    return FactTime(words, kind, start, end) if start or end else None


def _read_dates(words: str) -> tuple[TimeKind, str, str] | None:
    """Return the kind of time that words with dates state, and its first and last date."""
    if meant := MEANT.search(words):  # a relative date has words such as "the end of", which end nothing
        first, _, last = meant["meant"].partition("/")
        lead = _FIRST_WORD.match(words)
        return _read_one(lead[0] if lead else "", (first, last or first, False), words[meant.end():])
    whole = _date_bounds(parse_date(_DURING.sub("", words)))
    if whole is not None and whole[2]:  # all the words are one range, such as "1914-1918"
        return "during", *whole[:2]
    quarters_and_months = [match.span() for form in (_QUARTER, _ISO_MONTH) for match in form.finditer(words)]
    others = [(start, end) for start, end in find_dates(words)
              if all(end <= other_start or other_end <= start for other_start, other_end in quarters_and_months)]
    spans = sorted([*quarters_and_months, *others])
    dates = list(filter(None, (_date_bounds(parse_date(words[start:end])) for start, end in spans)))
    if len(dates) != len(spans) or len(spans) > 2:  # noqa: PLR2004  (a range has two ends)
        return None
    if not spans:
        return "at", "", ""
    before, after = words[:spans[0][0]], words[spans[-1][1]:]
    if len(spans) == 1:
        return _read_one(before, dates[0], after)
    first, last = dates
    is_range = _BETWEEN.search(before) or _RANGE.match(words[spans[0][1]:spans[1][0]])
    is_forward = _first_day(first[0]) <= _first_day(last[0])
    return ("during", first[0], last[1]) if is_range and is_forward else None


def _read_one(before: str, date: tuple[str, str, bool], after: str) -> tuple[TimeKind, str, str]:
    """Return the kind of time that a date and the words around it state, and its first and last date.

    `date` are the bounds of the date (see `_date_bounds`).
    """
    start, end, is_range = date
    if is_range:
        return "during", start, end
    if _OPEN_END.search(after):
        return "from", start, ""
    if _UNTIL_BEFORE.search(before) or _UNTIL_AFTER.match(after):
        return "until", "", end
    if _FROM_BEFORE.search(before) or _FROM_AFTER.match(after):
        return "from", start, ""
    return "at", start, end


def _date_bounds(normal: str) -> tuple[str, str, bool] | None:
    """Return the first and last date of a normal form of `dates.parse_date`, and whether it is a range; None for ""."""
    # A day of no stated year has no bounds, either.
    normal = normal.rstrip("~")  # the mark of an approximate date
    if not normal or normal.startswith("XXXX"):
        return None
    first, _, last = normal.partition("/")
    if last:
        return first, last, True
    if "X" in normal and (years := years_of(normal)) is not None:  # a decade or a century
        return _year_text(years[0]), _year_text(years[1]), False
    year, _, part = normal.rpartition("-")
    if year and part.isdigit() and int(part) in _QUARTERS:
        first_month = 1 + _MONTHS_EACH * (int(part) - _QUARTERS[0])
        return f"{year}-{first_month:02d}", f"{year}-{first_month + _MONTHS_EACH - 1:02d}", False
    return normal, normal, False


def _year_text(number: int) -> str:
    return f"{number:05d}" if number < 0 else f"{number:04d}"


def _date_parts(date: str) -> list[int]:
    """Return the numbers of an ISO date: the year, then the month and the day if the date has them."""
    sign, plain = (-1, date[1:]) if date.startswith("-") else (1, date)
    year, *rest = map(int, plain.split("-"))
    return [sign * year, *rest]


def _first_day(date: str) -> _Day:
    """Return the first day of a year or month, or the day itself."""
    year, month, day = [*_date_parts(date), 1, 1][:3]
    return year, month, day


def _last_day(date: str) -> _Day:
    """Return the last day of a year or month, or the day itself."""
    # It is day 31 of any month: days are only compared with each other, never shown, and none is after it in its month.
    year, *rest = _date_parts(date)
    month = rest[0] if rest else 12
    day = rest[1] if len(rest) > 1 else 31
    return year, month, day


class DateError(ValueError):
    """A text that is no date with a year."""


def read_day(text: str) -> tuple[str, str]:
    """Return the first and last date of a text that names a date, or raise `DateError`."""
    bounds = _date_bounds(parse_date(text))
    if bounds is None:
        raise DateError(f"{text!r} is not a date: write a year, a month or a day, such as 2020, 2020-03 or 2020-03-15")
    return bounds[:2]


class Validity(NamedTuple):
    """When a fact holds: the times that its sources state, and the dates at which other values replaced it.

    No source of the fact states the dates in `later`. If a subject has one value at a time, such as one chief
    executive, the start of each later value ends this one.
    """

    times: tuple[FactTime, ...] = ()
    later: tuple[str, ...] = ()

    @classmethod
    def of(cls, words: Iterable[str], later: Iterable[str] = ()) -> "Validity":
        """Return the validity of a fact whose sources say when it holds in these words.

        The times are sorted by date. Of several wordings of the same time, the first in alphabetical order is used.
        `later` are the dates at which other values replaced the fact.
        """
        # The key has all but the words. The dict keeps the last wording of a key, so the alphabet is read backwards.
        times = {time[1:]: time for wording in sorted(words, reverse=True) if (time := read_time(wording)) is not None}
        return cls(tuple(sorted(times.values(), key=lambda time: (time.start or time.end, time.end, time))),
                   tuple(sorted(later)))

    def note(self) -> str:
        """Return the fact's times and qualifiers for people: "since 2019; superseded 2021"; "" if there are none."""
        if not self.times:  # most facts have no time, and digests ask for every fact
            return ""
        shown = [time.words for time in self.times[-_MOST_NOTED:]]
        omitted_count = len(self.times) - len(shown)
        omission = [f"… (+{omitted_count})"] if omitted_count else []
        return "; ".join([*omission, *shown, *(f"superseded {date}" for date in self.successor_date)])

    def with_note(self, text: str) -> str:
        """Return a text of the fact with its time in brackets: "Ana Ruiz (since 2019)"."""
        note = self.note()
        return f"{text} ({note})" if note else text

    def line(self, *cells: str) -> str:
        """Return the fact as cells of one line, with its time as the last one."""
        return CELL_MARK.join((*cells, *filter(None, [self.note()])))

    @property
    def successor_date(self) -> tuple[str, ...]:
        """The date at which another value replaced this one, as a tuple of one; empty if none did.

        It is the first date of `later` after the last date from which the fact is stated to hold.
        """
        last_start = max((_first_day(start) for start in self.open_starts()), default=None)
        replaced = [date for date in self.later if last_start is not None and _first_day(date) > last_start]
        return tuple(replaced[:1])

    def bounds(self) -> tuple[str, str]:
        """Return the first and last date of the latest period in which the fact holds; "" for a date that is unknown.

        Without a stated end after the start, the period ends when another value replaced the fact.
        """
        actual = [time for time in self.times if time.kind != "planned"]
        start = max((time.start for time in actual if time.start), key=_first_day, default="")
        # A fact that held "at" a date did not end then.
        end = max((time.end for time in actual if time.end and time.kind != "at"), key=_last_day, default="")
        if end and (not start or _first_day(start) <= _last_day(end)):
            return start, end
        return start, "".join(self.successor_date)

    def open_starts(self) -> list[str]:
        """Return the dates from which the fact is stated to hold, without saying until when."""
        return [time.start for time in self.times if time.kind in ("at", "from")]

    def holds(self, first: str, last: str) -> bool:
        """Return True if the fact holds on at least one day of a period.

        The period is given by its first and last date, as ISO 8601. A fact without a stated time always holds. A
        planned fact never does, and a former one only on its stated dates.
        """
        first_day, last_day = _first_day(first), _last_day(last)
        is_dated = any(time.kind != "with" for time in self.times)
        return not is_dated or any(start <= last_day and first_day <= end for start, end in self._open_periods())

    def _open_periods(self) -> Iterator[tuple[_Day, _Day]]:
        """Yield the first and last day of each period in which the fact is stated to hold."""
        ends = [_last_day(time.end) for time in self.times if time.kind in ("until", "during", "former") and time.end]
        starts = [_first_day(start) for start in self.open_starts()]
        for start in starts:
            stated_end = min((end for end in ends if end >= start), default=_LATEST)
            replaced = min((day for day in map(_first_day, self.later) if day > start), default=None)
            # Days are only compared, so the day before the first of a month may be day 0.
            yield start, stated_end if replaced is None else min(stated_end, (*replaced[:2], replaced[2] - 1))
        for time in self.times:
            if time.kind == "during" or (time.kind == "former" and time.start):
                yield _first_day(time.start), _last_day(time.end or time.start)
            elif time.kind in ("until", "former") and time.end:
                end = _last_day(time.end)
                if not any(start <= end for start in starts):
                    yield _EARLIEST, end


def later_values(values: Mapping[_Key, Validity]) -> dict[_Key, set[str]]:
    """Return the dates at which values of a subject that has one value at a time were replaced by another value.

    For each value they are the dates at which the next other value begins, one for each date from which it holds.
    """
    starts = {(time.start, key) for key, validity in values.items() for time in validity.times
              if time.start and time.kind in ("at", "from", "during")}
    by_day = sorted(((_first_day(date), date, key) for date, key in starts), key=lambda item: item[:2])
    replaced_at: dict[_Key, set[str]] = {}
    for key, validity in values.items():
        for start in validity.open_starts():
            later = (date for day, date, other_key in by_day if other_key != key and day > _first_day(start))
            if next_start := next(later, None):
                replaced_at.setdefault(key, set()).add(next_start)
    return replaced_at
