"""What a knowledge base is about, at a glance: for its first minute in the terminal, in Python and on the page."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile, zip_longest
from pathlib import PurePosixPath

import numpy as np
from pydantic import Field

from ..graph_store.graph_index import GraphIndex
from ..graph_store.ledger.notes import read_unread_files
from ..graph_store.sql.logical_tables import DOCUMENT, SECTION
from ..ingest.reading import LEFT_OUT
from ..models.rules.metadata_facts import FIELDS_OF_PEOPLE
from ..models.rules.recognition.name_kinds import PREPOSITIONS
from ..schemas.documents import Frozen
from ..schemas.naming import has_name, label_key
from ..text.languages import Language, phrase_language
from ..text.quantities import format_count
from ..text.titles import UNREAD
from ..tools.entity_names import is_named_in_text
from ..tools.reports import DocumentSummary, summarise_documents
from .estimate import ReadingEstimate, estimate_reading
from .resources import Resources

_TITLES, _ENTITIES = 8, 10
_OPENINGS, _TABLES, _FIELDS, _PEOPLE, _COLUMNS = 3, 3, 3, 4, 6
"""How many openings, tables and fields of people are shown, and how many people and columns of each."""
_LISTED = re.compile(r"^[ \t]*[-*•] (?P<item>[A-Z][^\[\n@<>:]{8,120}?)[ \t]*(?:$|\[)", re.MULTILINE)
"""An item of a list, without the link behind it."""
_SHARE = 4  # an item is shared if at least one in so many documents has it
_LEAST_SHARED = 12  # characters that titles share, for them to be shown once
_RARELY = 10  # an entity in less than a tenth of the first one's passages is not among the main ones
_NAMED_FILES = 3  # of those that could not be read
_LEAST_ROWS = 3
"""How many rows a table has; fewer are lines with a colon more often than not."""
_MOST_CONSIDERED = 200
"""How many entities to consider: those of most passages."""
_LONGEST_NAME = 40
"""Characters of a name in an example question."""
_ABOUT: dict[Language, str] = {"en": "What are these documents about?", "zh": "这些文档讲什么？"}
_SAID: dict[Language, str] = {"en": "What is said about {}?", "zh": "关于{}有哪些内容？"}
_MENTIONED: dict[Language, str] = {"en": "Which documents mention {}?", "zh": "哪些文档提到了{}？"}
_KINDS = {"pdf": "PDF", "md": "Markdown", "markdown": "Markdown", "mdx": "Markdown", "docx": "Word", "doc": "Word",
          "pptx": "PowerPoint", "xlsx": "Excel", "xls": "Excel", "eml": "e-mail", "mbox": "e-mail", "txt": "text",
          "htm": "HTML", "html": "HTML", "rst": "reStructuredText", "jsonl": "JSON",
          "tex": "LaTeX"}
_DAY = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?:(?P<mark>[-._])(?P<month>0?[1-9]|1[0-2])(?P=mark)(?P<day>0?[1-9]|[12]\d|3[01])|"
    r"(?P<joined_month>0[1-9]|1[0-2])(?P<joined_day>0[1-9]|[12]\d|3[01]))(?!\d)")
_STATED_DATE, _PUBLISHED = "date", "published"  # "created" is the date of a file
_AUTHOR = re.compile(r"[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){1,4}(?:(?:,| and) [^\n]{1,80})?")
"""The name of an author, and not of an account."""


class MainEntity(Frozen):
    """An entity with the numbers of documents and passages that mention it."""

    id: str
    name: str
    type: str
    documents: int
    passages: int


class Introduction(Frozen):
    """What the documents are about, what was not read, what can be asked, and what a model would add."""

    kb: str
    documents: int
    kinds: dict[str, int] = Field(description="documents by the kind of their file, the most frequent first")
    dates: tuple[str, str] | None = Field(description="the first and last date of the documents, YYYY-MM-DD; none: "
                                                      "no document has one")
    titles: tuple[str, ...] = Field(description="some titles, of each folder in turn")
    openings: tuple[DocumentSummary, ...] = Field(description="the sentences with which some documents begin")
    shared: tuple[str, ...] = Field(description="what lists name in many documents, where documents are lists")
    tables: tuple[str, ...] = Field(description="what the largest tables hold: their rows and columns")
    people: tuple[str, ...] = Field(description="who is in fields of people, such as present, with counts of documents")
    entities: tuple[MainEntity, ...] = Field(description="those that the most passages mention")
    unread: tuple[str, ...] = Field(description="files that the latest build could not read, and why")
    left_out: tuple[str, ...] = Field(description="what it left out because it is no document")
    partly_read: dict[str, str] = Field(description="what was not read of documents, by their ids")
    chunks_failed: int
    examples: tuple[str, ...] = Field(description="questions about the most important entities")
    model: ReadingEstimate | None = Field(description="what reading the documents with a model would take; none: a "
                                                      "model has read them")

    def lines(self) -> list[tuple[str, str]]:
        """Return the introduction as lines of English text, each as (name, text)."""
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in self.kinds.items())
        first, last = self.dates or ("", "")
        dates = f", from {first} to {last}" if first != last else f", of {first}" if first else ""
        more, model = self.documents - len(self.titles), self.model
        about = ", ".join(f"{entity.name} ({entity.passages:,})" for entity in self.entities)
        offer = "facts from sentences, and answers in its own words over several documents: about"
        calls = format_count(model.calls, "call") if model else ""
        tokens = model.prompt_tokens + model.completion_tokens if model else 0
        cost = "" if model is None or model.cost is None else f", cost about {model.cost:.2f}"
        names = ", ".join(line.partition(": ")[0] for line in self.unread[:_NAMED_FILES])
        unread = [f"{format_count(len(self.unread), 'file')}: {names}{', …' * (len(self.unread) > _NAMED_FILES)}",
                  f"{format_count(len(self.partly_read), 'document')} in part",
                  format_count(self.chunks_failed, "chunk")]
        unread = [line for line in unread if not line.startswith("0 ")]
        unread += [line.partition(f": {LEFT_OUT}")[2] + " left out" for line in self.left_out]
        return [("kinds", f"{kinds or 'no documents yet'}{dates}"),
                ("titles", f"{'; '.join(self.titles)}{f' and {more:,} more' if more > 0 else ''}"),
                *([("they begin", "\n".join(f"“{one.said}” — {one.title}" for one in self.openings))]
                  if self.openings else []),
                *([("they share", "; ".join(self.shared))] if self.shared else []),
                *([("tables", "\n".join(self.tables))] if self.tables else []),
                *([("people", "\n".join(self.people))] if self.people else []),
                ("named most", f"{about} passages" if about else "no entities yet"),
                ("not read", "; ".join(unread) or "nothing: all is read"),
                ("try", "\n".join(self.examples) or "no question: no document names anything"),
                *([("a model adds", f"{offer} {calls}, {tokens:,} tokens{cost}")] if model else [])]

    def __str__(self) -> str:
        return "\n".join(f"{name}: {text}" for name, text in self.lines())


def introduce(resources: Resources, name: str) -> Introduction:
    """Return an introduction to a knowledge base: what its documents are about, and what can be asked.

    Args:
        resources: settings and open knowledge bases.
        name: the knowledge base.

    Raises:
        StoreError: there is no such knowledge base, or it cannot be read.
    """
    with resources.snapshot(name) as snapshot:
        kb, index = snapshot.kb, snapshot.index
        documents = kb.documents.about()
        metadata_of = {document_id: metadata for document_id, _, _, metadata in documents}
        title_of = {document_id: title for document_id, title, *_ in documents}
        unread_lines = read_unread_files(kb.database)
        left_out = [line for line in unread_lines if f": {LEFT_OUT}" in line]
        rows, ids = _main_rows(index), _in_turn(metadata_of)
        # A record has the format of its file.
        suffixes = [PurePosixPath(key.partition("#")[0]).suffix.removeprefix(".").lower() for key in metadata_of]
        dates = sorted(filter(None, (_document_date(key, metadata) for key, metadata in metadata_of.items())))
        short_named = [row for row in rows if len(index.labels_of(row).name) <= _LONGEST_NAME]
        examples = suggest_questions(index, short_named)
        if len(documents) > 1:
            first = index.labels_of(short_named[0]).name if short_named else ""
            examples = [_ABOUT[phrase_language(first)], *examples]
        titles = [f"{title}, by {author}" if _AUTHOR.fullmatch(author) else title for title, author in (
            (title_of[key] or key, metadata_of[key].get("author", "")) for key in ids)]
        first_documents = summarise_documents(kb.documents, ids[:_TITLES], beginnings=True) if ids else []
        openings = [one for one in first_documents if one.said]
        are_lists = 2 * len(openings) < len(first_documents)
        return Introduction(
            kb=name, documents=len(documents), kinds=dict(Counter(
                _KINDS.get(suffix, suffix.upper() or "text") for suffix in suffixes).most_common()),
            dates=(dates[0], dates[-1]) if dates else None, titles=_shorten([*dict.fromkeys(titles)][:_TITLES]),
            openings=() if are_lists else tuple(openings[:_OPENINGS]),
            shared=tuple(_shared_items(index, len(documents))) if are_lists else (),
            tables=tuple(_describe_tables(index)), people=tuple(_describe_people(index)),
            entities=tuple(sorted((MainEntity(
                id=index.entity_row.at(row), name=index.labels_of(row).name, type=index.labels_of(row).type,
                documents=int(index.document_counts[row]), passages=len(index.mentioning[row])) for row in rows),
                key=lambda entity: -entity.passages)),
            unread=tuple(line for line in unread_lines if line not in left_out),
            left_out=tuple(left_out), chunks_failed=kb.documents.count_failed(),
            partly_read={key: metadata[UNREAD] for key, metadata in metadata_of.items() if UNREAD in metadata},
            examples=tuple(examples),
            model=estimate_reading(resources, kb))


def _document_date(document: str, metadata: Mapping[str, str]) -> str:
    """Return a document's date as YYYY-MM-DD, or "" if it has none."""
    for text in (metadata.get(_STATED_DATE, ""), document, metadata.get(_PUBLISHED, "")):
        if match := _DAY.search(text):
            month, day = match["month"] or match["joined_month"], match["day"] or match["joined_day"]
            return f"{match['year']}-{int(month):02}-{int(day):02}"
    return ""


