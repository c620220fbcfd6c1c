"""English noun phrases beside a quantity or date, and whose they are: 'had revenues of', 'its height is'."""

import re
from itertools import pairwise

from ....text.values import Value
from .arguments import grammatical_subject
from .labels import Found, noun_phrase
from .mentions import Mention, Sentence, Source
from .phrases import modifies

_REACH = 80
_LINK = re.compile(
    r"(?:(?P<verb>\b(?:is|was|are|were|reached|totall?ed|totals|amounted to|amounts to|stood at|stands at|came to|"
    r"rose to|fell to|grew to|increased to|decreased to|declined to|dropped to|climbed to|exceeded))|\b(?P<of>of))"
    r"\s+(?:(?:also|only|now|then|about|approximately|approx\.|around|over|nearly|almost|roughly|some|just|"
    r"more than|less than|up to|estimated(?: at| to be)?|at|an|a total of|an average of)\s+)*$")
_MEASURED = re.compile(r"\s*(?:\([^()]*\))?,?\s*(?:to the|from|away|north|south|east|west|long|tall|high|wide|deep|old|"
                       r"thick|above|below|behind|ahead|of\b|out of|later|earlier|apart|off|up|down|and)")
_WHEN = re.compile(r",?\s+(?:(?:in|for|during|as of|at the end of|by|at)\s+(?:the\s+)?(?:fiscal\s+|year\s+|"
                   r"end of\s+|[a-z]+\s+)?\d{4}(?:\s+census)?,?\s*)$")
_OF_OWNER = re.compile(r"\s+(?:of|for)\s+(?:the\s+)?$")
_HAVING = re.compile(r"\b(?:has|have|had|with|having|reports|reported|posted|recorded|records|generated|generates|"
                     r"achieved|earned|reaches|covers|owns|maintains|reporting|recording)\s+(?:an?\s+|the\s+|its\s+)?$")
_IN_NOUN = re.compile(r"\s+in\s+(?P<words>[a-z][a-z ]{2,40})")
_CURRENCY = re.compile(r"[$€£¥₹]|USD|RMB|EUR|GBP|HKD|dollars?|euros?|pounds?|yuan|yen")
_GAINED = re.compile(r"\b(?:has|have|had|with|reports|reported|posted|recorded|generated|generates|earned|raised|"
                     r"made)\s+(?:(?:about|approximately|around|over|nearly|almost|some|more than|up to)\s+)*$")
_LEADS = re.compile(r"(?:\b(?:in|on|at|near|of|from|to|by|for|with|and|as)\s+(?:the\s+)?|\d\s+|,\s+)$")
_MOST_BEFORE = 2
_OPENS = re.compile(r"(?:^|[,;(–—]\s*(?:and\s+)?|\band\s+)(?:the\s+|an?\s+)?$")
_COUNTED = re.compile(r"\b(?:has|have|had|having|contains|contained|comprises|comprised|includes|employs|employed|"
                      r"operates|operated|owns|owned|consists of|consisted of)\s+(?:(?:about|approximately|around|over|"
                      r"nearly|almost|some|more than|a total of|up to|at least)\s+)*$")
_COUNT_NOUN = re.compile(r"\s+(?P<words>[a-z][a-z' -]{2,40})")
_WORDS = re.compile(r"[^\s,;:()]+")


