"""Questions about rows: which are read as tables, as which, and how the rules answer them without a model."""

import re
from contextlib import ExitStack
from pathlib import Path

import pytest
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.config import Settings
from banyan.schemas.graph_schema import GraphSchema
from banyan.schemas.lookups import TripleLookup
from banyan.tools.asking.asked_rows import asked_rows
from banyan.tools.asking.asked_table import asked_table
from banyan.tools.table_results import tabulate
from banyan.tools.tables import look_up_table

from ... import small_base as base
from ...newest import newest

LIGHTHOUSES = GraphSchema.model_validate({
    "name": "lighthouses", "entity_types": [{"name": "Lighthouse"}, {"name": "Person"}],
    "relation_types": [{"name": "keeper", "aliases": ["kept by"], "domain": ["Lighthouse"], "range": ["Person"]}],
    "attribute_types": [{"name": "status", "owners": ["Lighthouse"], "kind": "text"},
                        {"name": "region", "owners": ["Lighthouse"], "kind": "text"},
                        {"name": "lit", "owners": ["Lighthouse"], "kind": "date"},
                        {"name": "height", "owners": ["Lighthouse"], "kind": "number"}]})
BOOKS = GraphSchema.model_validate({
    "name": "books", "entity_types": [{"name": "书"}, {"name": "人物"}],
    "relation_types": [{"name": "作者", "domain": ["书"], "range": ["人物"]}],
    "attribute_types": [{"name": "状态", "owners": ["书"], "kind": "text"},
                        {"name": "出版年份", "owners": ["书"], "kind": "date"},
                        {"name": "价格", "owners": ["书"], "kind": "number"}]})
ENGLISH = """
    Alder Point | Active    | Norland  | 1851 | 21 m | Ada Byron
    Birch Rock  | Active    | Sudland  | 1874 | 48 m | Ada Byron
    Cedar Head  | Closed    | Norland  | 1851 | 33 m | Carl Berg
    Dune End    | Automated | Norland  | 1912 | 17 m | Eva Lind
    Elm Spit    | Closed    | Westmark | 1874 | 39 m |
    Fir Ness    | Automated | Sudland  | 1874 | 27 m | Ada Byron
    Gorse Bank  | Active    | Norland  | 1930 | 52 m | Carl Berg"""
CHINESE = """
    山海录 | 在售 | 2001年 | 35元 | 林小雨
    河流志 | 绝版 | 2001年 | 80元 | 林小雨
    星辰集 | 在售 | 2010年 | 52元 | 周平
    雪原行 | 绝版 | 2015年 | 20元 | 林小雨
    旧城记 | 在售 | 2001年 | 48元 |"""
BASES = {"lighthouses": (LIGHTHOUSES, ENGLISH, ["status", "region", "lit", "height"], "keeper"),
         "books": (BOOKS, CHINESE, ["状态", "出版年份", "价格"], "作者")}


def put_rows(kb, schema, rows, fields, relation):
    """Store a document for each row; its last cell is a person."""
    subject, person = (kind.name for kind in schema.entity_types)
    for row in rows.strip().splitlines():
        name, *values, other = map(str.strip, row.split("|"))
        cells = {subject: name, **dict(zip(fields, values, strict=True)), **({relation: other} if other else {})}
        base.put(kb, f"{name}.md", f"| {' | '.join(f'{field}: {value}' for field, value in cells.items())} |",
                 entities={name: subject, **({other: person} if other else {})},
                 triples=[(name, relation, other)] if other else [],
                 attributes=[(name, field, cells[field]) for field in fields])


@pytest.fixture(scope="module")
def resources(tmp_path_factory, hashed_embedder):
    """Both knowledge bases, without a model."""
    home: Path = tmp_path_factory.mktemp("home")
    for name, (schema, *rows) in BASES.items():
        with base.create(home, name, hashed_embedder, schema) as kb, kb.writing():
            put_rows(kb, schema, *rows)
            base.finish(kb)
    with Resources(Settings(home=home, llm_base_url=None, _env_file=None), hashed_embedder) as opened:
        yield opened


@pytest.fixture
def index_of(tmp_path, hashed_embedder):
    """Stores a knowledge base of one schema, by a function that puts its documents; its index."""
    with ExitStack() as stack:
        def store(schema, put):
            with base.create(tmp_path, "one", hashed_embedder, GraphSchema.model_validate(schema)) as kb, kb.writing():
                put(kb)
                base.finish(kb)
            settings = Settings(home=tmp_path, llm_base_url=None, _env_file=None)
            return newest(stack.enter_context(Resources(settings, hashed_embedder)), "one").index

        yield store