def _in_turn(documents: Iterable[str]) -> list[str]:
    """Return the ids of documents, taking one from each folder in turn."""
    folders: dict[str, list[str]] = {}
    for key in documents:
        folders.setdefault(str(PurePosixPath(key).parent), []).append(key)
    return [key for turn in zip_longest(*folders.values()) for key in turn if key]


def _shared_items(index: GraphIndex, documents: int) -> list[str]:
    """Return what the items of lists name in most documents, such as the subjects of meetings."""
    holders: dict[str, set[str]] = {}
    for chunk in index.chunks:
        for match in _LISTED.finditer(chunk.text):
            if match["item"].count(" ") > 1:
                holders.setdefault(match["item"], set()).add(chunk.document_id)
    most = sorted(holders, key=lambda one: (-len(holders[one]), one))
    return [one for one in most if len(holders[one]) * _SHARE >= documents > _SHARE][:_TITLES]


def _shorten(titles: Sequence[str]) -> tuple[str, ...]:
    """Return titles, with "…" in all but the first one for the words that all of them begin with."""
    first, last = min(titles, default=""), max(titles, default="")
    same = (letter for letter, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))
    shared = "".join(same).rpartition(" ")[0]
    if len(titles) == 1 or len(shared) < _LEAST_SHARED:
        return tuple(titles)
    return (titles[0], *(f"…{title[len(shared):]}" for title in titles[1:]))


