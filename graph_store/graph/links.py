"""Facts that are derived from all documents together and never stored: links between documents, and links by keys.

One document cites, supersedes or amends another one; the quote is the words that say so. A reference in a list cites a
document if it has its DOI or title. A document supersedes or amends another one if its text or its metadata says so, or
if their names differ only in their versions: "Handbook v3", "Travel policy 2021", 差旅管理办法（2023年版）.

Fields link, too, if their values are the keys of other documents or rows: `requires: 2718` beside `eip: 2718`, or a
column `manager_id` with values of `id`, become triples whose relation is the field's name; other values stay values.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np

from ...ingest.metadata import document_name
from ...ingest.reference_lists import COLUMNS, find_doi
from ...models.rules.table_facts import document_type
from ...schemas.documents import Chunk
from ...schemas.edits import Edit, Supersede
from ...schemas.naming import label_key, normalise
from ...text.dates import find_dates, parse_date
from ...text.lexicon import read_patterns
from ...text.relative_dates import document_date
from ...text.scripts import has_han
from ..ledger.document_rows import Documents, DocumentSummary
from ..ledger.extractions import AdmittedRows, Extractions
from ..ledger.schema_rows import SchemaHistory
from . import graph_columns
from .graph_columns import GraphColumns, Numbers, SupportTable, TripleTimeTable, find_firsts, select_rows

CITES, SUPERSEDES, AMENDS = "cites", "supersedes", "amends"
_LEAST_TITLE_WORDS = 4  # shorter titles are found in references by chance
_LEAST_NAME_LETTERS = 3  # shorter titles name no document within a text
_BEGINNING = 20_000  # characters of a text that are searched for the date from which it is in force
_NOWHERE = -1, -1  # the place of a link that a name or field states, which is no part of the text
_REFERENCE_HEADER = "%{}%".format(json.dumps(COLUMNS, separators=(",", ":")))  # of a list of references, for LIKE
_FORMS = read_patterns("document_versions.toml")  # the file says what each form is, and what its groups are
_VERSION, YEAR, _DATE, _IN_FORCE, _AMENDING, _PART_OF_DOCUMENT = (re.compile(_FORMS[name], re.IGNORECASE) for name in (
    "version", "year", "date", "in_force", "amending", "part_of_document"))
_STATEMENTS = [re.compile(form, re.IGNORECASE | re.MULTILINE) for form in _FORMS["statements"]]
_FIELDS, _TITLE_WORDS = _FORMS["fields"], _FORMS["title_words"]
_HAN_RULES = tuple(word for word in _TITLE_WORDS["rules"] if not word.isascii())
_WORD, _WORD_OR_NUMBER = re.compile(r"[^\W_]+"), re.compile(r"[^\W\d_]+|\d+")
_NUMBERED_NAME = re.compile(r"[^\W\d_]{2,10}[ -]?0*\d{1,6}")  # "RFC 822"
_NO_LETTER, _LEADING_ZEROS = re.compile(r"[\W_]+"), re.compile(r"(?<!\d)0+(?=\d)")
_ISO_DATE = re.compile(r"\d{4}(?:-\d\d){0,2}")  # a day, month or year that is known for sure
_HAN_DIGITS = str.maketrans("一二三四五六七八九", "123456789")
_LEAST_KEYS = 3  # the fewest entities that a key tells apart: two values may differ by chance
_LEAST_LINKS = 2  # the fewest distinct keys that a field refers to
_NEARLY_ALL = 0.9  # the share of a field's distinct values that have to be keys; others may be of missing documents
_LONGEST_KEY = 40  # characters; longer values without spaces are addresses rather than keys
_KEY_WORDS = read_patterns("entity_names.toml")
_IDENTIFYING, _REFERRING = frozenset(_KEY_WORDS["identifying"].split()), frozenset(_KEY_WORDS["referring"].split())



class DocumentLink(NamedTuple):
    """A relation between two documents, by id, and the document whose characters `start` to `end` state it."""

    head: str
    relation: str
    tail: str
    stated_in: str
    start: int
    end: int


def with_document_links(rows: AdmittedRows, edits: Sequence[Edit], documents: Documents, extractions: Extractions,
                        schemas: SchemaHistory) -> AdmittedRows:
    """Return the rows of all documents with links between them as facts, and with mentions of the linked ones."""
    links = list(dict.fromkeys((*find_citations(documents), *_find_supersessions(documents, edits))))
    if not links or not schemas.version():  # without a schema the first build has just begun, and nothing has a type
        return rows
    linked = {link.head for link in links} | {link.tail for link in links}
    names = {one.id: document_name(one.id, one.title, one.metadata) for one in documents.about() if one.id in linked}
    types, default_type = extractions.types_of(list(names.values())), document_type(schemas.current())
    entities = {document: (name, types.get(name, default_type)) for document, name in names.items()}
    chunks_of = defaultdict[str, list[Chunk]](list)
    for chunk in documents.chunks_of({link.stated_in for link in links}):
        chunks_of[chunk.document_id].append(chunk)
    mentions: list[tuple[object, ...]] = []
    facts: list[tuple[object, ...]] = []
    for link in links:
        chunks = chunks_of[link.stated_in]
        if not chunks:  # the document is not in the graph yet
            continue
        first_line = chunks[0].text.partition("\n")[0]
        quoting, place = chunks[0], (0, len(first_line))  # for words that are in none of the chunks, such as a heading
        for chunk in chunks:
            if chunk.start <= link.start < chunk.end:
                quoting, place = chunk, (link.start - chunk.start, min(link.end, chunk.end) - chunk.start)
        # As rows of the ledger: ordinal 0, no time, and full confidence.
        mentions += [(quoting.id, 0, *entities[document], *place) for document in (link.head, link.tail)]
        facts.append((quoting.id, 0, *entities[link.head], link.relation, *entities[link.tail], "", *place, 1.0))
    return rows._replace(mentions=chain(rows.mentions, mentions), facts=chain(rows.facts, facts))


def find_citations(documents: Documents) -> Iterator[DocumentLink]:
    """Yield which document cites which, with the reference that has its DOI or all words of its title in order."""
    lists = [(document, table) for document, table in documents.tables(_REFERENCE_HEADER) if table.columns == COLUMNS]
    if not lists:
        return
    # By DOI or the first words of a title: the documents that may be cited, each with the words that have to follow.
    works = defaultdict[str, list[tuple[str, list[str]]]](list)
    for document in documents.about():
        title = _WORD.findall(normalise(document.title))
        if doi := find_doi(document.metadata.get("doi", "")):
            works[doi].append((document.id, []))  # a DOI is enough
        if len(title) >= _LEAST_TITLE_WORDS:
            works[" ".join(title[:_LEAST_TITLE_WORDS])].append((document.id, title))
    for citing, table in lists:
        for (reference, *_, doi), span in zip(table.rows, table.spans, strict=True):
            words = _WORD.findall(normalise(reference))
            first_words = [(at, " ".join(words[at:at + _LEAST_TITLE_WORDS])) for at in range(len(words))]
            for at, key in ((0, doi), *first_words):
                for cited, title in works.get(key, ()):
                    if cited != citing and words[at:at + len(title)] == title:
                        yield DocumentLink(citing, CITES, cited, citing, *span)


class DocumentName(NamedTuple):
    """A document's title and file name, read for its version."""

    id: str
    title: str
    words: tuple[str, ...]  # of the title, without those of the version
    version: tuple[int, ...]  # as numbers, such as (3, 1); empty without one
    years: frozenset[str]  # in the title or file name
    date: str  # the first one in the title or file name, in ISO 8601; "" without one


