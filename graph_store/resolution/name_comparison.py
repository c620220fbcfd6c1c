"""Compare names by rules for the ways in which one thing gets several; find pairs to compare, and stated aliases.

Entities are paired that share a key. Keys that many share are left out, so the number of pairs grows almost linearly.

Folded forms preserve every script: nothing is transliterated, and only Latin and Greek letters lose their accents,
because in other scripts (Cyrillic, Devanagari, kana) marks distinguish letters. The priors were chosen on labelled
pairs (see `same_entities`): with 0.9 two names count as one thing at once, below 0.5 only with further evidence.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations, product
from typing import NamedTuple

from ...schemas.naming import canonical_name, label_key
from ...schemas.resolution import Pair, Rule, pair_of
from ...text.dates import parse_date
from ...text.lexicon import read_patterns
from ..bounding.words import is_inside_word

_FORMS = read_patterns("entity_names.toml")  # the file says what each word is
_SHORT_FORMS, _LEADING_FORMS = _FORMS["short_forms"], _FORMS["leading_forms"]
_LEGAL = {word: words.split()[0] for words in _FORMS["legal_forms"] for word in words.split()}  # by each spelling
_LEGAL_HAN = re.compile(r"^株式会社|(?:(?:股份|集团|控股){0,4}(?:有限责任公司|有限公司|公司|集团)|株式会社)$")
_WRITTEN = re.compile(r"[^\W\d_]+")
_TITLES, _SMALL_WORDS, _INEXACT = (frozenset(_FORMS[name].split()) for name in (
    "titles", "small_words", "inexact_dates"))
_TITLES_HAN = re.compile(r"(?<=..)(?:先生|女士|小姐|夫人|教授|博士|院士|医生|老师|同志|将军|主席|总统|总理)$")
_ORDINALS = {word: str(number) for number, words in enumerate(_FORMS["ordinals"], 1) for word in words.split()}
_BRANCHED = re.compile(_FORMS["branched"], re.IGNORECASE)
_LATIN, _UMLAUTS = str.maketrans(_FORMS["latin_letters"]), str.maketrans(_FORMS["umlauts"])
_PLURAL = re.compile(r"(?<=[^\W\d_]{2}[^\Wsui_])s\Z")
_APOSTROPHES = re.compile(r"['’ʼ`´‘]")
_AND = re.compile(r"(?:(?<!\s)\s++)?+[&＆]\s*+")
# Marks that only separate words. Marks between digits (1.5, 3,000) and a minus sign before a figure have a meaning.
_SEPARATORS = re.compile(r"(?<!\d)[.,:]|[.,:](?!\d)|[‐‑‒–—―]|(?<=[^\s\d])-|(?<=\d)-|-(?!\d)"
                         r"|[_·・‧•/／\"“”„«»‹›()\[\]{}《》〈〉「」『』【】;!?¡¿、。，！？：；（）]")
_OWN_ACRONYM = re.compile(r"^(?P<base>.*\S)\s*+[(（](?P<acronym>\w{2,8})[)）]$")
_SPACE_BETWEEN_LETTERS = re.compile(r"(?<!\d) | (?!\d)")
_ARTICLES = frozenset({"the", "a", "an"})
_ACRONYM_LETTERS = range(2, 9)
_LEAST_LETTERS = 5  # of two names that differ in blanks and marks alone, to merge them without asking
_YEAR_AND_NUMBER = re.compile(r"\d{4}-\d{1,2}")  # a month or a span of years
_FEW_WORDS = 2  # names of so few words that differ in a numeral may be of two things: "Chapter 2", "Second Chapter"
_MOST_SHARED = 40  # the most entities with one key whose pairs (780) are compared: what more share identifies nothing
_PERSON_WORDS = range(1, 6)  # the number of words of most persons' names
# Prefixes of keys that are not a form of a name. Forms never begin with white space, so the two cannot be confused.
_DATE, _WORDS, _PERSON = " date:", " words:", " person:"
_MARKER, _ALIAS_RELATIONS = re.compile(_FORMS["alias_marker"], re.IGNORECASE), frozenset(_FORMS["alias_relations"])
_BEFORE = " \t\n,，(（[“\"‘'「:：;；—–-"  # may stand between a name and a marker after it
_AFTER = " \t\n“\"‘'「:：为是"  # may stand between a marker and the name after it
_PARENTHESIS = re.compile(r"[(（](?P<content>[^()（）]{2,80})[)）]")



class NameMatch(NamedTuple):
    """The rule by which two names match, and the prior probability that names which match so are of one thing."""

    rule: Rule
    prior: float
    loose: bool = False  # one name is less specific than the other and may refer to several things


class FoldedName(NamedTuple):
    """A name, and the forms in which it is compared."""

    name: str
    exact: str  # the key with its accents
    key: str  # the folded words, joined by spaces
    has_article: bool  # true if the name begins with an article
    words: tuple[str, ...]  # the words without accents, article and punctuation, with some abbreviations spelled out
    date: str  # the date that the name is, or ""
    numerals: str  # the key's words sorted, with all numerals as figures: "2 war world" for "World War II"
    without_legal_form: tuple[str, str]  # the key without a company's legal form, and that form or ""
    without_title: tuple[str, str]  # the key without a person's titles, and these titles or ""
    is_acronym: bool  # true if it is written like an acronym: one word of two to eight capitals

    def spelled_umlauts(self) -> str:
        """Return the key with two letters for each umlaut ("goerli" for "Görli"), as keyboards without them write."""
        return " ".join(map(_without_accents, self.exact.translate(_UMLAUTS).split()))

    def singular(self) -> str:
        """Return the key with its last word in the singular; "glass", "status" and "analysis" keep their s."""
        return _PLURAL.sub("", self.key)

    def without_spaces(self) -> str:
        """Return the key without spaces, except between figures: section 1-1 is not section 11."""
        return _SPACE_BETWEEN_LETTERS.sub("", self.key)

    def is_capitalised(self) -> bool:
        """Return True if its first word, after the article, begins with a capital."""
        return self.name.split()[1 if self.has_article else 0][0].isupper()


@lru_cache(20_000)
def fold(name: str) -> FoldedName:
    """Return a name with the forms in which it is compared."""
    text, with_acronym = canonical_name(name), _OWN_ACRONYM.match(name)
    if with_acronym:  # "World Health Organization (WHO)" is the same name as without its acronym
        full_name = canonical_name(with_acronym["base"])
        if with_acronym["acronym"].casefold() in initials_of(_name_words(full_name)):
            text = full_name
    exact = _name_words(text)
    words = tuple(map(_without_accents, exact))
    first_word, _, rest = text.partition(" ")
    key, letters = " ".join(words), [sign for sign in name if sign.isalpha()]
    has_capitals_alone = len(letters) in _ACRONYM_LETTERS and all(map(str.isupper, letters))
    is_acronym = len(words) == 1 and key.isalpha() and has_capitals_alone
    return FoldedName(  # a name of an article alone, as "The", has no article
        name=name, exact=" ".join(exact), key=key, has_article=bool(words and rest) and first_word in _ARTICLES,
        words=words, date=parse_date(name), numerals=" ".join(sorted(_ORDINALS.get(word, word) for word in words)),
        without_legal_form=_legal_form(key, words, name), without_title=_without_title(words), is_acronym=is_acronym)


def _name_words(text: str) -> list[str]:
    """Return a name's words without article and punctuation, with abbreviations such as "st" spelled out."""
    parts = _SEPARATORS.sub(" ", _AND.sub(" and ", _APOSTROPHES.sub("", text))).split()
    if len(parts) > 1 and parts[0] in _ARTICLES and not text.startswith("a."):  # "A. Lee" begins with an initial
        parts = parts[1:]
    spelled = [*(_LEADING_FORMS.get(part, part) for part in parts[:-1]), *parts[-1:]]  # the last word leads no other
    joined: list[str] = []
    follows_letter = False
    for part in spelled:  # adjacent single letters are one abbreviation: "j. r. r. tolkien" is "jrr tolkien"
        is_letter = len(part) == 1 and part.isalpha() and part.isascii()
        if is_letter and follows_letter:
            joined[-1] += part
        else:
            joined.append(_SHORT_FORMS.get(part, part))
        follows_letter = is_letter
    return joined


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
    if han and han[0] != key:  # a name of nothing but a legal form stays whole
        return key[:han.start()] + key[han.end():], han[0]
    if len(words) > 1 and words[0] in _LEGAL and not words[0].isascii():  # a Russian form comes first
        return " ".join(words[1:]), words[0]
    end = len(words)
    # A legal form is capitalised: "American company" is not a company's name.
    while end > 1 and words[end - 1] in _LEGAL and name.rsplit(maxsplit=1)[-1][0].isupper():
        end -= 1
    return " ".join(words[:end]), " ".join(_LEGAL[word] for word in words[end:])


