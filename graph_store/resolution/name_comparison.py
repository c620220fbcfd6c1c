"""Compare two names by the rules under which one thing has several names.

Names are compared in folded forms that preserve every script. Nothing is transliterated. Only Latin and Greek
letters lose their accents, because in other scripts (Cyrillic, Devanagari, kana) marks distinguish letters.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ...schemas.naming import cached_if_short, canonical_name
from ...schemas.resolution import Rule
from ...text.dates import parse_date
from . import word_lists

_LATIN = str.maketrans({"ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th", "ð": "d", "ё": "е"})
_APOSTROPHES = re.compile(r"['’ʼ`´‘]")
_AND = re.compile(r"(?:(?<!\s)\s++)?+[&＆]\s*+")
# Marks that only separate words. Marks between digits (1.5, 3,000) and a minus sign before a figure have a meaning.
_SEPARATORS = re.compile(r"(?<!\d)[.,:]|[.,:](?!\d)|[‐‑‒–—―]|(?<=[^\s\d])-|(?<=\d)-|-(?!\d)"
                         r"|[_·・‧•/／\"“”„«»‹›()\[\]{}《》〈〉「」『』【】;!?¡¿、。，！？：；（）]")
_QUALIFIED = re.compile(r"^(?P<base>.*\S)\s*+[(（](?P<inside>[^()（）]++)[)）]$")
_ARTICLES = frozenset({"the", "a", "an"})
_LEAST_ACRONYM, _MOST_ACRONYM = 2, 8
_LONG_WORD = 6
_LEAST_LEFT = 2
_FEWEST_OF_PLURAL = 2
_OPPOSITE_WORDS = frozenset().union(*word_lists.OPPOSITES)
_OPPOSITE_SIGNS = frozenset().union(*word_lists.HAN_OPPOSITES)
_YEAR_AND_NUMBER = re.compile(r"\d{4}-\d{1,2}")


class NameMatch(NamedTuple):
    """The strongest rule that ties two names, and the prior probability that such names refer to the same thing.

    `loose`: one name is less specific than the other and may refer to several things.
    """

    rule: Rule
    prior: float
    loose: bool = False


class FoldedName(NamedTuple):
    """A name, and the forms in which it is compared."""

    name: str
    exact: str
    key: str
    article: bool
    words: tuple[str, ...]
    numbers: tuple[tuple[str, int], ...]
    date: str
    base: str
    qualifier: str
    unspaced: str
    """The key without its spaces."""
    numerals: str
    """The key's words sorted, with all numerals as figures: "2 war world" for "World War II"."""
    company: tuple[str, str]
    """The key without a company's legal form, and that form or ""."""
    titled: tuple[str, str]
    """The key without a person's leading titles, and these titles."""
    acronym: bool
    """True if it is written like an acronym: one word of two to eight capitals."""
    opposed: frozenset[str]
    signs: frozenset[str]
    """Its words and its characters that have an opposite."""


@cached_if_short(20_000)
def fold(name: str) -> FoldedName:
    """Return the forms in which a name is compared; `key` consists of the words in `words`."""
    text = canonical_name(name)
    exact = _words(text)
    words = tuple(_without_accents(word) for word in exact)
    base = qualifier = ""
    plain = unicodedata.normalize("NFKC", name).strip()
    qualified = _QUALIFIED.match(plain) if plain.endswith(")") else None
    if qualified:
        base = " ".join(_without_accents(word) for word in _words(canonical_name(qualified["base"])))
        qualifier = qualified["inside"].strip()
    article = bool(words) and text.split(" ", 1)[0] in _ARTICLES and len(text.split(" ", 1)) > 1
    key = " ".join(words)
    return FoldedName(name, " ".join(exact), key, article, words, _numbers(words, text), parse_date(name), base,
                      qualifier, key.replace(" ", ""), _spell_numerals(words), _legal_form(key, words, name),
                      _without_title(words), _is_acronym(key, words, name), _OPPOSITE_WORDS.intersection(words),
                      _OPPOSITE_SIGNS.intersection(key))


def _words(text: str) -> list[str]:
    parts = text.split()
    if not text.isascii() or not all(map(str.isalnum, parts)):
        parts = _SEPARATORS.sub(" ", _AND.sub(" and ", _APOSTROPHES.sub("", text))).split()
    if len(parts) > 1 and parts[0] in _ARTICLES:
        parts = parts[1:]
    last = len(parts) - 1
    spelled = [word_lists.LEADING_FORMS.get(part, part) if place < last else part for place, part in enumerate(parts)]
    return _join_letters([word_lists.SHORT_FORMS.get(part, part) for part in spelled])


