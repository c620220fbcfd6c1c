"""Vary each constant of retrieval, one at a time, on our own questions (benchmarks/questions).

Run `BANYAN_HOME=... python benchmarks/fusion_sweep.py --kb musique`, after `banyan import --format hipporag
--schema open` of MuSiQue's recorded triples. It prints the recalls for values around the current one (marked
with *), each with the change in recall@5 of multi-hop questions and its 95 % interval
(paired bootstrap): if that contains 0, the value is not critical. `--only` selects some of them, `--questions FILE`
uses another file in the generic form.
"""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.evaluation.recall import DatasetQuestion, intervals, is_gold, load_questions
from banyan.graph_store.index import contents
from banyan.tools.ranking import fusion
from banyan.tools.ranking.fusion import Query
from banyan.tools.retriever import Retriever
from own_questions import MUSIQUE, musique_gold, own_questions, passages, shared_gold
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

_KS = (2, 5, 10, 20)
_AT = _KS.index(5)


@dataclass(frozen=True)
class Constant:
    """A constant with values to try besides the current one."""

    module: ModuleType
    name: str
    values: tuple[float, ...]

    @property
    def title(self) -> str:
        """The constant's module and name."""
        return f"{self.module.__name__.rsplit('.', 1)[-1]}.{self.name}"

    @property
    def in_force(self) -> float:
        """The current value."""
        return float(getattr(self.module, self.name))

    @contextmanager
    def set_to(self, value: float) -> Iterator[None]:
        """Set another value for the block."""
        before = getattr(self.module, self.name)
        setattr(self.module, self.name, value)
        try:
            yield
        finally:
            setattr(self.module, self.name, before)


CONSTANTS = (
    Constant(fusion, "_NAMED_SHARE", (0.0, 1 / 8, 1 / 4, 1 / 2, 1.0)),
    Constant(fusion, "_NEAR_SHARE", (0.0, 1 / 2, 1.0, 3 / 2, 2.0, 3.0)),
    Constant(fusion, "_FACTS", (5, 10, 20, 40)),
    Constant(fusion, "_COMMUNITIES", (5, 10, 20, 40)),
    Constant(fusion, "_FACT_SHARPNESS", (2, 4, 8, 12)),
    Constant(fusion, "SHARPNESS", (0, 1, 2, 3, 4)),
    Constant(fusion, "_OWN_SHARE", (0.0, 0.03, 0.1, 0.3)),
    Constant(fusion, "_CHUNK_SEEDS", (50, 100, 200, 400, 2000)),
    Constant(fusion, "_CHUNK_SHARPNESS", (2, 4, 6, 8, 10)),
    Constant(fusion, "_LEAD_SEEDS", (10, 25, 50, 100, 200)),
    Constant(fusion, "_LEAD_SHARPNESS", (1, 2, 3)),
    Constant(fusion, "_WAITING_SHARPNESS", (2, 4, 8, 12)),
    Constant(fusion, "_UNREACHED", (1e-8, 1e-6, 1e-4, 1e-2)),
    Constant(fusion, "_LEXICAL_SHARE", (0.0, 0.25, 0.5, 0.6, 0.75, 1.0)),
    Constant(fusion, "_DOCUMENT_SHARE", (0.0, 0.25, 0.5)),
    Constant(fusion, "_COMMUNITY_SHARE", (0.0, 0.25, 0.5, 1.0)),
    Constant(fusion, "_DENSITY_WEIGHT", (4.0, 6.0, 8.0, 10.0, 12.0)),
    Constant(fusion, "_ABSTRACTION_WEIGHT", (0.0, 0.5, 1.0, 2.0)),
    Constant(contents, "DAMPING", (0.3, 0.4, 0.5, 0.6, 0.7)),
    Constant(contents, "_ERROR", (1e-2, 1e-4, 1e-6)),
)


@dataclass(frozen=True)
class QuestionSet:
    """Questions with the rows of the chunks of each gold passage."""

    name: str
    questions: Sequence[DatasetQuestion]
    gold: Sequence[Sequence[Sequence[int]]]


