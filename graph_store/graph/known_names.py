"""Names that a chunk has and its own reading missed, and short names of persons that a document names in full.

A chunk is read alone. What is a name in one chunk is a name in the others, too, and what the others mostly write in
small letters is none. "Ben" is Ben Sternthal in a document where nobody else is called Ben; elsewhere a bare first name
that is said only once or twice names nobody. All this is a function of all rows and texts, and never stored.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...models.rules.likeness import gender_of, is_first_name
from ...models.rules.recognition.name_kinds import HONORIFICS
from ...schemas.documents import Chunk
from ...schemas.naming import label_key, normalise
from .graph_columns import GraphColumns, MentionTable, distinct_rows, select_rows

_PERSONS = frozenset({"person", "human", "people", "character"})
_SEVERAL_WORDS = re.compile(r"[A-Z][\w.'’&-]*(?: (?:[a-z]{1,3} ){0,2}(?:[A-Z][\w.'’&-]*|\d+))+")
_WORD = re.compile(r"[A-Z]\w*+(?:\.[a-z]{2,4})?")
_MIXED = re.compile(r"[a-z](?:\.|[A-Z])")
"""What Node.js and OpenJS have within: one word that is a name wherever it stands."""
_OF_MARRIED_WOMEN = frozenset({"mrs", "lady", "madame", "madam", "countess", "baroness"})
"""Forms of address before the name of a husband."""
_NOT_IN_FULL_NAMES = frozenset({"of", "the", "and", "to"})
_FULL_NAME = re.compile(r"[^\W\d_][\w.'’-]+(?: [^\W\d_][\w.'’-]*){1,3}")
_KEY, _SMALL = re.compile(r"\w+"), re.compile(r"(?<![\w@./-])[a-z]\w+(?![\w@/]|[.-]\w)")
_WORD_BEFORE, _WORD_BEHIND = re.compile(r"[\w/@.-]"), re.compile(r"[\w/@]|[-.]\w")
_OFTEN = 3
"""In so many chunks of a document a bare first name is somebody's only name."""
_MOSTLY = 2  # how many times as many chunks have a common word in small letters
_RARER = 10  # a full name in one of so many chunks that have the other one is a slip


def complete_mentions(columns: GraphColumns, chunks: Iterable[Chunk]) -> GraphColumns:
    """Return the graph with every mention of its names in chunks, and short names of persons under the full ones."""
    document_of, written_small = dict[str, str](), Counter[str]()
    names_by_key = _names_to_find(columns)
    small_names = {name.lower() for name in map(columns.texts.__getitem__, columns.names.tolist()) if name.istitle()}
    known = set(zip(columns.mentions.chunk.tolist(), columns.mentions.name.tolist(), strict=True))
    found = list[tuple[int, int, str, int, int]]()
    for chunk in chunks:
        document_of[chunk.id] = chunk.document_id
        number, text = columns.number_of(chunk.id), " ".join(chunk.text.split("\n"))
        written_small.update(small_names.intersection(_SMALL.findall(text)))
        for key in names_by_key.keys() & set(_KEY.findall(text)):
            found += [(entity, name, chunk.id, start, start + len(words)) for name, entity in names_by_key[key]
                      if (number, name) not in known and (start := _find(text, words := columns.texts[name])) >= 0]
    columns = _without_common_words(_with_mentions(columns, found), written_small)
    return _without_unmentioned(_join_short_names(columns, document_of))


def _find(text: str, name: str) -> int:
    """Return where a text has a name as whole words, or -1."""
    start = text.find(name)
    while start >= 0 and (_WORD_BEFORE.match(text, start - 1, start) or _WORD_BEHIND.match(text, start + len(name))):
        start = text.find(name, start + 1)
    return start


def _names_to_find(columns: GraphColumns) -> dict[str, list[tuple[int, int]]]:
    """Return the names that cannot be common words, each as its number and entity, by their longest word."""
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


def _with_mentions(columns: GraphColumns, found: list[tuple[int, int, str, int, int]]) -> GraphColumns:
    names = [columns.texts[name] for _, name, *_ in found]
    columns = columns.with_texts(chunk for _, _, chunk, *_ in found)
    rows: Any = np.array([(entity, columns.number_of(name), columns.number_of(chunk), *place)
                          for (entity, _, chunk, *place), name in zip(found, names, strict=True)],
                         np.int32).reshape(-1, len(MentionTable._fields))
    joined = (np.concatenate([old, new]) for old, new in zip(columns.mentions, rows.T, strict=True))
    return replace(columns, mentions=distinct_rows(MentionTable(*joined), 3))


