"""The ranking of sentences and table rows by how well they answer a question.

No model runs. A unit's score depends on the share of the question's words that it, its headings or its neighbours
contain, the same or (for English) a similar word, with rare words weighted more. It also depends on its passage's rank
and on whether it contains a span of the expected kind.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ...schemas.naming import canonical_name, has_any_name, has_name
from ...schemas.retrieval import Passage
from ...text.content_words import spoken_words, stem
from ...text.dates import parse_date, spell_dates
from ...text.lexicon import words
from ...text.quantities import find_numbers, find_values
from ...text.section_lines import mark_length
from ...text.titles import plain_title
from ..parsing.parser import Parser
from .likeness import likeness
from .question import Question, tells_time
from .recognition.names import find_names, names_in
from .recognition.spans import Span, cue_language, find_spans
from .units import Unit, find_units

Scores = NDArray[np.float64]

_READ, _READ_NAMED = 9, 12
"""The most passages read, best first, and those of each document that the question names."""
_FEW = 2
"""The most documents whose titles have a name that means a document."""
_CONTEXT = 0.5
"""The weight of a word in a sentence before the one that asks."""
_GAIN = 0.05
"""The least share of a question's words that a quote adds to the best one, to be shown for a name that they share."""
_SHORTEST = 3
"""Letters of a capitalised word that is too short for a name."""
_IN_HEADING, _BESIDE = 0.9, 0.5
"""The weight of a word that only the heading, or only an adjacent sentence, contains."""
_REFERS = re.compile(r"(?:This|It|They|These|He|She|Its|Their|其|它|该|这)(?![a-z])(?! (?:document|section|page)\b)")
"""The beginning of a sentence that speaks of what the one before names."""
_TRUST, _TYPED = 0.2, 0.15
"""The bonus for the best passage's rank, and for a span of the expected kind."""
_TYPED_UNITS = 8
"""The number of units of a question that are searched for spans, best first."""
_MOST = 3
_ASKING = words("long old far tall high large big deep fast heavy wide often late early name")
"""Words of 'how long' and similar forms, which an answer need not contain."""

KINDS: dict[str, frozenset[str]] = {
    "person": frozenset({"person"}), "location": frozenset({"location", "name"}),
    "organization": frozenset({"organization", "name"}),
    "name": frozenset({"person", "organization", "location", "event", "work", "product", "award", "name"}),
    "date": frozenset({"date"}), "number": frozenset({"number"}),
}
"""The kinds of spans that may answer, by the expected kind."""


@dataclass(frozen=True, slots=True)
class Found:
    """A unit and how well it answers.

    `covered` is the share of the question's words in it, 0 to 1. `least_certain_word` is the certainty of the question
    word, names aside, that is least certainly in it. `score` ranks the units. `spans` are the spans of the expected
    kind that the question does not contain. `says` is what each word of the question adds to `covered`, by the unit
    and the sentences beside it.
    """

    unit: Unit
    covered: float
    least_certain_word: float
    score: float
    spans: tuple[Span, ...] = ()
    says: tuple[float, ...] = ()


