"""Tables that compute: whatever the rows and the query, they find what pandas finds in the same facts."""

import csv
import io
from typing import NamedTuple

import pandas as pd
import pytest
from banyan.graph_store.derive import refresh_graph_and_vectors
from banyan.schemas.graph_schema import GraphSchema
from banyan.schemas.lookups import TripleLookup
from banyan.tools import table_query
from banyan.tools.conditions import ConditionError
from banyan.tools.retriever import Retriever
from banyan.tools.table_query import FieldError
from banyan.tools.table_results import ComputedTable, TableRow, tabulate
from hypothesis import given, settings
from hypothesis import strategies as st

from ... import small_base as base
from ...conftest import EXAMPLES
from ...hashed_embedding import HashedEmbedder

SCHEMA = GraphSchema.model_validate({
    "name": "huts", "entity_types": [{"name": "Hut"}],
    "relation_types": [{"name": "supplies", "domain": ["Hut"], "range": ["Hut"]}],
    "attribute_types": [{"name": "alias", "owners": ["Hut"]},
                        {"name": "category", "owners": ["Hut"], "kind": "text"},
                        {"name": "status", "owners": ["Hut"], "kind": "text"},
                        {"name": "weight", "owners": ["Hut"], "kind": "text"},
                        {"name": "opened", "owners": ["Hut"], "kind": "text"}]})
NAMES = ("Alba", "Brix", "Calw", "Dorn", "Esch", "Fels", "Gams")
STATUSES, CATEGORIES = ("Open", "Shut", "Ruin"), ("Food", "Beds", "View")
DATES = ("1998-11-30", "2004-05-03", "2004-07-01", "2005-01-01", "2011-02-28", "2019-12-24")
CALCULATIONS = {"weight": ("sum", "mean", "smallest", "largest"), "opened": ("first", "last")}
WEIGHTS = ("12 kg", "40 kg", "95.5 kg", "2 t", "1800 kg", "unknown")


class Fact(NamedTuple):
    entity: str
    field: str
    value: str


COMPLETE = [Fact("Zenith", "category", "Food"), Fact("Zenith", "status", "Open"), Fact("Zenith", "weight", "40 kg"),
            Fact("Zenith", "opened", "2004-05-03"), Fact("Zenith", "supplies", "Alba")]
"""A hut that has every field, so that each is a field of the base."""


@st.composite
def huts(draw):
    """The facts of some huts: each field may be missing, a hut may have two categories and supply several others."""
    facts = list(COMPLETE)
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True)):
        others = [other for other in NAMES if other != name]
        facts += [Fact(name, "category", one) for one in draw(st.sets(st.sampled_from(CATEGORIES), max_size=2))]
        facts += [Fact(name, "supplies", one) for one in draw(st.sets(st.sampled_from(others), max_size=3))]
        facts += [Fact(name, field, value) for field, values in (("status", STATUSES), ("weight", WEIGHTS),
                                                                 ("opened", DATES))
                  if (value := draw(st.none() | st.sampled_from(values)))]
    return facts


def own_conditions(side=""):
    """Conditions on one field of a hut."""
    def chosen(values):
        return st.sets(st.sampled_from(values), max_size=2).map(sorted).map("|".join)

    named = st.tuples(st.just("status"), chosen(STATUSES)) | st.tuples(st.just("category"), chosen(CATEGORIES))
    return (st.tuples(named, st.sampled_from(["=", "!="])).map(lambda one: f"{side}{one[0][0]}{one[1]}{one[0][1]}")
            | st.sampled_from([f"{side}weight{sign}{size}" for sign in (">=", "<", ">", "<=") for size in
                               ("40 kg", "1.8 t")])
            | st.sampled_from([f"{side}opened{sign}{date}" for sign in (">=", "<", ">", "<=") for date in
                               ("2004", "2004-05", "2011-02-28")])
            | st.sampled_from([f"{side}weight=", f"{side}opened!="]))


