"""Decide whether a Chinese sentence states a value as the answer to a question, by LAC's words and their tags.

A value answers if its clause has the question's predicate and asserts it. A verb that the question lacks and that comes
before the predicate embeds it ("计划收购", "否认自己创立"), so nothing is stated.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from ...text.lexicon import WORDS
from ..parsing.chinese import Word, load_tagger
from .question import Question
from .recognition.name_kinds import VALUES

_LIGHT = WORDS["light"]  # verbs that state nothing without their noun
_UNREAL = re.compile(
    r"不(?!得?(?:超过|[少低高晚早多迟]于|满|足)|[仅但断同])|[没未非无否别]|从未|从不|从没|绝不|毫不|毫无|并非|险些|几乎|差点|差一点|据|似乎|好像|或许|也许|大概|"
    r"恐怕|可能|误|拟|计划|预计|有望|疑似|传闻|谣传|传说|除|原(?!则|因)|曾任|时任|候任|将$|会$|如果|若|倘若|假如|要是|一旦|如$|假使|即使")
"""How words begin that deny a clause, or call it doubtful, planned, reported, supposed or past."""
_FUTURE = re.compile(r"将|会|如")  # words of what is not yet, or only supposed
_PAST = re.compile(r"曾|一度|过去|以前|从前")  # what no longer holds, if a question asks for what is
_NOUN_TAGS = frozenset({"n", "nz", "ORG", "LOC"})
_PLAIN_TAGS = frozenset({"PER", "ORG", "LOC", "TIME", "u", "w", "p", "m", "q", "r", "c"})
"""Tags of words that do not qualify the noun behind them, as "前" and "代理" do."""
_BOUND = re.compile(r"\s?(?:年|月|日)?[之以]?[前后]")  # what follows a date that is only the bound of a period
_OTHER_ONES = frozenset("老新旧副前原")  # what makes something another thing: the 老大楼 is not the 大楼
_BETWEEN_NOUNS = r"(?:\s?的)?\s?"
_CLAUSE = re.compile(r"[^\s，,；;。][^，,；;。]*")


class ChineseStatement:
    """A tagged sentence, read for a question."""

    def __init__(self, question: Question, text: str) -> None:
        self._question, self._text, self._words = question, text, _tag(text)
        asked = _tag(question.asking)
        self._asked = frozenset(word.text for word in asked)
        verbs = [word for word in asked if word.tag == "v" and word.text not in _LIGHT]
        is_behind_question_word = [False, *(word.tag == "r" for word in asked)]  # of each word: "哪个"
        nouns = [word for word, is_behind in zip(asked, is_behind_question_word, strict=False)
                 if word.tag in {"n", "nz", "vn", "an"} and not is_behind]
        # The last verb with content is the predicate, or else the last noun that no question word asks for.
        self._predicate, self._is_light = next(reversed(verbs or nouns), None), not verbs
        # A noun of several words, such as 诺贝尔物理学奖, is a thing of another name without one of them. Its last
        # character is its head: a sentence without it speaks of the thing in other words, which say nothing here.
        self._is_of_same_things = all(run[-1:] not in text or self._has_whole(run, len(text))
                                      for run in _noun_runs(asked))

    def states(self, start: int, end: int, values: Sequence[tuple[int, int]]) -> bool:
        """Return True if the clause of the value at characters `start` to `end` states it; `values` are all of them."""
        is_question = self._text.rstrip().endswith(("？", "?"))
        if is_question or not self._is_of_same_things or _BOUND.match(self._text, end):
            return False
        clause_start, clause_end = next(clause for clause in clauses(self._text, values) if clause[1] > start)
        words = [word for word in self._words if clause_start <= word.start < clause_end]
        # A conjunction such as 如果 ("if") in an earlier clause also makes this one no fact.
        conjunctions = [word for word in self._words if word.tag == "c" and word.start <= start]
        is_real = not any(map(self._is_unreal, [*conjunctions, *words]))
        names = [name for name in self._question.names if name in self._text]  # headings may have the others
        belongs_to_names = not names or any(self._has_whole(name, clause_end) for name in names)
        return belongs_to_names and is_real and self._is_predicated(words)

    def _has_whole(self, name: str, end: int) -> bool:
        """Return True if a name or nouns are in the text before `end` as a whole, unlike 青石镇 in 青石镇机场."""
        spaced_name = _BETWEEN_NOUNS.join(map(re.escape, "".join(name.split())))  # "诺贝尔的奖" has 诺贝尔奖, too
        for match in re.finditer(spaced_name, self._text[:end]):
            after = next((word for word in self._words if word.end > match.end()), None)
            goes_on = (after is not None and after.start <= match.end() and after.tag in _NOUN_TAGS
                       and after.text not in self._asked)
            character_before = self._text[max(0, match.start() - 1):match.start()]
            is_other_one = character_before in _OTHER_ONES and f"{character_before}{name}" not in self._question.text
            if not (goes_on or is_other_one):
                return True
        return False

    def _is_unreal(self, word: Word) -> bool:
        """Return True for a word that makes its clause no present fact, unless the question has the word, too."""
        is_past = self._is_light and _PAST.match(word.text)
        is_unreal = word.tag in {"d", "v", "c", "p", "vn", "n", "f"} and (
            _UNREAL.match(self._text, word.start) or _FUTURE.fullmatch(word.text))
        return word.text not in self._asked and bool(is_past or is_unreal)

    def _is_predicated(self, words: Sequence[Word]) -> bool:
        """Return True if the predicate is in the clause, whole, and no other verb embeds it."""
        predicate = self._predicate
        if predicate is None:  # a question without a verb or noun of its own asks for any value
            return True
        wanted = frozenset(self._question.words_of(predicate.text))
        words_for_predicate = [word for word in self._words if word.text == predicate.text
                               or not wanted.isdisjoint(self._question.words_of(word.text))]
        has_longer_noun = any(word.text != predicate.text and word.text.endswith(predicate.text) for word in words)
        if predicate.tag != "v" and has_longer_noun:  # "副镇长" is no "镇长"
            return False
        place = next((index for index, word in enumerate(words) if word in words_for_predicate), None)
        if place is None:
            # A date or number answers in other words, unless another clause has the predicate. A name does not: a
            # sentence names many things by the way.
            return self._question.expected in VALUES and not words_for_predicate
        known_words = self._asked | _LIGHT
        if predicate.tag == "v":
            return not any(word.tag == "v" and word.text not in known_words for word in words[:place])
        # A word right before a noun qualifies it, unless it is a word of the question.
        last = next(reversed(words[:place]), None)
        return last is None or last.tag in _PLAIN_TAGS or last.text in known_words


def clauses(text: str, values: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of a sentence's clauses; one that is only a value ("1998年，") belongs to the next one."""
    value_start: int | None = None  # of a value that waits for its clause
    for match in _CLAUSE.finditer(text):
        start = match.start() if value_start is None else value_start
        end = match.start() + len(match[0].rstrip())
        is_only_value = any(first <= match.start() and end <= last for first, last in values)
        value_start = start if is_only_value else None
        if not is_only_value:
            yield start, match.end()
    # The last clause reaches beyond the end of the text, so that the caller finds a clause for each value.
    yield (len(text) if value_start is None else value_start), len(text) + 1


def _noun_runs(words: Sequence[Word]) -> Iterator[str]:
    """Yield each run of adjacent nouns of a question as one text, without the noun that a question word asks for."""
    run = list[Word]()
    for before, word in pairwise([None, *words, None]):  # the last None ends the last run
        if word and word.tag in {"n", "nz", "vn"}:
            follows_question_word = not run and before is not None and before.tag == "r"
            if not follows_question_word:
                run.append(word)
        elif run:
            yield "".join(one.text for one in run)
            run = []


@lru_cache(16)
def _tag(text: str) -> list[Word]:
    """Return the words of a text; a question is read once for all its sentences."""
    return load_tagger().tag(text, [(0, len(text))])[0] if text else []
