"""Measure the agent's loop with an endpoint that knows only MuSiQue's decompositions and answers.

`python benchmarks/llm_agent.py HOME KB` (`--questions 100`): the knowledge base has MuSiQue-train-100's passages; a
copy of it is asked. The endpoint (`tests/gold_brain.py`) is called over HTTP. It answers a part only if its gold
passage is shown, so this measures retrieval and the loop: whether parts that need an earlier answer get it and are
asked, how many rounds that takes, and what a question costs.
"""

import argparse
import json
import re
import shutil
import statistics
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.planning import key
from banyan.agents.retrieval.state import AskContext
from banyan.config import Settings
from banyan.evaluation.datasets import with_references
from banyan.text.tokens import estimate_tokens
from llm_world import QUESTIONS, llm_server
from rich.console import Console
from rich.table import Table

from gold_brain import GoldPart, filled, gold_brain  # isort: skip  (in the tests' folder, which llm_world adds)


def gold(record: dict[str, Any]) -> list[GoldPart]:
    """Return the gold parts of one of MuSiQue's questions."""
    passages = {one["idx"]: one for one in record["paragraphs"]}
    return [GoldPart(with_references(part["question"], number), part["answer"],
                     passages[part["paragraph_support_idx"]]["title"],
                     passages[part["paragraph_support_idx"]]["paragraph_text"])
            for number, part in enumerate(record["question_decomposition"])]


class Tally:
    """Counts of the questions' outcomes."""

    def __init__(self) -> None:
        self.waiting = self.due = self.filled = self.answered = self.cited = 0
        self.iterations: Counter[int] = Counter()
        self.unfilled: list[str] = []

    def add(self, parts: list[GoldPart], said: dict[str, Any], reflections: list[dict[str, Any]]) -> None:
        """Count one question's outcome.

        Args:
            parts: the gold parts.
            said: what the graph returned.
            reflections: what the endpoint replied when asked whether the passages suffice, in order.
        """
        asked = {key(_plain(question)) for question in said["sub_queries"]}
        due: set[int] = set()
        for reflection in reflections[:said["iterations"] - 1]:
            known = {answer["id"] - 1 for answer in reflection["answers"]}
            due |= {number for number, part in enumerate(parts)
                    if number not in known and part.refers_to() and known.issuperset(part.refers_to())}
        self.waiting += sum(bool(part.refers_to()) for part in parts)
        self.due += len(due)
        self.unfilled += [filled(parts, number) for number in due if key(_plain(filled(parts, number))) not in asked]
        self.filled = self.due - len(self.unfilled)
        self.iterations[said["iterations"]] += 1
        self.answered += not said["abstained"] and parts[-1].answer in said["answer"]
        self.cited += bool(said["citations"])


def _plain(question: str) -> str:
    return re.sub(r"\s+([?.!,])", r"\1", question)


def main() -> None:
    """Ask and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("kb")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--context-tokens", type=int, default=3000, help="of the passages shown; few make more rounds")
    parser.add_argument("--verbose", action="store_true", help="list the parts that were not filled in")
    arguments = parser.parse_args()
    records = json.loads(QUESTIONS.read_text("utf-8"))[:arguments.questions]
    script = gold_brain({record["question"]: gold(record) for record in records})
    tally, costs = Tally(), dict[str, list[int]]()
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
                tally.add(gold(record), dict(said), [json.loads(script(request)) for request in server.requests[before:]
                                                     if _step(request) == "reflection"])
        _count(server, costs)
        cap = settings.max_rounds
    _print(len(records), tally, costs, cap, verbose=arguments.verbose)


def _step(request: dict[str, Any]) -> str:
    return str(request["response_format"]["json_schema"]["name"])


def _count(server: Any, costs: dict[str, list[int]]) -> None:
    for request in server.requests:
        step = costs.setdefault(_step(request), [0, 0, 0])
        step[0] += 1
        step[1] += sum(estimate_tokens(message["content"]) for message in request["messages"])
        step[2] += estimate_tokens(server.script(request))


def _print(count: int, tally: Tally, costs: dict[str, list[int]], cap: int, *, verbose: bool) -> None:
    table = Table("step", "calls", "prompt tokens", "completion tokens", title=f"{count} questions: costs of one")
    sums = [sum(parts) for parts in zip(*costs.values(), strict=True)]
    for step, parts in [*costs.items(), ("all", sums)]:
        table.add_row(step, *(f"{part / count:.2f}" for part in parts))
    console = Console(width=120)
    console.print(table)
    rounds = sorted(tally.iterations.elements())
    console.print(f"answered as in gold: {tally.answered} of {count}, with a checked citation: {tally.cited}")
    console.print(f"parts that refer to another's answer: {tally.waiting}; not answered in the round that answered the "
                  f"other: {tally.due}; filled in and asked in the next: {tally.filled}")
    console.print(f"rounds: {dict(sorted(tally.iterations.items()))}, mean {statistics.mean(rounds):.2f}, cap {cap}")
    assert rounds[-1] <= cap, "the cap on rounds was exceeded"
    if verbose:
        console.print("\n".join(tally.unfilled))


if __name__ == "__main__":
    main()
