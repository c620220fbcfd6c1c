"""Measure the time to the first checked claim against the time to the answer: `python benchmarks/first_claim.py`.

The endpoint runs in a separate process and sends so many tokens of four characters a second (`--rates 25 50 100`). Its
replies are of a model's form and length: a thought, four claims with a quote each, a short answer, some 280 tokens.
Each question is asked of an endpoint that streams and of one that does not, in the same run. The time to search counts.
"""

import argparse
import json
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import banyan
from banyan.agents.resources import Resources
from banyan.config import Settings
from llm_world import ROOT, endpoint_apart, llm_server
from rich.console import Console
from rich.table import Table

KB = "english"
_CLAIMS = 4
_THOUGHT = "The passages state what is asked; the first one names it, and the others agree with it in what they add."
_DATA = re.compile(r"<data>\n(.*?)\n</data>", re.DOTALL)
_ITEM = re.compile(r"^\[(\d+)\] [^\n]*\n(.*?)(?=\n\[\d+\] |\Z)", re.DOTALL | re.MULTILINE)
_SENTENCE = re.compile(r"[A-Z][^.\n]{30,120}\.")


def script(_: Path) -> Callable[[dict[str, Any]], str]:
    """Return the answering function: answers quote the first sentence of each of the first passages."""
    def reply(body: dict[str, Any]) -> str:
        if llm_server.brain.step(body) not in {"decompose", "reflect", "answer"}:
            answer: str = llm_server.brain.reply(body)
            return answer
        (_, evidence, *_) = _DATA.findall(body["messages"][1]["content"])
        said = [(int(number), found[0]) for number, text in _ITEM.findall(evidence)
                if (found := _SENTENCE.search(text))]
        claims = [{"text": words, "quotes": [{"item": number, "words": words}], "unstated": ""}
                  for number, words in said[:_CLAIMS]]
        return json.dumps({"thought": _THOUGHT, "lookups": [], "answerable": True, "claims": claims,
                           "short": "Warsaw", "confidence": 0.9}, ensure_ascii=False)

    return reply


def times(base: banyan.KnowledgeBase, question: str) -> tuple[float | None, float]:
    """Ask a question; return the seconds to the first claim, or None without one, and to the answer."""
    started, first = time.perf_counter(), None
    for event in base.stream(question):
        if isinstance(event, banyan.Step) and event.step == "claim" and first is None:
            first = time.perf_counter() - started
    return first, time.perf_counter() - started


def measure(home: Path, rate: float, questions: Sequence[str], *, streams: bool) -> list[tuple[float | None, float]]:
    """Return the times of each question, with an endpoint of this rate."""
    with endpoint_apart(0, script, rate=rate, streams=streams) as base_url:
        settings = Settings(_env_file=None, home=home, llm_base_url=base_url, llm_model=f"{rate:g}-{streams}")
        with Resources(settings) as resources:
            base = banyan.open(KB, resources=resources)
            times(base, "Where does the Vistula rise?")  # opens the knowledge base and the client
            return [times(base, question) for question in questions]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rates", type=float, nargs="+", default=[25, 50, 100], help="tokens a second")
    parser.add_argument("--questions", type=int, default=10)
    given = parser.parse_args()
    asked = [json.loads(line) for line in (ROOT / "examples" / "questions.jsonl").read_text("utf-8").splitlines()]
    questions = [one["question"] for one in asked if one["language"] == "en" and one["hops"] == 1][:given.questions]
    table = Table("tokens a second", "first claim, s", "answer, s", "answer without streaming, s",
                  title=f"median of {len(questions)} questions")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with Resources(Settings(_env_file=None, home=home)) as resources:
            banyan.open(KB, resources=resources).add(ROOT / "examples" / "en")
        for rate in given.rates:
            streamed = measure(home, rate, questions, streams=True)
            whole = measure(home, rate, questions, streams=False)
            firsts = [first for first, _ in streamed if first is not None]
            assert len(firsts) == len(questions), "an answer had no claim before its end"
            medians = (statistics.median(values) for values in (firsts, [end for _, end in streamed],
                                                                [end for _, end in whole]))
            table.add_row(f"{rate:g}", *(f"{median:.2f}" for median in medians))
    Console().print(table)


if __name__ == "__main__":
    main()