def _describe_tables(index: GraphIndex) -> Iterator[str]:
    """Yield the title, the number of rows and the first columns of the largest tables."""
    tables = [(table, [column.title for column in table.columns if column.name not in {DOCUMENT, SECTION}])
              for table in index.sql.tables() if table.kind == "records" and table.rows >= _LEAST_ROWS]
    # Without names of columns, a table says nothing here, and may be none.
    named = [one for one in tables if all(any(map(str.isalnum, title)) for title in one[1])]
    for table, columns in sorted(named, key=lambda one: (-one[0].rows, one[0].name))[:_TABLES]:
        more = " …" if len(columns) > _COLUMNS else ""
        yield f"{table.title}: {table.rows:,} × {', '.join(columns[:_COLUMNS])}{more}"


def _fields_of_people(index: GraphIndex) -> list[str]:
    """Return the most frequent fields of people."""
    fields = list[str]()
    for name in index.relation_counts:
        words = label_key(name).split()
        is_relation = len(words) > 1 and not PREPOSITIONS.isdisjoint(words)  # "belongs to", not "to"
        if not is_relation and not FIELDS_OF_PEOPLE.isdisjoint(words):
            fields.append(name)
    return sorted(fields, key=lambda one: (-index.relation_counts[one], one))[:_FIELDS]


def _describe_people(index: GraphIndex) -> Iterator[str]:
    """Yield each field of people, with its most frequent people and in how many documents."""
    for name in _fields_of_people(index):
        people, counts = np.unique(index.triples[index.of_relation(name), 2], return_counts=True)
        most = sorted(zip(people.tolist(), counts.tolist(), strict=True), key=lambda one: (-one[1], one[0]))[:_PEOPLE]
        yield f"{name}: {', '.join(f'{index.labels_of(row).name} ({count:,})' for row, count in most)}"


def _main_rows(index: GraphIndex) -> list[int]:
    """Return the rows of the entities that the most passages name in running text, one of each name.

    A name within another one, such as "Lydia" in "Lydia Bennet", is most often the same person's. People in fields of
    people are shown there.
    """
    row_by_name: dict[str, int] = {}
    shown = {row for field in _fields_of_people(index) for row in index.triples[index.of_relation(field), 2].tolist()}
    for row in index.ranked[:_MOST_CONSIDERED].tolist():
        name = index.labels_of(row).name
        is_shown = row in shown or any(has_name(name, other) or has_name(other, name) for other in row_by_name)
        if not is_shown and is_named_in_text(index, row):
            row_by_name[name] = row
        if len(row_by_name) == _ENTITIES:
            break
    rows = list(row_by_name.values())
    most = max((len(index.mentioning[row]) for row in rows), default=0)
    return [row for row in rows if len(index.mentioning[row]) * _RARELY >= most]


def suggest_questions(index: GraphIndex, rows: Sequence[int]) -> list[str]:
    """Return up to two questions: what is said of an entity, and which documents mention one.

    Args:
        index: the knowledge base.
        rows: the entities' rows, the most important first.
    """
    names = [index.labels_of(row).name for row in rows[:2]]
    return [template[phrase_language(name)].format(name) for template, name in zip(
        (_SAID, _MENTIONED), names, strict=False)]
