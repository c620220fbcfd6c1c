"""Questions that wait for a model: they hold no thread, and what they have found can be taken up elsewhere."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.snapshots import StateGoneError
from banyan.schemas.inquiry import Judgement
from banyan.schemas.lookups import EntityLookup, PathLookup, TripleLookup
from langgraph.checkpoint.memory import InMemorySaver

from ... import asking
from ...small_base import people

opened, resources = asking.opened, asking.resources

QUESTION = "On which river is the birthplace of Ada Byron?"
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
        return await asyncio.gather(*(graph.ainvoke({"knowledge_base": "kb", "question": f"{QUESTION} {n}"})
                                      for n in range(MANY)))

    said = asyncio.run(ask_all())
    assert len(said) == MANY
    assert resources.fake.most == MANY
    assert len(resources.fake.threads) == 1, "they wait on the event loop"


LOOKUPS = (EntityLookup(entity="Ulm"), TripleLookup(relation="lies_on"), PathLookup(start="Ada Byron"))


def test_the_state_is_plain_data(resources):
    resources.fake.replies = [asking.look(*LOOKUPS)]
    graph, config = build_graph(resources, InMemorySaver()), {"configurable": {"thread_id": "plain"}}
    graph.invoke({"knowledge_base": "kb", "question": QUESTION}, config)
    for state in graph.get_state_history(config):
        plain = {key: value for key, value in state.values.items() if key != "messages"}
        assert json.loads(json.dumps(plain)) == plain


def test_a_checkpointed_question_says_so_when_its_state_is_gone(tmp_path, hashed_embedder):
    people(tmp_path, "kb", hashed_embedder)
    saver, config = InMemorySaver(), {"configurable": {"thread_id": "one"}}
    with asking.FakeResources(tmp_path, hashed_embedder) as resources:
        graph = build_graph(resources, saver)
        graph.invoke({"knowledge_base": "kb", "question": QUESTION}, config, interrupt_before=["answer"])
    with asking.FakeResources(tmp_path, hashed_embedder) as others:
        others.delete_documents("kb", ["carl"])
        with pytest.raises(StateGoneError, match="'kb' has changed since the question was asked"):
            build_graph(others, saver).invoke(None, config)
