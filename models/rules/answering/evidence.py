"""Sentences of the passages, scored as evidence for a question."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....schemas.retrieval import Passage, Quote, TypedFact
from ....text.dates import months_named, overlap
from ....text.sentences import split_sentences
from ...embedding.embedder import Embedder, products
from ..content_words import Language, content_words, language_of
from ..questions.answer_types import Expected, Question, analyse
from ..questions.names import mentions
from .spans import Candidate, candidates

MOST_EMBEDDED = 32
"""Sentences embedded for one question: encoding is the only slow step."""

ANSWERED = 0.5
"""Calibrated probability from which a sentence counts as the answer."""

# Fitted by logistic regression: English on the steps of half of examples/questions.jsonl and on template questions
# over the train sentences of Text2KGBench (CC BY 4.0), Chinese on the Chinese examples and on questions written for
# it. Where an answer has no form (why, how) it is the passage that must fit, not one sentence; of English too few such
# questions were at hand. No test set had a part in a fit.
_WEIGHTS: dict[tuple[Language, bool], dict[str, float]] = {
    ("en", False): {"bias": -9.6, "cosine": 6.9, "covered": 1.6, "named": 4.1, "typed": 1.2},
    ("en", True): {"bias": -9.6, "cosine": 6.9, "covered": 1.6, "named": 4.1, "typed": 1.2},
    ("zh", False): {"bias": -9.4, "cosine": 1.8, "covered": 4.0, "named": 4.0, "asked": 3.0},
    ("zh", True): {"bias": -4.2, "cosine": 0.9, "covered": 0.7, "named": 1.5, "whole": 4.7},
}
# Set by hand: rules, not tendencies; see `_ruled_out`. The rest orders sentences of near equal probability.
_NO_VALUE, _ANOTHER_TIME, _ABSENT = 3.0, 2.0, 2.0
_NO_NAME: dict[Language, float] = {"en": 2.0, "zh": 1.0}
_FIT_WEIGHT = 1.0
_PASSAGE_WEIGHT = 0.3
_IN_TITLE, _IN_EARLIER_TEXT, _BESIDE = 0.9, 0.6, 0.6
_NEUTRAL = 0.7
_FIT_RANGE = 4.0
_PARENTHESES = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
_OPENING_PRONOUN = re.compile(r"(?:He|She|It|They|His|Her|Its|Their)\b|[他她它其]")
_MARKUP = re.compile(r"\s*(?:#{1,6}\s|[|=*-]{3,})")


@dataclass(frozen=True)
class Sentence:
    """One sentence of a passage: `passages[passage].text[start:end] == text`."""

    passage: int
    start: int
    text: str
    title: str
    before: str
    words: frozenset[str]
    title_words: frozenset[str]
    passage_text: str
    passage_words: frozenset[str]
    facts: tuple[TypedFact, ...]

    def passage_holds(self, word: str) -> bool:
        """Whether the sentence's passage or its title says a content word."""
        return word in self.passage_words or (language_of(word) == "zh" and word in self.passage_text)

    def quote(self) -> Quote:
        """The sentence as a verbatim quote; passages count from 1."""
        return Quote(passage=self.passage + 1, words=self.text)


@dataclass(frozen=True)
class Support:
    """A sentence as evidence for a question.

    `probability` is the calibrated chance that the sentence answers the question, `covered`
    the share of the question's content words it holds, `named` how surely it is about the
    question's names (0..1), `rank` orders the sentences of one search, and
    `spans` are the candidate answers in it, best first.
    """

    sentence: Sentence
    probability: float
    covered: float
    named: float
    rank: float
    spans: tuple[Candidate, ...]