def read_name(document_id: str, title: str) -> DocumentName:
    """Return what a document's title and file name say of its version."""
    file = PurePosixPath(document_id).stem
    names = f"{title} {re.sub(r'[_-]', ' ', file)}"
    date = ""
    if match := _DATE.search(f"{title} {file}"):  # in which hyphens may be the date's own
        # "2021.3", "2021_03", 2021年3月修订
        parts = re.sub(r"[_. /年月]", "-", match[0]).strip("-日版修订正").split("-")
        date = "-".join(part.zfill(2) for part in parts)
    return DocumentName(document_id, title, _core_words(title), version_of(names), frozenset(YEAR.findall(names)), date)


def _core_words(text: str) -> tuple[str, ...]:
    """Return the words of a title without those of its version and those that many titles have."""
    bare = _DATE.sub(" ", _VERSION.sub(" ", re.sub(r"[_-]", " ", text)))
    words = _WORD_OR_NUMBER.findall(normalise(bare))
    return tuple(word for word in words if word not in _TITLE_WORDS["not_distinctive"])


def version_of(text: str) -> tuple[int, ...]:
    """Return the version that a text names, as numbers; empty if it names none."""
    if (match := _VERSION.search(text)) is None:
        return ()
    number = next(filter(None, match.groups()))  # each form of a version has a group of its own
    return tuple(map(int, number.translate(_HAN_DIGITS).split(".")))


