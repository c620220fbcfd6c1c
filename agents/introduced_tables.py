"""What the tables and the fields of documents hold, as an introduction says it, and questions that count over them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import PurePosixPath
from textwrap import shorten

from ..graph_store.graph_index import GraphIndex
from ..graph_store.sql.logical_tables import DOCUMENT, OWN_FIELDS, SECTION, quoted
from ..ingest.metadata import CREATED
from ..models.rules.metadata_facts import is_setting
from ..schemas.naming import label_key
from ..schemas.records import ColumnInfo, SqlResult, TableInfo
from ..text.lexicon import WORDS
from ..text.titles import UNREAD, in_small_letters, readable_name
from ..tools.asked_query import ask_tables
from .retrieval.cited_message import phrases_for

_SHOWN, _COLUMNS = 4, 7  # lines of folders and tables, and columns or items of each: what fits at a glance
_LEAST_ROWS = 3  # of a table that is described; fewer are lines with a colon more often than not
_LEAST_COLUMNS = 2  # one column alone is a list, and says little
_MOSTLY = 1 / 2  # least share of a folder's documents, or of a table's rows, that have a field which is named or asked
_LEAST_OF_ALL = 1 / 4  # least share of all documents in a folder whose fields are shown: of a few they say little
_LONGEST_HEADER, _LONGEST_HEADING = 40, 60  # characters of names; longer ones are sentences or cells
_NO_HEADER = re.compile(r"[,，;；.。!?！？](?:\s|$)|=|click here|\A[\dIVXLC]{1,6}\Z", re.IGNORECASE)
"""What no name of a column has, but a first row that was taken for the header, or a link."""
_VALUE = re.compile(r"(?=.*[^\WA-Z\d_])[^\W\d_][\w -]{1,30}")
"""A value that a question can name; initials and placeholders in capitals say too little."""
_MOST_TRIED = 12  # questions that are put to the tables, each in milliseconds, until enough have an answer


def describe_tables(index: GraphIndex, metadata_of: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return what the fields of each folder's documents and the largest tables hold: rows and names of columns."""
    tables = [table for table in index.sql.tables() if table.kind == "records" and table.rows >= _LEAST_ROWS]
    # Tables with titles of columns come first, and of these the largest.
    tables.sort(key=lambda table: (not any(map(_title_of, table.columns)), -table.rows, table.name))
    is_only_document = len(metadata_of) == 1
    # Only as many tables are described as are shown, since each takes a query.
    table_lines = filter(None, (_describe_table(index, table, is_only_document=is_only_document) for table in tables))
    return [*islice(chain(_describe_folders(metadata_of), table_lines), _SHOWN), *_describe_lists(index)]


def _title_of(column: ColumnInfo) -> str:
    """Return the title of a column; "" for those that Banyan adds (a row's document and section)."""
    return "" if column.name == DOCUMENT or column.title == SECTION else column.title.strip()


