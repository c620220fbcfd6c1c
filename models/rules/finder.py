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

import numpy as np
from numpy.typing import NDArray

from ...schemas.naming import canonical_name, has_any_name, has_name
from ...schemas.retrieval import Passage
from ...text.content_words import spoken_words, stem
from ...text.dates import parse_date, spell_dates
from ...text.lexicon import word_set
from ...text.quantities import find_numbers, find_values
from ...text.section_lines import mark_length
from ...text.titles import plain_title
from ..parsing.parser import Parser
from .likeness import likeness
from .question import ASKS_PHONE, Question, foreign_forms, tells_time
from .recognition.name_kinds import Span, without_overlaps
from .recognition.names import find_names, names_in
from .recognition.spans import find_spans
from .units import Unit, find_units

Scores = NDArray[np.float64]

_PASSAGES_READ, _PASSAGES_READ_OF_NAMED = 9, 12
"""The most passages read, best first, and the most of each document that the question names."""
_MOST_TITLES_WITH_NAME = 2  # a name in the titles of more documents than these does not identify a document
_CONTEXT_WEIGHT = 0.5  # the weight of a word in a sentence before the one that asks
_LEAST_GAIN = 0.05
"""The least share of the question's words that a quote must add to the best quote to be shown as its complement."""
_TOO_SHORT_NAME = 3  # a capitalised word of at most this many letters does not count as a name
_HEADING_WEIGHT, _NEIGHBOUR_WEIGHT = 0.9, 0.5
"""The weight of a word that only the heading, or only an adjacent sentence, contains."""
_REFERRING_OPENING = re.compile(
    r"(?:This|It|They|These|He|She|Its|Their|其|它|该|这)(?![a-z])(?! (?:document|section|page)\b)")
