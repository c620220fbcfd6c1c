"""Which language's prompts suit a text."""

import re
from typing import Literal

Language = Literal["en", "zh"]

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_LETTER = re.compile(r"[^\W\d_]")

CHINESE_SHARE = 0.3
"""Han letters among all letters from which a text counts as Chinese: one Han letter says about as
much as three Latin ones, so that at 0.3 a text says more in Chinese than in Latin script."""
KANA_SHARE = 0.1
"""Kana beside the Han letters from which a text is Japanese, for which the English prompts are used."""


def language_of(text: str) -> Language:
    """The language of the prompts for a text, by its script.

    Returns:
        "zh" where Han letters without kana carry the text, else "en".
    """
    letters = len(_LETTER.findall(text))
    han = len(_HAN.findall(text))
    chinese = han > 0 and han >= CHINESE_SHARE * letters and len(_KANA.findall(text)) < KANA_SHARE * han
    return "zh" if chinese else "en"
