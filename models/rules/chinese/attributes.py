"""Attribute values in Chinese: beside the schema's cues, beside nouns that it does not know, after headings."""

import re
from collections.abc import Iterator, Mapping, Sequence

from ....schemas.graph_schema import AttributeType
from ..reading.cues import Hit, fold
from ..reading.facts import Described
from ..reading.mentions import Mention, Source
from .labels import KIN, ROLE_ENDINGS, attribute_label
from .mentions import NOMINAL, ChineseSentence, is_named
from .syntax import COPULAS, NOTHING, OWNS, Accepts, Clause, Side, Token

_LIFE = re.compile(r"\s{0,3}[(（](?P<life>[^()（）]{4,60})[)）]")
_SPAN = re.compile(r"(?:(?<!\s)\s++)?+[–—－\-~至]++\s*+")
_BIRTH, _DEATH = frozenset({"born", "出生"}), frozenset({"died", "逝世"})
_IS = frozenset({"是", "是一位", "是一名"})
_ALSO = frozenset({"简称"})
ROLE = "身份"
"""The label under which a heading or a word before a name says what somebody is, where the schema has none."""

_NAMES = ("名", "名称", "姓名")
_REACHED = ("至", "到", "为", "达", "是", "共", "计", "超过", "突破", "接近", "约")
_GROWN = ("增长", "上升", "提升", "提高", "上涨", "增加")
_CHANGED = (*_GROWN, "下降", "减少", "降低", "下滑", "下跌", "缩减", "节约", "节省", "增", "降", "减")
_BETWEEN = frozenset({"d", "u", "p", "TIME", "T", "q", "ad", "xc", "f"})
_MEASURES = (*"率度额量值数费长高重深宽", "资本", "本金", "收入", "利润", "资产", "面积")
_DATED = ("日期", "时间", "年份", "日")
_UNIT = re.compile(r"(?!左右|以上|以下|以内|之间|不等|的)[^\W\d_]{1,4}(?=[，。；、,;）)]|$)|\s[A-Za-z]{1,6}\b")
_ANAPHOR_FACTOR = 0.97
_MOST_BETWEEN = 3
_MOST_IN_SENTENCE = 6
_LONGEST_TEXT = 30
_LONGEST_HEADING = 8
_SHORTEST_BARE = 4


