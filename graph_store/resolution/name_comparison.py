"""Compare two names by rules for the ways in which one thing gets several names.

Folded forms preserve every script: nothing is transliterated, and only Latin and Greek letters lose their accents,
because in other scripts (Cyrillic, Devanagari, kana) marks distinguish letters.
"""

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from ...schemas.naming import canonical_name
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
_YEAR_AND_NUMBER = re.compile(r"\d{4}-\d{1,2}")


class NameMatch(NamedTuple):
    """The rule by which two names match, and the prior probability that names which match so are of one thing.

    `loose`: one name is less specific than the other and may refer to several things.
    """

    rule: Rule
    prior: float
    loose: bool = False


class FoldedName(NamedTuple):
    """A name, and the forms in which it is compared."""

    name: str
    exact: str
    """The key with its accents."""
    key: str
    """The folded words, joined by spaces."""
    article: bool
    """True if the name begins with an article."""
    words: tuple[str, ...]
    """The words without accents, article and punctuation, with some abbreviations spelled out."""
    numbers: tuple[tuple[str, int], ...]
    """Each number in the name, and how often it occurs."""
    date: str
    """The date that the name is, or ""."""
    base: str
    """The folded words before a parenthesis at the name's end; "" if it has none."""
    qualifier: str
    """What is in that parenthesis, or ""."""
    numerals: str
    """The key's words sorted, with all numerals as figures: "2 war world" for "World War II"."""
    company: tuple[str, str]
    """The key without a company's legal form, and that form or ""."""
    titled: tuple[str, str]
    """The key without a person's titles, and these titles."""
    acronym: bool
    """True if it is written like an acronym: one word of two to eight capitals."""


@lru_cache(20_000)
def fold(name: str) -> FoldedName:
    """Return a name with the forms in which it is compared."""
    text = canonical_name(name)
    exact = _name_words(text)
    words = tuple(exact if text.isascii() else map(_without_accents, exact))
    base = qualifier = ""
    plain = unicodedata.normalize("NFKC", name).strip()
    qualified = _QUALIFIED.match(plain) if plain.endswith(")") else None
    if qualified:
        base = " ".join(_without_accents(word) for word in _name_words(canonical_name(qualified["base"])))
        qualifier = qualified["inside"].strip()
    first_word, _, rest = text.partition(" ")
    article = bool(words and rest) and first_word in _ARTICLES
    key, letters = " ".join(words), [sign for sign in name if sign.isalpha()]
    is_acronym = (len(words) == 1 and _LEAST_ACRONYM <= len(letters) <= _MOST_ACRONYM
                  and all(map(str.isupper, letters)) and key.isalpha())
    return FoldedName(
        name=name, exact=" ".join(exact), key=key, article=article, words=words, numbers=_count_numbers(words, text),
        date=parse_date(name), base=base, qualifier=qualifier,
        numerals=" ".join(sorted(word_lists.ORDINALS.get(word, word) for word in words)),
        company=_legal_form(key, words, name), titled=_without_title(words), acronym=is_acronym)


def _name_words(text: str) -> list[str]:
    """Return a name's words without article and punctuation, with abbreviations such as "st" spelled out."""
    parts = text.split()
    if not text.isascii() or not all(map(str.isalnum, parts)):
        parts = _SEPARATORS.sub(" ", _AND.sub(" and ", _APOSTROPHES.sub("", text))).split()
    if len(parts) > 1 and parts[0] in _ARTICLES:
        parts = parts[1:]
    last = len(parts) - 1
    # "St" and "Ft" are "Saint" and "Fort" only if another word follows.
    spelled = [word_lists.LEADING_FORMS.get(part, part) if index < last else part for index, part in enumerate(parts)]
    return _join_letters([word_lists.SHORT_FORMS.get(part, part) for part in spelled])


def _join_letters(parts: list[str]) -> list[str]:
    """Join adjacent single letters into one abbreviation: "j. r. r. tolkien" becomes "jrr tolkien"."""
    joined: list[str] = []
    follows_letter = False
    for part in parts:
        is_letter = len(part) == 1 and part.isalpha() and part.isascii()
        if is_letter and follows_letter:
            joined[-1] += part
        else:
            joined.append(part)
        follows_letter = is_letter
    return joined