def in_force_since(document_id: str, title: str, metadata: Mapping[str, str], text: str) -> str:
    """Return the date from which a document holds: a field or its text says so, or else its name or date; or ""."""
    fields = {label_key(name): value for name, value in metadata.items()}
    stated = [fields[name] for name in _FIELDS["effective"] if name in fields]
    stated += [match["date"] or match["chinese"] for match in _IN_FORCE.finditer(text[:_BEGINNING])]
    for words in stated:
        for start, end in find_dates(words):
            date = parse_date(words[start:end])
            if _ISO_DATE.fullmatch(date):
                return date
    return read_name(document_id, title).date or document_date(document_id, title, metadata)


def _find_supersessions(documents: Documents, edits: Iterable[Edit]) -> Iterable[DocumentLink]:
    """Return which document supersedes or amends which, each pair once, with the words that say so."""
    about = documents.about()
    names = {one.id: read_name(one.id, one.title) for one in about}
    named = NamedDocuments(names)
    decided = [DocumentLink(edit.newer, SUPERSEDES, edit.older, edit.newer, *_NOWHERE) for edit in edits
               if isinstance(edit, Supersede) and edit.newer in names and edit.older in names]
    in_texts = (_read_statements(text, document, named) for document, text in documents.whole_texts()
                if any(part in text for part in _FORMS["verb_parts"]))
    titles = chain.from_iterable(_read_statements(name.title, name.id, named) for name in names.values())
    in_titles = [DocumentLink(*link[:-2], *_NOWHERE) for link in titles]
    links: dict[tuple[str, str], DocumentLink] = {}
    # The surest source comes first: what persons decided, what documents say, and then their names.
    for link in (*decided, *chain.from_iterable(in_texts), *in_titles, *_read_fields(about, named),
                 *_compare_names(names.values())):
        is_opposite = (link.tail, link.head) in links
        if not is_opposite:
            links.setdefault((link.head, link.tail), link)
    return links.values()


def _read_statements(text: str, document: str, named: "NamedDocuments") -> Iterator[DocumentLink]:
    """Yield the links that sentences of a document state, such as "This policy replaces the travel policy of 2021"."""
    for match in chain.from_iterable(statement.finditer(text) for statement in _STATEMENTS):
        parts = match.groupdict()
        # Chinese has its verb before the title ("lead") or behind it; a title in quotes without one states nothing.
        verb = (parts.get("lead") or "") + (parts["verb"] or "")
        if verb and (other := named.find(parts["what"], document)):
            is_passive = parts.get("passive") is not None  # "is replaced by": the other one is newer
            head, tail = (other, document) if is_passive else (document, other)
            amends = _AMENDING.search(verb) or _PART_OF_DOCUMENT.match(parts["what"])  # "replaces section 3 of ..."
            yield DocumentLink(head, AMENDS if amends else SUPERSEDES, tail, document, *match.span())


def _read_fields(documents: Iterable[DocumentSummary], named: "NamedDocuments") -> Iterator[DocumentLink]:
    """Yield the links that metadata fields state, such as `obsoletes: 822`."""
    for document in documents:
        fields = {label_key(field): value for field, value in document.metadata.items()}
        for key in (*_FIELDS["active"], *_FIELDS["passive"]):
            if key not in fields:
                continue
            relation = AMENDS if _AMENDING.search(key) else SUPERSEDES
            for phrase in re.split(r"[,;、；，]", fields[key]):
                if other := named.find(phrase, document.id):
                    head, tail = (document.id, other) if key in _FIELDS["active"] else (other, document.id)
                    yield DocumentLink(head, relation, tail, document.id, *_NOWHERE)


def _compare_names(names: Iterable[DocumentName]) -> Iterator[DocumentLink]:
    """Yield each version of a document with the one before it, if their names say which versions they are."""
    same_title = defaultdict[tuple[str, ...], list[DocumentName]](list)
    for name in names:
        same_title[name.words].append(name)
    for words, group in same_title.items():
        is_history = not set(words).isdisjoint(_TITLE_WORDS["histories"])  # as the notes of each release
        if not words or len(group) == 1 or is_history:
            continue
        versions, dates = {name.version for name in group}, {name.date for name in group}
        is_rule = any(word in _TITLE_WORDS["rules"] or word.endswith(_HAN_RULES) for word in words)
        # Without a date is the first version, if another one is called "revised 2021".
        all_dated = "" not in dates or any(_AMENDING.search(name.title) for name in group if name.date)
        ordered: list[DocumentName] = []
        if len(versions) == len(group):  # one of them may lack a version: "Handbook" is older than "Handbook v2"
            ordered = sorted(group, key=lambda name: name.version)
        elif is_rule and len(dates) == len(group) and all_dated:  # reports of two years are both valid
            ordered = sorted(group, key=lambda name: name.date)
        for older, newer in pairwise(ordered):
            yield DocumentLink(newer.id, SUPERSEDES, older.id, newer.id, *_NOWHERE)


