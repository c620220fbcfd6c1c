"""Faults of an endpoint, in every step, over real HTTP: at 100 % of the calls, in builds some at 20 % too.

A build ends with every chunk stored, listed as failed with its reason, or left for the next build, which then says why
it stopped; `--retry-failed` completes it, and the store is then the one that a build without faults makes. A question
ends in an answer or in an error that names the step and the cause. Each run has a deadline.

`pytest -s` shows the table. At 20 %, at least one call of each step goes wrong: it may have a few calls alone.
"""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeVar

import pytest
from banyan.agents.construction.graph import build_graph
from banyan.agents.construction.state import BuildContext
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import AskContext
from banyan.agents.retrieval.graph import build_graph as question_graph
from banyan.config import Settings
from banyan.schemas.errors import BanyanError

from .. import llm_server
from ..newest import contents, newest

# Warnings are switched off around a call of chromadb's, in the whole process: side by side, runs see each other's.
pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("ignore:legacy embedding function config"),
              pytest.mark.filterwarnings("ignore:Number of distinct clusters")]

Fault, Odds = llm_server.Fault, llm_server.Odds
_T = TypeVar("_T")

DEADLINE = 120.0
"""Seconds for one run, which takes about one: nothing hangs."""
AT_ONCE = 2
"""More only wait for each other: Python runs one thread at a time, and changing takes time too."""
TOGETHER = 45
"""Tokens of text that a call reads: two documents share one."""
SOON = {"retry-after-ms": "10"}
FAULTS = {
    "429": Fault("status", 429, SOON), "500": Fault("status", 500), "400": Fault("status", 400),
    "reset": Fault("reset"), "stall": Fault("stall", seconds=3), "truncated": Fault("truncated"),
    "fenced": Fault("fenced"), "types": Fault("types"), "empty": Fault("empty"), "filtered": Fault("filtered")}
"""One for each way in which a call can end; how each answer is read is tested in `unit/models`."""
AT_RELEASES = {"429", "500", "400", "reset", "stall", "truncated", "empty", "fenced", "filtered"}
"""Faults that reach the graphs as the same errors as others do, after other ways through the client."""
HARMLESS = {"fenced"}
"""Faults that cost not even a second call."""
IN_PART = {"reset", "types"}
"""Faults that builds also meet at 20 % of the calls."""
BUILDING = ("extraction", "verdicts", "summaries")
ASKING = {"question": "condense", "decompose": "decompose", "reflect": "reflect", "answer": "answer"}
"""The steps of a question, by what their answer is called, in order."""
TEXTS = {
    "ada": "Ada Byron visited Ulm. Ada Byron founded Lindow Optics. Ada Byron met Carl Berg.",
    "carl": "Carl Berg visited Turku. Carl Berg joined Lindow Optics. Carl Berg married Vera Holm.",
    "otto": "Otto Lind visited Ulm. Otto Lind led Ulm大聖堂塔. Otto Lind met Ada Byron.",
    "turku": "Turku lies in Finland. Turku Cathedral stands in Turku. Turku Cathedrals attract Pilgrims.",
    "ulm": "Ulm lies in Germany. Lindow Optic makes Lenses. Ulm Minster stands in Ulm.",
    "vera": "Vera Holm visited Turku. Vera Holm joined Trade Union. Vera Holm met Otto Lind.",
}
MESSAGES = [("user", "Who is Carl Berg?"), ("assistant", "A person."), ("user", "Which town was visited by him?")]

_keys = count()


def script(body: dict[str, Any]) -> str:
    """The brain's answers, of which a question's first one always looks further.

    Extractions list no entities: a chunk would also have those that others of its call name.
    """
    answer = json.loads(llm_server.brain.reply(body))
    if llm_server.brain.step(body) == "extraction":
        answer["entities"] = []
    if llm_server.brain.step(body) == "decompose":
        answer |= {"answerable": False, "claims": [], "lookups": [{"tool": "passage_search", "query": "Carl Berg"}]}
    return json.dumps(answer)