@lru_cache(100_000)
def _without_accents(word: str) -> str:
    """Return a word with its Latin and Greek letters in their plain form; marks of other scripts stay."""
    if word.isascii():
        return word
    plain_letters = []
    for letter in word.translate(_LATIN):
        plain = unicodedata.normalize("NFD", letter)
        if len(plain) > 1 and unicodedata.name(plain[0], "").startswith(("LATIN", "GREEK")):
            plain = plain[0]
        plain_letters.append(unicodedata.normalize("NFC", plain))
    return "".join(plain_letters)


def _count_numbers(words: tuple[str, ...], text: str) -> tuple[tuple[str, int], ...]:
    numbers: list[str] = []
    for index, word in enumerate(words):
        if word in word_lists.ORDINALS and not (word in word_lists.LONE_LETTERS and index == 0):
            numbers.append(word_lists.ORDINALS[word])
        elif word_lists.ROMAN.fullmatch(word):
            numbers.append(word)
        elif not word.isalpha():
            numbers.extend(figure.replace(",", "") for figure in word_lists.FIGURE.findall(word))
    if not text.isascii():
        numbers.extend(sign for sign in text if sign in word_lists.HAN_NUMERALS)
    return tuple(sorted(Counter(numbers).items())) if numbers else ()  # most names have none


def _legal_form(key: str, folded: tuple[str, ...], name: str) -> tuple[str, str]:
    """Return a name's key without its company's legal form, and this form; "" if it has none."""
    if key.isascii() and (not folded or folded[-1] not in word_lists.LEGAL):
        return key, ""  # true of most names: in ASCII names a legal form comes last
    words, forms = list(folded), list[str]()
    capitalised: set[str] = set()
    if words and words[-1] in word_lists.LEGAL:
        # A legal form is capitalised: "American company" is not a company's name.
        capitalised = {_without_accents(word) for part in name.split() if part[0].isupper()
                       for word in _name_words(canonical_name(part))}
    while len(words) > 1 and words[-1] in word_lists.LEGAL and words[-1] in capitalised:
        forms.insert(0, word_lists.LEGAL[words.pop()])
    if len(words) > 1 and words[0] in word_lists.LEGAL and not words[0].isascii():  # a Russian form comes first
        forms.insert(0, words.pop(0))
    base = " ".join(words)
    han = word_lists.LEGAL_HAN.search(base)
    if han and han[0] != base:
        return base[:han.start()] + base[han.end():], han[0]
    return base, " ".join(forms)


def _without_title(folded: tuple[str, ...]) -> tuple[str, str]:
    words, titles = list(folded), list[str]()
    while len(words) > 1 and words[0] in word_lists.TITLES and words[1] not in word_lists.SMALL_WORDS:
        titles.append(words.pop(0))
    base = " ".join(words)
    if han := word_lists.TITLES_HAN.search(base):
        return base[:han.start()], han[0]
    return base, " ".join(titles)


def initials_of(folded: FoldedName) -> set[str]:
    """Return the possible acronyms of a name: the initials of all its words, and of all but the small ones."""
    if len(folded.words) < _LEAST_ACRONYM:
        return set()
    return {"".join(word[0] for word in folded.words),
            "".join(word[0] for word in folded.words if word not in word_lists.SMALL_WORDS)} - {""}


def contradict(first: FoldedName, second: FoldedName) -> bool:
    """Return True if two names cannot refer to the same thing: dates or numbers differ, or words are opposites.

    Numbers may differ in a parenthesis that just one of the names has.
    """
    if first.date or second.date:
        return first.date != second.date
    only_qualified = bool(first.qualifier) != bool(second.qualifier) and (
        (first.base or first.key) == (second.base or second.key))
    if first.numbers != second.numbers and not only_qualified:
        return True
    # Words, or in Chinese characters, that just one of the names has are opposites.
    for parts, other_parts, opposites in ((set(first.words), set(second.words), word_lists.OPPOSITES),
                                          (set(first.key), set(second.key), word_lists.HAN_OPPOSITES)):
        only_first, only_second = parts - other_parts, other_parts - parts
        if any(only_first & group and only_second & group for group in opposites):
            return True
    return False