@st.composite
def queries(draw):
    """What may be asked of the rows of one field."""
    relation = draw(st.sampled_from(["category", "status", "weight", "opened", "supplies"]))
    conditions = own_conditions() | own_conditions("tail.") if relation == "supplies" else own_conditions()
    do = draw(st.sampled_from(["list", "count", "distinct", *CALCULATIONS.get(relation, ())]))
    groups = ["tail", "head", "status", "category", "opened.year", "opened.month", "opened.decade", *(
        ["year", "month", "decade"] if relation == "opened" else ["tail.status"] if relation == "supplies" else [])]
    by = draw(st.just("") | st.sampled_from(groups)) if do in ("list", "count", "distinct", "sum", "mean") else ""
    return TripleLookup(relation=relation, do=do, by=by, where=tuple(draw(st.lists(conditions, max_size=2))),
                        head=draw(st.sampled_from(["", "", "", "Alba|Zenith", "!=Zenith"])))


def put_facts(kb, document, facts):
    text = "\n".join(f"{fact.entity} has {fact.field} {fact.value}." for fact in facts)
    entities = [name for fact in facts for name in (fact.entity, *([fact.value] if fact.field == "supplies" else []))]
    base.put(kb, document, text, entities=dict.fromkeys(entities, "Hut"),
             triples=[fact for fact in facts if fact.field == "supplies"],
             attributes=[fact for fact in facts if fact.field != "supplies"])


def read(kb):
    """The knowledge base as it is now, for lookups."""
    refresh_graph_and_vectors(kb)
    return Retriever(kb)


def table(retriever, lookup=None, **asked) -> ComputedTable:
    return tabulate(retriever.index, retriever.index.store.schemas.current(), lookup or TripleLookup(**asked))


# What pandas finds.

def kilograms(value: str) -> float:
    size, _, unit = value.partition(" ")
    return float(size) * {"kg": 1, "t": 1000}[unit] if unit else float("nan")


def frame(facts) -> pd.DataFrame:
    made = pd.DataFrame(facts).drop_duplicates()
    return made.assign(number=made["value"].where(made["field"] == "weight", "-").map(kilograms))


def fits(rows: pd.DataFrame, entities: "pd.Series[str]", facts: pd.DataFrame, condition: str) -> pd.DataFrame:
    """The rows whose entity meets a condition."""
    sign = next(sign for sign in ("!=", ">=", "<=", ">", "<", "=") if sign in condition)
    field, _, value = condition.partition(sign)
    own = facts[facts["field"] == field.removeprefix("tail.")]
    if sign in ("=", "!="):
        having = own[own["value"].isin(value.split("|"))]["entity"] if value else own["entity"]
        return rows[entities.isin(having) == ((sign == "=") == bool(value))]
    compare = {">=": "ge", "<=": "le", ">": "gt", "<": "lt"}[sign]
    if own["field"].eq("weight").all():
        return rows[entities.isin(own[getattr(own["number"], compare)(kilograms(value))]["entity"])]
    return rows[entities.isin(own[getattr(own["value"].str[:len(value)], compare)(value)]["entity"])]


def expected_rows(facts: pd.DataFrame, query: TripleLookup) -> pd.DataFrame:
    rows = facts[facts["field"] == query.relation]
    if query.head:
        rows = rows[rows["entity"].isin(query.head.removeprefix("!=").split("|")) != query.head.startswith("!=")]
    for condition in query.where:
        rows = fits(rows, rows["value" if condition.startswith("tail.") else "entity"], facts, condition)
    return rows


def expected_value(rows: pd.DataFrame, do: str) -> float:
    heads = rows["entity"].nunique()
    return {"count": heads if heads != 1 else rows["value"].nunique(), "distinct": rows["value"].nunique(),
            "sum": rows["number"].sum(min_count=1), "mean": rows["number"].mean(),
            "smallest": rows["number"].min(), "largest": rows["number"].max()}[do]


def expected_groups(facts: pd.DataFrame, rows: pd.DataFrame, query: TripleLookup) -> "pd.Series[float]":
    period = next((one for one in ("year", "month", "decade") if query.by.endswith(one)), "")
    field = query.by.removesuffix(period).removesuffix(".").removeprefix("tail.")
    if query.by in ("head", "tail") or not field:
        keyed = rows.assign(key=rows["entity" if query.by == "head" else "value"])
    else:
        keys = facts[facts["field"] == field][["entity", "value"]].set_axis(["of", "key"], axis=1)
        keyed = rows.merge(keys, left_on="value" if query.by.startswith("tail.") else "entity", right_on="of")
    if period:
        keyed["key"] = keyed["key"].str[:{"year": 4, "month": 7, "decade": 3}[period]]
        keyed["key"] += "0s" if period == "decade" else ""
    grouped = keyed.groupby("key")
    if query.do in ("sum", "mean"):
        return grouped["number"].sum(min_count=1).dropna() if query.do == "sum" else grouped["number"].mean().dropna()
    return grouped["entity" if query.do != "distinct" and query.by != "head" else "value"].nunique()


