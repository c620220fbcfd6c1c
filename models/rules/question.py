"""Questions: the kind of the answer, the requested noun and the names; follow-ups, filled from the conversation."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from ...schemas.naming import canonical_name, normalise
from ...text.content_words import content_words, spoken_words
from ...text.dates import spell_dates
from ...text.lexicon import DATE_NOUNS, NUMBER_NOUNS, read_patterns, word_set
from ...text.quantities import measure, parse_number
from ...text.scripts import MARKS, language_of, phrase_language
from ...text.sentences import split_sentences
from ..parsing.parser import Parser, load_tagger
from .likeness import gender_of, likeness
from .recognition.name_kinds import kind_of_noun
from .recognition.names import find_names, names_in
from .recognition.spans import find_spans

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
_DATA = read_patterns("rules.toml")
_FORMS = {name: re.compile(form) for name, form in _DATA["question"].items()}
_ASKED_NOUN = re.compile(
    r"\b(?:which|what)\s+(?:(?:is|are|was|were)\s+(?:the|its|his|her|their|our|an?)\s+)?(?:name of (?:the )?)?"
    r"(?P<phrase>(?:(?!(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|will|would|should|of|in|on|at|"
    r"for|to|from|with|by|that|who|which|the|an?)\b)[\w’'-]+\s*){1,4})", re.IGNORECASE)
_ASKED_MEASURES = [(re.compile(form), word_set(units)) for form, units in _DATA["asked_measures"].values()]
"""What asks for a measure ("how long"), and the measures that answer it."""

_FOREIGN_KINDS: tuple[Expected, ...] = ("reason", "date", "number", "person", "location")
_LANGUAGES_WITH_PREPOSITIONS = frozenset({"es", "pt", "fr", "de", "it", "nl", "ru"})
_SIMILAR = 0.45  # the cosine of two words with a similar meaning

_MESSAGES_READ = 12
MEN, WOMEN = word_set("he him his 他"), word_set("she her hers 她")
_PERSONS = MEN | WOMEN | word_set("这个人 那个人 该人")
_THINGS = word_set("it its 它 其")


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
        """The last sentence that asks, without context around it; the whole text if it has under two content words."""
        sentences = [self.text[start:end] for start, end in split_sentences(self.text)]
        asking = next((sentence for sentence in reversed(sentences) if sentence.endswith(("?", "？"))), "")
        return asking if len(self.words_of(asking)) > 1 else self.text

    @property
    def lists(self) -> bool:
        """Whether several things are asked for."""
        return _FORMS["asks_for_several"].search(self.asking) is not None

    def is_answered_by(self, number: str, text_after: str) -> bool:
        """Return True if a number is of the measure that is asked for, or is followed by the noun that is counted."""
        unit = measure(parse_number(number))
        is_money = len(unit) == 3 and unit.isupper()  # noqa: PLR2004 - currencies are ISO codes
        for asks_for_measure, units in _ASKED_MEASURES:
            if asks_for_measure.search(self.asking):
                return unit in units or (is_money and "money" in units)
        if counted_noun := _FORMS["counted"].search(self.text):
            # "40 km" is no answer to "how many members", but "40 members" and "40" before "members" are.
            is_of_other_unit = unit and set(self.words_of(counted_noun[1])).isdisjoint(self.words_of(unit))
            if is_of_other_unit:
                return False
            cosines = likeness(spoken_words(counted_noun[1]), [f"{number} {text_after}"])
            return float(cosines.max(initial=0.0)) >= _SIMILAR
        asks_for_count = re.search("几|多少", self.asking)  # which asks for things, not for money or a share
        return not (asks_for_count and (is_money or unit == "%"))

    @property
    def has_form(self) -> bool:
        """Whether a span of text can be recognised as an answer by its kind."""
        return self.expected not in {"reason", "polar", "text"}


def analyse(question: str) -> Question:
    """Analyse a question in English, Chinese or, with less detail, a language of `question_words.json`."""
    text = question[:_LONGEST_QUESTION].strip()
    language = language_of(text)
    if language not in foreign_forms():
        language = phrase_language(text)
    expected: Expected
    focus = ""
    if language == "zh":
        expected = next((kind for pattern, kind in _CHINESE if pattern.search(text)), "text")
    elif language == "en":
        expected, focus = _kind_in_english(text)
    else:
        forms = foreign_forms()[language]
        found = [(match.start(), -match.end(), kind) for kind in _FOREIGN_KINDS if (match := forms[kind].search(text))]
        # The first question word asks; of those that begin at one place, the longest.
        start, _, expected = min(found, default=(0, 0, "text"))
        has_words_before = bool(text[:start].strip("¿¡ "))
        # "With whom did Ada study?" is not answered by the only person of a sentence about Ada.
        if expected == "person" and has_words_before and language in _LANGUAGES_WITH_PREPOSITIONS:
            expected = "text"
    names = names_in(text)
    asks_only_for_name = bool(names) and set(content_words(text)).issubset(content_words(" ".join(names)))
    # The answer to "Who is Ada Blum?" is a description, but to "Who is the Lord Mayor?" it is a person.
    if expected == "person" and asks_only_for_name and not _FORMS["role"].match(text):
        expected = "text"
    return Question(text, language, expected, focus, names)


@cache
def foreign_forms() -> dict[str, dict[str, re.Pattern[str]]]:
    """Return for each further language its question words by the kind of answer, and its negations as "negated"."""
    # Japanese has no spaces between words, so its forms are also found inside a run of letters.
    return {language: {kind: re.compile(form if language == "ja" else rf"(?<!\w)(?:{form})(?![\w{MARKS}])", re.I)
                       for kind, form in forms.items()}
            for language, forms in _QUESTION_WORDS.items() if language not in {"en", "zh"}}


def _kind_in_english(text: str) -> tuple[Expected, str]:
    """Return the kind of the answer to an English question, and the requested noun or ""."""
    if _FORMS["polar_opening"].match(text):
        return "polar", ""
    found = [(match.start(), expected) for pattern, expected in _ENGLISH if (match := pattern.search(text))]
    which_or_what = re.search(r"\b(?:which|what)\b", text, re.IGNORECASE)
    # The first question word asks: a "when" behind "which" only begins a clause.
    if found and (which_or_what is None or min(found)[0] <= which_or_what.start()):
        return min(found)[1], ""
    match = _ASKED_NOUN.search(text)
    phrase = normalise(match["phrase"]) if match else ""
    for word in reversed(phrase.split()):  # the head of a phrase is its last noun
        forms = {word, word.removesuffix("s"), word.removesuffix("es")}
        listed = (expected for nouns, expected in _NOUNS_OF_KINDS if not nouns.isdisjoint(forms))
        if kind := next(listed, None) or _KINDS.get(kind_of_noun(word)):
            return kind, word
    noun = phrase.rpartition(" ")[2]
    asks_for_noun = match is not None and _FORMS["noun_follows"].match(match[0])
    return "name" if asks_for_noun and noun else "text", noun


def condense(question: str, messages: Sequence[tuple[str, str]], parser: Parser) -> str:
    """Return a follow-up question completed with names from the last `messages`, (role, text), if any fit."""
    if len(question) > _LONGEST_QUESTION or not messages:  # so long a question names its subject
        return question
    # "Found: Marie Curie" begins with a label, which is no name.
    recent = [(role, _FORMS["label"].sub("", text[:_LONGEST_QUESTION])) for role, text in messages[-_MESSAGES_READ:]]
    text = _FORMS["opening"].sub("", question.strip())
    topic = text.rstrip("?？ ")
    pronoun = _FORMS["pronoun"].search(text)
    is_elliptic = text != question.strip() or topic.endswith("呢")  # "And Norway?", 挪威呢
    if is_elliptic:
        name = topic.removeprefix("the ").removesuffix("呢")
        if names_in(name) == (name,):
            return _ask_same_of(name, recent) or question
        if noun := _FORMS["elliptic_noun"].fullmatch(topic):
            entity = _find_antecedent(recent, pronoun, parser)
            completed = f"What is the {noun['en']} of {entity}?" if noun["en"] else f"{entity}的{noun['zh']}是什么？"
            return completed if entity else question
    # A pronoun after a name in the question itself refers to that name.
    if pronoun is None or names_in(text[: pronoun.start()]):
        return question
    entity = _find_antecedent(recent, pronoun, parser)
    if not entity:
        return question
    if pronoun["owner"]:  # "its capital"
        entity = f"{entity}'s"
    elif pronoun["place"]:  # "who was born there"
        entity = f"in {entity}"
    completed = f"{text[: pronoun.start()]}{entity}{text[pronoun.end():]}"
    return f"{completed[:1].upper()}{completed[1:]}"


def _ask_same_of(name: str, messages: Sequence[tuple[str, str]]) -> str:
    """Return the user's last question with a name, asked of another one; "" if there is none."""
    for role, text in reversed(messages):
        places = find_names(text) if role == "user" else []
        if places:
            start, end = places[-1]
            return f"{text[:start]}{name}{text[end:]}"
    return ""


