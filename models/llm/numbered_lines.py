"""The lines of the texts that one extraction reads, numbered so that its rows cite them by number."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...schemas.extraction import ExtractionRequest
from ...text.sentences import split_sentences
from ...text.times import read_time

_LONGEST = 300
"""Characters of a line from which it is cut between sentences: a number should not stand for half a page."""
_CITED = re.compile(r"\s{0,3}(?:lines?|L)?\s{0,3}(?P<number>\d{1,5})(?![\d.]*\d)(?P<rest>.*)",
                    re.DOTALL | re.IGNORECASE)


class NumberedLine(NamedTuple):
    """A line's text, and the place of its request among those of the call."""

    request: int
    text: str


class NumberedLines:
    """The numbered lines of some requests, and what stands above them in brackets, without a number."""

    def __init__(self, requests: Sequence[ExtractionRequest]) -> None:
        self.requests = requests
        self.lines: list[NumberedLine] = []
        before: list[str] = []
        for place, request in enumerate(requests):
            pieces = list(_pieces(request.text))
            same = place > 0 and _name(request) == _name(requests[place - 1])
            repeated = _count_repeated(before, pieces) if same else 0
            self.lines += [NumberedLine(place, text) for text in pieces[repeated:]]
            before = pieces

    def text(self) -> str:
        """Return the lines as a prompt shows them."""
        shown, place, before = list[str](), -1, ""
        for number, line in enumerate(self.lines, 1):
            if line.request != place:
                place = line.request
                shown.append(_context(self.requests[place], before))
                before = _name(self.requests[place])
            shown.append(f"{number} {line.text}")
        return "\n".join(shown)

    def find_cited(self, cell: str) -> tuple[NumberedLine | None, str] | None:
        """Return the line that a cell begins with the number of, and what follows the number.

        The line is None where there is none of that number; all is None if the cell is no line's number.
        """
        match = _CITED.fullmatch(cell)
        if match is None:
            return None
        number, rest = int(match["number"]), match["rest"].strip(" \t\n,;:.|-–")
        if 0 < number <= len(self.lines):
            return self.lines[number - 1], rest
        return None if rest and read_time(rest) is None else (None, rest)  # "2019 election" is a name


def _pieces(text: str) -> Iterator[str]:
    """Yield the lines of a text that have words, long ones in parts of whole sentences."""
    for line in text.split("\n"):
        if not any(map(str.isalnum, line)):
            continue
        if len(line) <= _LONGEST:
            yield line.rstrip()
            continue
        begin = 0
        sentences = split_sentences(line)
        for (_, end), following in zip(sentences, [*sentences[1:], None], strict=True):
            if following is None or following[1] - begin > _LONGEST:
                yield line[begin:end].strip()
                begin = end


def _count_repeated(before: Sequence[str], pieces: Sequence[str]) -> int:
    """Return how many lines at the beginning of a chunk repeat the end of the one before it."""
    return next((count for count in range(min(len(before), len(pieces)), 0, -1)
                 if before[-count:] == pieces[:count]), 0)


def _name(request: ExtractionRequest) -> str:
    """Return the document's name, with its title, which "it" and "she" mostly stand for."""
    if not request.document or request.title in request.document:
        return request.document or request.title
    return f"{request.title} ({request.document})"


def _context(request: ExtractionRequest, name_before: str) -> str:
    """Return the line above the lines of a request; the document's name only where it changes."""
    is_new = _name(request) != name_before
    above = [_name(request) if is_new else "", request.heading]
    named = " > ".join(" ".join(part.split()) for part in above if part) or "-"
    about = f" ({' '.join(request.about.split())})" if request.about and is_new else ""
    opening = f": {' '.join(request.opening.split())}" if request.opening else ""
    return f"[{'' if is_new else '> '}{named}{about}{opening}]"
