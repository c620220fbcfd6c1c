"""Facts that documents state of one another as wholes: one cites, supersedes or amends another.

Like links by keys (`key_links`), they are derived from all documents and never stored. Their quote is the words that
say so. A reference in a list cites a document if it has its DOI or title. A document supersedes or amends another one
by its own words, by its fields, or by the versions in their names: "Handbook v3", "Travel policy 2021",
差旅管理办法（2023年版）.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

from ...ingest.metadata import document_name
from ...ingest.reference_lists import COLUMNS, find_doi
from ...models.rules.table_facts import document_type
from ...schemas.documents import Chunk
from ...schemas.edits import Edit, Supersede
from ...schemas.naming import label_key, normalise
from ...text.dates import find_dates, parse_date
from ...text.relative_dates import document_date
from ...text.scripts import has_han
from ..ledger.document_rows import Documents, DocumentSummary
from ..ledger.extractions import AdmittedRows, Extractions
from ..ledger.schema_rows import SchemaHistory

CITES, SUPERSEDES, AMENDS = "cites", "supersedes", "amends"
_OPENING = 4  # the fewest words of a title that is searched for within a reference
_WORD = re.compile(r"[^\W_]+")
_STORED = "%{}%".format(json.dumps(COLUMNS, separators=(",", ":")))  # the header of a list of references, in SQL
_VERSION = re.compile(r"\b(?:v|ver|version|rev|revision|release|edition)[ ._-]?"
                      r"(?P<number>\d{1,3}(?:\.\d{1,4}){0,3})(?!\w)"
                      r"|\b(?P<ordinal>\d{1,2})(?:st|nd|rd|th) (?:edition|revision)\b"
                      r"|第(?P<han>[一二三四五六七八九\d]{1,2})版|(?P<before>\d(?:\.\d)?)版", re.IGNORECASE)
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d(?:[-_. /年](?:0?[1-9]|1[0-2])(?:[-_. /月](?:0?[1-9]|[12]\d|3[01])日?)?)?"
                   r"(?!\d)年?(?:版|修订|修正)?")
_WORD_OR_NUMBER = re.compile(r"[^\W\d_]+|\d+")
_NOT_DISTINCTIVE = frozenset(("the", "a", "an", "of", "for", "our", "new", "old", "revised", "edition", "version",
                              "revision", "final", "draft", "as", "amended", "and", "的", "版"))
"""Words of titles that tell no document from another."""
_IN_FORCE = re.compile(r"(?:effective|in force|valid|applies|(?:takes?|enters?|comes?) (?:into )?(?:effect|force))"
                       r"(?: as)?(?: from| on| of| since)?:? (?P<date>[^\n]{4,40})"
                       r"|自(?P<chinese>[^\n]{4,20})起(?:施行|实施|生效|执行)", re.IGNORECASE)
_EFFECTIVE_FIELDS = ("effective", "effective date", "effective from", "in force", "in force since", "valid from",
                     "施行日期", "生效日期", "实施日期")
_BEGINNING = 20_000  # characters of a text that are searched for the date from which it is in force
_VERB = r"(?P<verb>supersed|replac|obsolet|repeal|amend|updat|revis|withdraw)"
_AMENDING = re.compile(r"amend|updat|revis|修|addend|supplement", re.IGNORECASE)
_WHAT = r"(?P<what>[^\n;]{2,200}?)(?=\.(?:\s|$)|[\n;]|$)"
_ACTIVE = rf"(?:\b(?:this|the present|it|which)\b[^.\n]{{0,80}}?|^[^\w\n]{{0,6}})\b{_VERB}e?s[:*_]{{0,3}} {_WHAT}"
_PASSIVE = rf"(?P<passive>\bthis\b[^.\n]{{0,60}}?|^[^\w\n]{{0,6}})\b{_VERB}ed[ -]by[:*_]{{0,3}} {_WHAT}"
_REPEALED = (rf"(?:^|[.;:]\s)(?P<what>[^.;:\n]{{3,160}}?) (?:is|are) (?:hereby |herewith )?{_VERB}(?:ed|n)\b"
             r"(?! by (?!this|the following))")
_TITLE = rf"^[# ]{{0,4}}(?:\w{{1,10}} )?(?P<verb>amendment|addendum|supplement)(?: \S{{1,6}}){{0,3}}? (?:to|of) {_WHAT}"
_CHINESE = (r"(?P<passive>已?(?:被|由))?(?P<lead>(?:代替|替代|取代|废止|修订|修改|修正)[了原]{0,2})?"
            r"《(?P<what>[^》\n]{2,100})》(?:[（(][^）)\n]{0,60}[）)]|〔[^〕\n]{0,60}〕)?(?P<verb>(?:自[^。\n]{0,30})?(?:同时|即行|予以|现予)?"
            r"(?:废止|取代|代替|替代|[作做][^。\n]{0,6}修[改订正]))?")
_STATEMENTS = [re.compile(form, re.IGNORECASE | re.MULTILINE)
               for form in (_ACTIVE, _PASSIVE, _REPEALED, _TITLE, _CHINESE)]
"""Groups: `verb` (in Chinese `lead`, too) is what happens, `what` the other document's name; `passive`: it is newer."""
_PART = re.compile(r"\s*(?:section|paragraph|article|clause|annex|chapter|rule)\b", re.IGNORECASE)
"""The beginning of what is replaced if it is only a part of another document, which this one then amends."""
_ACTIVE_FIELDS = ("supersedes", "replaces", "obsoletes", "updates", "amends", "代替", "替代", "取代", "废止", "修订",
                  "修改")