def _join_letters(parts: list[str]) -> list[str]:
    """Join adjacent single letters into one abbreviation: "j. r. r. tolkien" becomes "jrr tolkien"."""
    joined: list[str] = []
    open_run = False
    for part in parts:
        letter = len(part) == 1 and part.isalpha() and part.isascii()
        if letter and open_run:
            joined[-1] += part
        else:
            joined.append(part)
        open_run = letter
    return joined


@cached_if_short(100_000)
def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    plain_letters = []
    for letter in word.translate(_LATIN):
        plain = unicodedata.normalize("NFD", letter)
        if len(plain) > 1 and unicodedata.name(plain[0], "").startswith(("LATIN", "GREEK")):
            plain = plain[0]
        plain_letters.append(unicodedata.normalize("NFC", plain))
    return "".join(plain_letters)


def _numbers(words: tuple[str, ...], text: str) -> tuple[tuple[str, int], ...]:
    """Count the figures, ordinals and Roman numerals in a name."""
    numbers: Counter[str] = Counter()
    for place, word in enumerate(words):
        if word in word_lists.ORDINALS and not (word in word_lists.LONE_LETTERS and place == 0):
            numbers[word_lists.ORDINALS[word]] += 1
        elif word_lists.ROMAN.fullmatch(word):
            numbers[word] += 1
        elif not word.isalpha():
            for figure in word_lists.FIGURE.findall(word):
                numbers[figure.replace(",", "")] += 1
    if not text.isascii():
        numbers.update(sign for sign in text if sign in word_lists.HAN_NUMERALS)
    return tuple(sorted(numbers.items()))


def _spell_numerals(words: Iterable[str]) -> str:
    # "one season" is not "first season", so only ordinals are replaced.
    if not word_lists.ORDINALS.keys().isdisjoint(words):
        words = (word_lists.ORDINALS.get(word, word) for word in words)
    return " ".join(sorted(words))


def _legal_form(key: str, folded: tuple[str, ...], name: str) -> tuple[str, str]:
    if key.isascii() and (not folded or folded[-1] not in word_lists.LEGAL):
        return key, ""  # true of most names: in ASCII names a legal form comes last
    words, forms = list(folded), list[str]()
    written: set[str] = set()
    if words and words[-1] in word_lists.LEGAL:
        # A legal form is capitalised: "American company" is not a company's name.
        written = {_without_accents(word) for part in name.split() if part[0].isupper()
                   for word in _words(canonical_name(part))}
    while len(words) > 1 and words[-1] in word_lists.LEGAL and words[-1] in written:
        forms.insert(0, word_lists.LEGAL[words.pop()])
    if len(words) > 1 and words[0] in word_lists.LEGAL and not words[0].isascii():
        forms.insert(0, words.pop(0))
    base = " ".join(words)
    han = word_lists.LEGAL_HAN.search(base)
    if han and han[0] != base:
        return base[:han.start()] + base[han.end():], han[0]
    return base, " ".join(forms)


def _without_title(folded: tuple[str, ...]) -> tuple[str, str]:
    words, titles = list(folded), list[str]()
    # Leave at least two words, so "King Charles" does not match every Charles.
    while len(words) > _LEAST_LEFT and words[0] in word_lists.TITLES and words[1] not in word_lists.SMALL_WORDS:
        titles.append(words.pop(0))
    return " ".join(words), " ".join(titles)


def initials_of(folded: FoldedName) -> set[str]:
    """Return the possible acronyms of a name: the initials of all its words, and of all but the small ones."""
    if len(folded.words) < _LEAST_ACRONYM:
        return set()
    return {"".join(word[0] for word in folded.words),
            "".join(word[0] for word in folded.words if word not in word_lists.SMALL_WORDS)} - {""}


def _is_acronym(key: str, words: tuple[str, ...], name: str) -> bool:
    if len(words) != 1:
        return False
    letters = [sign for sign in name if sign.isalpha()]
    return _LEAST_ACRONYM <= len(letters) <= _MOST_ACRONYM and all(map(str.isupper, letters)) and key.isalpha()


