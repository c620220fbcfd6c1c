"""When facts hold: read the words in which a text says so ("since March 2019"), and decide which hold at a date.

Dates are ISO 8601 with the precision that they have ("2019", "2019-03", "2019-03-05"). Qualifiers may stand beside
them, names with values that say with what a fact holds ("since 2019; votes: 27").
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Literal, NamedTuple, TypeVar

from .cleaning import one_line
from .dates import MEANT, find_dates, parse_date
from .lexicon import read_patterns

TimeKind = Literal["at", "from", "until", "during", "planned", "former", "with"]
_Key = TypeVar("_Key")
_Day = tuple[int, int, int]

CELL_MARK = " | "  # separates the parts of a fact in a line: "Orio | CEO | Ana Ruiz | since 2019"
SECTION = ("under", "见于")  # what marks the section that a fact holds in: "under: Second quarter"
LONGEST = 80  # the most characters of words that say when; longer ones are a sentence
_MOST_NOTED = 4  # how many of a fact's times a note shows, the latest ones
_FORMS = {name: re.compile(form, re.IGNORECASE) for name, form in read_patterns("times.toml").items()}
_QUARTERS, _MONTHS_EACH = range(33, 37), 3  # how EDTF numbers the quarters of a year
_EARLIEST, _LATEST = (-(10**6), 1, 1), (10**6, 12, 31)


class _Bounds(NamedTuple):
    """The first and last date that words give; `is_range` says that they name both: "1914-1918", but not "1914"."""

    first: str
    last: str
    is_range: bool = False


class FactTime(NamedTuple):
    """One statement of when a fact holds. "at" means that it held then, not that it ended then."""

    words: str
    kind: TimeKind  # "with" has qualifiers but no dates
    start: str  # the first date that the words give; "" if they give none, but "at" and "during" have both
    end: str
    qualifiers: str = ""


@lru_cache(maxsize=10_000)
def read_time(words: str) -> FactTime | None:
    """Return when a few words say that a fact holds; None if they have no date with a year, "former" or qualifier."""
    when, qualifiers = split_qualifiers(one_line(words).replace(CELL_MARK, ", "))
    time, text = _read_when(when), "; ".join(qualifiers)
    if not text:
        return time
    if time is None:
        return FactTime(text, "with", "", "", text)
    return time._replace(words=f"{time.words}; {text}", qualifiers=text)


def split_qualifiers(words: str) -> tuple[str, tuple[str, ...]]:
    """Split words at semicolons into those that say when a fact holds, and qualifiers such as "votes: 27".

    A part is a qualifier if it has the form "name: value" and does not say when, or if it names a section.
    """
    when, qualifiers = list[str](), list[str]()
    for part in filter(None, map(_strip_brackets, re.split("[;；]", _strip_brackets(words)))):
        is_section = part.startswith(tuple(f"{mark}: " for mark in SECTION))
        is_qualifier = is_section or (_FORMS["qualifier"].fullmatch(part) is not None and _read_when(part) is None)
        (qualifiers if is_qualifier else when).append(part)
    return "; ".join(when).strip(" ()（）"), tuple(qualifiers)


def _strip_brackets(words: str) -> str:
    """Return words without separators at their ends, and without brackets that enclose all of them."""
    bare = words.strip(" ,;，；")
    is_bracketed = bare[:1] in {"(", "（"} and bare[-1] in ")）"
    return bare[1:-1].strip() if is_bracketed else bare


def _read_when(words: str) -> FactTime | None:
    """Return when words without qualifiers say that a fact holds; None if they do not say so."""
    dated = _read_dates(words) if 0 < len(words) <= LONGEST else None
    if dated is None:
        return None
    kind, start, end = dated
    kinds: tuple[TimeKind, ...] = ("planned", "former")
    stated = next((one for one in kinds if _FORMS[one].search(words)), None)
    return FactTime(words, stated or kind, start, end) if stated or start or end else None


def _read_dates(words: str) -> tuple[TimeKind, str, str] | None:
    """Return the kind of time that words with dates state, and its first and last date."""
    if meant := MEANT.search(words):  # a relative date has words such as "the end of", which end nothing
        first, _, last = meant["meant"].partition("/")
        lead = _FORMS["first_word"].match(words)
        return _read_single_date(lead[0] if lead else "", _Bounds(first, last or first), words[meant.end():])
    quarters = [match.span() for match in _FORMS["quarter"].finditer(words)]
    others = find_dates(_FORMS["quarter"].sub(lambda quarter: "\0" * len(quarter[0]), words))  # not the year of one
    spans = sorted([*quarters, *others])
    dates = list(filter(None, (_date_bounds(parse_date(words[start:end])) for start, end in spans)))
    if len(dates) != len(spans) or len(spans) > 2:  # noqa: PLR2004  (a range has two ends)
        return None
    if not spans:
        return "at", "", ""
    (first_begin, first_end), (last_begin, last_end) = spans[0], spans[-1]
    before, between, after = words[:first_begin], words[first_end:last_begin], words[last_end:]
    if len(spans) == 1:
        return _read_single_date(before, dates[0], after)
    is_range = _FORMS["between"].search(before) or _FORMS["range"].match(between)
    is_in_order = _first_day(dates[0].first) <= _first_day(dates[1].first)
    return ("during", dates[0].first, dates[1].last) if is_range and is_in_order else None


def _read_single_date(before: str, date: _Bounds, after: str) -> tuple[TimeKind, str, str]:
    """Return the kind of time that a date and the words around it state, and its first and last date."""
    start, end, is_range = date
    if is_range:
        return "during", start, end
    if _FORMS["open_end"].search(after):
        return "from", start, ""
    if _FORMS["until_before"].search(before) or _FORMS["until_after"].match(after):
        return "until", "", end
    if _FORMS["from_before"].search(before) or _FORMS["from_after"].match(after):
        return "from", start, ""
    return "at", start, end


def _date_bounds(normal: str) -> _Bounds | None:
    """Return the bounds of a normal form of `dates.parse_date`; None for "" and for a day of no stated year."""
    normal = normal.rstrip("~")  # the mark of an approximate date
    if not normal or normal.startswith("XXXX"):
        return None
    first, _, last = normal.partition("/")
    if last:
        return _Bounds(first, last, is_range=True)
    if "X" in normal:  # "199X" is a decade, "18XX" a century
        return _Bounds(normal.replace("X", "0"), normal.replace("X", "9"))
    year, _, part = normal.rpartition("-")
    if year and part.isdigit() and int(part) in _QUARTERS:
        first_month = 1 + _MONTHS_EACH * (int(part) - _QUARTERS[0])
        return _Bounds(f"{year}-{first_month:02d}", f"{year}-{first_month + _MONTHS_EACH - 1:02d}")
    return _Bounds(normal, normal)


def _first_day(date: str, *, is_last: bool = False) -> _Day:
    """Return the first day of an ISO year or month, or with `is_last` the last one; the day itself if it is a day."""
    # The last day of any month is 31, because days are only compared: none is shown, and none is after it in its month.
    sign, plain = (-1, date[1:]) if date.startswith("-") else (1, date)
    missing = (12, 31) if is_last else (1, 1)
    year, *stated = map(int, plain.split("-"))
    month, day = (*stated, *missing[len(stated):])
    return sign * year, month, day


_last_day = partial(_first_day, is_last=True)


class DateError(ValueError):
    """A text that is no date with a year."""


def read_day(text: str) -> tuple[str, str]:
    """Return the first and last date of a text that names a date, or raise `DateError`."""
    bounds = _date_bounds(parse_date(text))
    if bounds is None:
        raise DateError(f"{text!r} is not a date: write a year, a month or a day, such as 2020, 2020-03 or 2020-03-15")
    return bounds.first, bounds.last


class Validity(NamedTuple):
    """When a fact holds: the times that its sources state, and the dates at which other values replaced it.

    No source of the fact states the dates in `later`. If a subject has one value at a time, such as one chief
    executive, the start of each later value ends this one.
    """

    times: tuple[FactTime, ...] = ()
    later: tuple[str, ...] = ()

    @classmethod
    def of(cls, words: Iterable[str], later: Iterable[str] = ()) -> "Validity":
        """Return the validity of a fact whose sources say when it holds in these words; for `later`, see the class."""
        # The key has all but the words. Of several wordings of one time the last one stays, the first of the alphabet.
        times = {time[1:]: time for wording in sorted(words, reverse=True) if (time := read_time(wording)) is not None}
        return cls(tuple(sorted(times.values(), key=lambda time: (time.start or time.end, time.end, time))),
                   tuple(sorted(later)))

    def note(self) -> str:
        """Return the fact's times and qualifiers for people: "since 2019; superseded 2021"; "" if there are none."""
        if not self.times:  # most facts have no time, and digests ask for every fact
            return ""
        shown = [time.words for time in self.times[-_MOST_NOTED:]]
        omitted_count = len(self.times) - len(shown)
        omission = f"… (+{omitted_count})" if omitted_count else ""
        successor = f"superseded {self.successor_date}" if self.successor_date else ""
        return "; ".join(filter(None, [omission, *shown, successor]))

    def with_note(self, text: str) -> str:
        """Return a text of the fact with its time in brackets: "Ana Ruiz (since 2019)"."""
        note = self.note()
        return f"{text} ({note})" if note else text

    @property
    def successor_date(self) -> str:
        """The first date of `later` after the last one from which the fact is stated to hold; "" if there is none."""
        last_start = max(map(_first_day, self.open_starts()), default=_LATEST)
        return next((date for date in self.later if _first_day(date) > last_start), "")

    def bounds(self) -> tuple[str, str]:
        """Return the first and last date of the latest period in which the fact holds; "" for an unknown date."""
        actual = [time for time in self.times if time.kind != "planned"]
        start = max((time.start for time in actual if time.start), key=_first_day, default="")
        # A fact that held "at" a date did not end then.
        end = max((time.end for time in actual if time.end and time.kind != "at"), key=_last_day, default="")
        if end and (not start or _first_day(start) <= _last_day(end)):
            return start, end
        return start, self.successor_date  # it ends when another value replaced the fact

    def open_starts(self) -> list[str]:
        """Return the dates from which the fact is stated to hold, without saying until when."""
        return [time.start for time in self.times if time.kind in ("at", "from")]

    def holds(self, first: str, last: str) -> bool:
        """Return True if the fact holds on a day from `first` to `last`, as one without a stated time always does."""
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
    """Return the dates at which each value of a subject with one value at a time was replaced by the next one."""
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
