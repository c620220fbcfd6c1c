"""Measure what a newcomer sees without a model: the answer, the answer in the first quote, or a wrong short answer.

    python benchmarks/found_answers.py [FOLDER ...] [--details]

Each FOLDER of benchmarks/newcomer (all of them unless named) is built by the rules and its questions are asked.

- shown: an accepted answer is in the short answer or in one of the first three quotes.
- first: it is in the short answer or in the first quote.
- wrong: a short answer without an accepted one, or one to a question that the documents do not answer.

Text is compared word by word, Chinese character by character, without case and punctuation. The median time of a
question is printed as well.
"""

import argparse
import json
import re
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import banyan
from rich.console import Console
from rich.progress import track
from rich.table import Table

NEWCOMER = Path(__file__).parent / "newcomer"
QUOTES = 3


@dataclass
class Counts:
    """Questions of a folder: those that the documents answer, all of them, and what was shown."""

    answerable: int = 0
    asked: int = 0
    shown: int = 0
    first: int = 0
    wrong: int = 0

    def add(self, other: "Counts") -> None:
        """Add another folder's counts."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def cells(self) -> tuple[str, ...]:
        """Return the counts as a table's cells, with shares in percent."""
        return (str(self.answerable), f"{self.shown} ({100 * self.shown / self.answerable:.1f} %)",
                f"{self.first} ({100 * self.first / self.answerable:.1f} %)",
                f"{self.wrong} of {self.asked} ({100 * self.wrong / self.asked:.1f} %)")


def words(text: str) -> str:
    """Return a text's words and Chinese characters, in lower case, with spaces around each."""
    found = re.findall(r"[\u4e00-\u9fff]|[^\W_\u4e00-\u9fff]+", text.lower())
    return f" {' '.join(found)} "


def measure(knowledge_base: banyan.KnowledgeBase, questions: Path, times: list[float],
            details: Console | None) -> Counts:
    """Ask the questions of a file, and add the seconds of each to `times`."""
    counts = Counts()
    for line in questions.read_text("utf-8").splitlines():
        question = json.loads(line)
        started = time.perf_counter()
        answer = knowledge_base.ask(question["question"])
        times.append(time.perf_counter() - started)
        accepted = [words(text) for text in question["answers"]]
        quotes = [words(citation.quote) for citation in answer.citations[:QUOTES]]
        right = any(text in words(answer.short) or (answer.short and words(answer.short) in text) for text in accepted)
        first = right or any(text in quote for text in accepted for quote in quotes[:1])
        shown = first or any(text in quote for text in accepted for quote in quotes)
        wrong = bool(answer.short) and (question["unanswerable"] or not right)
        counts.asked += 1
        counts.wrong += wrong
        if not question["unanswerable"]:
            counts.answerable += 1
            counts.shown += shown
            counts.first += first
        if details is not None and (wrong or not (shown or question["unanswerable"])):
            details.print(f"{'wrong' if wrong else 'not shown'}: {question['question']} -> {answer.short!r}, accepted "
                          f"{question['answers']}", markup=False)
    return counts


def main() -> None:
    """Build, ask and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = sorted(path.stem for path in NEWCOMER.glob("*.jsonl"))
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help=f"of {', '.join(known)}")
    parser.add_argument("--details", action="store_true", help="print what was not shown and what was wrong")
    arguments = parser.parse_args()
    folders = arguments.folders or known
    if unknown := set(folders).difference(known):
        parser.error(f"{', '.join(sorted(unknown))}: not among {', '.join(known)}")
    table = Table("folder", "answerable", "shown", "first", "wrong")
    total, times = Counts(), list[float]()
    for folder in track(folders, console=Console(stderr=True)):
        with tempfile.TemporaryDirectory() as home, banyan.open(folder, home=home) as knowledge_base:
            knowledge_base.add(NEWCOMER / folder)
            counts = measure(knowledge_base, NEWCOMER / f"{folder}.jsonl", times,
                             Console(stderr=True) if arguments.details else None)
        table.add_row(folder, *counts.cells())
        total.add(counts)
    table.add_row("all", *total.cells())
    Console().print(table)
    Console().print(f"{1000 * statistics.median(times):.0f} ms a question, the median of {len(times)}")


if __name__ == "__main__":
    main()
