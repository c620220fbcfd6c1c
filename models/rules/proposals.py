"""Attributes that the schema does not have: a noun phrase beside a quantity or date, and whose it is.

Relations outside the schema are the verb phrases of `relations.py`; both are named by `labels.py`.
Entity types are never proposed: an entity of an unknown type would wait with all its facts, and the
seeds have a type of last resort under which it can be used at once.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import rjieba

from .arguments import grammatical_subject
from .attributes import Described
from .cues import fold, is_han
from .labels import GENERIC_HAN_NOUNS, attribute_label, han_attribute_label, noun_phrase
from .mentions import Mention, Sentence, Source
from .phrases import modifies
from .values import Value

CONFIDENCE = {
    "of": 0.85, "has": 0.81, "counted": 0.94, "topic": 0.87, "possessed": 0.68, "in": 0.75, "listed": 0.75,
    "的": 0.9, "并列": 0.9, "句首": 0.88, "其": 0.75, "增长": 0.75, "无": 0.7,
}
"""How often evidence of each form gives a right value of that attribute to the right owner, as (right + 1) /
(seen + 2). By hand on MuSiQue-train passages, `general` with and without its number attributes: 'the height of X is'
6 of 6, 'X has a height of' 12 of 14, 'X has 20 rooms' 16 of 16, 'The height is' of the document's subject 34 of 38,
'its height', 'X's height' 12 of 17. By hand on Chinese finance reports, `general`: 公司的净利润为 15 of 15, a further
figure of the same owner 15 of 15, 净利润为 at the start 14 of 15; there 242 of 252 equal what `finance` reads when one
of its attributes is left out at a time. Capped at 0.9: the reports are all of one kind. The other forms were too rare
to judge: they stay below acceptance."""
_MOST_IN_SENTENCE = 5
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
_ENTRY = re.compile(r"^[\s>*•|+–-]*\**(?P<label>[^\W\d_][^:：|\n\d*]{1,40}?)\**\s*(?:[:：]|\|)\**\s*$")
_COUNTED = re.compile(r"\b(?:has|have|had|having|contains|contained|comprises|comprised|includes|employs|employed|"
                      r"operates|operated|owns|owned|consists of|consisted of)\s+(?:(?:about|approximately|around|over|"
                      r"nearly|almost|some|more than|a total of|up to|at least)\s+)*$")
_COUNT_NOUN = re.compile(r"\s+(?P<words>[a-z][a-z' -]{2,40})")
_UNIT = re.compile(r"\s?(?:[kKMGTm]?(?:W|Wh|Hz|V|A|J|B|bp|bit|Pa|N)(?:/[a-z]+)?|watts?|(?:kilo|mega|giga)watts?|knots|"
                   r"millimet(?:re|er)s|metric ton(?:ne)?s|barrels|points|volts|bytes|cubic [a-z]+(?: per [a-z]+)?|"
                   r"[a-z]+ per [a-z]+)\b|\s?[a-z]{1,2}[²³]|\s?°\s?[CF]\b")
_DATED = frozenset({"date", "year", "day", "time", "deadline", "日期", "时间", "年份", "日"})
_WORDS = re.compile(r"[^\s,;:()]+")

_HAN_LINK = re.compile(
    r"(?:(?P<link>为|是|[高]?达(?:到|成)?了?|约为|共计|合计|总计|共|[:：]|"
    r"(?:增长|增加|上升|提升|提高|升高|上涨|降低|下降|减少|减|降|增|升|下滑|回落|缩减|扩大|控制|保持|维持|稳定|跌|涨)"
    r"(?:至|到|在|为)了?|超过了?|突破了?|接近|仅为)|"
    r"(?P<growth>(?:同比|环比)?(?:大幅|显著|略有|实现)?(?:增长|上升|提升|提高|上涨)了?)|"
    r"(?P<change>(?:增长|增加|上升|提升|提高|上涨|下降|减少|降低|下滑|下跌|缩减|节约|节省)了?))?"
    r"\s*(?:约|近|大约|超过|逾|了)?\s*$")
_HAN_CLAUSE = re.compile(r"[。；;，,！？!?\n]")
_HAN_FILL = re.compile(r"(?:(?:在|于|截至)?(?:今年|去年|当年|同期|报告期内?|本期|年末|年底|期末)|同比|环比|"
                       r"[也已均则仍就还又都共]|成功|最终|大幅|显著|逐步|进一步|预计|总共|将|能够|能)+$")
_HAN_TIME = re.compile(r"(?:在|于|截至|到)?(?P<date>\S*)(?:末|底|年末|年底|期间|内)?$")
_HAN_NOMINAL = ("n", "vn", "an", "j", "b", "l", "nz", "ng", "i", "a")
_HAN_GAINING = re.compile(r"(?:实现|取得|录得|创造|拥有|获得|具有|达成|完成)了?$")
_HAN_OWNED = re.compile(r"(?:的|之)\s*$")
_HAN_UNIT = re.compile(r"(?!左右|以上|以下|以内|之间|不等|的)[^\W\d_]{1,4}(?=[，。；、,;）)]|$)|\s[A-Za-z]{1,6}\b")
_SHORTEST_BARE = 4
_HAN_UNITS = re.compile(r"[万亿元%％吨]")


class _Found(NamedTuple):
    """A noun phrase and whose attribute it is, before it becomes a label."""

    owner: Mention | None
    said: str
    pattern: str


class AttributeProposer:
    """Reads attributes that the schema does not know out of the sentences of one chunk."""

    def __init__(self, source: Source, types: dict[str, str]) -> None:
        """Take the chunk and the types of its names."""
        self._source = source
        self._types = types
        self._known = frozenset(
            fold(cue) for attribute in source.compiled.attribute_of.values()
            for cue in (*attribute.all_names(), *attribute.all_cues()) if len(cue) > 1)
        self._squeezed = frozenset(cue.replace("_", "").replace(" ", "") for cue in self._known)

    def propose(self, sentence: Sentence, described: Sequence[Described]) -> list[Described]:
        """The unknown attributes that a sentence gives, at most a few.

        Args:
            sentence: with resolved mentions.
            described: what the schema's own attributes say of it; their values are not read again.

        Returns:
            Attributes under labels of their own.
        """
        read = {d.value for d in described}
        found: list[Described] = []
        for value in sentence.values:
            whole = sentence.han or not re.match(r"\w|[/:-]\d", self._source.text[value.end : value.end + 2])
            if whole and value.text.strip() not in read and len(found) < _MOST_IN_SENTENCE:
                found.extend(self._of_value(sentence, value))
        return found

    def _of_value(self, sentence: Sentence, value: Value) -> Iterator[Described]:
        line = self._entry(sentence, value)
        candidates = (line,) if line else (
            self._han(sentence, value) if sentence.han else self._english(sentence, value))
        for owner, said, pattern in candidates:
            label = self._label(said, pattern)
            name = owner.name if owner else sentence.topic
            if not label or not name:
                continue
            known = self._attribute(label, value, self._types.get(name, ""))
            if not known and self._is_known(label):
                continue
            if value.kind == "date" and not any(label.endswith(noun) for noun in _DATED):
                continue
            if pattern == "增长":
                label = f"{label}增长率"
            text = value.text.strip() + self._unit(value, _HAN_UNIT if sentence.han else _UNIT)
            yield Described(name, known or label, text, CONFIDENCE[pattern], sentence)
            return

    @staticmethod
    def _label(said: str, pattern: str) -> str:
        if pattern == "counted":
            return said
        if is_han(said[-1:] or " "):
            return han_attribute_label(said)
        return attribute_label(noun_phrase(said.split()))

    def _attribute(self, label: str, value: Value, owner: str) -> str:
        """The schema's attribute of that name, where owner and value fit but its own cues were too far away."""
        compiled = self._source.compiled
        return next((a.name for a in compiled.attribute_of.values() if a.kind == value.kind
                     and label in {fold(name) for name in (*a.all_names(), *a.all_cues())}
                     and compiled.schema.is_a(owner, a.owners)), "")

    def _is_known(self, label: str) -> bool:
        """Whether the schema has it (it was tried, and did not fit), or it is a kind of thing."""
        types = self._source.compiled.types
        if label.replace(" ", "") in self._squeezed:
            return True
        if is_han(label[-1]):
            return label in types.han_heads or any(label.endswith(cue) for cue in self._known)
        words = label.split()
        return (any(" ".join(words[i:]) in self._known for i in range(len(words)))
                or (len(words) == 1 and types.of_word(label) is not None))

    def _entry(self, sentence: Sentence, value: Value) -> _Found | None:
        """'Net profit: 3.1 million euros', '| Revenue | 12 |': a line of a list or table."""
        text = self._source.text
        start = text.rfind("\n", 0, value.start) + 1
        match = _ENTRY.match(text[start : value.start])
        if not match or not sentence.topic:
            return None
        return _Found(None, fold(match["label"]).strip(), "listed")

    # --- English -----------------------------------------------------------------------------------

    def _english(self, sentence: Sentence, value: Value) -> Iterator[_Found]:
        text = self._source.folded
        before = text[max(sentence.start, value.start - _REACH) : value.start]
        offset = value.start - len(before)
        link = _LINK.search(before)
        if link and link["verb"] and _MEASURED.match(text, value.end, sentence.end):
            return
        if link:
            at = offset + link.start()
            found = self._of_phrase(sentence, at) if link["of"] else self._copula(sentence, at)
            if found:
                yield found
        elif _CURRENCY.search(value.text) and (noun := _IN_NOUN.match(text, value.end, sentence.end)):
            gained = _GAINED.search(before)
            owner = self._subject(sentence, offset + gained.start()) if gained else None
            if owner:
                yield _Found(owner, " ".join(_first_noun(noun["words"])), "in")
        elif value.kind == "number" and value.text[-1:].isdigit() and (counted := _COUNTED.search(before)):
            noun = _COUNT_NOUN.match(text, value.end, sentence.end)
            owner = self._subject(sentence, offset + counted.start())
            said = _first_noun(noun["words"]) if noun else []
            if owner and said and _is_plural(said[-1]):
                yield _Found(owner, f"number of {' '.join(said)}", "counted")

    def _copula(self, sentence: Sentence, end: int) -> _Found | None:
        """'its market capitalisation was', 'the height of the tower is', 'Net profit was'."""
        text = self._source.folded
        when = _WHEN.search(text, sentence.start, end)
        end = when.start() if when else end
        last = next((m for m in reversed(sentence.mentions) if m.start < end <= m.end + 1), None)
        if last:
            link = _OF_OWNER.search(text, sentence.start, last.start)
            return _Found(last, text[sentence.start : link.start()], "of") if link else None
        begin, said = self._noun_before(sentence, end)
        if not said:
            return None
        owner = self._possessor(sentence, begin)
        if owner:
            return _Found(owner, said, "possessed")
        opens = _OPENS.search(text[sentence.start : begin])
        return _Found(None, said, "topic") if opens and opens.start() == 0 else None

    def _of_phrase(self, sentence: Sentence, end: int) -> _Found | None:
        """'had revenues of', 'with a height of'."""
        begin, said = self._noun_before(sentence, end)
        if not said:
            return None
        owner = self._possessor(sentence, begin)
        if owner:
            return _Found(owner, said, "possessed")
        having = _HAVING.search(self._source.folded, sentence.start, begin)
        subject = self._subject(sentence, having.start()) if having else None
        return _Found(subject, said, "has") if subject else None

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

    # --- Chinese -----------------------------------------------------------------------------------

    def _han(self, sentence: Sentence, value: Value) -> Iterator[_Found]:
        text = self._source.text
        clause = sentence.start
        for stop in _HAN_CLAUSE.finditer(text, sentence.start, value.start):
            clause = stop.end()
        clause = max(clause, value.start - _REACH)
        link = _HAN_LINK.search(text, clause, value.start)
        if not link or link["change"] or "分别" in text[clause : value.start]:
            return
        if link["growth"] and not value.text.rstrip().endswith(("%", "％")):
            return
        end = self._before_adverbs(sentence, clause, link.start())
        bare = not link["link"] and not link["growth"]
        begin, said = self._nouns_before(clause, end, verbal=not bare)
        joined = len(said) >= _SHORTEST_BARE and end == value.start and _HAN_UNITS.search(value.text)
        if not said or (bare and not joined):
            return
        pattern = "增长" if link["growth"] else "无" if bare else ""
        yield from self._han_owner(sentence, clause, begin, said, pattern)

    def _before_adverbs(self, sentence: Sentence, clause: int, end: int) -> int:
        """The end of the noun phrase: without '在2017年', '同比', '也' between it and the verb."""
        text = self._source.text
        while True:
            fill = _HAN_FILL.search(text, clause, end)
            date = next((v for v in sentence.values if v.kind == "date" and clause <= v.start and v.end <= end
                         and not text[v.end : end].strip("末底内度")), None)
            if fill:
                end = fill.start()
            elif date:
                end = date.start - (text[date.start - 1 : date.start] in {"在", "于"})
            else:
                return end

    def _nouns_before(self, clause: int, end: int, *, verbal: bool) -> tuple[int, str]:
        """The nouns that a part of the clause ends in, and where they begin.

        With `verbal`, a verb after a noun may be the last of them ('能源消耗').
        """
        begin, words = end, rjieba.tag(self._source.text[clause:end])
        if not verbal and words and not words[-1][1].startswith("n"):
            return end, ""
        for i, (word, flag) in enumerate(reversed(words)):
            noun = flag.startswith(_HAN_NOMINAL) and not flag.startswith(("nr", "ns", "nt"))
            done = verbal and flag == "v" and i == 0 and len(words) > 1 and words[-2][1].startswith("n")
            inner = flag == "v" and i == 1 and len(word) > 1 and words[-1][0] in GENERIC_HAN_NOUNS
            if not (noun or done or inner) or not is_han(word[0]):
                break
            begin -= len(word)
        return begin, self._source.text[begin:end]

    def _han_owner(self, sentence: Sentence, clause: int, begin: int, said: str, pattern: str) -> Iterator[_Found]:
        text = self._source.text
        named = max((m.end for m in sentence.mentions if begin <= m.start and m.end < begin + len(said)
                     and self._may_own(sentence, m)), default=begin)
        begin, said = named, said[named - begin :]
        lead = _HAN_OWNED.sub("", text[clause:begin])
        owned = lead != text[clause:begin]
        near = next((m for m in sentence.mentions if m.end == clause + len(lead)), None)
        if near and not owned and not self._may_own(sentence, near):
            # '公司的二氧化碳排放量': a name without 的 that is no owner is a part of the noun.
            yield from self._han_owner(sentence, clause, near.start, text[near.start : begin] + said, pattern)
            return
        if near is not None:
            yield _Found(near, said, pattern or ("其" if near.kind == "possessive" else "的"))
        elif not owned or self._is_time(sentence, clause, lead):
            gained = _HAN_GAINING.search(lead)
            free = not lead.strip() or gained or self._is_time(sentence, clause, lead)
            if free:
                subject = grammatical_subject(text, sentence)
                first = subject if subject and subject.end <= begin and subject.name == sentence.topic else None
                yield _Found(first, said, pattern or ("句首" if first is None else "并列"))

    def _may_own(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether a name directly before a noun can be whose it is: told by its form, or what is spoken of."""
        typed = self._source.compiled.types.of_han_name(mention.name) is not None
        return mention.kind != "name" or mention.hint != "" or typed or mention.name == sentence.topic

    def _is_time(self, sentence: Sentence, clause: int, lead: str) -> bool:
        """Whether all that stands before the nouns is a date, as in '2021年度的'."""
        return any(v.kind == "date" and clause <= v.start and
                   not lead.replace(v.text, "").strip("在于截至到，末底内度的 ") for v in sentence.values)

    def _unit(self, value: Value, units: re.Pattern[str]) -> str:
        """The unit that stands after a quantity and is in no list ('200,000吉瓦时', '576 MW')."""
        plain = value.kind == "number" and value.text.strip()[-1:].isdigit()
        unit = units.match(self._source.text, value.end) if plain else None
        return unit.group().rstrip() if unit else ""


def _is_plural(noun: str) -> bool:
    return noun.endswith("s") and not noun.endswith(("ss", "us", "is"))


def _first_noun(text: str) -> list[str]:
    """The noun phrase that a text begins with."""
    said = text.split()
    for size in range(min(len(said), 3), 0, -1):
        if noun_phrase(said[:size]) == said[:size]:
            return said[:size]
    return []