def match_names(first: FoldedName, second: FoldedName, *, organisation: bool = False,
                person: bool = False) -> NameMatch | None:
    """Return the strongest rule that ties two names, or None if they contradict or have too little in common.

    `organisation` and `person` say that both names are known to be an organisation's or a person's.
    """
    if not first.key or not second.key or contradict(first, second):
        return None
    if first.date:  # the second's date is the same, or they would contradict
        # "early 1999" is less than a date, and "2001-2" may be a month or a span of years.
        is_inexact = any(word_lists.INEXACT.intersection(name.words)
                         or _YEAR_AND_NUMBER.fullmatch(canonical_name(name.name)) for name in (first, second))
        return None if is_inexact else NameMatch("date", prior=0.97)
    match = (_match_spelling(first, second) or _match_qualifier(first, second)
             or _match_omitted_parts(first, second, organisation=organisation, person=person))
    if match:
        return match
    if stand_for(first, second):
        written = word_lists.WRITTEN.findall(first.name if len(first.words) > 1 else second.name)
        is_capitalised = all(word[0].isupper() or word in word_lists.SMALL_WORDS for word in written)
        is_distinctive = is_capitalised and min(len(first.key), len(second.key)) > _LEAST_ACRONYM
        return NameMatch("acronym", prior=0.45 if is_distinctive else 0.2, loose=True)
    if _adds_place(second, first.name) or _adds_place(first, second.name):
        return NameMatch("place", prior=0.5, loose=True)
    return _match_persons(first, second, person=person)


def _match_spelling(first: FoldedName, second: FoldedName) -> NameMatch | None:
    """Match two names with the same words, or with the same letters or words in another order."""
    if first.key != second.key:
        if first.key.replace(" ", "") == second.key.replace(" ", ""):
            return NameMatch("spelling", prior=0.8)
        if first.numerals != second.numerals:
            return None
        if sorted(first.words) != sorted(second.words):
            is_long = len(first.words) > 2  # noqa: PLR2004  (more than the number and one other word)
            return NameMatch("spelling", prior=0.85 if is_long else 0.6)
        is_inverted = first.name.count(",") + second.name.count(",") == 1  # "Lee, Ann" and "Ann Lee"
        return NameMatch("person", prior=0.92) if is_inverted else NameMatch("spelling", prior=0.6)
    is_one_word = len(first.words) == 1 and first.key.isascii()  # a Chinese name of several words has no spaces
    if first.article != second.article and (is_one_word or _is_capitalised(first) != _is_capitalised(second)):
        # "The Who" is not WHO, "the Band" is not a band, "The Charge of the Light Brigade" is a poem about the charge.
        return NameMatch("spelling", prior=0.6, loose=True)
    if is_one_word and first.acronym != second.acronym:
        return NameMatch("spelling", prior=0.6)
    if first.exact != second.exact:
        # The accent may change the meaning of a short word: Rosé and rose, Côté and Cote.
        return NameMatch("spelling", prior=0.95 if len(first.words) > 1 or len(first.key) > _LONG_WORD else 0.75)
    return NameMatch("spelling", prior=0.97)


def _is_capitalised(folded: FoldedName) -> bool:
    return folded.name.split()[1 if folded.article else 0][0].isupper()


def _match_qualifier(first: FoldedName, second: FoldedName) -> NameMatch | None:
    """Match two names if just one has an addition in parentheses: "WHO (World Health Organization)" and "WHO"."""
    if bool(first.qualifier) == bool(second.qualifier):
        return None
    long, short = (first, second) if first.qualifier else (second, first)
    inside = fold(long.qualifier).key
    if _is_initials(inside, fold(long.base)) and short.key in {long.base, inside}:
        return NameMatch("acronym", prior=0.95)
    # "Solaris (film)" may be another thing than "Solaris".
    return NameMatch("qualifier", prior=0.2, loose=True) if long.base == short.key else None