def _without_title(words: Sequence[str]) -> tuple[str, str]:
    """Return a name's key without a person's titles, and these titles; "King of Spain" has none."""
    first = 0
    while first + 1 < len(words) and words[first] in _TITLES and words[first + 1] not in _SMALL_WORDS:
        first += 1
    base = " ".join(words[first:])
    if han := _TITLES_HAN.search(base):
        return base[:han.start()], han[0]
    return base, " ".join(words[:first])


def initials_of(words: Sequence[str]) -> set[str]:
    """Return the possible acronyms of a name of some words: the initials of all, and of all but the small ones."""
    if len(words) < _ACRONYM_LETTERS.start:
        return set()
    return {"".join(word[0] for word in words), "".join(word[0] for word in words if word not in _SMALL_WORDS)} - {""}


def match_names(first: FoldedName, second: FoldedName, *, organisation: bool = False,
                person: bool = False) -> NameMatch | None:
    """Return the strongest rule by which two names may be of one thing; None if no rule applies or dates differ.

    `organisation` and `person` say that both names are known to be an organisation's or a person's.
    """
    if not first.key or not second.key or first.date != second.date:
        return None
    if first.date:  # and the second is the same date
        # "Early 2020" and "late 2020" are two things; 2020-11 may be a month or a span of years.
        is_inexact = any(_INEXACT.intersection(name.words)
                         or _YEAR_AND_NUMBER.fullmatch(canonical_name(name.name)) for name in (first, second))
        return None if is_inexact else NameMatch("date", prior=0.97)
    return (_match_same_key(first, second) or _match_other_spelling(first, second, person=person)
            or _match_omitted_parts(first, second, organisation=organisation, person=person)
            or _match_acronym(first, second) or _match_added_place(first, second) or _match_added_place(second, first)
            or (_match_persons(first, second) if person else None))