"""The beginning of a sentence that speaks of what the one before names."""
_RANK_BONUS, _KIND_BONUS = 0.2, 0.15
"""The bonus for the best passage's rank, and for a span of the expected kind."""
_PHONE = re.compile(r"(?<!\d)(?<!\d[.-])\+?\d[\d() /-]{5,17}\d(?![.-]?\d)")
_NUMBERED_NOUN = re.compile(r"\bwh(?:ich|at) ([a-z]{2,20})\b", re.IGNORECASE)
_UNITS_SEARCHED_FOR_SPANS = 8
"""The number of units of a question that are searched for spans, best first."""
_MOST_QUOTES = 3
_MEASURE_WORDS = word_set("long old far tall high large big deep fast heavy wide often late early name")
"""Words of 'how long' and similar forms, which an answer need not contain."""
_NUMERALS = word_set("two three four five six seven eight nine ten 两 二 三 四 五 六 七 八 九 十")

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

    `covered` is the share of the question's words in it, 0 to 1. For each word of the question there is a certainty
    that the unit says it; `least_certain_word` is the lowest of these, without the words of names. `score` ranks the
    units. `spans` are the spans of the expected kind that the question does not contain. `says` is what each word of
    the question contributes to `covered` through the unit itself and the sentences next to it.
    """

    unit: Unit
    covered: float
    least_certain_word: float
    score: float
    spans: tuple[Span, ...] = ()
    says: tuple[float, ...] = ()


TRUSTED_LESS = 1


def tier_of(passage: Passage) -> int:
    """Return 0 for a passage that is preferred, 1 for one of a less trusted document, 2 if it is not in force."""
    return 2 if passage.is_outdated else TRUSTED_LESS * passage.is_trusted_less


class Finder:
    """The units of passages, searched for several questions."""

    def __init__(self, passages: Sequence[Passage], parser: Parser, named: Sequence[str] = (), *,
                 tier: int = 0) -> None:
        """Split passages, best first, into units; facts and reports among them are ignored.

        Only passages of one tier are read; see `tier_of`.

        `named` are the documents that the question names: more of their passages are read, and each gets a quote.
        """
        self.parser, self.named, self.tier, self.passages = parser, named, tier, passages
        readable = [number for number, passage in enumerate(passages, 1)
                    if not passage.statement and tier_of(passage) == tier]
        numbers = set(readable[:_PASSAGES_READ])
        for document in named:
            of_document = [number for number in readable if passages[number - 1].document == document]
            numbers.update(of_document[:_PASSAGES_READ_OF_NAMED])
        self.units = [unit for number in sorted(numbers) for unit in find_units(number, passages[number - 1])]
        best_score = max((passages[number - 1].score for number in numbers), default=0.0)
        self._passage_scores = np.array([passages[unit.passage - 1].score / best_score if best_score > 0 else 0.0
                                         for unit in self.units])
        # Texts repeat: a sentence is also a neighbour of others, and a heading is above many. Each is compared once.
        # `_text_rows` are the indices in `_texts` of each unit's own text, heading, and sentence before and after.
        around = [[unit.text for unit in self.units], [unit.heading for unit in self.units],
                  [unit.before for unit in self.units], [unit.after for unit in self.units]]
        self._texts = list(dict.fromkeys(text for texts in around for text in texts))
        row_of = {text: row for row, text in enumerate(self._texts)}
        self._text_rows = [np.array([row_of[text] for text in texts], np.intp) for texts in around]

    def search(self, question: Question) -> list[Found]:
        """Return all units, best first.

        The score is the share of the question's words that a unit covers, plus bonuses for the rank of its passage
        and for a span of the expected kind.
        """
        if not self.units:
            return []
        covered, least, scores, says = self._cover_question(question)
        scores = scores + _RANK_BONUS * self._passage_scores
        spans: dict[int, tuple[Span, ...]] = {}
        if question.has_form:
            # Rows are not searched for spans, so each gets half the bonus.
            scores = scores + _KIND_BONUS / 2 * np.array([unit.row is not None for unit in self.units])
            candidates = np.argsort(-scores, kind="stable")[:_UNITS_SEARCHED_FOR_SPANS]
            best = [int(index) for index in candidates if self.units[index].row is None]
            spans = dict(zip(best, self._answer_spans(question, [self.units[index] for index in best]), strict=True))
            for index in best:
                has_time = question.expected == "date" and tells_time(self.units[index].text)
                scores[index] += _KIND_BONUS * bool(spans[index] or has_time)
        order = [int(index) for index in np.argsort(-scores, kind="stable")]
        return [Found(self.units[index], float(covered[index]), float(least[index]), float(scores[index]),
                      spans.get(index, ()), tuple(says[index].tolist())) for index in order]

    def share(self, question: Question, text: str) -> tuple[float, float]:
        """Return how well a text covers the words of the sentence that asks: their mean and their lowest certainty.

        In Chinese both are the mean, because the splitting into words is less reliable. A numeral says how many things
        are asked for ("which two") and is ignored.
        """
        asked, stems = _asked_words(question, question.asking)
        is_compared = [word not in _NUMERALS for word in asked]
        if not any(is_compared):
            return 0.0, 0.0
        words_of_text = {text: frozenset(question.words_of(text))}
        certainties = _word_certainties(question, asked, stems, words_of_text)[0][is_compared]
        mean = float(certainties.mean())
        return mean, mean if question.language == "zh" else float(certainties.min())

    def quotes(self, found: Sequence[Found], most: int = _MOST_QUOTES) -> list[Found]:
        """Return the units to quote, best first: their quotes differ and do not overlap.

        Of all units `found`, best first, they are the best one of each document that the question names, then the best
        ones of all, then one that complements the first quote and answers the second part of a nested question.
        """
        best_by_document = {self.passages[item.unit.passage - 1].document: item for item in reversed(found)}
        of_named = [best_by_document[document] for document in self.named if document in best_by_document][:most]
        first, best = (of_named or found)[:1], found[:most - 1]  # leaves a place for the complement
        # Where sentences before the one that asks give context, the best units may answer these alone.
        asking = max(found[:_UNITS_SEARCHED_FOR_SPANS], key=lambda item: item.covered, default=None)
        if asking and asking.covered >= max(item.covered for item in (*of_named, *best)) + _LEAST_GAIN:
            best = [found[0], asking]
        chosen: dict[str, Found] = {}  # by the words of the quote
        for item in (*of_named, *best, *self._best_complement(first, found), *found):
            overlaps = any(self._overlap(item.unit, other.unit) for other in chosen.values())
            if len(chosen) < most and not overlaps:
                quote = self.passages[item.unit.passage - 1].text[slice(*item.unit.quote)]
                chosen.setdefault(" ".join(quote.split()), item)
        return sorted(chosen.values(), key=found.index)

    def _best_complement(self, first: Sequence[Found], found: Sequence[Found]) -> list[Found]:
        """Return the unit that best complements the first quote (`first` has at most one), or nothing."""
        if not first or not first[0].says:
            return []
        names = [name for name in names_in(first[0].unit.text) if len(name) > _TOO_SHORT_NAME or not name.isascii()]
        best_gain, best = 0.0, list[Found]()
        for item in found:
            gain = sum(max(0.0, other - own) for other, own in zip(item.says, first[0].says, strict=True))
            is_better = gain >= _LEAST_GAIN and gain > best_gain
            if is_better and has_any_name(f"{item.unit.before} {item.unit.text}", names):
                best_gain, best = gain, [item]
        return best

    def _overlap(self, unit: Unit, other: Unit) -> bool:
        """Return True if the quotes of two units overlap in their document; passages of it may overlap, too."""
        passage, other_passage = self.passages[unit.passage - 1], self.passages[other.passage - 1]
        (start, end), (other_start, other_end) = unit.quote, other.quote
        return (passage.document == other_passage.document and other_passage.start + other_start < passage.start + end
                and passage.start + start < other_passage.start + other_end)

    def _cover_question(self, question: Question) -> tuple[Scores, Scores, Scores, Scores]:
        """Return how each unit covers the words of a question, as four arrays with a row for each unit.

        They are the share of the words of the sentence that asks; the least certainty of a word that is no name; the
        share of all words, by which units are ranked; and what each word contributes through the unit itself and the
        sentences next to it, of shape (units, words).
        """
        asked, stems = _asked_words(question, question.text)
        if not asked:
            zeros = np.zeros(len(self.units))
            return zeros, np.ones(len(self.units)), zeros, np.zeros((len(self.units), 0))
        asking = frozenset(_asked_words(question, question.asking)[0])
        words_of = {text: frozenset(question.words_of(text)) for text in self._texts}
        certainties = _word_certainties(question, asked, stems, words_of)
        own, above, before, after = (certainties[rows] for rows in self._text_rows)
        # A sentence that begins with "It" speaks of what the sentence before it names.
        before_weight = np.array([[_HEADING_WEIGHT if _REFERRING_OPENING.match(unit.text) else _NEIGHBOUR_WEIGHT]
                                  for unit in self.units])
        until_here: Scores = np.maximum.reduce([own, _HEADING_WEIGHT * above, before_weight * before])
        best: Scores = np.maximum(until_here, _NEIGHBOUR_WEIGHT * after)
        # A word that few units have weighs more, and one of a sentence before the one that asks weighs less.
        counts = Counter(word for unit in self.units for word in words_of[unit.text])
        rarity = np.array([math.log(1 + (len(self.units) + 1) / (counts[word] + 0.5)) for word in stems])
        is_asking = np.array([word in asking for word in asked])
        weights = np.where(is_asking, rarity, _CONTEXT_WEIGHT * rarity)
        asking_weights = np.where(is_asking, rarity, 0.0) if is_asking.any() else weights
        share = weights / weights.sum()
        says = np.maximum(own, _NEIGHBOUR_WEIGHT * np.maximum(before, after)) * share
        least = _least_certainties(question, asked, stems, until_here)
        return best @ (asking_weights / asking_weights.sum()), least, best @ share, says

    def _answer_spans(self, question: Question, units: Sequence[Unit]) -> list[tuple[Span, ...]]:
        """Return the spans of each unit that may answer: of the expected kind, and not in the question, ascending."""
        is_value, kinds = question.expected in {"date", "number"}, KINDS[question.expected]
        found = [_dates_or_numbers(unit, question) for unit in units] if is_value else self._name_spans(question, units)
        return [tuple(span for span in sorted(spans, key=lambda span: span.start)
                      if span.kind in kinds and not has_name(question.text, unit.text[span.start : span.end]))
                for unit, spans in zip(units, found, strict=True)]

    def _name_spans(self, question: Question, units: Sequence[Unit]) -> list[list[Span]]:
        """Return the names of each unit: recognised ones, those by capitals, and the numbers of things."""
        texts = [unit.text.title() if unit.text.isupper() and unit.text.isascii() else unit.text for unit in units]
        numbered = _NUMBERED_NOUN.search(question.asking)  # "Which RFC" is answered by "RFC 20"
        identifier = re.compile(rf"\b{numbered[1]}[ -]\d[\d.]*\b" if numbered else r"(?!)", re.IGNORECASE)
        found = list[list[Span]]()
        for text, spans in zip(texts, find_spans(texts, self.parser), strict=True):
            identifiers = [Span(*match.span(), "name") for match in identifier.finditer(text)]
            # The first word of a sentence has a capital anyway.
            capitalised = [Span(*place, "name") for place in find_names(text) if place[0] > 0]
            found.append(without_overlaps(identifiers, spans, capitalised))
        return found


def named_documents(question: Question, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return the documents that a question names, each once.

    A document is named if the question has all words of its title, or its title or file name as a name. If no title
    is in the question like that, a name that only a few titles contain identifies these documents. Titles that the
    question has in 《》 go before all other names.
    """
    titles = {passage.document: plain_title(passage.title) for passage in passages}
    asked = frozenset(question.words_of(question.text))
    quoted = [name for name in question.names if f"《{name}》" in question.text]
    named: dict[str, None] = {}
    for document, title in titles.items() if not quoted else ():
        title_words = question.words_of(title)
        if len(title_words) > 1 and asked.issuperset(title_words):
            named[document] = None
    for name in quoted or question.names:
        canonical = canonical_name(name)
        called_so = [document for document, title in titles.items()
                     if canonical in {canonical_name(title), canonical_name(plain_title(document))}]
        if not called_so and not named:
            called_so = [document for document, title in titles.items() if has_name(title, name)]
        if len(called_so) <= _MOST_TITLES_WITH_NAME:
            named |= dict.fromkeys(called_so)
    return tuple(named)


