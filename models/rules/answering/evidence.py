"""Sentences of the passages, scored as evidence for a question."""

import math
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from cachetools import LRUCache

from ....schemas.retrieval import Passage
from ....text.dates import months_named, overlap
from ...embedding.embedder import Embedder, products
from ...parsing.parser import Parser
from ..content_words import Language, content_words, language_of, spoken_words, stem
from ..likeness import likeness
from ..questions.answer_types import Expected, Question, analyse, figures
from ..questions.names import find_names, mentions
from .rows import UNDER_HEADER, cell_candidates, figured, header_says, is_meant
from .sentences import IN_PART, IN_TITLE, NEARBY, Sentence, holds, partly, presence, sentences_of
from .spans import Candidate, candidates, only_as_owner

if TYPE_CHECKING:
    from spacy.tokens import Doc

MOST_EMBEDDED = 12
"""Sentences embedded for one question: encoding is the only slow step."""

ANSWERED = 0.5
"""Calibrated probability from which a sentence counts as the answer."""

# The English ones order sentences, and were not bettered by weights fitted anew; their calibration is. The Chinese ones
# are fits by logistic regression on questions written for it, with their biases moved by hand.
_WEIGHTS: dict[str, dict[str, float]] = {
    "en": {"bias": -9.8, "cosine": 5.5, "covered": 2.5, "soft": 2.0, "named": 3.0, "typed": 2.2},
    "zh": {"bias": -8.8, "cosine": 1.8, "covered": 4.0, "named": 4.0, "asked": 3.0},
    "zh formless": {"bias": -4.2, "cosine": 0.9, "covered": 0.7, "named": 1.5, "whole": 4.7},
}
_SCALE, _BIAS = 0.65, -0.43
"""Of an English sentence's logit: the calibration, which benchmarks/answer_weights.py makes."""
# Set by hand: rules, not tendencies; see `_ruled_out`. The rest orders sentences of near equal probability.
_NO_VALUE, _ANOTHER_TIME, _ABSENT = 3.0, 2.0, 2.0
_NO_NAME: dict[Language, float] = {"en": 2.0, "zh": 1.0}
_FIT_WEIGHT = 1.0
_PASSAGE_WEIGHT = 0.3
_BESIDE_ITS_OWNER = 0.1
_OF_ALL = 0.4
"""The share of several documents that must name what then goes without saying in a sentence: their owner."""
_SEVERAL = 4
_LOOK_BACK = 300
_PARSED = 6
"""Sentences of a question that are parsed: the best by their words and vectors."""
_NEUTRAL = 0.7
_FORMLESS = frozenset({Expected.TEXT, Expected.REASON, Expected.POLAR})
_LOCATED = frozenset(content_words("located based situated headquartered"))
_ROW_ANSWERS, _ROW_SILENT, _LEAST = 0.95, 0.2, 1e-6
_FIGURE = 0.2
"""Of the rank, for each number of the question that a row has: numbers tell the rows of a table apart."""
_FIT_RANGE = 4.0
_POOLS_KEPT = 8
"""Of the contexts of questions under way; some 100 KB each."""
_PARENTHESES = re.compile(r"(?:(?<!\s)\s++)?+[(（][^()（）]*+[)）]\s*+$")


