"""A question is answered from one state of its knowledge base, holds no thread while it waits, and can be resumed."""

import asyncio
import gc
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from banyan.agents import snapshots
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.snapshots import JoinedSnapshots, StateGoneError
from banyan.config import Settings
from banyan.models.reasoner import ReasonerError
from banyan.schemas.inquiry import Judgement
from banyan.schemas.lookups import EntityLookup, PathLookup, TripleLookup
from langgraph.checkpoint.memory import InMemorySaver
from sqlalchemy.exc import ResourceClosedError

from ... import asking, scripted, small_base
from ...newest import newest

shop = scripted.built_shop

QUESTION = "Who is Ada's employer?"


def test_what_is_published_between_two_steps_changes_nothing(tmp_path, hashed_embedder):
    small_base.people(tmp_path, "kb", hashed_embedder)
    with asking.FakeResources(tmp_path, hashed_embedder) as resources:

        def delete_and_look(inquiry):
            if len(inquiry.rounds) > 1:
                return asking.quoting(("ada", "born in Ulm"), ("carl", "born in Turku"))(inquiry)
            resources.delete_documents("kb", ["ada", "carl"])
            return asking.look("Carl Berg born in Turku", EntityLookup(entity="Carl Berg"))

        resources.fake.reply = delete_and_look
        graph = build_graph(resources)
        result = graph.invoke({"knowledge_base": "kb", "question": asking.QUESTION})
        before, after = resources.fake.inquiries
        assert after.rounds[0] == before.rounds[0]
        assert after.terms == before.terms
        assert "carl" in asking.passages(after)
        assert len(result["citations"]) == 2, "they are checked against the documents of that state"
        resources.fake = asking.Fake()
        graph.invoke({"knowledge_base": "kb", "question": asking.QUESTION})
        assert not {"ada", "carl"} & set(asking.passages(resources.fake.inquiries[-1])), "the next sees the new one"


@pytest.fixture
def without_collector():
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_collector")
@pytest.mark.parametrize("ends", ["answered", "failed", "forgotten"])
def test_a_question_that_ends_lets_its_snapshot_go(shop, monkeypatch, ends):
    with shop.resources() as resources:
        graph, asked = build_graph(resources), {"knowledge_base": "kb", "question": QUESTION}
        with resources.snapshot("kb") as snapshot:
            pass
        if ends == "answered":
            graph.invoke(asked)
        elif ends == "failed":
            def fail(*_):
                raise ReasonerError("the endpoint refused")

            monkeypatch.setattr(resources.scripted, "judge", fail)
            with pytest.raises(ReasonerError):
                graph.invoke(asked)
        else:
            with monkeypatch.context() as context:
                context.setattr(snapshots, "_QUESTION_SECONDS", -1.0)
                resources.snapshots.begin_question(JoinedSnapshots({"kb": snapshot}))
            resources.snapshots.end_question(resources.snapshots.begin_question(JoinedSnapshots({"kb": snapshot})))
        assert snapshot.kb.documents.count_documents(), "the next question finds it open"
        shop.build(shop.write(scripted.WAITING))
        with resources.snapshot("kb"), pytest.raises(ResourceClosedError):
            snapshot.kb.documents.count_documents()


def test_what_a_dropped_knowledge_base_said_is_answered_to_the_end(shop):
    with shop.resources() as resources, resources.snapshot("kb") as snapshot:
        resources.drop("kb")
        assert snapshot.retriever.rank_passages(QUESTION, 5)
        assert snapshot.kb.documents.count_documents()


@pytest.mark.skipif(sys.platform != "linux", reason="counts what /proc shows")
def test_knowledge_bases_that_were_used_longest_ago_are_closed(tmp_path, hashed_embedder):
    settings = Settings(home=tmp_path, llm_base_url=None, open_bases=2, _env_file=None)
    for number in range(4):
        small_base.people(tmp_path, f"kb{number}", hashed_embedder)
    held = []
    with Resources(settings, hashed_embedder) as resources:
        graph = build_graph(resources)
        for number in range(4):
            answer = graph.invoke({"knowledge_base": f"kb{number}", "question": "Where was Ada Byron born?"})
            assert "Ulm" in answer["answer"]
            held.append(len(list(Path("/proc/self/fd").iterdir())))
        first = newest(resources, "kb2").kb
        newest(resources, "kb0")
        assert newest(resources, "kb2").kb is first, "it was used later than kb3"
    # Chroma's threads let go of single files a little later: of a third base there would be as many as of the second.
    assert max(held[2:]) < 2 * held[1] - held[0], held


RIVER = "On which river is the birthplace of Ada Byron?"
MANY = 15


class Slow(asking.Fake):
    """Waits until all questions wait at once."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting, self.most, self.threads = 0, 0, set()
        self.all_wait = asyncio.Event()

    async def judge(self, inquiry: Any) -> Judgement:
        self.waiting += 1
        self.most, self.threads = max(self.most, self.waiting), self.threads | {threading.get_ident()}
        if self.waiting == MANY:
            self.all_wait.set()
        await asyncio.wait_for(self.all_wait.wait(), 60)
        self.waiting -= 1
        return await super().judge(inquiry)


def test_many_questions_wait_at_once_whatever_threads_there_are(resources):
    async def ask_all() -> list[Any]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
        resources.fake = Slow()
        graph = build_graph(resources)
        return await asyncio.gather(*(graph.ainvoke({"knowledge_base": "kb", "question": f"{RIVER} {n}"})
                                      for n in range(MANY)))

    said = asyncio.run(ask_all())
    assert len(said) == MANY
    assert resources.fake.most == MANY
    assert len(resources.fake.threads) == 1, "they wait on the event loop"


LOOKUPS = (EntityLookup(entity="Ulm"), TripleLookup(relation="lies_on"), PathLookup(start="Ada Byron"))


def test_the_state_is_plain_data(resources):
    resources.fake.replies = [asking.look(*LOOKUPS)]
    graph, config = build_graph(resources, InMemorySaver()), {"configurable": {"thread_id": "plain"}}
    graph.invoke({"knowledge_base": "kb", "question": RIVER}, config)
    for state in graph.get_state_history(config):
        plain = {key: value for key, value in state.values.items() if key != "messages"}
        assert json.loads(json.dumps(plain)) == plain


def test_a_checkpointed_question_says_so_when_its_state_is_gone(tmp_path, hashed_embedder):
    small_base.people(tmp_path, "kb", hashed_embedder)
    saver, config = InMemorySaver(), {"configurable": {"thread_id": "one"}}
    with asking.FakeResources(tmp_path, hashed_embedder) as resources:
        graph = build_graph(resources, saver)
        graph.invoke({"knowledge_base": "kb", "question": RIVER}, config, interrupt_before=["answer"])
    with asking.FakeResources(tmp_path, hashed_embedder) as others:
        others.delete_documents("kb", ["carl"])
        with pytest.raises(StateGoneError, match="'kb' has changed since the question was asked"):
            build_graph(others, saver).invoke(None, config)