class EnglishNouns:
    """Reads the noun phrases beside values out of the English sentences of one chunk."""

    def __init__(self, source: Source) -> None:
        """Take the chunk."""
        self._source = source

    def beside(self, sentence: Sentence, value: Value) -> Found | None:
        """The noun phrase that a value in the sentence belongs to, or None."""
        text = self._source.folded
        before = text[max(sentence.start, value.start - _REACH) : value.start]
        offset = value.start - len(before)
        link = _LINK.search(before)
        if link and link["of"]:
            return self._of_phrase(sentence, offset + link.start())
        if link:
            measured = _MEASURED.match(text, value.end, sentence.end)
            return None if measured else self._copula(sentence, offset + link.start())
        gained = _GAINED.search(before) if _CURRENCY.search(value.text) else None
        if gained:
            return self._sum(sentence, value, offset + gained.start())
        counted = _COUNTED.search(before) if value.kind == "number" and value.text[-1:].isdigit() else None
        return self._count(sentence, value, offset + counted.start()) if counted else None

    def _sum(self, sentence: Sentence, value: Value, verb: int) -> Found | None:
        """'reported $5 million in sales'."""
        noun = _IN_NOUN.match(self._source.folded, value.end, sentence.end)
        owner = self._subject(sentence, verb)
        return Found(owner, " ".join(_first_noun(noun["words"])), "in") if owner and noun else None

    def _count(self, sentence: Sentence, value: Value, verb: int) -> Found | None:
        """'has 20 rooms'."""
        noun = _COUNT_NOUN.match(self._source.folded, value.end, sentence.end)
        owner = self._subject(sentence, verb)
        said = _first_noun(noun["words"]) if noun else []
        plural = bool(said) and _is_plural(said[-1])
        return Found(owner, f"number of {' '.join(said)}", "counted") if owner and plural else None

    def _copula(self, sentence: Sentence, end: int) -> Found | None:
        """'its market capitalisation was', 'the height of the tower is', 'Net profit was'."""
        text = self._source.folded
        when = _WHEN.search(text, sentence.start, end)
        end = when.start() if when else end
        last = next((m for m in reversed(sentence.mentions) if m.start < end <= m.end + 1), None)
        if last:
            link = _OF_OWNER.search(text, sentence.start, last.start)
            return Found(last, text[sentence.start : link.start()], "of") if link else None
        begin, said, owned = self._noun(sentence, end)
        if owned or not said:
            return owned
        opens = _OPENS.search(text[sentence.start : begin])
        return Found(None, said, "topic") if opens and opens.start() == 0 else None

    def _of_phrase(self, sentence: Sentence, end: int) -> Found | None:
        """'had revenues of', 'with a height of'."""
        begin, said, owned = self._noun(sentence, end)
        if owned or not said:
            return owned
        having = _HAVING.search(self._source.folded, sentence.start, begin)
        subject = self._subject(sentence, having.start()) if having else None
        return Found(subject, said, "has") if subject else None

    def _noun(self, sentence: Sentence, end: int) -> tuple[int, str, Found | None]:
        """The noun phrase before a place: where it begins, its words, and what is found if somebody possesses it."""
        begin, said = self._noun_before(sentence, end)
        owner = self._possessor(sentence, begin) if said else None
        return begin, said, Found(owner, said, "possessed") if owner else None

    def _noun_before(self, sentence: Sentence, end: int) -> tuple[int, str]:
        """Where the noun phrase before a place begins, and its words; "" where there is none."""
        text = self._source.folded[sentence.start : end]
        words = list(_WORDS.finditer(text))
        if not words or text[words[-1].end() :].strip():
            return end, ""
        start = max((i for i, (left, right) in enumerate(pairwise(words), 1)
                     if text[left.end() : right.start()].strip()), default=0)
        said = noun_phrase([w.group() for w in words[start:]])
        if not said:
            return end, ""
        return sentence.start + words[-len(said)].start(), " ".join(said)

    def _possessor(self, sentence: Sentence, begin: int) -> Mention | None:
        """'Acme's' or 'its' directly before the noun phrase."""
        text = self._source.folded
        for mention in sentence.mentions:
            between = text[mention.end : begin]
            if mention.end <= begin and (between.strip() in {"'s", "’s"} or (
                    mention.kind == "possessive" and not between.strip())):
                return mention
        return None

    def _subject(self, sentence: Sentence, at: int) -> Mention | None:
        """The mention directly before a verb, if no preposition leads to it; else the sentence's subject."""
        text = self._source.folded
        before = [m for m in sentence.mentions if m.end <= at]
        if before and not text[before[-1].end : at].strip() and not self._is_led(sentence, before[-1]):
            return before[-1]
        subject = grammatical_subject(text, sentence)
        if subject is None or subject.end > at or len(before) > _MOST_BEFORE:
            return None
        return None if modifies(text, subject) or self._is_led(sentence, subject) else subject

    def _is_led(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether a preposition, number or comma stands before a mention: it is no subject."""
        return _LEADS.search(self._source.folded, sentence.start, mention.start) is not None


def _is_plural(noun: str) -> bool:
    return noun.endswith("s") and not noun.endswith(("ss", "us", "is"))


def _first_noun(text: str) -> list[str]:
    """The noun phrase that a text begins with."""
    said = text.split()
    for size in range(min(len(said), 3), 0, -1):
        if noun_phrase(said[:size]) == said[:size]:
            return said[:size]
    return []
