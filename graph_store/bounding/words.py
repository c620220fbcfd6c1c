"""Split texts and labels into words: folded for comparison, with their places in the text, and stemmed.

A text is folded character by character (NFKD without accents, case-folded), so every word leads back to its place. It
does not matter what is between words, nor where one is cut ("hip-hop", "hip hop").
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate

from ...schemas.naming import label_key
from ...text.content_words import stem_word
from ...text.scripts import CJK
from ...text.table_rows import NUMBER_OF

# Vowel signs and the like belong to the word they are in; accents are folded away before.
_MARKS = "".join(chr(code) for codes in (range(0x483, 0x2000), range(0xA660, 0xAC00)) for code in codes
                 if unicodedata.category(chr(code)).startswith("M"))
# Letters and digits of any script; CJK characters each count as a word of their own, because words
# there are not separated by spaces. A decimal is one word, and "C++" is not "C".
WORD = re.compile(rf"[{CJK}]|\d+(?:[.,]\d+)+|(?:[^\W_{CJK}][{_MARKS}]*)+(?:\+\+|#)?")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_ACCENTS = re.compile(r"[\u0300-\u036f]+")
_FRACTION_SLASH = "\u2044"
PAIRS = (("(", ")"), ("（", "）"), ("[", "]"), ("“", "”"), ("«", "»"), ("《", "》"), ("「", "」"), ('"', '"'))
_WITHIN_WORD = re.compile(rf"[^\W_{CJK}]{{2}}")  # the two characters beside a place in the middle of a word
_INFLECTABLE = re.compile(r"[a-z]{4,}")  # shorter words, such as "gas" and "bus", rarely end with a plural's "s"
_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\([^()\s]{1,1000}\)")
_MARKUP = re.compile(r"\\(?P<escaped>[^\w\s]|_)|`+|\*\*|(?<![\w/])_+|_+(?![\w/])|\](?:\([^()\s]{0,1000}\)?)"
                     r"|(?<!\w)\[(?=\w[^\[\]]*$)")  # also a half of a link whose other half is outside of a quote
ASIDE = re.compile(r"(?:(?<!\s)\s++)?+[(（][^()（）]*+[)）]\s*+$")
ARTICLES = frozenset({"the", "a", "an"})
_BARE = ARTICLES | {"s"}  # words without which names and values are compared: articles, and the "s" of a possessive
_ASIDES = re.compile(r"\([^()\n]{1,80}\)|（[^（）\n]{1,80}）|(?<=\])\([^()\s]{1,1000}\)|:[a-z]{2,12}:(?=`)"
                     rf"|<[a-z/][^<>\n]{{0,200}}>|{NUMBER_OF}(?=[:：] )")
"""What may come between the words of a name: "Ronald ("Ron") Laird", "460 inches (1,168 cm) of rain", markup, and what
a header adds: "Pump 7" of "Pump Number: 7"."""
_AUXILIARIES = frozenset({"is", "are", "was", "were", "be", "been"})
_AGENT_ENDINGS = ("er", "or", "ee", "ion", "ment")
"""Noun endings that are not stemmed: stemming would make "employer", "employee" and "employ" one word."""
_CJK_CHARACTER = re.compile(f"[{CJK}]")


def words(text: str) -> list[str]:
    """Return the words of a text, folded: runs of letters and digits, and single CJK characters."""
    return WORD.findall(text.lower() if text.isascii() else fold_text(text)[0])  # for ASCII the same, and faster


def word_places(text: str) -> list[tuple[str, int, int]]:
    """Return the words that `words` returns, each with its start and end offset in the unfolded text."""
    if text.isascii():
        return [(match[0], *match.span()) for match in WORD.finditer(text.lower())]
    folded, offsets = fold_text(text)
    next_offsets = [*offsets[1:], len(text)]  # accents, which fold to nothing, belong to the letter before them
    # One character may fold to several ("ﬁ" to "fi"): a word that ends within them ends after the character.
    ends = [max(offset + 1, next_offset) for offset, next_offset in zip(offsets, next_offsets, strict=False)]
    return [(match[0], offsets[match.start()], ends[match.end() - 1]) for match in WORD.finditer(folded)]


def fold_text(text: str) -> tuple[str, list[int]]:
    """Return the folded text and, for each of its characters, the offset in `text` that it came from."""
    folded = [_folded_character(character) for character in text]
    return "".join(folded), [offset for offset, parts in enumerate(folded) for _ in parts]


@lru_cache(maxsize=10_000)
def _folded_character(character: str) -> str:
    """Return a character's folded form; Hangul syllables and fractions are one word each, and stay unchanged."""
    decomposed = unicodedata.normalize("NFKD", character)
    if "가" <= character <= "힣" or _FRACTION_SLASH in decomposed:  # "1½" would become 11 and 2
        return character
    return _ACCENTS.sub("", decomposed.casefold())