def _match_same_key(first: FoldedName, second: FoldedName) -> NameMatch | None:
    """Match two names with the same words; they differ at most in accents, marks, capitals and articles."""
    if first.key != second.key:
        return None
    is_one_word = len(first.words) == 1
    if first.has_article != second.has_article and (is_one_word or first.is_capitalised() != second.is_capitalised()):
        # "The Who" is not WHO, "the Band" is not a band, "The Charge of the Light Brigade" is a poem about the charge.
        return NameMatch("spelling", prior=0.6, loose=True)
    if is_one_word and first.is_acronym != second.is_acronym:  # US and us
        return NameMatch("spelling", prior=0.6)
    if first.exact != second.exact and is_one_word:  # the accent may change the meaning of a word: Rosé and rose
        return NameMatch("spelling", prior=0.75)
    return NameMatch("spelling", prior=0.95 if first.exact != second.exact else 0.97)


def _match_other_spelling(first: FoldedName, second: FoldedName, *, person: bool) -> NameMatch | None:
    """Match two names that differ in umlauts, number, spaces, numerals, or the order of their words."""
    if first.spelled_umlauts() == second.spelled_umlauts():
        return NameMatch("spelling", prior=0.9)
    if first.singular() == second.singular() and not person:  # Robert is not Roberts
        # A single word with a capital may be another thing in the plural: Windows is no window.
        are_common_nouns = first.name.islower() and second.name.islower()
        return NameMatch("spelling", prior=0.85 if are_common_nouns or len(first.words) > 1 else 0.6)
    if (letters := first.without_spaces()) == second.without_spaces():
        # "tool room" and "toolroom", but red wood may be no Redwood.
        is_alike = first.name[0].isupper() == second.name[0].isupper() and len(letters) >= _LEAST_LETTERS
        return NameMatch("spelling", prior=0.95 if is_alike else 0.8)
    if first.numerals != second.numerals:
        return None
    if sorted(first.words) != sorted(second.words):  # other numerals: "Second World War", "World War II"
        return NameMatch("spelling", prior=0.85 if len(first.words) > _FEW_WORDS else 0.6)
    if sorted((first.name.count(","), second.name.count(","))) == [0, 1]:  # "Lee, Ann" and "Ann Lee"
        return NameMatch("person", prior=0.92)
    return NameMatch("spelling", prior=0.6)  # the same words in another order


