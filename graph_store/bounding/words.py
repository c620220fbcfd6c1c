"""Split texts and labels into words: folded for comparison, with their places in the text, and stemmed.

A text is folded character by character (NFKD without accents, case-folded), so every word leads back to its place. It
does not matter what is between words, nor where one is cut ("hip-hop", "hip hop").
"""

import math
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
_WORD = re.compile(rf"[{CJK}]|\d+(?:[.,]\d+)+|(?:[^\W_{CJK}][{_MARKS}]*)+(?:\+\+|#)?")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_ACCENTS = range(0x300, 0x370)
PAIRS = (("(", ")"), ("（", "）"), ("[", "]"), ("“", "”"), ("«", "»"), ("《", "》"), ("「", "」"), ('"', '"'))
_LETTERS = re.compile(rf"[^\W_{CJK}]{{2}}")
_INFLECTABLE = re.compile(r"[a-z]{4,}")
_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\([^()\s]{1,1000}\)")
_MARKUP = re.compile(r"\\(?P<escaped>[^\w\s]|_)|`+|\*\*|(?<![\w/])_+|_+(?![\w/])|\](?:\([^()\s]{0,1000}\)?)"
                     r"|(?<!\w)\[(?=\w[^\[\]]*$)")
ASIDE = re.compile(r"(?:(?<!\s)\s++)?+[(（][^()（）]*+[)）]\s*+$")
ARTICLES = frozenset({"the", "a", "an"})
_BARE = ARTICLES | {"s"}
"""Words without which names and values are compared: articles, and the "s" of a possessive."""
_ASIDES = re.compile(r"\([^()\n]{1,80}\)|（[^（）\n]{1,80}）|(?<=\])\([^()\s]{1,1000}\)|:[a-z]{2,12}:(?=`)"
                     rf"|<[a-z/][^<>\n]{{0,200}}>|{NUMBER_OF}(?=[:：] )")
"""What may come between the words of a name: "Ronald ("Ron") Laird", "460 inches (1,168 cm) of rain", markup, and what
a header adds: "Pump 7" of "Pump Number: 7"."""
_AUXILIARIES = frozenset({"is", "are", "was", "were", "be", "been"})
_AGENT_ENDINGS = ("er", "or", "ee", "ion", "ment")
"""Noun endings that are not stemmed: stemming would make "employer", "employee" and "employ" one word."""
_CJK_WORD = re.compile(f"[{CJK}]+")


def words(text: str) -> list[str]:
    """Return the words of a text, folded: runs of letters and digits, and single CJK characters."""
    return _WORD.findall(text.lower() if text.isascii() else fold_text(text)[0])


def word_places(text: str) -> list[tuple[str, int, int]]:
    """Return the words that `words` returns, each with its start and end offset in the unfolded text."""
    if text.isascii():
        return [(match[0], *match.span()) for match in _WORD.finditer(text.lower())]
    folded, offsets = fold_text(text)
    return [(match[0], offsets[match.start()], _after_accents(text, offsets[match.end() - 1] + 1))
            for match in _WORD.finditer(folded)]


def fold_text(text: str) -> tuple[str, list[int]]:
    """Return the folded text and, for each of its characters, the offset in `text` that it came from."""
    folded = [_folded_character(character) for character in text]
    return "".join(folded), [offset for offset, parts in enumerate(folded) for _ in parts]


@lru_cache(maxsize=10_000)
def _folded_character(character: str) -> str:
    """Return a character's folded form; a Hangul syllable is unchanged, because it counts as one word."""
    if "가" <= character <= "힣":
        return character
    parts = unicodedata.normalize("NFKD", character).casefold()
    return "".join(part for part in parts if ord(part) not in _ACCENTS)


