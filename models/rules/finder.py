"""The ranking of sentences and table rows by how well they answer a question.

No model runs. A unit's score is the share of the question's words that it, its headings or its neighbours contain, the
same or (for English) a similar word, with rare words weighted more, and a bonus for its passage's rank.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter

import numpy as np
from numpy.typing import NDArray

from ...schemas.naming import canonical_name, has_any_name, has_name
from ...schemas.retrieval import Passage
from ...text.content_words import spoken_words, stem
from ...text.dates import spell_dates
from ...text.lexicon import word_set
from ...text.section_lines import plain_title
from ..parsing.parser import Parser
from .likeness import likeness
from .question import Question, foreign_forms
from .recognition.names import names_in
from .units import Unit, find_units

Scores = NDArray[np.float64]

_PASSAGES_READ = 9  # the most passages read, best first, and the most of each document that the question names
_MOST_TITLES_WITH_NAME = 2  # a name in the titles of more documents than these does not identify a document
_HEADING_WEIGHT, _NEIGHBOUR_WEIGHT = 0.9, 0.5  # of a word that only the heading, or only an adjacent sentence, contains
_REFERRING_WORDS = ("This ", "It ", "They ", "These ", "He ", "She ", "Its ", "Their ", "其", "它", "该", "这")
"""The beginnings of a sentence that speaks of what the one before names."""
_RANK_BONUS = 0.3  # the bonus for the best passage's rank
_LEAST_GAIN = 0.05  # the least share of the question's words that a quote must add to the first quote to complement it
_UNITS_COMPARED = 20  # of so many best units, one may cover the sentence that asks better than the first ones
_MOST_QUOTES = 3
_NUMERALS = word_set("two three four five six seven eight nine ten")  # which the text above a list need not say
TRUSTED_LESS = 1


def tier_of(passage: Passage) -> int:
    """Return 0 for a passage that is preferred, 1 for one of a less trusted document, 2 if it is not in force."""
    return 2 if passage.is_outdated else TRUSTED_LESS * passage.is_trusted_less


@dataclass(frozen=True, slots=True)
class Found:
    """A unit and how well it answers.

    `covered` is the share of the question's words in it, 0 to 1. For each word of the question there is a certainty
    that the unit says it; `least_certain_word` is the lowest of these, without the words of names. `score` ranks the
    units. `says` is what each word adds to `covered` by the unit itself and the sentences next to it.
    """

    unit: Unit
    covered: float
    least_certain_word: float
    score: float
    says: tuple[float, ...]


class Finder:
    """The units of passages, searched for several questions."""

    def __init__(self, passages: Sequence[Passage], parser: Parser, named: Sequence[str] = (), *,
                 tier: int = 0) -> None:
        """Split passages of one tier, best first, into units; of `named` documents more, and each gets a quote."""
        self.parser, self.named, self.tier, self.passages = parser, named, tier, passages
        readable = [number for number, passage in enumerate(passages, 1)
                    if not passage.statement and tier_of(passage) == tier]
        numbers = set(readable[:_PASSAGES_READ])
        for document in named:
            numbers.update([one for one in readable if passages[one - 1].document == document][:_PASSAGES_READ])
        self.units = [unit for number in sorted(numbers) for unit in find_units(number, passages[number - 1])]
        best_score = max((passages[number - 1].score for number in numbers), default=0.0) or 1.0  # never divide by 0
        self._passage_scores = np.array([passages[unit.passage - 1].score / best_score for unit in self.units])

    def search(self, question: Question) -> list[Found]:
        """Return all units, best first; none for a question without content words."""
        asked = _asked_words(question, question.text)
        asking = _asked_words(question, question.asking)  # those of the sentence that asks
        if not self.units or not asked:
            return []
        own = self._certainties(question, asked, [unit.text for unit in self.units])
        above = self._certainties(question, asked, [unit.heading for unit in self.units])
        before = self._certainties(question, asked, [unit.before for unit in self.units])
        after = self._certainties(question, asked, [unit.after for unit in self.units])
        refers = [unit.text.startswith(_REFERRING_WORDS) for unit in self.units]
        before_weight = np.where(refers, _HEADING_WEIGHT, _NEIGHBOUR_WEIGHT)[:, None]
        without_next: Scores = np.maximum.reduce([own, _HEADING_WEIGHT * above, before_weight * before])
        best: Scores = np.maximum(without_next, _NEIGHBOUR_WEIGHT * after)
        # A word that few units have weighs more, by its inverse document frequency.
        counts = Counter(word for unit in self.units for word in set(question.words_of(unit.text)))
        weights = np.array([math.log(1 + (len(self.units) + 1) / (counts[form] + 0.5)) for form in asked.values()])
        is_asking = np.array([word in asking for word in asked])
        share = weights / weights.sum()
        scores = best @ share + _RANK_BONUS * self._passage_scores
        # Sentences before the one that asks give context, which need not be in the answer.
        asking_weights = np.where(is_asking, weights, 0.0) if is_asking.any() else weights
        covered = best @ (asking_weights / asking_weights.sum())
        # An answer need not repeat the requested noun, and names are compared as wholes elsewhere.
        name_words = {word for name in (*question.names, question.focus) for word in question.words_of(name)}
        required = [index for index, (word, form) in enumerate(asked.items())
                    if word in asking and form not in name_words]
        # What only the next sentence says does not count here, as it does not say it of a name in this one.
        least = _least(question, without_next[:, required])
        says = np.maximum(own, _NEIGHBOUR_WEIGHT * np.maximum(before, after)) * share
        return [Found(self.units[index], float(covered[index]), float(least[index]), float(scores[index]),
                      tuple(says[index].tolist())) for index in np.argsort(-scores, kind="stable")]

    def share(self, question: Question, text: str) -> tuple[float, float]:
        """Return how well a text covers the words of the sentence that asks: their mean and their lowest certainty."""
        words = _asked_words(question, question.asking)
        asked = {word: form for word, form in words.items() if word not in _NUMERALS}
        if not asked:
            return 0.0, 0.0
        certainties = self._certainties(question, asked, [text])
        return float(certainties.mean()), float(_least(question, certainties)[0])

    def _certainties(self, question: Question, asked: dict[str, str], texts: Sequence[str]) -> Scores:
        """Return the certainty that each text says each word, as an array of shape (texts, words)."""
        distinct = list(dict.fromkeys(texts))  # a sentence is also a neighbour of others, and a heading is above many
        words_of = [frozenset(question.words_of(text)) for text in distinct]
        certainties: Scores = np.array([[form in words for form in asked.values()] for words in words_of], np.float64)
        if question.language == "en":
            certainties = np.maximum(certainties, likeness([*asked], distinct).astype(np.float64))
        row_of = {text: row for row, text in enumerate(distinct)}
        return certainties[[row_of[text] for text in texts]]

    def quotes(self, found: Sequence[Found], most: int = _MOST_QUOTES) -> list[Found]:
        """Return at most `most` units to quote, best first: their quotes differ and do not overlap.

        Of all units `found`, best first and at least one, they are the best one of each document that the question
        names, then the best ones of all; the last one answers the second part of a nested question.
        """
        # `reversed`, as in a dictionary the last one of a key stays.
        best_by_document = {self.passages[item.unit.passage - 1].document: item for item in reversed(found)}
        of_named = [best_by_document[document] for document in self.named if document in best_by_document]
        best = found[: most - 1]  # one place is left for the second part of a nested question
        # Sentences before the one that asks give context. The best units may cover only these.
        covers_most = max(found[:_UNITS_COMPARED], key=attrgetter("covered"))
        if covers_most.covered >= max(item.covered for item in (*of_named, *best)) + _LEAST_GAIN:
            best = [found[0], covers_most]
        first = (*of_named, *found)[0]
        # The complement says most of the question's words that the first quote lacks. It has to have a name of that,
        # as the second part of a nested question is about what answers the first.
        names = names_in(first.unit.text)
        candidates = [item for item in found if has_any_name(f"{item.unit.before} {item.unit.text}", names)]
        gains = [sum(max(0.0, other - own) for other, own in zip(item.says, first.says, strict=True))
                 for item in candidates]
        gain, complement = max(zip(gains, candidates, strict=True), key=itemgetter(0), default=(0.0, first))
        complements = [complement] if gain >= _LEAST_GAIN else []
        chosen: dict[str, Found] = {}  # by the words of the quote
        for item in (*of_named, *best, *complements, *found):
            if len(chosen) == most:
                break
            if not any(self._overlap(item.unit, other.unit) for other in chosen.values()):
                words = " ".join(item.unit.source[slice(*item.unit.quote())].split())
                chosen.setdefault(words, item)
        return sorted(chosen.values(), key=found.index)

    def _overlap(self, unit: Unit, other: Unit) -> bool:
        """Return True if the quotes of two units overlap in their document; passages of it may overlap, too."""
        passage, other_passage = self.passages[unit.passage - 1], self.passages[other.passage - 1]
        (start, end), (other_start, other_end) = unit.quote(), other.quote()
        return (passage.document == other_passage.document and other_passage.start + other_start < passage.start + end
                and passage.start + start < other_passage.start + other_end)


def named_documents(question: Question, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return the documents that a question names, each once.

    A document is named if its title or file name is a name in the question. If no title is in the question like that,
    a name that only a few titles contain identifies these documents. Titles that the question has in 《》 go before
    all other names.
    """
    titles = {passage.document: plain_title(passage.title) for passage in passages}
    quoted_titles = [name for name in question.names if f"《{name}》" in question.text]
    named: dict[str, None] = {}
    for name in quoted_titles or question.names:
        canonical = canonical_name(name)
        called_so = [document for document, title in titles.items()
                     if canonical in {canonical_name(title), canonical_name(plain_title(document))}]
        if not called_so and not named:
            called_so = [document for document, title in titles.items() if has_name(title, name)]
        if len(called_so) <= _MOST_TITLES_WITH_NAME:
            named |= dict.fromkeys(called_so)
    return tuple(named)


def _asked_words(question: Question, text: str) -> dict[str, str]:
    """Return the words of a question's text, each with the form that is compared: in English its stem."""
    if question.language == "en":
        return {word: stem(word) for word in spoken_words(spell_dates(text, chinese=False))}
    question_words = foreign_forms().get(question.language, {}).get(question.expected)
    content = question_words.sub(" ", text) if question_words else text  # without the "hoch" of "wie hoch"
    return {word: word for word in question.words_of(content)}


def _least(question: Question, certainties: Scores) -> Scores:
    """Return the least certainty in each row, of shape (texts, words); 1 for rows without a word."""
    # In Chinese it is the mean: pairs of characters cross the borders of words, so a few always differ.
    is_mean = question.language == "zh" and certainties.shape[1] > 0
    least: Scores = certainties.mean(axis=1) if is_mean else certainties.min(axis=1, initial=1.0)
    return least
