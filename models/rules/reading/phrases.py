"""Mentions joined by a verb phrase that no cue of the schema covers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import rjieba

from ..name_words import AUXILIARIES, DETERMINERS, OPENERS, PREPOSITIONS, VERB_FORMS
from .arguments import grammatical_subject
from .cues import CompiledSchema, is_han
from .mentions import ANAPHORS, Mention, Sentence, Source
from .relations import Triple

CONFIDENCE = {"noun": 0.83, "agent": 0.81, "verb": 0.81, "preposition": 0.78, "介词": 0.87, "动词": 0.62}
"""How often a phrase of each form states a relation of that label between those two, as (right + 1) / (seen + 2):
noun and 'of' 28 of 33, participle and 'by' 24 of 29, bare verb 30 of 36, other preposition 28 of 35, judged by hand
on MuSiQue-train passages under the `general` seed; an object before its verb 27 of 30 in Chinese reports. A subject
that is a pronoun was right as often as a name (59 of 72, 52 of 65), so it counts the same. A Chinese verb between two
names was too rare to judge: it stays below acceptance."""
_LED = re.compile(r"\b(?:of|from|in|on|at|to|by|for|with)\s+(?:the\s+|an?\s+)?$")
_LED_REACH = 12
_ENDS = {"of": "noun", "by": "agent"}
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_PHRASE = re.compile(r"[\s\w'’-]{3,48}")
_MOST_PHRASE_WORDS = 3
_NOT_IN_PHRASE = AUXILIARIES | frozenset({"and", "or", "who", "which", "that", "not", "than"})
_NEXT = re.compile(r"['’]s\b|[\s-]+(?P<word>[a-z0-9]+)")
_GOES_ON = (AUXILIARIES | PREPOSITIONS | DETERMINERS | VERB_FORMS | OPENERS) - {"of"}
_HAN_PHRASE = range(2, 8)
_HAN_VERB = 2
_HAN_ENDS = frozenset("，。；、！？）)和与及并,;\n”》")
_HAN_AGENT = frozenset("被由")
_HAN_MARKS = frozenset("被由对与和同向")
_HAN_AND = frozenset("与和同")
_HAN_BEFORE = re.compile(r"(?:[在于\d〇零一二三四五六七八九十年月日度，,也已均则成功正式最终先后曾又]|完成了?)*")
_HAN_AFTER = re.compile(
    r"(?:共同|正式|成功|联合|一起|进行了?|展开了?|开展了?|达成了?|的(?:股权|资产|全面|战略|全资)?)*")
_HAN_REACH = 8


@dataclass(frozen=True, slots=True)
class Phrase:
    """Two mentions joined by a verb phrase that no cue covers."""

    head: str
    words: str
    tail: str
    confidence: float
    sentence: Sentence


class PhraseFinder:
    """Reads phrases between mentions out of the sentences of one chunk."""

    def __init__(self, source: Source) -> None:
        """Take the chunk."""
        self._source = source
        self._compiled: CompiledSchema = source.compiled

    def phrases(self, sentence: Sentence, triples: Sequence[Triple]) -> list[Phrase]:
        """Neighbouring mentions joined by a verb phrase, where no triple joins them yet.

        Args:
            sentence: with resolved mentions.
            triples: those that the schema's cues gave for it.
        """
        joined = {frozenset((t.head, t.tail)) for t in triples}
        subject = grammatical_subject(self._source.folded, sentence)
        found = []
        for left, right in zip(sentence.mentions, sentence.mentions[1:], strict=False):
            speaks = left.kind == "pronoun" or left is subject
            vague = right.kind == "term" or left.kind == "term"
            if left.name == right.name or vague or not speaks or frozenset((left.name, right.name)) in joined:
                continue
            read = self._han(sentence, left, right) if sentence.han else self._english(left, right)
            for words, pattern, flip in read:
                if not self._is_cue(words):
                    head, tail = (right, left) if flip else (left, right)
                    found.append(Phrase(head.name, words, tail.name, CONFIDENCE[pattern], sentence))
        return found

    def _english(self, left: Mention, right: Mention) -> Iterator[tuple[str, str, bool]]:
        text = self._source.folded
        led = _LED.search(text, max(0, left.start - _LED_REACH), left.start)
        words = "" if led else verb_phrase(text[left.end : right.start])
        if words and not modifies(text, right):
            last = words.split()[-1]
            yield words, _ENDS.get(last, "preposition" if last in PREPOSITIONS else "verb"), False

    def _han(self, sentence: Sentence, left: Mention, right: Mention) -> Iterator[tuple[str, str, bool]]:
        """'甲收购乙', '甲被乙收购', '甲对乙进行收购': the second mention must not go on as a longer noun."""
        text = self._source.text
        gap = text[left.end : right.start]
        if gap[-1:] in _HAN_MARKS:
            start = _HAN_AFTER.match(text, right.end, sentence.end)
            verb = _first_verb(text[start.end() if start else right.end : sentence.end][:_HAN_REACH])
            joined = gap[-1] in _HAN_AND and start is not None and "的" in start.group()
            if verb and not joined and _HAN_BEFORE.fullmatch(gap[:-1]):
                yield verb, "介词", gap[-1] in _HAN_AGENT
        elif text[right.end : right.end + 1] in _HAN_ENDS and (verb := han_verb(gap)):
            yield verb, "动词", False

    def _is_cue(self, words: str) -> bool:
        """Whether the schema has a relation of these words: it was tried, and the types did not fit."""
        return any(hit.phrase == words for hits in self._compiled.relations.find(words) for hit in hits)


def modifies(folded: str, mention: Mention) -> bool:
    """Whether an English name goes on, or only modifies what follows: 'the Euro currency', 'Council of'."""
    after = _NEXT.match(folded, mention.end)
    if after is None:
        return False
    word = after["word"] or ""
    return not (word in _GOES_ON or word.endswith(("ed", "ly")) or (word.endswith("s") and mention.kind in ANAPHORS))


def _first_verb(text: str) -> str:
    """The verb, or noun of doing, that a Chinese text begins with; "" where there is none."""
    word, flag = next(iter(rjieba.tag(text)), ("", ""))
    return word if flag in {"v", "vn"} and len(word) >= _HAN_VERB and is_han(word[0]) else ""


def verb_phrase(gap: str) -> str:
    """The verb phrase that fills a gap between two mentions, without auxiliaries and articles.

    Args:
        gap: the folded words between.

    Returns:
        Such as 'defeated by' for ' was defeated by the '; "" where the gap is no short verb phrase.
    """
    if not _PHRASE.fullmatch(gap):
        return ""
    words = [w for w in gap.split() if w not in DETERMINERS and not w.endswith("ly")]
    passive = bool(words) and words[0] in AUXILIARIES - {"has", "have", "had"}
    while words and (words[0] in AUXILIARIES or words[0] in {"also", "later", "then", "first", "often", "still"}):
        words = words[1:]
    if not 0 < len(words) <= _MOST_PHRASE_WORDS or not all(map(_WORD.fullmatch, words)):
        return ""
    if words[0] in PREPOSITIONS or any(w in _NOT_IN_PHRASE for w in words):
        return ""
    ends = words[-1] in PREPOSITIONS
    if passive and words[-1] == "of":
        return " ".join(words)
    present = words[0].endswith("s") and not words[0].endswith(("ss", "us", "is"))
    verb = present or words[0] in VERB_FORMS or words[0].endswith("ed")
    short = (len(words) == 1 and not passive) or (len(words) == 2 and ends)  # noqa: PLR2004 - verb, preposition
    return " ".join(words) if verb and short else ""


def han_verb(gap: str) -> str:
    """The one verb that fills a gap between two Chinese mentions, without particles; else ""."""
    if len(gap) not in _HAN_PHRASE:
        return ""
    words = rjieba.tag(gap)
    verbs = [word for word, flag in words if flag == "v" and len(word) >= _HAN_VERB]
    if len(verbs) != 1 or any(flag not in {"v", "p", "ul", "d", "uz", "ug"} for _, flag in words):
        return ""
    return verbs[0]
