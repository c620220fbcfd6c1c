"""Questions for how many or which things of a type have some relations and values in the graph, without a model."""

from collections.abc import Iterator, Sequence

from ..graph_store.graph_index import GraphIndex
from ..graph_store.sql.value_words import FoundValue
from ..schemas.records import TableInfo
from .asked_parts import AskedParts, UnclearError, literal, quoted
from .entity_names import named_entities
from .question_conditions import Condition, ConditionReader
from .question_target import Plan
from .table_mentions import Reading, read_in_table

_MOST_NAMED = 10
"""How many entities of a question are looked for among the tails of relations."""
_NEGATIONS = ("NOT ", "<>", " IS NULL")


def read_in_graph(index: GraphIndex, question: str) -> Iterator[tuple[Reading, Plan]]:
    """Yield a question as it is read of each type of entities, with the query that it asks for."""
    views = {view.title: view for view in index.sql.tables() if view.kind == "relation"}
    values = list(_named_tails(index, question))
    for table in index.sql.entity_types:
        reading = read_in_table(question, table, (table.title,), (one for one in values if one.table == table.name))
        if not reading.unknown:
            try:
                yield reading, _plan(reading, {view.name: view for view in views.values()})
            except UnclearError:
                continue


def _named_tails(index: GraphIndex, question: str) -> Iterator[FoundValue]:
    """Yield the tails of relations that a question names, by the words that name them, for each type of their heads."""
    named = list(named_entities(index, question).items())[:_MOST_NAMED]
    words = {index.about(row)[0]: said for entity, said in named if (row := index.entity_at(entity)) is not None}
    if not words:
        return
    views = {view.title: view.name for view in index.sql.tables() if view.kind == "relation"}
    listed = ", ".join(map(literal, words))
    found = index.sql.run(f"SELECT DISTINCT head_type, relation, tail FROM facts WHERE tail IN ({listed}) "  # noqa: S608
                          "ORDER BY ALL", most_cited=0)
    for kind, relation, tail in found.rows:
        if relation in views:
            yield FoundValue(str(kind), views[relation], str(tail), words[str(tail)])


def _plan(reading: Reading, views: dict[str, TableInfo]) -> Plan:
    parts = AskedParts(reading)
    conditions = ConditionReader(parts).read()
    heads = [mention for mention in parts.mentions if mention.kind == "head"]
    counts = parts.unused("count")
    parts.use(*counts, *parts.unused("who"))
    if parts.unused() or not conditions or not (heads or not counts):
        raise UnclearError(reading.table.name)
    if not heads or any(sign in condition.sql for condition in conditions for sign in _NEGATIONS):
        raise UnclearError(reading.table.name)
    named = {name for mention in parts.mentions if mention.kind == "column" for name in mention.columns}
    if counts and any(condition.column not in named for condition in conditions):
        raise UnclearError(reading.table.name)  # "from Ulm" may be born there or living there
    return _query(reading.table, conditions, views, is_count=bool(counts))


def _query(table: TableInfo, conditions: Sequence[Condition], views: dict[str, TableInfo], *, is_count: bool) -> Plan:
    """Return the query for the entities of a type that meet all conditions."""
    (name, source), *others = [_source(table, condition, views) for condition in conditions]
    kept = [f"{name} IN (SELECT entity FROM entities WHERE type = {literal(table.title)})"]  # noqa: S608
    kept += [f"{name} IN (SELECT {other} {rest})" for other, rest in others]
    what = f"count(DISTINCT {name})" if is_count else f"DISTINCT {name}"
    sql = f"SELECT {what} AS {quoted(table.title)} {source} AND {' AND '.join(kept)}{'' if is_count else ' ORDER BY 1'}"
    said = " and ".join(condition.text for condition in conditions)
    return Plan(sql, f"{'count of ' * is_count}{table.title} where {said}")


def _source(table: TableInfo, condition: Condition, views: dict[str, TableInfo]) -> tuple[str, str]:
    """Return the column of a view that has the entities, and the rest of a SELECT from it with a condition."""
    view = views[condition.column]
    kind = next(column.kind for column in table.columns if column.name == view.name)
    is_relation = any(column.name == "head" for column in view.columns)
    field = "tail" if is_relation else {"number": "number", "date": "date"}.get(kind, "value")
    where = condition.sql.replace(quoted(view.name), field)
    return ("head" if is_relation else "entity"), f"FROM {quoted(view.name)} WHERE {where}"
