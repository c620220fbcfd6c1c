"""Follow-up questions made self-contained: pronouns and ellipses are filled from the conversation."""

import re
from collections.abc import Sequence

from ...schemas.naming import canonical_name
from ...text.content_words import language_of
from ...text.lexicon import words
from .question import analyse
from .recognition.names import find_names, names_in

_LONGEST = 1_000
"""The longest message read in characters; longer messages name their subject."""
_MESSAGES_READ = 12
_OPENING = re.compile(r"^\s*(?:and|but|so|then|ok|okay|also)[,\s]+", re.IGNORECASE)
_ABOUT = re.compile(r"^(?:(?:what|how) about|and)\s+", re.IGNORECASE)
_NOUN_ONLY = re.compile(r"^(?:the|its|his|her|their)\s++([a-z](?:[a-z ]*[a-z])?)\s*+\?*+$", re.IGNORECASE)
_AFTER_OBJECT = r"(?:born|died?|lived?|win|won|in|on|at|to|from|for|by|when|where|and|or)\b"
"""What follows "her" where it is no possessive."""
_PRONOUN = re.compile(
    rf"\b(?:(?P<owner>his|its|their|her(?= (?!{_AFTER_OBJECT})[a-z]))|"
    r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?P<place>there)|he|she|it|they|him|her|hers|them|"
    r"(?:this|that) (?:one|person|city|country|company|place|man|woman|book|film|river))\b", re.IGNORECASE)
_PERSONAL = words("he she him his her hers")
_AROUND = re.compile(r"^the\s++|(?<![?\s])[?\s]++$", re.IGNORECASE)
_CHINESE_OPENING = re.compile(r"^\s*(?:那么?|而且?|所以|然后|还有)[，,]?\s*")
_CHINESE_PRONOUN = re.compile(r"(?:这|那|该)(?:个|座|家|位|所|条)?(?:公司|人|城市|国家|大学|机构|地方|省)|"
                              r"[他她它]们?|(?<![极尤与])其(?!他|它|中|实|次|余)|(?:那里|那儿|这里)")
_CHINESE_ELLIPSIS = re.compile(r"^(?P<name>[^，,？?的]{1,20})呢[？?]*$")
_CHINESE_NOUN = re.compile(r"^(?P<noun>.{1,20})呢[？?]*$")


def condense(question: str, messages: Sequence[tuple[str, str]]) -> str:
    """Complete a follow-up question with names from the conversation.

    Args:
        question: the new question.
        messages: (role, text) so far, oldest first; the user's questions count more. Only the last few messages are
            read, each up to the longest length of a question.

    Returns:
        The self-contained question; unchanged if it needs nothing or nothing fits.
    """
    if len(question) > _LONGEST:
        return question
    recent = [(role, text[:_LONGEST]) for role, text in messages[-_MESSAGES_READ:]]
    return _chinese(question, recent) if language_of(question) == "zh" else _english(question, recent)


def _english(question: str, messages: Sequence[tuple[str, str]]) -> str:
    text = _OPENING.sub("", question.strip())
    bare = _ABOUT.sub("", text)
    names = names_in(bare)
    if names and (bare != text or text != question.strip()) and _is_only(bare, names[0]):
        return _swap_name(names[0], messages) or question
    pronoun = _PRONOUN.search(text)
    noun = _NOUN_ONLY.match(bare) if bare != text or text != question.strip() else None
    if noun is None and (pronoun is None or names_in(text[: pronoun.start()])):
        return question
    personal = pronoun is not None and pronoun[0].lower() in _PERSONAL
    entity = _antecedent(messages, personal=personal, place=bool(pronoun and pronoun["place"]))
    if noun and entity:
        return f"What is the {noun.group(1)} of {entity}?"
    if pronoun is None or not entity:
        return question
    instead = f"{entity}'s" if pronoun["owner"] else f"in {entity}" if pronoun["place"] else entity
    whole = f"{text[: pronoun.start()]}{instead}{text[pronoun.end():]}"
    return f"{whole[:1].upper()}{whole[1:]}"


def _is_only(text: str, name: str) -> bool:
    """Return True if a text is only the name, apart from an article and a question mark."""
    return _AROUND.sub("", text) == name


def _swap_name(name: str, messages: Sequence[tuple[str, str]]) -> str:
    """Return the user's last question with a name, asked about another name; "" if there is none."""
    for role, text in reversed(messages):
        places = find_names(text) if role == "user" else []
        if places:
            start, end = places[-1]
            return f"{text[:start]}{name}{text[end:]}"
    return ""


def _antecedent(messages: Sequence[tuple[str, str]], *, personal: bool = False,
                place: bool = False) -> str:
    """Return the name that a pronoun refers to.

    This is the last name in the user's last question. It is the first new name in the reply if that question asked for
    a person (he, she), or if the pronoun is 'there'.
    """
    later: list[str] = []
    for role, text in reversed(messages):
        names = names_in(text)
        if role != "user":
            later = [*names, *later]
            continue
        known = {canonical_name(name) for name in names}
        new = [name for name in later if canonical_name(name) not in known]
        expected = analyse(text).expected
        asks_for_it = (personal and expected == "person") or (place and expected == "location")
        if new and (asks_for_it or not names):
            return new[0]
        if names:
            return names[-1]
    return later[0] if later else ""


def _chinese(question: str, messages: Sequence[tuple[str, str]]) -> str:
    text = _CHINESE_OPENING.sub("", question.strip())
    pronoun = _CHINESE_PRONOUN.search(text)
    ellipsis = _CHINESE_ELLIPSIS.match(text)
    if ellipsis and not pronoun:
        return _chinese_ellipsis(ellipsis["name"], messages) or question
    if pronoun is None or names_in(text[: pronoun.start()]):
        return question
    personal = pronoun.group()[0] in "他她" or pronoun.group().endswith("人")
    entity = _antecedent(messages, personal=personal, place=pronoun.group() in {"那里", "那儿", "这里"})
    if not entity:
        return question
    whole = _CHINESE_PRONOUN.sub(lambda _: entity, text)
    asked = _CHINESE_NOUN.match(whole)
    return f"{asked['noun']}是什么？" if asked and "的" in asked["noun"] else whole


def _chinese_ellipsis(name: str, messages: Sequence[tuple[str, str]]) -> str:
    """Complete '法国呢？' as the last question about another name, and '首都呢？' as one about the same name."""
    if names_in(name):
        return _swap_name(name, messages)
    entity = _antecedent(messages)
    return f"{entity}的{name}是什么？" if entity else ""