"""Metadata fields that name what a document supersedes or amends."""
_PASSIVE_FIELDS = ("superseded by", "replaced by", "obsoleted by", "amended by", "updated by", "被代替", "被取代")
"""Metadata fields that name what supersedes or amends a document."""
_RULES = frozenset("""policy policies handbook manual guide guideline guidelines rules regulation regulations procedure
    procedures standard specification terms conditions code charter contract agreement directive statute bylaws
    protocol tariff fees prices price 制度 办法 规定 手册 指南 规范 条例 章程 细则 标准 守则 价目表 收费""".split())  # noqa: SIM905
"""Words in titles of documents of which one is in force at a time; the report of a year does not replace another's."""
_HAN_RULES = tuple(word for word in _RULES if not word.isascii())
_HISTORIES = frozenset(("notes", "changelog", "changes", "release", "minutes", "report", "news", "announcement",
                        "发布说明", "更新日志", "纪要", "报告"))
"""Words in titles of documents that stay valid beside those of other versions."""
_NOWHERE = -1, -1  # the place of a link that a name or field states, which is no part of the text
_NUMBERED_NAME = re.compile(r"[^\W\d_]{2,10}[ -]?0*\d{1,6}")
_NO_LETTER = re.compile(r"[\W_]+")
_LIKELY = ("upersed", "eplac", "bsolet", "epeal", "mend", "pdat", "evis", "ithdraw", "ddend", "upplement", "代替",
           "替代", "取代", "废止", "修")
"""Parts of words in all texts that state a link, to preselect these; without first letters, for capitals."""
_HAN_DIGITS = str.maketrans("一二三四五六七八九", "123456789")
_ISO_DATE = re.compile(r"\d{4}(?:-\d\d){0,2}")


class DocumentLink(NamedTuple):
    """A relation between two documents, by id, and the document whose characters `start` to `end` state it.

    Words that are in none of its chunks, such as a name or heading, are quoted by its first line.
    """

    head: str
    relation: str
    tail: str
    stated_in: str
    start: int
    end: int


