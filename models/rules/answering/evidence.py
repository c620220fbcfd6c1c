"""Sentences of the passages, scored as evidence for a question."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ....schemas.retrieval import Passage, Quote, TypedFact
from ....text.dates import months_named, overlap
from ....text.sentences import split_sentences
from ....text.table_rows import Row, find_rows
from ...embedding.embedder import Embedder, products
from ...parsing.parser import Parser
from ..content_words import Language, content_words, language_of
from ..lexicon import ORGANISATION_NOUNS, PLACE_NOUNS
from ..questions.answer_types import Expected, Question, analyse, figures
from ..questions.names import find_names, mentions
from .rows import UNDER_HEADER, cell_candidates, named_in_row, said_in_row
from .spans import Candidate, candidates

if TYPE_CHECKING:
    from spacy.tokens import Doc

MOST_EMBEDDED = 12
"""Sentences embedded for one question: encoding is the only slow step."""

ANSWERED = 0.5
"""Calibrated probability from which a sentence counts as the answer."""

# Fits by logistic regression on the examples, the steps of benchmarks/questions and Chinese questions written for it,
# each with the sentences that answer and without them. All biases but the last were then
# moved by hand, up to where the examples still decline nine of ten questions that they do not answer, and checked on
# benchmarks/newcomer/dev. Where an answer has no form (why, how) it is the passage that must fit, not one sentence.
_WEIGHTS: dict[tuple[Language, bool], dict[str, float]] = {
    ("en", False): {"bias": -9.0, "cosine": 5.5, "covered": 2.5, "named": 3.0, "typed": 2.2},
    ("en", True): {"bias": -9.0, "cosine": 5.5, "covered": 2.5, "named": 3.0, "typed": 2.2},
    ("zh", False): {"bias": -8.8, "cosine": 1.8, "covered": 4.0, "named": 4.0, "asked": 3.0},
    ("zh", True): {"bias": -4.2, "cosine": 0.9, "covered": 0.7, "named": 1.5, "whole": 4.7},
}
# Set by hand: rules, not tendencies; see `_ruled_out`. The rest orders sentences of near equal probability.
_NO_VALUE, _ANOTHER_TIME, _ABSENT = 3.0, 2.0, 2.0
_NO_NAME: dict[Language, float] = {"en": 2.0, "zh": 1.0}
_FIT_WEIGHT = 1.0
_PASSAGE_WEIGHT = 0.3
_IN_TITLE, _NEARBY, _IN_EARLIER_TEXT, _BESIDE, _IN_PART = 0.9, 0.7, 0.6, 0.6, 0.8
_IN_EARLIER_TEXT_OF_ANOTHER = 0.3
_BESIDE_ITS_OWNER = 0.1
_OF_ALL = 0.4
"""The share of several documents that must name what then goes without saying in a sentence: their owner."""
_SEVERAL = 4
_LOOK_BACK = 300
_PARSED = 6
"""Sentences of a question that are parsed: the best by their words and vectors."""
_CLOSEST = 4
"""Sentences that are looked at however far they are: what is shown where nothing answers."""
_NEUTRAL = 0.7
_FORMLESS = frozenset({Expected.TEXT, Expected.REASON, Expected.POLAR})
_LOCATED = frozenset(content_words("located based situated headquartered"))
_ROW_ANSWERS, _ROW_SILENT, _LEAST = 0.95, 0.2, 1e-6
_FIT_RANGE = 4.0
_KINDS = ORGANISATION_NOUNS | PLACE_NOUNS
_PARENTHESES = re.compile(r"(?:(?<!\s)\s++)?+[(（][^()（）]*+[)）]\s*+$")
_CAPITAL_AROUND = re.compile(r"_ [A-Z\d]")
_OPENING_PRONOUN = re.compile(r"(?:He|She|It|They|His|Her|Its|Their)\b|[他她它其]")
_OPENING_NAME = re.compile(r"[A-Z][\w’'-]+ (?:(?:of|de|von|van|the) )?[A-Z]\w")
_LABEL = re.compile(r"(?:\d{1,3}[.)]\s{1,3})?\*\*([^*\n]{1,80})\*\*")
"""What a paragraph opens with in bold type: it says what all its sentences are about."""
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
    """Of the passage's title and of the heading above the sentence."""
    previous: str
    following: str
    near_words: frozenset[str]
    passage_text: str
    passage_words: frozenset[str]
    facts: tuple[TypedFact, ...]
    row: Row | None = None

    @property
    def starts_line(self) -> bool:
        """Whether it is the first sentence of a line."""
        return not self.before.strip(" *_-–") or self.before.rstrip(" *_-–•").endswith("\n")

    @property
    def near(self) -> str:
        """The sentences before and after it."""
        return f"{self.previous} {self.following}"

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

    def __init__(self, passages: Sequence[Passage], embedder: Embedder, parser: Parser) -> None:
        self._embedder = embedder
        self._parser = parser
        self._passages = passages = [item if not item.statement else item.model_copy(update={"text": "", "title": ""})
                                     for item in passages]  # the words of a fact are those of a passage
        self.sentences = [sentence for number, passage in enumerate(passages)
                          for sentence in _sentences(number, passage)]
        best = max((passage.score for passage in passages), default=0.0)
        self._trust = [passage.score / best if best > 0 else 0.0 for passage in passages]
        self._titles = tuple(dict.fromkeys(_PARENTHESES.sub("", passage.title).strip() for passage in passages))

    def analyse(self, question: str) -> Question:
        """The question taken apart; titles of the passages that it holds count as names."""
        return analyse(question, self._parser, self._titles)

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
        lexical = self._likely(question, embedded)
        if not lexical:
            return []
        chosen = [self.sentences[i] for _, i in lexical]
        cosines = self._cosines(question, chosen)
        weighed = [sum(found) + cosine for (found, _), cosine in zip(lexical, cosines, strict=True)]
        parses = self._parses(question, chosen, weighed)
        supports = [self._support(question, sentence, cosines[i], *lexical[i][0], parses.get(sentence.text))
                    for i, sentence in enumerate(chosen)]
        return sorted(supports, key=lambda support: (-support.rank, support.sentence.passage, support.sentence.start))

    def _likely(self, question: Question, most: int) -> list[tuple[tuple[float, float], int]]:
        """(covered, named) and number of the sentences nearest by words.

        Those that no vector could make an answer are not looked at, but for the closest.
        """
        weights, usual = self._word_weights(question), self._usual(question)
        lexical = sorted(((_lexical(question, sentence, weights, usual), i)
                          for i, sentence in enumerate(self.sentences)),
                         key=lambda item: (-(item[0][0] * 2 + item[0][1]), item[1]))[:most]
        best = {"cosine": 1.0, "typed": 1.0, "asked": 1.0, "whole": 1.0}
        return [(found, i) for rank, (found, i) in enumerate(lexical) if rank < _CLOSEST or self.sentences[i].row
                or weigh(best | {"covered": found[0], "named": found[1]}, question) >= 0]

    def _parses(self, question: Question, sentences: Sequence[Sentence], weights: Sequence[float]) -> dict[str, "Doc"]:
        """The parses of the best sentences for an English question, by text."""
        if question.parse is None:
            return {}
        best = sorted(range(len(sentences)), key=lambda i: -weights[i])[:_PARSED]
        texts = [sentences[i].text for i in best if sentences[i].row is None]
        return dict(zip(texts, self._parser.parse_all(texts, together=True), strict=True))

    def _usual(self, question: Question) -> frozenset[str]:
        """The question's names that many of the documents hold: whose documents they are."""
        texts: dict[str, str] = {}
        for passage in (given for given in self._passages if given.text):
            texts[passage.document] = f"{texts.get(passage.document, passage.title)}\n{passage.text}"
        if len(texts) < _SEVERAL:
            return frozenset()
        return frozenset(name for name in question.names if not any(map(str.isdigit, name)) and sum(
            mentions(text, name) or _partly(text, name) for text in texts.values()) >= _OF_ALL * len(texts))

    def _word_weights(self, question: Question) -> dict[str, float]:
        """The idf of the question's content words over the sentences, summing to 1."""
        total = len(self.sentences)
        counts = {word: sum(holds(sentence, word) > 0 for sentence in self.sentences) for word in question.words}
        weights = {word: math.log(1 + (total + 1) / (count + 0.5)) for word, count in counts.items()}
        whole = sum(weights.values())
        return {word: weight / whole for word, weight in weights.items()}

    def _cosines(self, question: Question, sentences: list[Sentence]) -> list[float]:
        texts = [f"{sentence.title}: {sentence.text}" if sentence.title else sentence.text for sentence in sentences]
        vectors = self._embedder.encode([question.text, *texts])
        return [float(value) for value in np.clip(products(vectors[:1], vectors[1:])[0], 0.0, 1.0)]

    def _support(self, question: Question, sentence: Sentence, cosine: float, covered: float,
                 named: float, parse: "Doc | None") -> Support:
        if sentence.row is not None:
            return self._row_support(question, sentence, sentence.row, covered, named)
        spans = tuple(candidates(question, sentence.text, sentence.title, self._titles, sentence.facts, parse))
        logit = (weigh(features(question, sentence, cosine, covered, named, spans), question)
                 - _ruled_out(question, sentence, spans))
        trust = _PASSAGE_WEIGHT * self._trust[sentence.passage]
        rank = logit + trust + (_FIT_WEIGHT * min(1.0, max(0.0, 1 + spans[0].fit / _FIT_RANGE)) if spans else 0.0)
        return Support(sentence, 1 / (1 + math.exp(-logit)), covered, named, rank, spans)

    def _row_support(self, question: Question, sentence: Sentence, row: Row, covered: float,
                     named: float) -> Support:
        """A row answers as far as it is what the question names and has the column that is asked for."""
        spans = tuple(cell_candidates(question, row))
        if spans and spans[0].fit >= UNDER_HEADER and set(question.words) <= _LOCATED:
            covered = 1.0  # the column says that it is where
        probability = covered * named * (_ROW_ANSWERS if spans else _ROW_SILENT)
        rank = math.log(max(probability, _LEAST) / max(1 - probability, _LEAST)) + _PASSAGE_WEIGHT * self._trust[
            sentence.passage] + (_FIT_WEIGHT if spans else 0.0)
        return Support(sentence, probability, covered, named, rank, spans)


