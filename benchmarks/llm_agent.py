"""Measure the agent's loop with an endpoint that knows only MuSiQue's decompositions and answers.

`python benchmarks/llm_agent.py HOME KB` (`--questions 100`): the knowledge base has MuSiQue-train-100's passages; a
copy of it is asked. The endpoint (`gold_brain.py`) is called over HTTP. It answers a part only if its gold
passage is shown, and looks for it otherwise, so this measures retrieval and the loop: how many questions the first look
answers, how many rounds the others take, whether parts that need an earlier answer are looked for with it, and what
each call costs.
"""

import argparse
import json
import shutil
import statistics
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.config import Settings
from banyan.text.scripts import estimate_tokens
from gold_brain import GoldPart, filled, gold_brain
from llm_world import QUESTIONS, llm_server
from rich.console import Console
from rich.table import Table


def gold(record: dict[str, Any]) -> list[GoldPart]:
    """Return the gold parts of one of MuSiQue's questions."""
    passages = {one["idx"]: one for one in record["paragraphs"]}
    return [GoldPart(part["question"], part["answer"],
                     passages[part["paragraph_support_idx"]]["title"],
                     passages[part["paragraph_support_idx"]]["paragraph_text"])
            for part in record["question_decomposition"]]


class Tally:
    """Counts of the questions' outcomes."""

    def __init__(self) -> None:
        self.waiting = self.filled = self.answered = self.cited = 0
        self.rounds: Counter[int] = Counter()

    def add(self, parts: list[GoldPart], said: dict[str, Any]) -> None:
        """Count what the graph returned for one question with its gold parts."""
        asked = "\n".join(said["sub_queries"])
        waiting = [number for number, part in enumerate(parts) if part.refers_to()]
        self.waiting += len(waiting)
        self.filled += sum(filled(parts, number) in asked for number in waiting)
        self.rounds[said["iterations"]] += 1
        self.answered += not said["abstained"] and parts[-1].answer in said["answer"]
        self.cited += bool(said["citations"])


def main() -> None:
    """Ask and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("kb")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--context-tokens", type=int, default=4000, help="of the evidence; few make more rounds")
    arguments = parser.parse_args()
    records = json.loads(QUESTIONS.read_text("utf-8"))[:arguments.questions]
    script = gold_brain({record["question"]: gold(record) for record in records})
    tally, costs = Tally(), dict[int, list[int]]()
    with tempfile.TemporaryDirectory() as folder, llm_server.LlmServer(script) as server:
        shutil.copytree(arguments.home / arguments.kb, Path(folder) / arguments.kb)
        settings = Settings(home=Path(folder), llm_base_url=server.base_url, llm_model="gold",
                            context_tokens=arguments.context_tokens, _env_file=None)
        with Resources(settings) as resources:
            graph = build_graph(resources)
            for record in records:
                before = len(server.requests)
                said = graph.invoke({"knowledge_base": arguments.kb, "question": record["question"]},
                                    context=AskContext())
                tally.add(gold(record), dict(said))
                for number, request in enumerate(server.requests[before:], 1):
                    _count(request, server.script(request), costs.setdefault(number, [0, 0, 0]))
    _print(len(records), tally, costs, settings.max_rounds + 1)


def _count(request: dict[str, Any], reply: str, sums: list[int]) -> None:
    sums[0] += 1
    sums[1] += sum(estimate_tokens(message["content"]) for message in request["messages"])
    sums[2] += estimate_tokens(reply)


def _print(count: int, tally: Tally, costs: dict[int, list[int]], cap: int) -> None:
    table = Table("call", "made", "prompt tokens", "completion tokens", title=f"{count} questions: costs of one")
    sums = [sum(parts) for parts in zip(*costs.values(), strict=True)]
    for call, parts in [*((str(number), parts) for number, parts in costs.items()), ("all", sums)]:
        table.add_row(call, *(f"{part / count:.2f}" for part in parts))
    console = Console(width=120)
    console.print(table)
    rounds = sorted(tally.rounds.elements())
    console.print(f"answered as in gold: {tally.answered} of {count}, with a checked citation: {tally.cited}")
    console.print(f"parts that refer to another's answer: {tally.waiting}; looked for with that answer filled in: "
                  f"{tally.filled} (the passages of the others were shown before)")
    console.print(f"rounds with the first look: {dict(sorted(tally.rounds.items()))}, "
                  f"mean {statistics.mean(rounds):.2f}, cap {cap}")
    assert rounds[-1] <= cap, "the cap on rounds was exceeded"


if __name__ == "__main__":
    main()
