"""Finding in a source what was extracted from it.

Comparison is on a folded form (NFKD, case-folded, white space as one space), made character by
character so that every folded position leads back to its place in the source.
"""

import re
import unicodedata
from functools import cached_property

from ..ingest.scripts import CJK
from ..ingest.sentences import split_sentences
from ..schemas.documents import Span
from ..schemas.naming import canonical_name

# Letters and digits of any script; CJK characters each count as a word of their own, because
# words there are not kept apart by spaces.
_WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")


def words(text: str) -> list[str]:
    """The words of a text, folded: runs of letters and digits, and single CJK characters."""
    return _WORD.findall(_fold(text)[0])


def _fold(text: str) -> tuple[str, list[int] | range]:
    """The folded text and, for each of its characters, the offset in `text` that it came from."""
    if text.isascii() and "  " not in text and not any(c in text for c in "\n\t\r\v\f"):
        return text.lower(), range(len(text))
    folded: list[str] = []
    offsets: list[int] = []
    for offset, character in enumerate(text):
        # A Hangul syllable stays whole: it counts as a word of its own, and its letters do not.
        parts = character if "가" <= character <= "힣" else unicodedata.normalize("NFKD", character).casefold()
        for part in parts:
            plain = " " if part.isspace() else part
            if plain == " " and folded and folded[-1] == " ":
                continue
            folded.append(plain)
            offsets.append(offset)
    return "".join(folded), offsets


class SourceText:
    """One chunk's text, prepared for finding names and sentences in it."""

    def __init__(self, text: str, title: str = "", heading: str = "") -> None:
        self.text = text
        self._context = f"{title}\n{heading}"
        self._folded, self._offsets = _fold(text)

    def find(self, words_said: str) -> Span | None:
        """Where some words first stand in the text, on word boundaries, or None."""
        wanted = _fold(canonical_name(words_said))[0].strip()
        start = self._folded.find(wanted) if wanted else -1
        while start >= 0:
            end = start + len(wanted)
            if self._bounded(start, end):
                return self._span(self._offsets[start], self._offsets[end - 1] + 1)
            start = self._folded.find(wanted, start + 1)
        return None

    def verbatim(self, quote: str) -> Span | None:
        """Where a quote first stands in the text letter by letter, on word boundaries, or None."""
        wanted = quote.strip()
        start = self.text.find(wanted) if wanted else -1
        while start >= 0:
            end = start + len(wanted)
            if not (_joins(self.text, start) or _joins(self.text, end)):
                return self._span(start, end)
            start = self.text.find(wanted, start + 1)
        return None

    def mentions(self, name: str) -> bool:
        """Whether each word of a name stands in the text, its title or its heading."""
        said = words(name)
        return bool(said) and self._vocabulary.issuperset(said)

    def sentence(self, *hints: str) -> Span:
        """The sentence that shares most words with the hints; the first one of equals."""
        wanted = {word for hint in hints for word in words(hint)}
        best = max(self._sentences, key=lambda item: len(wanted & item[1]), default=None)
        return best[0] if best else self._span(0, len(self.text))

    def sentence_around(self, span: Span) -> Span:
        """The sentence in which a span begins."""
        return next((s for s, _ in self._sentences if s.start <= span.start < s.end), span)

    @cached_property
    def _sentences(self) -> list[tuple[Span, frozenset[str]]]:
        return [(self._span(start, end), frozenset(words(self.text[start:end])))
                for start, end in split_sentences(self.text)]

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        return frozenset(words(self.text)) | frozenset(words(self._context))

    def _span(self, start: int, end: int) -> Span:
        return Span(start=start, end=end, quote=self.text[start:end])

    def _bounded(self, start: int, end: int) -> bool:
        return not (_joins(self._folded, start) or _joins(self._folded, end))


def _joins(text: str, position: int) -> bool:
    """Whether the characters before and after a position belong to one word."""
    if not 0 < position < len(text):
        return False
    pair = text[position - 1 : position + 1]
    return bool(re.fullmatch(rf"[^\W_{CJK}]{{2}}", pair)) or unicodedata.combining(pair[1]) != 0