def _without_common_words(columns: GraphColumns, written_small: Mapping[str, int]) -> GraphColumns:
    """Return the graph without mentions of words that most chunks have in small letters."""
    names, rows_of = [columns.texts[name] for name in columns.names.tolist()], np.bincount(columns.mentions.entity)
    common = [entity for entity, name in enumerate(names) if name.istitle() and not is_first_name(name)
              and written_small.get(name.lower(), 0) > _MOSTLY * rows_of[entity]]
    common = sorted({*common} - _entities_with_facts(columns))
    return replace(columns, mentions=select_rows(columns.mentions, ~np.isin(columns.mentions.entity, common)))


def _entities_with_facts(columns: GraphColumns) -> set[int]:
    return {*columns.triples[:, [0, 2]].ravel().tolist(), *columns.values.entity.tolist()}


def _join_short_names(columns: GraphColumns, document_of: Mapping[str, str]) -> GraphColumns:
    """Give the mentions of a short name to the only person of the same document that it can be."""
    texts, mentions, has_facts = columns.texts, columns.mentions, _entities_with_facts(columns)
    short_rows: dict[tuple[str, int], list[int]] = defaultdict(list)
    full_names: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    full_rows = Counter[tuple[str, int]]()
    is_person = [label_key(texts[kind]) in _PERSONS for kind in columns.types.tolist()]
    rows_of = np.bincount(mentions.entity, minlength=len(columns.ids))
    entities, holds = mentions.entity.copy(), np.ones(len(mentions.entity), bool)
    for row, (entity, chunk) in enumerate(zip(mentions.entity.tolist(), mentions.chunk.tolist(), strict=True)):
        document = document_of.get(texts[chunk], "")
        words = texts[columns.names[entity]].split() if is_person[entity] and document else []
        if not words:
            continue
        address = words[0].rstrip(".").lower() if len(words) > 1 and words[0].rstrip(".").lower() in HONORIFICS else ""
        name = normalise(" ".join(words))
        if len(words) == 1 + bool(address) and words[-1][0].isupper() and entity not in has_facts:
            if address not in _OF_MARRIED_WOMEN:
                short_rows[document, entity].append(row)
        elif not address and not words[0].isupper() and _NOT_IN_FULL_NAMES.isdisjoint(words) and (
                _FULL_NAME.fullmatch(name)):
            for word in {words[0], words[-1]}:
                others = full_names[document, normalise(word)]
                others[name] = max(entity, others.get(name, entity), key=lambda one: rows_of[one])
            full_rows[document, entity] += 1
    for (document, entity), rows in short_rows.items():
        short = texts[columns.names[entity]]
        word = short.rpartition(" ")[2]
        persons = {person for person in full_names[document, normalise(word)].values()
                   if word == short or {gender_of(short), gender_of(texts[columns.names[person]])} != {"man", "woman"}}
        most = max((full_rows[document, person] for person in persons), default=0)
        persons = {person for person in persons if full_rows[document, person] * _RARER > most}
        if len(persons) == 1:
            entities[rows] = persons.pop()
        elif word == short and len(rows) < _OFTEN and (persons or is_first_name(word)):
            holds[rows] = False
    return replace(columns, mentions=distinct_rows(select_rows(mentions._replace(entity=entities), holds), 3))


def _without_unmentioned(columns: GraphColumns) -> GraphColumns:
    """Return the graph without entities whose mentions were all given away; none of them has facts."""
    kept = np.unique(columns.mentions.entity)
    if len(kept) == len(columns.ids):
        return columns
    row = np.zeros(len(columns.ids), np.int32)
    row[kept] = np.arange(len(kept))
    triples = columns.triples.copy()
    triples[:, [0, 2]] = row[triples[:, [0, 2]]]
    tables: dict[str, Any] = {name: table._replace(entity=row[table.entity])
                              for name in ("mentions", "values", "value_times") for table in [getattr(columns, name)]}
    return replace(columns, ids=[columns.ids[one] for one in kept.tolist()], types=columns.types[kept],
                   names=columns.names[kept], triples=triples, **tables)
