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
from ..ledger.document_rows import Documents
from ..ledger.extractions import AdmittedRows, Extractions
from ..ledger.schema_rows import SchemaHistory

CITES = "cites"
_FEWEST_WORDS, _FEWEST_CERTAIN = 2, 5
"""The fewest words of a title by which a work is known, and of one in a reference whose own title is not known."""
_WORD = re.compile(r"[^\W_]+")
_STORED = "%{}%".format(json.dumps(COLUMNS, separators=(",", ":")))  # the header of a list of references, in SQL


class DocumentLink(NamedTuple):
    """A relation between two documents, by id, and the document with the words that state it, `start` to `end`.

    Words that are in none of its chunks, such as a name or heading, are quoted by its first line.
    """

    head: str
    relation: str
    tail: str
    stated_in: str
    start: int
    end: int


def with_document_links(rows: AdmittedRows, links: Iterable[DocumentLink], documents: Documents,
                        extractions: Extractions, schemas: SchemaHistory) -> AdmittedRows:
    """Return the rows of all documents with links between them as facts, and their mentions."""
    distinct = list(dict.fromkeys(links))
    if not distinct or not schemas.version():
        return rows
    linked = {document for link in distinct for document in (link.head, link.tail)}
    names = {document: document_name(document, title, metadata) for document, title, _, metadata in documents.about()
             if document in linked}
    types, default = extractions.types_of(list(names.values())), document_type(schemas.current())
    chunks: dict[str, list[Chunk]] = {}
    for chunk in documents.chunks_of({link.stated_in for link in distinct}):
        chunks.setdefault(chunk.document_id, []).append(chunk)
    mentions: list[tuple[object, ...]] = []
    facts: list[tuple[object, ...]] = []
    for link in distinct:
        own = sorted(chunks.get(link.stated_in, ()), key=lambda chunk: chunk.ordinal)
        holders = [chunk for chunk in own if chunk.start <= link.start < chunk.end]
        for chunk in (holders or own)[:1]:
            ends = [(names[document], types.get(names[document], default)) for document in (link.head, link.tail)]
            place = ((link.start - chunk.start, min(link.end, chunk.end) - chunk.start) if holders
                     else (0, len(chunk.text.partition("\n")[0])))
            mentions += [(chunk.id, 0, *name_and_type, *place) for name_and_type in ends]
            facts.append((chunk.id, 0, *ends[0], link.relation, *ends[1], "", *place, 1.0))
    return rows._replace(mentions=chain(rows.mentions, mentions), facts=chain(rows.facts, facts))


def find_citations(documents: Documents) -> Iterator[DocumentLink]:
    """Yield which document cites which, with the reference that says so."""
    lists = [(document, table) for document, table in documents.tables(_STORED) if table.columns == COLUMNS]
    known: dict[object, list[str]] = {}  # documents by DOI, by the letters of their title, and by its first words
    titles: dict[str, list[str]] = {}
    for document, title, _, metadata in documents.about() if lists else ():
        words = titles[document] = _WORD.findall(normalise(title))
        keys = (find_doi(metadata.get("doi", "")), "".join(words) if len(words) >= _FEWEST_WORDS else "",
                tuple(words[:_FEWEST_CERTAIN]) if len(words) >= _FEWEST_CERTAIN else ())
        for key in filter(None, keys):
            known.setdefault(key, []).append(document)
    for document, table in lists:
        for (reference, _, _, title, _, doi), span in zip(table.rows, table.spans, strict=True):
            words = [] if title else _WORD.findall(normalise(reference))
            places = ((at, tuple(words[at:at + _FEWEST_CERTAIN])) for at in range(len(words)))
            within = (other for at, opening in places for other in known.get(opening, ())
                      if words[at:at + len(titles[other])] == titles[other])
            named = known.get("".join(_WORD.findall(normalise(title))), ())
            yield from (DocumentLink(document, CITES, other, document, *span)
                        for other in chain(known.get(doi, ()), named, within) if other != document)


