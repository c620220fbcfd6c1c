"""Questions that wait for a model: they hold no thread, and what they have found can be taken up elsewhere."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from banyan.agents.retrieval.graph import build_graph
from banyan.schemas.retrieval import (
    Claim,
    DraftAnswer,
    Evidence,
    Passage,
    Quote,
    Reflection,
    SubAnswer,
    SubQuery,
)
from langgraph.checkpoint.sqlite import SqliteSaver

from ... import asking

opened, resources = asking.opened, asking.resources

QUESTION = "On which river is the birthplace of Ada Byron?"
MANY = 15


class Slow(asking.Fake):
    """Waits until all questions wait at once."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting, self.most, self.threads = 0, 0, set()
        self.all_wait = asyncio.Event()

    async def areflect(self, *arguments: Any) -> Reflection:
        self.waiting += 1
        self.most, self.threads = max(self.most, self.waiting), self.threads | {threading.get_ident()}
        if self.waiting == MANY:
            self.all_wait.set()
        await asyncio.wait_for(self.all_wait.wait(), 60)
        self.waiting -= 1
        return self.reflect(*arguments)


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


def test_the_state_holds_models_and_nothing_of_this_process(resources):
    resources.fake.parts = [SubQuery(question="Where was Ada Byron born?"), SubQuery(question="Where is {answer 1}?")]
    state = build_graph(resources).invoke({"knowledge_base": "kb", "question": QUESTION}, interrupt_before=["answer"],
                                          output_keys=["asked", "history", "planned", "found", "shown", "revision"])
    kinds = {"asked": SubQuery, "history": SubAnswer, "planned": SubQuery, "shown": Passage}
    assert all(isinstance(item, kind) for name, kind in kinds.items() for item in state[name])
    assert all(isinstance(item, Evidence) for found in state["found"] for item in found.evidence)
    version = (*resources.retriever("kb").version, "kb")
    assert state["revision"] == "-".join(map(str, version)), "told from what is stored"


def test_a_checkpointed_question_goes_on_elsewhere(resources, tmp_path, hashed_embedder, caplog):
    """All that goes over to other resources is what the checkpoint's file has."""
    resources.fake.parts = [SubQuery(question="Where was Ada Byron born?"),
                            SubQuery(question="On which river is {answer 1}?")]
    resources.fake.reflections = [Reflection(sufficient=False, keep=[1, 2], sub_answers=[
        SubAnswer(question="Where was Ada Byron born?", answer="Ulm")])]
    file, config = tmp_path / "checkpoints.sqlite", {"configurable": {"thread_id": "one"}}
    with SqliteSaver.from_conn_string(str(file)) as saver:
        graph = build_graph(resources, saver)
        graph.invoke({"knowledge_base": "kb", "question": QUESTION}, config, interrupt_after=["reflect"])
        assert graph.get_state(config).next
    with (asking.FakeResources(resources.settings.home, hashed_embedder) as others,
          SqliteSaver.from_conn_string(str(file)) as saver):
        others.fake.draft = asking.quoting(("ulm", "Ulm lies on the\nriver Danube"))
        said = build_graph(others, saver).invoke(None, config)
    assert said["answer"] == "Claim on ulm: Ulm lies on the river Danube [1]"
    assert (others.fake.steps(), said["iterations"]) == (["reflect", "answer"], 2)
    assert [item.answer for item in others.fake.said_to("answer")[0][1]] == ["Ulm", "", ""]
    assert "not in the deserialization allowlist" not in caplog.text


@pytest.mark.parametrize("sufficient", [True, False])
def test_a_draft_is_part_of_the_state(resources, sufficient):
    draft = DraftAnswer(answerable=True, claims=[Claim(text="In Ulm.", quotes=[Quote(passage=1, words="Ulm")])])
    resources.fake.reflections = [Reflection(sufficient=sufficient, draft=draft if sufficient else None, keep=[1])]
    state = build_graph(resources).invoke({"knowledge_base": "kb", "question": asking.PLAIN}, output_keys=["draft"],
                                          interrupt_before=["answer"])
    assert state["draft"] == (draft if sufficient else None)