@settings(max_examples=10 * EXAMPLES)
@given(facts=huts(), asked=st.lists(queries(), min_size=15, max_size=25))
def test_computes_what_pandas_computes(facts, asked, tmp_path_factory):
    with base.create(tmp_path_factory.mktemp("home"), "kb", HashedEmbedder(), SCHEMA) as kb, kb.writing():
        for number in range(3):
            put_facts(kb, f"d{number}", facts[number::2] or facts)  # some facts are in two documents
        retriever, all_facts = read(kb), frame(facts)
        for query in asked:
            computed, rows = table(retriever, query), expected_rows(all_facts, query)
            assert computed.total == len(rows), query
            if query.by:
                groups = expected_groups(all_facts, rows, query)
                assert {group.key: group.value for group in computed.groups} == pytest.approx(groups.to_dict()), query
                assert [group.key for group in computed.groups] == sorted(
                    groups.index, key=lambda key: (-groups[key], key)), query
                continue
            if query.do in ("smallest", "largest"):
                rows = rows[rows["number"] == expected_value(rows, query.do)]
            elif query.do in ("first", "last"):
                rows = rows[rows["value"] == (rows["value"].min() if query.do == "first" else rows["value"].max())]
            assert {(row.head, row.tail) for row in computed.rows} == set(
                zip(rows["entity"], rows["value"], strict=True)), query
            if query.do not in ("list", "first", "last"):
                value = expected_value(rows, query.do)
                assert computed.value == (None if pd.isna(value) else pytest.approx(value)), query


FACTS = [
    Fact("Alba", "status", "Open"), Fact("Alba", "weight", "3 kg"), Fact("Alba", "opened", "2004-05-03"),
    Fact("Brix", "status", "Open"), Fact("Brix", "weight", "0.5 t"), Fact("Brix", "opened", "long ago"),
    Fact("Calw", "status", "Shut"), Fact("Calw", "weight", "7 m"), Fact("Calw", "opened", "2019-12-24"),
    Fact("Dorn", "weight", "heavy"), Fact("Dorn", "supplies", "Alba"), Fact("Brix", "supplies", "Calw"),
    Fact("Alba", "alias", "Hut-7")]


@pytest.fixture(scope="module")
def retriever(tmp_path_factory):
    with base.create(tmp_path_factory.mktemp("home"), "kb", HashedEmbedder(), SCHEMA) as made, made.writing():
        put_facts(made, "facts", FACTS)
        yield read(made)


class TestEnds:
    @pytest.mark.parametrize(("asked", "rows"), [
        ({"tail": "Hut-7"}, [("Dorn", "Alba")]), ({"tail": "!=Hut-7"}, [("Brix", "Calw")]),
        ({"where": ("tail.status=Open",)}, [("Dorn", "Alba")]), ({"where": ("tail=Calw",)}, [("Brix", "Calw")]),
        ({"head": "Hut-7"}, []), ({"where": ("tail.type=Hut", "status=")}, [("Dorn", "Alba")])])
    def test_are_found_by_names_aliases_types_and_fields(self, retriever, asked, rows):
        assert [(row.head, row.tail) for row in table(retriever, relation="supplies", **asked).rows] == rows

    @pytest.mark.parametrize(("tail", "heads"), [
        ("op", ["Alba", "Brix"]), ("SHUT", ["Calw"]), ("pen", ["Alba", "Brix"]), ("!=open", ["Calw"]),
        ("Open|Shut", ["Alba", "Brix", "Calw"]), ("!=Open|Shut", [])])
    def test_a_value_is_found_by_its_words_in_any_case(self, retriever, tail, heads):
        assert [row.head for row in table(retriever, relation="status", tail=tail).rows] == heads


class TestWhatIsLeftOut:
    def test_values_without_a_number_or_in_another_unit_are_counted(self, retriever):
        computed = table(retriever, relation="weight", do="sum")
        assert (computed.value, computed.unit) == (503, "kg")
        assert {"1 rows left out: no number", "1 rows left out: in another unit"} <= set(computed.notes)

    def test_a_limit_cuts_rows_and_groups_but_no_number(self, retriever):
        listed = table(retriever, relation="status", limit=1)
        grouped = table(retriever, relation="weight", by="tail", limit=2)
        assert (len(listed.rows), listed.total) == (1, 3)
        assert (len(grouped.groups), grouped.total) == (2, 4)