class World:
    def __init__(self, folder: Path, embedder: Any) -> None:
        self.folder = folder
        self.embedder = embedder
        documents = folder / "documents"
        documents.mkdir()
        for name, text in TEXTS.items():
            (documents / f"{name}.txt").write_text(text, "utf-8")
        self.paths = [str(path) for path in sorted(documents.iterdir())]
        with llm_server.LlmServer(script) as server:
            settings = self.settings(server, "sound", folder / "sound")
            assert complete(self.build(settings))
            self.state = self.stored(settings)
            self.answers = self.ask(settings)
            assert set(server.stats.steps) == {*BUILDING, *ASKING}, "a step that is not asked shows nothing"

    def settings(self, server: Any, model: str, home: Path, fault: str = "") -> Settings:
        """Those of a new process: what it learnt of the endpoint, and its circuit breaker, go by the key."""
        return Settings(_env_file=None, home=home, llm_base_url=server.base_url, llm_model=model,
                        llm_api_key=f"key-{next(_keys)}", llm_retries=int(fault == "429"), extract_tokens=TOGETHER,
                        llm_timeout=2 if fault == "stall" else DEADLINE)

    def build(self, settings: Settings) -> dict[str, Any]:
        """One build with `--retry-failed`; checks how it ended."""
        given = {"knowledge_base": "kb", "paths": self.paths, "schema": "open"}
        with Resources(settings, self.embedder) as resources:
            report = dict(build_graph(resources).invoke(given, context=BuildContext(retry_failed=True))["report"])
            documents = newest(resources).kb.documents
            failures = documents.failures()
            statuses = {chunk.id: documents.status(chunk.id) for chunk in documents.chunks()}
        left = [status for status in statuses.values() if status not in {"done", "failed"}]
        assert len(statuses) == len(TEXTS)
        assert not left or report["stopped"], "a chunk is left, and nothing says why"
        assert report["chunks_failed"] == len(failures) == list(statuses.values()).count("failed")
        assert all(f"extract: model '{settings.llm_model}'" in reason for *_, reason in failures), failures
        return report

    def stored(self, settings: Settings) -> dict[str, Any]:
        with Resources(settings, self.embedder) as resources:
            return contents(newest(resources).kb)

    def ask(self, settings: Settings) -> list[str]:
        """Answer after a round of lookups, and where no further round is allowed."""
        with Resources(settings, self.embedder) as resources:
            graph = question_graph(resources)
            return [graph.invoke({"knowledge_base": "kb", "messages": MESSAGES},
                                 context=AskContext(agent=agent))["answer"] for agent in (True, False)]


def odds(name: str, rate: float, steps: Sequence[str]) -> list[Any]:
    return [Odds(FAULTS[name], rate, steps=frozenset(steps), least=1)] if steps else []


def complete(report: dict[str, Any]) -> bool:
    return not report["stopped"] and not report["chunks_failed"]


def within(seconds: float, function: Callable[[], _T]) -> _T:
    future: Future[_T] = Future()

    def run() -> None:
        try:
            future.set_result(function())
        except BaseException as error:  # noqa: BLE001  (raised by `result`)
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future.result(seconds)


def check_builds(world: World, name: str, rate: float) -> None:
    """Builds while calls go wrong, then without; what is stored in the end is what it would have been at once."""
    stages: list[Sequence[str]] = [BUILDING, BUILDING[1:], BUILDING[2:]]  # each step is reached after those before it
    with llm_server.LlmServer(script) as server:
        for steps in (*stages, ()):
            server.odds[:] = odds(name, rate, steps)
            settings = world.settings(server, f"{name}-{rate}", world.folder / f"{name}-{rate}", name if steps else "")
            report = within(DEADLINE, lambda settings=settings: world.build(settings))
            if complete(report):
                break
        assert complete(report), report
        assert all(server.stats.faults[step] for step in BUILDING), "a step was never hit: it shows nothing"
        # What a content filter refused is described by its facts, and stays so.
        assert name == "filtered" or world.stored(settings) == world.state


def check_question(world: World, name: str) -> None:
    """A question asked while all calls of one of its steps go wrong, of each in turn, and then of none."""
    told: list[str] = []
    with llm_server.LlmServer(script) as server:
        for step, node in ASKING.items():
            server.odds[:] = odds(name, 1.0, [step])
            model = f"{name}-{step}"
            settings = world.settings(server, model, world.folder / "sound", name)
            try:
                told.append("answer" if within(DEADLINE, lambda settings=settings: world.ask(settings))
                            == world.answers else "another answer")
            except BanyanError as error:
                assert f"{node}: model '{model}'" in str(error), f"it does not say what failed: {error}"
                told.append(f"error in {node}")
        server.odds.clear()
        settings = world.settings(server, model, world.folder / "sound")
        assert within(DEADLINE, lambda: world.ask(settings)) == world.answers, "it does not recover"
        assert all(server.stats.faults[step] for step in ASKING), "a step was never hit: it shows nothing"
    assert told == ["answer" if name in HARMLESS else f"error in {node}" for node in ASKING.values()]


@pytest.fixture(scope="module")
def checks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory,
           hashed_embedder: Any) -> Iterator[dict[str, list[Future[None]]]]:
    """All checks of the faults that are to be tested, side by side: most of their time is waiting."""
    pytest.importorskip("pytest_socket").enable_socket()
    names = [item.callspec.params["name"] for item in request.session.items  # type: ignore[attr-defined]
             if item.path == request.path]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        world = World(tmp_path_factory.mktemp("faults"), hashed_embedder)
        begun = {name: [*(pool.submit(check_builds, world, name, rate)
                          for rate in ((0.2, 1.0) if name in IN_PART else (1.0,))),
                        pool.submit(check_question, world, name)] for name in names}
        # Between two tests pytest sets the filters of warnings anew, first to errors: no thread may be at work then.
        wait(chain(*begun.values()))
        yield begun


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.slow if name in AT_RELEASES else ()) for name in FAULTS])
def test_builds_and_questions_end(checks: dict[str, list[Future[None]]], name: str) -> None:
    for check in checks[name]:
        check.result()
