"""Choose the language of the prompts for a text."""

import re
from typing import Literal

Language = Literal["en", "zh"]

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_LETTER = re.compile(r"[^\W\d_]")

CHINESE_SHARE = 0.3
"""Han letters among all letters from which a text counts as Chinese: one Han letter carries about as
much meaning as three Latin ones, so at 0.3 most of a text's content is Chinese."""
KANA_SHARE = 0.1
"""Kana beside the Han letters from which a text is Japanese, for which the English prompts are used."""


def language_of(text: str) -> Language:
    """Return the language of the prompts for a text, by its script.

    Returns:
        "zh" for text mostly in Han letters with few kana, else "en".
    """
    letters = len(_LETTER.findall(text))
    han = len(_HAN.findall(text))
    chinese = han > 0 and han >= CHINESE_SHARE * letters and len(_KANA.findall(text)) < KANA_SHARE * han
    return "zh" if chinese else "en"


_CAPITALISED = re.compile(r"\b[A-Z][^\W\d_]*")
_CHINESE_WORDS = re.compile("[谁什么哪几多少何吗呢的是在了为与和怎]")
_ENGLISH_WORDS = re.compile(
    r"\b(?:who|whom|whose|what|which|where|when|why|how|is|are|was|were|do|does|did|the|of|in|on|and|to|has|have)\b",
    re.IGNORECASE)
_FEW = 2
"""English words that a name may have: "Shakespeare and Company"."""


def question_language(question: str) -> Language:
    """Return the language of the prompts for a question, by its words: names in another script do not count.

    Args:
        question: what a person asks, in any language.
    """
    english, chinese = len(_ENGLISH_WORDS.findall(question)), len(_CHINESE_WORDS.findall(question))
    if english and not chinese:
        return "en"
    is_japanese = len(_KANA.findall(question)) >= KANA_SHARE * len(_HAN.findall(question)) > 0
    if chinese and english < _FEW and not is_japanese:
        return "zh"
    return language_of(_CAPITALISED.sub("", question))
