"""The tables that a question may mean, described as citable items: columns with kinds, units, values and ranges."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

import numpy as np

from ..graph_store.graph_index import GraphIndex
from ..graph_store.sql.logical_tables import snake_case
from ..schemas.inquiry import Block
from ..schemas.lookups import LONGEST
from ..schemas.naming import label_key
from ..schemas.records import Basis, ColumnInfo, TableInfo
from ..schemas.retrieval import Passage, Place
from ..text.content_words import content_words
from ..text.dates import find_dates
from ..text.scripts import estimate_tokens
from .retriever import Retriever

TABLE_TOKENS = 280
"""Limit on the estimated tokens of all tables, because they are in every prompt of a question."""
_FIRST_SHARE = 2 / 3
"""The share of the tokens that are left which one table may take, so that others fit beside it."""
_MOST_DESCRIBED, _LEAST_SCORE = 2, 1 / 2
"""How many tables are described, and which share of the best table's score they have at least."""
_LEAST_ROWS = 3
_VALUES = ((8, 5), (6, 3), (4, 3), (2, 0), (0, 0))
"""How many values an asked column and another one may have to show them all, the fullest form first."""
_FREQUENT = 3
"""How many values are shown of a column that the question names and that has more."""
_LONGEST_VALUE = 32
_MOST_OTHERS, _COLUMNS_SHARE = 8, 1 / 2
"""How many other tables are named, and which share of the tokens left the names of one's columns may take."""
_MOST_EMBEDDED = 200
"""How many tables are compared by their vectors, those with the most rows: a first question waits for these."""
_PASSAGES = 10
"""How many of the nearest passages vote for the tables of their documents: they hold values that no list shows."""
_PLAIN_FIELDS = frozenset({"document", "title", "source"})
"""What every document has; a table of documents with these alone says nothing."""


def describe_tables(retriever: Retriever, question: str, tokens: int = TABLE_TOKENS) -> list[Block]:
    """Return the tables of records and documents as a block; empty if there are none.

    The tables that a question may mean are described, an item each, as fully as they fit; the note has the names and
    rows of the others. The order is by the words that names and values share with the question, by the vectors of the
    names, and by the documents of the nearest passages; the table of documents is the second if it shares a word.
    """
    if not (tables := _shown_tables(retriever.index)):
        return []
    tables = [_titled(retriever.index, table) for table in tables]
    scores = _scores(retriever, tables, question)
    ranked = sorted(tables, key=lambda table: (-scores[table.name], -table.rows, table.name))
    described, asked = dict[str, Passage](), _stems(question)
    # A table of a row or two has nothing to compute: passages show it whole.
    large = [table for table in ranked if table.rows >= _LEAST_ROWS or table.kind == "documents"] or ranked
    for table in _to_describe(large, scores, asked):
        most = tokens if len(ranked) == 1 else int(tokens * _FIRST_SHARE)
        lines = (_table_line(table, asked, *values) for values in _VALUES)  # the fullest first
        line = next((line for line in lines if estimate_tokens(line) <= most), None)
        if line is not None:
            described[table.name] = _item(retriever.index, table, line)
            tokens -= estimate_tokens(line)
    # Names and dates of documents help with most questions that one look does not answer.
    others = sorted((table for table in ranked if table.name not in described),
                    key=lambda table: (table.kind != "documents", table.rows < _LEAST_ROWS))
    return [Block(title="tables", items=tuple(described.values()), note=_others_line(others, tokens))]


def _titled(index: GraphIndex, table: TableInfo) -> TableInfo:
    """Return a table that is called by its file's name with the title of its only document instead."""
    titles = index.sql.titles.get(table.name, ())
    file_names = {snake_case(PurePosixPath(title).stem) for title in titles}
    if table.kind != "records" or table.documents != 1 or snake_case(table.title) not in file_names:
        return table
    title = next((title for title in titles if snake_case(PurePosixPath(title).stem) != snake_case(table.title)), "")
    return table.model_copy(update={"title": title or table.title})


def has_tables(index: GraphIndex) -> bool:
    """Return True if there is a table that may be described."""
    return bool(_shown_tables(index))


