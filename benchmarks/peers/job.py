"""The shared part of the peers' programs: the job that `peer_arms.py` writes, and how questions are answered.

It runs in each peer's own environment, in which Banyan is not installed.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Job:
    """Documents as {id, title, text}; see `peer_arms.py`."""

    documents: list[dict[str, str]]
    base_url: str
    model: str
    dimension: int
    folder: str
    top_k: int
    instruction: str


def read_job() -> Job:
    """Read the job file named on the command line; switch off telemetry and vocabularies from the network."""
    os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENAI_API_KEY": "none"}
    return Job(**json.loads(Path(sys.argv[1]).read_text("utf-8")))


async def run(job: Job, build: Callable[[], Awaitable[None]], answer: Callable[[str], Awaitable[str]]) -> None:
    """Build unless that was done before, and answer the questions on standard input, {id, question} a line."""
    built = Path(job.folder) / "built"
    started = time.perf_counter()
    if not built.exists():
        await build()
        built.touch()
    say({"built": time.perf_counter() - started})
    while line := await asyncio.to_thread(sys.stdin.readline):
        question = json.loads(line)
        say({"id": question["id"], "answer": await answer(question["question"])})


def say(value: dict[str, object]) -> None:
    """Write one line."""
    sys.stdout.write(f"\n{json.dumps(value, ensure_ascii=False)}\n")
    sys.stdout.flush()
