"""Names that a chunk has and its own reading missed, and short names of persons that a document names in full.

A chunk is read alone. What is a name in one chunk is a name in the others, too, and what the others mostly write in
small letters is none. "Ben" is Ben Sternthal in a document where nobody else is called Ben; elsewhere a bare first name
that is said only once or twice names nobody. "Ukridge" is Mr. Ukridge wherever only he is called so, as novels name
their heroes, and a person often called by one word is found by it. All this is derived from all rows, never stored.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...models.rules.likeness import has_proper_word, is_first_name
from ...models.rules.recognition.name_kinds import HONORIFICS, ROLES, infer_type
from ...schemas.documents import Chunk
from ...schemas.naming import label_key, normalise
from ...text.lexicon import ENGLISH_STOP, read_patterns
from ...text.section_lines import BETWEEN
from .graph_columns import GraphColumns, MentionTable, distinct_rows, select_rows

_ADDRESSES = HONORIFICS | ROLES
_PERSON_TYPES = frozenset({"person", "human", "people", "character"})
_CAPITALISED_WORDS = re.compile(r"[A-Z][\w.'’&-]*(?: (?:[a-z]{1,3} ){0,2}(?:[A-Z][\w.'’&-]*|\d+))+")
_CAPITALISED_WORD = re.compile(r"[A-Z]\w*+(?:\.[a-z]{2,4})?")
_MIXED = re.compile(r"[a-z](?:\.|[A-Z])")
"""Within a word such as Node.js or OpenJS, which is a name even at the beginning of a sentence."""
_OF_MARRIED_WOMEN = frozenset(read_patterns("entity_names.toml")["of_married_women"].split())
_FULL_NAME = re.compile(r"[^\W\d_][\w.'’-]+(?: [^\W\d_][\w.'’-]*){1,3}")  # two to four words without digits
_WORD = re.compile(r"\w+")
_WORD_IN_SMALL_LETTERS = re.compile(r"(?<![\w@./-])[a-z]\w+(?![\w@/]|[.-]\w)")
_CONTINUED_BEFORE, _CONTINUED_BEHIND = re.compile(r"[\w/@.-]"), re.compile(r"[\w/@]|[-.]\w")
"""Before or behind a place that has one of these is a longer word or an address, not the name."""
_CAPITALISED_BEFORE, _CAPITALISED_BEHIND = re.compile(r"(?<!\w)([A-Z][\w'’-]{0,30})\.?\s\Z"), re.compile(r"\s[A-Z]")
"""Before or behind a name of one word that is a part of a longer one there: "Mrs. Ukridge", "Ukridge Hall"."""
_LONGEST_BEFORE = 40  # characters in which the word before a name is looked for
_OFTEN = 3  # a bare first name with so many mentions in a document is the only name that somebody has there
_VERY_OFTEN = 5  # what has so many mentions by a name of one word is meant by it wherever it stands alone
_SHORTEST_ACRONYM = 3  # letters: in capitals for emphasis, "US" may be a pronoun
_SECTIONS = 3  # what is the heading of a part in so many documents is no name, unless it has a word like names
_MOSTLY = 2  # a name is a common word if more than this many times as many chunks have it in small letters


def complete_mentions(columns: GraphColumns, chunks: Iterable[Chunk]) -> GraphColumns:
    """Return the graph with every mention of its names in chunks, and short names of persons under the full ones."""
    document_of = dict[str, str]()
    names_by_word = _names_to_find(columns)
    names_read: dict[int, set[str]] = defaultdict(set)  # by chunk: the names that its own reading found
    for number, name in zip(columns.mentions.chunk.tolist(), columns.mentions.name.tolist(), strict=True):
        names_read[number].add(columns.texts[name])
    persons = _persons_of_one_word(columns)
    counts = np.bincount(columns.mentions.entity, minlength=len(columns.ids)).tolist()
    often_named = _often_named(columns, counts)
    of_one_word = often_named | persons
    one_word_names = {name.lower() for name in (*_entity_names(columns), *persons) if name.istitle()}
    small_letters = Counter[str]()  # by such a name: how many chunks have it as a word in small letters
    small_words = set[str]()  # all words in small letters
    missed = list[tuple[int, str, str, int]]()  # mentions: the entity's row, the name, the chunk and where it begins
    bare = dict[tuple[int, str, str, int], str]()  # those by one word, each with a word with a capital before it, or ""
    documents_of_heading: dict[str, set[str]] = defaultdict(set)
    for chunk in chunks:
        document_of[chunk.id] = chunk.document_id
        # A line may be broken within a name.
        text, own_names = chunk.text.replace("\n", " "), names_read[columns.number_of(chunk.id)]
        small_words_here = {*_WORD_IN_SMALL_LETTERS.findall(text)}
        small_letters.update(one_word_names & small_words_here)
        small_words |= small_words_here
        words = {*_WORD.findall(text)}
        for word in names_by_word.keys() & words:
            for name, entity in names_by_word[word]:
                if name not in own_names and (start := next(_places_of(text, name), -1)) >= 0:
                    missed.append((entity, name, chunk.id, start))
        for name in of_one_word.keys() & words:
            if place := _find_bare_name(text, name):
                bare[of_one_word[name], name, chunk.id, place[0]] = place[1]
        for heading in chunk.heading.split(BETWEEN):
            documents_of_heading[normalise(heading)].add(chunk.document_id)
    persons = {name: entity for name, entity in persons.items() if not small_letters[name.lower()]}  # not Mr. Black
    often_named = {name: entity for name, entity in often_named.items()
                   if name not in persons and _MOSTLY * small_letters[name.lower()] <= counts[entity]}
    of_one_word = often_named | persons
    missed += [mention for mention, word in bare.items()  # "Black Michael" is Michael
               if of_one_word.get(mention[1]) == mention[0] and (not word or word.lower() in small_words)]
    columns = _join_bare_names(columns, persons)
    # A chunk may be without mentions until now, and a family name in no chunk's reading.
    columns = columns.with_texts(text for _, name, chunk_id, _ in missed for text in (name, chunk_id))
    rows = [(entity, columns.number_of(name), columns.number_of(chunk_id), start, start + len(name))
            for entity, name, chunk_id, start in missed]
    missed_columns = np.array(rows, np.int32).reshape(-1, len(MentionTable._fields)).T
    mentions = MentionTable(*map(np.concatenate, zip(columns.mentions, missed_columns, strict=True)))
    sections = {heading for heading, documents in documents_of_heading.items() if len(documents) >= _SECTIONS}
    columns = _without_false_names(replace(columns, mentions=distinct_rows(mentions)), small_letters, sections)
    return _without_unmentioned(_join_short_names(columns, document_of, {*persons.values()}, {*often_named.values()}))


def _entity_names(columns: GraphColumns) -> list[str]:
    """Return the most used name of each entity, in the order of their rows."""
    return [columns.texts[name] for name in columns.names.tolist()]


def _places_of(text: str, name: str) -> Iterator[int]:
    """Yield where a text has a name that is no part of a longer word or address."""
    start = text.find(name)
    while start >= 0:
        if not (_CONTINUED_BEFORE.match(text, start - 1, start) or _CONTINUED_BEHIND.match(text, start + len(name))):
            yield start
        start = text.find(name, start + 1)


def _persons_of_one_word(columns: GraphColumns) -> dict[str, int]:
    """Return by name the row of the person whom it means: who is often called so, or addressed so, as Mr. Ukridge.

    Of several persons with full names or forms of address it is none; a married woman is not meant by the name alone.
    What is more often called so without being a person (London, where a Mr. London lives) is none either. No mention is
    taken from what has facts.
    """
    counts = np.bincount(columns.mentions.entity, minlength=len(columns.ids)).tolist()
    with_facts = _entities_with_facts(columns)
    addressed: dict[str, list[int]] = defaultdict(list)
    often, surplus = dict[str, int](), Counter[str]()  # by name: how much more often persons have it than other things
    first_names, have_facts = Counter[str](), set[str]()  # of full names; persons of one word that have facts
    for entity, (name, kind) in enumerate(zip(_entity_names(columns), columns.types.tolist(), strict=True)):
        first_words, _, last = name.rpartition(" ")
        is_person = label_key(columns.texts[kind]) in _PERSON_TYPES
        if is_person:
            surplus[last] += counts[entity]
            first_names[first_words.partition(" ")[0]] += 1
            if first_words.rstrip(".").lower() in HONORIFICS - _OF_MARRIED_WOMEN and not is_first_name(last):
                addressed[last].append(entity)
            elif not first_words and counts[entity] >= _OFTEN:
                often[name] = entity
            if name == last and entity in with_facts:
                have_facts.add(name)
        else:
            surplus[name] -= len(columns.mentions.entity) if entity in with_facts else counts[entity]
    only_addressed = {name: rows[0] for name, rows in addressed.items() if len(rows) == 1 and name not in have_facts}
    return {name: entity for name, entity in {**often, **only_addressed}.items()
            if name.istitle() and name.isalpha() and surplus[name] > 0 and first_names[name] <= 1}


def _often_named(columns: GraphColumns, counts: Sequence[int]) -> dict[str, int]:
    """Return by name of one word the row of what is called so very often, whatever it is.

    `counts` are the mentions of each entity. Of several it is the most mentioned one. A surname that was read as a
    place is none.
    """
    is_person = [label_key(columns.texts[kind]) in _PERSON_TYPES for kind in columns.types.tolist()]
    names = _entity_names(columns)
    surnames = {name.rpartition(" ")[2] for entity, name in enumerate(names) if is_person[entity] and " " in name}
    often = sorted((counts[entity], -entity) for entity, name in enumerate(names)
                   if counts[entity] >= _VERY_OFTEN and name.istitle() and name.isalpha()
                   and (is_person[entity] or name not in surnames))
    return {names[-entity]: -entity for _, entity in often}


def _find_bare_name(text: str, name: str) -> tuple[int, str] | None:
    """Return where a text first has a name of one word that may be no part of a longer name, or None.

    With it goes the word with a capital before it, which may be an adjective, or "" if there is none.
    """
    places = dict[str, int]()  # by the word before the name
    for start in _places_of(text, name):
        before = _CAPITALISED_BEFORE.search(text[max(0, start - _LONGEST_BEFORE):start])
        word = before[1] if before and before[1].lower() not in ENGLISH_STOP else ""  # not "But Ukridge"
        if word.lower() not in _ADDRESSES and not _CAPITALISED_BEHIND.match(text, start + len(name)):
            places.setdefault(word, start)
    word = min(places, default="")  # "" if it stands alone anywhere
    return (places[word], word) if places else None


def _join_bare_names(columns: GraphColumns, persons: Mapping[str, int]) -> GraphColumns:
    """Give the mentions of names of one word, whatever they were taken for, to the persons who are meant by them."""
    entities = np.array([persons.get(name, entity) for entity, name in enumerate(_entity_names(columns))], np.int32)
    return replace(columns, mentions=columns.mentions._replace(entity=entities[columns.mentions.entity]))


def _names_to_find(columns: GraphColumns) -> dict[str, list[tuple[str, int]]]:
    """Return the names that cannot be common words, by their longest word, each with the row of its entity."""
    entity_counts: dict[int, Counter[int]] = defaultdict(Counter)  # by name: how often it means which entity
    for entity, number in zip(columns.mentions.entity.tolist(), columns.mentions.name.tolist(), strict=True):
        entity_counts[number][entity] += 1
    by_longest_word: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for number, counts in entity_counts.items():
        name = columns.texts[number]
        is_mixed = _CAPITALISED_WORD.fullmatch(name) is not None and _MIXED.search(name) is not None
        is_possessive = name.endswith(("'s", "’s"))  # "Ben's" is another form of a name
        is_acronym = name.isupper() and name.isalpha() and len(name) >= _SHORTEST_ACRONYM
        if (is_mixed or is_acronym or _CAPITALISED_WORDS.fullmatch(name)) and not is_possessive:
            ((most_mentioned, _),) = counts.most_common(1)  # there may be others of the name, such as of other types
            by_longest_word[max(_WORD.findall(name), key=len)].append((name, most_mentioned))
    return by_longest_word


def _without_false_names(columns: GraphColumns, small_letters: Mapping[str, int],
                         sections: Container[str]) -> GraphColumns:
    """Return the graph without mentions of `sections` and of words that many chunks have in `small_letters`."""
    mention_counts = np.bincount(columns.mentions.entity, minlength=len(columns.ids))  # some have lost all of theirs
    with_facts = _entities_with_facts(columns)
    false_entities = list[int]()
    for entity, name in enumerate(_entity_names(columns)):
        is_common = (name.istitle() and not is_first_name(name)
                     and small_letters[name.lower()] > _MOSTLY * mention_counts[entity])
        is_general = not has_proper_word(name) and not infer_type(name)  # "Future Directions", not "Oslo Council"
        is_section = is_general and normalise(name) in sections
        if entity not in with_facts and (is_common or is_section):
            false_entities.append(entity)
    is_true = ~np.isin(columns.mentions.entity, false_entities)
    return replace(columns, mentions=select_rows(columns.mentions, is_true))


def _entities_with_facts(columns: GraphColumns) -> set[int]:
    """Return the rows of the entities that have triples or attribute values: nothing about them may be dropped."""
    return {*columns.triples[:, [0, 2]].ravel().tolist(), *columns.values.entity.tolist()}


class _PersonNames(NamedTuple):
    """Short and full names in documents: "Ben" or "Mr. Karl", and "Ben Sternthal"."""

    rows_of_short: dict[tuple[str, int], list[int]]  # by document and entity without facts: its mentions there
    full: dict[tuple[str, str], dict[str, int]]  # by document and first or last word: full names with their persons


def _read_person_names(columns: GraphColumns, document_of: Mapping[str, str],
                       is_person: Sequence[bool]) -> _PersonNames:
    """Return the names that are, or may be, those of persons; `is_person` says which entities were read as such."""
    entity_names, with_facts = _entity_names(columns), _entities_with_facts(columns)
    names = _PersonNames(defaultdict(list), defaultdict(dict))
    cells = zip(columns.mentions.entity.tolist(), columns.mentions.chunk.tolist(), strict=True)
    for row, (entity, chunk) in enumerate(cells):
        document, name = document_of.get(columns.texts[chunk], ""), entity_names[entity]
        words = name.split()
        first_word = words[0].rstrip(".").lower()
        address = first_word if len(words) > 1 and first_word in HONORIFICS else ""  # such as "mrs"
        is_short = len(words) == (2 if address else 1) and words[-1][0].isupper()
        is_guess = not is_person[entity] and name.istitle() and len(words) == 1  # "Kuhnau", taken for a place
        is_ruler, is_acronym = " of " in name, words[0].isupper() and "." not in words[0]
        if not document:  # another process has deleted it meanwhile
            continue
        if is_person[entity] and not is_short:
            if _FULL_NAME.fullmatch(name) and not (address or is_ruler or is_acronym):
                for word in {words[0], words[-1]}:
                    names.full[document, normalise(word)].setdefault(normalise(name), entity)
        elif entity not in with_facts and (is_guess or (is_person[entity] and address not in _OF_MARRIED_WOMEN)):
            names.rows_of_short[document, entity].append(row)
    return names


def _join_short_names(columns: GraphColumns, document_of: Mapping[str, str], known: Container[int],
                      often_named: Container[int]) -> GraphColumns:
    """Give the mentions of a short name to the only person of its document, else of all; drop doubtful ones.

    `known` are the rows of persons who alone are called by one word; those `often_named` by it may be several.
    """
    entity_names = _entity_names(columns)
    mention_counts = np.bincount(columns.mentions.entity, minlength=len(columns.ids))
    is_person = [label_key(columns.texts[kind]) in _PERSON_TYPES for kind in columns.types.tolist()]
    names = _read_person_names(columns, document_of, is_person)
    entities, is_dropped = columns.mentions.entity.copy(), np.zeros(len(columns.mentions.entity), bool)
    meant: dict[int, list[int]] = defaultdict(list)  # by short name: whom it means in documents with a full name
    elsewhere: dict[int, list[list[int]]] = defaultdict(list)  # its mentions in each document without a full name
    for (document, entity), rows in names.rows_of_short.items():
        name = entity_names[entity]
        persons = {*names.full[document, normalise(name.split()[-1])].values()}
        if not is_person[entity]:  # London is only Jack London in a document that names him at least as often
            persons = {person for person in persons
                       if entity_names[person].endswith(f" {name}") and mention_counts[person] >= len(rows)}
        if len(persons) == 1:
            meant[entity] += persons
            entities[rows] = meant[entity][-1]
        # A rare name is dropped if it is of several persons, or the first name of somebody who is not named in full.
        elif entity not in often_named and (
                persons or (is_person[entity] and is_first_name(name) and entity not in known)):
            is_dropped[rows] = len(rows) < _OFTEN
        if is_person[entity] and not persons:
            elsewhere[entity].append(rows)
    bearers: dict[str, set[int]] = defaultdict(set)  # by surname: who is called so in full in any document
    for (_, word), full_names in names.full.items():
        bearers[word].update(person for name, person in full_names.items() if name.endswith(f" {word}"))
    for entity, documents in elsewhere.items():
        last_word = entity_names[entity].split()[-1]
        # "Marbury" is John Marbury in the next chapter, too. "Luis" of one document is seldom that of all others.
        is_surname = not is_first_name(last_word) or len(meant[entity]) >= len(documents)
        if meant[entity] and bearers[normalise(last_word)] == {*meant[entity]} and is_surname:
            for rows in documents:
                entities[rows], is_dropped[rows] = meant[entity][0], False
    mentions = select_rows(columns.mentions._replace(entity=entities), ~is_dropped)
    return replace(columns, mentions=distinct_rows(mentions))


def _without_unmentioned(columns: GraphColumns) -> GraphColumns:
    """Return the graph without entities whose mentions were all given away; none of them has facts."""
    mentioned = np.unique(columns.mentions.entity)
    new_row = np.zeros(len(columns.ids), np.int32)
    new_row[mentioned] = np.arange(len(mentioned))
    triples = columns.triples.copy()
    triples[:, [0, 2]] = new_row[triples[:, [0, 2]]]
    tables: dict[str, Any] = {name: getattr(columns, name)._replace(entity=new_row[getattr(columns, name).entity])
                              for name in ("mentions", "values", "value_times")}
    return replace(columns, ids=[columns.ids[entity] for entity in mentioned.tolist()], types=columns.types[mentioned],
                   names=columns.names[mentioned], triples=triples, **tables)
