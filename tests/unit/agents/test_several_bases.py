"""Several knowledge bases read as one: answers, lookups, tables and searches name the base of all that they find."""

import banyan
import pytest
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.config import Settings
from banyan.graph_store.scopes import ScopeError
from banyan.graph_store.sql.checking import SqlError
from banyan.graph_store.store_errors import UnknownKnowledgeBaseError
from banyan.schemas.lookups import EntityLookup, PassageLookup, TableQuery, TripleLookup
from banyan.schemas.retrieval import EVERYTHING
from banyan.tools.langchain_tools import look_up_in

from ... import asking, small_base
from ...asking import claim

NAMES = "people,my-town"
STREET = "Ada Byron is a street in Turku. Ada Byron was paved in 1934."
TABLES = {"people": ("reef.csv", "species,depth\nPorites,12\nAcropora,3\n"),
          "my-town": ("growth.csv", "species,growth\nPorites,0.82\nAcropora,1.51\n")}


@pytest.fixture(scope="module")
def home(tmp_path_factory, hashed_embedder):
    """The people, and a town whose street has the name of one of them, each with a table."""
    home = tmp_path_factory.mktemp("home")
    small_base.people(home, "people", hashed_embedder)
    town = small_base.create(home, "my-town", hashed_embedder)
    small_base.put(town, "ada", STREET, entities={"Ada Byron": "Street"}, triples=[("Ada Byron", "lies_in", "Turku")])
    small_base.finish(town)
    town.close()
    with Resources(Settings(home=home, llm_base_url=None, _env_file=None), hashed_embedder) as resources:
        for name, (file, text) in TABLES.items():
            path = tmp_path_factory.mktemp("files") / file
            path.write_text(text, "utf-8")
            banyan.open(name, resources=resources).add(path)
    return home


@pytest.fixture(scope="module")
def resources(home, hashed_embedder):
    with Resources(Settings(home=home, llm_base_url=None, _env_file=None), hashed_embedder) as resources:
        yield resources


@pytest.fixture
def judged(home, hashed_embedder):
    with asking.FakeResources(home, hashed_embedder) as resources:
        yield resources


@pytest.fixture
def bases(resources):
    return banyan.open(["people", "my-town"], resources=resources)


def looked_up(resources, lookup):
    with resources.retrievers(NAMES) as retrievers:
        return look_up_in(retrievers, lookup, tokens=1500, question="", seen=(), switches=EVERYTHING)


def test_without_a_model_the_base_with_the_answer_answers_and_is_named(bases):
    born, paved = bases.ask("Where was Ada Byron born?"), bases.ask("When was Ada Byron paved?")
    assert (born.short, [cited.document for cited in born.citations]) == ("Ulm", ["people/ada"])
    assert paved.citations[0].document == "my-town/ada"
    assert small_base.PEOPLE["ada"][born.citations[0].start:born.citations[0].end] == born.citations[0].quote
    assert {source.document for fact in born.facts for source in fact.sources} <= {"people/ada"}
    depth = bases.ask("What is the depth of Porites?")
    assert (depth.short, "people.reef" in depth.text.replace('"', "")) == ("12", True)


def test_entities_of_one_name_are_shown_side_by_side(resources):
    blocks = looked_up(resources, EntityLookup(entity="Ada Byron"))
    assert [block.title.partition(":")[0] for block in blocks] == ["people", "my-town"]
    assert len({item.key for block in blocks for item in block.items}) == sum(len(block.items) for block in blocks)
    only = looked_up(resources, EntityLookup(entity="Carl Berg"))
    assert [block.title.partition(":")[0] for block in only] == ["people"], "what is unknown elsewhere is no finding"


def test_passages_of_both_are_one_block_and_can_be_limited_to_documents_of_one(resources):
    (block,) = looked_up(resources, PassageLookup(query="Ada Byron paved"))
    assert block.items[0].document == "my-town/ada"
    assert {"my-town/ada", "people/ada"} <= {item.document for item in block.items}
    assert [item.score for item in block.items] == sorted((item.score for item in block.items), reverse=True)
    (own,) = looked_up(resources, PassageLookup(query="Ada Byron", documents=("people/ada",)))
    assert {item.document for item in own.items} == {"people/ada"}
    assert [block.title for block in looked_up(resources, TripleLookup(relation="lies_in", document="my-town/ada"))
            ] == ["my-town: lies in (1 rows; document ada)"]
    (unknown, _) = looked_up(resources, PassageLookup(query="Ada Byron", documents=("people",)))
    assert "No document has people" in unknown.note


