"""Chinese noun phrases beside a quantity or date, and whose they are: 公司的净利润为, 资产负债率下降至."""

import re

import rjieba

from ....text.values import Value
from .arguments import grammatical_subject
from .cues import is_han
from .labels import GENERIC_HAN_NOUNS, Found
from .mentions import Mention, Sentence, Source

_REACH = 80
_LINK = re.compile(
    r"(?:(?P<link>为|是|[高]?达(?:到|成)?了?|约为|共计|合计|总计|共|[:：]|"
    r"(?:增长|增加|上升|提升|提高|升高|上涨|降低|下降|减少|减|降|增|升|下滑|回落|缩减|扩大|控制|保持|维持|稳定|跌|涨)"
    r"(?:至|到|在|为)了?|超过了?|突破了?|接近|仅为)|"
    r"(?P<growth>(?:同比|环比)?(?:大幅|显著|略有|实现)?(?:增长|上升|提升|提高|上涨)了?)|"
    r"(?P<change>(?:增长|增加|上升|提升|提高|上涨|下降|减少|降低|下滑|下跌|缩减|节约|节省)了?))?"
    r"\s*(?:约|近|大约|超过|逾|了)?\s*$")
_CLAUSE = re.compile(r"[。；;，,！？!?\n]")
_FILL = re.compile(r"(?:(?:在|于|截至)?(?:今年|去年|当年|同期|报告期内?|本期|年末|年底|期末)|同比|环比|"
                       r"[也已均则仍就还又都共]|成功|最终|大幅|显著|逐步|进一步|预计|总共|将|能够|能)+$")
_NOMINAL = ("n", "vn", "an", "j", "b", "l", "i", "a")
_GAINING = re.compile(r"(?:实现|取得|录得|创造|拥有|获得|具有|达成|完成)了?$")
_OWNED = re.compile(r"(?:的|之)\s*$")
_MEASURES = frozenset("率度额量值数")
_SHORTEST_BARE = 4
_UNITS = re.compile(r"[万亿元%％吨]")


class ChineseNouns:
    """Reads the noun phrases beside values out of the Chinese sentences of one chunk."""

    def __init__(self, source: Source) -> None:
        """Take the chunk."""
        self._source = source

    def beside(self, sentence: Sentence, value: Value) -> Found | None:
        """The noun phrase that a value in the sentence belongs to, or None."""
        text = self._source.text
        clause = sentence.start
        for stop in _CLAUSE.finditer(text, sentence.start, value.start):
            clause = stop.end()
        clause = max(clause, value.start - _REACH)
        link = _LINK.search(text, clause, value.start)
        if not link or link["change"] or "分别" in text[clause : value.start]:
            return None
        if link["growth"] and not value.text.rstrip().endswith(("%", "％")):
            return None
        end = self._before_adverbs(sentence, clause, link.start())
        bare = not link["link"] and not link["growth"]
        begin, said = self._nouns_before(clause, end, verbal=not bare)
        joined = len(said) >= _SHORTEST_BARE and end == value.start and _UNITS.search(value.text)
        if not said or (bare and not joined):
            return None
        pattern = "增长" if link["growth"] else "无" if bare else ""
        return self._owned(sentence, clause, begin, said, pattern)

    def _before_adverbs(self, sentence: Sentence, clause: int, end: int) -> int:
        """The end of the noun phrase: without '在2017年', '同比', '也' between it and the verb."""
        text = self._source.text
        while True:
            fill = _FILL.search(text, clause, end)
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
            name = flag.startswith(("nr", "ns", "nt")) and word[-1] not in _MEASURES
            noun = flag.startswith(_NOMINAL) and not name
            done = verbal and flag == "v" and i == 0 and len(words) > 1 and words[-2][1].startswith("n")
            inner = flag == "v" and i == 1 and len(word) > 1 and words[-1][0] in GENERIC_HAN_NOUNS
            if not (noun or done or inner) or not is_han(word[0]):
                break
            begin -= len(word)
        return begin, self._source.text[begin:end]

    def _owned(self, sentence: Sentence, clause: int, begin: int, said: str, pattern: str) -> Found | None:
        """Whose the noun is: the name before it (with or without 的), else what the sentence speaks of."""
        text = self._source.text
        named = max((m.end for m in sentence.mentions if begin <= m.start and m.end < begin + len(said)
                     and self._may_own(sentence, m)), default=begin)
        begin, said = named, said[named - begin :]
        lead = _OWNED.sub("", text[clause:begin])
        owned = lead != text[clause:begin]
        end = self._before_adverbs(sentence, clause, clause + len(lead)) if owned else begin
        near = next((m for m in sentence.mentions if m.end in {clause + len(lead), end}), None)
        if near and not owned and not self._may_own(sentence, near):
            # '公司的二氧化碳排放量': a name without 的 that is no owner is a part of the noun.
            return self._owned(sentence, clause, near.start, text[near.start : begin] + said, pattern)
        if near:
            return Found(near, said, pattern or ("其" if near.kind == "possessive" else "的"))
        timed = self._is_time(sentence, clause, lead)
        if not timed and (owned or (lead.strip() and not _GAINING.search(lead))):
            return None
        subject = grammatical_subject(text, sentence)
        spoken = subject is not None and subject.end <= begin and subject.name == sentence.topic
        return Found(None, said, pattern or ("并列" if spoken else "句首"))

    def _may_own(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether a name directly before a noun can be whose it is: told by its form, or what is spoken of."""
        typed = self._source.compiled.types.of_han_name(mention.name) is not None
        return mention.kind != "name" or mention.hint != "" or typed or mention.name == sentence.topic

    def _is_time(self, sentence: Sentence, clause: int, lead: str) -> bool:
        """Whether all that stands before the nouns is a date, as in '2021年度的'."""
        return any(v.kind == "date" and clause <= v.start and
                   not lead.replace(v.text, "").strip("在于截至到，末底内度的 ") for v in sentence.values)