class JoinedWords:
    """The words of a text, with their offsets in it, joined without spaces so that it can be searched for others."""

    def __init__(self, places: Sequence[tuple[str, int, int]]) -> None:
        parts = _prepare_joining([word for word, _, _ in places])
        self.text = "".join(parts)
        ends = list(accumulate(map(len, parts)))
        begins = [end - len(part.removeprefix("|")) for end, part in zip(ends, parts, strict=True)]
        # "¼" is folded to two words that overlap in the text: no match may begin or end between them.
        previous_ends = [0, *(end for _, _, end in places)]
        next_starts = [*(start for _, start, _ in places[1:]), math.inf]
        self._starts = {begin: start for begin, (_, start, _), previous in zip(begins, places, previous_ends,
                                                                               strict=False) if start >= previous}
        """The offset in the source where a word starts, by the offset in the joined text."""
        self._ends = {joined_end: end for joined_end, (_, _, end), following in zip(ends, places, next_starts,
                                                                                    strict=False) if end <= following}
        """The offset in the source where a word ends, by the offset in the joined text."""

    def find(self, wanted: str) -> tuple[int, int] | None:
        """Return the source's offsets of the first place that has the joined words `wanted` as whole words, or None."""
        begin = self.text.find(wanted) if wanted else -1
        while begin >= 0:
            start, end = self._starts.get(begin), self._ends.get(begin + len(wanted))
            if start is not None and end is not None:
                return start, end
            begin = self.text.find(wanted, begin + 1)
        return None


def _after_accents(text: str, end: int) -> int:
    while end < len(text) and ord(text[end]) in _ACCENTS:
        end += 1
    return end


def _prepare_joining(tokens: list[str]) -> list[str]:
    """Return words prepared for joining: "|" separates two adjacent numbers, and "3,000" loses its comma."""
    parts: list[str] = []
    for word in tokens:
        part = word
        if word[0].isdigit():
            if _THOUSANDS.fullmatch(word):
                part = word.replace(",", "")
            if parts and parts[-1][-1].isdigit():
                part = f"|{part}"
        parts.append(part)
    return parts


def join_words(tokens: list[str]) -> str:
    """Return the words joined without spaces; "|" separates two adjacent numbers, which would become one otherwise."""
    joined = "".join(tokens)
    return joined if joined.isalpha() else "".join(_prepare_joining(tokens))


def singular(word: str) -> str:
    """Return a word of at least four English letters without the ending of a plural; others are unchanged."""
    if not _INFLECTABLE.fullmatch(word) or not word.endswith("s") or word.endswith("ss"):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes")) else word[:-1]


def written_words(text: str) -> list[str]:
    """Return the words of a text as they are written."""
    return _WORD.findall(text)


def is_cjk(text: str) -> bool:
    """Return True if a text begins with a Chinese, Japanese or Korean character."""
    return _CJK_WORD.match(text) is not None


def without_aside(name: str) -> str:
    """Return a name without the note in brackets that it ends with: "Ulm" of "Ulm (city)"."""
    return ASIDE.sub("", name)


def without_markup(text: str) -> str:
    """Return a stretch of text without its Markdown signs, even if it has only one sign of a pair."""
    return _MARKUP.sub(lambda sign: sign["escaped"] or "", _LINK.sub(r"\1", text)).strip()


def bare_words(tokens: Iterable[str]) -> str:
    """Return words in the singular and joined, without articles and the "s" of a possessive."""
    return join_words([singular(word) for word in tokens if word not in _BARE])


def bare_places(text: str) -> JoinedWords:
    """Return the bare words of a text, with their places in it; what is in brackets or markup is left out."""
    without_asides = _ASIDES.sub(lambda aside: " " * len(aside[0]), text)  # spaces, so that offsets stay
    return JoinedWords([(singular(word), start, end) for word, start, end in word_places(without_asides)
                        if word not in _BARE])


@lru_cache(65536)
def stems(label: str) -> tuple[str, ...]:
    """Return the stems of a label's folded words, without the auxiliary verbs it begins with ("is located in").

    Nouns such as "employer" keep their ending; words that are not English are unchanged.
    """
    words = label_key(label).split()
    while len(words) > 1 and words[0] in _AUXILIARIES:
        words = words[1:]
    return tuple(_stem(word) for word in words)


def _stem(word: str) -> str:
    if not (word.isascii() and word.isalpha()):
        return word
    singular = word[:-1] if word.endswith("s") and not word.endswith("ss") else word
    if singular.endswith(_AGENT_ENDINGS):
        return singular
    return stem_word(word)


def is_unbalanced(name: str) -> bool:
    """Return True if a bracket or quotation mark of a name has no partner."""
    return any(name.count(opening) % 2 if opening == closing else name.count(opening) != name.count(closing)
               for opening, closing in PAIRS)


def is_inside_word(text: str, position: int) -> bool:
    """Return True if the characters on both sides of a position belong to one word."""
    if not 0 < position < len(text):
        return False
    return bool(_LETTERS.match(text, position - 1)) or unicodedata.combining(text[position]) != 0