class Finder:
    """The units of passages, searched for several questions."""

    def __init__(self, passages: Sequence[Passage], parser: Parser, named: Sequence[str] = ()) -> None:
        """Split passages into units.

        Args:
            passages: the context, best first; facts and reports are ignored.
            parser: finds names in English sentences.
            named: the documents of which more passages are read; each has a quote.
        """
        self.parser, self.named = parser, named
        read = [(number, passage) for number, passage in enumerate(passages, 1) if not passage.statement]
        wanted = [[one for one in read if one[1].document == document][:_READ_NAMED] for document in named]
        read = sorted({number: passage for some in (read[:_READ], *wanted) for number, passage in some}.items())
        self.passages = passages
        self.units = [unit for number, passage in read for unit in find_units(number, passage)]
        best = max((passage.score for _, passage in read), default=0.0)
        self._trust = np.array([passages[unit.passage - 1].score / best if best > 0 else 0.0 for unit in self.units])
        # Texts repeat: a sentence is also a neighbour of others, and a heading is above many. Each is compared once.
        around = [[unit.text for unit in self.units], [unit.heading for unit in self.units],
                  [unit.before for unit in self.units], [unit.after for unit in self.units]]
        self._texts = list(dict.fromkeys(text for texts in around for text in texts))
        place = {text: at for at, text in enumerate(self._texts)}
        self._places = [np.array([place[text] for text in texts], np.intp) for texts in around]
        self._language = cache(lambda number: cue_language(passages[number - 1].text, parser))

    def search(self, question: Question) -> list[Found]:
        """Return all units, best first."""
        if not self.units:
            return []
        covered, least, scores, says = self._cover(question)
        scores = scores + _TRUST * self._trust
        spans: dict[int, tuple[Span, ...]] = {}
        if question.has_form:
            scores = scores + _TYPED / 2 * np.array([unit.row is not None for unit in self.units])
            best = [int(at) for at in np.argsort(-scores, kind="stable")[:_TYPED_UNITS] if self.units[at].row is None]
            spans = dict(zip(best, self._spans(question, [self.units[at] for at in best]), strict=True))
            for at in best:
                timed = question.expected == "date" and tells_time(self.units[at].text)
                scores[at] += _TYPED * bool(spans[at] or timed)
        order = np.argsort(-scores, kind="stable")
        return [Found(self.units[at], float(covered[at]), float(least[at]), float(scores[at]), spans.get(int(at), ()),
                      tuple(says[at].tolist())) for at in order]

    def share(self, question: Question, text: str) -> tuple[float, float]:
        """Return how well a text covers the words of the sentence that asks: the mean score, and the lowest of a word.

        In Chinese both are the mean, as its words are cut less surely.
        """
        asked, stems = _asked_words(question, question.asking)
        counts = [word != question.count_word for word in asked]
        said = {text: frozenset(question.words_of(text))}
        says = _says(question, asked, stems, said)[0][counts] if any(counts) else np.zeros(1)
        return float(says.mean()), float(says.mean() if question.language == "zh" else says.min())

    def quotes(self, found: Sequence[Found], most: int = _MOST) -> list[Found]:
        """Return the best units whose quotes differ and do not overlap, with the best one of each named document.

        One of them complements the first: of a nested question it is what answers the second part.
        """
        by_document = {self.passages[item.unit.passage - 1].document: item for item in reversed(found)}
        named = [by_document[document] for document in self.named if document in by_document][:most]
        lead = (named or found)[:1]
        chosen: dict[str, Found] = {}
        for item in (*named, *found[:most - 1], *self._complements(lead, found), *found):
            if len(chosen) < most and all(_is_apart(self._place(item.unit), self._place(other.unit))
                                          for other in chosen.values()):
                words = self.passages[item.unit.passage - 1].text[slice(*item.unit.quote)]
                chosen.setdefault(" ".join(words.split()), item)
        return sorted(chosen.values(), key=found.index)

    def _complements(self, lead: Sequence[Found], found: Sequence[Found]) -> list[Found]:
        """Return the unit that says most of what the best one does not, about a name that the best one brings."""
        if not lead or not lead[0].says:
            return []
        names = [name for name in names_in(lead[0].unit.text) if len(name) > _SHORTEST or not name.isascii()]
        about = [item for item in found if has_any_name(f"{item.unit.before} {item.unit.text}", names)]
        gains = [sum(max(0.0, other - own) for other, own in zip(item.says, lead[0].says, strict=True))
                 for item in about]
        gain = max(gains, default=0.0)
        return [about[gains.index(gain)]] if gain >= _GAIN else []

    def _place(self, unit: Unit) -> tuple[str, int, int]:
        passage = self.passages[unit.passage - 1]
        return passage.document, passage.start + unit.quote[0], passage.start + unit.quote[1]

    def _cover(self, question: Question) -> tuple[Scores, Scores, Scores, Scores]:
        """Return how well each unit covers the question.

        Returns:
            Float arrays of shape (units,): the share of the words of the sentence that asks, the certainty of the least
            certain of them without names and the requested noun, and the share of all words.
        """
        asked, stems = _asked_words(question, question.text)
        if not asked:
            none = np.zeros(len(self.units))
            return none, np.ones(len(self.units)), none, np.zeros((len(self.units), 0))
        asking = frozenset(_asked_words(question, question.asking)[0])
        said = {text: frozenset(question.words_of(text)) for text in self._texts}
        counts = Counter(word for unit in self.units for word in said[unit.text])
        rare = np.array([math.log(1 + (len(self.units) + 1) / (counts[word] + 0.5)) for word in stems])
        asks = np.array([word in asking for word in asked])
        says = _says(question, asked, stems, said)
        own, above, before, after = (says[places] for places in self._places)
        beside = np.array([[_IN_HEADING if _REFERS.match(unit.text) else _BESIDE] for unit in self.units])
        best: Scores = np.maximum.reduce([own, _IN_HEADING * above, beside * before, _BESIDE * after])
        named = frozenset(word for name in (*question.names, question.focus) for word in question.words_of(name))
        others = [at for at, word in enumerate(stems)
                  if word not in named and asked[at] not in _ASKING and asked[at] in asking]
        # Pairs of Chinese characters cross the borders of words, so a few always differ.
        least = (best[:, others].mean(axis=1) if question.language == "zh" and others
                 else best[:, others].min(axis=1, initial=1.0))
        weights, own_weights = np.where(asks, rare, _CONTEXT * rare), np.where(asks, rare, 0.0)
        own_weights = own_weights if own_weights.any() else weights
        return (best @ (own_weights / own_weights.sum()), least, best @ (weights / weights.sum()),
                np.maximum(own, _BESIDE * np.maximum(before, after)) * (weights / weights.sum()))

    def _name_spans(self, units: Sequence[Unit]) -> list[list[Span]]:
        """Return the spans of sentences, including capitalised words of unknown kind."""
        texts, languages = [unit.text for unit in units], [self._language(unit.passage) for unit in units]
        return [[*spans, *(Span(start, end, "name") for start, end in find_names(text) if not language and start > 0
                           and all(end <= span.start or start >= span.end for span in spans))]
                for text, language, spans in zip(texts, languages, find_spans(
                    texts, self.parser, languages=languages), strict=True)]

    def _spans(self, question: Question, units: Sequence[Unit]) -> list[tuple[Span, ...]]:
        kinds = KINDS[question.expected]
        spans = ([_values(unit.text, question) for unit in units] if question.expected in {"date", "number"}
                 else self._name_spans(units))
        return [tuple(span for span in sorted(found, key=lambda span: span.start)
                      if span.kind in kinds and not has_name(question.text, unit.text[span.start : span.end]))
                for unit, found in zip(units, spans, strict=True)]