def table_read(index, question):
    return asked_table(index, index.store.schemas.current(), question)


def base_of(question):
    return "lighthouses" if question[0].isascii() and not re.search("[\u4e00-\u9fff]", question) else "books"


def read(resources, question):
    """The lookup that a question is read as, or None."""
    return table_read(newest(resources, base_of(question)).index, question)


def arguments(resources, question):
    lookup = read(resources, question)
    return lookup and lookup.model_dump(exclude_defaults=True)


def found(resources, question):
    """What the lookup of a question finds: a number, the groups, or the names of its rows; None if it is not read."""
    lookup = read(resources, question)
    if lookup is None:
        return None
    index = newest(resources, base_of(question)).index
    table = tabulate(index, index.store.schemas.current(), lookup)
    if lookup.by:
        return {group.key: group.value for group in table.groups}
    return table.value if lookup.do in {"count", "distinct", "sum", "mean"} else {row.head for row in table.rows}


def test_what_is_said_of_rows_by_their_keys_is_no_field(index_of):
    def put(kb):
        for number in range(1, 6):
            key, name = f"RFC-{number}", f"RFC-{number}: Pier {number}"
            base.put(kb, f"{key}.md", f"{name} is a Harbour plan of 2031. Harbour RFCs: {key}.",
                     entities={name: "Plan"},
                     attributes=[(name, "kind", "Harbour"), (name, "alias", key), (name, "written", "2031"),
                                 *([(name, "harbour_rfcs", key)] if number == 1 else [])])

    index = index_of({"name": "plans", "entity_types": [{"name": "Plan"}], "relation_types": [], "attribute_types": [
        *({"name": name, "kind": "text"} for name in ("alias", "kind", "harbour_rfcs")),
        {"name": "written", "kind": "date"}]}, put)
    lookup = table_read(index, "How many Harbour RFCs were written in 2031?")
    assert (lookup.relation, lookup.tail, lookup.where) == ("kind", "Harbour", ("written=2031",))


def test_a_field_that_says_yes_or_no_is_not_what_is_counted(index_of):
    # "Fight" is a field, and the fight songs are the rows.
    def put(kb):
        for number in range(6):
            name = f"Song {number}"
            base.put(kb, f"{name}.md", f"| Song: {name} | League: {'Big' if number < 5 else 'Small'} | Fight: Yes |",
                     entities={name: "Song"}, title="Fight songs",
                     attributes=[(name, "league", "Big" if number < 5 else "Small"),
                                 (name, "fight", "No" if number % 2 else "Yes")])

    index = index_of({"name": "songs", "entity_types": [{"name": "Song"}], "relation_types": [], "attribute_types": [
        {"name": name, "kind": "text"} for name in ("league", "fight")]}, put)
    lookup = table_read(index, "How many fight songs are of the Big league?")
    assert lookup.model_dump(exclude_defaults=True) == {"relation": "league", "tail": "Big", "do": "count"}


def test_what_ties_with_the_last_group_that_is_asked_for_is_shown_as_well(resources):
    index = newest(resources, "lighthouses").index
    lookup = TripleLookup(relation="status", by="tail", do="count", limit=2)
    schema = index.store.schemas.current()
    blocks = look_up_table(index, schema, lookup, 500)
    assert [item.statement.partition(" (")[0] for item in blocks[0].items] == ["Active: 3", "Automated: 2", "Closed: 2"]
    assert blocks[0].note == ""
    first = look_up_table(index, schema, TripleLookup(relation="status", by="tail", do="count", limit=1), 500)
    assert first[0].note == "2 more groups, the next one Automated: 2"
    rows = asked_rows(index, schema, "Which two statuses are the most common?", lookup)
    assert [item.cells for block in rows for item in block.items] == [("Active: 3",), ("Automated: 2",), ("Closed: 2",)]


def ask(resources, question):
    return build_graph(resources).invoke({"knowledge_base": base_of(question), "question": question},
                                         context=AskContext())


