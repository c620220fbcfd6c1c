"""What kind of answer a question expects, by its question words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ....schemas.naming import normalise
from ..content_words import Language, content_words, language_of
from ..lexicon import (
    DATE_NOUNS,
    NAME_NOUNS,
    NUMBER_NOUNS,
    ORGANISATION_NOUNS,
    PERSON_NOUNS,
    PLACE_NOUNS,
)
from .names import names_in


class Expected(Enum):
    """The kind of answer; TEXT has no form by which a span could be known."""

    PERSON = "person"
    PLACE = "place"
    ORGANISATION = "organisation"
    NAME = "name"
    DATE = "date"
    NUMBER = "number"
    TEXT = "text"


@dataclass(frozen=True)
class Question:
    """A question taken apart.

    `focus` is the noun of the thing asked for ('river' in 'On which river ...'), normalised, or
    empty; `words` are the content words outside the names and the focus: what the question says
    of the names ('capital' in 'What is the capital of Poland?'). `asked` are those of the property
    itself (营业收入 in 晨光公司在杭州的营业收入是多少), empty where grammar does not tell it.
    """

    text: str
    language: Language
    expected: Expected
    focus: str
    names: tuple[str, ...]
    words: tuple[str, ...]
    asked: tuple[str, ...] = ()


_NOUNS = (
    (Expected.DATE, DATE_NOUNS), (Expected.NUMBER, NUMBER_NOUNS), (Expected.PERSON, PERSON_NOUNS),
    (Expected.PLACE, PLACE_NOUNS), (Expected.ORGANISATION, ORGANISATION_NOUNS), (Expected.NAME, NAME_NOUNS),
)
_WHICH = re.compile(r"\b(?:which|what)\s+((?:[\w-]+\s+){0,2}?[\w-]+?)(?=\s+(?:is|are|was|were|do|does|did|has|"
                    r"have|had|can|will|that|who|of|in|by|[\w-]+(?:ed|es|s)|[a-z]+)\b|\?|$)")
_WHAT_IS = re.compile(r"\bwhat\s+(?:is|are|was|were)\s+(?:the\s+)?((?:[\w-]+\s+){0,3}?[\w-]+?)(?:['’]s)?"
                      r"(?=\s+(?:of|in|for|from|at|on)\b|\s*\?|$)")
_POSSESSED = re.compile(r"\bwhat\s+(?:is|are|was|were)\s+.+['’]s?\s+((?:[\w-]+\s+)?[\w-]+)\s*\??$")
_LONGEST_PREPOSITION = 8
_NAME_OF = re.compile(r"\bthe names? of (?=(?:the|an?)\b)")
_ENGLISH = (
    (Expected.PERSON, re.compile(r"\b(who|whom|whose)\b")),
    (Expected.DATE, re.compile(r"\b(when|(?:what|which) (?:year|date|day|month|decade|century|time))\b")),
    (Expected.PLACE, re.compile(r"\bwhere\b")),
    (Expected.NUMBER, re.compile(r"\bhow (?:many|much|long|old|far|tall|high|large|big|deep|fast|heavy|wide)\b")),
    (Expected.TEXT, re.compile(r"\b(why|how)\b")),
)
_CHINESE = (
    (Expected.DATE, re.compile(r"哪一?[年天月]|何时|什么时[候间]|哪个(?:年|月|世纪)|几[年月]|多久|时间是什么|日期")),
    (Expected.NUMBER, re.compile(r"多少|几[个位人名座条次家所]|多[长高大远深重宽]|比例是|百分之几")),
    (Expected.TEXT, re.compile(r"为什么|为何|如何|怎么|怎样")),
    (Expected.PERSON, re.compile(r"谁|哪(?:一|几)?位|什么人|哪个人")),
    (Expected.ORGANISATION, re.compile(r"哪(?:一|几)?(?:家|所)|"
                                       r"(?:什么|哪个)(?:公司|机构|大学|学校|组织|企业|子公司|平台)")),
    (Expected.PLACE, re.compile(r"哪里|哪儿|何地|什么地方|"
                                r"哪(?:个|座|条|一个|片)?(?:国家|国|城市|省份|省|市|县|地区|地方|江|河|湖|山|岛|州|洲|大洲|海)|(?:首都|省会|出生地|总部)是(?:什么|哪)")),
    (Expected.PERSON, re.compile(r"(?:作者|导演|创始人|发明者|发现者|校长|总统|主席|丈夫|妻子|父亲|母亲)"
                                 r"是(?:什么|哪)")),
    (Expected.NAME, re.compile(r"哪(?:一)?[部本首种项款]|哪个\w{2,6}|(?:叫|名为|称为)什么|"
                               r"什么(?:名字|语言|奖|货币|书)|名称")),
)
_ONLY_ASKING = re.compile(r"\b(?:what|which) (?:year|date|day|month|time)\b|哪一?[年天月]|多少|什么|何时|哪[里儿]",
                          re.IGNORECASE)
_CHINESE_FOCUS = re.compile(r"(?:哪(?:一|几)?(?:个|座|条|家|所|部|本|首|种|项|片)?|什么)"
                            r"(国家|城市|省份|省|市|县|河流|江|河|湖|山|岛|州|洲|海|公司|大学|机构|学校|语言|奖项|奖|货币)")


def analyse(question: str, titles: Sequence[str] = ()) -> Question:
    """Take a question apart: expected answer, noun asked for, names, and the words that relate them.

    Args:
        question: a question in English, Chinese or (then with less insight) any language.
        titles: titles of documents; those the question holds are names too ('polonium').

    Returns:
        The parts; never fails.
    """
    language = language_of(question)
    names = _with_titles(question, names_in(question), titles)
    expected, focus = _english(question) if language == "en" else _chinese(question)
    focus_words = set(content_words(focus)) if expected not in {Expected.NUMBER, Expected.TEXT} else set()
    words = tuple(dict.fromkeys(w for w in content_words(_asked(question, names))))
    others = tuple(word for word in words if word not in focus_words)
    asked = _property(question, names) if language == "zh" else ()
    return Question(question, language, expected, focus, names, others or words, asked)


def _with_titles(question: str, names: tuple[str, ...], titles: Sequence[str]) -> tuple[str, ...]:
    """The names and the titles the question holds as whole words, none inside another."""
    held = [match.group() for title in titles if len(title) > 1
            for match in [re.search(_whole(title), question, re.IGNORECASE)] if match]
    distinct = list(dict.fromkeys([*held, *names]))
    return tuple(name for name in distinct if not any(name != other and name in other for other in distinct))


def _whole(title: str) -> str:
    """A pattern for a title; letters of scripts with spaces must not go on at either end."""
    before = r"(?<![^\W\u3400-\u9fff])" if title[0].isascii() else ""
    after = r"(?![^\W\u3400-\u9fff])" if title[-1].isascii() else ""
    return before + re.escape(title) + after


def _asked(question: str, names: tuple[str, ...]) -> str:
    """The question without its names and the words that only ask ('What year'): the rest."""
    for name in names:
        question = question.replace(name, " ")
    return _ONLY_ASKING.sub(" ", question)


def _property(question: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The content words of the last phrase of a Chinese question: what stands before it only qualifies it."""
    for phrase in reversed(re.split("[的，,]", question)):
        words = content_words(_asked(phrase, names))
        if words:
            return tuple(dict.fromkeys(words))
    return ()


