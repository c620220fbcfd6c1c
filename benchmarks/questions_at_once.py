"""How many of many questions asked at once wait for the model together: in one process and in `langgraph dev`.

    python benchmarks/questions_at_once.py --home FOLDER --kb musique --questions 200 --seconds 2

The endpoint runs in a process of its own and takes the same time for each answer. The ideal is what the endpoint alone
would take: the calls that were made, as many at once as are allowed, and for no question fewer than follow each other.
What the processors take is told beside it: on few of them the questions' own work, not the model, is the limit.
"""

import argparse
import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import banyan
import httpx
from banyan.agents.resources import Resources
from banyan.config import Settings
from llm_world import ROOT, endpoint_apart, stats
from own_questions import MUSIQUE, own_questions, passages
from serve_load import private, processor_seconds

sys.path.append(str(ROOT))
from tests.ports import free_port

_STARTS_WITHIN = 120.0
_ANSWERS_WITHIN = 900.0
Ask = Callable[[str], Awaitable[object]]


def scripted(_: Path) -> Any:
    """Return the script of the tests' endpoint, which answers every step by simple rules."""
    from tests import llm_server  # noqa: PLC0415  (llm_world says where)

    return llm_server.scripted_brain()


async def all_at_once(ask: Ask, questions: Sequence[str]) -> float:
    """Return the seconds that the questions take, all begun at once."""
    began = time.perf_counter()
    await asyncio.gather(*map(ask, questions))
    return time.perf_counter() - began


def row(name: str, process: int, base_url: str, seconds: float, given: argparse.Namespace,
        run: Callable[[], float]) -> dict[str, Any]:
    """Measure one way to ask."""
    before, used = stats(base_url), processor_seconds(process)
    elapsed = run()
    after, used = stats(base_url), processor_seconds(process) - used
    calls = after["answers"] - before["answers"]
    ideal = max(calls * seconds / given.concurrency, seconds * calls / given.questions)
    return {"": name, "questions": given.questions, "seconds": round(elapsed, 1), "calls": calls,
            "most_in_flight": after["most_in_flight"], "mean_in_flight": round(calls * seconds / elapsed, 1),
            "answers_a_second": round(given.questions / elapsed, 2), "ideal": round(given.questions / ideal, 2),
            "processor_ms_a_question": round(1000 * used / given.questions), "private_mb": round(private(process))}


def settings(base_url: str, given: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of both ways."""
    return {"home": given.home, "llm_base_url": base_url, "llm_model": "scripted",
            "llm_concurrency": given.concurrency}


def in_process(base_url: str, given: argparse.Namespace, questions: Sequence[str]) -> dict[str, Any]:
    """Ask by `aask` in this process."""
    with Resources(Settings(_env_file=None, **settings(base_url, given))) as resources:
        base = banyan.open(given.kb, resources=resources)
        asyncio.run(base.aask(questions[-1]))  # opens the knowledge base
        return row("one process", os.getpid(), base_url, given.seconds, given,
                   lambda: asyncio.run(all_at_once(base.aask, questions[:given.questions])))


@contextmanager
def langgraph_dev(base_url: str, given: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """Yield a server's address and process."""
    port = free_port()
    environment = {f"BANYAN_{name.upper()}": str(value) for name, value in settings(base_url, given).items()}
    command = [str(Path(sys.executable).with_name("langgraph")), "dev", "--no-browser", "--no-reload", "--port",
               str(port), *(("--n-jobs-per-worker", str(given.jobs)) if given.jobs else ())]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={
            **os.environ, **environment, "LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1",
            "LANGGRAPH_NO_VERSION_CHECK": "1"}, start_new_session=True) as server:
        try:
            _wait(f"http://127.0.0.1:{port}/ok")
            yield f"http://127.0.0.1:{port}", server.pid
        finally:
            os.killpg(server.pid, signal.SIGTERM)


def _wait(url: str) -> None:
    deadline = time.monotonic() + _STARTS_WITHIN
    while True:
        with suppress(httpx.HTTPError):
            if httpx.get(url).is_success:
                return
        assert time.monotonic() < deadline, f"no answer within {_STARTS_WITHIN} s"
        time.sleep(0.2)


async def _through(url: str, given: argparse.Namespace, questions: Sequence[str]) -> float:
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=_ANSWERS_WITHIN, limits=limits) as client:
        async def ask(question: str) -> None:
            said = await client.post("/runs/wait", json={"assistant_id": "retrieval", "input": {
                "knowledge_base": given.kb, "question": question}})
            said.raise_for_status()
            assert "answer" in said.json(), said.text[:300]

        return await all_at_once(ask, questions)


def in_server(base_url: str, given: argparse.Namespace, questions: Sequence[str]) -> dict[str, Any]:
    """Ask over LangGraph's server."""
    with langgraph_dev(base_url, given) as (url, process):
        asyncio.run(_through(url, given, questions[-1:]))
        return row("langgraph dev", process, base_url, given.seconds, given,
                   lambda: asyncio.run(_through(url, given, questions[:given.questions])))


def main() -> None:
    """Print a line of JSON for each way to ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--kb", default="musique", help="a base with MuSiQue's passages: the questions are about these")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=2.0, help="how long the model takes for an answer")
    parser.add_argument("--concurrency", type=int, default=200, help="calls at once (BANYAN_LLM_CONCURRENCY)")
    parser.add_argument("--jobs", type=int, default=0, help="runs at once of the server; 0: its default")
    given = parser.parse_args()
    corpus = passages(MUSIQUE)
    asked = [one.question for name in ("multi_hop", "themes") for one in own_questions(name, corpus)]
    home = given.home
    for way in (in_process, in_server):
        # In a copy: what a model answered is not asked again.
        with tempfile.TemporaryDirectory() as folder, endpoint_apart(given.seconds, scripted) as base_url:
            given.home = Path(shutil.copytree(home, Path(folder) / "home"))
            print(json.dumps(way(base_url, given, asked)), flush=True)


if __name__ == "__main__":
    main()
