"""What a knowledge base is about, at a glance: for its first minute in the terminal, in Python and on the page."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, takewhile, zip_longest
from pathlib import PurePosixPath
from string import capwords

import numpy as np
from pydantic import Field

from ..graph_store.graph_index import GraphIndex
from ..graph_store.ledger.document_rows import Documents
from ..graph_store.ledger.notes import BUILD, UNREAD_FILES
from ..graph_store.sql.logical_tables import OWN_FIELDS, SECTION
from ..ingest.loaders import LICENCE
from ..ingest.metadata import CREATED, file_title
from ..ingest.reading import LEFT_OUT
from ..models.rules.metadata_facts import is_setting
from ..schemas.documents import Frozen
from ..schemas.naming import has_any_name, has_name, label_key, normalise
from ..schemas.records import ColumnInfo, TableInfo
from ..text.quantities import format_count
from ..text.relative_dates import document_date
from ..text.scripts import phrase_language
from ..text.section_lines import UNREAD, headings, is_telling, readable_name
from ..tools.fact_lookups import natural_key
from ..tools.reports import CHAPTER, DocumentSummary, summarise_documents
from .estimate import ReadingEstimate, estimate_reading
from .resources import Resources
from .retrieval.cited_message import phrases_for

_TITLES, _CHAPTERS, _OPENINGS, _ENTITIES, _NAMES, _TABLES, _COLUMNS = 6, 15, 3, 8, 5, 4, 7
"""How many of each are shown; `_NAMES` in the summary, and `_COLUMNS` of a table."""
_DAY = re.compile(r"(?<!\W)\W*+(?:\d|(?:Jan|Feb|Mar|Apr|May|Ju[nl]|Aug|Sep|Oct|Nov|Dec)[a-z.]*+ \d)")
"""Where a title goes on with a number or a day."""
_NAMED_FILES = 3  # of those that were not read; the others are counted
_READ_FOR_OPENINGS = 24  # documents in which an opening is looked for: reading a large folder would take seconds
_LEAST_CHAPTERS = 3  # headings of a level that is shown; of fewer, one may be the title of the whole
_FEW = 5  # in fewer documents most names are in all of them, so the passages that mention a name are counted instead
_LEAST_MENTIONS, _FEWEST_NAMES = 3, 4  # of a name that stands out; of fewer names, one mention less is enough
_LEAST_SHARE_OF_DOCUMENTS, _LEAST_SHARE_OF_FIRST = 1 / 20, 1 / 10
"""The least share that mentions a name that stands out: of all documents, or of the passages with the first name."""
_LONGEST_INITIALS, _LONGEST_ASKED, _LONGEST_TITLE = 3, 40, 60
"""Characters of a name that says nothing, of a name in a question, and of a title."""
_VALUES, _WITH_VALUES = 3, 2  # how many values that rows share are shown, and of how many columns of a table
_TELLING = re.compile(r"[^\W\d_][^\W_]*[+#]*(?:[ '’&.-]+[^\W_]+){0,3}")
"""A value of one to four words: no date, address or file, but C++."""
_LEAST_ROWS, _LEAST_COLUMNS = 3, 2  # of a table that is described: a smaller one is seldom a table
_LEAST_FILLED = 1 / 4  # least share of the documents that have a field which is named
_NO_HEADER = re.compile(
    r".{41}|[{}]|\borcid\b|[,，;；.。!?！？](?:\s|$)|=|click here|\A[\dIVXLC]{1,6}\Z", re.IGNORECASE)
"""What no name of a column has, but a first row that was taken for the header, or a link."""
_OVERVIEW = re.compile(r"(?:^|[\W_])(?:read-?me|about|mission)(?:[\W_]|$)|简介|概述|关于", re.IGNORECASE)
"""Words in the name of a file that says what its whole folder is about."""
_SENTENCE = re.compile(r"(?=(?:\S+\s+){4}|.*[\u4e00-\u9fff]{8})[“\"]?[^\Wa-z\d_].*[.。]", re.DOTALL)
"""A whole sentence of at least five words or eight Chinese characters."""
_ESCAPE = re.compile(r"\\(?=[^\w\s])")  # Markdown's mark before a sign: "\$180"
_INNER_MARKS = str.maketrans("“”", "‘’")  # within the marks that a shown sentence gets
_FINITE = re.compile(r"[\u0370-\u1fff\u3040-\ud7ff]|"
                     r"\b(?:Th(?:is|ese)|[Tt]he(?:re|y)|[Ww]e|[Ii]t|[Ss]?[Hh]e|I|is|are|was|were|ha[sd]|have|will|can)\b")
"""What a note mostly lacks and an English sentence has, a subject or an auxiliary verb; any text in another script."""
_PICTURES = re.compile(r"(?P<number>[\d,]{1,12}) pictures?")  # the note of a document of which all text was read
_KINDS = {"pdf": "PDF", "md": "Markdown", "markdown": "Markdown", "mdx": "Markdown", "docx": "Word", "doc": "Word",
          "pptx": "PowerPoint", "xlsx": "Excel", "xls": "Excel", "eml": "e-mail", "mbox": "e-mail", "txt": "text",
          "htm": "HTML", "html": "HTML", "xhtml": "HTML", "rst": "reStructuredText", "jsonl": "JSON", "tex": "LaTeX"}
_DATA = frozenset({".json", ".jsonl", ".csv", ".tsv", ".xlsx", ".xls", ".bib", ".ris"})
"""Files of records come last, as the introduction describes them as tables."""


class MainEntity(Frozen):
    """An entity with the number of documents and of passages that mention it."""

    id: str
    name: str
    type: str
    documents: int
    times: int = Field(description="the number of passages that mention it")


class Introduction(Frozen):
    """What the documents are about, what was not read, what can be asked, and what a model would add."""

    kb: str
    summary: str = Field(description="a sentence on several documents, in their language; of one it is empty")
    documents: int
    kinds: dict[str, int] = Field(description="documents by the kind of their file, the most frequent first")
    dates: tuple[str, str] | None = Field(description="the first and last date in ISO 8601, if most documents have one")
    titles: tuple[str, ...] = Field(description="some titles, of each folder in turn; in a series what they differ in")
    chapters: tuple[str, ...] = Field(description="the first chapters of the only document")
    openings: tuple[DocumentSummary, ...] = Field(description="sentences with which telling documents begin")
    tables: tuple[str, ...] = Field(description="the documents' fields, and rows and columns of the largest tables")
    entities: tuple[MainEntity, ...] = Field(description="the names that stand out in the texts")
    counts_times: bool = Field(description="of few documents: names are ranked by the passages that mention them")
    unread: tuple[str, ...] = Field(description="files that the latest build could not read, and why")
    left_out: tuple[str, ...] = Field(description="what it left out because it is no document")
    pictures: dict[str, int] = Field(description="the pictures of documents of which nothing else was not read, by id")
    partly_read: dict[str, str] = Field(description="what was not read of other documents, by their ids")
    chunks_failed: int
    examples: tuple[str, ...] = Field(description="questions that the documents answer")
    model: ReadingEstimate | None = Field(description="what reading with a model would take; none: one has read all")

    def lines(self) -> list[tuple[str, str]]:
        """Return the introduction as lines of English text, each as (name, text)."""
        plural = "" if self.documents == 1 else "s"
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in self.kinds.items()) or "no documents yet"
        if self.dates:
            first, last = self.dates
            kinds += f", of {first}" if first == last else f", from {first} to {last}"
        hidden_titles = self.documents - len(self.titles)
        counts_of = [format_count(entity.times, "passage") if self.counts_times
                     else f"in {format_count(entity.documents, 'document')}" for entity in self.entities]
        entities = [f"{entity.name} ({entity.type}, {count})"
                    for entity, count in zip(self.entities, counts_of, strict=True)]
        # What was not read: files, parts of documents, chunks, and what is no document.
        counts = {"partly read document": len(self.partly_read), "failed chunk": self.chunks_failed,
                  "picture": sum(self.pictures.values())}
        unread = [line.partition(": ")[0] for line in self.unread[:_NAMED_FILES]]
        if len(self.unread) > _NAMED_FILES:
            unread.append(format_count(len(self.unread) - _NAMED_FILES, "more file"))
        unread += [format_count(count, what) for what, count in counts.items() if count]
        unread += [f"{line.partition(f': {LEFT_OUT}')[2]} left out" for line in self.left_out]
        parts = {
            "about": self.summary,
            f"kind{plural}": kinds,
            f"title{plural}": "; ".join(self.titles) + (f" and {hidden_titles:,} more" if hidden_titles > 0 else ""),
            "chapters": "; ".join(self.chapters),
            "from the text": "\n".join(f"“{opening.said}” — {opening.title}" for opening in self.openings),
            "tables": "\n".join(self.tables),
            "mentioned most": ", ".join(entities),
            "not read": "; ".join(unread) or "nothing: all is read",
            "try": "\n".join(self.examples)}
        if self.model:
            cost = self.model.cost
            price = "" if cost is None else f"; reading the documents with it costs about {cost:.2f}"
            parts["without a model"] = ("you can search, read quotes and count over tables; a model also writes "
                                        f"answers in its own words, over several documents{price}")
        return [(name, text) for name, text in parts.items() if text]

    def __str__(self) -> str:
        return "\n".join(f"{name}: {text}" for name, text in self.lines())


def introduce(resources: Resources, name: str) -> Introduction:
    """Return an introduction to a knowledge base, or raise StoreError if there is none or it cannot be read."""
    with resources.snapshot(name) as snapshot:
        kb, index = snapshot.kb, snapshot.index
        documents = sorted(kb.documents.about(), key=lambda document: natural_key(document[0]))  # chapter 2, then 10
        title_counts = Counter(title for _, title, _, _ in documents)
        # What several documents are called, such as "Time and Place" of minutes, tells none of them apart.
        has_own_title = {document_id: title_counts[title] == 1 and title not in {"", PurePosixPath(document_id).stem}
                         for document_id, title, _, _ in documents}
        title_of = {document_id: title if has_own_title[document_id] else file_title(document_id)
                    for document_id, title, _, _ in documents}
        folders = defaultdict[PurePosixPath, list[str]](list)
        for document_id in title_of:
            folders[PurePosixPath(document_id).parent].append(document_id)
        # Documents are shown one of each folder in turn, so that no large folder hides the others, records last.
        in_turn = filter(None, chain.from_iterable(zip_longest(*folders.values())))  # None: a folder has no more
        ids = sorted(in_turn, key=lambda key: PurePosixPath(key).suffix.lower() in _DATA)
        dates = sorted(filter(None, (document_date(document_id, title, metadata)
                                     for document_id, title, _, metadata in documents)))
        dates = dates if 2 * len(dates) > len(documents) else []  # those of a few would be taken for all
        unread_lines: list[str] = kb.database.notes(BUILD).get(UNREAD_FILES, [])
        left_out = tuple(line for line in unread_lines if f": {LEFT_OUT}" in line)
        partly_read = {document_id: metadata[UNREAD] for document_id, _, _, metadata in documents if UNREAD in metadata}
        pictures = {document_id: int(match["number"].replace(",", "")) for document_id, note in partly_read.items()
                    if (match := _PICTURES.fullmatch(note))}  # else the note names other parts, too
        entities, tables, sections = main_entities(index), index.sql.tables(), _shared_sections(kb.documents, ids)
        return Introduction(
            kb=name, documents=len(documents), kinds=_count_kinds(title_of),
            dates=(dates[0], dates[-1]) if dates else None,
            summary=(_summarise([*title_of.values()], dates, sections, tables, entities) if len(documents) > 1 else ""),
            titles=_shown_titles([title_of[document_id] for document_id in ids]),
            chapters=_chapters(kb.documents.text(ids[0])) if len(ids) == 1 else (),
            openings=_openings(kb.documents, ids, title_of,
                               [name for entity in entities for name in index.names(entity.id)]),
            tables=_describe_tables(tables), entities=tuple(entities),
            counts_times=len(documents) < _FEW, left_out=left_out, pictures=pictures,
            unread=tuple(line for line in unread_lines if line not in left_out),
            partly_read={key: note for key, note in partly_read.items() if key not in pictures},
            chunks_failed=len(kb.documents.failures()),
            examples=tuple(_questions_on_content([*title_of.values()], sections, entities)),
            model=estimate_reading(resources, kb))


def _shared_sections(documents: Documents, ids: Sequence[str]) -> list[str]:
    """Return the first headings that most of some documents have, as minutes do, or none if they share only a few."""
    read = ids[:_READ_FOR_OPENINGS]
    counts = Counter(chain.from_iterable(
        {heading.title: None for heading in headings(documents.text(key)) if is_telling(heading.title)}
        for key in read))
    shared = [title for title, count in counts.items() if 2 * count > len(read)]
    return shared[:_NAMES] if len(shared) >= _NAMES else []


def _shown_titles(titles: Sequence[str]) -> tuple[str, ...]:
    """Return the first titles, each once; in a series without what most begin with, such as "2017 01 10"."""
    series = _series_of(titles) if titles else ""
    shown = (title.removeprefix(series).strip() or title for title in titles)
    return tuple(dict.fromkeys(map(_shorten, shown)))[:_TITLES]


def _shorten(title: str) -> str:
    """Return a long title up to its colon, or else its first words."""
    name, colon, _ = title.partition(": ")
    if len(title) <= _LONGEST_TITLE:
        return title
    if colon and len(name) <= _LONGEST_TITLE:
        return name
    cut = title[:_LONGEST_TITLE]
    return f"{cut.rpartition(' ')[0] or cut}…"


def _series_of(titles: Sequence[str]) -> str:
    """Return how most titles begin before a number or day, such as "Member Meeting" of "Member Meeting 2017 01 10"."""
    ((series, times),) = Counter(_DAY.split(title, maxsplit=1)[0] for title in titles).most_common(1)
    return series if 2 * times > len(titles) > 1 else ""


def _summarise(titles: Sequence[str], dates: Sequence[str], sections: Sequence[str], tables: Sequence[TableInfo],
               entities: Sequence[MainEntity]) -> str:
    """Return when several documents are from, their titles, sections and tags if many have them, and the main names."""
    phrases, number = _phrases_of(titles), len(titles)
    said = phrases["documents"].format(f"{number:,}")
    if dates:
        said += phrases["dated" if dates[0] != dates[-1] else "of_day"].format(dates[0], dates[-1])
    if series := _series_of(titles):
        said += phrases["called"].format(series)
    elif 2 * sum(CHAPTER.match(title) is not None for title in titles) > number:
        said += phrases["numbered"].format(titles[0], titles[-1])
    columns = [column for table in tables if table.kind == "documents" for column in table.columns if _is_shown(column)]
    tags = next(((column.title, values) for column in columns if (values := _repeated_values(column))), None)
    if tags:
        said += phrases["tagged"].format(tags[0].replace("_", " ").capitalize(), tags[1].strip(" ()"))
    if sections:
        said += phrases["sections"].format(phrases["joint"].join(sections))
    # "Most named: Ann Lee" of fifteen papers, two of which name her, would mislead.
    names = phrases["joint"].join([entity.name for entity in entities if 2 * entity.documents > number][:_NAMES])
    return said + (phrases["named"].format(names) if names else "") + phrases["stop"]


def _count_kinds(documents: Iterable[str]) -> dict[str, int]:
    # The id of a record is that of its file, # and a number.
    suffixes = [PurePosixPath(document.partition("#")[0]).suffix[1:].lower() for document in documents]
    return dict(Counter(_KINDS.get(suffix, suffix.upper() or "text") for suffix in suffixes).most_common())


def _openings(documents: Documents, ids: Sequence[str], title_of: Mapping[str, str],
              names: Sequence[str]) -> tuple[DocumentSummary, ...]:
    """Return the sentences with which some documents begin: of those that are about the whole, or else of any.

    Of several with one of the main `names` only these; notes such as "New sign." are shown if there is nothing else.
    Of the chapters of a book they are the first ones.
    """
    overviews = [key for key in ids if _OVERVIEW.search(PurePosixPath(key).stem)]
    for keys in (overviews, ids):
        summaries = summarise_documents(documents, keys[:_READ_FOR_OPENINGS]) if keys else []
        # Of the only document, less than a sentence is better than nothing.
        telling = [summary for summary in summaries
                   if _is_whole_sentence(summary.said) or (summary.said and len(keys) == 1)]
        if not all(CHAPTER.match(title_of[summary.document]) for summary in telling):  # a story is told from its start
            telling = [summary for summary in telling if _FINITE.search(summary.said)] or telling
            named = [summary for summary in telling if has_any_name(summary.said, names)]
            telling = named if len(named) > 1 else [*named, *(summary for summary in telling if summary not in named)]
        if telling:
            return tuple(one.model_copy(update={
                "title": title_of[one.document], "said": _ESCAPE.sub("", one.said).translate(_INNER_MARKS)})
                for one in telling[:_OPENINGS])
    return ()


def _is_whole_sentence(said: str) -> bool:
    """Return True for a sentence that closes each quotation that it opens."""
    is_closed = said.count('"') % 2 == 0 and said.count("“") == said.count("”")
    return is_closed and _SENTENCE.fullmatch(said) is not None


def _chapters(text: str) -> tuple[str, ...]:
    """Return the first chapters, the headings with text below of the highest level that has several; "…" for more."""
    found = [heading for heading in headings(text) if heading.title != LICENCE]
    ends = [*(heading.start for heading in found[1:]), len(text)]  # the text below one ends where the next begins
    with_text = [heading for heading, end in zip(found, ends, strict=False) if text[heading.end:end].strip()]
    counts = Counter(heading.level for heading in with_text)
    level = min((level for level, count in counts.items() if count >= _LEAST_CHAPTERS), default=0)  # 0: none has it
    written = (heading.title for heading in with_text if heading.level == level)
    titles = list(dict.fromkeys(capwords(title) if title.isupper() else title for title in written))
    return (*titles[:_CHAPTERS], *(["…"] if len(titles) > _CHAPTERS else []))


def main_entities(index: GraphIndex) -> list[MainEntity]:
    """Return the names that stand out in the documents, the most frequent first, not all of one type; or none."""
    total = len(index.document_ids)
    passages = np.diff(index.mentioning.starts)  # how many mention each entity
    if total >= _FEW:
        counts, least = index.document_counts, total * _LEAST_SHARE_OF_DOCUMENTS
    else:
        counts, least = passages, passages.max(initial=0) * _LEAST_SHARE_OF_FIRST
    by_count = np.lexsort((-passages, -counts))  # the most frequent first: `lexsort` compares the last key first
    frequent = by_count[counts[by_count] >= max(_LEAST_MENTIONS, least)]
    if total >= _FEW and len(frequent) < _FEWEST_NAMES:  # papers of different authors share few names
        frequent = by_count[counts[by_count] >= max(_LEAST_MENTIONS - 1, least)]
    # The titles of documents are shown already, initials say nothing, and Mill Council repeats Radom Mill Council.
    titles = {normalise(title).removeprefix("the ") for title in index.document_titles}
    shown = list[MainEntity]()
    for row in frequent.tolist():
        name = index.labels_of(row).name
        type_name = index.labels_of(row).type
        is_initials = name.isupper() and len(name) <= _LONGEST_INITIALS
        repeats = any(one.type == type_name and (has_name(one.name, name) or has_name(name, one.name)) for one in shown)
        is_title = normalise(name).removeprefix("the ") in titles
        # The titles are searched last, as there may be many.
        if is_initials or repeats or is_title or 2 * sum(has_name(one, name) for one in index.document_titles) > total:
            continue
        shown.append(MainEntity(id=index.entity_row.at(row), name=name, type=type_name,
                                documents=int(index.document_counts[row]), times=int(passages[row])))
        if len(shown) == _ENTITIES:
            break
    return shown if len(shown) > 1 or total < _FEW else []  # a single one, such as GitHub, stands out by chance


def _describe_tables(tables: Sequence[TableInfo]) -> tuple[str, ...]:
    """Return a line for the fields of the documents, and for each of the largest tables: rows and names of columns."""
    lines = list[str]()
    for table in sorted(tables, key=lambda table: (table.kind != "documents", -table.rows, table.name)):
        least_filled = table.rows * _LEAST_FILLED if table.kind == "documents" else 2  # one cell is chance
        columns = [column for column in table.columns
                   if _is_shown(column) and table.rows - column.empty >= least_filled]
        # Few rows in each of several files are a form that each of them fills in.
        is_form = 1 < table.rows / max(table.documents, 1) < _LEAST_ROWS
        is_table = table.kind == "documents" or (table.kind == "records" and not is_form)
        if is_table and table.rows >= _LEAST_ROWS and len(columns) >= _LEAST_COLUMNS:
            more = ", …" if len(columns) > _COLUMNS else ""
            names, left = dict[str, str](), _WITH_VALUES  # with the values of some; several columns may have one name
            for column in columns[:_COLUMNS]:
                values = _repeated_values(column) if left else ""
                names.setdefault(column.title.replace("_", " "), values)
                left -= bool(values)
            title = f"{readable_name(_shorten(table.title))}, {format_count(table.rows, 'row')}"
            subject = "fields of documents" if table.kind == "documents" else title
            lines.append(f"{subject}: {', '.join(map(''.join, names.items()))}{more}")
    return tuple(lines[:_TABLES])


def _repeated_values(column: ColumnInfo) -> str:
    """Return the values that most rows share, " (Adelie 152, Gentoo 124)"; "" unless several words are shared."""
    counts, spelling = Counter[str](), dict[str, str]()  # "Python" and "python" are one
    for value, count in column.frequent:
        counts[spelling.setdefault(value.casefold(), value)] += count
    shared = [(value, count) for value, count in counts.most_common(_VALUES) if count >= _LEAST_ROWS]
    # Without a more frequent one, the others would mislead.
    values = [f"{value} {count}" for value, count in takewhile(lambda one: _TELLING.fullmatch(one[0]), shared)]
    return f" ({', '.join(values)})" if len(values) > 1 and column.kind in {"text", "list"} else ""


def _is_shown(column: ColumnInfo) -> bool:
    """Return True if a column is one of the documents' that has a name: not Banyan's own, a setting or a cell."""
    is_added = column.name in OWN_FIELDS or column.title in {"", SECTION, UNREAD, CREATED}
    return not is_added and not is_setting(column.title, "") and _NO_HEADER.search(column.title.strip()) is None


def _questions_on_content(titles: Sequence[str], sections: Sequence[str], entities: Sequence[MainEntity]) -> list[str]:
    """Return a question about all documents in the language of most titles, and some on a section and main entities."""
    if not titles:
        return []
    phrases = _phrases_of(titles)
    if len(titles) == 1:
        return [phrases["about_one"], *_ask_about([entity.name for entity in entities], 1)]
    # A name that most documents have asks for nothing in particular, and persons are often said to have been there.
    telling = [entity for entity in entities if 2 * entity.documents <= len(titles)] or [*entities[:2]]
    telling.sort(key=lambda entity: label_key(entity.type) == "person")
    return [phrases["about"], *_ask_about([*sections[-1:], *(entity.name for entity in telling)], len(titles))]


def _phrases_of(titles: Sequence[str]) -> dict[str, str]:
    """Return phrases in the language of most titles."""
    chinese_titles = [title for title in titles if phrase_language(title) == "zh"]
    is_mostly_chinese = 2 * len(chinese_titles) > len(titles)
    return phrases_for(chinese_titles[0] if is_mostly_chinese else "")  # "": in English


def suggest_questions(index: GraphIndex, rows: Sequence[int]) -> list[str]:
    """Return up to two questions about the entities of some rows, the most important first."""
    return _ask_about([index.labels_of(row).name for row in rows], len(index.document_ids))


def _ask_about(names: Iterable[str], documents: int) -> list[str]:
    """Ask what is said of the first name, and which documents mention the second one if there are several."""
    short_names = [name for name in names if len(name) <= _LONGEST_ASKED]
    phrase_keys = ("said", "mentioned" if documents > 1 else "said")  # of the first and the second name
    return [phrases_for(name)[key].format(name) for key, name in zip(phrase_keys, short_names, strict=False)]