@dataclass(frozen=True)
class Support:
    """A sentence as evidence for a question.

    `probability` is the calibrated chance that the sentence answers the question (`logit` before that), `covered`
    the share of the question's content words it holds, `named` how surely it is about the
    question's names (0..1), `rank` orders the sentences of one search, and
    `spans` are the candidate answers in it, best first.
    """

    sentence: Sentence
    logit: float
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
                          for sentence in sentences_of(number, passage)]
        best = max((passage.score for passage in passages), default=0.0)
        self._trust = [passage.score / best if best > 0 else 0.0 for passage in passages]
        self._searched: dict[tuple[str, int], list[Support]] = {}
        self._titles = tuple(dict.fromkeys(_PARENTHESES.sub("", passage.title).strip() for passage in passages))

    def analyse(self, question: str) -> Question:
        """The question taken apart; titles of the passages that it holds count as names."""
        return analyse(question, self._parser, self._titles)

    def search(self, question: Question, embedded: int = MOST_EMBEDDED) -> list[Support]:
        """The likeliest sentences to answer a question, by a logistic model of `features`.

        A sentence that names the entity but says nothing of the asked relation stays improbable. The order adds a
        little trust in the passage's rank.

        Args:
            question: the question taken apart.
            embedded: how many sentences, chosen by words and names, are compared as vectors.

        Returns:
            At most `embedded` sentences, best first.
        """
        found = self._searched.get((question.text, embedded))
        if found is None:
            found = self._searched[question.text, embedded] = self._search(question, embedded)
        return found

    def _search(self, question: Question, embedded: int) -> list[Support]:
        nearest = self._nearest(question, embedded)
        if not nearest:
            return []
        chosen = [self.sentences[i] for _, i in nearest]
        cosines = self._cosines(question, chosen)
        weighed = [sum(found) + cosine for (found, _), cosine in zip(nearest, cosines, strict=True)]
        parses = self._parses(question, chosen, weighed)
        near = [(cosine, *found) for cosine, (found, _) in zip(cosines, nearest, strict=True)]
        supports = [self._support(question, sentence, near[i], parses.get(sentence.text))
                    for i, sentence in enumerate(chosen)]
        supports = _decided(question, supports)
        return sorted(supports, key=lambda support: (-support.rank, support.sentence.passage, support.sentence.start))

    def _nearest(self, question: Question, most: int) -> list[tuple[tuple[float, float, float], int]]:
        """(covered, soft, named) and number of the sentences nearest by words and names."""
        weights, usual = self._word_weights(question), self._usual(question)
        soft = self._soft(question, weights)
        found = [((*_lexical(question, sentence, weights, usual), soft[i]), i)
                 for i, sentence in enumerate(self.sentences)]
        found.sort(key=lambda item: (-(2 * item[0][0] + item[0][1]), item[1]))
        return [((covered, alike, named), i) for (covered, named, alike), i in found[:most]]

    def _soft(self, question: Question, weights: dict[str, float]) -> list[float]:
        """For each sentence the weighted mean, over the question's words, of the best cosine to one of its words.

        Words under the same heading and of the sentences beside count less. Chinese, whose words have no vectors,
        gets 0.
        """
        asked = [word for word in spoken_words(question.text) if stem(word) in weights]
        if question.language != "en" or not asked:
            return [float(not weights and question.parse is not None)] * len(self.sentences)
        share = np.array([weights[stem(word)] for word in asked])
        own = likeness(asked, [sentence.text for sentence in self.sentences])
        above = list(dict.fromkeys(sentence.heading for sentence in self.sentences))
        headings = dict(zip(above, likeness(asked, above), strict=True))
        nothing = np.zeros(len(asked), np.float32)
        said = []
        for i, sentence in enumerate(self.sentences):
            beside = [own[n] for n in (i - 1, i + 1) if 0 <= n < len(own)
                      and self.sentences[n].passage == sentence.passage] if sentence.row is None else []
            near = np.maximum.reduce([nothing, *beside])
            best = np.maximum.reduce([own[i], IN_TITLE * headings[sentence.heading], NEARBY * near])
            said.append(float(best @ share / share.sum()))
        return said

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
            mentions(text, name) or partly(text, name) for text in texts.values()) >= _OF_ALL * len(texts))

    def _word_weights(self, question: Question) -> dict[str, float]:
        """The idf of the question's content words over the sentences, summing to 1."""
        total = len(self.sentences)
        counts = {word: sum(holds(sentence, word) > 0 for sentence in self.sentences) for word in question.words}
        weights = {word: math.log(1 + (total + 1) / (count + 0.5)) for word, count in counts.items()}
        whole = sum(weights.values())
        return {word: weight / whole for word, weight in weights.items()}

    def _cosines(self, question: Question, sentences: list[Sentence]) -> list[float]:
        texts = [f"{sentence.heading}: {sentence.text}" if sentence.heading else sentence.text
                 for sentence in sentences]
        vectors = self._embedder.encode([question.text, *texts])
        return [float(value) for value in np.clip(products(vectors[:1], vectors[1:])[0], 0.0, 1.0)]

    def _support(self, question: Question, sentence: Sentence, near: tuple[float, float, float, float],
                 parse: "Doc | None") -> Support:
        """The sentence weighed; `near` are its cosine, covered, soft and named; see `features`."""
        spans = tuple(cell_candidates(question, sentence.row) if sentence.row is not None else candidates(
            question, sentence.text, sentence.title, self._titles, sentence.facts, parse))
        values = features(question, sentence, near, spans)
        values["ruled out"] += _ABSENT * (parse is not None and only_as_owner(question, parse))
        logit = weigh(values, question, sentence) - values["ruled out"]
        fits = min(1.0, max(0.0, 1 + spans[0].fit / _FIT_RANGE)) if spans else 0.0
        rank = logit + _PASSAGE_WEIGHT * self._trust[sentence.passage] + _FIT_WEIGHT * fits
        sure = logit
        if question.language == "en" and sentence.row is None:  # what rules take is taken in full
            sure = _SCALE * (logit + values["ruled out"]) + _BIAS - values["ruled out"]
        return Support(sentence, logit, 1 / (1 + math.exp(-sure)), near[1], near[3], rank, spans)


def _decided(question: Question, supports: Sequence[Support]) -> list[Support]:
    """Rows that another row of their table equals, with another answer, answer nothing: no word tells which is meant.

    A number of the question tells the rows apart; it also orders them.
    """
    tables: dict[tuple[str, str], list[Support]] = {}
    decided = list[Support]()
    for support in supports:
        row = support.sentence.row
        if row is None:
            decided.append(support)
        else:
            near = _FIGURE * figured(question, row)
            tables.setdefault((support.sentence.title, row.cells[0].header), []).append(
                replace(support, logit=support.logit + near, rank=support.rank + near))
    for rows in tables.values():
        decided.extend(replace(own, probability=own.probability * _ROW_SILENT) if any(
            _equals(other, own) for other in rows) else own for own in rows)
    return decided