def with_document_links(rows: AdmittedRows, edits: Sequence[Edit], documents: Documents, extractions: Extractions,
                        schemas: SchemaHistory) -> AdmittedRows:
    """Return the rows of all documents with links between them as facts, and with mentions of the linked ones."""
    distinct = list(dict.fromkeys((*find_citations(documents), *find_supersessions(documents, edits))))
    if not distinct or not schemas.version():
        return rows
    linked = {link.head for link in distinct} | {link.tail for link in distinct}
    names = {one.id: document_name(one.id, one.title, one.metadata) for one in documents.about() if one.id in linked}
    types, default_type = extractions.types_of(list(names.values())), document_type(schemas.current())
    chunks: dict[str, list[Chunk]] = {}
    for chunk in sorted(documents.chunks_of({link.stated_in for link in distinct}), key=lambda chunk: chunk.ordinal):
        chunks.setdefault(chunk.document_id, []).append(chunk)
    mentions: list[tuple[object, ...]] = []
    facts: list[tuple[object, ...]] = []
    for link in distinct:
        if link.stated_in in chunks:
            own = chunks[link.stated_in]
            chunk_id, place = own[0].id, (0, len(own[0].text.partition("\n")[0]))
            for one in own:
                if one.start <= link.start < one.end:
                    chunk_id, place = one.id, (link.start - one.start, min(link.end, one.end) - one.start)
            head, tail = ((names[document], types.get(names[document], default_type))
                          for document in (link.head, link.tail))
            mentions += [(chunk_id, 0, *entity, *place) for entity in (head, tail)]
            facts.append((chunk_id, 0, *head, link.relation, *tail, "", *place, 1.0))
    return rows._replace(mentions=chain(rows.mentions, mentions), facts=chain(rows.facts, facts))


def find_citations(documents: Documents) -> Iterator[DocumentLink]:
    """Yield which document cites which, with the reference that has its DOI or, in a row, the words of its title."""
    lists = [(document, table) for document, table in documents.tables(_STORED) if table.columns == COLUMNS]
    works: dict[str, list[tuple[str, list[str]]]] = {}  # with the words of their titles, by DOI and by the first words
    for one in documents.about() if lists else ():
        title = _WORD.findall(normalise(one.title))
        if doi := find_doi(one.metadata.get("doi", "")):
            works.setdefault(doi, []).append((one.id, []))
        if len(title) >= _OPENING:
            works.setdefault(" ".join(title[:_OPENING]), []).append((one.id, title))
    for document, table in lists:
        for (reference, *_, doi), span in zip(table.rows, table.spans, strict=True):
            words = _WORD.findall(normalise(reference))
            openings = [(at, " ".join(words[at:at + _OPENING])) for at in range(len(words))]
            for at, key in ((0, doi), *openings):
                for cited, title in works.get(key, ()):
                    if cited != document and (not title or words[at:at + len(title)] == title):
                        yield DocumentLink(document, CITES, cited, document, *span)


class DocumentName(NamedTuple):
    """A document's title and file name, read for its version."""

    id: str
    title: str
    words: tuple[str, ...]  # of the title, without those of the version
    version: tuple[int, ...]  # as numbers, such as (3, 1); empty without one
    years: frozenset[str]  # in the title or file name
    date: str  # the first one there, in ISO 8601; "" without one


def read_name(document_id: str, title: str) -> DocumentName:
    """Return what a document's title and file name say of its version."""
    file = PurePosixPath(document_id).stem
    names = f"{title} {re.sub(r'[_-]', ' ', file)}"
    date = ""
    if match := _DATE.search(f"{title} {file}"):
        parts = re.sub(r"[_. /年月]", "-", match[0]).strip("-日版修订正").split("-")
        date = "-".join(part.zfill(2) for part in parts)
    return DocumentName(document_id, title, core_words(title), version_of(names), frozenset(YEAR.findall(names)), date)


def core_words(text: str) -> tuple[str, ...]:
    """Return the words of a title without those that name its version or say nothing."""
    bare = _DATE.sub(" ", _VERSION.sub(" ", re.sub(r"[_-]", " ", text)))
    return tuple(word for word in _WORD_OR_NUMBER.findall(normalise(bare)) if word not in _NOT_DISTINCTIVE)


def version_of(text: str) -> tuple[int, ...]:
    """Return the version that a text names, as numbers; empty if it names none."""
    if (match := _VERSION.search(text)) is None:
        return ()
    number = next(filter(None, match.groups()))  # each form of a version has a group of its own
    return tuple(map(int, number.translate(_HAN_DIGITS).split(".")))


