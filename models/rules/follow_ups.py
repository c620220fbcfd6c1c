"""Follow-up questions made self-contained: pronouns and ellipses are filled from the conversation."""

import re
from collections.abc import Sequence

from ...schemas.naming import canonical_name
from ...text.lexicon import word_set
from .question import analyse
from .recognition.names import find_names, names_in

_LONGEST_MESSAGE = 1_000  # the longest message read in characters; longer messages name their subject
_MESSAGES_READ = 12
_OPENING = re.compile(r"^(?:(?:and|but|so|then|ok|okay|also)[,\s]+)?(?:(?:what|how) about\s+)?|"
                      r"^(?:那么?(?![里儿个座家位所条])|而且?|所以|然后|还有)[，,]?\s*", re.IGNORECASE)
_HAN_PRONOUN = (r"(?:这|那|该)(?:个|座|家|位|所|条)?(?:公司|人|城市|国家|大学|机构|地方|省)|"
                r"[他她它]们?|(?<![极尤与])其(?!他|它|中|实|次|余)")
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
_PERSON_PRONOUNS = word_set("he she him his her hers 他 她 这个人 那个人 该人")


def condense(question: str, messages: Sequence[tuple[str, str]]) -> str:
    """Return a follow-up question completed with names from the conversation; unchanged if it needs none or none fits.

    `messages` are (role, text), oldest first. Only the last few are read, each up to the longest length of a question.
    """
    if len(question) > _LONGEST_MESSAGE:
        return question
    recent = [(role, text[:_LONGEST_MESSAGE]) for role, text in messages[-_MESSAGES_READ:]]
    text = _OPENING.sub("", question.strip())
    without_mark = text.rstrip("?？ ")
    name = without_mark.removeprefix("the ").removesuffix("呢")
    is_elliptic = text != question.strip() or without_mark.endswith("呢")  # "And Norway?", 挪威呢
    if is_elliptic and names_in(name) == (name,):
        return _swap_name(name, recent) or question
    noun = _ELLIPTIC_NOUN.fullmatch(without_mark) if is_elliptic else None
    pronoun = _PRONOUN.search(text)
    # A pronoun after a name in the question itself refers to that name.
    if noun is None and (pronoun is None or names_in(text[: pronoun.start()])):
        return question
    refers_to_person = pronoun is not None and pronoun[0].lower() in _PERSON_PRONOUNS
    refers_to_place = bool(pronoun and (pronoun["place"] or pronoun["where"]))
    entity = _antecedent(recent, personal=refers_to_person, place=refers_to_place)
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


def _swap_name(name: str, messages: Sequence[tuple[str, str]]) -> str:
    """Return the user's last question that has a name, with its last name replaced; "" if no question has one."""
    for role, text in reversed(messages):
        places = find_names(text) if role == "user" else []
        if places:
            start, end = places[-1]
            return f"{text[:start]}{name}{text[end:]}"
    return ""


def _antecedent(messages: Sequence[tuple[str, str]], *, personal: bool, place: bool) -> str:
    """Return the name that a pronoun refers to, or ""."""
    reply_names: list[str] = []
    for role, text in reversed(messages):
        names = names_in(text)
        if role != "user":
            reply_names = [*names, *reply_names]
            continue
        asked_names = {canonical_name(name) for name in names}
        new_names = [name for name in reply_names if canonical_name(name) not in asked_names]
        expected = analyse(text).expected
        reply_names_referent = (personal and expected == "person") or (place and expected == "location")
        if new_names and (reply_names_referent or not names):
            return new_names[0]
        if names:
            return names[-1]
    return reply_names[0] if reply_names else ""
