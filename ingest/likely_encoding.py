"""Guess the encoding of a text that is neither Unicode nor declared: the one in which it is most like a language.

Each encoding is judged by the languages that use it: by how usual their letters are, by signs and capitals where words
have none, and by function words. A guess that another encoding nearly equals, with another text, is doubtful.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from charset_normalizer.constant import FREQUENCIES

from ..text.languages import function_words

_LETTERS = {
    "en": "áàâäãåæçéèêëíìîïñóòôöøúùûü", "es": "áéíóúñü¿¡ºª", "fr": "éèàâêîôûçùëïüœæ", "pt": "ãçáéíóõêâôúàü",
    "de": "äöüß", "it": "àèéìòù", "nl": "ëïéèöü", "sv": "åäöé", "da": "æøåé", "is": "áðéíóúýþæö", "pl": "ąćęłńóśźż",
    "cs": "áčďéěíňóřšťúůýž", "sk": "áäčďéíĺľňóôŕšťúýž", "hu": "áéíóöőúüű", "ro": "ăâîşţ", "hr": "čćđšž",
    "tr": "çğıöşüâîİ", "lt": "ąčęėįšųūž", "lv": "āčēģīķļņšūž", "et": "äõöüšž"}
"""The letters of languages in Latin script beyond a to z. English has those of names and loans, which are rare."""
_SCRIPTS = {"ru": "Russian", "uk": "Ukrainian", "bg": "Bulgarian", "sr": "Serbian", "el": "Greek", "he": "Hebrew",
            "ar": "Arabic", "fa": "Farsi", "ko": "Korean", "zh": "Chinese", "ja": "Japanese"}
"""Languages in other scripts, by the name that `charset_normalizer` has for their most frequent letters."""
_ENCODINGS = {
    "cp1252": "es fr pt de it nl sv da is en", "cp1250": "pl cs sk hu ro hr", "iso8859_2": "pl cs sk hu ro hr",
    "cp1251": "ru uk bg sr", "koi8_r": "ru", "koi8_u": "uk", "gb18030": "zh", "big5hkscs": "zh", "cp932": "ja",
    "euc_jp": "ja", "cp949": "ko", "cp1254": "tr", "cp1253": "el", "cp1256": "ar fa", "cp1255": "he",
    "cp1257": "lt lv et", "cp866": "ru"}
"""The languages that use each encoding. Of encodings that fit equally well, the first is the one in wider use."""
_NAMES = {"cp1252": "Windows-1252", "cp1250": "Windows-1250", "iso8859_2": "ISO 8859-2", "cp1251": "Windows-1251",
          "koi8_r": "KOI8-R", "koi8_u": "KOI8-U", "gb18030": "GB 18030", "big5hkscs": "Big5", "cp932": "Shift JIS",
          "euc_jp": "EUC-JP", "cp949": "EUC-KR", "cp1254": "Windows-1254", "cp1253": "Windows-1253",
          "cp1256": "Windows-1256", "cp1255": "Windows-1255", "cp1257": "Windows-1257", "cp866": "code page 866"}
_FIRST_LEVEL = {"gb18030": ("gb2312", 0xB0, 0xD7), "big5hkscs": ("big5", 0xA4, 0xC6), "cp932": ("euc_jp", 0xB0, 0xCF),
                "euc_jp": ("euc_jp", 0xB0, 0xCF), "cp949": ("euc_kr", 0xB0, 0xC8)}
"""The first bytes of the characters in common use, which standards of wide characters list before all others."""
_FREQUENT = 12  # the letters of an alphabet that make up most of a text
_SIGNS = frozenset("–—‘’‚“”„†•…‰‹›€™«»°·§©®±µ¼½¾×÷£¥¢\xa0№，。、：；！？（）《》「」『』【】〈〉・ー～％　")
_MARKS_IN_WORDS = "'’‘·./–—-"
_SIGN_IN_WORD = re.compile(rf"(?<=[^\W\d_])[^\w\s\x00-\x7f{re.escape(_MARKS_IN_WORDS)}](?=[^\W\d_])")
_CAPITAL, _MIXED, _INSIDE = 3.0, 3.0, 3.0
"""What is added for a capital behind a small letter, for two scripts in a word, and for a sign in a word."""
_OTHER_WORDS = 2.0  # what is added to a letter's cost in a language without any of the function words found
_CLOSE = 2.0  # the difference in the cost of all different letters below which another encoding is as likely
_UNLIKELY, _NO_TEXT = 2.5, 4.5
"""The cost of a letter from which the best guess is doubtful, and from which the bytes are no text."""
_FEWEST_WORDS = 2  # a single one may also be a word of another language
_WORD = re.compile(r"[^\W\d_]+")


class Guess(NamedTuple):
    """The likeliest encoding, and whether another one is nearly as likely."""

    encoding: str
    is_doubtful: bool = False

    @property
    def note(self) -> str:
        """What to say of a doubtful guess; "" for any other."""
        if not self.is_doubtful:
            return ""
        return f"read as {_NAMES[self.encoding]}, which is not certain: save it as UTF-8 if letters are wrong"


def guess_encoding(sample: bytes, excluded: Container[str] = ()) -> Guess | None:
    """Return the likeliest encoding of a text with bytes beyond ASCII; None if it is no text in any.

    Args:
        sample: the text or a part of it.
        excluded: encodings in which the whole text is not valid.
    """
    texts = dict(_possible_decodings(sample, excluded))
    words = {encoding: set(_WORD.findall(text.lower())) for encoding, text in texts.items()}
    hits = {(encoding, language): len(function_words(language) & words[encoding])
            for encoding in texts for language in _ENCODINGS[encoding].split() if language in _LETTERS}
    most = max(hits.values(), default=0)
    costs = dict.fromkeys(texts, float("inf"))
    for encoding, text in texts.items():
        counts = _Counts.of(text)
        for language in _ENCODINGS[encoding].split():
            # A language written in letters has function words: it costs more the fewer of them it explains.
            has_words = most and language in _LETTERS
            missing = most - hits[encoding, language] if has_words else 0
            word_cost = _OTHER_WORDS * missing / max(most, _FEWEST_WORDS)
            costs[encoding] = min(costs[encoding], word_cost + counts.cost(encoding, language))
    best = min(costs, key=costs.__getitem__, default="")  # of equal ones the first
    if not best or costs[best] > _NO_TEXT:
        return None
    close = costs[best] + _CLOSE / len({character for character in texts[best] if character > "\x7f"})
    has_rival = any(costs[other] < close for other in texts if texts[other] != texts[best])
    return Guess(best, is_doubtful=has_rival or costs[best] > _UNLIKELY)


def _possible_decodings(sample: bytes, excluded: Container[str]) -> Iterator[tuple[str, str]]:
    for encoding in _ENCODINGS:
        try:
            text = sample.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding not in excluded:
            yield encoding, text


class _Counts(NamedTuple):
    """What is counted in a text: characters beyond ASCII, pairs of letters with one of them, and signs in words."""

    letters: Counter[str]
    pairs: Counter[tuple[str, str]]
    signs: int

    @classmethod
    def of(cls, text: str) -> "_Counts":
        pairs = Counter(pair for pair in pairwise(text) if not "".join(pair).isascii() and "".join(pair).isalpha())
        return cls(Counter(character for character in text if character > "\x7f"), pairs,
                   len(_SIGN_IN_WORD.findall(text)))

    def cost(self, encoding: str, language: str) -> float:
        """Return how unusual the text is for a language, on average of its characters beyond ASCII."""
        cost = sum(number * _character_cost(character, encoding, language)
                   for character, number in self.letters.items())
        for (left, right), number in self.pairs.items():
            is_mixed = language in _SCRIPTS and (left.isascii() or right.isascii())
            cost += number * (_CAPITAL * (left.islower() and right.isupper()) + _MIXED * is_mixed)
        return (cost + _INSIDE * self.signs) / max(1, self.letters.total())


@cache
def _character_cost(character: str, encoding: str, language: str) -> float:
    """Return 0 for a frequent character of a language, 1 for any other of its own, and more for one that it lacks."""
    small = character.lower()
    if language in _SCRIPTS:
        frequent, script = _letters_of(language)
        if small in frequent:
            return 0.0
        if character in _SIGNS or _is_common(character, encoding) or unicodedata.name(character, "").startswith(script):
            return 1.0
    elif small in _LETTERS[language]:
        return 2.0 if language == "en" else 1.0
    elif character in _SIGNS:
        return 1.0
    category = unicodedata.category(character)
    return 10.0 if category in {"Cc", "Co", "Cn"} else 4.0 if category.startswith("L") else 5.0


@cache
def _letters_of(language: str) -> tuple[frozenset[str], str]:
    """Return the frequent letters of a language in another script, and the script's name if it is an alphabet."""
    lists = [letters for name, letters in FREQUENCIES.items() if name.startswith(_SCRIPTS[language])]
    if language in {"ko", "zh", "ja"}:
        return frozenset(letter for letters in lists for letter in letters), "no alphabet"
    return frozenset(lists[0][:_FREQUENT]), unicodedata.name(lists[0][0]).partition(" ")[0]


def _is_common(character: str, encoding: str) -> bool:
    """Return True for a wide character in common use."""
    codec, first, last = _FIRST_LEVEL.get(encoding, ("ascii", 1, 0))
    try:
        return first <= character.encode(codec)[0] <= last
    except UnicodeEncodeError:
        return False