_VERSION = re.compile(r"\b(?:v|ver|version|rev|revision|release|edition)[ ._-]?"
                      r"(?P<number>\d{1,3}(?:\.\d{1,4}){0,3})(?!\w)"
                      r"|\b(?P<ordinal>\d{1,2})(?:st|nd|rd|th) (?:edition|revision)\b"
                      r"|第(?P<han>[一二三四五六七八九\d]{1,2})版|(?P<before>\d(?:\.\d)?)版", re.IGNORECASE)
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d(?:[-_. /年](?:0?[1-9]|1[0-2])(?:[-_. /月](?:0?[1-9]|[12]\d|3[01])日?)?)?"
                   r"(?!\d)年?(?:版|修订|修正)?")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_EMPTY = frozenset(("the", "a", "an", "of", "for", "our", "new", "old", "revised", "edition", "version", "revision",
                    "final", "draft", "as", "amended", "and", "的", "版"))
_IN_FORCE = re.compile(r"(?:effective|in force|valid|applies|(?:takes?|enters?|comes?) (?:into )?(?:effect|force))"
                       r"(?: as)?(?: from| on| of| since)?:? (?P<date>[^\n]{4,40})"
                       r"|自(?P<chinese>[^\n]{4,20})起(?:施行|实施|生效|执行)", re.IGNORECASE)
_EFFECTIVE = ("effective", "effective date", "effective from", "in force", "in force since", "valid from", "施行日期",
              "生效日期", "实施日期")
_READ = 20_000
SUPERSEDES, AMENDS = "supersedes", "amends"
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
_PART = re.compile(r"\s*(?:section|paragraph|article|clause|annex|chapter|rule)\b", re.IGNORECASE)
"""The beginning of what is replaced if it is only a part of another document, which this one then amends."""
_FIELDS = ("supersedes", "replaces", "obsoletes", "updates", "amends", "代替", "替代", "取代", "废止", "修订", "修改")
_PASSIVE_FIELDS = ("superseded by", "replaced by", "obsoleted by", "amended by", "updated by", "被代替", "被取代")
_RULES = frozenset("""policy policies handbook manual guide guideline guidelines rules regulation regulations procedure
    procedures standard specification terms conditions code charter contract agreement directive statute bylaws
    protocol tariff fees prices price 制度 办法 规定 手册 指南 规范 条例 章程 细则 标准 守则 价目表 收费""".split())  # noqa: SIM905
"""Of documents of which one is in force at a time; a report of one year does not replace that of another."""
_HISTORIES = frozenset(("notes", "changelog", "changes", "release", "minutes", "report", "news", "announcement",
                        "发布说明", "更新日志", "纪要", "报告"))
"""Of documents that stand beside those of earlier versions."""
_NOWHERE = -1, -1
"""The place of what a name or field says."""
_KEY = re.compile(r"[^\W\d_]{2,10}[ -]?0*\d{1,6}")
_LETTERS = re.compile(r"[\W_]+")
_LIKELY = ("upersed", "eplac", "bsolet", "epeal", "mend", "pdat", "evis", "ithdraw", "ddend", "upplement", "代替",
           "替代", "取代", "废止", "修")
"""What texts have that state it, without the first letters, which may be capitals."""


class DocumentName(NamedTuple):
    """A document's title and file name, read for its version.

    Attributes:
        id: the document's id.
        title: its title.
        words: the words of its title without those of the version.
        version: its version as numbers, such as (3, 1); empty without one.
        years: the years in its title or file name.
        date: the first date in its title or file name, in ISO 8601; "" without one.
    """

    id: str
    title: str
    words: tuple[str, ...]
    version: tuple[int, ...]
    years: frozenset[str]
    date: str


