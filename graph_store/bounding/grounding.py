"""Finding in a source what was extracted from it, by the words (`words.py`).

Only a name may be composed of words that stand apart, in the text and in what stands above it: "2026 council election"
of results under the title "Council election, term of 2026". Without a word from above, words of the text would make
names of their own.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from ...schemas.documents import Span
from ...schemas.graph_schema import ValueKind
from ...schemas.naming import canonical_name
from ...text.cleaning import one_line
from ...text.dates import parse_date
from ...text.lexicon import peoples_of
from ...text.quantities import find_values, means, parse_value
from ...text.scripts import CJK
from ...text.sentences import split_sentences
from ...text.table_rows import NUMBER_OF
from ...text.times import LONGEST, read_time, split_qualifiers
from .words import (
    ASIDE,
    JoinedWords,
    cjk_runs,
    fold_text,
    inflections,
    is_cjk,
    join_words,
    singular,
    without_aside,
    without_markup,
    word_places,
    words,
    written_words,
)

_ARTICLES = frozenset({"the", "a", "an"})
_BETWEEN_WORDS = frozenset({"in", "on", "at", "for", "of", "the", "a", "to"})
"""Words of a time that a text may have otherwise."""
_YEAR_DIGITS = 4
_APART = 8
"""How many words further the next word of a time is at most."""
_ASIDES = re.compile(r"\([^()\n]{1,80}\)|（[^（）\n]{1,80}）|(?<=\])\([^()\s]{1,1000}\)|:[a-z]{2,12}:(?=`)"
                     rf"|<[a-z/][^<>\n]{{0,200}}>|{NUMBER_OF}(?=[:：] )")
"""What may come between the words of a name: "Ronald ("Ron") Laird", "460 inches (1,168 cm) of rain", markup, and what
a header adds: "Pump 7" of "Pump Number: 7"."""
_NOT_CONTENT = _ARTICLES | frozenset({"of", "in", "on", "at", "for", "to", "and", "by", "with", "from", "s"})
_MOST_CONTENT = 15
"""Words of a name that is composed."""
_SHORTEST_CONTRACTION, _MOST_BETWEEN = 4, 2
"""Words of a text with words left out, and how many times as many the source's stretch may have."""
_SHORTEST_PIECE = 2
"""Characters of a piece of which a Chinese name is composed."""
_PAIRS = (("(", ")"), ("（", "）"), ("[", "]"), ("“", "”"), ("«", "»"), ("《", "》"), ("「", "」"), ('"', '"'))
_CONDITION = re.compile(r"(?:on|in|at|for|if|under|during|when|with|within|per|by|until|after|before|unless|only)\b|"
                        "在|于|若|如|当|按|经|仅", re.IGNORECASE)
"""How words begin that say under which condition something holds."""
_LETTERS = re.compile(rf"[^\W_{CJK}]{{2}}")


class Grounded(NamedTuple):
    """Something found in a source: where, and as which words it is to be stored.

    `quoted`: `shown` is the source's wording, not what was said.
    """

    shown: str
    span: Span
    quoted: bool = False


