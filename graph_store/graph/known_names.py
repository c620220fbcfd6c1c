"""Names that a chunk has and its own reading missed, and short names of persons that a document names in full.

A chunk is read alone. What is a name in one chunk is a name in the others, too, and what the others mostly write in
small letters is none. "Ben" is Ben Sternthal in a document where nobody else is called Ben; elsewhere a bare first name
that is said only once or twice names nobody. All this is a function of all rows and texts, and never stored.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...models.rules.likeness import gender_of, is_first_name
from ...models.rules.recognition.name_kinds import HONORIFICS
from ...schemas.documents import Chunk
from ...schemas.naming import label_key, normalise
from .graph_columns import GraphColumns, MentionTable, distinct_rows, select_rows

_PERSON_TYPES = frozenset({"person", "human", "people", "character"})
_SEVERAL_WORDS = re.compile(r"[A-Z][\w.'’&-]*(?: (?:[a-z]{1,3} ){0,2}(?:[A-Z][\w.'’&-]*|\d+))+")
_WORD = re.compile(r"[A-Z]\w*+(?:\.[a-z]{2,4})?")
_MIXED = re.compile(r"[a-z](?:\.|[A-Z])")
"""What Node.js and OpenJS have within: one word that is a name wherever it stands."""
_OF_MARRIED_WOMEN = frozenset({"mrs", "lady", "madame", "madam", "countess", "baroness"})
"""Forms of address before the name of a husband."""
_FULL_NAME = re.compile(r"[^\W\d_][\w.'’-]+(?: [^\W\d_][\w.'’-]*){1,3}")
_KEY = re.compile(r"\w+")
_SMALL_WORD = re.compile(r"(?<![\w@./-])[a-z]\w+(?![\w@/]|[.-]\w)")
_CONTINUED_BEFORE, _CONTINUED_BEHIND = re.compile(r"[\w/@.-]"), re.compile(r"[\w/@]|[-.]\w")
"""What stands before or behind a part of a longer word or of an address."""
_OFTEN = 3
"""In so many chunks of a document a bare first name is somebody's only name."""
_MOSTLY = 2  # how many times as many chunks have a common word in small letters


class _Missed(NamedTuple):
    """A mention that the reading of a chunk missed: the entity's row, the name's number, and the place in the chunk."""

    entity: int
    name: int
    chunk: str
    start: int


def complete_mentions(columns: GraphColumns, chunks: Iterable[Chunk]) -> GraphColumns:
    """Return the graph with every mention of its names in chunks, and short names of persons under the full ones."""
    document_of = dict[str, str]()
    names_by_key = _names_to_find(columns)
    known = set(zip(columns.mentions.chunk.tolist(), columns.mentions.name.tolist(), strict=True))
    capitalised = {name.lower() for name in _entity_names(columns) if name.istitle()}
    chunks_with_small = Counter[str]()  # by word: the number of chunks that have it in small letters
    missed: list[_Missed] = []
    for chunk in chunks:
        document_of[chunk.id] = chunk.document_id
        text, number = chunk.text.replace("\n", " "), columns.number_of(chunk.id)
        chunks_with_small.update(capitalised.intersection(_SMALL_WORD.findall(text)))
        for key in names_by_key.keys() & set(_KEY.findall(text)):
            for name, entity in names_by_key[key]:
                start = -1 if (number, name) in known else _find_name(text, columns.texts[name])
                if start >= 0:
                    missed.append(_Missed(entity, name, chunk.id, start))
    old_texts = columns.texts
    columns = columns.with_texts(one.chunk for one in missed)  # which gives the names other numbers
    rows = [(one.entity, columns.number_of(old_texts[one.name]), columns.number_of(one.chunk), one.start,
             one.start + len(old_texts[one.name])) for one in missed]
    added = np.array(rows, np.int32).reshape(-1, len(MentionTable._fields)).T
    joined: Any = (np.concatenate(pair) for pair in zip(columns.mentions, added, strict=True))
    columns = replace(columns, mentions=distinct_rows(MentionTable(*joined), 3))
    return _without_unmentioned(_join_short_names(_without_common_words(columns, chunks_with_small), document_of))


def _entity_names(columns: GraphColumns) -> list[str]:
    return [columns.texts[name] for name in columns.names.tolist()]


def _find_name(text: str, name: str) -> int:
    """Return where a text has a name as whole words, or -1."""
    start = text.find(name)
    while start >= 0 and (_CONTINUED_BEFORE.match(text, start - 1, start)
                          or _CONTINUED_BEHIND.match(text, start + len(name))):
        start = text.find(name, start + 1)
    return start


def _names_to_find(columns: GraphColumns) -> dict[str, list[tuple[int, int]]]:
    """Return the names that cannot be common words, by their longest word: each name's number and its entity's row.

    Of several entities with a name, for instance of different types, it is the one with the most mentions.
    """
    entities: dict[int, Counter[int]] = defaultdict(Counter)
    for entity, name in zip(columns.mentions.entity.tolist(), columns.mentions.name.tolist(), strict=True):
        entities[name][entity] += 1
    by_key: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, counts in entities.items():
        name = columns.texts[number]
        is_mixed = _WORD.fullmatch(name) is not None and _MIXED.search(name) is not None
        if (is_mixed or _SEVERAL_WORDS.fullmatch(name)) and not name.endswith(("'s", "’s")):
            by_key[max(_KEY.findall(name), key=len)].append((number, counts.most_common(1)[0][0]))
    return by_key


