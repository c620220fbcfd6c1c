"""Comparison of names and labels in a normalised form, which keeps every script; the source's own text is stored."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_AROUND_NAMES = " \"'“”‘’«»()[]{}《》〈〉「」『』（）【】,.;:!?，。；：！？、"  # they do not count at a name's ends
_SPACES = re.compile(r"\s+")
_LONGEST_LABEL, _MOST_WORDS = 80, 10  # characters and words; what is longer is mostly a sentence
_NOT_IN_LABELS = re.compile(r"://|@|[。！？；<>{}\[\]|]|[!?]\s|\w{4}\.\s")
"""Signs of a sentence, an address or a quotation, which no element's name has."""
UNSEEN = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064"
                    "\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]")
"""Control characters, and those that are invisible or only change the direction of text. The joiners U+200C and U+200D
are not included, because Persian and Indic words, and emoji, are spelled with them."""
# Each form of a quotation mark or apostrophe, as the plain one.
_QUOTES = {**dict.fromkeys(map(ord, "‘’‚‛ʼ´′"), "'"), **dict.fromkeys(map(ord, "“”„‟″"), '"')}
_NAME_ATTRIBUTES = frozenset(["alias", "aliases", "title", "name", "标题", "名称"])
_WORD_LETTER = "[^\\W_\u3400-\u9fff]"  # of a script with spaces between words
_BETWEEN_WORDS = re.compile(r"[\W_]+")


def normalise(text: str) -> str:
    """Return a text for comparing only: without differences of case, width, spaces and quotes, or invisible signs."""
    if text.isascii() and text.isprintable():  # a shortcut with the same result, ten times as fast
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFKC", UNSEEN.sub("", text.translate(_QUOTES))).casefold()
    return _SPACES.sub(" ", folded).strip()


@lru_cache(10_000)
def canonical_name(name: str) -> str:
    """Return the form in which two spellings of a name are equal: without enclosing quotes and end punctuation."""
    folded = normalise(name)
    return folded.strip(_AROUND_NAMES) or folded  # a name of signs alone stays as it is


@lru_cache(10_000)
def label_key(label: str) -> str:
    """Return the form in which two labels of a schema element are equal: 'Born In' and 'born_in'."""
    return " ".join(normalise(label).replace("_", " ").replace("-", " ").split())


def is_readable_label(label: str) -> bool:
    """Return True if a label can name a relation, attribute or type: a few words, no sentence, number or address."""
    text, key = label.strip(), label_key(label)
    if not 0 < len(text) <= _LONGEST_LABEL or len(key.split()) > _MOST_WORDS:
        return False
    return text.isprintable() and any(map(str.isalpha, text)) and not _NOT_IN_LABELS.search(key)


def content_id(*parts: str) -> str:
    """Return a stable id of texts: 20 hexadecimal digits of the SHA-256 of the length-prefixed parts."""
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    # With the lengths, ("a", "bc") has another id than ("ab", "c").
    return hashlib.sha256(b"".join(len(data).to_bytes(8, "big") + data for data in encoded)).hexdigest()[:20]


def entity_id(name: str, type_name: str) -> str:
    """Return the id of the entity with this name and type; it is equal for all spellings of one name."""
    return content_id("entity", canonical_name(name), type_name)


def triple_id(head: str, relation: str, tail: str) -> str:
    """Return the id of a triple, from the ids of its head and tail entities and its relation's name."""
    return content_id("triple", head, relation, tail)


def relation_id(relation: str) -> str:
    """Return the id of a relation's vector."""
    return content_id("relation", relation)


def has_name(text: str, name: str) -> bool:
    """Return True if a text has a name as whole words; see `has_any_name`."""
    return has_any_name(text, [name])


def has_any_name(text: str, names: Iterable[str]) -> bool:
    """Return True if a text has one of some names as whole words, ignoring case and width; an empty name is in none."""
    folded = normalise(text)
    # `in` is quick, and spares most names the expression.
    return any(name and name in folded and _whole_words(name).search(folded) for name in map(canonical_name, names))


@lru_cache(10_000)
def _whole_words(name: str) -> re.Pattern[str]:
    """Return an expression for a name that is no part of a longer word; Chinese has no word boundaries."""
    before = f"(?<!{_WORD_LETTER})" if re.match(_WORD_LETTER, name) else ""
    after = f"(?!{_WORD_LETTER})" if re.match(_WORD_LETTER, name[-1]) else ""
    return re.compile(before + re.escape(name) + after)


def is_descriptive(name: str, attribute: str, value: str) -> bool:
    """Return False for a value that only repeats its entity's name.

    Of "RFC-20: Oslo Pumps", the title "Oslo Pumps" and the rfc "20" are not shown, but can be looked up and counted.
    """
    key, words_of_name = label_key(attribute), spaced_words(name)
    if key in _NAME_ATTRIBUTES:
        return spaced_words(value) not in words_of_name
    # Few names contain the attribute, so the second, slower test is rare; this runs for every value of a graph.
    return spaced_words(key) not in words_of_name or spaced_words(f"{key} {value}") not in words_of_name


@lru_cache(4096)
def spaced_words(text: str) -> str:
    """Return a text's words with a space before and after each, so that `in` finds whole words alone."""
    return f" {_BETWEEN_WORDS.sub(' ', normalise(text)).strip()} "