def ask_back(question: Question) -> str:
    """Return the question to ask the user if a pronoun is what is asked about and nothing says whom it means, or ""."""
    if question.language == "zh":
        pronoun = _FORMS["han_pronoun"].search(question.text)
        before = question.text[: pronoun.start()] if pronoun else ""
        words_before = load_tagger().tag(before, [(0, len(before))])[0] if before else []
        # A noun before the pronoun may be what it means.
        if pronoun is None or any(word.tag in {"n", "nz", "PER", "ORG", "LOC"} for word in words_before):
            return ""
        return f"“{pronoun[0]}”指的是{'谁' if pronoun[0].rstrip('们') in _PERSONS else '什么'}？"
    asked = _FORMS["asked_pronoun"].match(question.text) if question.language == "en" else None
    if asked is None:
        return ""
    word = asked["word"].lower()
    return f"{'Who' if word in _PERSONS else 'What'} is meant by '{word}'?"


def _find_antecedent(messages: Sequence[tuple[str, str]], pronoun: re.Match[str] | None, parser: Parser) -> str:
    """Return the name that a pronoun refers to, or "": the last one that the user named."""
    # After a question without a name, or one for the place of "there", it is the first one that the reply adds.
    reply_names: list[str] = []  # of the reply to the question that is read next, as messages are read backwards
    for role, text in reversed(messages):
        kinds = {text[span.start:span.end]: span.kind for span in find_spans([text], parser)[0]} if pronoun else {}
        names = [name for name in names_in(text) if _may_mean(pronoun, name, kinds.get(name, "name"))]
        if role != "user":
            reply_names = [*names, *reply_names]
            continue
        asked_names = {canonical_name(name) for name in names}
        new_names = [name for name in reply_names if canonical_name(name) not in asked_names]
        asks_for_place = pronoun is not None and pronoun["place"] and analyse(text).expected == "location"
        if new_names and (asks_for_place or not names):
            return new_names[0]
        if names:
            return names[-1]
    return reply_names[0] if reply_names else ""


def _may_mean(pronoun: re.Match[str] | None, name: str, kind: str) -> bool:
    """Return True if a pronoun may refer to a name of a kind, which is "name" if it is not known."""
    word = pronoun[0].lower() if pronoun else ""
    if word in _PERSONS:
        gender = "woman" if word in WOMEN else "man"
        fits_gender = word not in MEN | WOMEN or gender_of(name) in {"", gender}
        return kind in {"person", "name"} and fits_gender
    if pronoun and (pronoun["place"] or pronoun["where"]):
        return kind in {"location", "organization", "name"}
    return word not in _THINGS or kind != "person"