class Sweep:
    """One knowledge base and its questions."""

    def __init__(self, resources: Resources, name: str, sets: Sequence[QuestionSet]) -> None:
        with resources.snapshot(name) as snapshot:
            self.retriever, self.sets = snapshot.retriever, sets
        self._queries: dict[str, list[tuple[Query, Sequence[int]]]] = {}

    def recalls(self) -> list[np.ndarray]:
        """Return the recall at each k of each question of each set, shapes (questions, k)."""
        return [np.array([self._recall(question, gold)
                          for question, gold in zip(one.questions, one.gold, strict=True)]) for one in self.sets]

    def _recall(self, question: DatasetQuestion, gold: Sequence[Sequence[int]]) -> list[float]:
        if question.question not in self._queries:
            self._queries[question.question] = self.retriever.steps(question.question)
        scores = fusion.rank_chunks(self.retriever.index, self._queries[question.question])
        place = np.empty(len(scores), np.intp)
        place[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
        best = [min((int(place[row]) for row in rows if scores[row] > 0), default=len(scores) + 1) for rows in gold]
        return [float(np.mean([found <= k for found in best])) for k in _KS]


def question_set(name: str, questions: Sequence[DatasetQuestion], retriever: Retriever) -> QuestionSet:
    """Find the gold passages of questions in a knowledge base.

    Raises:
        SystemExit: a gold passage is not in it.
    """
    by_key: dict[str, list[int]] = {}
    for row, chunk in enumerate(retriever.index.chunks):
        by_key.setdefault(f"id {chunk.document_id}", []).append(row)
        by_key.setdefault(f"title {chunk.title}", []).append(row)
    gold = []
    for question in questions:
        rows = [[row for row in by_key.get(f"id {one.id}" if one.id else f"title {one.title}", ())
                 if is_gold(one, retriever.index.chunks[row])] for one in question.gold]
        if not all(rows):
            raise SystemExit(f"{name}, question {question.id}: not all gold passages are in the knowledge base; the "
                             "questions of benchmarks/questions need one with MuSiQue's 1,890 passages: `banyan "
                             "import openie_musique_train_results_*.json --format hipporag --schema open`")
        gold.append(rows)
    return QuestionSet(name, questions, gold)


def rows(sweep: Sweep, only: str, console: Console) -> Iterator[tuple[str, str, list[np.ndarray], bool]]:
    """Yield what was varied, its value, the recalls, and True if it is the value in force."""
    tried = [(constant, value) for constant in CONSTANTS if only in constant.title
             for value in sorted({*constant.values, constant.in_force})]
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("varying", total=1 + len(tried))
        basis = sweep.recalls()
        yield "everything as it is", "", basis, True
        progress.advance(task)
        for constant, value in tried:
            same = value == constant.in_force
            with constant.set_to(value):
                found = basis if same else sweep.recalls()
            yield constant.title, f"{value:g}", found, same
            progress.advance(task)


def main() -> None:
    """Vary, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", default="musique", help="knowledge base in BANYAN_HOME")
    parser.add_argument("--data", type=Path, default=MUSIQUE, help="folder with MuSiQue-train-100")
    parser.add_argument("--questions", type=Path, nargs="+", help="other files, in the generic form")
    parser.add_argument("--only", default="", help="vary only what has this in its name")
    arguments = parser.parse_args()
    console = Console(width=150)
    with Resources(Settings(llm_base_url=None)) as resources:
        with resources.snapshot(arguments.kb) as snapshot:
            retriever = snapshot.retriever
        if arguments.questions:
            given = [(path.stem, load_questions(path, "generic")) for path in arguments.questions]
        else:
            corpus = passages(arguments.data)
            given = [(name, own_questions(name, corpus)) for name in ("multi_hop", "themes")]
            if shared_gold(given[0][1], musique_gold(arguments.data)):
                raise SystemExit("passages of multi_hop are gold for MuSiQue-train-100: nothing may be chosen on them")
        sweep = Sweep(resources, arguments.kb, [question_set(*one, retriever) for one in given])
        table = Table("", "", *(f"{one.name} @{'/'.join(map(str, _KS))}" for one in sweep.sets),
                      f"@5 of {sweep.sets[0].name}: change, 95 %")
        basis, last = None, ""
        for name, value, found, in_force in rows(sweep, arguments.only, console):
            basis = found if basis is None else basis
            change = 100 * (found[0] - basis[0])[:, _AT:_AT + 1]
            low, high = intervals(change)[0]
            table.add_row("" if name == last else name, f"{value}{' *' if in_force else ''}",
                          *(" / ".join(f"{100 * mean:.1f}" for mean in recall.mean(0)) for recall in found),
                          "" if in_force else f"{change.mean():+.1f} ({low:+.1f} to {high:+.1f})",
                          style="bold" if in_force else "")
            last = name
    console.print(table)


if __name__ == "__main__":
    main()