def _match_omitted_parts(first: FoldedName, second: FoldedName, *, organisation: bool, person: bool,
                         ) -> NameMatch | None:
    """Match two names if one omits a company's legal form ("Inc"), a person's title ("Dr") or a folder."""
    (base, form), (other_base, other_form) = first.without_legal_form, second.without_legal_form
    if base == other_base and (not form or not other_form or form == other_form):
        # Unless both are known to be organisations, "Apple" may be something else than "Apple Inc".
        return NameMatch("legal_form", prior=0.93 if organisation else 0.7, loose=not organisation)
    (base, title), (other_base, other_title) = first.without_title, second.without_title
    are_capitalised = not first.name[0].islower() and not second.name[0].islower()
    # Unless both are persons, one word alone may be another thing: "General Motors" is not "Motors".
    are_persons = are_capitalised and (person or " " in base)
    if base == other_base and not (title and other_title) and are_persons:
        return NameMatch("title", prior=0.6, loose=True)
    # "execution-specs" in the folder "ethereum/execution-specs"; one word alone may be in several folders.
    if any(len(short.words) > 1 and short.name.islower() and long.name.endswith(f"/{short.name}")
           for short, long in ((first, second), (second, first))):
        return NameMatch("qualifier", prior=0.95, loose=True)
    return None


def is_acronym_of_other(first: FoldedName, second: FoldedName) -> bool:
    """Return True if one of two names is an acronym that consists of the other's initials."""
    return any(short.is_acronym and short.key in initials_of(long.words)
               for short, long in ((first, second), (second, first)))


def _match_acronym(first: FoldedName, second: FoldedName) -> NameMatch | None:
    """Match an acronym and a name with its initials."""
    if not is_acronym_of_other(first, second):
        return None
    if f"({first.name})" in second.name or f"({second.name})" in first.name:  # "WHO" in parentheses behind its name
        return NameMatch("acronym", prior=0.95)
    words_of_long_name = _WRITTEN.findall(first.name if len(first.words) > 1 else second.name)
    is_capitalised = all(word[0].isupper() or word in _SMALL_WORDS for word in words_of_long_name)
    # Two letters are the initials of many names; other phrases than names rarely get an acronym.
    is_distinctive = is_capitalised and min(len(first.key), len(second.key)) > _ACRONYM_LETTERS.start
    return NameMatch("acronym", prior=0.45 if is_distinctive else 0.2, loose=True)


def _match_added_place(short: FoldedName, long: FoldedName) -> NameMatch | None:
    """Match a name and the same name with its place after a comma, as in "Austin, Texas"."""
    base, comma, added = long.name.partition(",")
    place_words = _WRITTEN.findall(added)
    # A university or bank has branches in several places, so its name with a place is another thing's.
    if not comma or not place_words or fold(base).key != short.key or _BRANCHED.search(base):
        return None
    # A place's name is capitalised, does not begin with a small word, and has neither "and" nor digits.
    is_capitalised = all(word[0].isupper() or word in _SMALL_WORDS - {"and"} for word in place_words)
    if not is_capitalised or place_words[0].islower() or any(map(str.isdigit, added)):
        return None
    return NameMatch("place", prior=0.5, loose=True)


def _match_persons(first: FoldedName, second: FoldedName) -> NameMatch | None:
    """Match two names of persons with the same last word that differ in middle names or initials."""
    # Names with equally many words are sorted, so that the order of the arguments does not matter.
    long, short = sorted((first.words, second.words), key=lambda words: (-len(words), words))
    (*long_given, family), (*short_given, other_family) = long, short
    # A person's name is of letters alone, and its last word is no initial.
    if family != other_family or len(family) == 1 or not all(map(str.isalpha, (*long, *short))):
        return None
    if not short_given:  # "Haydn" for "Joseph Haydn"
        are_capitalised = first.is_capitalised() and second.is_capitalised()
        return NameMatch("person", prior=0.45, loose=True) if are_capitalised else None
    if long_given[0] == short_given[0]:
        # Each further given name of the short name, or its initial, must be in the long one, in the same order: "any"
        # moves the iterator on, so the search goes on behind the last match.
        remaining = iter(long_given[1:])
        is_in_order = all(any(word == other or (1 in {len(word), len(other)} and word[0] == other[0])
                              for other in remaining) for word in short_given[1:])
        return NameMatch("person", prior=0.6, loose=True) if is_in_order else None
    # "J Smith" or "JR Smith" for "John Ronald Smith". If both have one given name, either may be the initial.
    for given, other_given in ((long_given, short_given), (short_given, long_given)):
        initials = "".join(word[0] for word in given)
        if len(other_given) == 1 and other_given[0] in {initials, initials[0]}:
            return NameMatch("person", prior=0.45, loose=True)
    return None


