"""Follow-up questions, filled from the conversation; and what to ask back if nothing says whom a pronoun means."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from ...schemas.naming import canonical_name
from ...text.lexicon import word_set
from ..parsing.chinese import load_tagger
from ..parsing.parser import Parser
from .likeness import gender_of
from .question import Question, analyse
from .recognition.name_kinds import kind_of_noun
from .recognition.names import find_names, names_in
from .recognition.spans import find_spans

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_LONGEST_MESSAGE = 1_000  # the longest message read in characters; longer messages name their subject
_MESSAGES_READ = 12
_OPENING = re.compile(r"^(?:(?:and|but|so|then|ok|okay|also)[,\s]+)?(?:(?:what|how) about\s+)?|"
                      r"^(?:那么?(?![里儿个座家位所条])|而且?|所以|然后|还有)[，,]?\s*", re.IGNORECASE)
_HAN_PRONOUN = (r"(?:这|那|该)(?:个|座|家|位|所|条)?(?:公司|人|城市|国家|大学|机构|地方|省)|"
                r"(?<!其)[他她它]们?|(?<![极尤与])其(?!他|它|中|实|次|余)")
_ELLIPTIC_NOUN = re.compile(rf"(?:the|its|his|her|their)\s++(?P<en>[a-z][a-z ]*)|"
                            rf"(?:(?:{_HAN_PRONOUN})的)?(?P<zh>[一-鿿]{{1,20}})呢", re.IGNORECASE)
"""The noun that "what about" asks for: "its capital", 首都呢."""
_AFTER_OBJECT = r"(?:born|died?|lived?|win|won|in|on|at|to|from|for|by|when|where|and|or)\b"
"""What follows "her" where it is no possessive."""
_PRONOUN = re.compile(
    rf"\b(?:(?P<owner>his|its|their|her(?= (?!{_AFTER_OBJECT})[a-z]))|"
    r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?P<place>there)|he|she|it|they|him|her|hers|them|"
    r"(?:this|that) (?:one|person|city|country|company|place|man|woman|book|film|river))\b|"
    rf"{_HAN_PRONOUN}|(?P<where>那里|那儿|这里)", re.IGNORECASE)
_MEN, _WOMEN = word_set("he him his 他"), word_set("she her hers 她")
_PERSONS = _MEN | _WOMEN | word_set("这个人 那个人 该人")
_THINGS = word_set("it its 它 其")
_PARTS_OF_MAIN_CLAUSE = frozenset({"nsubj", "nsubjpass", "dobj", "pobj", "dative", "poss", "attr"})
_EMBEDDED = frozenset({"relcl", "advcl", "ccomp", "acl", "csubj", "xcomp"})

Kind = Literal["person", "place", "thing", "any"]
"""What a pronoun refers to."""


def condense(question: str, messages: Sequence[tuple[str, str]], parser: Parser) -> str:
    """Return a follow-up question completed with names from the conversation; unchanged if it needs none or none fits.

    `messages` are (role, text), oldest first. Only the last few are read, each up to the longest length of a question.
    """
    if len(question) > _LONGEST_MESSAGE or not messages:
        return question
    recent = [(role, text[:_LONGEST_MESSAGE]) for role, text in messages[-_MESSAGES_READ:]]
    text = _OPENING.sub("", question.strip())
    without_mark = text.rstrip("?？ ")
    name = without_mark.removeprefix("the ").removesuffix("呢")
    is_elliptic = text != question.strip() or without_mark.endswith("呢")  # "And Norway?", 挪威呢
    if is_elliptic and names_in(name) == (name,):
        for role, said in reversed(recent):
            if role == "user" and (places := find_names(said)):  # asks the same of another
                start, end = places[-1]
                return f"{said[:start]}{name}{said[end:]}"
        return question
    noun = _ELLIPTIC_NOUN.fullmatch(without_mark) if is_elliptic else None
    pronoun = _PRONOUN.search(text)
    # A pronoun after a name in the question itself refers to that name.
    if noun is None and (pronoun is None or names_in(text[: pronoun.start()])):
        return question
    entity = _find_antecedent(recent, pronoun, parser)
    if not entity:
        return question
    if noun:
        return f"What is the {noun['en']} of {entity}?" if noun["en"] else f"{entity}的{noun['zh']}是什么？"
    if pronoun is None:  # for the type checker: what has no noun has a pronoun
        return question
    # "its capital", "who was born there" and "who leads it".
    replacement = f"{entity}'s" if pronoun["owner"] else f"in {entity}" if pronoun["place"] else entity
    completed = f"{text[: pronoun.start()]}{replacement}{text[pronoun.end():]}"
    return f"{completed[:1].upper()}{completed[1:]}"


def ask_back(question: Question, parser: Parser) -> str:
    """Return the question to ask the user if a pronoun is what is asked about and nothing says whom it means, or ""."""
    if question.language == "zh":
        pronoun = re.search(_HAN_PRONOUN, question.text)
        before = question.text[: pronoun.start()] if pronoun else ""
        words = load_tagger().tag(before, [(0, len(before))])[0] if before else []
        if pronoun is None or any(word.tag in {"n", "nz", "PER", "ORG", "LOC"} for word in words):
            return ""
        return f"“{pronoun[0]}”指的是{'谁' if pronoun[0].rstrip('们') in _PERSONS else '什么'}？"
    if question.language != "en" or not _PRONOUN.search(question.text):
        return ""
    unclear = _unclear_pronoun(parser.parse(question.text))
    if unclear is None:
        return ""
    return f"{'Who' if unclear.lower_ in _PERSONS else 'What'} is meant by '{unclear.lower_}'?"


def _unclear_pronoun(doc: "Doc") -> "Token | None":
    """Return the pronoun of the main clause that no noun before it explains, or None."""
    for token in doc:
        is_person, is_thing = token.lower_ in _PERSONS, token.lower_ in _THINGS
        if not (is_person or is_thing) or token.dep_ not in _PARTS_OF_MAIN_CLAUSE:
            continue
        if any(step.dep_ in _EMBEDDED for step in token.ancestors):
            continue
        asked = {noun.i for noun in doc if any(word.tag_.startswith("W") for word in noun.subtree if word.i < noun.i)}
        asked |= {noun.i for noun in doc for one in noun.head.children if one.tag_.startswith("W")
                  and one.dep_ in {"attr", "nsubj"} and one.i < noun.i}
        nouns = [noun for noun in doc if noun.pos_ in {"NOUN", "PROPN"} and noun.i not in asked]
        before = [noun for noun in nouns if noun.i < token.i and (
            is_thing or noun.pos_ == "PROPN" or kind_of_noun(noun.lemma_.lower()) == "person")]
        binds = token.dep_ == "poss" and any(  # in "Who lost his life?"
            word.tag_ == "WP" and word.dep_ == "nsubj" and word.head.lemma_ != "be" for word in doc)
        # "It" may stand for a clause, or for the documents: "What does it say about pay?"
        is_open = is_thing and (any(noun.i > token.i and token.dep_ != "poss" for noun in nouns)
                                or any(word.dep_ in _EMBEDDED for word in doc))
        if not (before or binds or is_open):
            return token
    return None


def _find_antecedent(messages: Sequence[tuple[str, str]], pronoun: re.Match[str] | None, parser: Parser) -> str:
    """Return the last name of the right kind that a pronoun refers to, or ""."""
    said = pronoun[0].lower() if pronoun else ""
    kind: Kind = ("place" if pronoun and (pronoun["place"] or pronoun["where"]) else "person" if said in _PERSONS
                  else "thing" if said in _THINGS else "any")
    gender = "woman" if said in _WOMEN else "man" if said in _MEN else ""
    reply_names: list[str] = []
    for role, text in reversed(messages):
        names = list(names_in(text))
        if kind != "any" and names:
            kinds = {text[span.start:span.end]: span.kind for span in find_spans([text], parser)[0]}
            names = [name for name in names if _may_mean(kind, gender, name, kinds.get(name, "name"))]
        if role != "user":
            reply_names = [*names, *reply_names]
            continue
        asked_names = {canonical_name(name) for name in names}
        new_names = [name for name in reply_names if canonical_name(name) not in asked_names]
        expected = analyse(text).expected
        reply_names_referent = (kind == "person" and expected == "person") or (
            kind == "place" and expected == "location")
        if new_names and (reply_names_referent or not names_in(text)):
            return new_names[0]
        if names:
            return names[-1]
    return reply_names[0] if reply_names else ""


def _may_mean(kind: Kind, gender: str, name: str, known: str) -> bool:
    """Return True if a pronoun of a kind and a gender may refer to a name, which is `known` as of some kind."""
    if kind == "person":
        return known in {"person", "name"} and gender_of(name) in {"", gender or gender_of(name)}
    return known != "person" and (kind != "place" or known in {"location", "organization", "name"})
