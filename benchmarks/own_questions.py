"""Our own questions, on which constants are chosen (benchmarks/questions), with their gold passages.

Run `python benchmarks/own_questions.py` to check that they are independent of MuSiQue's: no passage that our
multi-hop questions need may be gold for a question that results are reported on.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from banyan.evaluation.recall import DatasetQuestion, GoldPassage, load_questions
from rich.console import Console
from rich.table import Table

FOLDER = Path(__file__).parent / "questions"
MUSIQUE = Path(__file__).parents[1].parent / "shared" / "data" / "musique_train100"
"""The folder of the passages, which are not part of the project."""
_CORPUS, _QUESTIONS = "musique_train_corpus.json", "musique_train.json"

Passage = tuple[str, str]
"""Title and text."""


def passages(folder: Path) -> list[Passage]:
    """Read the passages that the questions are about, in the order of their numbers.

    Raises:
        SystemExit: the file is missing.
    """
    path = folder / _CORPUS
    if not path.is_file():
        raise SystemExit(f"there is no {path}: the questions are about MuSiQue's passages, which are not part of the "
                         f"project; name the folder that holds {_CORPUS} with --data")
    return [(record["title"], record["text"]) for record in _read(path)]


def own_questions(name: str, corpus: Sequence[Passage]) -> list[DatasetQuestion]:
    """Load a file of `benchmarks/questions`, with gold passages by title and text."""
    return [question.model_copy(update={"gold": tuple(
        GoldPassage(title=corpus[int(gold.id)][0], text=corpus[int(gold.id)][1]) for gold in question.gold)})
        for question in load_questions(FOLDER / f"{name}.jsonl", "generic")]


def musique_gold(folder: Path) -> set[Passage]:
    """Read the passages that are gold for MuSiQue's own questions.

    Raises:
        SystemExit: the file is missing.
    """
    path = folder / _QUESTIONS
    if not path.is_file():
        raise SystemExit(f"there is no {path}: without it our questions cannot be checked against it")
    return {(passage["title"], passage["paragraph_text"]) for question in _read(path)
            for passage in question["paragraphs"] if passage["is_supporting"]}


def shared_gold(questions: Sequence[DatasetQuestion], gold: set[Passage]) -> list[Passage]:
    """Return the gold passages of questions that are in `gold`, once for each question."""
    return [(passage.title, passage.text) for question in questions for passage in question.gold
            if (passage.title, passage.text) in gold]


def _read(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return found


def main() -> None:
    """Print how many gold passages are shared with MuSiQue; exit with an error if multi-hop questions share any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=MUSIQUE, help="folder with MuSiQue-train-100")
    folder = parser.parse_args().data
    corpus, gold = passages(folder), musique_gold(folder)
    table = Table("", "questions", "gold passages", "of each", "gold for MuSiQue as well")
    for name in ("multi_hop", "themes"):
        questions = own_questions(name, corpus)
        count, shared = sum(len(question.gold) for question in questions), shared_gold(questions, gold)
        table.add_row(name, str(len(questions)), str(count), f"{count / len(questions):.1f}", str(len(shared)))
        if name == "multi_hop" and shared:
            raise SystemExit(f"passages of multi_hop are gold for MuSiQue-train-100: {shared}")
    Console().print(table)


if __name__ == "__main__":
    main()