class NamedDocuments:
    """The names of all documents, found by the words of texts."""

    def __init__(self, names: Mapping[str, DocumentName]) -> None:
        self._names = names
        self._by_file, self._by_first = (defaultdict[str, list[DocumentName]](list) for _ in range(2))
        for name in names.values():
            file_stem = name.id.rpartition("/")[2].rpartition(".")[0]
            self._by_file[_letters(file_stem or name.id)].append(name)  # an id without an ending is no file's name
            title = "".join(name.words)
            if len(title) >= _LEAST_NAME_LETTERS:  # by its first word; Chinese words have no spaces between
                self._by_first[title[0] if has_han(title) else name.words[0]].append(name)

    def find(self, phrase: str, document: str) -> str:
        """Return the id of the document that a phrase of another document names, or ""."""
        own = self._names[document]
        years, version = set(YEAR.findall(phrase)), version_of(phrase)
        file_names = {_letters(key) for key in (phrase, *_NUMBERED_NAME.findall(phrase))}
        if phrase.strip().isdecimal():  # "obsoletes: 822" in rfc2822.txt means rfc822.txt
            series = _letters(own.id.rpartition("/")[2].partition(".")[0]).rstrip("0123456789")
            file_names.add(_letters(series + phrase))
        fitting = {name.id: name for key in file_names for name in self._by_file.get(key, ())}
        for name in self._find_by_words(phrase):
            has_other_year = years and name.years and not years & name.years
            has_other_version = version and name.version and version != name.version
            if not has_other_year and not has_other_version:
                fitting[name.id] = name
        fitting.pop(document, None)
        # A longer title is more certain: "travel policy for drivers" also has the words of "travel policy".
        longest = max((len(name.words) for name in fitting.values()), default=0)
        best = [name for name in fitting.values() if len(name.words) == longest]
        if len(best) > 1 and (years or version):  # of several, the phrase means a document with its year or version
            best = [name for name in best if years & name.years or (version and version == name.version)]
        if len(best) > 1:  # "the travel policy" is the version before this one
            best = [name for name in best if (name.version, name.date) < (own.version, own.date)]
        return max(best, key=lambda name: (name.version, name.date, name.id)).id if best else ""

    def _find_by_words(self, phrase: str) -> Iterator[DocumentName]:
        """Yield the documents all of whose words are in a phrase; Chinese titles have to be there as a whole."""
        words, letters = set(_core_words(phrase)), normalise(phrase)
        for name in chain.from_iterable(self._by_first.get(part, ()) for part in sorted({*words, *letters})):
            title = "".join(name.words)
            is_named = title in letters if has_han(title) else words.issuperset(name.words)
            if is_named:
                yield name


def _letters(text: str) -> str:
    """Return the letters and digits of a text, normalised, without leading zeros of numbers."""
    return _LEADING_ZEROS.sub("", _NO_LETTER.sub("", normalise(text)))


class _KeyField(NamedTuple):
    """A field that identifies the entities of one type: each has one value, and no two have the same one."""

    attribute: int
    owner_of: dict[int, int]  # the row of the entity that each value, given by number, identifies
    is_numeric: bool  # true if all values are whole numbers


def link_keys(columns: GraphColumns) -> GraphColumns:
    """Turn the values of fields that refer to keys into triples."""
    values = columns.values
    is_first = find_firsts(values.entity, values.attribute, values.value)
    facts = np.stack(values[:3], axis=1)[is_first]  # an entity, an attribute and a value each, whatever chunks state it
    keys = _find_keys(columns, facts)
    target = np.full(len(values.entity), -1, np.int32)  # -1: the value stays a value
    for attribute in np.unique(facts[:, 1]).tolist() if keys else ():
        field_words = _words_of(columns, attribute)
        field_values = np.unique(facts[facts[:, 1] == attribute, 2]).tolist()
        fitting = [key for key in keys if key.attribute != attribute and _refers_to(field_words, field_values, key)]
        if fitting:
            # Prefer the key whose name is most like the field's, then that of most entities.
            best = max(fitting, key=lambda key: len({*field_words}.intersection(_words_of(columns, key.attribute))))
            rows = np.flatnonzero(values.attribute == attribute)
            target[rows] = [best.owner_of.get(value, -1) for value in values.value[rows].tolist()]
    target[target == values.entity] = -1  # a link from an entity to itself says nothing
    return _turn_into_triples(columns, target) if (target >= 0).any() else columns


