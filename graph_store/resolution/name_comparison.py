"""Compare two names by rules for the ways in which one thing gets several names.

Folded forms preserve every script: nothing is transliterated, and only Latin and Greek letters lose their accents,
because in other scripts (Cyrillic, Devanagari, kana) marks distinguish letters.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ...schemas.naming import canonical_name
from ...schemas.resolution import Rule
from ...text.dates import parse_date

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
_OWN_ACRONYM = re.compile(r"^(?P<base>.*\S)\s*+[(（](?P<acronym>\w{2,8})[)）]$")
_SPACE_BETWEEN_LETTERS = re.compile(r"(?<!\d) | (?!\d)")
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
    date: str
    """The date that the name is, or ""."""
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
    text = canonical_name(_without_own_acronym(name))
    exact = _name_words(text)
    words = tuple(exact if text.isascii() else map(_without_accents, exact))
    first_word, _, rest = text.partition(" ")
    article = bool(words and rest) and first_word in _ARTICLES
    key, letters = " ".join(words), [sign for sign in name if sign.isalpha()]
    is_acronym = (len(words) == 1 and _LEAST_ACRONYM <= len(letters) <= _MOST_ACRONYM
                  and all(map(str.isupper, letters)) and key.isalpha())
    return FoldedName(
        name=name, exact=" ".join(exact), key=key, article=article, words=words, date=parse_date(name),
        numerals=" ".join(sorted(_ORDINALS.get(word, word) for word in words)),
        company=_legal_form(key, words, name), titled=_without_title(words), acronym=is_acronym)


def _without_own_acronym(name: str) -> str:
    """Return a name without its acronym in parentheses: "World Health Organization (WHO)"."""
    own = _OWN_ACRONYM.match(name)
    is_own = own and own["acronym"].casefold() in _initials(_name_words(canonical_name(own["base"])))
    return own["base"] if own and is_own else name


def _name_words(text: str) -> list[str]:
    """Return a name's words without article and punctuation, with abbreviations such as "st" spelled out."""
    parts = text.split()
    if not text.isascii() or not all(map(str.isalnum, parts)):
        parts = _SEPARATORS.sub(" ", _AND.sub(" and ", _APOSTROPHES.sub("", text))).split()
    if len(parts) > 1 and parts[0] in _ARTICLES and not text.startswith("a."):  # "A. Lee" begins with an initial
        parts = parts[1:]
    # "St" and "Ft" are "Saint" and "Fort" only if another word follows.
    spelled = [*(_LEADING_FORMS.get(part, part) for part in parts[:-1]), *parts[-1:]]
    return _join_letters([_SHORT_FORMS.get(part, part) for part in spelled])


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


def _legal_form(key: str, words: Sequence[str], name: str) -> tuple[str, str]:
    """Return a name's key without its company's legal form, and this form; "" if it has none."""
    han = _LEGAL_HAN.search(key)
    if han and han[0] != key:
        return key[:han.start()] + key[han.end():], han[0]
    if len(words) > 1 and words[0] in _LEGAL and not words[0].isascii():  # a Russian form comes first
        return " ".join(words[1:]), words[0]
    end = len(words)
    # A legal form is capitalised: "American company" is not a company's name.
    while end > 1 and words[end - 1] in _LEGAL and name.rsplit(maxsplit=1)[-1][0].isupper():
        end -= 1
    return " ".join(words[:end]), " ".join(_LEGAL[word] for word in words[end:])


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


def without_spaces(folded: FoldedName) -> str:
    """Return a name's key without spaces, except between figures: section 1-1 is not section 11."""
    return _SPACE_BETWEEN_LETTERS.sub("", folded.key)


def initials_of(folded: FoldedName) -> set[str]:
    """Return the possible acronyms of a name: the initials of all its words, and of all but the small ones."""
    return _initials(folded.words)


def _initials(words: Sequence[str]) -> set[str]:
    if len(words) < _LEAST_ACRONYM:
        return set()
    return {"".join(word[0] for word in words), "".join(word[0] for word in words if word not in _SMALL_WORDS)} - {""}


