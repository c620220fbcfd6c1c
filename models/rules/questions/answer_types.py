"""What kind of answer a question expects: English by its parse, Chinese by its question words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from ....schemas.naming import normalise
from ....text.quantities import find_numbers, parse_number
from ...parsing.parser import Parser
from ..content_words import Language, content_words, language_of, spoken_words, stem
from ..lexicon import (
    DATE_NOUNS,
    NAME_NOUNS,
    NUMBER_NOUNS,
    ORGANISATION_NOUNS,
    PERSON_NOUNS,
    PLACE_NOUNS,
    words,
)
from .names import mentions, names_in
from .unfolding_english import asks

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token


class Expected(Enum):
    """The kind of answer; TEXT has no form by which a span could be known, POLAR is yes or no."""

    PERSON = "person"
    PLACE = "place"
    ORGANISATION = "organisation"
    NAME = "name"
    DATE = "date"
    NUMBER = "number"
    REASON = "reason"
    POLAR = "polar"
    TEXT = "text"


@dataclass(frozen=True)
class Question:
    """A question taken apart.

    `focus` is the noun of the thing asked for ('river' in 'On which river ...'), normalised, or
    empty; `words` are the content words outside the names and the focus: what the question says
    of the names ('capital' in 'What is the capital of Poland?'). `asked` are those of the property
    itself (营业收入 in 晨光公司在杭州的营业收入是多少), empty where grammar does not tell it. `figures` are the numbers
    that it gives as conditions. `parse` is that of an English question.
    """

    text: str
    language: Language
    expected: Expected
    focus: str
    names: tuple[str, ...]
    words: tuple[str, ...]
    asked: tuple[str, ...] = ()
    figures: frozenset[str] = frozenset()
    parse: "Doc | None" = None

    @cached_property
    def amounts(self) -> frozenset[str]:
        """The numbers that it gives, with their units, in their normal form."""
        return frozenset(parse_number(self.text[start:end]) for start, end in find_numbers(self.text)) - {""}

    @cached_property
    def spoken(self) -> tuple[str, ...]:
        """The words that `words` are of, as an English question has them, without prepositions."""
        linking = {token.lower_ for token in self.parse or () if token.pos_ in {"ADP", "SCONJ", "AUX", "PART"}}
        return tuple(word for word in spoken_words(self.text) if stem(word) in self.words and word not in linking
                     ) if self.parse is not None else ()


_WHERE_IS = content_words("located")
_ROLE = content_words("role")
_LONGEST = 1_000
"""Characters of a question that are looked at: what follows is text."""
_NOUNS = (
    (Expected.DATE, DATE_NOUNS), (Expected.NUMBER, NUMBER_NOUNS), (Expected.PERSON, PERSON_NOUNS),
    (Expected.PLACE, PLACE_NOUNS), (Expected.ORGANISATION, ORGANISATION_NOUNS), (Expected.NAME, NAME_NOUNS),
)
_ASKING_WORDS = {"who": Expected.PERSON, "whom": Expected.PERSON, "whose": Expected.PERSON, "when": Expected.DATE,
                 "where": Expected.PLACE, "why": Expected.REASON, "how": Expected.TEXT}
_TELLING = words("tell know say explain remember remind show ask see")
_COSTING = words("cost weigh")
_MEASURING = words("weigh cost measure earn last")
_HOW_MUCH = words("many much long old far tall high large big deep fast heavy wide often late early")
_FIGURE = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*")
_WRITTEN = {word: str(number) for number, word in enumerate((
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"))}
_CHINESE = (
    (Expected.REASON, re.compile(r"为什么|为何|原因|什么缘故")),
    (Expected.DATE, re.compile(r"哪一?[年天月]|何时|什么时[候间]|哪个(?:年|月|世纪)|几[年月]|多久|时间是什么|日期")),
    (Expected.NUMBER, re.compile(r"多少|几[个位人名座条次家所]|多[长高大远深重宽]|比例是|百分之几")),
    (Expected.TEXT, re.compile(r"如何|怎么|怎样")),
    (Expected.PERSON, re.compile(r"谁|哪(?:一|几)?位|什么人|哪个人")),
    (Expected.ORGANISATION, re.compile(r"哪(?:一|几)?(?:家|所)|"
                                       r"(?:什么|哪个)(?:公司|机构|大学|学校|组织|企业|子公司|平台)")),
    (Expected.PLACE, re.compile(r"哪里|哪儿|何地|什么地方|哪(?:个|座|条|一个|片)?(?:国家|国|城市|省份|省|市|县|区|"
                                r"地区|地方|江|河|湖|山|岛|州|洲|大洲|海)|(?:首都|省会|出生地|总部)是(?:什么|哪)")),
    (Expected.PERSON, re.compile(r"(?:作者|导演|创始人|发明者|发现者|校长|总统|主席|丈夫|妻子|父亲|母亲)"
                                 r"是(?:什么|哪)")),
    (Expected.NAME, re.compile(r"哪(?:一)?[部本首种项款]|哪个\w{2,6}|(?:叫|名为|称为)什么|"
                               r"什么(?:名字|语言|奖|货币|书)|名称")),
    (Expected.POLAR, re.compile(r"吗[？?]*$|是否|是不是|有没有")),
)
_ONLY_ASKING = re.compile(r"\b(?:what|which) (?:year|date|day|month|time)\b|哪一?[年天月]|"
                          r"多少[^，,。？?]{0,3}(?=[？?]*$)|多少|什么|何时|哪[里儿]", re.IGNORECASE)
_CHINESE_FOCUS = re.compile(r"(?:哪(?:一|几)?(?:个|座|条|家|所|部|本|首|种|项|片)?|什么)"
                            r"(国家|城市|省份|省|市|县|区|河流|江|河|湖|山|岛|州|洲|海|公司|大学|机构|学校|语言|奖项|奖|货币)")


def analyse(question: str, parser: Parser, titles: Sequence[str] = ()) -> Question:
    """Take a question apart: expected answer, noun asked for, names, and the words that relate them.

    Args:
        question: a question in English, Chinese or (then with less insight) any language.
        parser: parses English.
        titles: titles of documents; those the question holds are names too ('polonium').

    Returns:
        The parts; never fails.
    """
    text = question[:_LONGEST]
    language = language_of(text)
    names = _with_titles(text, names_in(text), titles)
    parse = parser.parse(text, "en") if language == "en" else None
    expected, focus = _chinese(text) if parse is None else _english(parse)
    if parse is not None and names and _asks_who_is(text, names):
        expected = Expected.TEXT
    focus_words = set(content_words(focus)) if expected not in {Expected.NUMBER, Expected.TEXT} else set()
    spoken = tuple(dict.fromkeys(w for w in content_words(_asked(text, names))))
    others = tuple(word for word in spoken if word not in focus_words)
    asked = _property(text, names) if language == "zh" else ()
    if parse is not None and expected is Expected.PLACE and not spoken:
        others = _WHERE_IS
    if parse is not None and names and _asks_what_one_does(parse):
        others = (*others, *_ROLE)
    return Question(text, language, expected, focus, names, others or spoken, asked,
                    figures(_asked(text, names)), parse)


def _asks_who_is(question: str, names: tuple[str, ...]) -> bool:
    """Whether a question names a person and asks who that is: it wants a description."""
    return re.fullmatch(r"\s*who (?:is|was|are|were)\W*", _asked(question, names), re.IGNORECASE) is not None


def _asks_what_one_does(doc: "Doc") -> bool:
    """Whether a question asks what somebody does ('What does Ada Byron do at the club?'): for a role."""
    return any(token.lower_ == "what" and token.dep_ == "dobj" and token.head.lemma_ == "do" for token in doc)


def figures(text: str) -> frozenset[str]:
    """The numbers in a text, in digits, without marks between thousands; small ones also where written as words."""
    digits = {match.group().replace(",", "") for match in _FIGURE.finditer(text)}
    return frozenset(digits | {_WRITTEN[word] for word in normalise(text).split() if word in _WRITTEN})


def _with_titles(question: str, names: tuple[str, ...], titles: Sequence[str]) -> tuple[str, ...]:
    """The names and the titles the question holds as whole words, none inside another."""
    folded = question.casefold()
    held = [question[at : at + len(title)] for title in titles if len(title) > 1
            and (at := folded.find(title.casefold())) >= 0 and mentions(folded, title)]
    distinct = list(dict.fromkeys([*held, *names]))
    return tuple(name for name in distinct if not any(name != other and name in other for other in distinct))


def _asked(question: str, names: tuple[str, ...]) -> str:
    """The question without its names and the words that only ask ('What year'): the rest."""
    for name in names:
        question = question.replace(name, " ")
    return _ONLY_ASKING.sub(" ", question)


def _property(question: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The content words of the last phrase of a Chinese question: what stands before it only qualifies it."""
    for phrase in reversed(re.split("[的，,]", question)):
        spoken = content_words(_asked(phrase, names))
        if spoken:
            return tuple(dict.fromkeys(spoken))
    return ()