def _describe_folders(metadata_of: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield the fields that most documents of a folder have, such as their front matter, the largest folder first."""
    documents_of: dict[str, list[str]] = defaultdict(list)
    for document_id in metadata_of:
        file, is_record, _ = document_id.partition("#")  # the id of a record is that of its file, # and a number
        path = PurePosixPath(file)
        folder = path.stem if is_record else path.parent.name  # a file of records is like a folder
        documents_of[folder].append(document_id)
    for folder, documents in sorted(documents_of.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(documents) < max(_LEAST_ROWS, len(metadata_of) * _LEAST_OF_ALL):
            return  # as all further folders are no larger
        titles: dict[str, str] = {}
        counts = Counter[str]()
        for document_id in documents:
            fields = {label_key(name): name for name, value in metadata_of[document_id].items()
                      if name != UNREAD and not is_setting(name, value)}
            titles = fields | titles  # the first spelling of a name is kept
            counts.update(fields.keys())
        columns = [titles[name] for name, count in counts.most_common() if count >= len(documents) * _MOSTLY]
        if len(columns) >= _LEAST_COLUMNS:
            name = readable_name(folder) if folder else "documents"
            yield f"{name}: {len(documents):,} × {_list_columns(['title', *columns])}"


def _describe_lists(index: GraphIndex) -> Iterator[str]:
    """Yield the most frequent items of the lists that most documents have, such as "tags: R (8), rain (4)"."""
    for table in index.sql.tables():
        for column in table.columns if table.kind == "documents" else ():
            has_most = table.rows - column.empty >= table.rows * _MOSTLY
            if column.kind != "list" or not has_most:
                continue
            counts, spelled = Counter[str](), dict[str, str]()  # by the key of a value, which ignores its spelling
            for value, times in column.frequent:
                counts[label_key(value)] += times
                spelled.setdefault(label_key(value), value)
            items = [f"{spelled[key]} ({times})" for key, times in counts.most_common(_COLUMNS) if times >= _LEAST_ROWS]
            if len(items) >= _LEAST_COLUMNS:
                yield f"{column.title}: {', '.join(items)}"


def _describe_table(index: GraphIndex, table: TableInfo, *, is_only_document: bool) -> str:
    """Return a line for a table; "" if its header is one of its rows, or it was written as lines of fields."""
    titled = [column for column in table.columns if _title_of(column)]
    if len(titled) < _LEAST_COLUMNS or not all(map(_has_name, titled)):
        return ""
    result = index.sql.run(f"SELECT DISTINCT document FROM {quoted(table.name)}", most_cited=1)  # noqa: S608
    rows_per_document = table.rows / max(result.total, 1)  # the result has one row for each document
    # One row of each file is a table over the files, and several are a table of their own.
    is_form_in_each_file = 1 < rows_per_document < _LEAST_ROWS
    # A table's row begins with a bar in a text; neighbouring fields, such as those of minutes, do not.
    is_written_as_table = bool(result.citations) and result.citations[0].quote.startswith("|")
    if is_form_in_each_file or not is_written_as_table:
        return ""
    titles_of = dict(zip(index.document_ids, index.document_titles, strict=True))
    # The columns that most rows fill come first; one that a single row fills is left out.
    titles = [column.title for column in sorted(titled, key=lambda column: column.empty)
              if table.rows - column.empty > 1]
    name = _name_table(table, result, titles_of, is_only_document=is_only_document)
    return f"{name}: {table.rows:,} × {_list_columns(titles)}" if len(titles) >= _LEAST_COLUMNS else ""


def _has_name(column: ColumnInfo) -> bool:
    """Return True if the title of a column is a name, and no cell of a first row that was taken for the header."""
    title = _title_of(column)
    return 0 < len(title) <= _LONGEST_HEADER and _NO_HEADER.search(title) is None


def _name_table(table: TableInfo, result: SqlResult, titles_of: Mapping[str, str], *, is_only_document: bool) -> str:
    """Return what a table is called: its document and its heading there, or the folder or the kind of its files."""
    paths = {PurePosixPath(str(row[0])) for row in result.rows}  # the documents that the table's rows are from
    if result.total > 1:
        folders = {path.parent.name for path in paths}
        name = readable_name(folders.pop()) if len(folders) == 1 else ""
        kinds = "/".join(sorted({path.suffix[1:].upper() for path in paths}))
        has_row_of_each_file = result.total == table.rows  # then the number of rows says how many files there are
        return name if has_row_of_each_file and name else f"{name or kinds} ({result.total:,} files)"
    path = paths.pop()
    heading = table.title.removeprefix(path.stem).strip()
    if len(heading) > _LONGEST_HEADING:  # a sentence above the table
        heading = ""
    if is_only_document and heading:
        return in_small_letters(heading)
    title = titles_of.get(str(path)) or path.stem
    name = readable_name(shorten(title, _LONGEST_HEADING, placeholder="…"))
    return f"{name}, {heading}" if heading not in {"", title} else name


def _list_columns(titles: list[str]) -> str:
    """Return the first distinct titles of columns, with "…" if there are more."""
    distinct = list(dict.fromkeys(title.replace("_", " ") for title in titles))
    return ", ".join(distinct[:_COLUMNS]) + (", …" if len(distinct) > _COLUMNS else "")


def counting_questions(index: GraphIndex, most: int) -> list[str]:
    """Return at most `most` questions on the most frequent values of columns, all of which the tables answer."""
    tables = [table for table in index.sql.tables() if table.kind in {"documents", "records"}]
    tables.sort(key=lambda table: (table.kind != "documents", -table.rows, table.name))  # fields of documents first

    def is_asked_about(column: ColumnInfo) -> bool:
        """Return True if a column is named in words, and neither Banyan's own nor a setting of a program."""
        # The most frequent of the rows' own names asks for nothing in particular.
        is_own = (column.name in OWN_FIELDS or column.title in {UNREAD, CREATED}
                  or label_key(column.title) in WORDS["headers of names"])
        return _has_name(column) and "_" not in column.title and not is_own and not is_setting(column.title, "")

    columns = [(table, column) for table in tables for column in filter(is_asked_about, table.columns)]
    questions = filter(None, (_ask_frequent(table, column) for table, column in columns))
    answers = {question: ask_tables(index, question) for question in islice(questions, _MOST_TRIED)}
    return [question for question, answer in answers.items() if answer is not None and answer.short][:most]


def _ask_frequent(table: TableInfo, column: ColumnInfo) -> str:
    """Return a question on a column's most frequent value; "" if all or few rows have it, or few have any value."""
    filled, phrases = table.rows - column.empty, phrases_for(column.title)
    value, times = next(((value, times) for value, times in column.frequent if times < filled), ("", 0))
    is_telling = times >= _LEAST_ROWS and filled >= table.rows * _MOSTLY
    if not is_telling or column.kind not in {"text", "list"} or not _VALUE.fullmatch(value):
        return ""
    if table.kind == "records":  # asks how many rows have the value
        return phrases["rows"].format(readable_name(table.title), column.title, value)
    if column.kind == "text":  # asks which value most documents have
        return phrases["most"].format(column.title)
    return phrases["have"].format(column.title.removesuffix("s"), value)  # asks which documents list the value
