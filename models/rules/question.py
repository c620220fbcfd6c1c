"""The analysis of a question: the kind of its answer, the requested noun, and its names."""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from ...schemas.naming import normalise
from ...text.content_words import content_words, spoken_words
from ...text.dates import spell_dates
from ...text.languages import language_of, phrase_language
from ...text.lexicon import DATE_NOUNS, NUMBER_NOUNS, word_set
from ...text.quantities import measure, parse_number
from ...text.scripts import MARKS
from ...text.sentences import split_sentences
from .likeness import likeness
from .recognition.name_kinds import kind_of_noun
from .recognition.names import names_in

Expected = Literal["person", "location", "organization", "name", "date", "number", "reason", "polar", "text"]
"""The kind of an answer. "text" has no recognisable form; "polar" is yes or no."""

_LONGEST_QUESTION = 1_000  # the most characters of a question that are read
_NOUNS_OF_KINDS: tuple[tuple[frozenset[str], Expected], ...] = (
    (DATE_NOUNS | word_set("month week weekday season hour"), "date"), (NUMBER_NOUNS, "number"))
_KINDS: dict[str, Expected] = {"person": "person", "location": "location", "organization": "organization"}
_QUESTION_WORDS: dict[str, dict[Expected, str]] = json.loads(
    Path(__file__).with_name("question_words.json").read_text("utf-8"))
"""Regular expressions for the question words of each language by the kind of the answer, the Chinese ones in order."""
_ENGLISH, _CHINESE = (tuple((re.compile(form, re.IGNORECASE), expected) for expected, form in _QUESTION_WORDS[
    language].items()) for language in ("en", "zh"))
_POLAR_OPENING = re.compile(
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|will|would|shall|should)\b",
    re.IGNORECASE)
_NOUN_FOLLOWS = re.compile(r"(?:which|what)\s+(?!is|are|was|were)", re.IGNORECASE)
_REQUEST = re.compile(r"(?:can|could|will|would) you\b", re.IGNORECASE)
_ASKED_NOUN = re.compile(
    r"\b(?:which|what)\s+(?:(?:is|are|was|were)\s+(?:the|its|his|her|their|our|an?)\s+)?(?:name of (?:the )?)?"
    r"(?P<phrase>(?:(?!(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|will|would|should|of|in|on|at|"
    r"for|to|from|with|by|that|who|which|the|an?)\b)[\w’'-]+\s*){1,4})", re.IGNORECASE)
_CHINESE_FOCUS = re.compile(
    r"(?:哪(?:一|几)?(?:个|座|条|家|所|部|本|首|种|项|片|位)?|什么)"
    r"(国家|城市|省份|地区|地方|公司|大学|机构|学校|语言|奖项|货币|省|市|县|区|江|河|湖|山|岛|州|洲|海|奖)")
_ROLE = re.compile(r"who (?:is|was|are|were) (?:the|our|your)\b", re.IGNORECASE)
_PLURAL = r"(?!this|its|was|is|does|has)[a-z-]+(?<![sui])s"
_ASKS_FOR_SEVERAL = re.compile(
    r"哪些|哪几|哪[两二三四五六七八九十]|分别是|有什么|"
    r"\bwho (?:all )?(?:attended|were|are|(?:was|is) (?:present|absent|there))\b|"
    rf"\b(?:which|what)(?: are)?(?: all)?(?: the)? (?:{_PLURAL}\b|(?:[\w-]+ ){{1,3}}?{_PLURAL}"
    r"(?=\s(?:do|does|did|can|could|may|must|are|is|was|were|have|had|will|would|should|of|in|on|at|for|from|that|who|to|"
    r"with|not|there)\b|\s?[?.]|$))", re.IGNORECASE)