class SentencePool:
    """The sentences of some passages, ready to be searched for several questions."""

    def __init__(self, passages: Sequence[Passage], embedder: Embedder) -> None:
        self._embedder = embedder
        self.sentences = [sentence for number, passage in enumerate(passages)
                          for sentence in _sentences(number, passage)]
        best = max((passage.score for passage in passages), default=0.0)
        self._trust = [passage.score / best if best > 0 else 0.0 for passage in passages]
        self._titles = tuple(dict.fromkeys(_PARENTHESES.sub("", passage.title).strip() for passage in passages))

    def analyse(self, question: str) -> Question:
        """The question taken apart; titles of the passages that it holds count as names."""
        return analyse(question, self._titles)

    def search(self, question: Question, embedded: int = MOST_EMBEDDED) -> list[Support]:
        """The likeliest sentences to answer a question.

        A logistic model of four features: the cosine of question and titled sentence, the
        idf-weighted share of the question's content words in the sentence, how surely the sentence
        is about the question's names (said in it, in the title, or before it), and whether it
        holds a span of the expected kind. So a sentence that names the entity but says nothing of
        the asked relation stays improbable. The order adds a little trust in the passage's rank.

        Args:
            question: the question taken apart.
            embedded: how many sentences, chosen by words and names, are compared as vectors.

        Returns:
            At most `embedded` sentences, best first.
        """
        weights = self._word_weights(question)
        lexical = sorted(((_lexical(question, sentence, weights), i) for i, sentence in enumerate(self.sentences)),
                         key=lambda item: (-(item[0][0] * 2 + item[0][1]), item[1]))[:embedded]
        if not lexical:
            return []
        chosen = [self.sentences[i] for _, i in lexical]
        cosines = self._cosines(question, chosen)
        supports = [self._support(question, sentence, cosine, *features)
                 for sentence, cosine, (features, _) in zip(chosen, cosines, lexical, strict=True)]
        return sorted(supports, key=lambda support: (-support.rank, support.sentence.passage, support.sentence.start))

    def _word_weights(self, question: Question) -> dict[str, float]:
        """The idf of the question's content words over the sentences, summing to 1."""
        total = len(self.sentences)
        counts = {word: sum(_holds(sentence, word) > 0 for sentence in self.sentences) for word in question.words}
        weights = {word: math.log(1 + (total + 1) / (count + 0.5)) for word, count in counts.items()}
        whole = sum(weights.values())
        return {word: weight / whole for word, weight in weights.items()}

    def _cosines(self, question: Question, sentences: list[Sentence]) -> list[float]:
        texts = [f"{sentence.title}: {sentence.text}" if sentence.title else sentence.text for sentence in sentences]
        vectors = self._embedder.encode([question.text, *texts])
        return [float(value) for value in np.clip(products(vectors[:1], vectors[1:])[0], 0.0, 1.0)]

    def _support(self, question: Question, sentence: Sentence, cosine: float, covered: float,
                 named: float) -> Support:
        spans = tuple(candidates(question, sentence.text, sentence.title, self._titles, sentence.facts))
        logit = (weigh(features(question, sentence, cosine, covered, named, spans), question)
                 - _ruled_out(question, sentence, spans))
        trust = _PASSAGE_WEIGHT * self._trust[sentence.passage]
        rank = logit + trust + (_FIT_WEIGHT * min(1.0, max(0.0, 1 + spans[0].fit / _FIT_RANGE)) if spans else 0.0)
        return Support(sentence, 1 / (1 + math.exp(-logit)), covered, named, rank, spans)


def features(question: Question, sentence: Sentence, cosine: float, covered: float, named: float,
             spans: Sequence[Candidate]) -> dict[str, float]:
    """The features of the calibration, each 0..1.

    `asked` is the share of the words of the property asked for that the sentence holds, `whole`
    that of the question's words in its passage. A question
    without an answer form (why, how) is neither helped nor hurt by `typed`.
    """
    fit = min(1.0, max(0.0, 1 + spans[0].fit / _FIT_RANGE)) if spans else 0.0
    typed = _NEUTRAL if question.expected is Expected.TEXT else fit
    asked = [_holds(sentence, word) for word in question.asked]
    whole = [sentence.passage_holds(word) for word in question.words]
    return {"cosine": cosine, "covered": covered, "named": named, "typed": typed,
            "asked": sum(asked) / len(asked) if asked else _NEUTRAL, "whole": sum(whole) / max(1, len(whole))}