def _match_omitted_parts(first: FoldedName, second: FoldedName, *, organisation: bool, person: bool,
                         ) -> NameMatch | None:
    """Match two names if one omits a company's legal form ("Inc") or a person's title ("Dr")."""
    if first.qualifier or second.qualifier:
        return None  # a parenthesis is left to `_match_qualifier`
    (base, form), (other_base, other_form) = first.company, second.company
    if base == other_base and not (form and other_form and form != other_form):
        # Unless both are known to be organisations, "Apple" may be something else than "Apple Inc".
        return NameMatch("legal_form", prior=0.93 if organisation else 0.7, loose=not organisation)
    (base, title), (other_base, other_title) = first.titled, second.titled
    is_name = not first.name[0].islower() and not second.name[0].islower() and (person or " " in base)
    if base == other_base and not (title and other_title) and is_name:
        return NameMatch("title", prior=0.6, loose=True)
    return None


def stand_for(first: FoldedName, second: FoldedName) -> bool:
    """Return True if one of two names is an acronym that consists of the other's initials."""
    return (first.acronym and _is_initials(first.key, second)) or (second.acronym and _is_initials(second.key, first))


def _is_initials(short: str, long: FoldedName) -> bool:
    return bool(short) and short in initials_of(long)


def _adds_place(short: FoldedName, name: str) -> bool:
    """Return True if a name is the short name and, after a comma, its place, as in "Austin, Texas"."""
    base, comma, added = name.partition(",")
    if not comma:
        return False
    place_words = word_lists.WRITTEN.findall(added)
    # A university or bank has branches in several places, so its name with a place is another thing's.
    if not place_words or fold(base).key != short.key or word_lists.BRANCHED.search(base):
        return False
    # A place's name is capitalised, does not begin with a small word, and has neither "and" nor digits.
    is_capitalised = all(word[0].isupper() or word in word_lists.SMALL_WORDS - {"and"} for word in place_words)
    return is_capitalised and not place_words[0].islower() and not any(sign.isdigit() for sign in added)


def _match_persons(first: FoldedName, second: FoldedName, *, person: bool) -> NameMatch | None:
    """Match two names of persons with the same last word that differ in middle names or initials."""
    if first.words[-1:] != second.words[-1:]:
        return None
    long, short = sorted((first.words, second.words), key=lambda words: (-len(words), words))
    # A person's name has two to five words, all of letters alone, and its last one is no initial.
    if len(short) < 2 or len(long[-1]) < 2 or len(long) > 5:  # noqa: PLR2004
        return None
    if not all(map(str.isalpha, (*long, *short))):
        return None
    long_given, short_given = long[:-1], short[:-1]  # the words before the family name
    if long_given[0] == short_given[0] and len(long_given[0]) > 1:
        omits_words = len(long_given) > len(short_given)
        spells_more = sum(len(word) > 1 for word in long_given[1:]) > sum(len(word) > 1 for word in short_given[1:])
        # If these may not be persons, a full word tells them apart: the Royal Australian Navy is not the Royal Navy.
        remaining = iter(long_given[1:])  # "any" moves the iterator on: order counts
        is_in_order = all(any(word == other or (1 in {len(word), len(other)} and word[0] == other[0])
                              for other in remaining) for word in short_given[1:])
        if not is_in_order or (omits_words and spells_more and not person):
            return None
        return NameMatch("person", prior=0.6, loose=True)
    # "J Smith" or "JR Smith" for "John Ronald Smith". If both have one given name, either may be the initial.
    for given, other_given in ((long_given, short_given), (short_given, long_given)):
        initials = "".join(word[0] for word in given)
        if len(other_given) == 1 and other_given[0] in {initials, initials[0]} and other_given[0] != given[0]:
            return NameMatch("person", prior=0.45, loose=True)
    return None