def contradict(first: FoldedName, second: FoldedName) -> bool:
    """Return True if two names cannot refer to the same thing: numbers or dates differ, or words are opposites."""
    if first.date or second.date:
        return first.date != second.date
    if first.numbers != second.numbers and not _only_qualified(first, second):
        return True
    return (_opposite(first.opposed, second.opposed, word_lists.OPPOSITES)
            or _opposite(first.signs, second.signs, word_lists.HAN_OPPOSITES))


def _opposite(first: frozenset[str], second: frozenset[str], opposites: Iterable[frozenset[str]]) -> bool:
    """Return True if each name has a word or character that the other lacks, and these are opposites."""
    if not first or not second:
        return False  # true of most names
    own, other = first - second, second - first
    return any(own & group and other & group for group in opposites)


def _only_qualified(first: FoldedName, second: FoldedName) -> bool:
    # In "Solaris (1972 film)" the year distinguishes namesakes and is not part of the name.
    return (bool(first.qualifier) != bool(second.qualifier)
            and (first.base or first.key) == (second.base or second.key))


def match_names(first: FoldedName, second: FoldedName, *, organisation: bool = False,
                person: bool = False) -> NameMatch | None:
    """Return the strongest rule that ties two names, or None if they contradict or have too little in common."""
    if not first.key or not second.key or contradict(first, second):
        return None
    if first.date:  # the second's date is the same, or they would contradict
        return None if _is_inexact_date(first) or _is_inexact_date(second) else NameMatch("date", 0.97)
    return (_match_key(first, second) or _match_plural(first, second) or _match_qualifier(first, second)
            or _match_omitted_parts(first, second, organisation=organisation) or _match_acronym(first, second)
            or _match_rearranged(first, second) or _match_persons(first, second, person=person))


def _is_inexact_date(name: FoldedName) -> bool:
    """Return True for "early 1999", and for "2001-2", which may be a month or a span of years."""
    return bool(word_lists.INEXACT.intersection(name.words) or _YEAR_AND_NUMBER.fullmatch(canonical_name(name.name)))


def _match_key(first: FoldedName, second: FoldedName) -> NameMatch | None:
    if first.key != second.key:
        return None
    single = len(first.words) == 1 and " " not in first.key and first.key.isascii()
    if first.article != second.article and (single or _is_capitalised(first) != _is_capitalised(second)):
        # "The Who" is not WHO, "the Band" is not a band, "The Charge of the Light Brigade" is a poem about the charge.
        return NameMatch("article", 0.6, loose=True)
    if single and first.acronym != second.acronym:
        return NameMatch("spelling", 0.6)
    if first.exact != second.exact:
        # The accent may change the meaning of a short word: Rosé and rose, Côté and Cote.
        return NameMatch("accents", 0.95 if len(first.words) > 1 or len(first.key) > _LONG_WORD else 0.75)
    return NameMatch("spelling", 0.97)


def _match_plural(first: FoldedName, second: FoldedName) -> NameMatch | None:
    """Match names of several words of which one is the plural of the other: "core EIP" and "Core EIPs"."""
    short, long = sorted((first, second), key=lambda name: len(name.key))
    if len(short.words) < _FEWEST_OF_PLURAL or long.key != f"{short.key}s" or long.name[-1] != "s":
        return None
    last = long.name.split()[-1]
    is_common = last.islower() or last[:-1].isupper()
    return NameMatch("plural", 0.92 if is_common else 0.6)


def _is_capitalised(folded: FoldedName) -> bool:
    """Return True if the first word of a name after its article begins with a capital."""
    return folded.name.split()[1 if folded.article else 0][0].isupper()


def _match_qualifier(first: FoldedName, second: FoldedName) -> NameMatch | None:
    """Match names of which only one has an addition in parentheses."""
    if bool(first.qualifier) == bool(second.qualifier):
        return None
    long, short = (first, second) if first.qualifier else (second, first)
    inside = fold(long.qualifier).key
    if _is_initials(inside, fold(long.base)) and short.key in {long.base, inside}:
        return NameMatch("acronym", 0.95)
    if long.base == short.key:
        # "(film)" says what it is; "(season 2)" or "(east)" names a part of it.
        return NameMatch("qualifier", 0.5 if word_lists.KINDS.search(long.qualifier) else 0.2, loose=True)
    return None