def _asked_words(question: Question, text: str) -> tuple[list[str], list[str]]:
    """Return the distinct words of a question's text, and for each the form that is compared: in English its stem."""
    if question.language == "en":
        asked = list(dict.fromkeys(spoken_words(spell_dates(text, chinese=False))))
        return asked, [stem(word) for word in asked]
    form = foreign_forms().get(question.language, {}).get(question.expected)
    asked = list(dict.fromkeys(question.words_of(form.sub(" ", text) if form else text)))  # no "hoch" of "wie hoch"
    if question.has_form:  # an answer to 哪个城市 need not contain the word
        asked = [word for word in asked if word not in question.words_of(question.focus)] or asked
    return asked, asked


def _dates_or_numbers(unit: Unit, question: Question) -> list[Span]:
    """Return the dates and the numbers of a sentence, including relative dates and numbers written as words."""
    text = unit.text
    if ASKS_PHONE.search(question.asking):
        return [Span(*match.span(), "number") for match in _PHONE.finditer(text)]
    asks_year = "year" in question.focus
    dates = [Span(value.start, value.end, "date") for value in find_values(text)
             if value.kind == "date" and not (asks_year and parse_date(value.text).startswith("X"))]
    relative = [Span(one.start, one.end, "date") for one in unit.relative_dates]
    dates = [*relative, *(date for date in dates if not _overlaps_any(date, relative))]
    list_mark_end = mark_length(text)
    numbers = [Span(start, end, "number") for start, end in find_numbers(text, counts=True) if start >= list_mark_end]
    return [*dates, *(number for number in numbers if not _overlaps_any(number, dates))]


