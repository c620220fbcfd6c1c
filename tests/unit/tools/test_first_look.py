"""What a question begins with: passages, and for a model the chain between two things that it asks to connect."""

import pytest
from banyan.ingest.loaders import load_documents
from banyan.schemas.graph_schema import open_schema
from banyan.schemas.lookups import TOOLS
from banyan.tools.first_look import first_look
from banyan.tools.retriever import Retriever

from ... import small_base as base


@pytest.fixture(scope="module")
def retriever(tmp_path_factory, hashed_embedder):
    home = tmp_path_factory.mktemp("home")
    base.people(home, "kb", hashed_embedder)
    with base.create(home, "kb", hashed_embedder) as kb:
        yield Retriever(kb)


def looked_up(retriever, question, tools=("dfs_search",), tokens=2000):
    return [(block.title, *(item.statement for item in block.items))
            for block in first_look(retriever, open_schema(), question, tokens, tools)]


CHAIN = ("Ada Byron … Danube", "Ada Byron -born in-> Ulm -lies on-> Danube (ada, ulm)")


@pytest.mark.parametrize(("question", "chain"), [
    ("How is Ada Byron connected with the Danube?", CHAIN),
    ("What is the relation between Ada Byron and the Danube?", CHAIN),
    ("How do the facts on Ada Byron, born in Ulm, lead to the Danube?", CHAIN),
    ("Ada Byron 和 Danube 有什么关系？", CHAIN),
    ("What links the Danube to Ada Byron?",
     ("Danube … Ada Byron", "Danube <-lies on- Ulm <-born in- Ada Byron (ulm, ada)"))])
def test_a_question_that_connects_two_things_begins_with_the_chain_in_its_order(retriever, question, chain):
    assert looked_up(retriever, question) == [chain]


@pytest.mark.parametrize("question", ["How is Ada Byron connected with the Danube?", "Where was Ada Byron born?"])
def test_without_a_model_nothing_is_looked_up_that_is_not_quoted(retriever, question):
    tools = [tool for tool in TOOLS if tool != "passage_search"]
    found = {reasons: [item.kind for block in first_look(retriever, open_schema(), question, 2000, tools,
                                                         reasons=reasons) for item in block.items]
             for reasons in (True, False)}
    assert (set(found[True]), found[False]) == ({"fact"}, [])


def test_a_card_lists_all_that_a_relation_of_the_question_has(tmp_path, hashed_embedder):
    members = [f"Member{number:02}" for number in range(40)]
    with base.create(tmp_path, "kb", hashed_embedder) as kb, kb.writing():
        base.put(kb, "board", f"Orio declined {', '.join(members)}.", entities={"Orio": "Firm", **dict.fromkeys(
            members, "Person")}, triples=[("Orio", "declined", member) for member in members])
        base.finish(kb)
        ((_, *lines),) = [block for block in looked_up(Retriever(kb), "How many were declined by Orio?",
                                                       ("entity_search",), 100) if block[0].startswith("Orio")]
    assert all(member in " ".join(lines) for member in members)


def test_rows_of_a_large_table_are_left_to_queries(tmp_path, hashed_embedder):
    folder = tmp_path / "files"
    folder.mkdir()
    rows = "\n".join(f"Harbour {number},Ulm,{number}" for number in range(200))
    (folder / "harbours.csv").write_text(f"name,town,berths\n{rows}\n")
    (folder / "note.md").write_text("# Harbours\n\nThe harbour of Ulm is old. It was built for salt.\n")
    with base.create(tmp_path, "kb", hashed_embedder) as kb, kb.writing():
        for document in load_documents([folder], on_failure=pytest.fail):
            base.put_document(kb, document, 200)
        kb.refresh()
        retriever, question = Retriever(kb), "Which harbour of Ulm has most berths?"
        shown = {table_query: [item for block in first_look(retriever, open_schema(), question, 1000, (
            "passage_search", *table_query)) for item in block.items] for table_query in ((), ("table_query",))}
    assert "harbours.csv" in {item.document for item in shown[()]}
    kinds = {(item.kind, item.document) for item in shown["table_query",]}
    assert ("passage", "note.md") in kinds
    assert ("passage", "harbours.csv") not in kinds
    assert ("table", "harbours.csv") in kinds