class TestQuestionsAboutRows:
    @pytest.mark.parametrize(("question", "lookup"), [
        ("How many lighthouses are active?", {"relation": "status", "tail": "active", "do": "count"}),
        ("How many lighthouses were lit in 1874?", {"relation": "lit", "tail": "1874", "do": "count"}),
        ("在售的书有几本？", {"relation": "状态", "tail": "在售", "do": "count"}),
        ("林小雨的书有几本是绝版？", {"relation": "状态", "tail": "绝版", "where": ("作者=林小雨",), "do": "count"}),
        ("Which lighthouses are Closed?", {"relation": "status", "tail": "Closed"}),
        ("Which lighthouses does Ada Byron keep?", {"relation": "keeper", "tail": "Ada Byron"}),
        ("Which lighthouses in Norland were lit before 1900?", {"relation": "region", "tail": "Norland",
                                                               "where": ("lit<1900",)}),
        ("哪些书在售？", {"relation": "状态", "tail": "在售"}),
        ("How many lighthouses are Active or Closed?", {"relation": "status", "tail": "Active|Closed", "do": "count"}),
        ("Which lighthouses are Active or Automated in Norland?",
         {"relation": "status", "tail": "Active|Automated", "where": ("region=Norland",)}),
        ("绝版或在售的书有几本？", {"relation": "状态", "tail": "绝版|在售", "do": "count"}),
        ("Which lighthouses are not Active?", {"relation": "status", "tail": "!=Active"}),
        ("How many lighthouses in Norland are not Active?",
         {"relation": "region", "tail": "Norland", "where": ("status!=Active",), "do": "count"}),
        ("哪些书不是绝版？", {"relation": "状态", "tail": "!=绝版"}),
        ("作者不是林小雨的书有哪些？", {"relation": "作者", "tail": "!=林小雨"}),
        ("Which lighthouses are higher than 35 m?", {"relation": "height", "tail": ">35 m"}),
        ("Which lighthouses were lit after 1900?", {"relation": "lit", "tail": ">1900"}),
        ("价格超过50元的书有哪些？", {"relation": "价格", "tail": ">50元"}),
        ("出版年份晚于2005年的书有哪些？", {"relation": "出版年份", "tail": ">2005"}),
        ("Which lighthouse has the largest height?", {"relation": "height", "do": "largest"}),
        ("Which Active lighthouse has the smallest height?", {"relation": "height", "where": ("status=Active",),
                                                              "do": "smallest"}),
        ("Which lighthouse was lit first?", {"relation": "lit", "do": "first"}),
        ("哪本书价格最高？", {"relation": "价格", "do": "largest"}),
        ("价格最高的是哪部作品？", {"relation": "价格", "do": "largest"}),
        ("哪些小说的状态是绝版？", {"relation": "状态", "tail": "绝版"})])
    def test_are_read_as_lookups(self, resources, question, lookup):
        assert arguments(resources, question) == lookup

    @pytest.mark.parametrize(("question", "line"), [
        ("How many lighthouses in Norland are not Active?", "2 (region: Norland, status ≠ Active) "),
        ("在售的书有几本？", "3（状态：在售） ")])
    def test_a_count_says_what_was_counted_in_the_questions_language(self, resources, question, line):
        assert ask(resources, question)["answer"].splitlines()[1].startswith(line)

    @pytest.mark.parametrize(("question", "groups"), [
        ("How many lighthouses are in each region?", {"Norland": 4, "Sudland": 2, "Westmark": 1}),
        ("How many lighthouses per status in Norland?", {"Active": 2, "Automated": 1, "Closed": 1}),
        ("How many lighthouses were lit per decade?", {"1870s": 3, "1850s": 2, "1910s": 1, "1930s": 1}),
        ("在售和绝版哪个更多？", {"在售": 3, "绝版": 2})])
    def test_groups_with_the_largest_first(self, resources, question, groups):
        assert list(found(resources, question).items()) == list(groups.items())

    @pytest.mark.parametrize(("question", "right"), [
        ("Which three regions have the most lighthouses?", {"Norland": 4, "Sudland": 2, "Westmark": 1}),
        ("Which region has the most lighthouses?", {"Norland": 4}),
        ("Who keeps the most lighthouses?", {"Ada Byron": 3}),
        ("Which Closed lighthouses have no keeper?", {"Elm Spit"}), ("哪些在售的书没有作者？", {"旧城记"}),
        ("Which is taller, Alder Point or Birch Rock?", {"Birch Rock"}),
        ("Which was lit earlier, Alder Point or Birch Rock?", {"Alder Point"}),
        ("山海录和河流志哪本更贵？", {"河流志"}),
        ("What is the total height of the Active lighthouses?", 121),
        ("林小雨的书价格总和是多少？", 135), ("在售的书平均价格是多少？", 45)])
    def test_find_the_few_with_the_most_missing_fields_comparisons_and_sums(self, resources, question, right):
        assert found(resources, question) == right


