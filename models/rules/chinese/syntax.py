"""The clauses of a Chinese sentence: which mentions are the subject and the object of what stands between."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..lexicon import words as word_set
from ..reading.mentions import Mention
from .mentions import NOMINAL, ChineseSentence, is_named

Accepts = Callable[[Mention], bool]

_BREAKS = frozenset("，,；;。！？!?：:")
_OPEN, _CLOSE = frozenset("（(【["), frozenset("）)】]")
_MARKS = frozenset("“”\"《》「」『』*#>|-+•")
AND = word_set("、 和 与 及 以及 并 暨")
OWNS = frozenset({"的", "之"})
_FILL = frozenset({"d", "u", "T", "M", "m", "q", "a", "ad", "r", "f", "xc", "TIME", "vd", "s"})
COPULAS = word_set("是 为 系 即 叫 担任 任 叫做 名为")
PREPOSED = frozenset("与和同跟对向由被从在将把为于给经受")
AGENTS = frozenset("由被受经")
_MOST_FILL = 8
_NUMERALS = frozenset("零〇一二三四五六七八九十百千万亿两点分之0123456789")
_GAP = 2
"""Characters of white space, or marks, that part fields on a line."""
_LONGEST_CLAUSE = 150
"""Tokens; what is longer is no clause. Bounds the work at each cue."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a mention (tag "N") or a value (tag "T" for a date, "M" for a number)."""

    start: int
    end: int
    text: str
    tag: str
    mention: Mention | None = None


class Side(NamedTuple):
    """Mentions on one side of a verb, with how sure it is that they belong to it."""

    mentions: tuple[Mention, ...]
    confidence: float


NOTHING = Side((), 0.0)


def tokens_of(sentence: ChineseSentence) -> list[Token]:
    """Words, mentions and values in order; of words that these cut, what is left over."""
    whole = [Token(m.start, m.end, m.name, "N", m) for m in sentence.mentions if m.kind != "value"]
    taken = {place for token in whole for place in range(token.start, token.end)}
    ends = {place: word for word in sentence.words if word.tag == "m" for place in range(word.start, word.end)}
    for value in sentence.values:
        if value.start not in taken and value.end - 1 not in taken:
            word = ends.get(value.end)  # '三万二千枚' of which the value is '三万'
            rest = word.text[value.end - word.start :] if word else ""
            more = rest if rest[:1] and rest[0] in _NUMERALS else ""
            whole.append(Token(value.start, value.end + len(more), value.text + more,
                               "T" if value.kind == "date" else "M"))
    taken.update(place for token in whole for place in range(token.start, token.end))
    for word in sentence.words:
        free = [place for place in range(word.start, word.end) if place not in taken]
        if free:
            text = word.text[free[0] - word.start : free[-1] + 1 - word.start]
            tag = word.tag if len(free) == word.end - word.start or word.tag in {"w", "v"} else _rest(text, word.tag)
            if not _MARKS.issuperset(text):
                whole.append(Token(free[0], free[-1] + 1, text, tag))
    return sorted(whole, key=lambda token: (token.start, token.end))


def _rest(text: str, tag: str) -> str:
    """The tag of what a mention or value leaves of a word: '起' of '2021年2月1日起'."""
    return "f" if tag in {"TIME", "m"} else ("u" if text in OWNS else tag)


def clauses(sentence: ChineseSentence, text: str) -> Iterator["Clause"]:
    """The parts of a sentence between commas and the like, without what stands in brackets."""
    part: list[Token] = []
    depth = 0
    mark = ""
    tokens = tokens_of(sentence)
    closing = sum(token.text[0] in _CLOSE for token in tokens)
    for token in tokens:
        gap = text[part[-1].end : token.start] if part and not depth else ""
        if gap.isspace() and ("\n" in gap or len(gap) >= _GAP):
            yield Clause(part, mark, " ")
            part, mark = [], " "
        if token.text[0] in _CLOSE:
            depth, closing = max(0, depth - 1), closing - 1
        elif token.text[0] in _OPEN:
            depth += depth < closing
        elif not depth and (token.text[0] in _BREAKS or len(part) == _LONGEST_CLAUSE):
            if part:
                yield Clause(part, mark, token.text[0])
            part, mark = [], token.text[0]
        elif not depth:
            part.append(token)
    if part:
        yield Clause(part, mark, "")


