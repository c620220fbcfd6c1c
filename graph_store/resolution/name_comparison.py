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
from .initials import is_inverted, join_letters, words_of_person

# Words that show that two names are of one thing, or of two things; Latin words are folded, without accents.
# ruff: noqa: SIM905  (lists of words read better as text)
_SHORT_FORMS = {"mt": "mount", "jr": "junior", "sr": "senior", "vs": "versus", "bros": "brothers"}
_LEADING_FORMS = {"st": "saint", "ft": "fort"}
_LEGAL = {word: words.split(" ", 1)[0] for words in (
    "inc incorporated", "ltd limited", "corp corporation", "co company", "llc", "llp", "plc", "gmbh", "ag", "sa", "sas",
    "srl", "spa", "bv", "nv", "ab", "oy", "aps", "kg", "kk", "pty", "pte", "ооо", "оао", "зао", "пао")
    for word in words.split()}
_LEGAL_HAN = re.compile(r"^株式会社|(?:(?:股份|集团|控股){0,4}(?:有限责任公司|有限公司|公司|集团)|株式会社)$")
_WRITTEN = re.compile(r"[^\W\d_]+")
_TITLES = frozenset("""mr mrs ms miss dr doctor prof professor sir dame lord lady president king queen prince princess
    emperor empress pope cardinal bishop archbishop saint general colonel captain major admiral senator governor
    chancellor minister judge justice rev reverend maestro г-н lieutenant sergeant corporal commander marshal inspector
    detective constable sheriff baron baroness count countess duke duchess earl ambassador representative mayor hon
    honourable madam madame monsieur mme herr frau señor señora signor signora don doña fr lt sgt capt col gen gov sen
    rep""".split())
_TITLES_HAN = re.compile(r"(?<=..)(?:先生|女士|小姐|夫人|教授|博士|院士|医生|老师|同志|将军|主席|总统|总理)$")
_ORDINALS = {word: str(number) for number, words in enumerate((
    "first i 1st", "second ii 2nd", "third iii 3rd", "fourth iv 4th", "fifth v 5th", "sixth vi 6th",
    "seventh vii 7th", "eighth viii 8th", "ninth ix 9th", "tenth x 10th", "eleventh xi 11th", "twelfth xii 12th",
    "xiii", "xiv", "xv", "xvi", "xvii", "xviii", "xix", "xx", "xxi", "xxii", "xxiii", "xxiv"), 1)
    for word in words.split()}
_ROMAN = re.compile(r"(?=[ivxlc]{3})c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_LONE_LETTERS = frozenset("ivx")
_FIGURE = re.compile(r"-?\d+(?:[.,:]\d+)*")
_HAN_NUMERALS = frozenset("〇零一二三四五六七八九十百千万亿两甲乙丙丁")
_OPPOSITES = [frozenset(words.split()) for words in (
    "north south east west northern southern eastern western northeast northwest southeast southwest central",
    "upper lower middle", "men women mens womens male female boys girls", "old new", "major minor", "senior junior",
    "he she", "mr mrs miss", "brother sister", "king queen", "prince princess", "emperor empress", "duke duchess",
    "father mother", "son daughter", "summer winter", "spring autumn", "pre post", "pro anti", "micro macro",
    "import export", "imports exports", "left right", "before after", "above below", "inner outer", "black white",
    "red blue green yellow", "monday tuesday wednesday thursday friday saturday sunday",
    "january february march april may june july august september october november december",
    "северный южный восточный западный северная южная восточная западная", "sub super", "under over")]
_HAN_OPPOSITES = [frozenset(group) for group in (
    "东西南北中", "上下", "左右", "大小", "新旧老", "男女", "前后", "内外", "正副", "春夏秋冬", "父母子女兄弟姐妹")]
_SMALL_WORDS = frozenset("of the and for in on de la le du des et und der die das von y e del to a an".split())
_INEXACT = frozenset("late early mid before after until till since by from about around circa c ca".split())
_BRANCHED = re.compile(r"\b(?:universit|institut|college|school|academ|hospital|clinic|compan|bank|church|cathedral"
                      r"|department|ministr|museum|librar|court|office|center|centre|council|society|association"
                      r"|group|corporation|hotel|theat|station|airport|embassy)", re.IGNORECASE)
_LATIN = str.maketrans({"ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th", "ð": "d", "ё": "е"})
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
_PLURAL = re.compile(r"(?<=[^\W\d_]{2}[^\Wsui_])s\Z")
_APOSTROPHES = re.compile(r"['’ʼ`´‘]")
_AND = re.compile(r"(?:(?<!\s)\s++)?+[&＆]\s*+")
# Marks that only separate words. Marks between digits (1.5, 3,000) and a minus sign before a figure have a meaning.
_SEPARATORS = re.compile(r"(?<!\d)[.,:]|[.,:](?!\d)|[‐‑‒–—―]|(?<=[^\s\d])-|(?<=\d)-|-(?!\d)"
                         r"|[_·・‧•/／\"“”„«»‹›()\[\]{}《》〈〉「」『』【】;!?¡¿、。，！？：；（）]")
_QUALIFIED = re.compile(r"^(?P<base>.*\S)\s*+[(（](?P<inside>[^()（）]++)[)）]$")
_ARTICLES = frozenset({"the", "a", "an"})
_LEAST_ACRONYM, _MOST_ACRONYM = 2, 8
_LONG_WORD = 6
_LEAST_LETTERS = 5  # of two names that differ in blanks and marks alone, to be one without asking
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
        numerals=" ".join(sorted(_ORDINALS.get(word, word) for word in words)),
        company=_legal_form(key, words, name), titled=_without_title(words), acronym=is_acronym)