def named_documents(question: Question, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return the documents that a question names by their titles or files, or by a name that few titles have."""
    titles = {passage.document: plain_title(passage.title) for passage in passages}
    asked = frozenset(question.words_of(question.text))
    quoted = [name for name in question.names if f"《{name}》" in question.text]
    found = dict.fromkeys(document for document, title in titles.items() if not quoted
                          and len(words := question.words_of(title)) > 1 and asked.issuperset(words))
    for name in quoted or question.names:
        exact = [document for document, title in titles.items() if canonical_name(name) in {
            canonical_name(title), canonical_name(plain_title(document))}]
        having = exact or [document for document, title in titles.items() if not found and has_name(title, name)]
        found |= dict.fromkeys(having if len(having) <= _FEW else ())
    return tuple(found)


def _asked_words(question: Question, text: str) -> tuple[list[str], list[str]]:
    """Return the distinct words of a question, and the stem of each."""
    if question.language == "en":
        asked = list(dict.fromkeys(spoken_words(spell_dates(text, chinese=False))))
        return asked, [stem(word) for word in asked]
    asked = list(dict.fromkeys(question.words_of(text)))
    if question.has_form:  # an answer to 哪个城市 need not contain the word
        asked = [word for word in asked if word not in question.words_of(question.focus)] or asked
    return asked, asked


def _values(text: str, question: Question) -> list[Span]:
    """Return the dates of a sentence that may answer, and its other numbers, including those written as words."""
    dates = [Span(value.start, value.end, "date") for value in find_values(text) if value.kind == "date" and not (
        "year" in question.focus and parse_date(value.text).startswith("X"))]  # 3 May is in no year
    mark = mark_length(text)
    numbers = [Span(start, end, "number") for start, end in find_numbers(text, counts=True) if start >= mark]
    return [*dates, *(number for number in numbers if all(
        number.end <= date.start or number.start >= date.end for date in dates))]


def _says(question: Question, asked: Sequence[str], stems: Sequence[str], texts: Mapping[str, Set[str]]) -> Scores:
    """Return the certainty that each text says each word: 1 for its stem, else in English the best cosine of a word."""
    exact: Scores = np.array([[float(word in own) for word in stems] for own in texts.values()]
                             ).reshape(len(texts), len(stems))
    return np.maximum(exact, likeness(asked, [*texts]).astype(np.float64)) if question.language == "en" else exact


def _is_apart(left: tuple[str, int, int], right: tuple[str, int, int]) -> bool:
    return left[0] != right[0] or left[2] <= right[1] or right[2] <= left[1]
