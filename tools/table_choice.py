"""The tables that a question may mean, described as citable items: columns with kinds, units, values and ranges."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ..graph_store.graph_index import GraphIndex
from ..schemas.inquiry import Block
from ..schemas.lookups import LONGEST
from ..schemas.naming import label_key
from ..schemas.records import Basis, ColumnInfo, TableInfo
from ..schemas.retrieval import Passage, Place
from ..text.content_words import content_words
from ..text.quantities import format_count
from ..text.scripts import estimate_tokens
from .passages import is_worded_otherwise
from .retriever import Retriever

TABLES = "tables"  # the title of the block of tables
TABLE_TOKENS = 280  # limit on the estimated tokens of all tables, because they are in every prompt of a question
_NAME_POINTS, _VALUE_POINTS, _LARGEST_POINTS, _ENOUGH_POINTS = 2, 1, 2, 3
"""The points of a table for each word of the question in its names and in its values, and for being the largest, which
most counts are over; and those from which it is described."""
_WIDESPREAD = 1 / 4  # a word that is in more than this share of the tables tells nothing about any of them
_ENOUGH_VOTES = 3 / 10  # the share of the nearest passages that makes a table of their documents worth describing
_FIRST_SHARE = 2 / 3  # the share of the tokens that are left which one table may take, so that others fit beside it
_MOST_DESCRIBED, _LEAST_SCORE = 2, 1 / 2
"""How many tables are described, and which share of the best table's score they have at least."""
_LEAST_ROWS = 8  # a smaller table has nothing to compute: passages show it whole
# How many values an asked column and another one may have to show them all, the fullest form first.
_VALUES = ((8, 5), (6, 3), (4, 3), (2, 0), (0, 0))
_FREQUENT = 3  # how many values are shown of a column that the question names and that has more
_LONGEST_VALUE = 32
_MOST_OTHERS, _LONGEST_NAME = 3, 24
"""How many other tables are named, and the characters of the longest name: longer ones cost more than they tell."""
_PASSAGES = 10  # how many of the nearest passages vote for the tables of their documents
_PLAIN_FIELDS = frozenset({"document", "title", "source"})  # what every document has, which says nothing of it


class _TableWords(NamedTuple):
    """The stems of a table's title, of its columns' names, of its values, and of short ones that several rows have."""

    title: frozenset[str]
    columns: frozenset[str]
    values: frozenset[str]
    repeated: frozenset[str]


def describe_tables(retriever: Retriever, question: str, tokens: int = TABLE_TOKENS, *, alone: bool = False,
                    ) -> list[Block]:
    """Return the tables of records and documents that a question may mean as a block; empty if there are no tables.

    A table is described, as an item, if it shares with the question more than many tables do (see `_telling_tables`);
    the note has the short names of others, or their number if none is described. If no passage is shown with them
    (`alone`) or the question has other words than the documents, the likeliest is described in any case, and the next
    ones have their columns in the note. The table of documents is the second if it shares a word.
    """
    if not (tables := shown_tables(retriever.index)):
        return []
    asked, votes = _stems(question), _votes(retriever, tables, question)
    words = {table.name: _words_of(table) for table in tables}
    scores = _scores(words, asked, votes)
    ranked = sorted(tables, key=lambda table: (-scores[table.name], -table.rows, table.name))
    alone = alone or is_worded_otherwise(retriever, question)
    telling = {*words} if alone else _telling_tables(tables, words, asked, votes)
    described = dict[str, Passage]()
    for table in _to_describe([table for table in ranked if table.name in telling], scores, asked):
        most_tokens = tokens if len(ranked) == 1 else int(tokens * _FIRST_SHARE)
        line = _fitting_line(table, asked, most_tokens)
        described[table.name] = _item(retriever.index, table, line)
        tokens -= estimate_tokens(line)
    others = [table for table in ranked if table.name not in described]
    most_named, with_columns = _MOST_OTHERS if described else 1, _MOST_DESCRIBED if alone else 0
    note = _others_line(others, most_named=most_named, with_columns=with_columns)
    return [Block(title=TABLES, items=tuple(described.values()), note=note)]


