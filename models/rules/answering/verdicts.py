"""Yes or no, and why: what a sentence says of a statement, and where its cause stands."""

import re

from ..content_words import content_words
from ..questions.answer_types import Question, figures
from .evidence import Support
from .sentences import Sentence, holds

_CAUSE = re.compile(
    r"\b(?:because|due to|owing to|thanks to|as a result of|caused by|the reason|for (?:that|this) reason|in order to|"
    r"so that|therefore|since (?!\d)|as it|so as to)\b|因为|由于|因(?!此|而)|为了|原因|以便|导致", re.IGNORECASE)
_POINTING_BACK = re.compile(r"\b(?:for (?:that|this) reason|therefore|th(?:at|is) is why)\b|因此|所以", re.IGNORECASE)
_AFTER_CAUSE = re.compile(
    r"\b(?:because(?: of)?|due to|owing to|thanks to|as a result of|caused by|in order to|so that|since (?!\d)|"
    r"the reason[^.]{0,40}? is)\s+(?P<cause>[^.;]+)|(?:因为|由于|因(?!此|而)|为了)(?P<zh>[^。；，]+)", re.IGNORECASE)
_NEGATIVE = re.compile(r"\b(?:no|not|cannot|nobody|none|never|nothing|neither|without)\b|n['’]t\b|[不没未无非]",
                       re.IGNORECASE)
_SAID = 0.65
"""The share of a statement that a sentence must speak of to confirm or deny it."""
_ENDING = 2
_JOINED = {"be": ("acomp", "attr"), "have": ("xcomp",)}
_UNIT = re.compile(r"(?<![\d.,])[.,]*+(\d[\d.,]*+)\s*+([^\W\d_]++)")


def tells_cause(sentence: Sentence) -> bool:
    """Whether a sentence itself tells a cause, or points back to one."""
    return _CAUSE.search(sentence.text) is not None


def cause_near(sentence: Sentence) -> tuple[str, str]:
    """The sentence with the cause of what a sentence says: itself, or the one after or before it.

    Returns:
        The sentence, verbatim, and the words of the cause in it; both empty where no cause is told.
    """
    own = sentence.text
    if _CAUSE.search(own) and not _POINTING_BACK.search(own):
        return own, _words_of(own)
    around: tuple[str, ...] = (sentence.previous, sentence.following) if _POINTING_BACK.search(own) else (
        sentence.following, sentence.previous)
    if _POINTING_BACK.search(own) and sentence.previous:
        return sentence.previous, ""
    if sentence.starts_line:
        around = (sentence.following,)  # what stands above is another paragraph's
    return next(((text, _words_of(text)) for text in around if _CAUSE.search(text)), ("", ""))


def _words_of(text: str) -> str:
    match = _AFTER_CAUSE.search(text)
    return " ".join((match["cause"] or match["zh"]).split()) if match else ""


def verdict_on(question: Question, support: Support) -> bool | None:
    """Whether a sentence confirms what a question says, or denies it; None where it does neither.

    Args:
        question: a question for yes or no.
        support: a sentence near it.
    """
    sentence = support.sentence
    said = support.named * _said_share(question, support)
    if said < _SAID or not all(any(_is_form(word, other) for other in sentence.words) for word in _predicate(question)):
        return None
    missing = question.figures - figures(sentence.text)
    if missing:
        return False if _other_figure(question.text, sentence.text) else None
    return bool(_NEGATIVE.search(sentence.text)) == bool(_NEGATIVE.search(question.text))


def _said_share(question: Question, support: Support) -> float:
    """How much of a question a sentence speaks of, 0 to 1; another figure denies what is said."""
    spoken = [word for word in question.words if word not in question.figures]
    if len(spoken) == len(question.words) or not spoken:
        return support.covered
    return sum(holds(support.sentence, word) or any(_is_form(word, other) for other in support.sentence.words)
               for word in spoken) / len(spoken)


def _predicate(question: Question) -> frozenset[str]:
    """The words of what a question says of its subject, and of that: its verb, or what 'is' or 'has to' joins to it."""
    if question.parse is None:
        return frozenset(question.asked[-1:])
    root = next(iter(question.parse.sents)).root
    joined = [token for token in root.children if token.dep_ in _JOINED.get(root.lemma_, ())]
    joined += [token for token in root.children if token.dep_ in {"nsubj", "nsubjpass"} and token.tag_ in {"NN", "NNS"}]
    return frozenset(word for token in (root, *joined) for word in content_words(token.text))


def _is_form(word: str, other: str) -> bool:
    """Whether two stems are of one word: 'use' and 'uses'."""
    short, long = sorted((word, other), key=len)
    return long.startswith(short) and len(long) - len(short) <= _ENDING


def _other_figure(question: str, sentence: str) -> bool:
    """Whether a sentence has another number of the same unit: '500 Wh' where '750 Wh' was asked."""
    asked, said = dict(map(reversed, _UNIT.findall(question))), dict(map(reversed, _UNIT.findall(sentence)))
    return any(unit in said and said[unit] != number for unit, number in asked.items())