def in_force_since(document_id: str, title: str, metadata: Mapping[str, str], text: str) -> str:
    """Return the date from which a document holds: a field or its text says so, or else its name or date; or ""."""
    fields = {label_key(name): value for name, value in metadata.items()}
    stated = [fields[name] for name in _EFFECTIVE_FIELDS if name in fields]
    stated += [match["date"] or match["chinese"] for match in _IN_FORCE.finditer(text[:_BEGINNING])]
    for words in stated:
        for start, end in find_dates(words):
            date = parse_date(words[start:end])
            if _ISO_DATE.fullmatch(date):
                return date
    return read_name(document_id, title).date or document_date(document_id, title, metadata)


def find_supersessions(documents: Documents, edits: Iterable[Edit]) -> Iterator[DocumentLink]:
    """Yield which document supersedes or amends which, each pair once, with the words that say so.

    What persons decided (`edits`) comes first, then what documents say, then their names. A later source that says the
    opposite of an earlier one is ignored.
    """
    about = documents.about()
    names = {one.id: read_name(one.id, one.title) for one in about}
    named = NamedDocuments(names)
    decided = [DocumentLink(edit.newer, SUPERSEDES, edit.older, edit.newer, *_NOWHERE) for edit in edits
               if isinstance(edit, Supersede) and edit.newer in names and edit.older in names]
    in_texts = [link for document, text in documents.whole_texts() if any(part in text for part in _LIKELY)
                for link in _read_statements(text, document, named)]
    in_titles = [link._replace(start=_NOWHERE[0], end=_NOWHERE[1]) for name in names.values()
                 for link in _read_statements(name.title, name.id, named)]
    links: dict[tuple[str, str], DocumentLink] = {}
    for link in (*decided, *in_texts, *in_titles, *_read_fields(about, named), *_compare_names(names.values())):
        if (link.tail, link.head) not in links:
            links.setdefault((link.head, link.tail), link)
    yield from links.values()


def _read_statements(text: str, document: str, named: "NamedDocuments") -> Iterator[DocumentLink]:
    """Yield the links that sentences of a document state, such as "This policy replaces the travel policy of 2021"."""
    for statement in _STATEMENTS:
        for match in statement.finditer(text):
            parts = match.groupdict()
            verb = (parts.get("lead") or "") + (parts["verb"] or "")
            other = named.find(parts["what"], document) if verb else ""  # a quoted Chinese title may have no verb
            if other:
                head, tail = (document, other) if parts.get("passive") is None else (other, document)
                relation = AMENDS if _AMENDING.search(verb) or _PART.match(parts["what"]) else SUPERSEDES
                yield DocumentLink(head, relation, tail, document, *match.span())


def _read_fields(documents: Iterable[DocumentSummary], named: "NamedDocuments") -> Iterator[DocumentLink]:
    """Yield the links that metadata fields state, such as `obsoletes: 822`."""
    for document in documents:
        for field, value in document.metadata.items():
            key = label_key(field)
            if key not in (*_ACTIVE_FIELDS, *_PASSIVE_FIELDS):
                continue
            relation = AMENDS if _AMENDING.search(key) else SUPERSEDES
            for part in re.split(r"[,;、；，]", value):
                if other := named.find(part, document.id):
                    head, tail = (document.id, other) if key in _ACTIVE_FIELDS else (other, document.id)
                    yield DocumentLink(head, relation, tail, document.id, *_NOWHERE)


