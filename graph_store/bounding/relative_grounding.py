"""Find the relative dates of a source text that an extraction gives, as they are said or as they are meant."""

import re
from collections.abc import Callable
from itertools import chain

from ...schemas.naming import canonical_name
from ...text.cleaning import one_line
from ...text.dates import MEANT, find_dates, parse_date
from ...text.relative_dates import RelativeDate, relative_dates

_INTERVAL = re.compile(r"\d{4}(?:-\d\d){1,2}(?:/\d{4}(?:-\d\d){1,2})?")


class RelativeTimes:
    """The relative dates of a text; they are stored with the date that is meant: "yesterday [2024-03-04]"."""

    def __init__(self, text: str, said_on: str) -> None:
        """Find the relative dates of a text; `said_on` is the date of its beginning."""
        self._dates = [(one_line(text[one.start:one.end]), one) for one in relative_dates(text, said_on)]

    def find(self, value: str) -> tuple[str, RelativeDate] | None:
        """Return the relative date that a value is, "yesterday" or "2024-03-04", and how it is stored; None if none."""
        said, meant = canonical_name(MEANT.sub("", value)), parse_date(value) or value.strip()
        return next(((f"{words} [{one.meant}]", one) for words, one in self._dates
                     if meant == one.meant or said == canonical_name(words)), None)

    def find_in(self, when: str, is_in_text: Callable[[str], bool]) -> str:
        """Return words such as "since yesterday" with the meant date; "" if the text has no such date or words."""
        as_said = (re.search(rf"{re.escape(words)}(?:{MEANT.pattern})?", when, re.IGNORECASE)
                   for words, _ in self._dates)
        places = (match.span() for match in chain(filter(None, as_said), _INTERVAL.finditer(when)))
        for start, end in chain(places, find_dates(when)):
            found = self.find(when[start:end])
            if found and all(map(is_in_text, when[:start].split())):
                return f"{when[:start]}{found[0]}{when[end:]}"
        return ""
