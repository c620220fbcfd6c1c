"""Measure a question in a new process: `python benchmarks/cold_ask.py KB [--home HOME] [--runs N]`.

Print the median time of `banyan ask` as a whole, and of its parts in a process that does the same: starting and
importing, opening the knowledge base with the embedding model, loading the parser, answering. Wall time
above processor time shows how busy the machine was: on an idle one they are nearly equal.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

QUESTION = "Where was Marie Curie born?"
PARTS = ("imports", "opening", "parser", "answering")
_CHILD = """
import json, sys, time
marks = [float(sys.argv[1])]
processor = [0.0]
def mark():
    marks.append(time.time())
    processor.append(time.process_time())
from banyan.cli.main import command
command("ask")
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.config import Settings
mark()
with Resources(Settings()) as resources:
    with resources.snapshot(sys.argv[2]) as snapshot:
        snapshot.retriever
    reasoner = resources.reasoner(sys.argv[2])
    mark()
    if not resources.settings.uses_llm:
        from banyan.models.parsing.parser import Parser
        Parser(resources.settings.spacy_pipelines).entities(["A sentence."])
    mark()
    build_graph(resources).invoke({"knowledge_base": sys.argv[2], "question": sys.argv[3]})
    mark()
print(json.dumps([[b - a for a, b in zip(of, of[1:])] for of in (marks, processor)]))
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kb", help="a knowledge base, such as the demo's `english`")
    parser.add_argument("--home", help="where it is; none: as for every command")
    parser.add_argument("--question", default=QUESTION)
    parser.add_argument("--runs", type=int, default=10)
    given = parser.parse_args()
    environment = {**os.environ, **({"BANYAN_HOME": given.home} if given.home else {})}
    whole = [_command(given.kb, given.question, environment) for _ in range(given.runs)]
    print(f"banyan ask, median of {given.runs}: {_both(whole)}")
    parts = [_parts(given.kb, given.question, environment) for _ in range(given.runs)]
    for number, name in enumerate(PARTS):
        print(f"  {name:10} {_both([(clock[number], processor[number]) for clock, processor in parts])}")


def _command(kb: str, question: str, environment: dict[str, str]) -> tuple[float, float]:
    """Run `banyan ask`, and return its wall and processor time in seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", "banyan", "ask", question, "--kb", kb, "--json"], env=environment, check=True,
                   capture_output=True)
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - began
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _parts(kb: str, question: str, environment: dict[str, str]) -> tuple[list[float], list[float]]:
    """Ask once, and return the wall and the processor times of the parts, in seconds."""
    done = subprocess.run([sys.executable, "-c", _CHILD, str(time.time()), kb, question], env=environment, check=True,
                          capture_output=True, text=True)
    clock, processor = json.loads(done.stdout)
    return clock, processor


def _both(measured: Sequence[tuple[float, float]]) -> str:
    clock, processor = (statistics.median(values) for values in zip(*measured, strict=True))
    return f"{clock:5.2f} s by the clock, {processor:5.2f} s of processor time"


if __name__ == "__main__":
    main()