def candidate_pairs(names: Iterable[tuple[str, FoldedName]]) -> set[Pair]:
    """Return the pairs of entities to compare because their names share a key, or one is the other's initials."""
    by_key, by_acronym, by_initials = (defaultdict[str, list[str]](list) for _ in range(3))
    for entity, folded in names:
        for key in _comparison_keys(folded):
            by_key[key].append(entity)
        for letters in initials_of(folded.words):
            by_initials[letters].append(entity)
        if folded.is_acronym:
            by_acronym[folded.key].append(entity)
    pairs = set[Pair]()
    for entities in by_key.values():
        if len(entities) <= _MOST_SHARED:
            pairs.update(pair_of(*pair) for pair in combinations(entities, 2))
    for letters in by_acronym.keys() & by_initials.keys():  # no entity is in both: only names of several words have any
        if len(by_acronym[letters]) + len(by_initials[letters]) <= _MOST_SHARED:
            pairs.update(pair_of(*pair) for pair in product(by_acronym[letters], by_initials[letters]))
    return pairs


def _comparison_keys(folded: FoldedName) -> set[str]:
    """Return the keys of a name: it is compared with the names that share one. A name without any word has no keys."""
    if not folded.key:
        return set()
    if folded.date:  # it matches only the same date, however that is written
        return {f"{_DATE}{folded.date}"}
    # All forms of a whole name are keys of one kind, so a form of one entity matches any form of another.
    keys = {folded.key, folded.without_legal_form[0], folded.without_title[0], folded.without_spaces(),
            folded.spelled_umlauts(), folded.singular()} - {""}
    if "," in folded.name:
        keys.add(fold(folded.name.split(",", maxsplit=1)[0]).key)  # "Austin" in "Austin, Texas"
    if "/" in folded.name:
        keys.add(fold(folded.name.rpartition("/")[2]).key)  # "specs" in "ethereum/specs"
    keys.add(f"{_WORDS}{folded.numerals}")
    if len(folded.words) in _PERSON_WORDS and folded.name[0].isupper():  # it may be a person's: "Lee" and "Ann Lee"
        first_name, family_name = folded.words[0], folded.words[-1]
        keys |= {f"{_PERSON}{family_name}", f"{_PERSON}{first_name[0]} {family_name}"}
    return keys


class Statement(NamedTuple):
    """Two names that a chunk's text says are of the same thing, and where it does (offsets in the chunk)."""

    first: str
    second: str
    start: int
    end: int


def is_alias_relation(relation: str) -> bool:
    """Return True if a relation's name means that its head and tail are the same thing."""
    return label_key(relation) in _ALIAS_RELATIONS


def statements(text: str, names: Iterable[str]) -> list[Statement]:
    """Return the places of a chunk's text that say that two of the names are of the same thing, sorted by position."""
    longest_first = sorted(set(names) - {""}, key=lambda name: (-len(name), name))

    def name_before(end: int) -> str:
        """Return the longest name that ends at a place of the text, or ""."""
        return next((name for name in longest_first if text.endswith(name, 0, end)
                     and not is_inside_word(text, end - len(name))), "")

    found = set[Statement]()
    for marker in _MARKER.finditer(text):  # such as "also known as" between two names
        end = len(text[:marker.start()].rstrip(_BEFORE))
        start = len(text) - len(text[marker.end():].lstrip(_AFTER))
        first, second = name_before(end), next((name for name in longest_first if text.startswith(name, start)
                                                and not is_inside_word(text, start + len(name))), "")
        if first and second:
            found.add(Statement(first, second, end - len(first), start + len(second)))
    for aside in _PARENTHESIS.finditer(text):  # an acronym behind its name, or a name behind its acronym
        second, end = aside["content"].strip(_BEFORE + "”’」"), len(text[:aside.start()].rstrip())
        first = name_before(end) if second in longest_first else ""  # else it is a year or a remark
        if first and is_acronym_of_other(fold(first), fold(second)):
            found.add(Statement(first, second, end - len(first), aside.end()))
    return sorted((one for one in found if one.first != one.second), key=lambda one: (one.start, one))