def column_keys(index: GraphIndex) -> frozenset[str]:
    """Return the names and titles of the columns of all tables that may be described, as `label_key` writes them."""
    return frozenset(label_key(name) for table in _shown_tables(index) for column in table.columns
                     for name in (column.name, column.title))


def rows_by_document(index: GraphIndex) -> dict[str, int]:
    """Return the rows of the largest table that documents have, by the documents that have most of them."""
    rows_of = dict[str, int]()
    for table in index.sql.tables():
        for document, count in _documents_of(table) if table.kind == "records" else ():
            rows_of[document] = max(count, rows_of.get(document, 0))
    return rows_of


def _documents_of(table: TableInfo) -> tuple[tuple[str, int], ...]:
    """Return the documents that most rows of a table are from, each with their number."""
    return next((column.frequent for column in table.columns if column.name == "document"), ())


def _item(index: GraphIndex, table: TableInfo, line: str) -> Passage:
    """Return a table as an item: its numbers rest on all of its rows, of which it cites the first."""
    sql = f'SELECT * FROM "{table.name}"'  # noqa: S608
    first = index.sql.run(sql, most_rows=1, most_cited=1).citations[:1]
    places = tuple(Place(document=one.document, start=one.start, text=one.quote) for one in first)
    cited = {"document": places[0].document, "start": places[0].start, "text": places[0].text} if places else {}
    return Passage(**{"chunk_id": "", "document": "", "title": table.title, "text": line, "start": 0, "score": 0.0,
                      "kind": "table", "statement": line, "places": places,
                      "basis": Basis(query=sql, records=table.rows)} | cited)


def _to_describe(ranked: Sequence[TableInfo], scores: Mapping[str, float], asked: Collection[str]) -> list[TableInfo]:
    """Return the likeliest tables; behind the first that of documents, for which no passage votes, if it has a word."""
    likely = [table for table in ranked[:_MOST_DESCRIBED]
              if table is ranked[0] or (scores[table.name] >= _LEAST_SCORE * scores[ranked[0].name]
                                        and any(_is_asked(column, asked) for column in table.columns))]
    documents = [table for table in ranked if table.kind == "documents" and table is not likely[0]
                 and any(_is_asked(column, asked) for column in table.columns)]
    return [*likely[:1], *documents, *(table for table in likely[1:] if table not in documents)]


def _shown_tables(index: GraphIndex) -> list[TableInfo]:
    """Return the tables of records, and that of documents if these say something of themselves."""
    return [table for table in index.sql.tables() if table.kind == "records" or (
        table.kind == "documents" and any(column.name not in _PLAIN_FIELDS for column in table.columns))]


def _scores(retriever: Retriever, tables: Sequence[TableInfo], question: str) -> dict[str, float]:
    scores = _by_words(tables, question)
    query = retriever.compare(question[:LONGEST])
    largest = sorted(tables, key=lambda table: (-table.rows, table.name))[:_MOST_EMBEDDED]
    names = [f"{table.title}: {', '.join(column.title for column in table.columns if column.name != 'document')}"
             for table in largest]
    for table, vector in zip(largest, retriever.embed(names), strict=True):
        scores[table.name] += query.trust * round(float(np.dot(vector, query.vector)), 4)
    near = Counter(retriever.index.chunks[retriever.index.chunk_row[key]].document_id
                   for key, _ in retriever.rank_passages(question[:LONGEST], _PASSAGES))
    for table in tables:
        votes = sum(near[document] for document, _ in _documents_of(table))
        scores[table.name] += votes / _PASSAGES if table.kind == "records" else 0
    return scores


def _by_words(tables: Sequence[TableInfo], question: str) -> dict[str, float]:
    """Return the share of a question's words that each table has; rare ones and those of its name count more."""
    names_of = {table.name: _stems(f"{table.name} {table.title}".replace("_", " ")) for table in tables}
    texts_of = {table.name: (text for column in table.columns if column.name != "document"
                             for text in _texts_of_column(column)) for table in tables}
    words_of = {name: names_of[name] | _stems(" ".join(texts)) for name, texts in texts_of.items()}
    tables_with = Counter(word for words in words_of.values() for word in words)
    weights = {word: 1 / tables_with[word] for word in _stems(question) if word in tables_with}
    total = sum(weights.values()) or 1.0
    return {name: sum(weights[word] * (1 + (word in names_of[name])) for word in sorted(words & weights.keys())) / total
            for name, words in words_of.items()}


