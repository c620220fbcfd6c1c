"""What a question begins with: the chain between two things that it asks to connect."""

import pytest
from banyan.schemas.graph_schema import open_schema
from banyan.tools.first_look import first_look
from banyan.tools.retriever import Retriever

from ... import small_base as base


@pytest.fixture(scope="module")
def retriever(tmp_path_factory, hashed_embedder):
    home = tmp_path_factory.mktemp("home")
    base.people(home, "kb", hashed_embedder)
    with base.create(home, "kb", hashed_embedder) as kb:
        yield Retriever(kb)


def looked_up(retriever, question, tools=("dfs_search",)):
    """The titles and lines of what a question begins with."""
    return [(block.title, *(item.statement for item in block.items))
            for block in first_look(retriever, open_schema(), question, 2000, tools)]


@pytest.mark.parametrize("question", [
    "How is Ada Byron connected with the Danube?", "What is the relation between Ada Byron and the Danube?",
    "How do the facts on Ada Byron, born in Ulm, lead to the Danube?", "Ada Byron 和 Danube 有什么关系？"])
def test_a_question_that_connects_two_things_begins_with_the_chain_between_them(retriever, question):
    assert looked_up(retriever, question) == [
        ("Ada Byron … Danube", "Ada Byron -born in-> Ulm -lies on-> Danube (ada, ulm)")]


def test_the_chain_is_read_in_the_order_of_the_question(retriever):
    assert looked_up(retriever, "What links the Danube to Ada Byron?") == [
        ("Danube … Ada Byron", "Danube <-lies on- Ulm <-born in- Ada Byron (ulm, ada)")]


def test_no_chain_is_there_between_things_that_no_facts_join(retriever):
    assert looked_up(retriever, "How is Ada Byron connected with Turku?") == []


def test_no_chain_is_there_where_the_question_asks_for_no_connection(retriever):
    assert looked_up(retriever, "Was Ada Byron ever on the Danube?") == []