def _find_keys(columns: GraphColumns, facts: Numbers) -> list[_KeyField]:
    """Return the fields that are keys of the entities of a type, of some facts, shape (n, 3); most entities first."""
    types = columns.types[facts[:, 0]]
    order = graph_columns.sort_rows(facts[:, 1], types, facts[:, 0])
    facts, types = facts[order], types[order]
    starts = np.flatnonzero(find_firsts(facts[:, 1], types))
    keys = []
    for field_facts in np.split(facts, starts[1:]):
        owners, (attribute, *_), values = field_facts.T.tolist() if len(field_facts) else ([], [0], [])
        texts = [columns.texts[value] for value in values]
        # Each entity has one value, and each value belongs to one entity; keys are short, and have a digit.
        is_unique = len(texts) >= _LEAST_KEYS and len({*owners}) == len({*values}) == len(texts)
        look_like_keys = all(
            len(text) <= _LONGEST_KEY and " " not in text and any(map(str.isdigit, text)) for text in texts)
        if not is_unique or not look_like_keys:
            continue
        # Numbers may be quantities: they are keys if the field's or the entities' names say so.
        names = [columns.texts[columns.names[owner]] for owner in owners]
        keys_in_names = sum(text in name for text, name in zip(texts, names, strict=True))  # as in "RFC 822"
        has_numbers = any(text.replace(".", "").replace(",", "").isdecimal() for text in texts)
        is_named_key = _words_of(columns, attribute)[-1] in _IDENTIFYING or keys_in_names >= _NEARLY_ALL * len(texts)
        if is_named_key or not has_numbers:
            keys.append(_KeyField(attribute, dict(zip(values, owners, strict=True)), all(map(str.isdecimal, texts))))
    return sorted(keys, key=lambda key: -len(key.owner_of))


def _words_of(columns: GraphColumns, field: int) -> list[str]:
    """Return the words of the name of a field, given by number; at least an empty one, so that there is a last word."""
    return label_key(columns.texts[field]).split() or [""]


def _refers_to(field_words: list[str], values: list[int], key: _KeyField) -> bool:
    """Return True if the distinct values of a field refer to the entities of a key, and do not equal it by chance."""
    references = sum(value in key.owner_of for value in values)
    # "manager id" refers to others; "id" alone is a key of its own entities.
    names_other_key = field_words[-1] in _IDENTIFYING and len(field_words) > 1
    # A quantity may be anybody's number, so whole numbers need a field whose name refers to something.
    may_refer = references >= _NEARLY_ALL * len(values) and (names_other_key or not key.is_numeric)
    return references >= _LEAST_LINKS and (may_refer or not _REFERRING.isdisjoint(field_words))


def _turn_into_triples(columns: GraphColumns, target: Numbers) -> GraphColumns:
    """Return the graph in which values with a `target`, an entity's row or -1 for each value, are triples instead."""
    values, value_times, support, times = columns.values, columns.value_times, columns.support, columns.triple_times
    links = select_rows(values, target >= 0)
    link_triples = np.stack([links.entity, links.attribute, target[target >= 0]], axis=1)
    triples, new_rows = graph_columns.distinct_triples(*np.concatenate([columns.triples, link_triples]).T)
    old_triple, link_triple = np.split(new_rows, [len(columns.triples)])  # the new row of each old triple and each link
    confidence = np.ones(len(link_triple))  # a link is declared by the data itself
    link_support = (link_triple, links.chunk, links.start, links.end, confidence)
    # The times of the values that are links become times of their triples.
    triple_of = dict(zip(map(tuple, np.stack(links[:3], axis=1).tolist()), link_triple.tolist(), strict=True))
    timed_values = map(tuple, np.stack(value_times[:3], axis=1).tolist())
    time_triple = np.array([triple_of.get(value, -1) for value in timed_values], np.int32)
    is_link_time = time_triple >= 0
    link_times = (time_triple[is_link_time], *select_rows(value_times, is_link_time)[3:])
    old_support = support._replace(triple=old_triple[support.triple])
    old_times = times._replace(triple=old_triple[times.triple])
    all_support = SupportTable(*map(np.concatenate, zip(old_support, link_support, strict=True)))
    all_times = TripleTimeTable(*map(np.concatenate, zip(old_times, link_times, strict=True)))
    return replace(columns, triples=triples, support=graph_columns.keep_surest_rows(all_support),
                   triple_times=graph_columns.distinct_rows(all_times),
                   values=select_rows(values, target < 0), value_times=select_rows(value_times, ~is_link_time))
