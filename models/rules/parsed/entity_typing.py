"""The types of a chunk's entities: by the nouns said of them, their own words, spaCy's label, else by embedding."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from ....schemas.graph_schema import ANY
from ...embedding.embedder import Embedder, Vectors, products
from ..reading.cues import TERM_IS_TAIL, CompiledSchema, fold
from .grammar import Grammar
from .mentions import Mention, Reading
from .predications import Predication

ROLE_OF_LABEL = {
    "PERSON": "person", "PER": "person", "GPE": "place", "LOC": "place", "FAC": "place", "ORG": "organisation",
    "EVENT": "event", "WORK_OF_ART": "work", "PRODUCT": "product", "date": "date", "number": "number",
}
"""spaCy's label -> general kind (`cues.KINDS`)."""

_WEIGHTS = {"said": 10.0, "own": 6.0, "label": 2.5, "quoted": 3.0, "relation": 2.0, "pronoun": 5.0}
_SURE = 3.0
"""Weight of evidence from which a type counts as told."""

_CONTEXT = 12
_TELLING = 3
_LEAST_SIMILARITY = 0.2

Votes = defaultdict[str, float]
"""Type -> weight of the evidence for it."""


class EntityTyper:
    """Types entities in the terms of one schema. Only reads itself: several threads may share it."""

    def __init__(self, compiled: CompiledSchema, embedder: Embedder) -> None:
        """Embed the descriptions of the schema's types, once."""
        self._compiled = compiled
        self._cues = compiled.types
        self._embedder = embedder
        self._names = [t.name for t in compiled.schema.entity_types]
        self._said_to_be = {fold(mark): compiled.types.fallback if ANY in r.range else r.range[0]
                            for r in compiled.schema.relation_types
                            for mark in r.rules.all_cues() if mark.startswith((TERM_IS_TAIL, "{"))}
        """The mark of a term -> the type of what it names."""
        texts = [f"{t.name}: {t.description}" for t in compiled.schema.entity_types]
        self._vectors: Vectors | None = embedder.encode(texts) if texts else None

    def types(self, reading: Reading, title: Mention | None, grammar: Grammar, predications: Iterable[Predication],
              ) -> tuple[dict[str, str], set[str]]:
        """The type of every name in the chunk.

        Args:
            reading: with its mentions, short names already unified.
            title: what the document's title names.
            grammar: of the same chunk.
            predications: what is said between its names, by which relations' ends are expected.

        Returns:
            name -> type; and the names whose type is a guess.
        """
        votes: dict[str, Votes] = defaultdict(lambda: defaultdict(float))
        first: dict[str, Mention] = {}
        seen: set[tuple[str, str, str]] = set()
        for mention in (*([title] if title else []), *reading.names()):
            first.setdefault(mention.name, mention)
            if (mention.name, mention.label, mention.kind) not in seen:
                seen.add((mention.name, mention.label, mention.kind))
                self._vote(votes[mention.name], mention)
        for term in reading.terms:
            first.setdefault(term.name, term)
            votes[term.name][self._said_to_be.get(term.label, self._cues.fallback)] += _WEIGHTS["relation"]
        for sentence in reading.sentences:
            for token in sentence:
                kind = self._of_noun(token.lemma_.lower()) if token.pos_ == "NOUN" else None
                for mention in grammar.described(token) if kind else ():
                    votes[mention.name][kind or ""] += _WEIGHTS["said"]
        for mention in reading.names():
            before = reading.doc[mention.start - 1] if mention.start else mention.root
            kind = self._of_noun(before.lemma_.lower()) if before.pos_ == "NOUN" else None
            if kind:
                votes[mention.name][kind] += _WEIGHTS["own"]
        for predication in predications:
            self._expect(votes, predication)
        ranks = {name: i for i, name in enumerate(self._names)}
        typed = {name: min((-weight, ranks.get(kind, 0), kind) for kind, weight in found.items())[2]
                 for name, found in votes.items() if found and name in first}
        untyped = [name for name in first if name not in typed]
        typed.update(zip(untyped, self._by_embedding([first[name] for name in untyped]), strict=True))
        return typed, {name for name in typed if max(votes[name].values(), default=0.0) < _SURE}

    def is_person(self, reading: Reading, grammar: Grammar, name: str) -> bool:
        """Whether the chunk says that a name is a person's, by a label or a noun."""
        person = self._cues.roles.get("person")
        labelled = any(m.name == name and ROLE_OF_LABEL.get(m.label) == "person" for m in reading.names())
        return labelled or (person is not None and any(
            m.name == name for sentence in reading.sentences[:2] for t in sentence
            if t.pos_ == "NOUN" and self._of_noun(t.lemma_.lower()) == person for m in grammar.described(t)))

    def _vote(self, votes: Votes, mention: Mention) -> None:
        if mention.label == "NORP":
            votes[self._cues.fallback] += _WEIGHTS["said"]
        role = self._cues.roles.get(ROLE_OF_LABEL.get(mention.label, ""))
        if mention.kind == "value":
            votes[self._cues.roles[mention.label]] += _WEIGHTS["said"]
        elif mention.kind == "term":
            if kind := self._cues.of_term(fold(mention.root.text)):
                votes[kind] += _WEIGHTS["said"]
        elif role:
            votes[role] += _WEIGHTS["label"]
        if mention.kind == "quoted" and "work" in self._cues.roles:
            votes[self._cues.roles["work"]] += _WEIGHTS["quoted"]
        own = self._of_name(mention) if mention.kind in {"name", "quoted"} else None
        if own:
            votes[own] += _WEIGHTS["own"] if mention.kind == "name" else _WEIGHTS["relation"]

    def _of_name(self, mention: Mention) -> str | None:
        """The type that the head noun of a name shows: 'Humaya River', 'University of Paris'; none of a lone word."""
        words = fold(mention.name).replace(",", " ").split()
        if len(words) == 1:
            return None
        if mention.label in {"PERSON", "PER"}:
            return self._exact(words[-1]) if self._exact(words[-1]) != self._cues.roles.get("work") else None
        joint = next((i for i, w in enumerate(words) if w in {"of", "for", "at", "in"} and i), len(words))
        for word in (" ".join(words[max(0, joint - 2) : joint]), words[joint - 1], words[0]):
            found = self._exact(word)
            if found:
                return found
        return None

    def _exact(self, word: str) -> str | None:
        found = self._cues.words.get(word.rstrip("."))
        several = None if found else self._cues.words.get(word.removesuffix("s"))
        return found or (self._cues.roles.get("organisation") if several in self._cues.works else several)

    def _of_noun(self, noun: str) -> str | None:
        return self._cues.of_word(noun)

    def _expect(self, votes: dict[str, Votes], predication: Predication) -> None:
        """What stands with 'born in' is a person and a place: where a relation asks for one of a few types."""
        known = self._compiled.relation_of[predication.relations[0][0]]
        inverse = predication.relations[0][1]
        ends = (predication.tail, predication.head) if inverse else (predication.head, predication.tail)
        for mention, allowed in zip(ends, (known.domain, known.range), strict=True):
            if len(allowed) <= _TELLING and allowed[0] != ANY and mention.name:
                votes[mention.name][allowed[0]] += _WEIGHTS["relation"] / len(allowed)

    def _by_embedding(self, mentions: Sequence[Mention]) -> list[str]:
        """The types whose descriptions are nearest to each mention in its context.

        Where none is near, the type of last resort; a schema without one gets the nearest all the same.
        """
        if not mentions or self._vectors is None:
            return [self._cues.fallback] * len(mentions)
        texts = [f"{m.name}: {_around(m)}" for m in mentions]
        similarity = products(self._embedder.encode(texts), self._vectors)
        best = np.argmax(similarity, axis=1)
        least = _LEAST_SIMILARITY if self._cues.fallback in self._names else -1.0
        return [self._names[k] if similarity[i, k] >= least else self._cues.fallback for i, k in enumerate(best)]


def _around(mention: Mention) -> str:
    return mention.root.doc[max(0, mention.start - _CONTEXT) : mention.end + _CONTEXT].text