def _english(doc: "Doc") -> tuple[Expected, str]:
    asking = next((token for token in doc if asks(token)), None)
    first = next((token for token in doc if not token.is_space), None)
    auxiliary = first is not None and (first.tag_ == "MD" or first.lemma_ in {"be", "do", "have"})
    if auxiliary and (asking is None or not any(token.lemma_ in _TELLING for token in doc[: asking.i])):
        return Expected.POLAR, ""  # 'Do children pay when ...': what asks is the first word
    if asking is None:
        objects = (token for token in doc if token.dep_ == "dobj")
        return _kind_of(next(objects, None)) or (Expected.TEXT, "")
    word = asking.lower_
    following = asking.nbor() if asking.i + 1 < len(doc) else asking
    if word == "how" and following.lower_ in _HOW_MUCH:
        return (Expected.DATE if following.lower_ in {"late", "early"} else Expected.NUMBER), ""
    if word in _ASKING_WORDS:
        return _ASKING_WORDS[word], ""
    noun = _asked_noun(asking)
    direct = noun is not None and not any(token.pos_ in {"VERB", "AUX"} for token in doc[asking.i : noun.i])
    if (kind := _kind_of(noun)) is not None:
        return kind if direct else (kind[0], "")
    # The verb of 'What does a ticket cost?' is mostly taken for a noun.
    costs = (following.lemma_ == "do" or following.tag_ == "MD") and _last_word(doc).lemma_ in _COSTING
    if costs or asking.head.lemma_ in _MEASURING:
        return Expected.NUMBER, ""
    if noun is not None and direct:
        return Expected.NAME, noun.lower_
    return Expected.TEXT, noun.lower_ if noun is not None else ""