def _texts_of_column(column: ColumnInfo) -> Iterator[str]:
    yield f"{column.name} {column.title}".replace("_", " ")
    if column.kind in {"text", "list"}:
        yield from (value for value, _ in column.frequent)


def _stems(text: str) -> frozenset[str]:
    return frozenset(content_words(text))


def _is_asked(column: ColumnInfo, asked: Collection[str]) -> bool:
    return not _stems(" ".join(_texts_of_column(column))).isdisjoint(asked)


def _table_line(table: TableInfo, asked: Collection[str], asked_values: int, other_values: int) -> str:
    """Return a table with its rows and columns, each with the values that a question may mean."""
    # A column that the question names has its most frequent values, another one those with a word of the question, or
    # all if they are few.
    title = "" if table.title.casefold() in {table.name, table.name.replace("_", " ")} else f" “{_short(table.title)}”"
    columns = list[str]()
    for column in table.columns:
        if column.name == "document" and table.documents <= 1:
            continue
        is_named = not _stems(f"{column.name} {column.title}".replace("_", " ")).isdisjoint(asked)
        meant = [value for value in column.frequent if not _stems(value[0]).isdisjoint(asked)]
        values = column.frequent if is_named or column.distinct <= other_values else meant
        most = asked_values if column.distinct <= asked_values else min(asked_values, _FREQUENT)
        columns.append(_column_text(column, table, values[:most], is_asked=is_named or bool(meant)))
    return f"{table.name}{title} ({table.rows} rows): {'; '.join(columns)}"


def _column_text(column: ColumnInfo, table: TableInfo, values: Sequence[tuple[str, int]], *, is_asked: bool) -> str:
    """Return a column: its name, kind, unit, range or values, and how many cells are empty or of another kind."""
    kind = "" if column.kind == "text" else f" {column.kind}"
    unit = f" {column.unit}" if column.unit else f" {'|'.join(column.units)}" if column.units else ""
    ends = "..".join(dict.fromkeys((column.smallest, column.largest)))
    spread = f" {ends}" if column.smallest and column.kind in {"number", "date"} else ""
    missing = "".join([f", {column.empty} empty" if column.empty and is_asked else "",
                       f", {column.untyped} other text" if column.untyped else ""])
    return f"{column.name}{kind}{unit}{spread or _values_text(column, table, values)}{missing}"


def _values_text(column: ColumnInfo, table: TableInfo, values: Sequence[tuple[str, int]]) -> str:
    """Return values of a column with their numbers, and how many values there are if not all."""
    # A query has to be written in the form of a list's members, or of dates that are texts, so one is shown at least.
    needs_form = column.kind == "list" or (bool(column.frequent) and column.kind == "text"
                                           and any(find_dates(column.frequent[0][0])))
    shown = values or column.frequent[:needs_form]
    if not shown or column.kind == "boolean":
        return ""
    is_unique = column.distinct >= table.rows - column.empty
    listed = ", ".join(_short(value) if is_unique else f"{_short(value)} {count}" for value, count in shown)
    return f": {listed}{f', … of {column.distinct}' if column.distinct > len(shown) else ''}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_VALUE else f"{line[:_LONGEST_VALUE - 1]}…"


def _others_line(tables: Sequence[TableInfo], tokens: int) -> str:
    """Return the names and rows of other tables, the first with their columns, as many as fit; "" if there are none."""
    shown = list[str]()
    for place, table in enumerate(tables[:_MOST_OTHERS]):
        columns = f" ({', '.join(column.name for column in table.columns if column.name != 'document')})"
        text = f"{table.name} {table.rows}"
        if place < _MOST_DESCRIBED and estimate_tokens(text + columns) <= tokens * _COLUMNS_SHARE:
            text += columns
        tokens -= estimate_tokens(text) + 1
        if tokens < 0:
            break
        shown.append(text)
    left = len(tables) - len(shown)
    return f"other tables: {', '.join([*shown, *([f'… {left} more'] if left else [])])}" if tables else ""