class AttributeReader:
    """Reads attribute values out of the clauses of one chunk."""

    def __init__(self, source: Source, types: Mapping[str, str], aliases: Mapping[str, str]) -> None:
        """Take the chunk, the types of its names, and short names with the full ones."""
        self._source = source
        self._types = types
        self._aliases = aliases
        self._attributes = source.compiled.attribute_of
        self._person = source.compiled.types.roles.get("person", "")
        self._birth, self._death = self._with_cue(_BIRTH, "date"), self._with_cue(_DEATH, "date")
        self._alias, self._is = self._with_cue(_ALSO, "text"), self._with_cue(_IS, "text")
        self.record: Mention | None = None
        """Whom a record's headings speak of: named by one, or what the document is about."""
        self._known = frozenset(fold(cue).replace("_", "") for attribute in self._attributes.values()
                                for cue in (*attribute.all_names(), *attribute.rules.all_cues()) if len(cue) > 1)

    def _with_cue(self, cues: frozenset[str], kind: str) -> AttributeType | None:
        return next((a for a in self._attributes.values() if a.kind == kind and cues & set(a.rules.all_cues())), None)

    def knows(self, word: str) -> bool:
        """Whether a word is a cue of an attribute ('原名'): the name after it is a value."""
        return word in self._known

    def _owns(self, attribute: AttributeType) -> Accepts:
        is_a = self._source.compiled.schema.is_a
        return lambda mention: is_a(self._types.get(mention.name, ""), attribute.owners)

    def of_names(self, sentence: ChineseSentence) -> Iterator[Described]:
        """What stands in brackets after a name: life dates, a short form."""
        for mention in sentence.mentions:
            if not is_named(mention):
                continue
            yield from self._life_dates(sentence, mention)
        for short, full in self._aliases.items():
            if self._alias and any(m.name == full and self._source.text.find(short, m.end, m.end + 30) >= 0
                                   for m in sentence.mentions):
                yield Described(full, self._alias.name, short, 0.9, sentence)

    def _life_dates(self, sentence: ChineseSentence, mention: Mention) -> Iterator[Described]:
        """'（1871—1938）' after a name: born and died."""
        match = _LIFE.match(self._source.text, mention.end, sentence.end)
        dates = [v for v in sentence.values if match and v.kind == "date" and match.start() <= v.start < match.end()]
        texts = _SPAN.split(dates[0].text) if len(dates) == 1 else [v.text for v in dates]
        if len(texts) != 2 or any(len(text.strip()) < 4 for text in texts) or (  # noqa: PLR2004 - two years
                len(dates) == 2 and not _SPAN.search(self._source.text, dates[0].end, dates[1].start)):  # noqa: PLR2004
            return
        for attribute, text in zip((self._birth, self._death), texts, strict=True):
            if attribute and self._owns(attribute)(mention):
                yield Described(mention.name, attribute.name, text.strip(), 0.92, sentence)

    def known(self, sentence: ChineseSentence, clause: Clause, hits: list[list[Hit]]) -> Iterator[Described]:
        """The schema's attributes that a clause gives."""
        for group in hits:
            for hit in group:
                found = [d for name, _ in hit.elements
                         if (d := self._of_hit(sentence, clause, hit, self._attributes[name]))]
                if found:
                    yield from found
                    break
        yield from self._said_to_be(sentence, clause)

    def _of_hit(self, sentence: ChineseSentence, clause: Clause, hit: Hit,
                attribute: AttributeType) -> Described | None:
        first, last = clause.first(hit.start), clause.after_character(hit.end)
        if hit.phrase in _IS or clause.cuts(hit.start, hit.end):
            return None
        if attribute.kind == "text":
            return self._text_value(sentence, clause, hit, attribute)
        at, confidence = self._value_near(clause, first, last, attribute.kind)
        if at is None:
            return None
        begin = min(first, at)
        while begin > 0 and clause.tokens[begin - 1].tag in {"n", "vn"}:
            begin -= 1  # '投资金额' with the cue '金额'
        owner = self._owner(clause, begin, max(last, at), self._owns(attribute))
        if not owner.mentions:
            return None
        return self._described(sentence, owner, attribute.name, clause.tokens[at].text, confidence)

    @staticmethod
    def _described(sentence: ChineseSentence, owner: Side, label: str, value: str, confidence: float) -> Described:
        mention = owner.mentions[0]
        sure = confidence * min(1.0, owner.confidence + 0.1) * (1.0 if is_named(mention) else _ANAPHOR_FACTOR)
        return Described(mention.name, label, value.strip(), round(min(sure, 0.92), 2), sentence)

    @staticmethod
    def _value_near(clause: Clause, first: int, last: int, kind: str) -> tuple[int | None, float]:
        """The value that the cue leads to, else the one that leads to the cue."""
        tag = "T" if kind == "date" else "M"
        tokens = clause.tokens
        for step, begin, reach in ((1, last, _MOST_BETWEEN + 4), (-1, first - 1, _MOST_BETWEEN + 2)):
            between = 0
            for at in range(begin, begin + step * reach, step):
                if not 0 <= at < len(tokens):
                    break
                token = tokens[at]
                if token.tag == tag:
                    return at, 0.9 if between < 2 else 0.8  # noqa: PLR2004 - a word between is common
                if token.tag not in _BETWEEN and not token.text.endswith(_REACHED):
                    between += 1 if token.mention or token.tag in NOMINAL or step > 0 else _MOST_BETWEEN
                if between >= _MOST_BETWEEN or token.text in _CHANGED or (token.tag in {"T", "M"} and step < 0):
                    break
        return None, 0.0

    @staticmethod
    def _owner(clause: Clause, first: int, last: int, owns: Accepts) -> Side:
        """Who a value belongs to: the subject before it, what the clause goes on about, or a name between."""
        subject = clause.subject(first, owns)
        if subject.mentions:
            return subject
        if clause.topic and owns(clause.topic) and all(
                t.tag in {"T", "TIME", "d", "c", "u", "a", "vd", "t"} or t.text in {"于", "在", "自", "截至"}
                for t in clause.tokens[:first]):
            return Side((clause.topic,), 0.85 if clause.same_sentence else 0.78)
        between = next((t.mention for t in clause.tokens[first:last] if t.mention and owns(t.mention)), None)
        return Side((between,), 0.8) if between else NOTHING

    def _text_value(self, sentence: ChineseSentence, clause: Clause, hit: Hit,
                    attribute: AttributeType) -> Described | None:
        """'原名谢鸿逵', '主营业务为软件开发': what follows the cue, up to the end of the clause."""
        if hit.phrase not in {fold(cue) for cue in attribute.rules.all_cues()}:
            return None
        last = clause.after_character(hit.end)
        if last < len(clause.tokens) and clause.tokens[last].text in COPULAS:
            last += 1
        if last >= len(clause.tokens):
            return None
        value = self._source.text[clause.tokens[last].start : clause.end].strip("“”\"《》「」 ")
        owner = self._owner(clause, clause.first(hit.start), last, self._owns(attribute))
        if not owner.mentions or not value or len(value) > _LONGEST_TEXT or value == owner.mentions[0].name:
            return None
        return self._described(sentence, owner, attribute.name, value, 0.85)

    def _said_to_be(self, sentence: ChineseSentence, clause: Clause) -> Iterator[Described]:
        """'谢启明是化学家', '，近代实业家', '诗人苏轼': what somebody is."""
        tokens = clause.tokens
        copula = next((i for i, t in enumerate(tokens) if t.text in {"是", "为", "系", "任", "担任"}), None)
        last = tokens[-1]
        if copula is not None and self._is_role(last) and all(
                t.tag in NOMINAL | {"N", "m", "q", "a", "u", "M", "r", "b", "s", "f"} for t in tokens[copula + 1 :]):
            subject = clause.subject(copula, self._is_person)
            begin = max((i + 1 for i in range(copula, len(tokens)) if tokens[i].text in OWNS or i == copula
                         or tokens[i].tag in {"m", "q", "M", "r"}), default=copula + 1)
            yield from self._role(sentence, subject, self._source.text[tokens[begin].start : last.end]
                                  if begin < len(tokens) else "")
        elif clause.before in "，," and clause.topic and clause.same_sentence and self._is_role(last) and all(
                t.tag in NOMINAL | {"a", "b", "s", "TIME"} for t in tokens) and self._is_person(clause.topic):
            yield from self._role(sentence, Side((clause.topic,), 0.8), self._source.text[clause.start : clause.end])
        for at, token in enumerate(tokens):
            if token.mention and is_named(token.mention) and self._is_person(token.mention) and at:
                begin = at
                while begin > 0 and tokens[begin - 1].tag in {"n", "vn", "b", "a", "nz"} and (
                        tokens[begin - 1].end == tokens[begin].start or begin == at):
                    begin -= 1
                if begin < at and self._is_role(tokens[at - 1]):
                    yield from self._role(sentence, Side((token.mention,), 0.9),
                                          self._source.text[tokens[begin].start : tokens[at - 1].end])
                elif begin == at - 1 and (begin == 0 or tokens[begin - 1].tag in {"c", "w"}) and self._describes(
                        tokens[begin]):
                    yield Described(token.mention.name, ROLE, tokens[begin].text, 0.85, sentence)
                    self.record = self.record or token.mention

    def _describes(self, token: Token) -> bool:
        """Whether a noun before a name can say what somebody is: no kind of place or body, nothing owned."""
        kind = self._source.compiled.types.of_han_name(token.text)
        return (token.tag == "n" and kind in {None, self._person} and len(token.text) > 1
                and token.text not in self._known and not token.text.endswith(KIN))

    def _role(self, sentence: ChineseSentence, owner: Side, said: str) -> Iterator[Described]:
        if owner.mentions and 1 < len(said) <= _LONGEST_TEXT // 2:
            for mention in owner.mentions:
                yield Described(mention.name, self._is.name if self._is else ROLE, said, 0.85, sentence)

    def _is_role(self, token: Token) -> bool:
        return token.tag in {"n", "nz", "vn"} and len(token.text) > 1 and not token.text.endswith(KIN) and (
            token.text.endswith(ROLE_ENDINGS)
            or (self._person != "" and self._source.compiled.types.han_heads.get(token.text) == self._person))

    def _is_person(self, mention: Mention) -> bool:
        return self._types.get(mention.name) == self._person != ""

    def headed(self, sentence: ChineseSentence, clause: Clause, content: Sequence[Clause]) -> Iterator[Described]:
        """'原告：顾建平', '主诉：胸痛3天': what a heading says of the name after it, or of what is spoken of.

        Args:
            sentence: theirs.
            clause: a heading (see `is_heading`), its topic set.
            content: the clauses after it up to the next break.
        """
        label = attribute_label(self._source.text[clause.start : clause.end])
        if not label or not content:
            return
        first = content[0].tokens[0]
        if first.mention and is_named(first.mention) and self._is_person(first.mention):
            held = label.endswith(ROLE_ENDINGS)
            if not label.endswith(_NAMES) and clause.tokens[-1].tag in {"n", "nz"}:
                yield Described(first.mention.name, self._is.name if self._is and held else ROLE, label, 0.88, sentence)
            self.record = self.record if held else first.mention
            return
        text = self._source.text[content[0].start : content[-1].end]
        if self.record and 0 < len(text) <= _LONGEST_TEXT and label not in self._known and not label.endswith(_NAMES):
            yield Described(self.record.name, label, text, 0.82, sentence)

    def proposed(self, sentence: ChineseSentence, clause: Clause, read: Sequence[Described]) -> Iterator[Described]:
        """Values beside nouns that the schema does not know, at most a few."""
        values = {d.value for d in read}
        for at, token in enumerate(clause.tokens):
            if token.tag in {"T", "M"} and token.text.strip() not in values and len(values) < _MOST_IN_SENTENCE:
                found = self._beside(sentence, clause, at)
                if found:
                    values.add(found.value)
                    yield found

    def _beside(self, sentence: ChineseSentence, clause: Clause, at: int) -> Described | None:
        """'公司的净利润为1.2亿元': the noun that a value belongs to, and whose it is."""
        tokens = clause.tokens
        value = tokens[at]
        i = at - 1
        while i >= 0 and tokens[i].text in {"约", "近", "超过", "逾", "了", "大约", "仅", "达", "高达", "只有"}:
            i -= 1
        link = ""
        if i >= 0 and (tokens[i].tag in {"v", "p"} or tokens[i].text in COPULAS) and tokens[i].text.endswith(
                (*_REACHED, *_CHANGED)):
            link = tokens[i].text
            i -= 1
            while i >= 0 and tokens[i].text.endswith(_CHANGED) and tokens[i].tag in {"v", "vn"}:
                i -= 1
        elif i >= 0 and tokens[i].text == "在":
            return None
        grown = link.endswith(_GROWN)
        if link.endswith(_CHANGED) and not (grown and value.text.rstrip().endswith(("%", "％"))):
            return None
        while i >= 0 and tokens[i].tag in {"d", "T", "TIME", "ad", "vd"}:
            i -= 1 + (i > 0 and tokens[i - 1].text in {"在", "于", "截至"})
        end = i + 1
        while i >= 0 and self._in_noun(tokens, i, end):
            i -= 1
        noun = self._source.text[tokens[i + 1].start : tokens[end - 1].end] if i + 1 < end else ""
        label = attribute_label(noun)
        if not label or (not link and not (label.endswith(_MEASURES) and tokens[end - 1].end == value.start
                                           and len(label) >= _SHORTEST_BARE)):
            return None
        return self._labelled(sentence, clause, i, f"{label}增长率" if grown else label, value)

    @staticmethod
    def _in_noun(tokens: Sequence[Token], i: int, end: int) -> bool:
        """Whether a token is of the noun phrase that ends before index `end`."""
        token = tokens[i]
        noun = token.tag in {"n", "vn", "an", "nz"} or (token.mention is not None and token.mention.kind == "term")
        if i == end - 1 or token.end != tokens[i + 1].start:
            return noun and i == end - 1
        inner = i == end - 2 and token.tag == "v" and len(token.text) > 1  # '注册资本'
        return noun or token.tag in {"a", "b"} or (
            inner and (i == 0 or tokens[i - 1].mention is not None or tokens[i - 1].text in OWNS))

    def _labelled(self, sentence: ChineseSentence, clause: Clause, i: int, label: str,
                  value: Token) -> Described | None:
        """The attribute of the owner that stands before the noun, whose tokens begin after index `i`."""
        tokens = clause.tokens
        owned = i >= 0 and tokens[i].text in OWNS
        while i >= 0 and (tokens[i].text in OWNS or tokens[i].tag in {"T", "TIME", "d", "c"} or (
                tokens[i].text in {"在", "于", "截至"} and tokens[i + 1].tag in {"T", "TIME"}) or (
                tokens[i].text in {"实现", "取得", "录得", "拥有", "达成", "完成"})):
            i -= 1
        owner = tokens[i].mention if i >= 0 else None
        confidence = 0.9
        if owner is None:
            if i >= 0 or (owned and tokens[0].tag not in {"T", "TIME"}):
                return None
            owner, confidence = clause.topic, 0.85 if clause.same_sentence else 0.8
        if owner is None or owner.kind == "term":
            return None
        kind = "date" if value.tag == "T" else "number"
        known = next((a.name for a in self._attributes.values() if a.kind == kind and label in {
            fold(cue) for cue in (*a.all_names(), *a.rules.all_cues())} and self._owns(a)(owner)), "")
        is_known = any(label.endswith(cue) for cue in self._known) or label in self._source.compiled.types.han_heads
        if not known and (is_known or (kind == "date" and not label.endswith(_DATED))):
            return None
        unit = _UNIT.match(self._source.text, value.end) if value.text.strip()[-1:].isdigit() else None
        text = value.text.strip() + (unit.group().rstrip() if unit and kind == "number" else "")
        return self._described(sentence, Side((owner,), confidence), known or label, text, 0.9)


def is_heading(clause: Clause) -> bool:
    """Whether a clause is a heading before a colon: a few nouns at the start of a line or after a gap."""
    nouns = all(t.tag in NOMINAL | {"a", "v", "vn", "m", "b"} and not t.mention for t in clause.tokens)
    return clause.after in {"：", ":"} and clause.before in {"", " ", "。"} and nouns and (
        1 < clause.end - clause.start <= _LONGEST_HEADING) and clause.tokens[-1].tag in NOMINAL | {"v"}