class Clause:
    """The tokens between two marks."""

    def __init__(self, tokens: Sequence[Token], before: str, after: str) -> None:
        """Take the tokens, and the marks before and after them."""
        self.tokens = tokens
        self.before = before
        self.after = after
        self.start, self.end = tokens[0].start, tokens[-1].end
        self.topic: Mention | None = None
        """What a clause without a subject of its own speaks of."""
        self.same_sentence = True
        """Whether the topic stands in this sentence."""

    def first(self, at: int) -> int:
        """The index of the first token that ends after character `at`."""
        return next((i for i, token in enumerate(self.tokens) if token.end > at), len(self.tokens))

    def after_character(self, at: int) -> int:
        """The index of the first token that begins at character `at` or later."""
        return next((i for i, token in enumerate(self.tokens) if token.start >= at), len(self.tokens))

    def cuts(self, start: int, end: int) -> bool:
        """Whether the characters of a cue are only a part of a word ('长' in '市长'), in a name or in brackets."""
        token = self.tokens[min(self.first(start), len(self.tokens) - 1)]
        if token.start > start:
            return True  # in brackets, which no clause has
        if token.mention is not None and is_named(token.mention) and (token.mention.kind != "term" or end != token.end):
            return token.start <= start and end <= token.end
        return end <= token.end and (token.start < start or (end < token.end and end - start == 1))

    def opening(self) -> tuple[Mention, ...]:
        """The subject that the clause has of its own: the mentions at its head; () where there is none."""
        at = self._skip_time(0)
        while at < len(self.tokens) and self.tokens[at].tag == "n" and at + 1 < len(self.tokens) and (
                self.tokens[at + 1].tag in {"N", "n"}):
            at += 1  # '原告张伟': what is said of a name before it
        if at < len(self.tokens) and self.tokens[at].mention and not self.owns(at):
            return self.run(at)
        return ()

    def _skip_time(self, at: int) -> int:
        """Past times, adverbs and conjunctions, and a phrase of time or place with its preposition."""
        while at < len(self.tokens):
            token = self.tokens[at]
            if token.tag in {"T", "TIME", "d", "c", "f", "t"}:
                at += 1
            elif token.tag == "p" and at + 1 < len(self.tokens) and self.tokens[at + 1].tag in {"T", "TIME"}:
                at += 2
            else:
                break
        return at

    def lacks_subject(self) -> bool:
        """Whether the clause begins with its verb or a preposition, as it may when the topic goes on."""
        at = self._skip_time(0)
        while at < len(self.tokens) and self.tokens[at].tag in {"p", "T", "TIME", "d", "s"}:
            at += 2 if self.tokens[at].tag == "p" else 1
        return at < len(self.tokens) and (self.tokens[at].tag in {"v", "vd", "M", "m", "a"}
                                          or self._skip_time(0) < at)

    def speaks_of(self, mention: Mention) -> bool:
        """Whether a name at the head of the clause is what it speaks of: no noun or number goes on with it."""
        at = self.first(mention.end - 1) + 1
        return at >= len(self.tokens) or self.tokens[at].tag not in {"m", "M", "f", "q", "s"} | NOMINAL

    def owns(self, at: int) -> bool:
        """Whether the mention at an index only says whose, or of what kind, the noun after it is."""
        following = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        mention = self.tokens[at].mention
        return (mention is not None and mention.kind == "possessive") or (following is not None and (
            following.text in OWNS or (following.tag in NOMINAL and following.start == self.tokens[at].end)))

    def run(self, at: int, accepts: Accepts | None = None) -> tuple[Mention, ...]:
        """The mention at an index and those that 、 or 和 join to it after."""
        joined: list[Mention] = []
        while at < len(self.tokens):
            mention = self.tokens[at].mention
            if mention is None or (accepts and not accepts(mention)):
                break
            joined.append(mention)
            if at + 1 >= len(self.tokens) or self.tokens[at + 1].text not in AND:
                break
            at += 2
            while at < len(self.tokens) and self.tokens[at].tag == "n":
                at += 1  # '原告张伟与被告李娜'
        return tuple(joined)

    def subject(self, index: int, accepts: Accepts) -> Side:
        """The mentions before the token at `index` that it speaks of; the topic where the clause has none."""
        at = index - 1
        filled = 0
        while at >= 0 and self.tokens[at].tag in _FILL and filled < _MOST_FILL:
            at, filled = at - 1, filled + 1
        nearest = self.tokens[at].mention if at >= 0 else None
        if nearest and not self._led(at) and accepts(nearest):
            return Side(self._run_back(at, accepts), 0.92)
        opening = [m for m in self.opening() if m.end <= self.tokens[min(index, len(self.tokens) - 1)].end]
        if opening and index > 0:
            fitting = tuple(m for m in opening if accepts(m))
            return Side(fitting, 0.85) if len(fitting) == len(opening) else NOTHING
        for at in range(index - 1, -1, -1):
            mention = self.tokens[at].mention
            if mention and accepts(mention) and not self._led(at) and not self.owns(at):
                return Side((mention,), 0.7)
        if self.topic and accepts(self.topic) and self.lacks_subject():
            return Side((self.topic,), 0.85 if self.same_sentence else 0.75)
        return NOTHING

    def _led(self, at: int) -> bool:
        """Whether a preposition governs the mention at an index."""
        before = at - 1
        while before >= 0 and (self.tokens[before].text in AND - {"与", "和"} or self.tokens[before].mention):
            before -= 1
        while before >= 0 and self.tokens[before].tag == "n" and at - before < 3:  # noqa: PLR2004 - '向原告顾建平'
            before -= 1
        return before >= 0 and (self.tokens[before].tag == "p" or self.tokens[before].text in PREPOSED - {"和", "与"})

    def _run_back(self, at: int, accepts: Accepts) -> tuple[Mention, ...]:
        begin = at
        while begin > 1 and self.tokens[begin - 1].text in AND:
            earlier = begin - 2
            mention = self.tokens[earlier].mention
            if mention is None or not accepts(mention):
                break
            begin = earlier
        return tuple(token.mention for token in self.tokens[begin : at + 1] if token.mention)

    def object(self, index: int, accepts: Accepts) -> Side:
        """The mentions from the token at `index` on that a verb before it leads to."""
        filled = 0
        owner = NOTHING  # '成立于北京的公司': the object, where none comes after 的
        for at in range(index, len(self.tokens)):
            token = self.tokens[at]
            if token.mention:
                if self.owns(at):
                    filled += 1
                    ends = at + 1 < len(self.tokens) and self.tokens[at + 1].text in OWNS
                    owner = Side((token.mention,), 0.85) if ends and not owner.mentions and accepts(
                        token.mention) else owner
                elif accepts(token.mention):
                    return Side(self.run(at, accepts), max(0.6, 0.95 - 0.03 * filled))
                else:
                    return owner
            elif token.tag in _FILL or token.text in COPULAS or token.text in {"于", "在", "至", "到", "自"} or (
                    token.tag in NOMINAL):
                filled += 1
            else:
                return owner
            if filled > _MOST_FILL:
                return owner
        return owner

    def preposed(self, index: int, accepts: Accepts) -> tuple[Side, str, int]:
        """The mentions that a preposition puts before the verb at `index`: '与乙公司签署', '由甲创立'.

        Returns:
            They, the preposition, and its index.
        """
        at, filled = index - 1, 0
        passed = _FILL | {"v", "n", "vn"}
        while at >= 0 and not self.tokens[at].mention and self.tokens[at].tag in passed and filled < 3:  # noqa: PLR2004
            at, filled = at - 1, filled + 1
        if at < 0 or self.tokens[at].mention is None:
            return NOTHING, "", -1
        found = self._run_back(at, accepts) if accepts(self.tokens[at].mention) else ()  # type: ignore[arg-type]
        before = at - 1
        while before >= 0 and self.tokens[before].tag == "n" and at - before < 3:  # noqa: PLR2004
            before -= 1
        if not found or before < 0 or self.tokens[before].text not in PREPOSED:
            return NOTHING, "", -1
        between = self.tokens[at + 1 : index]
        if self.tokens[before].text in AND and any(t.tag in NOMINAL or t.text in OWNS for t in between):
            return NOTHING, "", -1  # '甲和乙的收购获得批准'
        return Side(found, 0.85), self.tokens[before].text, before
