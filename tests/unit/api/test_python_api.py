"""Banyan in Python: what `banyan.open` gives, from adding to dropping, and changing the graph by `kb.edit`."""

import asyncio
import json
import sys
from dataclasses import dataclass
from types import SimpleNamespace

import banyan
import networkx as nx
import pytest
from banyan.agents.retrieval.state import AskContext
from banyan.api.python_base import read_sources
from banyan.graph_store.store_errors import KnowledgeBaseNameError, UnknownKnowledgeBaseError
from banyan.ingest.reading import IngestError
from langchain_core.documents import Document as LangChainDocument

from ... import scripted
from ...newest import newest

TEXTS = {
    "ada": "Ada:Person --employer--> Acme:Organization. Acme:Organization.founded = 1999.",
    "acme": "Acme:Organization --located_in--> Bonn:Place.",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory, hashed_embedder):
    return scripted.Workshop(tmp_path_factory.mktemp("api"), hashed_embedder)


@pytest.fixture(scope="module")
def kb(shop):
    with shop.resources() as resources:
        kb = banyan.open("kb", resources=resources)
        kb.add(*({"id": name, "text": text} for name, text in TEXTS.items()), schema=shop.schema)
        yield kb


@dataclass
class Frame:
    columns: list[str]
    values: list[tuple[object, ...]]

    def itertuples(self, *, index, name):
        assert (index, name) == (False, None)
        return iter(self.values)


def test_a_string_is_a_path_if_it_names_a_file_or_reads_like_one(tmp_path):
    file = tmp_path / "no ending"
    file.write_text("x")
    texts = ["Ada met Bob.", "one\ntwo.md", "/".join(["part"] * 2_000), "~nobody has said this"]
    paths, documents = read_sources([file, str(file), "notes.md", "folder/file", *texts])
    assert paths == [str(file), str(file), "notes.md", "folder/file"]
    assert [given["text"] for given in documents] == texts


def test_documents_keep_what_they_say_of_themselves():
    own = banyan.Document(id="a", title="A", text="x", source="s", metadata={"author": "Eve"})
    loaded = LangChainDocument(page_content="y", metadata={"source": "b.pdf", "page": 3})
    assert read_sources([own, loaded, {"id": "c", "text": "z"}])[1] == [
        {"id": "a", "title": "A", "text": "x", "metadata": {"author": "Eve"}},
        {"id": "b.pdf", "text": "y", "metadata": {"page": 3}}, {"id": "c", "text": "z"}]


def test_a_data_frame_is_a_table_or_a_document_for_each_row():
    table = Frame(["Product", "Price (USD)"], [("X200", 499), ("X300", float("nan"))])
    (given,) = read_sources([table], "prices")[1]
    assert given["text"] == "| Product: X200 | Price: 499 USD |\n| Product: X300 |"
    rows = Frame(["id", "text", "year"], [("a", "Ada.", 1999), (None, "Bob.", None)])
    assert read_sources([rows], "people")[1] == [{"id": "a", "text": "Ada.", "metadata": {"year": "1999"}},
                                                 {"id": "people#1", "text": "Bob."}]
    polars = SimpleNamespace(columns=["text"], iter_rows=lambda: iter([("Eve.",)]))
    assert read_sources([polars])[1] == [{"id": "table#0", "text": "Eve."}]


@pytest.mark.parametrize(("sources", "name", "why"), [
    ([7], "", "int cannot be added"),
    (["a b", "c d"], "x", "but 2 were given"), (["a.md"], "x", "a.md is a path")])
def test_what_cannot_be_added_is_refused(sources, name, why):
    with pytest.raises(IngestError, match=why):
        read_sources(sources, name)


def test_entities_facts_and_communities(kb):
    acme = kb.entities()[0]
    assert (acme.name, acme.type, acme.attributes, acme.documents) == (
        "Acme", "Organization", {"founded": ("1999",)}, ("acme", "ada"))
    assert [entity.name for entity in kb.entities(type="Person")] == ["Ada"]
    assert [entity.name for entity in kb.entities("ONN")] == ["Bonn"]
    (fact,) = kb.facts("bonn")
    assert (str(fact), fact.sources[0].document) == ("Acme located in Bonn", "acme")
    assert [str(fact) for fact in kb.facts(relation="employer")] == ["Ada employer Acme"]
    members = {member for community in kb.communities() for member in community.members}
    assert members == {entity.id for entity in kb.entities()}
    assert kb.schema.name == "scripted"


def test_an_answer_has_its_citations_facts_and_trace(kb):
    rows = newest(kb.resources, kb.name).kb.ledger_graph
    rows.unload()
    answer = kb.ask("Who is the employer of Ada?", context=AskContext(abstain_below=0.0))
    assert (answer.abstained, rows._mentions) == (False, None), "facts are read from the index"
    assert (str(answer), 0 < answer.confidence <= 1) == (answer.text, True)
    cited = answer.citations[0]
    assert (cited.document, cited.quote in TEXTS["ada"]) == ("ada", True)
    assert "Ada employer Acme" in map(str, answer.facts)
    assert (answer.trace[0].step, answer.trace[-1].step) == ("question", "answer")
    declined = kb.ask("What did Zoe eat?")
    assert (declined.abstained, declined.facts) == (True, ())