class SourceText:
    """One chunk's text, prepared for finding names, values and sentences in it.

    Args:
        text: the text.
        above: what stands above it, such as a title; names and values may be taken from there.
    """

    def __init__(self, text: str, *above: str) -> None:
        self.text = text
        self._titles = [line for line in above if line]

    def find(self, name: str) -> Span | None:
        """Return the first place where the text has these words one after the other, or None."""
        place = self._words.find(join_words(words(canonical_name(name))))
        return self._span(*place) if place else None

    def verbatim(self, quote: str) -> Span | None:
        """Return the first place where the text has a quote letter by letter, on word boundaries, or None."""
        wanted = quote.strip()
        start = self._verbatim_start(wanted)
        return self._span(start, start + len(wanted)) if start >= 0 else None

    def _verbatim_start(self, wanted: str) -> int:
        start = self.text.find(wanted) if wanted else -1
        while start >= 0 and (_joins(self.text, start) or _joins(self.text, start + len(wanted))):
            start = self.text.find(wanted, start + 1)
        return start

    def ground(self, name: str) -> Grounded | None:
        """Return where the source has a name, or None.

        It is there if its words follow each other in the text, in the title, heading or opening.
        Its last word may be in the plural or singular, its articles and a trailing parenthesis may be
        missing, the text may put something in brackets between its words, a country may be named by its
        people ("Japanese"), and a date may be spelled otherwise or less precisely. A name may also be
        composed of words that stand apart in the text and above it.
        """
        tokens = words(canonical_name(name))
        if not tokens:
            return self._in_its_words(name, self.verbatim(name))
        shorter = [part for part in (tokens[1:] if tokens[0] in _ARTICLES else [],
                                     words(without_aside(name)) if ASIDE.search(name) else []) if part]
        for part in (tokens, *shorter):
            place = self._words.find(join_words(part))
            if place:
                return self._in_its_words(name, self._span(*place))
        for part in (tokens, *shorter):
            for variant in self._inflect(part):
                place = self._words.find(variant)
                if place:
                    return Grounded(name.strip(), self._span(*place))
        place = self._plain_words.find(join_words([word for word in tokens if word not in _ARTICLES]))
        if place:
            return Grounded(name.strip(), self._span(*place))
        wanted = [join_words(part) for part in (tokens, *shorter)]
        if self.text and any(title.find(part) for title in self._title_words for part in wanted):
            return Grounded(name.strip(), self.sentence(name))
        return self._ground_otherwise(name, tokens)

    def _ground_otherwise(self, name: str, tokens: Sequence[str]) -> Grounded | None:
        """Return where the source has a country's people, a date in another spelling, or the words of a name."""
        people = next(filter(None, map(self.verbatim, peoples_of(name.strip()))), None)
        if people is not None:
            return Grounded(name.strip(), people)
        if parse_date(name):
            return self.ground_value(name, "date")
        return Grounded(name.strip(), self.sentence(name)) if self.text and self._is_composed(tokens) else None

    def _is_composed(self, tokens: Sequence[str]) -> bool:
        """Return True if each content word of a name stands in the text or above it, and one of them above it.

        One of them is a number or common noun: two capitalised words from different places ("Pierre met Ms Curie") are
        no name. A script without spaces has no words: pieces of at least two characters count.
        """
        content = [word for word in tokens if word not in _NOT_CONTENT]
        if not 1 < len(content) <= _MOST_CONTENT:
            return False
        if any(map(is_cjk, content)):
            return any(first + second in self._folded_above for first, second in pairwise(content)) and all(
                map(self._is_pieced, cjk_runs(content)))
        forms = [{word, f"{word}s", *inflections(word)} for word in content]
        above = {word for title in self._titles for word in words(title)}
        return all(map(self._all_words.intersection, forms)) and any(map(above.intersection, forms)) and any(
            map(self._common_words.intersection, forms))

    def _is_pieced(self, run: str) -> bool:
        """Return True if a run of characters is made of pieces that stand in the text or above it."""
        reached = {0}
        for end in range(1, len(run) + 1):
            if any(start in reached and run[start:end] in self._folded for start in range(end - _SHORTEST_PIECE + 1)):
                reached.add(end)
        return len(run) in reached

    @staticmethod
    def _inflect(tokens: list[str]) -> Iterator[str]:
        if len(tokens) > 1 and tokens[-1] == "s":
            yield join_words(tokens[:-1])
        for last in inflections(tokens[-1]):
            yield join_words([*tokens[:-1], last])

    def ground_value(self, value: str, kind: ValueKind, unit: str = "") -> Grounded | None:
        """Return where the source has a value, in any spelling; `unit` is that of a number that names none."""
        normal = parse_value(value, kind, unit)
        exact = self.verbatim(value)
        literal = exact or self.find(value)
        if not normal:
            return self._in_its_words(value, literal) or self._ground_text(value)
        same = [(span, other) for span in self._values
                if (other := parse_value(span.quote, kind, unit)) and means(normal, other, kind)]
        if same:
            wanted = canonical_name(value)
            best = min(same, key=lambda item: (canonical_name(item[0].quote) != wanted, item[1] != normal,
                                               item[0].start))[0]
            if exact is not None and exact.start <= best.start and best.end <= exact.end:
                return Grounded(value.strip(), exact)  # with its sign, as in "~68"
            return Grounded(best.quote, best, quoted=canonical_name(best.quote) != wanted)
        # The 5 of "5 million" is not five.
        part = literal and kind == "number" and any(
            span.start <= literal.start and literal.end <= span.end for span in self._values)
        return None if part else self._in_its_words(value, literal)

    def _ground_text(self, value: str) -> Grounded | None:
        """Return where the source has a text but for markup, articles, the number of its nouns and words left out.

        Of a text with words left out it is the source's own words: what is between them may say more, or deny it.
        """
        tokens = [singular(word) for word in words(value) if word not in _ARTICLES]
        wanted = join_words(tokens)
        if place := self._singular_words.find(wanted):
            return Grounded(value.strip(), self._span(*place))
        if len(tokens) >= _SHORTEST_CONTRACTION and (stretch := self._shortest_stretch(words(value))):
            return Grounded(without_markup(stretch.quote), stretch, quoted=True)
        above = (JoinedWords([(singular(word), start, end) for word, start, end in word_places(title)])
                 for title in self._titles)
        return Grounded(value.strip(), self.sentence(value)) if self.text and any(
            title.find(wanted) for title in above) else None

    def best_spelling(self, names: Iterable[str]) -> str:
        """Choose among spellings of one name the one that the text has, with its brackets closed, the shortest one."""
        return min(names, key=lambda name: (self._verbatim_start(name.strip()) < 0, _is_unbalanced(name), len(name),
                                            name))

    def sentence(self, *hints: str) -> Span:
        """Return the sentence that shares most words with the hints; the first one of equals."""
        return self._closest(self._sentences, hints) or self._span(0, len(self.text))

    @staticmethod
    def _closest(sentences: Sequence[tuple[Span, frozenset[str]]], hints: Sequence[str]) -> Span | None:
        wanted = {word for hint in hints for word in words(hint)}
        best = max(sentences, key=lambda item: len(wanted & item[1]), default=None)
        return best[0] if best else None

    def sentence_around(self, span: Span) -> Span:
        """Return the sentence in which a span begins."""
        return next((s for s, _ in self._sentences if s.start <= span.start < s.end), span)

    def support(self, evidence: str, *hints: str) -> Span:
        """Return the words that support a fact: the sentence of its evidence, else the closest to the hints.

        Of several sentences of evidence it is the closest to the hints.
        """
        place = self.find(evidence) if evidence else None
        if place is None:
            return self.sentence(*hints)
        inside = [item for item in self._sentences if item[0].start < place.end and place.start < item[0].end]
        return self._closest(inside, hints) or place

    def ground_time(self, said: str) -> str:
        """Return the text's words for when a fact holds; empty where it has no such words, or they do not tell.

        They are the words said, or the shortest stretch with these words among others that says the same time: "is
        planned to open in 2027" for "planned for 2027". Qualifiers whose values the source has follow.
        """
        when, qualifiers = split_qualifiers(said)
        beside = [one_line(one) for one in qualifiers
                  if all(map(self._has, re.split("[:：]", one, maxsplit=1)[1].strip().split(" > ")))]
        time = self._ground_when(when)
        if when and not time and _CONDITION.match(when) and len(when) <= LONGEST and self._has(when):
            beside.insert(0, f"condition: {one_line(when)}")
        return "; ".join(filter(None, [time, *beside]))

    def _has(self, value: str) -> bool:
        return self.find(value) is not None or self._ground_text(value) is not None

    def _ground_when(self, said: str) -> str:
        time = read_time(said) if len(said) <= LONGEST else None
        if time is None:
            return ""
        place = self.find(said)
        stretches = [place.quote] if place else self._stretches([w for w in words(said) if w not in _BETWEEN_WORDS])
        same = (one_line(found) for found in stretches if (read := read_time(found)) and read[1:] == time[1:])
        # A whole sentence tells that something is planned ("will be"), so the word itself need not stand there.
        is_told = time.kind == "planned" and len(words(said)) == 1
        return min(same, key=len, default="") or (one_line(said) if is_told or self._has_with_year(said) else "")

    def _has_with_year(self, said: str) -> bool:
        """Return True if the text has a date without its year, which a title above has.

        Args:
            said: the date as a reader gives it: "3 August 2024" for "3 August" in the log of 2024.
        """
        above = {word for title in self._titles for word in words(title)}
        years = {word for word in words(said) if len(word) == _YEAR_DIGITS and word.isdecimal() and word in above}
        rest = [word for word in words(said) if word not in years and word not in _BETWEEN_WORDS]
        return bool(years and rest) and any(self._stretches(rest))

    def _shortest_stretch(self, wanted: Sequence[str]) -> Span | None:
        """Return the shortest stretch of a sentence that has some words in their order among not too many others."""
        content = [word for word in wanted if word not in _NOT_CONTENT]
        best = min(self._stretches(content), key=len, default="")
        if len(words(best)) > _MOST_BETWEEN * len(wanted):
            return None
        at = self.text.find(best) if best else -1
        return self._span(at, at + len(best)) if at >= 0 else None

    def _stretches(self, wanted: Sequence[str]) -> Iterator[str]:
        """Yield the stretches of a sentence that have some words in their order, one for each place of the first."""
        tokens = [word for word, _, _ in self._places]
        for at in (at for at, word in enumerate(tokens) if wanted and word == wanted[0]):
            last = at
            for word in wanted[1:]:
                last = next((later for later in range(last + 1, min(len(tokens), last + _APART))
                             if tokens[later] == word), len(tokens))
                if last == len(tokens):
                    break
            else:
                start, end = self._places[at][1], self._places[last][2]
                if end <= self.sentence_around(self._span(start, end)).end:
                    yield self.text[start:end]

    def _in_its_words(self, wanted: str, span: Span | None) -> Grounded | None:
        """Return the given words if the source has exactly these, otherwise the source's own."""
        if span is None:
            return None
        wording = wanted.strip()
        if self._verbatim_start(wording) >= 0:
            return Grounded(wording, span)
        whole = self._balance(span)
        return Grounded(without_markup(whole.quote), whole, quoted=True)

    def _balance(self, span: Span) -> Span:
        """Return the span with the bracket or quotation mark just outside that one inside belongs to."""
        start, end = span.start, span.end
        for opening, closing in _PAIRS:
            opened, closed = span.quote.count(opening), span.quote.count(closing)
            odd = opening == closing and opened % 2
            if (odd or opened > closed) and self.text.startswith(closing, end):
                end += 1
            elif (odd or opened < closed) and start and self.text.startswith(opening, start - 1):
                start -= 1
        return self._span(start, end)

    @cached_property
    def _sentences(self) -> list[tuple[Span, frozenset[str]]]:
        return [(self._span(start, end), frozenset(words(self.text[start:end])))
                for start, end in split_sentences(self.text)]

    @cached_property
    def _values(self) -> list[Span]:
        return [self._span(value.start, value.end) for value in find_values(self.text)]

    @cached_property
    def _places(self) -> list[tuple[str, int, int]]:
        # What is quoted letter by letter needs no words.
        return word_places(self.text)

    @cached_property
    def _words(self) -> JoinedWords:
        return JoinedWords(self._places)

    @cached_property
    def _plain_words(self) -> JoinedWords:
        """The text's words without articles and asides."""
        bare = _ASIDES.sub(lambda aside: " " * len(aside[0]), self.text)
        places = self._places if bare == self.text else word_places(bare)
        return JoinedWords([place for place in places if place[0] not in _ARTICLES])

    @cached_property
    def _singular_words(self) -> JoinedWords:
        """The text's words without articles, asides and plurals."""
        bare = _ASIDES.sub(lambda aside: " " * len(aside[0]), self.text)
        return JoinedWords([(singular(word), start, end) for word, start, end in word_places(bare)
                       if word not in _ARTICLES])

    @cached_property
    def _all_words(self) -> frozenset[str]:
        """The words of the text and of what stands above it."""
        return frozenset(word for text in (self.text, *self._titles) for word in words(text))

    @cached_property
    def _common_words(self) -> frozenset[str]:
        """Those of them that are written in small letters, and the numbers."""
        return frozenset(word for text in (self.text, *self._titles) for word in written_words(text)
                         if word.islower() or word[0].isdigit())

    @cached_property
    def _folded_above(self) -> str:
        """What stands above the text, folded."""
        return "\n".join(fold_text(text)[0] for text in self._titles)

    @cached_property
    def _folded(self) -> str:
        """The text and what stands above it, folded."""
        return f"{fold_text(self.text)[0]}\n{self._folded_above}"

    @cached_property
    def _title_words(self) -> list[JoinedWords]:
        return [JoinedWords(word_places(title)) for title in self._titles]

    def _span(self, start: int, end: int) -> Span:
        return Span(start=start, end=end, quote=self.text[start:end])


def _is_unbalanced(name: str) -> bool:
    return any(name.count(opening) % 2 if opening == closing else name.count(opening) != name.count(closing)
               for opening, closing in _PAIRS)


def _joins(text: str, position: int) -> bool:
    """Return True if the characters before and after a position belong to one word."""
    if not 0 < position < len(text):
        return False
    return bool(_LETTERS.match(text, position - 1)) or unicodedata.combining(text[position]) != 0