def _english(question: str) -> tuple[Expected, str]:
    # 'The name of the wife' asks for the wife.
    text = _NAME_OF.sub("", normalise(question))
    for pattern in (_POSSESSED, _WHAT_IS):
        match = pattern.search(text)
        if match and (kind := _kind_of_noun(match.group(1))) is not None:
            return kind[0], ""
    which = _WHICH.search(text)
    if which and (kind := _kind_of_noun(which.group(1))) is not None:
        return kind
    for expected, pattern in _ENGLISH:
        if pattern.search(text):
            return expected, ""
    if which and which.group().startswith("which") and which.start() <= _LONGEST_PREPOSITION:
        return Expected.NAME, which.group(1).split()[-1]
    return Expected.TEXT, ""


def _kind_of_noun(phrase: str) -> tuple[Expected, str] | None:
    """The kind of thing a noun phrase names, by the last of its nouns that is known."""
    words = phrase.split()
    for word in reversed(words):
        singular = word.removesuffix("s") if len(word) > 3 else word  # noqa: PLR2004 - 'gas', 'bus'
        for expected, nouns in _NOUNS:
            if word in nouns or singular in nouns:
                return expected, word
    return None


def _chinese(question: str) -> tuple[Expected, str]:
    match = _CHINESE_FOCUS.search(question)
    focus = match.group(1) if match else ""
    for expected, pattern in _CHINESE:
        if pattern.search(question):
            return expected, focus
    return (Expected.NAME, focus) if focus else (Expected.TEXT, "")
