"""Mentions in Chinese: segmented by rjieba, repaired where it cuts names badly."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import rjieba

from ..lexicon import words as word_set
from ..name_words import CHINESE_PRONOUNS, CHINESE_SURNAMES, GENERIC_ACRONYMS
from .cues import is_han
from .mentions import Mention, Sentence, Source, title_subject

_NAME_FLAGS = ("nr", "ns", "nt", "nz", "eng")
_NOMINAL_FLAGS = (*_NAME_FLAGS, "n", "vn", "an", "j", "b", "l", "i", "a", "s", "f", "zg", "ng")
_BREAKS = frozenset("，。；：！？、,;:!? 　\n\t（）()“”\"《》")
_DOT_NAME = "·•‧"
_GENERIC_BEFORE = word_set("的 一家 这家 家 各 某 该 本 其 一个 个 多家 所 一所 一座")
_PERSON_AFTER = re.compile(r"[（(，,、是于在曾和与任出生说的获]|生于|毕业|担任|创办|创立|提出|发现|加入|，")
_TITLE_CUT = re.compile(r"[\s:：—_|《》（）()]+|(?=\d{4}\s?年)|(?<=[^\W\d_])(?=20\d\d)")
_HINTS = {"nr": "person", "ns": "place", "nt": "organisation"}
_LONGEST_RUN = 6
_LONGEST_PERSON = 4
_LONGEST_GIVEN = 2
_SHORTEST_TERM = 4
_VERB_TAILS = frozenset("于在为")
_NUMERALS = frozenset("一二三四五六七八九十百千万两几半")
_WATER_AND_HILL = frozenset("江河湖山海岛寺塔桥溪")
_DIRECTIONS = frozenset("东南西北中部沿海方")
_PLURAL_MARKS = frozenset("们等")


@dataclass(frozen=True, slots=True)
class Word:
    """A segmented word with rjieba's part-of-speech flag."""

    start: int
    end: int
    text: str
    flag: str

    @property
    def name_like(self) -> bool:
        """Flagged as a proper name or foreign word, and no common acronym."""
        return self.flag.startswith(_NAME_FLAGS) and self.text.lower() not in GENERIC_ACRONYMS

    @property
    def nominal(self) -> bool:
        """May stand inside a compound name."""
        return (self.flag.startswith(_NOMINAL_FLAGS) and not _BREAKS & set(self.text)
                and self.text[-1] not in _VERB_TAILS)


def segment(text: str, start: int, end: int) -> list[Word]:
    """The words of a part of a text, in order and without gaps."""
    words = []
    at = start
    for word, flag in rjieba.tag(text[start:end]):
        words.append(Word(at, at + len(word), word, flag))
        at += len(word)
    return words


