"""Mentions in Chinese: by the tagger's names, by the head nouns of the schema, by quotation marks."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...parsing.chinese import Word
from ..lexicon import words as word_set
from ..reading.cues import is_han
from ..reading.mentions import ANAPHORS, Mention, Sentence, Source, merge

HINTS = {"PER": "person", "LOC": "place", "ORG": "organisation"}
NOMINAL = frozenset({"n", "nz", "nw", "vn", "an", "PER", "LOC", "ORG"})
_RUN = NOMINAL | {"a", "s", "f"}
PRONOUNS = {"他": "person", "她": "person", "他们": "person", "她们": "person", "它": "thing", "其": ""}
_DEMONSTRATIVES = word_set("该 本 此 这 我 这家 这座 这所 这部 这位 这个 该个")
_GENERIC = _DEMONSTRATIVES | word_set(
    "一 一家 一个 一所 一座 一名 一位 某 某个 各 各个 多家 数家 几家 两家 其他 每个 另")
_QUOTED = re.compile(r"《([^《》\n]{1,60})》|[“「\"]([^“”「」\"\n，。；！？]{2,20})[”」\"]")
_ALIAS = re.compile(
    r"[(（](?:以下|下|又|亦)?(?:简称|称)(?:为|:|：)?[“\"《]?([^（）()“”\"《》，。；\n]{2,20})[”\"》]?[)）]")
_NAMING = ("名为", "命名为", "取名", "名叫", "号", "称为", "叫", "品牌")
_ADDRESS = tuple("省市县区州镇乡村旗路街")
_FUNCTION = frozenset("的了在是于和与及为被把将从对由向")
_LONGEST_RUN = 7
_LONGEST_NAME = 60
_SHORTEST_TERM = 4
_SHORTEST_REPEATED = 3
_MOST_KNOWN = 300
"""Names looked for again wherever they stand in a chunk: bounds the work in a chunk that is all names."""


@dataclass(slots=True)
class ChineseSentence(Sentence):
    """A sentence with its words."""

    words: list[Word] = field(default_factory=list)


class ChineseMentions:
    """Finds the mentions of one chunk; names found once are found wherever they stand."""

    def __init__(self, source: Source, sentences: Sequence[ChineseSentence], title: Sequence[Word]) -> None:
        """Collect the names that stand in the chunk.

        Args:
            source: the chunk.
            sentences: with their words.
            title: the words of the document's title.
        """
        self._source = source
        self._types = source.compiled.types
        self._found = [self._named(sentence) for sentence in sentences]
        self.title = merge(self._tagged(title, source.title), self._headed(title, source.title)) if title else []
        names = {m.name for found in (*self._found, self.title) for m in found if m.kind == "name" and (
            len(m.name) >= _SHORTEST_REPEATED or m.hint == "person")}
        self._known = sorted(names, key=lambda name: (-len(name), name))[:_MOST_KNOWN]
        self.alias = dict(self._aliases())
        self.roles = self._told_roles(sentences)

    def _told_roles(self, sentences: Sequence[ChineseSentence]) -> dict[str, str]:
        """Noun -> the only name that it stands before ('原告顾建平', '原告：顾建平'): alone it means that name."""
        names: defaultdict[str, set[str]] = defaultdict(set)
        for sentence, found in zip(sentences, self._found, strict=True):
            starts = {m.start: m.name for m in found if m.kind == "name"}
            later = [*sentence.words[2:], None]
            for word, colon, following in zip(sentence.words, sentence.words[1:], later, strict=False):
                at = following.start if following and colon.text in {":", "："} else colon.start
                opens = word.start == sentence.start or self._source.text[word.start - 1] in "，,。；;：:、\n 　与和及"
                if word.tag == "n" and opens and at in starts and len(word.text) > 1 and (
                        self._types.of_han_name(word.text) in {None, self._types.roles.get("person")}):
                    names[word.text].add(starts[at])
        return {noun: next(iter(told)) for noun, told in names.items() if len(told) == 1}

    def find(self, index: int, sentence: ChineseSentence) -> list[Mention]:
        """The names, terms and anaphors of the sentence with this index, without overlaps."""
        found = self._found[index]
        return [m for m in merge(found, self._occurrences(sentence), list(self._anaphors(sentence)))
                if m.end - m.start <= _LONGEST_NAME]

    def _named(self, sentence: ChineseSentence) -> list[Mention]:
        text = self._source.text
        quoted = list(self._quoted(sentence))
        return merge(quoted, self._headed(sentence.words, text), self._tagged(sentence.words, text))

    def _occurrences(self, sentence: Sentence) -> list[Mention]:
        found = []
        for name in self._known:
            at = self._source.text.find(name, sentence.start, sentence.end)
            while at >= 0:
                found.append(Mention(at, at + len(name), name))
                at = self._source.text.find(name, at + len(name), sentence.end)
        return found

    def _aliases(self) -> Iterator[tuple[str, str]]:
        """(short, full) of '云安高速铁路（以下简称云安高铁）'."""
        for found in self._found:
            for mention in found:
                match = _ALIAS.match(self._source.text, mention.end) if mention.kind != "term" else None
                if match:
                    yield match[1], mention.name

    def _tagged(self, words: Sequence[Word], text: str) -> list[Mention]:
        """The words that the tagger takes for names; neighbouring parts of an address are one."""
        found: list[Mention] = []
        for at, word in enumerate(words):
            if not self._is_name(words, at):
                continue
            hint = HINTS.get(word.tag, "")
            last = found[-1] if found else None
            joint = text[last.start + len(last.name.rstrip("·")) : word.start] if last else ""
            if last and last.hint == hint == "person" and joint in {"·", "—", "-"}:  # '乌萨马·' and '拉比耶'
                found[-1] = Mention(last.start, word.end, text[last.start : word.end], hint=hint)
                continue
            if last and last.end == word.start and last.hint == "place" and (
                    (hint == "place" and last.name.endswith(_ADDRESS)) or hint == "organisation"):
                found[-1] = Mention(last.start, word.end, text[last.start : word.end], hint=hint)
            else:
                found.append(Mention(word.start, word.end, word.text, hint=hint))
        return found

    def _is_name(self, words: Sequence[Word], at: int) -> bool:
        word = words[at]
        if len(word.text) == 1 or not any(c.isalpha() for c in word.text):
            return False
        if word.tag == "PER" and at + 1 < len(words) and words[at + 1].text[0] in "年朝":
            return False  # '道光年间'
        if word.tag in HINTS:
            common = word.text in self._types.han_heads or word.text[0] in "本该我此贵" or word.text[-1] == "族"
            return not common and _FUNCTION.isdisjoint(word.text[:1] + word.text[-1:]) and not (
                word.tag == "PER" and at + 1 < len(words) and words[at + 1].tag == "PER" and len(word.text) < 2)  # noqa: PLR2004
        latin = word.text[0].isascii() and word.text[0].isupper() and len(word.text) > 2  # noqa: PLR2004 - 'CT' is no name
        return word.tag == "nz" and (latin or (
            self._types.of_han_name(word.text) is not None and word.text not in self._types.han_heads
            and self._types.of_han_name(word.text) != self._types.roles.get("person")))

    def _quoted(self, sentence: Sentence) -> Iterator[Mention]:
        """Works in 《》; in other quotation marks what is called so, or said of what kind it is."""
        for match in _QUOTED.finditer(self._source.text, sentence.start, sentence.end):
            group = 1 if match[1] is not None else 2
            name = match[group].strip()
            start = match.start(group) + match[group].index(name) if name else 0
            following = self._source.text[match.end() : match.end() + 4]
            before = self._source.text[max(sentence.start, match.start() - 3) : match.start()]
            kinds = (self._types.han_heads.get(following[:n]) for n in (4, 3, 2))
            told = before.endswith(_NAMING) or any(kind for kind in kinds if kind != self._types.roles.get("person"))
            if name and (group == 1 or told):
                yield Mention(start, start + len(name), name, "quoted" if group == 1 else "name")

    def _headed(self, words: Sequence[Word], text: str) -> list[Mention]:
        """A name or term that ends in a head noun of the schema ('王家沟果蔬合作社', '+项目')."""
        found = []
        for at, word in enumerate(words):
            kind = self._types.of_han_name(word.text)
            if kind is None or kind == self._types.roles.get("person") or word.tag not in NOMINAL:
                continue
            begin = at
            while begin > 0 and at - begin < _LONGEST_RUN and self._goes_on(words, begin - 1):
                begin -= 1
            while begin < at and self._verbal(words[begin]):
                begin += 1
            named = next((k for k in range(begin, at + 1) if words[k].tag in {"LOC", "ORG"}), begin)
            begin = named if named < at or word.tag == "ORG" else begin  # '原告青河县禾丰公司'
            run = words[begin : at + 1]
            name = text[run[0].start : word.end]
            before = words[begin - 1].text if begin else ""
            after = words[at + 1] if at + 1 < len(words) else None
            if after and after.tag in NOMINAL and after.start == word.end and self._types.of_han_name(after.text):
                continue
            proper = any(w.tag in HINTS or w.tag == "nz" for w in run)
            if proper and len(run) > 1 and run[-1].tag != "PER":
                found.append(Mention(run[0].start, word.end, name))
            elif any(word.text.endswith(cue) for cue in self._types.term_words) and before not in _GENERIC and (
                    len(name) >= _SHORTEST_TERM or (len(name) > 1 and word.text not in self._types.han_heads)):
                found.append(Mention(run[0].start, word.end, name, "term"))
        return found

    def _goes_on(self, words: Sequence[Word], at: int) -> bool:
        """Whether a word belongs to the name that follows it: a noun that touches it, or 与 before the last noun."""
        word, following = words[at], words[at + 1]
        if word.end != following.start or word.text in _GENERIC:
            return False
        if word.tag == "PER" or word.text[-1] in "于在为":
            return False
        if word.tag in _RUN:
            return word.tag not in {"s", "f"} or following.tag in NOMINAL
        if word.tag == "v" and len(word.text) > 1:  # '碳抵消项目': between nouns, and no verb that the schema knows
            return at > 0 and words[at - 1].tag == "n" and len(words[at - 1].text) == 1 and not self._is_cue(word.text)
        latin = word.tag in {"nz", "m"} and word.text[0].isascii()
        joins = word.text in {"与", "和", "或"} and at > 0 and words[at - 1].tag in {"n", "vn", "an", "nz"} and (
            following.tag in {"n", "vn", "an", "a"} and words[at - 1].end == word.start)
        return joins or (latin and word.text[-1].isalnum() and not word.text[-1].isdigit())

    def _verbal(self, word: Word) -> bool:
        """Whether a run begins with a word that is not of the name: a verb of the schema's relations."""
        return word.tag in {"f", "s"} or (word.tag == "vn" and self._is_cue(word.text))

    def _is_cue(self, word: str) -> bool:
        return any(hit.phrase == word for hits in self._source.compiled.relations.find(word) for hit in hits)

    def _anaphors(self, sentence: ChineseSentence) -> Iterator[Mention]:
        words = sentence.words
        for at, word in enumerate(words):
            following = words[at + 1] if at + 1 < len(words) else None
            nominal = following is not None and following.tag in NOMINAL
            if word.text in PRONOUNS:
                yield Mention(word.start, word.end, "", "possessive" if word.text == "其" and nominal else "pronoun",
                              PRONOUNS[word.text])
            elif word.text in _DEMONSTRATIVES and following is not None and following.tag == "n":
                yield Mention(word.start, following.end, "", "description", following.text)
            elif word.tag in {"r", "n"} and len(word.text) in {2, 3} and word.text[0] in "本该我":
                yield Mention(word.start, word.end, "", "description", word.text[1:])
            elif word.tag == "n" and (self._opens(words, at) or (word.text in self.roles and not nominal)) and is_han(
                    word.text[0]) and not (following and following.text in {":", "："}):
                yield Mention(word.start, word.end, "", "description", word.text)

    def _opens(self, words: Sequence[Word], at: int) -> bool:
        """Whether a bare noun ('公司') may stand for a name that ends in it: at the head of a clause or phrase."""
        word = words[at]
        if self._types.of_han_name(word.text) in {None, self._types.roles.get("person")} or len(word.text) < 2:  # noqa: PLR2004
            return False
        before = words[at - 1] if at else None
        after = words[at + 1] if at + 1 < len(words) else None
        compound = after is not None and after.tag in NOMINAL and after.start == word.end
        owns = before is not None and before.tag == "v" and after is not None and after.text == "的"
        return not compound and (before is None or before.tag in {"w", "p", "c", "TIME", "d"} or owns)


def is_named(mention: Mention) -> bool:
    """Whether a mention is no anaphor."""
    return mention.kind not in ANAPHORS
