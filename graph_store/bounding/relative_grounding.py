"""Complete what a text gives in part: relative dates, and versions without the name of their product."""

import re
from collections.abc import Callable, Sequence
from itertools import chain

from ...schemas.documents import Span
from ...schemas.naming import canonical_name
from ...text.cleaning import one_line
from ...text.dates import MEANT, find_dates, parse_date
from ...text.relative_dates import RelativeDate, relative_dates, with_meant_dates

# A date or two dates that Banyan wrote in a prompt for a relative one: "2024-03" or "2024-03-04/2024-03-10".
_INTERVAL = re.compile(r"\d{4}(?:-\d\d){1,2}(?:/\d{4}(?:-\d\d){1,2})?")


class RelativeTimes:
    """The relative dates of a text; they are stored with the date that is meant: "yesterday [2024-03-04]"."""

    def __init__(self, text: str, said_on: str) -> None:
        """Find the relative dates of a text; `said_on` is the date of its beginning."""
        self._text = text
        self._dates = [(one_line(text[date.start:date.end]), date) for date in relative_dates(text, said_on)]

    def explain(self, span: Span) -> str:
        """Return the words at a span of the text with the meant date behind each relative one."""
        return with_meant_dates(self._text, [date for _, date in self._dates], span.start, span.end)

    def find(self, value: str) -> tuple[str, RelativeDate] | None:
        """Return the relative date that a value is, "yesterday" or "2024-03-04", and how it is stored; None if none."""
        as_words = canonical_name(MEANT.sub("", value))
        as_date = parse_date(value) or value.strip()  # an interval is no single date, and is compared as it is written
        for words, date in self._dates:
            if as_date == date.meant or as_words == canonical_name(words):
                return f"{words} [{date.meant}]", date
        return None

    def find_in(self, when: str, is_in_text: Callable[[str], bool]) -> str:
        """Return words such as "since yesterday" with the meant date; "" if the text has no such date or words."""
        as_words = (re.search(rf"{re.escape(words)}(?:{MEANT.pattern})?", when, re.IGNORECASE)
                    for words, _ in self._dates)
        places = (match.span() for match in chain(filter(None, as_words), _INTERVAL.finditer(when)))
        for start, end in chain(places, find_dates(when)):
            found = self.find(when[start:end])
            # Words before the date, such as "until", change what the time is, so the text must have them.
            if found and all(map(is_in_text, when[:start].split())):
                stored, _ = found
                return f"{when[:start]}{stored}{when[end:]}"
        return ""


# A version, such as "3.9.0rc1" or "beta 2", and a series of versions in a title, such as "Python 3.9".
_STAGE = r"(?:alpha|beta|rc|(?:release )?candidate|preview|milestone)"
_VERSION = re.compile(rf"(?:v\.? ?|version )?(?P<number>\d+(?:\.\d+)+)(?P<rest>(?: ?(?:{_STAGE}|[abr]c?) ?\d+| final)?)"
                      rf"|{_STAGE} ?\d+", re.IGNORECASE)
_SERIES = re.compile(r"\b(?P<thing>[^\W\d_a-z]\w*+(?: [^\W\d_a-z]\w*+)?) (?P<number>\d+(?:\.\d+)*+)(?!\w)")


def name_version(version: str, titles: Sequence[str]) -> str:
    """Return the whole name of a version below some titles; "" if it is no version or no title names its series."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return ""
    series = [found for title in titles for found in _SERIES.finditer(title)]
    # Of several series that match, the last is used: headings come after the title, and are nearer to the text.
    if number := match["number"]:  # 3.9.0 is of the series "Python 3.9"
        its_series = [one for one in series if f"{number}.".startswith(f"{one['number']}.")]
        return f"{its_series[-1]['thing']} {number}{match['rest']}" if its_series else ""
    # "beta 2" may be of any series; a number with a dot is more likely a version's than one without.
    likely = [one for one in series if "." in one["number"]] or series
    return f"{likely[-1]['thing']} {likely[-1]['number']} {version}" if likely else ""