def _equals(other: Support, own: Support) -> bool:
    """Whether a row is as near as one of the same table, and has another answer."""
    answers = ([span.words for span in support.spans[:1]] for support in (other, own))
    return (other.sentence.row != own.sentence.row and other.logit >= own.logit - _LEAST
            and next(answers) != next(answers))


class Pools:
    """The sentences of the contexts read lately: `reflect` and `answer` mostly read the same. Safe for threads."""

    def __init__(self, embedder: Embedder, parser: Parser) -> None:
        self.parser = parser
        self._embedder = embedder
        self._kept: LRUCache[tuple[Passage, ...], SentencePool] = LRUCache(_POOLS_KEPT)
        self._lock = threading.Lock()

    def of(self, passages: Sequence[Passage]) -> SentencePool:
        """The sentences of some passages."""
        key = tuple(passages)
        with self._lock:
            pool = self._kept.get(key)
        if pool is None:
            pool = SentencePool(passages, self._embedder, self.parser)
            with self._lock:
                self._kept[key] = pool
        return pool


def features(question: Question, sentence: Sentence, near: tuple[float, float, float, float],
             spans: Sequence[Candidate]) -> dict[str, float]:
    """What the calibration weighs, each 0 to 1, and what rules take from its logit.

    `cosine` of question and sentence under its headings; `covered`, the idf-weighted share of the question's content
    words in the sentence; `soft`, the same by the nearest words; `named`, how surely it is about the question's names;
    `typed`, whether it has a span of the expected kind (of a row: a cell under a header that is asked for), neither
    here nor there where the answer has no form (why, how); `asked`, the share of the words of the property asked for;
    `whole`, that of the question's words in its passage.
    """
    cosine, covered, soft, named = near
    if sentence.row is not None:
        typed = min(1.0, spans[0].fit / UNDER_HEADER) if spans and is_meant(sentence.row, question) else 0.0
        if typed == 1.0 and set(question.words) <= _LOCATED:
            covered = 1.0  # the column says that it is where
    elif question.expected in _FORMLESS:
        typed = _NEUTRAL
    else:
        typed = min(1.0, max(0.0, 1 + max(span.looks for span in spans) / 2)) if spans else 0.0
    asked = [holds(sentence, word) for word in question.asked]
    whole = [sentence.passage_holds(word) for word in question.words]
    return {"cosine": cosine, "covered": covered, "soft": soft, "named": named, "typed": typed,
            "asked": sum(asked) / len(asked) if asked else _NEUTRAL, "whole": sum(whole) / max(1, len(whole)),
            "ruled out": _ruled_out(question, sentence, spans) if sentence.row is None else 0.0}


def weigh(values: dict[str, float], question: Question, sentence: Sentence) -> float:
    """How likely a sentence answers, as a logit; a row does as far as it is what is named and has what is asked for."""
    if sentence.row is not None:
        probability = values["covered"] * values["named"] * (_ROW_ANSWERS if values["typed"] else _ROW_SILENT)
        return math.log(max(probability, _LEAST) / max(1 - probability, _LEAST))
    formless = question.language == "zh" and question.expected in _FORMLESS
    weights = _WEIGHTS["zh formless" if formless else question.language]
    return weights.get("bias", 0.0) + sum(weights.get(name, 0.0) * value for name, value in values.items())


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
    if any(presence(name, sentence) == 0 for name in question.names):
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


def _lexical(question: Question, sentence: Sentence, weights: dict[str, float],
             usual: frozenset[str]) -> tuple[float, float]:
    """(covered, named): how far the sentence speaks of the question's words and its names, 0..1."""
    said = {word: holds(sentence, word) for word in weights}
    if sentence.row is not None:
        for word in question.spoken:
            said[stem(word)] = max(said[stem(word)], header_says(sentence.row, word))
    covered = sum(weight * said[word] for word, weight in weights.items())
    if not weights and question.parse is not None:
        covered = 1.0  # 'Who is Ada Byron?' asks for no word: whatever is said of her may answer
    presences = [max(presence(name, sentence), IN_PART if name in usual else 0.0) for name in question.names]
    if sentence.row is not None and mentions(question.text, key := sentence.row.cells[0].value):
        # All that it is about is said, where others share a part: 'Lumen 3', not 'Lumen 3 Long'.
        presences = [1.0 if mentions(key, name) else found
                     for name, found in zip(question.names, presences, strict=True)]
    if question.expected in {Expected.DATE, Expected.NUMBER}:
        presences = [_BESIDE_ITS_OWNER * found if _of_another(sentence, name) else found
                     for name, found in zip(question.names, presences, strict=True)]
    return covered, sum(presences) / len(presences) if presences else 1.0


def _of_another(sentence: Sentence, name: str) -> bool:
    """Whether a Chinese sentence opens with another name, whose its values are (某研究所成立于1952年，隶属于某大学)."""
    if language_of(sentence.text) != "zh" or mentions(sentence.title, name):
        return False
    first = next(iter(find_names(sentence.text)), (1, 1))
    return first[0] == 0 and not mentions(sentence.text[: first[1]], name)