class TestErrors:
    @pytest.mark.parametrize("asked", [
        {"relation": "colour"}, {"relation": "status", "where": ("colour=red",)},
        {"relation": "status", "where": ("tail.colour=red",)}, {"relation": "status", "by": "colour"},
        {"relation": "status", "by": "colour.year"}, {"relation": "status", "show": ("colour",)}])
    def test_an_unknown_field_gets_those_that_exist(self, retriever, asked):
        with pytest.raises(FieldError, match=r"'colour'; there are: .*status"):
            table(retriever, **asked)

    @pytest.mark.parametrize(("condition", "why"), [
        ("status", "write FIELD=VALUE"), ("=Open", "write FIELD=VALUE"), ("weight>=heavy", "neither a date"),
        ("weight>=", "needs a value")])
    def test_a_condition_that_cannot_be_read_says_how_to_write_it(self, retriever, condition, why):
        with pytest.raises(ConditionError, match=why):
            table(retriever, relation="status", where=(condition,))


class TestData:
    def test_shown_fields_stand_beside_each_row(self, retriever):
        listed = table(retriever, relation="supplies", show=("status", "weight"))
        assert [(row.head, row.tail, row.fields) for row in listed.rows] == [
            ("Brix", "Calw", {"status": ("Open",), "weight": ("0.5 t",)}), ("Dorn", "Alba", {"weight": ("heavy",)})]

    @pytest.mark.parametrize("cell", ["=1+1", "+1", "-2", "@SUM(A1)", "\t=1"])
    def test_to_csv_escapes_formulas(self, cell):
        row = TableRow(head=cell, relation="status", tail=cell, fields={"note": (cell,)}, document="d", start=0, end=1,
                       quote=cell)
        written = ComputedTable(relation="status", do="list", total=1, rows=(row,)).to_csv()
        (read,) = csv.DictReader(io.StringIO(written, newline=""))
        assert {read[name] for name in ("head", "status", "note", "quote")} == {f"'{cell}"}

    def test_to_csv_escapes_formulas_in_keys_and_headers(self):
        grouped = ComputedTable.model_validate({"relation": "a", "do": "count", "total": 1,
                                                "groups": [{"key": "=1+1", "value": -1, "rows": 1}]})
        assert grouped.to_csv() == "key,value,rows\n'=1+1,-1,1\n"
        row = TableRow(head="Alba", relation="=cmd", tail="x", document="d", start=0, end=1, quote="x")
        assert ComputedTable(relation="=cmd", do="list", total=1, rows=(row,)).to_csv().startswith("head,'=cmd,")


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """One entity with many values of two fields: grouping one by the other has their product."""
    with base.create(tmp_path_factory.mktemp("hub"), "kb", HashedEmbedder(), SCHEMA) as kb, kb.writing():
        put_facts(kb, "hub.txt", [*COMPLETE, *(Fact("Hub", field, f"{field} {number}") for number in range(150)
                                               for field in ("status", "category"))])
        yield read(kb)


class TestLimits:
    """A reader with a key may ask for anything: what a query costs is bounded, whatever the rows."""

    def test_the_comparisons_of_all_conditions_together(self, hub, monkeypatch):
        monkeypatch.setattr(table_query, "MOST_COMPARED", 5000)
        many = "|".join(f"x{number}" for number in range(20))
        assert table(hub, relation="status", where=(f"category={many}",)).total == 0
        for asked in ({"where": (f"category={many}", f"status={many}")}, {"head": many, "tail": f"{many}|{many}"}):
            with pytest.raises(ConditionError, match="at most 5,000 are compared"):
                table(hub, relation="status", **asked)

    def test_the_pairs_of_a_row_and_a_value_to_group_by(self, hub, monkeypatch):
        assert table(hub, relation="status", by="category", head="Hub").groups
        monkeypatch.setattr(table_query, "MOST_PAIRS", 10_000)
        with pytest.raises(FieldError, match="22,501 pairs of a row and a value"):
            table(hub, relation="status", by="category")
        assert table(hub, relation="status", by="category", head="Zenith").groups