ASKS_PHONE = re.compile(r"电话|热线|手机号|传真|\b(?:tele)?(?:phone|fax)\b|\bt[eé]l[eé][fp]h?on", re.IGNORECASE)
_FOREIGN_KINDS: tuple[Expected, ...] = ("reason", "date", "number", "person", "location")
_LANGUAGES_WITH_PREPOSITIONS = frozenset({"es", "pt", "fr", "de", "it", "nl", "ru"})
_TIME_WITHOUT_DATE = re.compile(
    r"\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April|June|July|August|September|"
    r"October|November|December|[Ss]pring|[Ss]ummer|[Aa]utumn|[Ww]inter|Christmas|Easter|noon|midnight|"
    r"\d{1,2}[.:]\d\d(?: ?[ap]\.?m\b)?|\d{1,2} ?[ap]\.?m\b)|[上下中]午|(?:周|星期|礼拜)[一二三四五六日天末]|"
    r"\d{1,2}[:：点]\d{0,2}")
"""Times without a date, which may also answer 'when'."""
_SIMILAR = 0.45  # the cosine of two words with a similar meaning
AFTER_NUMBER = 40
"""The number of characters after a number that may name the counted things."""
_COUNTED = re.compile(r"\bhow many ((?:[\w’'-]+ ){1,3})", re.IGNORECASE)
_ASKED_MEASURES = (
    (re.compile(r"\bhow long\b|多长时间|多久|(?:几|多少)个?(?:工作)?(?:[天日年月周]|小时|星期)", re.IGNORECASE),
     word_set("time years weeks months days hours minutes length")),
    (re.compile(r"\bhow (?:far|tall|high|wide|deep|big)\b|\b(?:length|height|depth|width|distance)\b", re.IGNORECASE),
     word_set("length area")),
    (re.compile(r"\b(?:weighs?|weight|heavy)\b|重量|多重", re.IGNORECASE), word_set("mass")),
    (re.compile(r"\b(?:costs?|prices?|fees?|pay|charges?|charged|expensive|budget|revenue|turnover|salary|rent|donation)\b|"
                r"多少钱|价格|售价|费用|多少[元镑]", re.IGNORECASE), word_set("money")),
    (re.compile("(?:多少|几倍)的?(?:工资|报酬|补偿|赔偿|罚款|税|利息)"), word_set("money %")),
    (re.compile(r"\b(?:percentage|per ?cent|share|proportion)\b|比例|百分之", re.IGNORECASE), word_set("%")),
)
"""The measures that answer a question of a form."""


@dataclass(frozen=True, slots=True)
class Question:
    """An analysed question.

    `language` is "en" also if the language is not known. `focus` is the requested noun ('river' in 'On which river
    ...'), normalised, or "". `names` are the names in it.
    """

    text: str
    language: str
    expected: Expected
    focus: str
    names: tuple[str, ...]

    def words_of(self, text: str) -> tuple[str, ...]:
        """Return the content words of a text for comparison with the question's; see `content_words`."""
        return content_words(spell_dates(text, chinese=self.language == "zh"), self.language)

    @property
    def asking(self) -> str:
        """The last sentence that ends in a question mark; the whole text if that has fewer than two content words.

        Sentences before it give context, and sentences after it say how to write the answer.
        """
        sentences = [self.text[start:end] for start, end in split_sentences(self.text)]
        asking = next((sentence for sentence in reversed(sentences) if sentence.endswith(("?", "？"))), "")
        return asking if len(self.words_of(asking)) > 1 else self.text

    @property
    def lists(self) -> bool:
        """Whether several things are asked for."""
        return _ASKS_FOR_SEVERAL.search(self.asking) is not None

    def is_answered_by(self, number: str, text_after: str = "") -> bool:
        """Return True if a number is of the measure that is asked for, or is followed by the noun that is counted."""
        size = measure(parse_number(number))
        unit = size[0] if size else ""
        is_money = len(unit) == 3 and unit.isupper()  # noqa: PLR2004 - currencies are ISO codes
        for asks_for_measure, units in _ASKED_MEASURES:
            if asks_for_measure.search(self.asking):
                return unit in units or (is_money and "money" in units)
        counted_noun = _COUNTED.search(self.text)
        if counted_noun and text_after:
            if unit and not set(self.words_of(counted_noun[1])).intersection(self.words_of(unit)):
                return False
            cosines = likeness(spoken_words(counted_noun[1]), [f"{number} {text_after}"])
            return float(cosines.max(initial=0.0)) >= _SIMILAR
        asks_for_count = re.search(r"\bhow many\b|几|多少", self.asking, re.IGNORECASE)
        return not (asks_for_count and (is_money or unit == "%"))

    @property
    def has_form(self) -> bool:
        """Whether a span of text can be recognised as an answer by its kind."""
        return self.expected not in {"reason", "polar", "text"}


