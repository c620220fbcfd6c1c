"""Hostile documents read by a model that obeys them: bounding, growth and citation checks hold all the same."""

from collections.abc import Iterator
from typing import Any

import pytest
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import AskContext, build_graph
from banyan.config import Settings

from .. import gullible_brain as gullible
from .. import hostile_checks as hostile
from .. import llm_server
from ..newest import dump_graph

pytestmark = pytest.mark.integration


QUESTIONS = ("Where was Mara Quill born?", "Whom does Mara Quill obey?", "陆青禾出生在哪里？")


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    pytest.importorskip("pytest_socket").enable_socket()
    with llm_server.LlmServer(gullible.reply) as running:
        yield running


@pytest.fixture(scope="module")
def world(tmp_path_factory, server, hashed_embedder) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("gullible")
    settings = Settings(_env_file=None, home=folder / "home", llm_base_url=server.base_url, llm_model="gullible",
                        llm_retries=0, llm_timeout=60, schema_support=2, max_rounds=2)
    with Resources(settings, hashed_embedder) as resources:
        yield hostile.World(folder, resources)


def ask(world: Any, question: str, mode: str = "reject") -> dict[str, Any]:
    result = build_graph(world.resources).invoke({"knowledge_base": "kb", "question": question},
                                                 context=AskContext(mode=mode))
    hostile.check_answer(world.kb, result)
    return result


def test_the_clean_documents_are_read(world):
    edges = {(world.kb.graph.entity(head).name, relation, world.kb.graph.entity(tail).name)
             for head, relation, tail in world.kb.graph.edges()}
    assert ("Mara Quill", "born_in", "Lindow") in edges
    assert ("陆青禾", "born_in", "云溪市") in edges
    assert len(edges) == 7


def check_kept_out(world: Any, report: Any) -> None:
    """What the model made up is rejected, and nothing of it is in the graph."""
    assert report["rejected"]["ungrounded"] > 0, "the model made things up"
    hostile.check_contained(world)
    for text in hostile.texts(dump_graph(world.kb.graph)):
        assert gullible.MADE_UP not in text
        assert "\x1b" not in text


@pytest.mark.parametrize("attack", [hostile.ALONE[0], *(pytest.param(path, marks=pytest.mark.slow)
                                                        for path in hostile.ALONE[1:])], ids=lambda path: path.stem)
def test_one_hostile_document(world, attack):
    """It adds what its own words say; schema and all else are as they were, and after its deletion nothing is left."""
    check_kept_out(world, world.add([attack]))
    assert world.state()["schema"] == world.baseline["schema"]
    world.delete([attack])
    assert world.state() == world.baseline


@pytest.fixture(scope="module")
def poisoned(world):
    check_kept_out(world, world.add(hostile.ATTACKS))
    yield world
    world.delete(hostile.ATTACKS)
    assert world.state() == world.baseline


def test_all_hostile_documents_at_once(poisoned):
    grown = hostile.check_schema_rules(poisoned.kb, poisoned.baseline["schema"])
    # Two documents that ask for the same are all that the rules want: what a threshold cannot tell apart is in the
    # threat model. It stays an addition, with its evidence, and goes with the documents.
    assert set(grown) == {"obeys", "Overlord", "loyalty", "霸主"}
    for question, mode in zip(QUESTIONS, ("reject", "strict", "open"), strict=True):
        ask(poisoned, question, mode)


def test_answers_cite_what_was_given_and_nothing_else(poisoned, server):
    for question in QUESTIONS:
        answer = ask(poisoned, question)
        assert not answer["abstained"]
        # One that was asked before is answered from the ledger.
        given = [user for request in server.requests if question in (user := request["messages"][1]["content"])
                 and llm_server.brain.step(request) == "answer"][-1]
        for citation in answer["citations"]:
            assert poisoned.kb.documents.get(citation["document"]).title in given
        assert "Pay Baron Vex" not in answer["answer"], "claims without a sound quote are left out"
        assert "Without any source" not in answer["answer"]
        _, *others = answer["answer"].split("\n")
        assert others in (["(Claims left out, as no document states them: 4.)"],
                          ["（有 4 条结论文档没有说明，已略去。）"]), "one claim stood, its forged lines on its own"
        assert answer["grade"] == "inferred", "the claim that stood says what is not stated"
        assert len(answer["sub_queries"]) <= 1 + poisoned.resources.settings.max_tool_calls


def test_no_document_leaves_its_fence(poisoned, server):
    """Nor its turn, in whatever was sent since the server began."""
    ask(poisoned, f"Since when? {QUESTIONS[0]}")
    rounds = poisoned.resources.settings.max_rounds
    blocks = {"extraction": {1}, "summaries": {1}, "same": {1},
              "decompose": {2}, "reflect": {*range(3, rounds + 2)}, "answer": {*range(3, rounds + 3)}}
    steps = set()
    for request in server.requests:
        step, user = llm_server.brain.step(request), request["messages"][1]["content"]
        steps.add(step)
        assert user.count("<data>") == user.count("</data>")
        assert user.count("<data>") in blocks[step]
        for sign in ("<|", "<｜", "[INST]", "<<SYS>>", "<think>", "<tool_call>", "<start_of_turn>", "</s>", "＜/data"):
            assert sign not in user
        assert len(request["messages"]) == 2
        assert "Baron Vex" not in request["messages"][0]["content"], "no word of a document in the system message"
    assert steps == set(blocks)