def contradict(first: FoldedName, second: FoldedName) -> bool:
    """Return True if two names are different dates, or just one of them is a date."""
    return first.date != second.date


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
    if match := (_match_spelling(first, second, person=person)
                 or _match_omitted_parts(first, second, organisation=organisation, person=person)):
        return match
    if stand_for(first, second):
        if f"({first.name})" in second.name or f"({second.name})" in first.name:  # "WHO" in parentheses behind its name
            return NameMatch("acronym", prior=0.95)
        written = _WRITTEN.findall(first.name if len(first.words) > 1 else second.name)
        is_capitalised = all(word[0].isupper() or word in _SMALL_WORDS for word in written)
        is_distinctive = is_capitalised and min(len(first.key), len(second.key)) > _LEAST_ACRONYM
        return NameMatch("acronym", prior=0.45 if is_distinctive else 0.2, loose=True)
    for short, long in ((first, second), (second, first)):
        # "execution-specs" in the folder "ethereum/execution-specs"; one word alone may be in several folders.
        if len(short.words) > 1 and short.name.islower() and long.name.endswith(f"/{short.name}"):
            return NameMatch("qualifier", prior=0.95, loose=True)
        if _adds_place(short, long.name):
            return NameMatch("place", prior=0.5, loose=True)
    return _match_persons(first, second) if person else None


def _match_other_spelling(first: FoldedName, second: FoldedName, *, person: bool) -> NameMatch | None:
    """Match two names that differ in umlauts, number, spaces, numerals, or the order of their words."""
    if with_spelled_umlauts(first) == with_spelled_umlauts(second):
        return NameMatch("spelling", prior=0.9)
    if in_singular(first) == in_singular(second) and not person:
        # A single word with a capital may be another thing in the plural: Windows is no window.
        is_common = first.name.islower() and second.name.islower()
        return NameMatch("spelling", prior=0.85 if is_common or len(first.words) > 1 else 0.6)
    if (letters := without_spaces(first)) == without_spaces(second):
        # "tool room" and "toolroom", but red wood may be no Redwood.
        is_alike = first.name[0].isupper() == second.name[0].isupper() and len(letters) >= _LEAST_LETTERS
        return NameMatch("spelling", prior=0.95 if is_alike else 0.8)
    if first.numerals != second.numerals:
        return None
    if sorted(first.words) != sorted(second.words):
        return NameMatch("spelling", prior=0.85 if len(first.words) > 2 else 0.6)  # noqa: PLR2004  (number, other word)
    if sorted((first.name.count(","), second.name.count(","))) == [0, 1]:  # "Lee, Ann" and "Ann Lee"
        return NameMatch("person", prior=0.92)
    return NameMatch("spelling", prior=0.6)


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


def _match_omitted_parts(first: FoldedName, second: FoldedName, *, organisation: bool, person: bool,
                         ) -> NameMatch | None:
    """Match two names if one omits a company's legal form ("Inc") or a person's title ("Dr")."""
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
    return any(short.acronym and short.key in initials_of(long) for short, long in ((first, second), (second, first)))


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


def _match_persons(first: FoldedName, second: FoldedName) -> NameMatch | None:
    """Match two names of persons with the same last word that differ in middle names or initials."""
    long, short = sorted((first.words, second.words), key=lambda words: (-len(words), words))
    # A person's name has at least two words, all of letters alone, and its last one is no initial.
    if long[-1] != short[-1] or not all(map(str.isalpha, (*long, *short))) or min(len(short), len(long[-1])) < 2:  # noqa: PLR2004
        return None
    long_given, short_given = long[:-1], short[:-1]  # the words before the family name
    if long_given[0] == short_given[0]:
        remaining = iter(long_given[1:])  # "any" moves the iterator on: order counts
        is_in_order = all(any(word == other or (1 in {len(word), len(other)} and word[0] == other[0])
                              for other in remaining) for word in short_given[1:])
        return NameMatch("person", prior=0.6, loose=True) if is_in_order else None
    # "J Smith" or "JR Smith" for "John Ronald Smith". If both have one given name, either may be the initial.
    for given, other_given in ((long_given, short_given), (short_given, long_given)):
        initials = "".join(word[0] for word in given)
        if len(other_given) == 1 and other_given[0] in {initials, initials[0]}:
            return NameMatch("person", prior=0.45, loose=True)
    return None
