"""Scripts and languages of texts: character classes, function words, and how many tokens of a model letters make."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import Literal

from .lexicon import read_json

CJK = ("\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3040-\u30fa\u30fc-\u318f\u31a0-\u31ff"
       "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"
       "\U00020000-\U0003ffff")
"""Han, Kana, Bopomofo and Hangul letters, for use in a regular expression's character class."""

UNSPACED = f"{CJK}\u0e00-\u0eff\u1000-\u109f\u1780-\u17d3"
"""Letters and vowel signs of scripts without spaces between words: those of `CJK`, Thai, Lao, Burmese and Khmer."""
MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0971-\u0dff\u200c\u200d"
"""Vowel signs, accents and joiners (with the letters of their blocks) that are parts of words, but not of `\\w`."""

_CJK = re.compile(f"[{CJK}]")
_HAN_DIGITS = dict(zip("〇零一二两三四五六七八九", (0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9), strict=True))
HAN_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8, "兆": 10**12}
_EARLIER_DIGIT = re.compile("[一二两三四五六七八九](?=[一二两三四五六七八九])")  # 五六十 is 50 or 60
_OTHER_DIGIT = re.compile(r"[^\D0-9]")
TOKEN = ("[A-Za-z\u00c0-\u024f]{1,6}"  # Latin: English words average 1.3 tokens, as they do here
         "|[0-9]{1,3}"
         r"|[!-/:-@\[-`{-~]{1,3}"  # runs such as `...` or `---` are mostly one token
         f"|[^\\W_{CJK}]{{1,2}}"  # other alphabets: between one and three characters a token
         r"|\S")
"""A regular expression that matches one estimated token, of any character except white space.

It imitates byte-pair vocabularies, which would have to be downloaded for each model, and overestimates, as a limit.
"""
_TOKEN = re.compile(TOKEN)
Language = Literal["en", "zh"]  # the languages of Banyan's own phrases

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split()) for language, words in read_json("function_words.json").items()}
"""The most common function words of languages, in lower case."""
_WORD = re.compile(r"[^\W\d_]+")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA, _HANGUL = re.compile("[\u3040-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f]"), re.compile("[\uac00-\ud7a3]")
_KANA_SHARE = 0.1  # the share of kana among the letters of Japanese; a Chinese text may have a Japanese name in it
_WIDTH = 3  # a letter of Chinese, Japanese or Korean says about as much as three Latin ones
_FEWEST_WORDS = 8  # words of the shortest Latin text whose language is determined: a shorter one may be a name
_FEWEST_FOREIGN = 2  # different function words of another language: one, such as "fast" or "Li", may be in English
_PROSE_SHARE = 0.12  # of the words of prose, at least this share are function words; tables and lists have fewer
_ACCENTED_SHARE = 0.2  # from this share of words with letters that English does not have, a text is not English
_FOREIGN_SHARE = 0.1  # from this share of letters in other languages, an English model would leave too much unread
_SCRIPTS = {"cyrillic": "ru", "devanagari": "hi", "bengali": "bn", "arabic": "ar", "thai": "th", "hangul": "ko"}
"""The most common language of a script that several languages use."""


def with_ascii_digits(text: str) -> str:
    """Return a text of the same length with the digits of all scripts as 0 to 9."""
    return text if text.isascii() else _OTHER_DIGIT.sub(lambda digit: str(int(digit[0])), text)