def analyse(question: str) -> Question:
    """Analyse a question in English, Chinese or, with less detail, a language of `question_words.json`."""
    text = question[:_LONGEST_QUESTION].strip()
    any_language = language_of(text)
    language = any_language if any_language in foreign_forms() else phrase_language(text)
    expected: Expected
    if language == "zh":
        expected = next((expected for pattern, expected in _CHINESE if pattern.search(text)), "text")
        noun = _CHINESE_FOCUS.search(text)
        focus = noun[1] if noun else ""
    elif language == "en":
        expected, focus = _kind_in_english(text)
    else:
        expected, focus = _kind_in_other_language(text, language), ""
    names = names_in(text)
    asks_only_for_name = bool(names) and set(content_words(text)).issubset(content_words(" ".join(names)))
    if expected == "person" and asks_only_for_name and not _ROLE.match(text):  # "Who is Ada Blum?"
        expected = "text"  # the answer is a description
    return Question(text, language, expected, focus, names)


@cache
def foreign_forms() -> dict[str, dict[str, re.Pattern[str]]]:
    """Return for each further language its question words by the kind of answer, and its negations as "negated"."""
    def compile_form(form: str, language: str) -> re.Pattern[str]:
        # Japanese has no spaces between words, so its forms are also found inside a run of letters.
        whole_words = form if language == "ja" else rf"(?<!\w)(?:{form})(?![\w{MARKS}])"
        return re.compile(whole_words, re.IGNORECASE)

    return {language: {kind: compile_form(form, language) for kind, form in forms.items()}
            for language, forms in _QUESTION_WORDS.items() if language not in {"en", "zh"}}


def _kind_in_other_language(text: str, language: str) -> Expected:
    """Return the kind that the first question word of a text asks for, or "text" if it has none."""
    found = [(match.start(), -match.end(), kind) for kind in _FOREIGN_KINDS
             if (match := foreign_forms()[language][kind].search(text))]
    if not found:
        return "text"
    start, _, kind = min(found)
    has_words_before = bool(text[:start].strip("¿¡ "))
    # "With whom did Ada study?" is not answered by the only person of a sentence about Ada.
    is_oblique = kind == "person" and has_words_before and language in _LANGUAGES_WITH_PREPOSITIONS
    return "text" if is_oblique else kind


def tells_time(text: str) -> bool:
    """Return True if a text names a weekday, month, season or time of day."""
    return _TIME_WITHOUT_DATE.search(text) is not None


def _kind_in_english(text: str) -> tuple[Expected, str]:
    """Return the kind of the answer to an English question, and the requested noun or ""."""
    if _POLAR_OPENING.match(text) and not _REQUEST.match(text):
        return "polar", ""
    found = [(match.start(), expected) for pattern, expected in _ENGLISH if (match := pattern.search(text))]
    which_or_what = re.search(r"\b(?:which|what)\b", text, re.IGNORECASE)
    if found and (which_or_what is None or min(found)[0] <= which_or_what.start()):
        return min(found)[1], ""
    match = _ASKED_NOUN.search(text)
    noun_words = normalise(match["phrase"]).split() if match else []
    for word in reversed(noun_words):
        for nouns, expected in _NOUNS_OF_KINDS:
            if word in nouns or word.removesuffix("s") in nouns or word.removesuffix("es") in nouns:
                return expected, word
        if kind := _KINDS.get(kind_of_noun(word)):
            return kind, word
    is_verb = match is not None and "happen" in match["phrase"]  # "What happened in Oslo?"
    asks_for_noun = match is not None and not is_verb and _NOUN_FOLLOWS.match(match[0])
    expected = "name" if asks_for_noun and noun_words else "text"
    return expected, noun_words[-1] if noun_words else ""
