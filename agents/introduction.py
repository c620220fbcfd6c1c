"""What a knowledge base is about, at a glance: for its first minute in the terminal, in Python and on the page."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
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
_RARELY = 10  # an entity in less than a tenth of the first one's passages is not among the main ones
_NAMED_FILES = 3  # of those that could not be read
_LEAST_ROWS = 3
"""How many rows a table has; fewer are lines with a colon more often than not."""
_MOST_CONSIDERED = 200
"""How many entities to consider: those of most passages."""
_LONGEST_NAME = 40
"""Characters of a name in an example question."""
_ABOUT: dict[Language, str] = {"en": "What are these documents about?", "zh": "这些文档讲什么？"}
_SENTENCE_ENDS = (".", "!", "?", "。")
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
        more_titles = self.documents - len(self.titles)
        titles = "; ".join(self.titles)
        if more_titles > 0:
            titles += f" and {more_titles:,} more"
        mentioned = ", ".join(f"{entity.name} ({entity.passages:,})" for entity in self.entities)
        # Rows that no column names, or of a large table, are no entities.
        advice = ("questions about the tables, or banyan sql; banyan tables lists what it can read" if self.tables
                  else "no question: no document names anything")
        optional = {"they begin": "\n".join(f"“{one.said}” — {one.title}" for one in self.openings),
                    "tables": "\n".join(self.tables), "people": "\n".join(self.people)}
        return [("kinds", self._kinds_text()),
                ("titles", titles),
                *((name, text) for name, text in optional.items() if text),
                ("named most", f"{mentioned} passages" if mentioned else "no entities yet"),
                ("not read", "; ".join(self._unread_parts()) or "nothing: all is read"),
                ("try", "\n".join(self.examples) or advice),
                *([("a model adds", self._offer_text(self.model))] if self.model else [])]

    def _kinds_text(self) -> str:
        """Return the kinds of the documents and their first and last date."""
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in self.kinds.items()) or "no documents yet"
        if self.dates is None:
            return kinds
        first, last = self.dates
        return f"{kinds}, of {first}" if first == last else f"{kinds}, from {first} to {last}"

    def _unread_parts(self) -> list[str]:
        """Return what was not read: files, parts of documents, chunks, and what is no document."""
        parts = list[str]()
        if self.unread:
            names = [line.partition(": ")[0] for line in self.unread[:_NAMED_FILES]]
            more = ["…"] if len(self.unread) > _NAMED_FILES else []
            parts.append(f"{format_count(len(self.unread), 'file')}: {', '.join([*names, *more])}")
        if self.partly_read:
            parts.append(f"{format_count(len(self.partly_read), 'document')} in part")
        if self.chunks_failed:
            parts.append(format_count(self.chunks_failed, "chunk"))
        return [*parts, *(line.partition(f": {LEFT_OUT}")[2] + " left out" for line in self.left_out)]

    @staticmethod
    def _offer_text(model: ReadingEstimate) -> str:
        """Return what a model would add, and what its reading would take."""
        tokens = model.prompt_tokens + model.completion_tokens
        cost = "" if model.cost is None else f", cost about {model.cost:.2f}"
        return ("facts from sentences, and answers in its own words over several documents: about "
                f"{format_count(model.calls, 'call')}, {tokens:,} tokens{cost}")

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
        title_of = {document_id: title for document_id, title, _, _ in documents}
        metadata_of = {document_id: metadata for document_id, _, _, metadata in documents}
        unread_lines = read_unread_files(kb.database)
        left_out = tuple(line for line in unread_lines if f": {LEFT_OUT}" in line)
        ids = _in_turn(metadata_of)
        rows = _main_rows(index)
        beginnings = summarise_documents(kb.documents, ids[:_TITLES], beginnings=True) if ids else []
        openings = tuple(beginning for beginning in beginnings if beginning.said)
        dates = sorted(date for item in metadata_of.items() if (date := _document_date(*item)))
        return Introduction(
            kb=name, documents=len(documents), kinds=_count_kinds(metadata_of),
            dates=(dates[0], dates[-1]) if dates else None,
            titles=_title_texts(ids, title_of, metadata_of), openings=openings[:_OPENINGS],
            tables=tuple(_describe_tables(index)), people=tuple(_describe_people(index)),
            entities=_main_entities(index, rows), unread=tuple(line for line in unread_lines if line not in left_out),
            left_out=left_out, chunks_failed=kb.documents.count_failed(),
            partly_read={key: metadata[UNREAD] for key, metadata in metadata_of.items() if UNREAD in metadata},
            examples=tuple(_example_questions(index, rows, len(documents))), model=estimate_reading(resources, kb))


def _count_kinds(documents: Iterable[str]) -> dict[str, int]:
    """Count documents, given by their ids, by the kind of their file, the most frequent first."""
    kinds = Counter[str]()
    for document in documents:
        file = document.partition("#")[0]  # the id of a record is that of its file, # and a number
        suffix = PurePosixPath(file).suffix.removeprefix(".").lower()
        kinds[_KINDS.get(suffix, suffix.upper() or "text")] += 1
    return dict(kinds.most_common())


def _title_texts(ids: Sequence[str], title_of: Mapping[str, str], metadata_of: Mapping[str, Mapping[str, str]],
                 ) -> tuple[str, ...]:
    """Return the first different titles of some documents, with their authors."""
    titles = dict[str, None]()  # a set in order
    for document in ids:
        title, author = title_of[document] or document, metadata_of[document].get("author", "")
        titles[f"{title}, by {author}" if _AUTHOR.fullmatch(author) else title] = None
    return tuple(titles)[:_TITLES]


def _main_entities(index: GraphIndex, rows: Iterable[int]) -> tuple[MainEntity, ...]:
    """Return the entities of some rows, those of most passages first."""
    entities = [MainEntity(id=index.entity_row.at(row), name=index.labels_of(row).name, type=index.labels_of(row).type,
                           documents=int(index.document_counts[row]), passages=len(index.mentioning[row]))
                for row in rows]
    return tuple(sorted(entities, key=lambda entity: -entity.passages))


def _example_questions(index: GraphIndex, rows: Sequence[int], documents: int) -> list[str]:
    """Return example questions about the main entities, and about the documents if they are several."""
    short_named = [row for row in rows if len(index.labels_of(row).name) <= _LONGEST_NAME]
    examples = suggest_questions(index, short_named)
    if documents > 1:
        first_name = index.labels_of(short_named[0]).name if short_named else ""
        examples.insert(0, _ABOUT[phrase_language(first_name)])
    return examples


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


def _describe_tables(index: GraphIndex) -> Iterator[str]:
    """Yield the title, the number of rows and the first columns of the largest tables."""
    tables = [table for table in index.sql.tables() if table.kind == "records" and table.rows >= _LEAST_ROWS]
    shown = 0
    for table in sorted(tables, key=lambda table: (-table.rows, table.name)):
        columns = [column.title for column in table.columns if column.name not in {DOCUMENT, SECTION}]
        # A column called "-" or by a sentence shows that the first row was no header: such a table says nothing here.
        if shown < _TABLES and all(any(map(str.isalnum, title)) and not title.endswith(_SENTENCE_ENDS)
                                   for title in columns):
            shown += 1
            more = " …" if len(columns) > _COLUMNS else ""
            yield f"{table.title}: {table.rows:,} × {', '.join(columns[:_COLUMNS])}{more}"


def _fields_of_people(index: GraphIndex) -> list[str]:
    """Return the most frequent relations that stand for a metadata field of people, such as "present" or "to"."""
    # Relations between things, such as "belongs to", may have a word of such a field, but a preposition besides.
    fields = list[str]()
    for name in index.relation_counts:
        words = label_key(name).split()
        has_preposition = len(words) > 1 and not PREPOSITIONS.isdisjoint(words)
        if not has_preposition and not FIELDS_OF_PEOPLE.isdisjoint(words):
            fields.append(name)
    return sorted(fields, key=lambda name: (-index.relation_counts[name], name))[:_FIELDS]


def _describe_people(index: GraphIndex) -> Iterator[str]:
    """Yield each field of people, with its most frequent people and in how many documents each of them is."""
    for name in _fields_of_people(index):
        # Column 2 of the triples is the tail: the person.
        people, counts = np.unique(index.triples[index.of_relation(name), 2], return_counts=True)
        by_count = sorted(zip(people.tolist(), counts.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
        shown = [f"{index.labels_of(row).name} ({count:,})" for row, count in by_count[:_PEOPLE]]
        yield f"{name.replace('_', ' ')}: {', '.join(shown)}"


def _main_rows(index: GraphIndex) -> list[int]:
    """Return the rows of the entities that the most passages name in running text, one of each name.

    A name within another one, such as "Lydia" in "Lydia Bennet", is most often the same person's. Those in fields of
    people are left out, because `_describe_people` shows them, and so is the title of the only document.
    """
    only_title = index.document_titles[0] if len(index.document_titles) == 1 else ""
    row_by_name: dict[str, int] = {}
    in_fields = set[int]()
    for field in _fields_of_people(index):
        in_fields.update(index.triples[index.of_relation(field), 2].tolist())
    for row in index.ranked[:_MOST_CONSIDERED].tolist():
        name = index.labels_of(row).name
        is_repeated = any(has_name(name, other) or has_name(other, name) for other in row_by_name)
        if row not in in_fields and not is_repeated and name != only_title and is_named_in_text(index, row):
            row_by_name[name] = row
        if len(row_by_name) == _ENTITIES:
            break
    rows = list(row_by_name.values())
    most = max((len(index.mentioning[row]) for row in rows), default=0)
    return [row for row in rows if len(index.mentioning[row]) * _RARELY >= most]


def suggest_questions(index: GraphIndex, rows: Sequence[int]) -> list[str]:
    """Return up to two questions: what is said of the first entity, and which documents mention the second one.

    Args:
        index: the knowledge base.
        rows: the entities' rows, the most important first.
    """
    questions = list[str]()
    for template, row in zip((_SAID, _MENTIONED), rows, strict=False):
        name = index.labels_of(row).name
        questions.append(template[phrase_language(name)].format(name))
    return questions