def _name_words(text: str) -> list[str]:
    """Return a name's words without article and punctuation, with abbreviations such as "st" spelled out."""
    parts = text.split()
    if not text.isascii() or not all(map(str.isalnum, parts)):
        parts = _SEPARATORS.sub(" ", _AND.sub(" and ", _APOSTROPHES.sub("", text))).split()
    if len(parts) > 1 and parts[0] in _ARTICLES and not text.startswith("a."):  # "A. Lee" begins with an initial
        parts = parts[1:]
    # "St" and "Ft" are "Saint" and "Fort" only if another word follows.
    spelled = [*(_LEADING_FORMS.get(part, part) for part in parts[:-1]), *parts[-1:]]
    return join_letters([_SHORT_FORMS.get(part, part) for part in spelled])


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
        if word in _ORDINALS and not (word in _LONE_LETTERS and index == 0):
            numbers.append(_ORDINALS[word])
        elif _ROMAN.fullmatch(word):
            numbers.append(word)
        elif not word.isalpha():
            numbers.extend(figure.replace(",", "") for figure in _FIGURE.findall(word))
    if not text.isascii():
        numbers.extend(sign for sign in text if sign in _HAN_NUMERALS)
    return tuple(sorted(Counter(numbers).items())) if numbers else ()  # most names have none


def _legal_form(key: str, folded: tuple[str, ...], name: str) -> tuple[str, str]:
    """Return a name's key without its company's legal form, and this form; "" if it has none."""
    if key.isascii() and (not folded or folded[-1] not in _LEGAL):
        return key, ""  # true of most names: in ASCII names a legal form comes last
    words, forms = list(folded), list[str]()
    capitalised: set[str] = set()
    if words and words[-1] in _LEGAL:
        # A legal form is capitalised: "American company" is not a company's name.
        capitalised = {_without_accents(word) for part in name.split() if part[0].isupper()
                       for word in _name_words(canonical_name(part))}
    while len(words) > 1 and words[-1] in _LEGAL and words[-1] in capitalised:
        forms.insert(0, _LEGAL[words.pop()])
    if len(words) > 1 and words[0] in _LEGAL and not words[0].isascii():  # a Russian form comes first
        forms.insert(0, words.pop(0))
    base = " ".join(words)
    han = _LEGAL_HAN.search(base)
    if han and han[0] != base:
        return base[:han.start()] + base[han.end():], han[0]
    return base, " ".join(forms)


def _without_title(folded: tuple[str, ...]) -> tuple[str, str]:
    words, titles = list(folded), list[str]()
    while len(words) > 1 and words[0] in _TITLES and words[1] not in _SMALL_WORDS:
        titles.append(words.pop(0))
    base = " ".join(words)
    if han := _TITLES_HAN.search(base):
        return base[:han.start()], han[0]
    return base, " ".join(titles)


def with_spelled_umlauts(folded: FoldedName) -> str:
    """Return a name's key with two letters for each umlaut ("goerli" for "Görli"), as keyboards without them write."""
    return " ".join(map(_without_accents, folded.exact.translate(_UMLAUTS).split()))


def in_singular(folded: FoldedName) -> str:
    """Return a name's key with its last word in the singular; "glass", "status" and "analysis" keep their s."""
    return _PLURAL.sub("", folded.key)