@pytest.mark.parametrize("question", [
    "How many active lighthouses were painted red?", "Which lighthouses are Active and haunted?",
    "Which Active lighthouse has the oldest lamp?", "Why is Birch Rock Active?", "Tell me about Birch Rock",
    "在售的书有几本是红色的？", "林小雨的书有多少读者？"])
def test_a_question_with_a_word_unaccounted_for_is_not_read(resources, question):
    assert read(resources, question) is None


@pytest.mark.parametrize(("question", "right"), [
    ("Which lighthouses are at least 39 m in height?", {"Birch Rock", "Elm Spit", "Gorse Bank"}),
    ("Which lighthouses have a height under 27 m?", {"Alder Point", "Dune End"}),
    ("价格不低于52元的书有哪些？", {"星辰集", "河流志"}), ("价格低于48元的书有几本？", 2)])
def test_a_compared_amount_that_is_also_a_value_is_compared(resources, question, right):
    assert found(resources, question) == right


@pytest.mark.parametrize(("question", "right"), [
    ("Which lighthouses are not Active or Closed?", {"Dune End", "Fir Ness"}),
    ("Which lighthouses does Ada Byron not keep?", {"Cedar Head", "Dune End", "Gorse Bank"}),
    ("Which lighthouses are not located in Norland?", {"Birch Rock", "Elm Spit", "Fir Ness"}),
    ("Which lighthouses were lit since 1874?", {"Birch Rock", "Dune End", "Elm Spit", "Fir Ness", "Gorse Bank"}),
    ("Which lighthouses were lit between 1851 and 1880?", {"Alder Point", "Birch Rock", "Cedar Head", "Elm Spit",
                                                           "Fir Ness"}),
    ("Which lighthouses are both Active and Closed?", set()),
    ("How many lighthouses are kept by both Ada Byron and Carl Berg?", 0),
    ("How many keepers do lighthouses in Norland have?", 3), ("哪位作者的书最多？", {"林小雨": 3}),
    ("Which three lighthouses have the largest height?", {"Gorse Bank", "Birch Rock", "Elm Spit"}),
    ("价格最高的前三本书", {"河流志", "星辰集", "旧城记"})])
def test_a_negation_a_bound_or_a_number_that_is_not_read_right_is_not_read_at_all(resources, question, right):
    assert found(resources, question) in (None, right)


class TestAnswersWithoutAModel:
    @pytest.mark.parametrize(("question", "short", "documents"), [
        ("How many lighthouses are Closed?", "2", ["Cedar Head.md", "Elm Spit.md"]),
        ("Which lighthouses are Closed?", "Cedar Head; Elm Spit", ["Cedar Head.md", "Elm Spit.md"]),
        ("Who is the keeper of Dune End?", "Eva Lind", ["Dune End.md"]),
        ("Which lighthouse has the largest height?", "Gorse Bank – height: 52 m", ["Gorse Bank.md"]),
        ("How many lighthouses has each keeper?", "Ada Byron: 3; Carl Berg: 2; Eva Lind: 1",
         ["Alder Point.md", "Birch Rock.md", "Cedar Head.md", "Dune End.md", "Fir Ness.md", "Gorse Bank.md"]),
        ("哪些书不是在售？", "雪原行 – 状态: 绝版; 河流志 – 状态: 绝版", ["雪原行.md", "河流志.md"])])
    def test_are_short_and_cite_each_row(self, resources, question, short, documents):
        answer = ask(resources, question)
        assert not answer["abstained"]
        assert sorted(answer["short"].split("; ")) == sorted(short.split("; "))
        assert sorted(cited["document"] for cited in answer["citations"]) == sorted(documents)

    @pytest.mark.parametrize("question", ["How many lighthouses are Active or Closed?", "Which lighthouses are Closed?",
                                          "How many lighthouses per region?", "价格超过50元的书有哪些？"])
    def test_each_claim_is_cited_with_words_of_its_document(self, resources, question):
        answer = ask(resources, question)
        documents = newest(resources, base_of(question)).kb.documents
        assert all(re.search(r"\[\d+\]$", line) for line in answer["answer"].splitlines()[1:])
        for cited in answer["citations"]:
            assert documents.get(cited["document"]).text[cited["start"]:cited["end"]] == cited["quote"]

    @pytest.mark.parametrize(("question", "amount"), [
        ("What is the total height of the Active lighthouses?", "121 m"), ("在售的书平均价格是多少？", "45 CNY")])
    def test_amounts_have_their_unit(self, resources, question, amount):
        assert ask(resources, question)["short"] == amount

    def test_nothing_that_fits_is_not_answered_with_other_rows(self, resources):
        answer = ask(resources, "How many Active lighthouses are in Westmark?")
        assert answer["short"] in ("", "0")