def _overlaps_any(span: Span, others: Sequence[Span]) -> bool:
    return any(span.start < other.end and other.start < span.end for other in others)


def _least_certainties(question: Question, asked: Sequence[str], stems: Sequence[str], certainties: Scores) -> Scores:
    """Return for each unit the least certainty that it says a word of the sentence that asks and that is no name."""
    # In Chinese it is the mean: pairs of characters cross the borders of words, so a few always differ. What only the
    # next sentence says does not count ("After his death"), as it does not say it of a name in this one.
    asking = frozenset(_asked_words(question, question.asking)[0])
    name_words = frozenset(word for name in (*question.names, question.focus) for word in question.words_of(name))
    required = [index for index, word in enumerate(stems)
                if word not in name_words and asked[index] not in _MEASURE_WORDS and asked[index] in asking]
    if question.language == "zh" and required:
        mean: Scores = certainties[:, required].mean(axis=1)
        return mean
    least: Scores = certainties[:, required].min(axis=1, initial=1.0)
    return least


def _word_certainties(question: Question, asked: Sequence[str], stems: Sequence[str],
                      texts: Mapping[str, Set[str]]) -> Scores:
    """Return the certainty that each text says each word, as an array of shape (texts, words).

    `stems` are the forms of the words `asked` that are compared, and `texts` gives the words of each text.
    """
    exact: Scores = np.zeros((len(texts), len(stems)))
    for row, words_of_text in enumerate(texts.values()):
        exact[row] = [word in words_of_text for word in stems]
    return np.maximum(exact, likeness(asked, [*texts]).astype(np.float64)) if question.language == "en" else exact