def initials_of(folded: FoldedName) -> set[str]:
    """Return the possible acronyms of a name: the initials of all its words, and of all but the small ones."""
    if len(folded.words) < _LEAST_ACRONYM:
        return set()
    return {"".join(word[0] for word in folded.words),
            "".join(word[0] for word in folded.words if word not in _SMALL_WORDS)} - {""}


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
    for parts, other_parts, opposites in ((set(first.words), set(second.words), _OPPOSITES),
                                          (set(first.key), set(second.key), _HAN_OPPOSITES)):
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
        is_inexact = any(_INEXACT.intersection(name.words)
                         or _YEAR_AND_NUMBER.fullmatch(canonical_name(name.name)) for name in (first, second))
        return None if is_inexact else NameMatch("date", prior=0.97)
    if match := (_match_spelling(first, second, person=person) or _match_own_acronym(first, second)
                 or _match_omitted_parts(first, second, organisation=organisation, person=person)):
        return match
    if stand_for(first, second):
        written = _WRITTEN.findall(first.name if len(first.words) > 1 else second.name)
        is_capitalised = all(word[0].isupper() or word in _SMALL_WORDS for word in written)
        is_distinctive = is_capitalised and min(len(first.key), len(second.key)) > _LEAST_ACRONYM
        return NameMatch("acronym", prior=0.45 if is_distinctive else 0.2, loose=True)
    if _adds_place(second, first.name) or _adds_place(first, second.name):
        return NameMatch("place", prior=0.5, loose=True)
    return _match_persons(first, second, person=person)


def _match_other_spelling(first: FoldedName, second: FoldedName, *, person: bool) -> NameMatch | None:
    """Match two names that differ in umlauts, number, spaces, numerals, or the order of their words."""
    if with_spelled_umlauts(first) == with_spelled_umlauts(second):
        return NameMatch("spelling", prior=0.9)
    if in_singular(first) == in_singular(second) and not person:
        # A single word with a capital may be another thing in the plural: Windows is no window.
        is_common = first.name.islower() and second.name.islower()
        return NameMatch("spelling", prior=0.85 if is_common or len(first.words) > 1 else 0.6)
    if (letters := first.key.replace(" ", "")) == second.key.replace(" ", ""):
        # "tool room" and "toolroom", but red wood may be no Redwood.
        is_alike = first.name[0].isupper() == second.name[0].isupper() and len(letters) >= _LEAST_LETTERS
        return NameMatch("spelling", prior=0.95 if is_alike else 0.8)
    if first.numerals != second.numerals:
        return None
    if sorted(first.words) != sorted(second.words):
        return NameMatch("spelling", prior=0.85 if len(first.words) > 2 else 0.6)  # noqa: PLR2004  (number, other word)
    inverted = [name for name in (first.name, second.name) if name.count(",") == 1 or is_inverted(name)]
    # "Lee, Ann" and "Ann Lee"
    return NameMatch("person", prior=0.92) if len(inverted) == 1 else NameMatch("spelling", prior=0.6)


def _match_spelling(first: FoldedName, second: FoldedName, *, person: bool) -> NameMatch | None:
    """Match two names with the same words, or with nearly the same letters."""
    if first.key != second.key:
        return _match_other_spelling(first, second, person=person)
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


def _match_own_acronym(first: FoldedName, second: FoldedName) -> NameMatch | None:
    """Match two names if just one has its acronym in parentheses: "WHO (World Health Organization)" and "WHO"."""
    if bool(first.qualifier) == bool(second.qualifier):
        return None
    long, short = (first, second) if first.qualifier else (second, first)
    inside = fold(long.qualifier).key
    is_own = _is_initials(inside, fold(long.base)) and short.key in {long.base, inside}
    return NameMatch("acronym", prior=0.95) if is_own else None


def _match_omitted_parts(first: FoldedName, second: FoldedName, *, organisation: bool, person: bool,
                         ) -> NameMatch | None:
    """Match two names if one omits a company's legal form ("Inc") or a person's title ("Dr")."""
    if first.qualifier or second.qualifier:
        return None  # a parenthesis is left to `_match_own_acronym`
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
    place_words = _WRITTEN.findall(added)
    # A university or bank has branches in several places, so its name with a place is another thing's.
    if not place_words or fold(base).key != short.key or _BRANCHED.search(base):
        return False
    # A place's name is capitalised, does not begin with a small word, and has neither "and" nor digits.
    is_capitalised = all(word[0].isupper() or word in _SMALL_WORDS - {"and"} for word in place_words)
    return is_capitalised and not place_words[0].islower() and not any(sign.isdigit() for sign in added)


def _match_persons(first: FoldedName, second: FoldedName, *, person: bool) -> NameMatch | None:
    """Match two names of persons with the same last word that differ in middle names or initials."""
    names = words_of_person(first.name, first.words), words_of_person(second.name, second.words)
    if names[0][-1:] != names[1][-1:]:
        return None
    long, short = sorted(names, key=lambda words: (-len(words), words))
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