def features(question: Question, sentence: Sentence, cosine: float, covered: float, named: float,
             spans: Sequence[Candidate]) -> dict[str, float]:
    """The features of the calibration, each 0..1.

    `asked` is the share of the words of the property asked for that the sentence holds, `whole`
    that of the question's words in its passage. A question without an answer form (why, how) is neither helped nor hurt
    by `typed`.
    """
    fit = min(1.0, max(0.0, 1 + spans[0].fit / _FIT_RANGE)) if spans else 0.0
    typed = _NEUTRAL if question.expected in _FORMLESS else fit
    asked = [holds(sentence, word) for word in question.asked]
    whole = [sentence.passage_holds(word) for word in question.words]
    return {"cosine": cosine, "covered": covered, "named": named, "typed": typed,
            "asked": sum(asked) / len(asked) if asked else _NEUTRAL, "whole": sum(whole) / max(1, len(whole))}


def weigh(values: dict[str, float], question: Question) -> float:
    """The logit of the calibration for a kind of question."""
    weights = _WEIGHTS[question.language, question.expected in _FORMLESS]
    return weights["bias"] + sum(weights.get(name, 0.0) * value for name, value in values.items())


def _ruled_out(question: Question, sentence: Sentence, spans: Sequence[Candidate]) -> float:
    """What the logit loses where a sentence cannot be the answer, however near it is in words.

    A question for a date or number needs one in the sentence; for names, which are found less
    surely (least in Chinese), it only counts against it. A sentence that speaks of another time than
    the question's tells of something else, and so does one that none of its names leads to.
    """
    lacking = 0.0
    if not spans and question.expected not in _FORMLESS:
        valued = question.expected in {Expected.DATE, Expected.NUMBER}
        lacking = _NO_VALUE if valued else _NO_NAME[question.language]
    if any(_presence(name, sentence) == 0 for name in question.names):
        lacking += _ABSENT
    if not question.figures <= figures(f"{sentence.before[-_LOOK_BACK:]} {sentence.text} {sentence.near}"):
        lacking += _ANOTHER_TIME
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
    whole = f"{passage.title}\n{passage.text}"
    words = frozenset(content_words(whole))
    rows = {row.start: row for row in find_rows(passage.text)}
    spans: list[tuple[int, int]] = []
    headed: list[frozenset[str]] = []
    above = title = frozenset(content_words(passage.title))
    for start, end in split_sentences(passage.text):
        text = passage.text[start:end]
        if text.startswith("#"):
            above = title | frozenset(content_words(text))
        elif text.strip() and not _MARKUP.match(text):
            spans.append((start, end))
            headed.append(above)
    made: list[Sentence] = []
    topic = ""
    for i, (start, end) in enumerate(spans):
        text = passage.text[start:end]
        previous, following = (passage.text[slice(*spans[n])] if 0 <= n < len(spans) else "" for n in (i - 1, i + 1))
        if not i or "\n" in passage.text[spans[i - 1][1] - 1 : start]:
            topic = label[1] if (label := _LABEL.match(text)) else ""
        facts = tuple(fact for fact in passage.facts if start <= fact.start < end)
        made.append(Sentence(number, start, text, passage.title, passage.text[:start], frozenset(content_words(text)),
                             headed[i], previous, following,
                             frozenset(content_words(f"{topic} {previous} {following}")),
                             whole, words, facts, rows.get(start)))
    return made