def read_name(document_id: str, title: str) -> DocumentName:
    """Return what a document's title and file name say of its version."""
    stem = re.sub(r"[_-]", " ", PurePosixPath(document_id).stem)
    named = f"{title} {stem}"
    found = _VERSION.search(named)
    number = next(filter(None, found.groups()), "") if found else ""
    number = number.translate(str.maketrans("一二三四五六七八九", "123456789"))
    dates = [match[0] for match in _DATE.finditer(f"{title} {PurePosixPath(document_id).stem}")]
    date = next((re.sub(r"[_. /年月]", "-", one).strip("-日版修订正") for one in dates), "")
    date = "-".join(part.zfill(2) for part in date.split("-")) if date else ""
    return DocumentName(document_id, title, core_words(title), tuple(map(int, number.split("."))) if number else (),
                        frozenset(YEAR.findall(named)), date)


def core_words(text: str) -> tuple[str, ...]:
    """Return the words of a title without those that name its version or say nothing."""
    bare = _DATE.sub(" ", _VERSION.sub(" ", re.sub(r"[_-]", " ", text)))
    return tuple(word for word in _WORD.findall(normalise(bare)) if word not in _EMPTY)


def version_of(text: str) -> tuple[int, ...]:
    """Return the version that a text names, as numbers; empty if it names none."""
    return read_name("", text).version


def in_force_since(document_id: str, title: str, metadata: Mapping[str, str], text: str) -> str:
    """Return the date from which a document holds: a field or its text says so, or else its name or date; or ""."""
    fields = {label_key(name): value for name, value in metadata.items()}
    stated = [fields[name] for name in _EFFECTIVE if name in fields]
    stated += [found["date"] or found["chinese"] for found in _IN_FORCE.finditer(text[:_READ])]
    for words in stated:
        for start, end in find_dates(words):
            if re.fullmatch(r"\d{4}(?:-\d\d){0,2}", normal := parse_date(words[start:end])):
                return normal
    return read_name(document_id, title).date or document_date(document_id, title, metadata)


def find_supersessions(documents: Documents, edits: Iterable[Edit]) -> Iterator[DocumentLink]:
    """Yield which document supersedes or amends which, each pair once, with the words that say so.

    What persons decided (`edits`) comes first, then what documents say, then their names.
    """
    about = documents.about()
    names = {document: read_name(document, title) for document, title, _, _ in about}
    found: dict[tuple[str, str], DocumentLink] = {}
    decided = [DocumentLink(edit.newer, SUPERSEDES, edit.older, edit.newer, *_NOWHERE) for edit in edits
               if isinstance(edit, Supersede) and {edit.newer, edit.older} <= names.keys()]
    named = NamedDocuments(names)
    stated = [*_by_words(documents, names, named), *_by_fields(about, named)]
    for link in (*decided, *stated, *_by_names(names.values())):
        if (link.tail, link.head) not in found:
            found.setdefault((link.head, link.tail), link)
    yield from found.values()


def _by_words(documents: Documents, names: Mapping[str, DocumentName], named: "NamedDocuments",
              ) -> Iterator[DocumentLink]:
    texts = [*documents.texts_with(_LIKELY), *((name.id, name.title) for name in names.values())]
    for document, text in texts:
        for match in (match for statement in _STATEMENTS for match in statement.finditer(text)):
            place = match.span() if text is not names[document].title else _NOWHERE
            parts = match.groupdict()
            verb = (parts.get("lead") or "") + (parts["verb"] or "")
            kind = AMENDS if _AMENDING.search(verb) or _PART.match(parts["what"]) else SUPERSEDES
            if verb and (other := named.find(parts["what"], document)):
                head, tail = (other, document) if parts.get("passive") is not None else (document, other)
                yield DocumentLink(head, kind, tail, document, *place)


def _by_fields(about: Iterable[tuple[str, str, str, Mapping[str, str]]], named: "NamedDocuments",
               ) -> Iterator[DocumentLink]:
    for document, _, _, metadata in about:
        for field, value in metadata.items():
            key = label_key(field)
            kind = AMENDS if _AMENDING.search(key) else SUPERSEDES
            for part in re.split(r"[,;、；，]", value) if key in (*_FIELDS, *_PASSIVE_FIELDS) else ():
                if other := named.find(part, document):
                    head, tail = (document, other) if key in _FIELDS else (other, document)
                    yield DocumentLink(head, kind, tail, document, *_NOWHERE)