def test_one_query_reads_the_tables_of_both_and_cites_the_rows_of_each(bases, resources):
    assert {"people.reef", "my-town.growth", "people.entities"} <= {table.name for table in bases.tables()}
    joined = bases.sql('SELECT r.species, depth, growth FROM people.reef r JOIN "my-town".growth USING (species) '
                       "ORDER BY depth")
    assert joined.rows == (("Acropora", 3, 1.51), ("Porites", 12, 0.82))
    assert bases.sql("SELECT people.reef.depth FROM people.reef WHERE reef.species = 'Porites'").rows == ((12,),)
    (row,) = bases.sql('SELECT growth FROM "my-town".growth WHERE species = \'Porites\'').citations
    assert row.document == "my-town/growth.csv"
    with pytest.raises(SqlError, match=r"no table 'reef'; .*people\.reef"):
        bases.sql("SELECT * FROM reef")
    with pytest.raises(SqlError, match='"my-base" needs quotation marks'):
        bases.sql("SELECT growth FROM my-town.growth")
    (block,) = looked_up(resources, TableQuery(sql="SELECT avg(depth) FROM people.reef WHERE species = 'porites'"))
    assert [item.statement for item in block.items] == ["avg(depth): 12"]
    assert "read as 'Porites'" in block.note


@pytest.mark.parametrize(("sql", "statement", "note"), [
    ('SELECT growth FROM "my-town".growth WHERE species = \'porites\'', "growth: 0.82", "read as 'Porites'"),
    ('SELECT count(*) FROM "my-town".growth WHERE growth > 9', "count(*): 0", "from 0 records"),
    ("SELECT reef.dept FROM people.reef WHERE reef.species = 'Porites'", "depth: 12", "dept read as depth"),
    ("SELECT growth.growth FROM growth WHERE species = 'Porites'", "growth: 0.82", "growth read as my-town.growth")])
def test_a_query_over_several_bases_is_put_right_and_cites_what_it_read(resources, sql, statement, note):
    (block,) = looked_up(resources, TableQuery(sql=sql))
    assert [item.statement for item in block.items] == [statement]
    assert note in block.note
    assert block.items[0].document in {"my-town/growth.csv", "people/reef.csv"}


def test_a_table_of_one_base_alone_has_no_name_before_it(resources):
    with pytest.raises(SqlError, match=r"no table 'people\.reef'"):
        banyan.open("people", resources=resources).sql("SELECT * FROM people.reef")


def test_a_model_reads_the_bases_of_all_and_its_quotes_are_checked_in_them(judged):
    def judge(inquiry):
        numbers = {item.document: number for number, item in enumerate(inquiry.items(), 1) if item.kind == "passage"}
        return asking.answer(
            claim("She was born in Ulm.", (numbers["people/ada"], "She was born in Ulm")),
            claim("The street was paved in 1934.", (numbers["my-town/ada"], "Ada Byron was paved in 1934.")))
    judged.fake.reply = judge
    said = build_graph(judged).invoke({"knowledge_base": NAMES, "question": "What of Ada Byron?"}, context=AskContext())
    assert [cited["document"] for cited in said["citations"]] == ["people/ada", "my-town/ada"]
    (inquiry,) = judged.fake.inquiries
    assert "people: " in inquiry.terms
    titles = [block.title for block in inquiry.rounds[0].blocks]
    assert {"tables of people, in SQL people.NAME", 'tables of my-town, in SQL "my-town".NAME'} <= set(titles)


def test_a_search_ranks_the_passages_of_both(bases):
    found = bases.search("paved street", 3)
    assert found[0].document == "my-town/ada"
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    (passage,) = bases.as_retriever(k=1).invoke("paved street")
    assert passage.metadata["document"] == "my-town/ada"


def test_documents_may_be_of_one_base_alone(bases):
    assert bases.ask("Where was Carl Berg born?", documents="carl").citations[0].document == "carl"
    with pytest.raises(ScopeError, match="no document is called 'nothing'"):
        bases.ask("Where?", documents="nothing")


def test_an_unknown_base_is_named(resources):
    with pytest.raises(UnknownKnowledgeBaseError, match="there is no knowledge base 'nowhere'"):
        banyan.open(["people", "nowhere"], resources=resources).ask("Where was Ada Byron born?")
