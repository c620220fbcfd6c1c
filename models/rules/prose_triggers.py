"""The sentences that may state a fact of a pattern, by their words alone; the others need no parse.

What a pattern needs is read from the pattern: one of its words in any form, the preposition of an end, a date or a
number, and as many names as it links. In doubt a sentence is parsed.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ..parsing.lemmas import Lemmas
from .clauses import words_of_role
from .lexicon import words as words_in
from .recognition.name_kinds import kind_of_noun
from .recognition.spans import VALUES
from .stated_facts import Mention

if TYPE_CHECKING:
    from .prose_facts import ProsePattern

DEPUTY = words_in("vice deputy assistant associate")
"""Words that make a post that of a deputy."""
TEXTS = frozenset({"text", "phrase", "goods"})
"""The kinds of ends that are words as they stand."""
_WORDS_KEPT = 50_000
_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class _Needs:
    """What a sentence must contain for a pattern: one of each set of words, a noun, values of kinds, names."""

    words: tuple[frozenset[str], ...]
    nouns: frozenset[str]
    values: frozenset[str]
    names: int


class Triggers:
    """The words of patterns, and what a sentence must have besides."""

    def __init__(self, patterns: Iterable["ProsePattern"]) -> None:
        """Index patterns by their words."""
        self._by_word: dict[str, list[tuple[str, _Needs]]] = {}
        for pattern in patterns:
            needs = _needs_of(pattern)
            for key in pattern.words:
                word, _, particle = key.partition("_")
                self._by_word.setdefault(word, []).append((particle, needs))
        self._started = lru_cache(_WORDS_KEPT)(self._starts)

    def may_state(self, words: Sequence[str], lemmas: Lemmas, text: str, mentions: Sequence[Mention],
                  subject: Mention | None) -> bool:
        """Return False if no pattern fits a sentence, however it is parsed.

        Args:
            words: the words of the sentence.
            lemmas: returns the lemmas that a word may have.
            text: the sentence.
            mentions: the names and values in it.
            subject: what the text around it is about.
        """
        lower = {word.lower() for word in words}
        started = {needs for word in lower for particle, needs in self._started(word, lemmas)
                   if not particle or particle in lower}
        if not started:
            return False
        names = _count_names(text, mentions) + (subject is not None)
        kinds = {mention.kind for mention in mentions}
        return any(needs.names <= names and needs.values <= kinds and all(
            not lower.isdisjoint(some) for some in needs.words) and (
            not needs.nouns or any(not needs.nouns.isdisjoint(lemmas(word)) for word in lower)) for needs in started)

    def _starts(self, word: str, lemmas: Lemmas) -> tuple[tuple[str, _Needs], ...]:
        """Return what patterns need that a word may begin, each with the particle of the verb, or ""."""
        forms = lemmas(word)
        kinds = (f"@{kind}" for form in forms if (kind := kind_of_noun(form)))
        keys = {*forms, *kinds, *(["@is"] if "be" in forms else []), *(["@post"] if word == "as" else []),
                *(["@deputy"] if word in DEPUTY else [])}
        return tuple(entry for key in sorted(keys) for entry in self._by_word.get(key, ()))


def _needs_of(pattern: "ProsePattern") -> _Needs:
    ends = (pattern.head, pattern.tail)
    where, nouns = pattern.where or ((), frozenset())
    words = map(_words_of_roles, filter(None, (pattern.head.roles, pattern.tail.roles, where)))
    named = [end for end in ends if end.kinds[0] not in TEXTS]
    values = frozenset(end.kinds[0] for end in named if VALUES & set(end.kinds))
    names = sum(not VALUES & set(end.kinds) for end in named)
    return _Needs(tuple(some for some in words if some), nouns if {"*", "@thing"}.isdisjoint(nouns) else frozenset(),
                  values, names)


def _words_of_roles(roles: Sequence[str]) -> frozenset[str]:
    """Return the words of which a sentence has one if one of the roles is filled; empty if it needs none."""
    found = [words_of_role(role) for role in roles]
    return frozenset().union(*found) if all(found) else frozenset()


def _count_names(text: str, mentions: Sequence[Mention]) -> int:
    """Return the most names that a sentence can have: those found, and words with a capital elsewhere."""
    capitals = sum(match[0][0].isupper() and not any(
        mention.start <= match.start() < mention.end for mention in mentions) for match in _LETTERS.finditer(text))
    return len({mention.name for mention in mentions}) + capitals