class ChineseMentions:
    """Finds the mentions of one chunk; names found once are found wherever they stand."""

    def __init__(self, source: Source, sentences: Sequence[Sentence]) -> None:
        """Segment the Chinese sentences and collect the names that stand in the chunk."""
        self._source = source
        self._types = source.compiled.types
        self._links = frozenset(cue for attribute in source.compiled.attribute_of.values()
                                if attribute.kind == "text" for cue in attribute.rules.all_cues())
        self._words = {i: segment(source.text, s.start, s.end) for i, s in enumerate(sentences) if s.han}
        self._spans = {i: (s.start, s.end) for i, s in enumerate(sentences)}
        self._known = sorted(self._title_names() | self._repeated_names(), key=lambda name: (-len(name), name))

    def find(self, index: int) -> list[Mention]:
        """The names, terms and anaphors of the sentence with this index; they may overlap."""
        words = self._words[index]
        mentions = self._occurrences(*self._spans[index])
        for at, word in enumerate(words):
            mentions.extend(self._place_or_name(words, at))
            mentions.extend(self._person(words, at))
            mentions.extend(self._headed(words, at))
            mentions.extend(self._anaphor(words, at))
            if word.text in _DOT_NAME:
                mentions.extend(self._dotted(words, at))
        return mentions

    def _title_names(self) -> set[str]:
        """Parts of the title that are names: the whole, or up to an organisation's last word."""
        title = title_subject(self._source.title)
        names = set()
        for part in _TITLE_CUT.split(title):
            leads = title.startswith(part)
            if len(part) > 1 and is_han(part[0]) and part in self._source.text and (
                    leads or self._types.of_han_name(part)):
                names.add(part)
        return names

    def _repeated_names(self) -> set[str]:
        """Names found somewhere in the chunk: they hold wherever the same characters stand."""
        names: set[str] = set()
        for words in self._words.values():
            for at in range(len(words)):
                names.update(m.name for m in (*self._headed(words, at), *self._person(words, at))
                             if m.kind == "name" and len(m.name) > 1)
        return names

    def _occurrences(self, start: int, end: int) -> list[Mention]:
        found = []
        for name in self._known:
            at = self._source.text.find(name, start, end)
            while at >= 0:
                found.append(Mention(at, at + len(name), name))
                at = self._source.text.find(name, at + len(name), end)
        return found

    def _place_or_name(self, words: list[Word], at: int) -> list[Mention]:
        """A word that the segmenter itself flags as a place, body or other proper name."""
        word = words[at]
        following = words[at + 1].text if at + 1 < len(words) else ""
        joins = following[:1] in _WATER_AND_HILL and following[1:] in {"", "在", "与", "是", "和"}
        if word.flag in {"nr", "ns"} and joins:
            return [Mention(word.start, word.end + 1, word.text + following[0], hint="place")]
        if word.flag == "nr" and len(word.text) > 2 and self._types.of_han_name(word.text):  # noqa: PLR2004
            return [Mention(word.start, word.end, word.text)]
        generic = word.text in self._types.han_heads
        if word.flag in {"ns", "nt", "nz", "eng", "nrt", "nrfg"} and word.name_like and self._plausible(word) and not (
                generic or (at and words[at - 1].text in _GENERIC_BEFORE - {"的"})):
            if word.flag == "nz" and len(word.text) < 3 and self._types.of_han_name(word.text) is None:  # noqa: PLR2004
                return []
            if word.flag == "eng" and (word.text.islower() or not word.text[0].isalpha()):
                return []
            return [Mention(word.start, word.end, word.text, hint=_HINTS.get(word.flag[:2], ""))]
        return []

    @staticmethod
    def _plausible(word: Word) -> bool:
        """Not a direction, a demonstrative or a plural that the segmenter flags as a name."""
        letters = set(word.text)
        return len(word.text) > 1 and not letters <= _DIRECTIONS and word.text[0] not in "这那该此" and not (
            _PLURAL_MARKS & letters)

    def _person(self, words: list[Word], at: int) -> list[Mention]:
        """A Chinese person's name: one word, or a surname and the single characters it was cut into."""
        word = words[at]
        if not word.text or word.text[0] not in CHINESE_SURNAMES:
            return []
        text = word.text
        if word.flag in {"nr", "nrfg"} and 1 < len(text) <= _LONGEST_PERSON:
            if len(text) == 2 and self._source.text.startswith("的", word.end) and (  # noqa: PLR2004 - '高耸的'
                    self._source.text.count(text) == 1 and text not in self._source.title):
                return []
            cut = len(text) > 2 and text[-1] in "于在任为是与和"  # noqa: PLR2004 - '李明于' is 李明 + 于
            return [Mention(word.start, word.end - cut, text[: len(text) - cut], hint="person")]
        if len(text) != 1:
            return []
        end = at + 1
        while end < len(words) and end - at < _LONGEST_GIVEN + 1 and self._is_syllable(words[end]):
            end += 1
        name = self._source.text[word.start : words[end - 1].end]
        if len(name) < 2 or not self._is_person(name, words[end - 1].end):  # noqa: PLR2004 - surname and given name
            return []
        return [Mention(word.start, words[end - 1].end, name, hint="person")]

    @staticmethod
    def _is_syllable(word: Word) -> bool:
        """Whether a lone character may be part of a given name."""
        function = word.flag in {"p", "c", "uj", "ul", "d", "r", "f", "m"}
        return len(word.text) == 1 and is_han(word.text) and not function

    def _is_person(self, name: str, end: int) -> bool:
        """Evidence that cut characters are a name: the title, a second place, or what follows."""
        if name in self._source.title or self._source.text.count(name) > 1:
            return True
        reduplicated = len(name) == 3 and name[1] == name[2]  # noqa: PLR2004 - 屠呦呦
        return len(name) > 2 and (reduplicated or bool(_PERSON_AFTER.match(self._source.text, end)))  # noqa: PLR2004

    def _headed(self, words: list[Word], at: int) -> list[Mention]:
        """A name or term that ends in a head noun of the schema ('创新科技有限公司', '+项目')."""
        word = words[at]
        kind = self._types.of_han_name(word.text)
        if kind == self._types.roles.get("person"):
            return []
        if kind is None or not word.nominal or word.flag in {"f", "s"}:
            return []
        begin = at
        while begin > 0 and at - begin < _LONGEST_RUN and self._inside_run(words, begin - 1):
            begin -= 1
        if len(word.text) >= _SHORTEST_TERM and self._starts_with_verb_noun(words, begin):
            begin -= 1
        while begin < at and self._is_prefix(words, begin, at):
            begin += 1
        run = words[begin : at + 1]
        text = self._source.text[run[0].start : word.end]
        before = words[begin - 1].text if begin else ""
        if any(w.name_like for w in run) and len(text) > len(word.text):
            weak = all(w.flag in {"eng", "ns"} for w in run if w.name_like) and not word.name_like
            if weak and before in _GENERIC_BEFORE and len(word.text) < _SHORTEST_TERM:
                return []
            return [Mention(run[0].start, word.end, text)]
        strong = len(word.text) >= _SHORTEST_TERM or len(text) >= _SHORTEST_TERM + 2
        if strong and len(run) > 1 and before not in _GENERIC_BEFORE and kind not in self._types.term_words.values():
            return [Mention(run[0].start, word.end, text)]
        term = any(word.text.endswith(cue) for cue in self._types.term_words)
        if term and len(text) >= _SHORTEST_TERM:
            return [Mention(run[0].start, word.end, text, "term")]
        return []

    def _inside_run(self, words: list[Word], at: int) -> bool:
        """Whether a word goes on the name that follows it: a noun, 或, or a syllable cut off a foreign name."""
        word = words[at]
        before = words[at - 1] if at else None
        if word.flag == "nr" and word.text[0] in CHINESE_SURNAMES and not self._types.of_han_name(word.text):
            return False
        if word.nominal:
            return not word.text.isdigit() and word.text not in self._links
        if before is None or not before.nominal:
            return False
        coordinates = word.text in {"与", "和"} and words[at + 1].flag.startswith(("a", "l", "n"))
        joins = word.text == "或" or (coordinates and not before.name_like and self._ends_in_term(words, at))
        syllable = len(word.text) == 1 and word.flag in {"m", "q", "e", "g"} and before.flag == "nrt"
        return joins or (syllable and is_han(word.text) and word.text not in _NUMERALS)

    def _ends_in_term(self, words: list[Word], at: int) -> bool:
        """Whether the nouns after a word end in a head noun that makes terms ('健康与安全计划')."""
        end = at + 1
        while end + 1 < len(words) and words[end + 1].nominal:
            end += 1
        return any(words[end].text.endswith(cue) for cue in self._types.term_words)

    def _is_prefix(self, words: list[Word], begin: int, at: int) -> bool:
        """Whether the first word of a run is not of the name: before a place, or a verb of the schema."""
        word, following = words[begin], words[begin + 1]
        if words[at].flag == "ns":
            return word.flag != "ns"
        if len(word.text) == 1 and following.name_like:
            return True
        return word.flag in {"vn", "v"} and any(
            hit.phrase == word.text for hits in self._source.compiled.relations.find(word.text) for hit in hits)

    def _starts_with_verb_noun(self, words: list[Word], begin: int) -> bool:
        """A verb at the very start of a clause before an organisation's nouns belongs to its name."""
        if begin == 0 or words[begin - 1].flag != "v" or len(words[begin - 1].text) < 2:  # noqa: PLR2004
            return False
        opens = begin == 1 or bool(_BREAKS & set(words[begin - 2].text))
        return opens and words[begin - 1].text[-1] not in _VERB_TAILS

    def _dotted(self, words: list[Word], at: int) -> list[Mention]:
        """A foreign name written with a dot: '玛丽·居里'; `at` is the dot."""
        begin = end = at
        while begin > 0 and at - begin < _LONGEST_GIVEN and self._in_dotted(words[begin - 1]):
            begin -= 1
        while end + 1 < len(words) and end - at < _LONGEST_RUN and self._goes_on(words[end], words[end + 1]):
            end += 1
        if at in {begin, end}:
            return []
        text = self._source.text[words[begin].start : words[end].end]
        return [Mention(words[begin].start, words[end].end, text, hint="person")]

    def _goes_on(self, last: Word, following: Word) -> bool:
        """Whether a dotted name goes on: after a dot, with another dot, with a syllable cut off."""
        if last.text in _DOT_NAME:
            return self._in_dotted(following)
        return following.text in _DOT_NAME or (len(following.text) == 1 and following.flag in {"q", "g", "zg", "ng"})

    @staticmethod
    def _in_dotted(word: Word) -> bool:
        return is_han(word.text[0]) and word.flag not in {"p", "c", "uj", "ul", "d", "r", "v", "m", "u", "f", "y"}

    def _anaphor(self, words: list[Word], at: int) -> list[Mention]:
        word = words[at]
        following = words[at + 1] if at + 1 < len(words) else None
        if word.text in {"他", "她", "它", "他们", "她们"}:
            return [Mention(word.start, word.end, "", "pronoun", CHINESE_PRONOUNS[word.text])]
        if word.text == "其" and following is not None and following.nominal:
            return [Mention(word.start, word.end, "", "possessive")]
        if word.text in CHINESE_PRONOUNS and following is not None and following.text in self._types.han_heads:
            kind = self._types.of_han_name(following.text)
            return [Mention(word.start, following.end, "", "description", kind or "")]
        if word.text in {"公司", "集团", "该公司", "本公司", "该校", "我国"} and self._is_subject(words, at):
            kind = self._types.of_han_name(word.text)
            return [Mention(word.start, word.end, "", "description", kind)] if kind else []
        return []

    @staticmethod
    def _is_subject(words: list[Word], at: int) -> bool:
        """'公司' alone: at the start of a clause, and not the first half of a compound noun."""
        before = words[at - 1] if at else None
        after = words[at + 1] if at + 1 < len(words) else None
        free = before is None or not (before.nominal or before.text in _GENERIC_BEFORE)
        return free and after is not None and not after.flag.startswith(("n", "vn", "eng"))