class JoinedWords:
    """The words of a text, with their offsets in it, joined without spaces so that it can be searched for others."""

    def __init__(self, places: Sequence[tuple[str, int, int]]) -> None:
        self.places = places
        parts = _prepare_joining([word for word, _, _ in places])
        self.text = "".join(parts)
        self._starts: dict[int, int] = {}  # by offset in the joined text: where a word starts in the source
        self._ends: dict[int, int] = {}  # the offset in the source where a word ends, by the offset in the joined text
        for part, joined_end, (_, start, end) in zip(parts, accumulate(map(len, parts)), places, strict=True):
            self._starts[joined_end - len(part.removeprefix("|"))] = start  # a number may have a "|" before it
            self._ends[joined_end] = end

    def find(self, wanted: str) -> tuple[int, int] | None:
        """Return the source's offsets of the first place that has the joined words `wanted` as whole words, or None."""
        begin = self.text.find(wanted) if wanted else -1
        while begin >= 0:
            start, end = self._starts.get(begin), self._ends.get(begin + len(wanted))
            if start is not None and end is not None:
                return start, end
            begin = self.text.find(wanted, begin + 1)
        return None


def _prepare_joining(tokens: Iterable[str]) -> list[str]:
    """Return words prepared for joining: "|" separates two adjacent numbers, and "3,000" becomes "3000"."""
    parts: list[str] = []
    for word in tokens:
        part = word.replace(",", "") if _THOUSANDS.fullmatch(word) else word
        is_after_number = bool(parts) and parts[-1][-1].isdigit()
        parts.append(f"|{part}" if is_after_number and part[0].isdigit() else part)
    return parts


def join_words(tokens: Iterable[str]) -> str:
    """Return the words joined without spaces; "|" separates two adjacent numbers, which would become one otherwise."""
    return "".join(_prepare_joining(tokens))


def singular(word: str) -> str:
    """Return a word of at least four English letters without the ending of a plural; others are unchanged."""
    has_plural_ending = word.endswith("s") and not word.endswith("ss")
    if not _INFLECTABLE.fullmatch(word) or not has_plural_ending:
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes")) else word[:-1]


def is_cjk(text: str) -> bool:
    """Return True if a text begins with a Chinese, Japanese or Korean character."""
    return _CJK_CHARACTER.match(text) is not None


def without_aside(name: str) -> str:
    """Return a name without the note in brackets that it ends with: "Ulm" of "Ulm (city)"."""
    return ASIDE.sub("", name)


def without_markup(text: str) -> str:
    """Return a stretch of text without its Markdown signs, even if it has only one sign of a pair."""
    return _MARKUP.sub(lambda sign: sign["escaped"] or "", _LINK.sub(r"\1", text)).strip()


def bare_words(tokens: Iterable[str]) -> str:
    """Return words in the singular and joined, without articles and the "s" of a possessive."""
    return join_words(singular(word) for word in tokens if word not in _BARE)


def bare_places(text: str) -> JoinedWords:
    """Return the bare words of a text, with their places in it; what is in brackets or markup is left out."""
    without_asides = _ASIDES.sub(lambda aside: " " * len(aside[0]), text)  # spaces, so that offsets stay
    return JoinedWords([(singular(word), start, end) for word, start, end in word_places(without_asides)
                        if word not in _BARE])


@lru_cache(65536)
def stems(label: str) -> tuple[str, ...]:
    """Return the stems of a label's folded words, without the auxiliary verbs it begins with ("is located in")."""
    tokens = label_key(label).split()
    while len(tokens) > 1 and tokens[0] in _AUXILIARIES:
        tokens = tokens[1:]
    stemmed = list[str]()
    for word in tokens:
        is_english = word.isascii() and word.isalpha()
        without_plural = word[:-1] if is_english and word.endswith("s") and not word.endswith("ss") else word
        is_stem = not is_english or without_plural.endswith(_AGENT_ENDINGS)
        stemmed.append(without_plural if is_stem else stem_word(word))
    return tuple(stemmed)


def is_inside_word(text: str, position: int) -> bool:
    """Return True if the characters on both sides of a position belong to one word; False at either end of the text."""
    if not 0 < position < len(text):
        return False
    return bool(_WITHIN_WORD.match(text, position - 1)) or unicodedata.combining(text[position]) != 0