def _lexical(question: Question, sentence: Sentence, weights: dict[str, float],
             usual: frozenset[str]) -> tuple[float, float]:
    """(covered, named): how far the sentence speaks of the question's words and its names, 0..1."""
    covered = sum(weight * holds(sentence, word) for word, weight in weights.items())
    if not weights and question.parse is not None:
        covered = 1.0  # 'Who is Ada Byron?' asks for no word: whatever is said of her may answer
    presences = [max(_presence(name, sentence), _IN_PART if name in usual else 0.0) for name in question.names]
    if question.expected in {Expected.DATE, Expected.NUMBER}:
        presences = [_BESIDE_ITS_OWNER * found if _of_another(sentence, name) else found
                     for name, found in zip(question.names, presences, strict=True)]
    return covered, sum(presences) / len(presences) if presences else 1.0


def holds(sentence: Sentence, word: str) -> float:
    """How surely a sentence says a content word; Chinese characters are looked for as written."""
    chinese = language_of(word) == "zh"
    if word in sentence.words or (chinese and word in sentence.text):
        return 1.0
    if sentence.row is not None:
        return _IN_TITLE if said_in_row(sentence.row, word) or word in sentence.passage_words else 0.0
    if word in sentence.title_words or (chinese and word in sentence.title):
        return _IN_TITLE
    return _NEARBY if word in sentence.near_words or (chinese and word in sentence.near) else 0.0