def test_what_one_thing_leads_to_is_of_the_kind_that_is_asked_for(index_of):
    index = index_of({
        "name": "places", "entity_types": [{"name": "Location"}],
        "relation_types": [{"name": "located_in", "domain": ["Location"], "range": ["Location"],
                            "rules": {"cues": {"en": ["lies in", "lies on", "river in"]}}}]},
        lambda kb: base.put(kb, "graz.md", "Graz is a city in Austria.",
                            entities={"Graz": "Location", "Austria": "Location"},
                            triples=[("Graz", "located_in", "Austria")]))
    assert table_read(index, "In which location does Graz lie?") is not None
    assert table_read(index, "On which river does Graz lie?") is None


def test_a_year_that_is_asked_for_is_not_answered_with_names(index_of):
    index = index_of({
        "name": "family", "entity_types": [{"name": "Person"}],
        "relation_types": [{"name": "child_of", "domain": ["Person"], "range": ["Person"],
                            "rules": {"cues": {"en": ["<mother of", "child of"]}}},
                           {"name": "spouse", "domain": ["Person"], "range": ["Person"],
                            "rules": {"cues": {"en": ["marry", "married"]}}}],
        "attribute_types": [{"name": "born", "owners": ["Person"], "kind": "date"}]},
        lambda kb: base.put(kb, "una.md", "Mia, born in 1901, is a child of Una. Ada married Ole in 1850.",
                            entities=dict.fromkeys(("Mia", "Una", "Ada", "Ole"), "Person"),
                            triples=[("Mia", "child_of", "Una"), ("Ada", "spouse", "Ole", "in 1850")],
                            attributes=[("Mia", "born", "1901")]))
    assert table_read(index, "Which child of Una is there?") is not None
    assert table_read(index, "In which year did the mother of Una marry?") is None


def test_what_is_asked_of_one_thing_is_no_list_of_what_else_is_said_of_it(index_of):
    index = index_of({
        "name": "makers", "entity_types": [{"name": "Person"}, {"name": "Location"}, {"name": "Tool"}],
        "relation_types": [{"name": "made_by", "domain": ["Tool"], "range": ["Person"]},
                           {"name": "born_in", "domain": ["Person"], "range": ["Location"]}]},
        lambda kb: base.put(kb, "axle.md", "Ada Blum made the Axle. Carl Berg was born in Graz.",
                            entities={"Ada Blum": "Person", "Axle": "Tool", "Carl Berg": "Person", "Graz": "Location"},
                            triples=[("Axle", "made_by", "Ada Blum"), ("Carl Berg", "born_in", "Graz")]))
    assert table_read(index, "In which location was Ada Blum born?") is None
    assert table_read(index, "Which tools were made by Ada Blum?").tail == "Ada Blum"


def test_how_many_of_a_figure_shows_the_figure_of_one_thing(index_of):
    def put(kb):
        for name, people in (("甬城", "940万人"), ("越城", "310万人")):
            base.put(kb, f"{name}.md", f"{name}人口为{people}。", entities={name: "Town"},
                     attributes=[(name, "population", people)])

    index = index_of({"name": "towns", "entity_types": [{"name": "Town"}], "relation_types": [],
                      "attribute_types": [{"name": "population", "kind": "number", "labels": {"zh": "人口"}}]}, put)
    lookup = table_read(index, "甬城有多少人口？")
    assert lookup is None or (lookup.do, lookup.head) == ("list", "甬城")


def test_what_is_shown_beside_a_row_is_cited_where_it_stands(index_of):
    text = "Alder has maker number K7. It pumps well.\n\nThe licence of Alder is BSD."
    index = index_of({
        "name": "pumps", "entity_types": [{"name": "Pump"}], "relation_types": [],
        "attribute_types": [{"name": "maker_number", "kind": "text"}, {"name": "licence", "kind": "text"}]},
        lambda kb: base.put(kb, "alder.md", text, entities={"Alder": "Pump"},
                            attributes=[("Alder", "maker_number", "K7"), ("Alder", "licence", "BSD")]))
    lookup = TripleLookup(relation="maker_number", tail="K7", show=("licence",))
    (block,) = asked_rows(index, index.store.schemas.current(), "Which licence has K7?", lookup)
    (row,) = block.items
    assert row.statement == "Alder – licence: BSD"
    assert [place.text for place in row.places] == ["Alder has maker number K7.", "The licence of Alder is BSD."]