def _compare_names(names: Iterable[DocumentName]) -> Iterator[DocumentLink]:
    """Yield each version of a document with the one before it, if their names say which versions they are."""
    groups: dict[tuple[str, ...], list[DocumentName]] = {}
    for name in names:
        if name.words:
            groups.setdefault(name.words, []).append(name)
    for words, group in groups.items():
        if not _HISTORIES.isdisjoint(words):
            continue
        versions, dates = [name.version for name in group], [name.date for name in group]
        is_rule = any(word in _RULES or word.endswith(_HAN_RULES) for word in words)
        is_revised = any(_AMENDING.search(name.title) for name in group if name.date)
        ordered: list[DocumentName] = []
        if _are_distinct(versions, may_lack_one=True):  # "Handbook" and "Handbook v2"
            ordered = sorted(group, key=lambda name: name.version)
        elif is_rule and _are_distinct(dates, may_lack_one=is_revised):
            ordered = sorted(group, key=lambda name: name.date)
        for older, newer in pairwise(ordered):
            yield DocumentLink(newer.id, SUPERSEDES, older.id, newer.id, *_NOWHERE)


def _are_distinct(keys: Sequence[object], *, may_lack_one: bool) -> bool:
    """Return True if keys, of which one may be empty if `may_lack_one`, tell several documents from one another."""
    return len(keys) > 1 and len(set(keys)) == len(keys) and (may_lack_one or all(keys))


class NamedDocuments:
    """The names of all documents, found by the words of texts."""

    def __init__(self, names: Mapping[str, DocumentName]) -> None:
        self._names = names
        self._by_file: dict[str, list[DocumentName]] = {}
        parts_of: dict[str, Sequence[str]] = {}
        for name in names.values():
            file = name.id.rpartition("/")[2]
            self._by_file.setdefault(_letters(file.rpartition(".")[0] or name.id), []).append(name)
            whole = "".join(name.words)
            parts_of[name.id] = whole if has_han(whole) else name.words  # letters, if no spaces separate words
        # List each document under its rarest word, so that a text is compared with few documents.
        counts = Counter(chain.from_iterable(parts_of.values()))
        self._by_rarest: dict[str, list[DocumentName]] = {}
        for document, parts in parts_of.items():
            if len("".join(names[document].words)) > 2:  # noqa: PLR2004  (a letter or two name nothing)
                rarest = min(parts, key=lambda part: (counts[part], part))
                self._by_rarest.setdefault(rarest, []).append(names[document])

    def find(self, phrase: str, document: str) -> str:
        """Return the id of the document that a phrase of another document names, or "".

        Of several versions it is the one that the phrase names, or else the one before the document with the phrase.
        """
        own = self._names[document]
        years, version = set(YEAR.findall(phrase)), version_of(phrase)
        keys = {_letters(key) for key in (phrase, *_NUMBERED_NAME.findall(phrase))}
        if phrase.strip().isdecimal():  # "obsoletes: 822" in rfc2822.txt
            series = _letters(own.id.rpartition("/")[2].partition(".")[0]).rstrip("0123456789")
            keys.add(_letters(series + phrase))
        fitting = {name.id: name for key in keys for name in self._by_file.get(key, ())}
        for name in self._find_by_words(phrase):
            has_other_year = years and name.years and not years & name.years
            has_other_version = version and name.version and version != name.version
            if not has_other_year and not has_other_version:
                fitting[name.id] = name
        fitting.pop(document, None)
        longest = max((len(name.words) for name in fitting.values()), default=0)
        best = [name for name in fitting.values() if len(name.words) == longest]
        if len(best) > 1 and (years or version):
            best = [name for name in best if years & name.years or (version and version == name.version)]
        if len(best) > 1:  # "the travel policy": the version before this one
            best = [name for name in best if (name.version, name.date) < (own.version, own.date)]
        return max(best, key=lambda name: (name.version, name.date, name.id)).id if best else ""

    def _find_by_words(self, phrase: str) -> Iterator[DocumentName]:
        """Yield the documents all of whose words are in a phrase; Chinese titles have to be there as a whole."""
        words, letters = set(core_words(phrase)), normalise(phrase)
        for part in {*words, *letters}:
            for name in self._by_rarest.get(part, ()):
                title = "".join(name.words)
                if title in letters if has_han(title) else words.issuperset(name.words):
                    yield name


def _letters(text: str) -> str:
    """Return the letters and digits of a text, normalised, without leading zeros of numbers."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", _NO_LETTER.sub("", normalise(text)))
