"""The words of texts and labels: folded for comparison, with where they are, and stemmed.

Comparison is word by word on a folded form (NFKD without accents, case-folded). Text is folded character by character,
and every word leads back to its place in the source. What comes between words, and where a word is cut ("hip-hop",
"hip hop"), does not matter; that the words follow each other does.
"""

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from ...schemas.naming import cached_if_short, label_key
from ...text.content_words import stem_word
from ...text.scripts import CJK

# Vowel signs and the like belong to the word they are in; accents are folded away before.
_MARKS = "".join(chr(code) for codes in (range(0x483, 0x2000), range(0xA660, 0xAC00)) for code in codes
                 if unicodedata.category(chr(code)).startswith("M"))
# Letters and digits of any script; CJK characters each count as a word of their own, because words
# there are not separated by spaces. A decimal is one word, and "C++" is not "C".
_WORD = re.compile(rf"[{CJK}]|\d+(?:[.,]\d+)+|(?:[^\W_{CJK}][{_MARKS}]*)+(?:\+\+|#)?")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_ACCENTS = range(0x300, 0x370)
_INFLECTED = re.compile(r"[a-z]{4,}")
_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\([^()\s]{1,1000}\)")
_MARKUP = re.compile(r"`+|\*\*|(?<!\w)__|__(?!\w)|\](?:\([^()\s]{0,1000}\)?)|(?<!\w)\[(?=\w[^\[\]]*$)")
ASIDE = re.compile(r"(?:(?<!\s)\s++)?+[(（][^()（）]*+[)）]\s*+$")
_AUXILIARIES = frozenset({"is", "are", "was", "were", "be", "been"})
_AGENTS = ("er", "or", "ee", "ion", "ment")
"""Noun endings that are not stemmed: stemming would make "employer", "employee" and "employ" one word."""
_CJK_WORD = re.compile(f"[{CJK}]+")


def words(text: str) -> list[str]:
    """Return the words of a text, folded: runs of letters and digits, and single CJK characters."""
    return _WORD.findall(text.lower() if text.isascii() else fold_text(text)[0])


def word_places(text: str) -> list[tuple[str, int, int]]:
    """Return the words as `words` gives them, each with where it starts and ends in the text as it is written."""
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
    if "가" <= character <= "힣":
        return character  # a Hangul syllable counts as a separate word, and its letters do not
    parts = unicodedata.normalize("NFKD", character).casefold()
    return "".join(part for part in parts if ord(part) not in _ACCENTS)


class JoinedWords:
    """The words of a text written together, with the places where words begin and end in the text."""

    def __init__(self, places: Sequence[tuple[str, int, int]]) -> None:
        parts = _glue([word for word, _, _ in places])
        ends = list(accumulate(map(len, parts)))
        begins = [end - len(part) + (part[0] == "|") for end, part in zip(ends, parts, strict=True)]
        # "¼" is folded to two words, and neither is in the text by itself.
        before = [0, *(end for _, _, end in places)]
        after = [*(start for _, start, _ in places[1:]), math.inf]
        self._starts = {begin: start for begin, (_, start, _), last in zip(begins, places, before, strict=False)
                        if start >= last}
        self._ends = {end: place for end, (_, _, place), following in zip(ends, places, after, strict=False)
                      if place <= following}
        self.text = "".join(parts)

    def find(self, wanted: str) -> tuple[int, int] | None:
        """Return the offsets of the first place where the text has these words as whole words, or None."""
        at = self.text.find(wanted) if wanted else -1
        while at >= 0:
            start, end = self._starts.get(at), self._ends.get(at + len(wanted))
            if start is not None and end is not None:
                return start, end
            at = self.text.find(wanted, at + 1)
        return None


def _after_accents(text: str, end: int) -> int:
    """Return the end of a letter with the accents written after it."""
    while end < len(text) and ord(text[end]) in _ACCENTS:
        end += 1
    return end


def _glue(tokens: list[str]) -> list[str]:
    """Words as they are written together: two numbers do not become one."""
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
    """Return words as they are written together; two numbers do not become one."""
    joined = "".join(tokens)
    return joined if joined.isalpha() else "".join(_glue(tokens))


def inflections(word: str) -> Iterator[str]:
    """Yield a word in the plural or the singular, as English forms them."""
    if _INFLECTED.fullmatch(word):
        yield from (f"{word}s", f"{word}es")
        if word.endswith("y"):
            yield f"{word[:-1]}ies"
        if word.endswith("ies"):
            yield f"{word[:-3]}y"
        if word.endswith("s") and not word.endswith("ss"):
            yield word[:-1]
        if word.endswith("es"):
            yield word[:-2]


def singular(word: str) -> str:
    """Return a word without the ending of a plural."""
    if not _INFLECTED.fullmatch(word) or not word.endswith("s") or word.endswith("ss"):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]


def written_words(text: str) -> list[str]:
    """Return the words of a text as they are written."""
    return _WORD.findall(text)


def is_cjk(text: str) -> bool:
    """Return True if a text begins with a Chinese, Japanese or Korean character."""
    return _CJK_WORD.match(text) is not None


def cjk_runs(tokens: Sequence[str]) -> list[str]:
    """Return the Chinese characters of a name that follow each other as one text each, with the words between them."""
    runs = [""]
    for token in tokens:
        if runs[-1] and (is_cjk(token) or is_cjk(runs[-1][-1])):
            runs[-1] += token
        else:
            runs.append(token)
    return runs[1:]


def without_aside(name: str) -> str:
    """Return a name without the note in brackets that it ends with: "Ulm" of "Ulm (city)"."""
    return ASIDE.sub("", name)


def without_markup(text: str) -> str:
    """Return a stretch of a text without the signs of Markdown in it, of which it may have only one of two."""
    return _MARKUP.sub("", _LINK.sub(r"\1", text)).strip()


@cached_if_short(65536)
def stems(label: str) -> tuple[str, ...]:
    """Return a label's words, folded, without number, person, tense and the auxiliary of a passive.

    Nouns for agents ("employer") keep their ending, because the employer is not the one who is employed. Words of
    other languages than English are unchanged.
    """
    words = label_key(label).split()
    while len(words) > 1 and words[0] in _AUXILIARIES:
        words = words[1:]
    return tuple(_stem(word) for word in words)


def _stem(word: str) -> str:
    if not (word.isascii() and word.isalpha()):
        return word
    singular = word[:-1] if word.endswith("s") and not word.endswith("ss") else word
    if singular.endswith(_AGENTS):
        return singular
    return stem_word(word)


def without_voice(stemmed: tuple[str, ...]) -> tuple[str, ...]:
    """Return stems without the "by" of a passive; the result no longer shows the relation's direction."""
    return stemmed[:-1] if len(stemmed) > 1 and stemmed[-1] == "by" else stemmed


def head_endings(label: str) -> list[tuple[str, ...]]:
    """Return the stems of a label's proper suffixes, longest first.

    A suffix consists of whole words, and in Chinese, Japanese and Korean of any characters:
    "historical film" ends in "film", "历史电影" in "史电影", "电影" and "影".
    """
    stemmed = stems(label)
    endings = [stemmed[at:] for at in range(1, len(stemmed))]
    last = stemmed[-1] if stemmed else ""
    if _CJK_WORD.fullmatch(last):
        endings += [(last[at:],) for at in range(1, len(last))]
    return endings