def _match_omitted_parts(first: FoldedName, second: FoldedName, *, organisation: bool) -> NameMatch | None:
    if first.qualifier or second.qualifier:
        return None
    (base, form), (other_base, other_form) = first.company, second.company
    if base == other_base and not (form and other_form and form != other_form):
        return NameMatch("legal_form", 0.93 if organisation else 0.7, loose=not organisation)
    (base, title), (other_base, other_title) = first.titled, second.titled
    if base == other_base and not (title and other_title) and first.name[0].isupper() and second.name[0].isupper():
        return NameMatch("title", 0.6, loose=True)
    return None


def stand_for(first: FoldedName, second: FoldedName) -> bool:
    """Return True if one of two names is an acronym of the other's initials."""
    return (first.acronym and _is_initials(first.key, second)) or (second.acronym and _is_initials(second.key, first))


def _match_acronym(first: FoldedName, second: FoldedName) -> NameMatch | None:
    if not stand_for(first, second):
        return None
    long = first.name if len(first.words) > 1 else second.name
    # Acronyms of two letters, or of uncapitalised words, match too many names.
    telling = (min(len(first.key), len(second.key)) > _LEAST_ACRONYM
               and all(word[0].isupper() or word in word_lists.SMALL_WORDS
                       for word in word_lists.WRITTEN.findall(long)))
    return NameMatch("acronym", 0.45 if telling else 0.2, loose=True)


def _is_initials(short: str, long: FoldedName) -> bool:
    return bool(short) and short in initials_of(long)


def _match_rearranged(first: FoldedName, second: FoldedName) -> NameMatch | None:
    if first.unspaced == second.unspaced:
        return NameMatch("spacing", 0.8)
    if first.numerals == second.numerals:
        if sorted(first.words) != sorted(second.words):
            return NameMatch("numeral", 0.85 if len(first.words) > _LEAST_LEFT else 0.6)
        inverted = first.name.count(",") + second.name.count(",") == 1
        return NameMatch("inverted", 0.92) if inverted else NameMatch("order", 0.6)
    if _adds_place(second, first.name) or _adds_place(first, second.name):
        return NameMatch("place", 0.5, loose=True)
    return None


def _adds_place(short: FoldedName, name: str) -> bool:
    """Return True if a name is the short name and, after a comma, its place, as in "Austin, Texas"."""
    base, comma, added = name.partition(",")
    if not comma:
        return False
    words = word_lists.WRITTEN.findall(added)
    # Universities and banks have a branch in each place, and a place's name does not begin with a small word.
    return (bool(words) and fold(base).key == short.key and not word_lists.BRANCHED.search(base)
            and all(word[0].isupper() or word in word_lists.SMALL_WORDS - {"and"} for word in words)
            and not words[0].islower() and not any(sign.isdigit() for sign in added))


def _match_persons(first: FoldedName, second: FoldedName, *, person: bool) -> NameMatch | None:
    """Match names of persons that differ in middle names or initials."""
    if first.words[-1:] != second.words[-1:]:
        return None
    long, short = sorted((first.words, second.words), key=lambda words: (-len(words), words))
    if len(short) < 2 or len(long[-1]) < 2 or len(long) > 5:  # noqa: PLR2004
        return None
    if not all(map(str.isalpha, (*long, *short))):
        return None
    given, less = long[:-1], short[:-1]
    if given[0] == less[0] and len(given[0]) > 1:
        left_out = len(given) - len(less)
        written_out = sum(len(word) > 1 for word in given[1:]) > sum(len(word) > 1 for word in less[1:])
        # Without a known person, the names may be those of the Royal Australian Navy and the Royal Navy.
        if not _occur_in_order(less[1:], given[1:]) or (left_out and written_out and not person):
            return None
        return NameMatch("middle_name", 0.6, loose=True)
    initials = "".join(word[0] for word in given)
    if len(less) == 1 and less[0] in {initials, initials[0]} and less[0] != given[0]:
        return NameMatch("initials", 0.45, loose=True)
    spelled, compact = "".join(word[0] for word in less), given[0]
    if len(given) == 1 and compact in {spelled, spelled[0]} and compact != less[0]:
        return NameMatch("initials", 0.45, loose=True)
    return None


def _occur_in_order(less: tuple[str, ...], more: tuple[str, ...]) -> bool:
    """Return True if the words occur in another sequence in order, in full or as initials."""
    place = 0
    for word in less:
        while place < len(more) and not (more[place] == word or (1 in {len(word), len(more[place])}
                                                                 and more[place][0] == word[0])):
            place += 1
        if place == len(more):
            return False
        place += 1
    return True
