"""What a knowledge base is about, at a glance: for its first minute in the terminal, in Python and on the page."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, zip_longest
from pathlib import PurePosixPath

from pydantic import Field

from ..graph_store.ledger.document_rows import Documents
from ..graph_store.ledger.notes import BUILD, UNREAD_FILES
from ..ingest.loaders import LICENCE
from ..ingest.reading import LEFT_OUT
from ..schemas.documents import Frozen
from ..text.languages import Language, phrase_language
from ..text.quantities import format_count
from ..text.relative_dates import document_date
from ..text.section_lines import headings
from ..text.titles import UNREAD, in_small_letters, readable_name
from ..tools.reports import DocumentSummary, summarise_documents
from .estimate import ReadingEstimate, estimate_reading
from .introduced_names import FEW, MainEntity, main_entities, questions_on_names
from .introduced_tables import counting_questions, describe_tables
from .resources import Resources

_TITLES, _CHAPTERS = 6, 15
_OPENINGS, _LOOKED_AT = 3, 24
"""How many openings are shown, and in how many documents they are looked for."""
_EXAMPLES = 4
_NAMED_FILES = 3  # of those that could not be read
_LEAST_CHAPTERS = 3
_CHAPTER = re.compile(r"(?:chapter|part|book|kapitel|chapitre)\s[\dIVXLC]{1,7}\.?", re.IGNORECASE)
"""A heading that only numbers a chapter."""
_ABOUT: dict[Language, str] = {"en": "What are these documents about?", "zh": "这些文档讲什么？"}
_ABOUT_ONE: dict[Language, str] = {"en": "What is this document about?", "zh": "这篇文档讲什么？"}
_ABOUT_ALL = re.compile(r"(?:^|[\W_])(?:read-?me|about|mission)(?:[\W_]|$)|简介|概述|关于", re.IGNORECASE)
"""In the name of a file that says what a folder is about."""
_SENTENCE = re.compile(r"(?=(?:\S+\s+){4}|.*[\u4e00-\u9fff]{8})[^\Wa-z\d_].*[.。]", re.DOTALL)
"""A sentence of some length, and no part of one."""
_PICTURES = re.compile(r"(?P<number>[\d,]{1,12}) pictures?")
_KINDS = {"pdf": "PDF", "md": "Markdown", "markdown": "Markdown", "mdx": "Markdown", "docx": "Word", "doc": "Word",
          "pptx": "PowerPoint", "xlsx": "Excel", "xls": "Excel", "eml": "e-mail", "mbox": "e-mail", "txt": "text",
          "htm": "HTML", "html": "HTML", "rst": "reStructuredText", "jsonl": "JSON",
          "tex": "LaTeX"}
_DATA = frozenset({".json", ".jsonl", ".csv", ".tsv", ".xlsx", ".xls", ".bib", ".ris"})
"""Files of records, which the tables tell of: their titles come last."""
_AUTHOR = re.compile(r"[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){1,4}(?:(?:,| and) [^\n]{1,80})?")
"""The name of an author, and not of an account."""


class Introduction(Frozen):
    """What the documents are about, what was not read, what can be asked, and what a model would add."""

    kb: str
    documents: int
    kinds: dict[str, int] = Field(description="documents by the kind of their file, the most frequent first")
    dates: tuple[str, str] | None = Field(description="the first and last date of the documents in ISO 8601; none: "
                                                      "no document has one")
    titles: tuple[str, ...] = Field(description="some titles, of each folder in turn")
    chapters: tuple[str, ...] = Field(description="the first chapters of the only document")
    openings: tuple[DocumentSummary, ...] = Field(description="sentences with which documents begin, best those that "
                                                              "say what the whole is about")
    tables: tuple[str, ...] = Field(description="what the fields of documents and the largest tables hold: their rows "
                                                "and columns")
    entities: tuple[MainEntity, ...] = Field(description="the names that stand out in the texts")
    counts_times: bool = Field(description="names are ranked by the passages that mention them, as the documents are "
                                           "few; otherwise by documents")
    unread: tuple[str, ...] = Field(description="files that the latest build could not read, and why")
    left_out: tuple[str, ...] = Field(description="what it left out because it is no document")
    pictures: dict[str, int] = Field(description="the pictures of documents of which nothing else was not read, by id")
    partly_read: dict[str, str] = Field(description="what was not read of other documents, by their ids")
    chunks_failed: int
    examples: tuple[str, ...] = Field(description="questions that the documents answer")
    model: ReadingEstimate | None = Field(description="what reading the documents with a model would take; none: a "
                                                      "model has read them")

    def lines(self) -> list[tuple[str, str]]:
        """Return the introduction as lines of English text, each as (name, text)."""
        titles = "; ".join(self.titles)
        if (more_titles := self.documents - len(self.titles)) > 0:
            titles += f" and {more_titles:,} more"
        said = "\n".join(f"“{one.said}” — {one.title}" for one in self.openings)
        parts = {"kind" if self.documents == 1 else "kinds": self._kinds_text(),
                 "title" if self.documents == 1 else "titles": titles, "chapters": "; ".join(self.chapters),
                 "from the text": said, "tables": "\n".join(self.tables),
                 "mentioned most": ", ".join(map(self._count_text, self.entities)),
                 "not read": "; ".join(self._unread_parts()) or "nothing: all is read",
                 "try": "\n".join(self.examples),
                 "without a model": self._offer_text(self.model) if self.model else ""}
        return [(name, text) for name, text in parts.items() if text]

    def _kinds_text(self) -> str:
        """Return the kinds of the documents and their first and last date."""
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in self.kinds.items()) or "no documents yet"
        if self.dates is None:
            return kinds
        first, last = self.dates
        return f"{kinds}, of {first}" if first == last else f"{kinds}, from {first} to {last}"

    def _count_text(self, entity: MainEntity) -> str:
        """Return a name with its type and what was counted of it."""
        counted = (format_count(entity.times, "passage") if self.counts_times
                   else f"in {format_count(entity.documents, 'document')}")
        return f"{entity.name} ({entity.type}, {counted})"

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
        if self.pictures:
            pictures = format_count(sum(self.pictures.values()), "picture")
            read = "" if parts else "; all text is read"
            parts.append(f"{pictures} in {format_count(len(self.pictures), 'document')}{read}")
        return [*parts, *(line.partition(f": {LEFT_OUT}")[2] + " left out" for line in self.left_out)]

    @staticmethod
    def _offer_text(model: ReadingEstimate) -> str:
        """Return what can be done without a model, and what one would add and cost."""
        cost = "" if model.cost is None else f"; reading the documents with it costs about {model.cost:.2f}"
        return ("you can search, read quotes and count over tables; a model also writes answers in its own words, over "
                f"several documents{cost}")

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
        title_of = {document_id: _shown_title(document_id, title) for document_id, title, _, _ in documents}
        metadata_of = {document_id: metadata for document_id, _, _, metadata in documents}
        unread_lines: list[str] = kb.database.notes(BUILD).get(UNREAD_FILES, [])
        left_out = tuple(line for line in unread_lines if f": {LEFT_OUT}" in line)
        ids = _in_turn(metadata_of)
        dates = sorted(date for document_id, title, _, metadata in documents
                       if (date := document_date(document_id, title, metadata)))
        entities = main_entities(index)
        unread_parts = {key: metadata[UNREAD] for key, metadata in metadata_of.items() if UNREAD in metadata}
        pictures = {key: int(match["number"].replace(",", "")) for key, note in unread_parts.items()
                    if (match := _PICTURES.fullmatch(note))}
        language = Counter(map(phrase_language, title_of.values())).most_common(1)
        about = [(_ABOUT if len(documents) > 1 else _ABOUT_ONE)[one] for one, _ in language]
        on_names = questions_on_names(entities, len(documents))
        questions = [*about, *on_names, *counting_questions(index, _EXAMPLES - len(on_names) - len(about))]
        return Introduction(
            kb=name, documents=len(documents), kinds=_count_kinds(metadata_of),
            dates=(dates[0], dates[-1]) if dates else None, titles=_title_texts(ids, title_of, metadata_of),
            chapters=_chapters(kb.documents, ids[0]) if len(ids) == 1 else (),
            openings=_openings(kb.documents, ids, title_of),
            tables=tuple(describe_tables(index, metadata_of)), entities=tuple(entities),
            counts_times=len(index.document_ids) < FEW, left_out=left_out, pictures=pictures,
            unread=tuple(line for line in unread_lines if line not in left_out),
            partly_read={key: note for key, note in unread_parts.items() if key not in pictures},
            chunks_failed=len(kb.documents.failures()), examples=tuple(questions),
            model=estimate_reading(resources, kb))


def _shown_title(document: str, title: str) -> str:
    """Return a document's title; if that is only its file's name, this in words, with its folder if it is a date."""
    path = PurePosixPath(document)
    if title not in {"", path.stem}:
        return title
    has_words = any(map(str.isalpha, path.stem)) or not path.parent.name
    return readable_name(title or document) if has_words else f"{readable_name(path.parent.name)} {path.stem}"


def _openings(documents: Documents, ids: Sequence[str], title_of: Mapping[str, str]) -> tuple[DocumentSummary, ...]:
    """Return the sentences with which some documents begin: of those that are about the whole, or else of others."""
    about_all = [key for key in ids if _ABOUT_ALL.search(PurePosixPath(key).stem)]
    for keys in (about_all, ids):
        found = summarise_documents(documents, keys[:_LOOKED_AT]) if keys else []
        if said := [one.model_copy(update={"title": title_of[one.document]}) for one in found
                    if _SENTENCE.fullmatch(one.said) or (one.said and len(keys) == 1)]:
            return tuple(said[:_OPENINGS])
    return ()


def _chapters(documents: Documents, document: str) -> tuple[str, ...]:
    """Return the first names of chapters: below "CHAPTER I", or else the highest of several headings above text.

    "…" stands for more.
    """
    text = documents.text(document)
    found = [heading for heading in headings(text) if heading.title != LICENCE]
    numbered = [below.title for above, below in pairwise(found)
                if _CHAPTER.fullmatch(above.title) and not text[above.end:below.start].strip()]
    ends = [*(heading.start for heading in found[1:]), len(text)]
    with_text = [heading for heading, end in zip(found, ends, strict=False) if text[heading.end:end].strip()]
    counts = Counter(heading.level for heading in with_text)
    level = next((level for level in sorted(counts) if counts[level] >= _LEAST_CHAPTERS), 0)
    others = [heading.title for heading in with_text if heading.level == level]
    titles = list(dict.fromkeys(map(in_small_letters, numbered if len(numbered) >= _LEAST_CHAPTERS else others)))
    return (*titles[:_CHAPTERS], *(["…"] if len(titles) > _CHAPTERS else []))


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
    for document in sorted(ids, key=lambda key: PurePosixPath(key).suffix.lower() in _DATA):
        title, author = title_of[document] or document, metadata_of[document].get("author", "")
        titles[f"{title}, by {author}" if _AUTHOR.fullmatch(author) else title] = None
    return tuple(titles)[:_TITLES]


def _in_turn(documents: Iterable[str]) -> list[str]:
    """Return the ids of documents, taking one from each folder in turn."""
    folders: dict[str, list[str]] = {}
    for key in documents:
        folders.setdefault(str(PurePosixPath(key).parent), []).append(key)
    return [key for turn in zip_longest(*folders.values()) for key in turn if key]