def column_keys(index: GraphIndex) -> frozenset[str]:
    """Return the names and titles of the columns of all tables that may be described, as `label_key` writes them."""
    return frozenset(label_key(name) for table in shown_tables(index) for column in table.columns
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


def shown_tables(index: GraphIndex) -> list[TableInfo]:
    """Return the tables of records, and that of documents if these say something of themselves."""
    return [table for table in index.sql.tables() if table.kind == "records" or (
        table.kind == "documents" and any(column.name not in _PLAIN_FIELDS for column in table.columns))]


# The words of tables, and those that a question shares with them.


def _stems(text: str) -> frozenset[str]:
    return frozenset(content_words(text.replace("_", " ")))


def _names_text(column: ColumnInfo) -> str:
    return f"{column.name} {column.title}"


def _values_of(column: ColumnInfo) -> Sequence[tuple[str, int]]:
    """Return the frequent values of a column of texts with their numbers of rows; numbers and dates are no words."""
    return column.frequent if column.kind in {"text", "list"} else ()


def _words_of(table: TableInfo) -> _TableWords:
    columns = [column for column in table.columns if column.name != "document"]
    values = [value for column in columns for value in _values_of(column)]
    # One counts or filters by short values that several rows have, not by titles.
    repeated = [value for value, count in values if count > 1 and len(value) <= _LONGEST_VALUE]
    return _TableWords(_stems(f"{table.name} {table.title}"), _stems(" ".join(map(_names_text, columns))),
                       _stems(" ".join(value for value, _ in values)), _stems(" ".join(repeated)))


def _is_asked(column: ColumnInfo, asked: Collection[str]) -> bool:
    """Return True if a question has a word of a column's names or values."""
    texts = [_names_text(column), *(value for value, _ in _values_of(column))]
    return not _stems(" ".join(texts)).isdisjoint(asked)


def _telling_tables(tables: Sequence[TableInfo], words: Mapping[str, _TableWords], asked: Collection[str],
                    votes: Mapping[str, float]) -> set[str]:
    """Return the names of the tables with `_ENOUGH_POINTS`, or `_ENOUGH_VOTES` that few other tables have."""
    # Passages show a table of few rows whole.
    large = [table for table in tables if table.rows >= _LEAST_ROWS]
    most_tables = max(1, int(len(large) * _WIDESPREAD))
    names_of = {table.name: words[table.name].title | words[table.name].columns for table in large}
    tables_with = Counter(word for table, names in names_of.items() for word in names | words[table].repeated)
    telling = {word for word in asked if 0 < tables_with[word] <= most_tables}
    largest = max(large, key=lambda table: (table.rows, table.name)).name if large else ""
    found = set[str]()
    for table, names in names_of.items():
        points = _NAME_POINTS * len(names & telling) + _VALUE_POINTS * len((words[table].repeated - names) & telling)
        points += _LARGEST_POINTS if table == largest else 0
        tables_as_near = sum(votes[other] >= votes[table] for other in names_of)
        if points >= _ENOUGH_POINTS or (votes[table] >= _ENOUGH_VOTES and tables_as_near <= most_tables):
            found.add(table)
    return found


def _scores(words: Mapping[str, _TableWords], asked: Collection[str], votes: Mapping[str, float]) -> dict[str, float]:
    """Return how likely a question means each table, by the words that it has (`asked`) and the table's votes."""
    all_words = {name: own.title | own.columns | own.values for name, own in words.items()}
    tables_with = Counter(word for own in all_words.values() for word in own)
    # Of the question's words, rare ones count more, and those of a table's title twice.
    weights = {word: 1 / tables_with[word] for word in asked if word in tables_with}
    total = sum(weights.values()) or 1.0
    scores = dict(votes)
    for name, own in all_words.items():
        shared = sorted(own & weights.keys())
        scores[name] += sum(weights[word] * (2 if word in words[name].title else 1) for word in shared) / total
    return scores


def _votes(retriever: Retriever, tables: Sequence[TableInfo], question: str) -> dict[str, float]:
    """Return the share of the nearest passages that are in the documents of each table; 0 of the table of documents."""
    near = Counter(retriever.index.chunks[retriever.index.chunk_row[chunk]].document_id
                   for chunk, _ in retriever.rank_passages(question[:LONGEST], _PASSAGES))
    votes = dict.fromkeys((table.name for table in tables), 0.0)
    for table in tables:
        if table.kind == "records":
            votes[table.name] = sum(near[document] for document, _ in _documents_of(table)) / max(near.total(), 1)
    return votes


def _to_describe(ranked: Sequence[TableInfo], scores: Mapping[str, float], asked: Collection[str]) -> list[TableInfo]:
    """Return the likeliest tables; behind the first that of documents, for which no passage votes, if it has a word."""
    first, others = ranked[:1], ranked[1:]
    sharing = [table for table in others if any(_is_asked(column, asked) for column in table.columns)]
    documents = [table for table in sharing if table.kind == "documents"]
    likely = [table for table in others[:_MOST_DESCRIBED - 1] if table in sharing and table not in documents
              and scores[table.name] >= _LEAST_SCORE * scores[first[0].name]]
    return [*first, *documents, *likely]


# Descriptions.


def _item(index: GraphIndex, table: TableInfo, line: str) -> Passage:
    """Return a table as an item: its numbers rest on all of its rows, of which it cites the first."""
    sql = f'SELECT * FROM "{table.name}"'  # noqa: S608
    first = index.sql.run(sql, most_rows=1, most_cited=1).citations[:1]
    places = tuple(Place(document=one.document, start=one.start, text=one.quote) for one in first)
    cited = places[0] if places else Place(document="", start=0, text=line)
    return Passage(chunk_id="", document=cited.document, title=table.title, text=cited.text, start=cited.start,
                   score=0.0, kind="table", statement=line, places=places, basis=Basis(query=sql, records=table.rows))


def _fitting_line(table: TableInfo, asked: Collection[str], tokens: int) -> str:
    """Return a table's description in the fullest form that fits, or with the columns asked for and more that fit."""
    is_named_so = table.title.casefold() in {table.name, table.name.replace("_", " ")}
    title = "" if is_named_so else f" “{_short(table.title)}”"
    beginning = f"{table.name}{title} ({table.rows} rows)"
    for most_values in _VALUES:
        line = f"{beginning}: {'; '.join(_column_texts(table, table.columns, asked, *most_values))}"
        if estimate_tokens(line) <= tokens:
            return line
    asked_first = sorted(table.columns, key=lambda column: not _is_asked(column, asked))
    columns = _column_texts(table, asked_first, asked, *_VALUES[-2])  # only the columns asked for have values
    for left in range(1, len(columns)):  # one column stays, whatever it takes
        line = f"{beginning}: {'; '.join([*columns[:-left], f'… {left} more columns'])}"
        if estimate_tokens(line) <= tokens:
            break
    return line


def _column_texts(table: TableInfo, columns: Sequence[ColumnInfo], asked: Collection[str], asked_values: int,
                  other_values: int) -> list[str]:
    """Return columns of a table: one that the question names with its most frequent values, others with those asked."""
    texts = list[str]()
    for column in columns:
        if column.name == "document" and table.documents <= 1:  # all rows are from the same one
            continue
        is_named = not _stems(_names_text(column)).isdisjoint(asked)
        meant = [value for value in column.frequent if not _stems(value[0]).isdisjoint(asked)]
        values = column.frequent if is_named or column.distinct <= other_values else meant
        most = asked_values if column.distinct <= asked_values else min(asked_values, _FREQUENT)
        texts.append(_column_text(column, table, values[:most], is_asked=is_named or bool(meant)))
    return texts


def _column_text(column: ColumnInfo, table: TableInfo, values: Sequence[tuple[str, int]], *, is_asked: bool) -> str:
    """Return a column: its name, kind, unit, range or values, and how many cells are empty or of another kind."""
    text = column.name if column.kind == "text" else f"{column.name} {column.kind}"
    if units := [column.unit] if column.unit else column.units:
        text += f" {'|'.join(units)}"
    if column.smallest and column.kind in {"number", "date"}:
        text += f" {'..'.join(dict.fromkeys((column.smallest, column.largest)))}"
    else:
        text += _values_text(column, table, values)
    if column.empty and is_asked:
        text += f", {column.empty} empty"
    return f"{text}, {column.untyped} other text" if column.untyped else text


def _values_text(column: ColumnInfo, table: TableInfo, values: Sequence[tuple[str, int]]) -> str:
    """Return values of a column with their numbers, and how many values there are if not all."""
    # A query has to be written in the form of a list's members, so one is shown at least.
    shown = values or (column.frequent[:1] if column.kind == "list" else ())
    if not shown or column.kind == "boolean":
        return ""
    has_each_once = column.distinct >= table.rows - column.empty  # then no number is shown
    listed = ", ".join(_short(value) if has_each_once else f"{_short(value)} {count}" for value, count in shown)
    return f": {listed}{f', … of {column.distinct}' if column.distinct > len(shown) else ''}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_VALUE else f"{line[:_LONGEST_VALUE - 1]}…"


def _others_line(tables: Sequence[TableInfo], *, most_named: int, with_columns: int) -> str:
    """Return the short names of the first other tables, some with their columns, and how many more there are."""
    columns = {table.name: f" ({', '.join(column.name for column in table.columns if column.name != 'document')})"
               for table in tables[:with_columns]}
    named = [f"{table.name} {table.rows}{columns.get(table.name, '')}" for table in tables
             if table.rows >= _LEAST_ROWS and len(table.name) <= _LONGEST_NAME][:most_named]
    left = len(tables) - len(named)
    if not named:
        return format_count(left, "other table") if left else ""
    return f"other tables: {', '.join([*named, *([f'{left} more'] if left else [])])}"