def weigh(values: dict[str, float], question: Question) -> float:
    """The logit of the calibration for a kind of question."""
    weights = _WEIGHTS[question.language, question.expected is Expected.TEXT]
    return weights["bias"] + sum(weights.get(name, 0.0) * value for name, value in values.items())


def _ruled_out(question: Question, sentence: Sentence, spans: Sequence[Candidate]) -> float:
    """What the logit loses where a sentence cannot be the answer, however near it is in words.

    A question for a date or number needs one in the sentence; for names, which are found less
    surely (least in Chinese), it only counts against it. A sentence that speaks of another time than
    the question's tells of something else, and so does one that none of its names leads to.
    """
    lacking = 0.0
    if not spans and question.expected is not Expected.TEXT:
        valued = question.expected in {Expected.DATE, Expected.NUMBER}
        lacking = _NO_VALUE if valued else _NO_NAME[question.language]
    if any(_presence(name, sentence) == 0 for name in question.names):
        lacking += _ABSENT
    return lacking + (_ANOTHER_TIME if _elsewhere(question, sentence) else 0.0)


def _elsewhere(question: Question, sentence: Sentence) -> bool:
    """Whether the sentence does not speak of the question's time.

    It speaks of the times it names, or else of one named before it in its passage or title. A
    question for a date is answered by a date, which need not be the one that the question names.
    """
    wanted = months_named(question.text)
    if not wanted:
        return False
    own = months_named(sentence.text)
    if own and question.expected is not Expected.DATE:
        return not overlap(wanted, own)
    return not overlap(wanted, [*own, *months_named(sentence.title), *months_named(sentence.before)])


def _sentences(number: int, passage: Passage) -> list[Sentence]:
    """The sentences of one passage, without headings and rules of markup."""
    title_words = frozenset(content_words(passage.title))
    whole = f"{passage.title}\n{passage.text}"
    words = frozenset(content_words(whole))
    return [Sentence(number, start, text, passage.title, passage.text[:start], frozenset(content_words(text)),
                     title_words, whole, words,
                     tuple(fact for fact in passage.facts if start <= fact.start < end))
            for start, end in split_sentences(passage.text)
            if (text := passage.text[start:end]).strip() and not _MARKUP.match(text)]


def _lexical(question: Question, sentence: Sentence, weights: dict[str, float]) -> tuple[float, float]:
    """(covered, named): how far the sentence speaks of the question's words and its names, 0..1."""
    covered = sum(weight * _holds(sentence, word) for word, weight in weights.items())
    presences = [_presence(name, sentence) for name in question.names]
    return covered, sum(presences) / len(presences) if presences else 1.0


def _holds(sentence: Sentence, word: str) -> float:
    """How surely a sentence says a content word; Chinese characters are looked for as written."""
    chinese = language_of(word) == "zh"
    if word in sentence.words or (chinese and word in sentence.text):
        return 1.0
    return _IN_TITLE if word in sentence.title_words or (chinese and word in sentence.title) else 0.0


def _presence(name: str, sentence: Sentence) -> float:
    """How surely a sentence speaks of a name: it names it, its title does, or the text before it.

    A sentence that opens with a pronoun speaks of its title's entity: other names stand only beside.
    """
    beside = _OPENING_PRONOUN.match(sentence.text) and not mentions(sentence.title, name)
    if mentions(sentence.text, name):
        return _BESIDE if beside else 1.0
    if mentions(sentence.title, name):
        return _IN_TITLE
    return _IN_EARLIER_TEXT if mentions(sentence.before, name) else 0.0