def _without_common_words(columns: GraphColumns, chunks_with_small: Mapping[str, int]) -> GraphColumns:
    """Return the graph without mentions of words that most chunks have in small letters."""
    mention_counts, with_facts = np.bincount(columns.mentions.entity), _entities_with_facts(columns)
    common = [entity for entity, name in enumerate(_entity_names(columns))
              if name.istitle() and not is_first_name(name) and entity not in with_facts
              and chunks_with_small.get(name.lower(), 0) > _MOSTLY * mention_counts[entity]]
    return replace(columns, mentions=select_rows(columns.mentions, ~np.isin(columns.mentions.entity, common)))


def _entities_with_facts(columns: GraphColumns) -> set[int]:
    return {*columns.triples[:, [0, 2]].ravel().tolist(), *columns.values.entity.tolist()}


class _PersonNames:
    """The names of persons in documents, read from mentions: short ones, such as "Ben" or "Mr. Karl", and full ones."""

    def __init__(self, columns: GraphColumns, document_of: Mapping[str, str]) -> None:
        self.short: dict[tuple[str, int], list[int]] = defaultdict(list)
        """The rows of the mentions of each entity with a short name and without facts, by document and entity."""
        self._full: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        """The entity of each full name, by document and the name's first or last word."""
        self._names = _entity_names(columns)
        self._mention_counts = np.bincount(columns.mentions.entity, minlength=len(columns.ids))
        with_facts = _entities_with_facts(columns)
        is_person = [label_key(columns.texts[kind]) in _PERSON_TYPES for kind in columns.types.tolist()]
        cells = zip(columns.mentions.entity.tolist(), columns.mentions.chunk.tolist(), strict=True)
        for row, (entity, chunk) in enumerate(cells):
            document = document_of.get(columns.texts[chunk], "")
            if not document or not is_person[entity]:
                continue
            words, address = self._names[entity].split(), _form_of_address(self._names[entity])
            if len(words) != (2 if address else 1) or not words[-1][0].isupper():
                self._add_full(document, entity)
            elif entity not in with_facts and address not in _OF_MARRIED_WOMEN:
                self.short[document, entity].append(row)

    def _add_full(self, document: str, entity: int) -> None:
        """Note a mention of a person under a full name; of several entities with the name, keep the most frequent."""
        words, name = self._names[entity].split(), normalise(self._names[entity])
        if _FULL_NAME.fullmatch(name) and not _form_of_address(name) and not words[0].isupper():
            for word in {words[0], words[-1]}:
                entities = self._full[document, normalise(word)]
                entities[name] = max(entity, entities.get(name, entity), key=self._mention_counts.__getitem__)

    def find_full(self, document: str, entity: int) -> set[int]:
        """Return the entities with full names that the short name of an entity can mean in a document."""
        name = self._names[entity]
        persons = set(self._full[document, normalise(name.split()[-1])].values())
        if not _form_of_address(name):
            return persons
        return {person for person in persons  # the form of address shows the gender
                if {gender_of(name), gender_of(self._names[person])} != {"man", "woman"}}


def _form_of_address(name: str) -> str:
    """Return the form of address with which a name of several words begins, in small letters: "mrs"; or ""."""
    first, _, others = name.partition(" ")
    address = first.rstrip(".").lower()
    return address if others and address in HONORIFICS else ""


def _join_short_names(columns: GraphColumns, document_of: Mapping[str, str]) -> GraphColumns:
    """Give the mentions of a short name to the only person of the same document that it can be.

    A rare bare first name is dropped if it could be several persons, or somebody who is not named in full.
    """
    names = _PersonNames(columns, document_of)
    entities, is_kept = columns.mentions.entity.copy(), np.ones(len(columns.mentions.entity), bool)
    for (document, entity), rows in names.short.items():
        name = columns.texts[columns.names[entity]]
        persons = names.find_full(document, entity)
        if len(persons) == 1:
            entities[rows] = persons.pop()
        elif " " not in name and len(rows) < _OFTEN and (persons or is_first_name(name)):
            is_kept[rows] = False
    mentions = select_rows(columns.mentions._replace(entity=entities), is_kept)
    return replace(columns, mentions=distinct_rows(mentions, 3))


def _without_unmentioned(columns: GraphColumns) -> GraphColumns:
    """Return the graph without entities whose mentions were all given away; none of them has facts."""
    kept = np.unique(columns.mentions.entity)
    if len(kept) == len(columns.ids):
        return columns
    row = np.zeros(len(columns.ids), np.int32)
    row[kept] = np.arange(len(kept))
    triples = columns.triples.copy()
    triples[:, [0, 2]] = row[triples[:, [0, 2]]]
    return replace(columns, ids=[columns.ids[one] for one in kept.tolist()], types=columns.types[kept],
                   names=columns.names[kept], triples=triples,
                   mentions=columns.mentions._replace(entity=row[columns.mentions.entity]),
                   values=columns.values._replace(entity=row[columns.values.entity]),
                   value_times=columns.value_times._replace(entity=row[columns.value_times.entity]))