def _last_word(doc: "Doc") -> "Token":
    return next((token for token in reversed(doc) if token.is_alpha), doc[-1])


def _asked_noun(asking: "Token") -> "Token | None":
    """The noun of what is asked for: 'which river', 'which of the rivers', 'what is the river called'."""
    if asking.dep_ == "det" and asking.head.i > asking.i:
        return asking.head
    for child in asking.children:
        if child.lower_ == "of":
            return next((token for token in child.children if token.dep_ == "pobj"), None)
    near = next((token for token in asking.doc[asking.i + 1 : asking.i + 4] if token.tag_ in {"NN", "NNS"}), None)
    if near is not None and near.i == asking.i + 1:
        return near
    verb = asking.head if asking.head.pos_ in {"VERB", "AUX"} else asking.head.head
    subject = next((token for token in verb.children if token.dep_ in {"nsubj", "nsubjpass", "attr"}
                    and token.i > asking.i and token != asking), None)
    if subject is None or verb.lemma_ not in {"be", "call", "name"}:
        return None
    inner = next((token for child in subject.children if child.lower_ == "of" for token in child.children), None)
    return inner if subject.lemma_ in {"name", "title"} and inner is not None else subject


def _kind_of(noun: "Token | None") -> tuple[Expected, str] | None:
    """The kind of thing a noun names, by itself or by the nouns that it is compounded with."""
    if noun is None:
        return None
    for token in (noun, *(child for child in noun.children if child.dep_ == "compound")):
        for expected, nouns in _NOUNS:
            if token.lower_ in nouns or token.lemma_.lower() in nouns:
                return expected, token.lower_
    return None


def _chinese(question: str) -> tuple[Expected, str]:
    match = _CHINESE_FOCUS.search(question)
    focus = match.group(1) if match else ""
    for expected, pattern in _CHINESE:
        if pattern.search(question):
            return expected, focus
    return (Expected.NAME, focus) if focus else (Expected.TEXT, "")