def _by_names(names: Iterable[DocumentName]) -> Iterator[DocumentLink]:
    """Yield each version of a document with the one before it, if their names say which versions they are."""
    groups: dict[tuple[str, ...], list[DocumentName]] = {}
    for name in names:
        if name.words:
            groups.setdefault(name.words, []).append(name)
    for words, group in groups.items():
        if not _HISTORIES.isdisjoint(words):
            continue
        is_rule = any(word in _RULES or word.endswith(tuple(rule for rule in _RULES if not rule.isascii()))
                      for word in words)
        is_revised = any(_AMENDING.search(one.title) for one in group if one.date)
        versions, dates = [one.version for one in group], [(one.date,) if one.date and is_rule else () for one in group]
        for keys, may_lack_one in ((versions, True), (dates, is_revised)):  # "Handbook" and "Handbook v2"
            if len(group) > 1 and any(keys) and len(set(keys)) == len(keys) and (may_lack_one or all(keys)):
                ordered = [name for _, name in sorted(zip(keys, group, strict=True))]
                for older, newer in pairwise(ordered):
                    yield DocumentLink(newer.id, SUPERSEDES, older.id, newer.id, *_NOWHERE)
                break


class NamedDocuments:
    """The names of all documents, found by the words of texts."""

    def __init__(self, names: Mapping[str, DocumentName]) -> None:
        self._names = names
        self._by_file: dict[str, list[DocumentName]] = {}
        parts_of: dict[str, Sequence[str]] = {}
        for name in names.values():
            file = name.id.rpartition("/")[2]  # without its folder and format
            self._by_file.setdefault(_letters(file.rpartition(".")[0] or name.id), []).append(name)
            whole = "".join(name.words)
            parts_of[name.id] = whole if has_han(whole) else name.words  # letters, if no spaces separate words
        times = Counter(chain.from_iterable(parts_of.values()))
        self._by_rarest: dict[str, list[DocumentName]] = {}
        for document, parts in parts_of.items():
            if len("".join(names[document].words)) > 2:  # noqa: PLR2004  (a letter or two name nothing)
                self._by_rarest.setdefault(min(parts, key=lambda part: (times[part], part)), []).append(names[document])

    def find(self, said: str, document: str) -> str:
        """Return the document that some words of another one name, or "".

        Of several versions it is the one that they say, or else the one before the document that says them.
        """
        own = self._names[document]
        years, version = set(YEAR.findall(said)), version_of(said)
        keys = {_letters(key) for key in (said, *_KEY.findall(said))}
        if said.strip().isdecimal():  # "obsoletes: 822" in rfc2822.txt
            keys.add(_letters(_letters(own.id.rpartition("/")[2].partition(".")[0]).rstrip("0123456789") + said))
        fitting = {name.id: name for key in keys for name in self._by_file.get(key, ())}
        fitting |= {name.id: name for name in self._with_words(said)
                    if (not years or not name.years or years & name.years)
                    and (not version or not name.version or version == name.version)}
        fitting.pop(document, None)
        longest = max((len(name.words) for name in fitting.values()), default=0)
        best = [name for name in fitting.values() if len(name.words) == longest]
        if len(best) > 1 and (years or version):
            best = [name for name in best if (years and years & name.years) or (version and version == name.version)]
        if len(best) > 1:  # "the travel policy": the version before this one
            best = [name for name in best if (name.version, name.date) < (own.version, own.date)]
        return max(best, key=lambda name: (name.version, name.date, name.id)).id if best else ""

    def _with_words(self, said: str) -> Iterator[DocumentName]:
        """Yield the documents all of whose words are said; words without spaces between follow one another there."""
        words, joined = set(core_words(said)), normalise(said)
        for part in {*words, *joined}:
            for name in self._by_rarest.get(part, ()):
                whole = "".join(name.words)
                if whole in joined if has_han(whole) else words.issuperset(name.words):
                    yield name


def _letters(text: str) -> str:
    return re.sub(r"(?<!\d)0+(?=\d)", "", _LETTERS.sub("", normalise(text)))