def han_value(numeral: str) -> int:
    """Return the value of a Chinese numeral: 三千二百万 is 32000000, 二〇一九 is 2019."""
    unit = max(filter(HAN_UNITS.__contains__, numeral), key=HAN_UNITS.__getitem__, default="")
    if not unit:
        return int("".join(str(_HAN_DIGITS[letter]) for letter in numeral))
    # The largest unit counts all before it: 三万亿 is 3 * 10**12.
    before, _, behind = _EARLIER_DIGIT.sub("", numeral).rpartition(unit)
    count = han_value(before) if before else 1  # 十五 is 15
    rest = han_value(behind) if behind else 0
    # A digit right behind a unit counts the next smaller unit: 两万五 is 25000, and 二十五 is 25.
    return count * HAN_UNITS[unit] + rest * (HAN_UNITS[unit] // 10 if len(behind) == 1 else 1)


def has_han(text: str) -> bool:
    """Return True for a text with a letter of a script that `CJK` lists."""
    return not text.isascii() and _CJK.search(text) is not None


@lru_cache(maxsize=8192)
def _script_of_letter(letter: str) -> str:
    """Return the script of a letter: "cjk", or the first word of its Unicode name in lower case."""
    return "cjk" if _CJK.match(letter) else unicodedata.name(letter, "unnamed").split(" ")[0].lower()


def script_of(text: str) -> str:
    """Return the script of most letters of a text: "cjk", "latin", "cyrillic", ...; "" for a text without letters."""
    if text.isascii():  # a fast path for most texts in Latin script
        return "latin" if any(map(str.isalpha, text)) else ""
    counts = Counter(map(_script_of_letter, filter(str.isalpha, text)))
    # Of scripts with equal counts, the first by name.
    return min(counts, key=lambda script: (-counts[script], script), default="")


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens of a text, which is at most the sum of the estimates of its parts."""
    return _TOKEN.subn("", text)[1]


def first_tokens(text: str, count: int) -> int:
    """Return the character offset at which the first `count` estimated tokens of a text end; 0 if it has none."""
    return max((match.end() for match in islice(_TOKEN.finditer(text), max(count, 0))), default=0)


@lru_cache(maxsize=4096)
def language_of(text: str) -> str:
    """Return the ISO 639-1 code of a text's language: that of its script, or in Latin of most function words; or ""."""
    script = script_of(text)
    if script == "cjk":
        letters = len(_CJK.findall(text))
        if len(_HANGUL.findall(text)) > letters / 2:
            return "ko"
        return "ja" if len(_KANA.findall(text)) >= _KANA_SHARE * letters else "zh"
    if script != "latin":
        return _SCRIPTS.get(script, "")
    words = _latin_words(text.lower())
    counts = {language: sum(map(listed.__contains__, words)) for language, listed in FUNCTION_WORDS.items()}
    best = max(counts, key=counts.__getitem__)  # of languages with equal counts, the first one listed
    return best if counts[best] else ""


def phrase_language(text: str) -> Language:
    """Return the language of Banyan's own phrases about a text: Chinese if it has Han letters and is not Japanese."""
    return "zh" if _HAN.search(text) and language_of(text) != "ja" else "en"


def _latin_words(text: str) -> list[str]:
    """Return the words of a text without those of addresses: "auer.com/de" has no French word."""
    return _WORD.findall(_ADDRESS.sub(" ", text))


def is_english(text: str) -> bool | None:
    """Return True for an English text, False for another language, None if it is too short, a table or a list."""
    script = script_of(text)
    if script != "latin":
        return False if script else None
    language, words = language_of(text), _latin_words(text.lower())
    listed = FUNCTION_WORDS.get(language, frozenset())
    if len(words) < _FEWEST_WORDS or sum(map(listed.__contains__, words)) < _PROSE_SHARE * len(words):
        return None
    if language == "en":
        return sum(not word.isascii() for word in words) < _ACCENTED_SHARE * len(words)
    # "Ali" and "Sig" are also names: a language shows by several of its own words, and by more of them than of English.
    own_words = listed.intersection(_latin_words(text))  # without those that a capital begins
    english_words = FUNCTION_WORDS["en"].intersection(words)
    has_own_words = len(own_words - english_words) >= _FEWEST_FOREIGN and len(own_words) > len(english_words)
    return False if has_own_words else None


def are_english(texts: Iterable[str]) -> bool:
    """Return False if more than a tenth of the letters of texts whose language is known are in others than English."""
    letter_counts = {True: 0, False: 0}  # of English texts, and of others
    for text in texts:
        english = is_english(text)
        if english is not None:
            wide_count = len(_CJK.findall(text))
            letter_counts[english] += sum(map(len, _WORD.findall(text))) + (_WIDTH - 1) * wide_count
    return letter_counts[False] <= _FOREIGN_SHARE * sum(letter_counts.values())
