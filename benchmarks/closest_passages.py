"""What a newcomer sees where no answer is found without a model: whether it stands in the passages that come closest.

Run `python benchmarks/closest_passages.py [FOLDER ...]`, FOLDER as in benchmarks/newcomer (all of them unless named).
Each folder is built by the rules, and its questions that the documents answer are asked. Of those that are declined it
counts the ones for which a quote that is shown holds one of the accepted answers. The median time of all questions is
printed as well: that of a store of ten documents, with the agent and the rules' answer.
"""

import argparse
import json
import re
import statistics
import tempfile
import time
from pathlib import Path

import banyan
from rich.console import Console
from rich.progress import track
from rich.table import Table

NEWCOMER = Path(__file__).parent / "newcomer"


def words(text: str) -> str:
    """A text without case and punctuation."""
    return " ".join(re.findall(r"\w+", text.lower()))


def shown(knowledge_base: banyan.KnowledgeBase, questions: Path, times: list[float]) -> tuple[int, int]:
    """How many of the questions that are declined were shown their answer, and how many were declined.

    The seconds that each takes are added to `times`.
    """
    held, declined = 0, 0
    for line in questions.read_text("utf-8").splitlines():
        question = json.loads(line)
        if question["unanswerable"]:
            continue
        started = time.perf_counter()
        answer = knowledge_base.ask(question["question"])
        times.append(time.perf_counter() - started)
        if answer.abstained:
            quotes = [words(citation.quote) for citation in answer.citations]
            declined += 1
            held += any(words(accepted) in quote for accepted in question["answers"] for quote in quotes)
    return held, declined


def main() -> None:
    """Build, ask and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = sorted(path.stem for path in NEWCOMER.glob("*.jsonl"))
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help=f"of {', '.join(known)}")
    folders = parser.parse_args().folders or known
    if unknown := set(folders).difference(known):
        parser.error(f"{', '.join(sorted(unknown))}: not among {', '.join(known)}")
    table = Table("folder", "declined though answered by the documents", "the answer is shown")
    sums, times = [0, 0], list[float]()
    for folder in track(folders, console=Console(stderr=True)):
        with tempfile.TemporaryDirectory() as home, banyan.open(folder, home=home) as knowledge_base:
            knowledge_base.add(NEWCOMER / folder)
            held, declined = shown(knowledge_base, NEWCOMER / f"{folder}.jsonl", times)
        table.add_row(folder, str(declined), str(held))
        sums = [sums[0] + declined, sums[1] + held]
    table.add_row("all", *map(str, sums))
    Console().print(table)
    Console().print(f"{1000 * statistics.median(times):.0f} ms a question, the median of {len(times)}")


if __name__ == "__main__":
    main()
