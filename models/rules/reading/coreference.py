"""Which entity each mention means: short names, pronouns and descriptions are resolved to full names."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ..lexicon import words as word_set
from ..name_words import GIVEN_NAMES
from .cues import CompiledSchema, fold, is_han
from .english import EnglishMentions
from .mentions import ANAPHORS, Mention, Sentence, Source, title_subject

_TITLE_PARTS = re.compile(r"[\s:：—_|《》（）()]+|(?=\d{4}\s?年)")
_PLACE_LEADS = word_set(
    "new north south east west saint st san santa los las great upper lower mount lake port fort")
_LONGEST_SHORT_NAME = 3


def find_subject(source: Source, sentences: Sequence[Sentence]) -> str:
    """The entity that the document's title names, as the chunk writes it; "" where there is none."""
    title = title_subject(source.title)
    if not title:
        return ""
    mentions = [m for s in sentences for m in s.mentions if m.kind not in ANAPHORS]
    names = list(dict.fromkeys(m.name for m in mentions))
    if any(m.kind == "title" for m in mentions):
        return title
    parts = _names_in_title(source, title)
    return next((name for name in names if name in parts), "") or (parts[0] if parts else "")


def _names_in_title(source: Source, title: str) -> list[str]:
    if is_han(title[0]):
        parts = [part for part in _TITLE_PARTS.split(title) if len(part) > 1]
        named = [part for part in parts if source.compiled.types.of_han_name(part) and part in source.text]
        spoken = [part for part in parts if part in source.text]
        return (named or spoken or parts)[:1]
    whole = Sentence(0, len(title), han=False)
    inner = Source(title, fold(title), title, source.compiled)
    found = [m.name for m in EnglishMentions(inner, [whole]).find(0) if m.kind not in ANAPHORS]
    return [title] if found and title in found else found


def unify_names(sentences: Sequence[Sentence], subject: str, compiled: CompiledSchema) -> None:
    """Give every mention by a short name the full name that stands in the same chunk or title.

    'Curie' becomes 'Marie Curie', 'Acme' becomes 'Acme Corporation'; a still longer form that opens
    the text becomes the title's, under which other documents speak of it. In place.
    """
    longer = _longer_form(sentences, subject, compiled)
    names = [m.name for s in sentences for m in s.mentions if m.kind not in ANAPHORS]
    by_word: dict[str, list[str]] = {}
    for name in dict.fromkeys([subject, *names] if subject else names):
        for short in _short_names(name, compiled, leading=name == subject):
            by_word.setdefault(short, []).append(name)
    spoken: list[str] = [subject] if subject else []
    for sentence in sentences:
        for i, mention in enumerate(sentence.mentions):
            full = mention.name
            if full == longer:
                full = subject
            elif mention.kind == "name" and len(full.split()) <= _LONGEST_SHORT_NAME:
                full = _full_name(full, by_word, spoken)
            if full != mention.name:
                sentence.mentions[i] = replace(mention, name=full)
            if mention.kind not in ANAPHORS:
                spoken.append(full)


def _longer_form(sentences: Sequence[Sentence], subject: str, compiled: CompiledSchema) -> str | None:
    """The name that opens the text where it is the title's with more words: 'Ada Maria Blum'; or None."""
    opening = next((s.mentions[0].name for s in sentences if s.mentions), "")
    words, said = subject.split(), opening.split()
    if len(words) < 2 or len(said) <= len(words) or words[0] != said[0] or not set(words) <= set(said):  # noqa: PLR2004
        return None
    if fold(words[0]) in _PLACE_LEADS:
        return None
    return None if fold(said[-1]).rstrip(".") in compiled.types.words else opening


def _short_names(name: str, compiled: CompiledSchema, *, leading: bool) -> list[str]:
    """The short forms of a name: 'Acme' of 'Acme Corporation'; a surname; a well-known given name."""
    words = name.split()
    if len(words) < 2 or is_han(name[0]):  # noqa: PLR2004 - one word has no shorter form
        return []
    if fold(words[-1]).rstrip(".") in compiled.types.words:
        return [" ".join(words[:-1])]
    if fold(words[0]) in _PLACE_LEADS:
        return []
    given = [words[0]] if leading or fold(words[0]) in GIVEN_NAMES else []
    return [words[-1], *given]


def _full_name(name: str, by_word: dict[str, list[str]], spoken: Sequence[str]) -> str:
    """The full name that was spoken last; the only one where none was spoken yet."""
    candidates = by_word.get(name, [])
    if not candidates:
        return name
    return next((full for full in reversed(spoken) if full in candidates or full == name), name)


class AnaphorResolver:
    """Resolves the pronouns and descriptions of one chunk, sentence by sentence."""

    def __init__(self, compiled: CompiledSchema, types: dict[str, str], subject: str) -> None:
        """Start with the document's subject as what is spoken of."""
        self._schema = compiled.schema
        self._roles = compiled.types.roles
        self._types = types
        self._subject = subject
        self._topic = subject
        self._spoken: list[str] = []

    def resolve(self, sentences: Sequence[Sentence]) -> None:
        """Name every anaphor, drop those that stay unclear, and set each sentence's topic. In place."""
        for sentence in sentences:
            sentence.topic = self._subject or self._topic
            resolved: list[Mention] = []
            for mention in sentence.mentions:
                name = mention.name or self._antecedent(mention, resolved)
                if name:
                    resolved.append(replace(mention, name=name))
            sentence.mentions = resolved
            self._spoken.extend(m.name for m in resolved)
            if resolved:
                self._topic = self._subject if self._subject in {m.name for m in resolved} else resolved[0].name

    def _antecedent(self, anaphor: Mention, before: Sequence[Mention]) -> str:
        here = [m.name for m in before]
        if anaphor.kind == "description":
            order = [self._subject, *reversed(here), *reversed(self._spoken)]
            return next((n for n in order if n and self._is_a(n, anaphor.hint)), "")
        first = here[:1]
        if anaphor.hint == "person":
            order = [*first, self._subject, self._topic, *reversed(self._spoken)]
            return next((n for n in order if n and self._is_person(n)), "")
        if anaphor.hint == "thing":
            order = [*(first if anaphor.kind == "possessive" else []), self._subject, self._topic]
            return next((n for n in order if n and not self._is_person(n)), "")
        order = [*first, self._topic] if anaphor.kind == "possessive" else [self._subject]
        body = self._roles.get("organisation", "")
        return next((n for n in order if n and self._is_a(n, body)), "")

    def _is_a(self, name: str, kind: str) -> bool:
        own = self._types.get(name, "")
        return bool(kind) and bool(own) and (self._schema.is_a(own, (kind,)) or self._schema.is_a(kind, (own,)))

    def _is_person(self, name: str) -> bool:
        return self._is_a(name, self._roles.get("person", ""))