def test_a_streamed_answer_and_an_awaited_one_are_the_same(kb):
    question = "Who is the employer of Ada?"
    kb.ask(question)  # the first answer says that no model is configured
    *steps, answer = kb.stream(question)
    assert all(isinstance(step, banyan.Step) for step in steps)
    assert {"decompose", "answer"} <= {step.step for step in steps}

    async def asked():
        await kb.aadd({"id": "more", "text": TEXTS["acme"]})
        await kb.adelete("more")
        return (await kb.aask(question), [item async for item in kb.astream(question)][-1],
                await kb.asearch("Ada", 1), kb.ask(question))

    awaited, streamed, passages, within_a_loop = asyncio.run(asked())
    assert answer.text == awaited.text == streamed.text == within_a_loop.text == kb.ask(question).text
    assert (len(passages), passages[0].document) == (1, "ada")


def test_a_new_one_is_named_before_it_is_there(tmp_path):
    with banyan.open("papers", home=tmp_path) as new:
        with pytest.raises(UnknownKnowledgeBaseError, match="in Python with `add`"):
            new.status()
        assert banyan.list(home=tmp_path) == []
        assert repr(new) == "banyan.open('papers')"
    with pytest.raises(KnowledgeBaseNameError):
        banyan.open("../papers")
    with pytest.raises(banyan.BanyanError, match="no setting 'llm_modle'"):
        banyan.open("papers", llm_modle="x")


def test_one_is_renamed_and_dropped_whoever_has_it_open(kb, shop):
    other = banyan.open("other", resources=kb.resources)
    other.add({"id": "ada", "text": TEXTS["ada"]}, schema=shop.schema)
    facts = other.facts()
    with shop.resources() as elsewhere:  # as another process would have it
        seen = banyan.open("other", resources=elsewhere)
        assert seen.facts() == facts
        kb.resources.rename("other", "moved")
        moved = banyan.open("moved", resources=kb.resources)
        assert (moved.facts(), moved.graph.graph["name"]) == (facts, "moved")
        for gone in (seen, other):
            with pytest.raises(UnknownKnowledgeBaseError):
                gone.facts()
        # One of that name made anew is another one, also for who had the old one open.
        other.add({"id": "new", "text": "Eve:Person --knows--> Ada:Person."}, schema=shop.schema)
        assert [str(fact) for fact in seen.facts()] == ["Eve knows Ada"]
    with pytest.raises(KnowledgeBaseNameError, match="already"):
        kb.resources.rename("other", "moved")
    for name in ("other", "moved"):
        kb.resources.drop(name)
        assert not (shop.settings.home / name).exists()
    assert not list(shop.settings.home.glob(".dropped-*"))
    with pytest.raises(UnknownKnowledgeBaseError):
        kb.resources.drop("moved")


@pytest.fixture
def own(tmp_path, hashed_embedder):
    shop = scripted.Workshop(tmp_path, hashed_embedder)
    with shop.resources() as resources:
        own = banyan.open("kb", resources=resources)
        own.add(*({"id": name, "text": text} for name, text in TEXTS.items()), schema=shop.schema)
        yield own


def test_what_is_changed_is_seen_at_once_and_taken_back(own):
    before = own.graph
    (fact,) = own.facts("Ada")
    numbers = [own.edit.rename("Acme", "Acme Ltd", why="its full name", who="Eva"), own.edit.reject(fact),
               own.edit.correct(("Acme Ltd", "founded", "1999"), object="1998")]
    assert own.facts("Ada") == []
    stored = json.loads((own.resources.settings.home / "kb" / "graph.json").read_text("utf-8"))
    assert nx.utils.graphs_equal(nx.node_link_graph(stored), own.graph), "the file follows each change"
    (acme,) = own.entities("acme ltd")
    assert (acme.name, acme.names, acme.attributes["founded"]) == ("Acme Ltd", ("Acme", "Acme Ltd"), ("1998",))
    for number in reversed(numbers):
        own.edit.undo(number)
    assert dict(own.graph.nodes) == dict(before.nodes)
    assert set(own.graph.edges(keys=True)) == set(before.edges(keys=True))
    first = own.edit.decisions()[0]
    assert (first.who, first.why, bool(first.undone_at)) == ("Eva", "its full name", True)


def test_retyping_merging_and_splitting(own):
    own.edit.retype("Acme", "Place")
    assert [entity.name for entity in own.entities(type="Place")] == ["Acme", "Bonn"]
    own.edit.merge("Acme", "Bonn")
    assert len(own.entities(type="Place")) == 1
    own.edit.split("Acme", "Bonn")
    assert len(own.entities(type="Place")) == 2
    with pytest.raises(banyan.BanyanError, match="no entity type 'Planet'"):
        own.edit.retype("Acme", "Planet")


def test_sql_gives_rows_with_the_records_that_they_rest_on(kb, monkeypatch):
    assert {"documents", "facts", "employer"} <= {table.name for table in kb.tables()}
    result = kb.sql("SELECT head, tail FROM facts ORDER BY head")
    assert list(result) == [{"head": "Acme", "tail": "Bonn"}, {"head": "Ada", "tail": "Acme"}]
    assert (len(result), result.records, {cited.document for cited in result.citations}) == (2, 2, {"ada", "acme"})
    assert result.df().to_dict("records") == list(result)
    assert result.to_csv() == "head,tail\nAcme,Bonn\nAda,Acme\n"
    assert asyncio.run(kb.asql("SELECT head FROM facts", documents="ada")).rows == (("Ada",),)
    assert asyncio.run(kb.atables()) == kb.tables()
    assert kb.sql("SELECT document FROM documents", limit=1).total == 2
    with pytest.raises(banyan.BanyanError, match="no table 'people'; there are: "):
        kb.sql("SELECT * FROM people")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(banyan.BanyanError, match="pip install pandas"):
        result.df()
