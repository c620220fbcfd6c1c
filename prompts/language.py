"""Choosing the language of the prompts for a text."""

import re
from typing import Literal

Language = Literal["en", "zh"]

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_LETTER = re.compile(r"[^\W\d_]")

CHINESE_SHARE = 0.3
"""The least share of Han letters among all letters of a Chinese text. One Han letter carries about as much meaning as
three Latin ones, so at 0.3 most of a text's content is Chinese."""
KANA_SHARE = 0.1
"""A text with at least this many kana for each Han letter is Japanese; the English prompts are used for it."""


def language_of(text: str) -> Language:
    """Return the language of the prompts for a text, by its script.

    Returns:
        "zh" for text mostly in Han letters with few kana, else "en".
    """
    letter_count, han_count = len(_LETTER.findall(text)), len(_HAN.findall(text))
    is_mostly_han = han_count > 0 and han_count >= CHINESE_SHARE * letter_count
    is_japanese = len(_KANA.findall(text)) >= KANA_SHARE * han_count
    return "zh" if is_mostly_han and not is_japanese else "en"


_CAPITALISED = re.compile(r"\b[A-Z][^\W\d_]*")
_CHINESE_WORDS = re.compile("[谁什么哪几多少何吗呢的是在了为与和怎]")
_ENGLISH_WORDS = re.compile(
    r"\b(?:who|whom|whose|what|which|where|when|why|how|is|are|was|were|do|does|did|the|of|in|on|and|to|has|have)\b",
    re.IGNORECASE)
_LEAST_ENGLISH = 2
"""From this many English words, a question may be English; a name may have one: "Shakespeare and Company"."""


def question_language(question: str) -> Language:
    """Return the language of the prompts for a question.

    It is decided by question words and function words, so that names in another script do not count. If these leave
    it open, the script of the question without capitalised words decides.

    Args:
        question: what a person asks, in any language.
    """
    english_count, chinese_count = len(_ENGLISH_WORDS.findall(question)), len(_CHINESE_WORDS.findall(question))
    if english_count and not chinese_count:
        return "en"
    is_japanese = len(_KANA.findall(question)) >= KANA_SHARE * len(_HAN.findall(question)) > 0
    if chinese_count and english_count < _LEAST_ENGLISH and not is_japanese:
        return "zh"
    return language_of(_CAPITALISED.sub("", question))
