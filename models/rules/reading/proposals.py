"""Attributes that the schema does not have: a noun phrase beside a quantity or date, and whose it is.

Relations outside the schema are the verb phrases of `phrases.py`; both are named by `labels.py`.
Entity types are never proposed: an entity of an unknown type would wait with all its facts, and the
seeds have a type of last resort under which it can be used at once.
"""

import re
from collections.abc import Sequence

from ....text.values import Value
from .attributes import Described
from .cues import fold, is_han
from .labels import Found, attribute_label, han_attribute_label, noun_phrase
from .mentions import Sentence, Source
from .proposals_chinese import ChineseNouns
from .proposals_english import EnglishNouns

CONFIDENCE = {
    "of": 0.85, "has": 0.81, "counted": 0.9, "topic": 0.87, "possessed": 0.68, "in": 0.75, "listed": 0.75,
    "的": 0.9, "并列": 0.9, "句首": 0.88, "其": 0.75, "增长": 0.75, "无": 0.7,
}
"""How often evidence of each form gives a right value of that attribute to the right owner, as (right + 1) /
(seen + 2). By hand on MuSiQue-train passages, `general` with and without its number attributes: 'the height of X is'
6 of 6, 'X has a height of' 12 of 14, 'X has 20 rooms' 16 of 16, 'The height is' of the document's subject 34 of 38,
'its height', 'X's height' 12 of 17. By hand on Chinese finance reports, `general`: 公司的净利润为 15 of 15, a further
figure of the same owner 15 of 15, 净利润为 at the start 14 of 15; there 242 of 252 equal what `finance` reads when one
of its attributes is left out at a time. Capped at 0.9: both are of one kind of text. The other forms were too rare
to judge: they stay below acceptance."""
_MOST_IN_SENTENCE = 6
_ENTRY = re.compile(r"^[\s>*•|+–-]*\**(?P<label>[^\W\d_][^:：|\n\d*]{1,40}?)\**\s*(?:[:：]|\|)\**\s*$")
_UNIT = re.compile(r"\s?(?:[kKMGTm]?(?:W|Wh|Hz|V|A|J|B|bp|bit|Pa|N)(?:/[a-z]+)?|watts?|(?:kilo|mega|giga)watts?|knots|"
                   r"millimet(?:re|er)s|metric ton(?:ne)?s|barrels|points|volts|bytes|cubic [a-z]+(?: per [a-z]+)?|"
                   r"[a-z]+ per [a-z]+)\b|\s?[a-z]{1,2}[²³]|\s?°\s?[CF]\b")
_HAN_UNIT = re.compile(r"(?!左右|以上|以下|以内|之间|不等|的)[^\W\d_]{1,4}(?=[，。；、,;）)]|$)|\s[A-Za-z]{1,6}\b")
_DATED = frozenset({"date", "year", "day", "time", "deadline", "日期", "时间", "年份", "日"})


class AttributeProposer:
    """Reads attributes that the schema does not know out of the sentences of one chunk."""

    def __init__(self, source: Source, types: dict[str, str]) -> None:
        """Take the chunk and the types of its names."""
        self._source = source
        self._types = types
        self._english = EnglishNouns(source)
        self._chinese = ChineseNouns(source)
        self._known = frozenset(
            fold(cue) for attribute in source.compiled.attribute_of.values()
            for cue in (*attribute.all_names(), *attribute.rules.all_cues()) if len(cue) > 1)
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
                noun = self._entry(sentence, value) or (
                    self._chinese if sentence.han else self._english).beside(sentence, value)
                proposal = self._named(sentence, value, noun) if noun else None
                if proposal:
                    found.append(proposal)
        return found

    def _named(self, sentence: Sentence, value: Value, noun: Found) -> Described | None:
        """The attribute under its label; None where the noun makes none, or a known one that does not fit."""
        label = self._label(noun.said, noun.pattern)
        name = noun.owner.name if noun.owner else sentence.topic
        if not label or not name:
            return None
        if noun.pattern == "增长":
            label = f"{label}增长率"
        known = self._attribute(label, value, self._types.get(name, ""))
        dated = value.kind != "date" or any(label.endswith(word) for word in _DATED)
        if not dated or (not known and self._is_known(label)):
            return None
        text = value.text.strip() + self._unit(value, _HAN_UNIT if sentence.han else _UNIT)
        return Described(name, known or label, text, CONFIDENCE[noun.pattern], sentence)

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
                     and label in {fold(name) for name in (*a.all_names(), *a.rules.all_cues())}
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

    def _entry(self, sentence: Sentence, value: Value) -> Found | None:
        """'Net profit: 3.1 million euros', '| Revenue | 12 |': a line of a list or table."""
        text = self._source.text
        start = text.rfind("\n", 0, value.start) + 1
        match = _ENTRY.match(text[start : value.start])
        if not match or not sentence.topic:
            return None
        return Found(None, fold(match["label"]).strip(), "listed")

    def _unit(self, value: Value, units: re.Pattern[str]) -> str:
        """The unit that stands after a quantity and is in no list ('200,000吉瓦时', '576 MW')."""
        plain = value.kind == "number" and value.text.strip()[-1:].isdigit()
        unit = units.match(self._source.text, value.end) if plain else None
        return unit.group().rstrip() if unit else ""