def _presence(name: str, sentence: Sentence) -> float:
    """How surely a sentence speaks of a name: it names it, its title does, or the text before it.

    A sentence that opens with a pronoun speaks of its title's entity: other names stand only beside.
    """
    if sentence.row is not None:
        return named_in_row(sentence.row, name) or (_IN_TITLE if mentions(sentence.title, name) else 0.0)
    beside = _OPENING_PRONOUN.match(sentence.text) and not mentions(sentence.title, name)
    if mentions(sentence.text, name):
        return _BESIDE if beside else 1.0
    if mentions(sentence.title, name):
        return _IN_TITLE
    if _partly(sentence.text, name):
        return _IN_PART
    if mentions(sentence.near, name):
        return _NEARBY
    if not mentions(sentence.before, name):
        return 0.0
    return _IN_EARLIER_TEXT_OF_ANOTHER if _OPENING_NAME.match(sentence.text) else _IN_EARLIER_TEXT


def _of_another(sentence: Sentence, name: str) -> bool:
    """Whether a Chinese sentence opens with another name, whose its values are (某研究所成立于1952年，隶属于某大学)."""
    if language_of(sentence.text) != "zh" or mentions(sentence.title, name):
        return False
    first = next(iter(find_names(sentence.text)), (1, 1))
    return first[0] == 0 and not mentions(sentence.text[: first[1]], name)


def _partly(text: str, name: str) -> bool:
    """Whether a text calls something by the first word of a name alone: 'Ada' for Ada Byron, not 'University'."""
    first, _, others = name.partition(" ")
    if first.casefold() in _KINDS:
        return False
    return bool(others) and len(first) > 2 and first[:1].isupper() and any(  # noqa: PLR2004 - no initials or articles
        not _CAPITAL_AROUND.search(text[max(0, match.start() - 1) : match.end() + 2].replace(first, "_"))
        for match in re.finditer(rf"(?<![\w-]){re.escape(first)}(?![\w-])", text))
