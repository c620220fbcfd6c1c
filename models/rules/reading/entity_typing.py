"""The types of a chunk's entities: by what the text says, by their names, else by embedding."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from ...embedding.embedder import Embedder, Vectors, products
from ..lexicon import words as word_set
from ..name_words import COUNTRIES, GIVEN_NAMES, NATIONALITIES, PREPOSITIONS
from .cues import CompiledSchema, TypeCues, fold, is_han
from .mentions import ANAPHORS, Mention, Sentence, Source

_COPULA = re.compile(
    r"(?:\s*\([^()]{0,250}\))?(?:,[^,.;]{0,60},)?,?\s+"
    r"(?:is|was|are|were|became|remains)\s+(?:\w+ly\s+|also\s+|still\s+)?"
    r"(?:an?|the|one\sof\sthe|two|several)\s+(?P<noun>[^.;:()]{3,140})")
_APPOSITION = re.compile(r"(?:\s*\([^()]{0,250}\))?,\s+(?:an?|the|his|her|its|their)\s+(?P<noun>[^.;:()]{3,100})")
_HAN_COPULA = re.compile(r"(?:[（(][^（）()]{0,80}[)）])?[，,]?[则也就都曾乃即均]?(?:是|为)(?P<noun>[^，。；,;]{2,50})")
_PHRASE_END = re.compile(
    r",|\s(?:of|in|for|by|from|at|on|who|which|that|whose|where|when|with|to|and\sthe|located|based|founded|written|"
    r"directed|born|known|released|published|produced|created|near|between|set|situated|established|built|made|"
    r"playing|featuring|starring|owned|held|used|under|during|as|currently)\b")
_NOUN_WORD = re.compile(r"[^\W\d_][\w.'’-]*")
_KIND_NOUNS = word_set(
    "type kind name form sort part series variety example one member set pair group term class")
_OF = re.compile(r"\s(?:of|for|at|in)\s")
_BEFORE = re.compile(r"([^\W\d_][\w-]*\.?)\s+(of\s+|called\s+|named\s+)?(?:the\s+)?[\"“‘*_]?$")
_AFTER_THE = re.compile(r"\b(?:the|an?)\s+$")
_PERSON_SHAPE = re.compile(r"[^\W\d_]+\.?(?:[-'’][^\W\d_]+)*(?:\s(?:[^\W\d_]\.|[^\W\d_]+(?:[-'’][^\W\d_]+)*\.?)){1,3}")
_HAN_BEFORE = 5
_PLACE_BEFORE = frozenset({"in", "near", "from", "at"})
_CONTEXT = 60
_NEAR = 8
_TELLING = 3
_LEAST_SIMILARITY = 0.2
_WEIGHTS = {"copula": 10.0, "apposition": 7.0, "name": 6.0, "descriptor": 6.0, "known": 5.0, "hint": 3.0,
            "given": 3.5, "shape": 1.2, "quoted": 3.0, "relation": 2.0, "pronoun": 2.5, "place": 1.5}

_SURE = 3.0
"""Weight of evidence from which a type counts as told: a given name or a quoted title does, a shape does not."""

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
        texts = [f"{t.name}: {t.description}" for t in compiled.schema.entity_types]
        self._vectors: Vectors | None = embedder.encode(texts) if texts else None

    def types(self, source: Source, sentences: Sequence[Sentence], subject: str) -> tuple[dict[str, str], set[str]]:
        """The type of every name in the sentences.

        Args:
            source: the chunk.
            sentences: its sentences with their mentions, names already unified.
            subject: what the document's title names, or "".

        Returns:
            name -> type, for every mention that has a name; and the names that no telling word speaks for.
        """
        votes: dict[str, Votes] = defaultdict(lambda: defaultdict(float))
        places: dict[str, Mention] = {}
        for sentence in sentences:
            for mention in sentence.mentions:
                if mention.kind not in ANAPHORS:
                    places.setdefault(mention.name, mention)
                    self._vote(votes[mention.name], source, sentence, mention)
            self._vote_by_relations(votes, sentence)
        if subject and not votes[subject]:
            self._vote_by_pronouns(votes[subject], sentences)
            self._add(votes[subject], "name", self.by_name(subject))
        typed = {name: max(counter, key=lambda kind: (counter[kind], -self._rank(kind)))
                 for name, counter in votes.items() if counter}
        untyped = [name for name in places if name not in typed]
        typed.update(zip(untyped, self._by_embedding(source, [places[name] for name in untyped]), strict=True))
        if subject:
            typed.setdefault(subject, self._cues.fallback)
        unsure = {name for name in typed if max(votes[name].values(), default=0.0) < _SURE}
        return typed, unsure

    def by_name(self, name: str) -> str | None:
        """The type that a name's own words show: its head noun, its last characters, a known country."""
        if is_han(name[-1]):
            return self._cues.of_han_name(name)
        folded = fold(name)
        if folded in COUNTRIES:
            return self._cues.roles.get("place")
        head = _OF.split(folded, maxsplit=1)[0]
        words = [word.rstrip(".") for word in head.split()]
        if not words:
            return None
        first = words[0] if len(words) > 1 else ""
        candidates = [" ".join(words[-2:]), words[-1], first] if head == folded else [words[-1], first]
        return next((found for word in candidates if word and (found := self._exact(word))), None)

    def _exact(self, word: str) -> str | None:
        """A cue that is this very word: endings are no evidence inside names ('Baptist')."""
        plain = word.removesuffix("s")
        return self._cues.words.get(word) or self._cues.words.get(plain)

    def _rank(self, kind: str) -> int:
        return self._names.index(kind) if kind in self._names else len(self._names)

    @staticmethod
    def _add(votes: Votes, reason: str, kind: str | None) -> None:
        if kind:
            votes[kind] += _WEIGHTS[reason]

    def _vote(self, votes: Votes, source: Source, sentence: Sentence, mention: Mention) -> None:
        if mention.kind == "value":
            votes[self._cues.roles[mention.hint]] += _WEIGHTS["copula"]
            return
        self._add(votes, "hint", mention.hint if mention.hint in self._names else self._hinted(source, mention))
        if mention.kind == "term":
            self._add(votes, "copula", mention.hint if mention.hint in self._names else self._term_type(mention.name))
        elif mention.kind == "quoted":
            self._add(votes, "quoted", self._cues.roles.get("work"))
        if sentence.han:
            self._vote_in_chinese(votes, source, sentence, mention)
        else:
            self._vote_in_english(votes, source, sentence, mention)

    def _hinted(self, source: Source, mention: Mention) -> str | None:
        """The type for the segmenter's guess; 'in X' is no person whatever it guesses."""
        placed = mention.start > 0 and source.text[mention.start - 1] in "在往至"
        return self._cues.roles.get("place" if placed and mention.hint == "person" else mention.hint)

    def _term_type(self, name: str) -> str | None:
        if is_han(name[-1]):
            return self._cues.of_han_name(name)
        return self._cues.of_term(fold(name).split()[-1])

    def _vote_in_english(self, votes: Votes, source: Source, sentence: Sentence, mention: Mention) -> None:
        name_type = self.by_name(mention.name)
        self._add(votes, "name", name_type)
        for reason, pattern in (("copula", _COPULA), ("apposition", _APPOSITION)):
            match = pattern.match(source.folded, mention.end, sentence.end)
            if match:
                self._add(votes, reason, head_noun_type(match["noun"], self._cues))
        before = _BEFORE.search(source.folded, max(sentence.start, mention.start - 40), mention.start)
        if before:
            word = before[1].rstrip(".")
            described = None if word in PREPOSITIONS else self._cues.of_word(word)
            if not (before[2] and described == self._cues.roles.get("person")):
                self._add(votes, "descriptor", described)
            if word in _PLACE_BEFORE and not before[2]:
                self._add(votes, "place", self._cues.roles.get("place"))
        words = mention.name.split()
        if name_type is None and mention.kind != "quoted" and _PERSON_SHAPE.fullmatch(mention.name) and (
                not _AFTER_THE.search(source.folded, max(0, mention.start - 5), mention.start)):
            reason = "given" if fold(words[0]) in GIVEN_NAMES else "shape"
            self._add(votes, reason, self._cues.roles.get("person"))

    def _vote_in_chinese(self, votes: Votes, source: Source, sentence: Sentence, mention: Mention) -> None:
        self._add(votes, "name", self.by_name(mention.name))
        copula = _HAN_COPULA.match(source.folded, mention.end, sentence.end)
        if copula:
            self._add(votes, "copula", self._cues.of_han_name(copula["noun"]))
        before = source.folded[max(sentence.start, mention.start - _HAN_BEFORE) : mention.start]
        self._add(votes, "descriptor", self._described_in_chinese(before))

    def _described_in_chinese(self, before: str) -> str | None:
        """The type named by a word of two characters or more right before the mention ('诗人苏轼')."""
        heads = self._cues.han_heads
        return next((heads[before[-n:]] for n in range(len(before), 1, -1) if before[-n:] in heads), None)

    def _vote_by_relations(self, votes: dict[str, Votes], sentence: Sentence) -> None:
        """What stands next to 'was born in' is a person and a place: the relation's only domain and range."""
        schema = self._compiled
        for hits in sentence.hits:
            hit = hits[0]
            if len(hit.phrase) < 4 and not sentence.han:  # noqa: PLR2004 - too short to be telling
                continue
            name, inverse = hit.elements[0]
            relation = schema.relation_of[name]
            left, right = (relation.range, relation.domain) if inverse else (relation.domain, relation.range)
            near_left = next((m for m in reversed(sentence.mentions) if m.end <= hit.start), None)
            near_right = next((m for m in sentence.mentions if m.start >= hit.end), None)
            if near_left and near_left.name and hit.start - near_left.end < _NEAR:
                self._expect(votes[near_left.name], left)
            if near_right and near_right.name and near_right.start - hit.end < _NEAR:
                self._expect(votes[near_right.name], right)

    def _expect(self, votes: Votes, allowed: tuple[str, ...]) -> None:
        """A vote for the only type that a relation admits, a weaker one for the first of a few."""
        if len(allowed) <= _TELLING and allowed[0] in self._names:
            votes[allowed[0]] += _WEIGHTS["relation"] / len(allowed)

    def _vote_by_pronouns(self, votes: Votes, sentences: Iterable[Sentence]) -> None:
        for sentence in sentences:
            first = sentence.mentions[0] if sentence.mentions else None
            if first and first.kind == "pronoun" and first.hint == "person":
                self._add(votes, "pronoun", self._cues.roles.get("person"))

    def _by_embedding(self, source: Source, mentions: Sequence[Mention]) -> list[str]:
        """The types whose descriptions are nearest to each mention in its context.

        Where none is near, the type of last resort; a schema without one gets the nearest all the same.
        """
        if not mentions or self._vectors is None:
            return [self._cues.fallback] * len(mentions)
        texts = [f"{m.name}: {source.text[max(0, m.start - _CONTEXT) : m.end + _CONTEXT]}" for m in mentions]
        similarity = products(self._embedder.encode(texts), self._vectors)
        best = np.argmax(similarity, axis=1)
        least = _LEAST_SIMILARITY if self._cues.fallback in self._names else -1.0
        return [self._names[k] if similarity[i, k] >= least else self._cues.fallback for i, k in enumerate(best)]


def head_noun_type(phrase: str, cues: TypeCues) -> str | None:
    """The type shown by a noun phrase such as 'saudi arabian equestrian who won ...'.

    Args:
        phrase: folded words that begin after the article.
        cues: the schema's.

    Returns:
        The type of the head noun, which is the last word before a preposition, relative clause or
        comma; words before it are tried where it is no cue ('actor and singer').
    """
    end = _PHRASE_END.search(phrase)
    head = phrase[: end.start()] if end else phrase
    words = [word.rstrip(".") for word in _NOUN_WORD.findall(head)]
    if words and words[-1] in _KIND_NOUNS and end and end.group().strip() == "of":
        return head_noun_type(phrase[end.end() :].strip(), cues)
    for i in range(len(words) - 1, max(-1, len(words) - 4), -1):
        pair = f"{words[i - 1]} {words[i]}" if i else ""
        found = cues.words.get(pair) or (None if words[i] in NATIONALITIES else cues.of_word(words[i]))
        if found:
            return found
    return None
