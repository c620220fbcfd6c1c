"""Question files of the usual benchmarks, in one form."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from ..schemas.documents import Chunk, Frozen
from ..schemas.errors import BanyanError

QuestionFormat = Literal["musique", "hotpotqa", "2wiki", "generic"]


class DatasetError(BanyanError):
    """A question file that cannot be used; says where and why."""


class GoldPassage(Frozen):
    """What identifies a gold passage; empty fields are not compared."""

    id: str = ""
    title: str = ""
    text: str = ""


class GoldStep(Frozen):
    """A step of the dataset's own decomposition; `#1` stands for the first answer."""

    question: str
    answer: str


class Question(Frozen):
    """A question with its gold passages and, where the dataset has one, its decomposition."""

    id: str
    question: str
    gold: tuple[GoldPassage, ...]
    steps: tuple[GoldStep, ...] = ()


def load_questions(path: Path, form: QuestionFormat) -> list[Question]:
    """Read a question file; questions without gold passages (unanswerable ones) are left out.

    Args:
        path: a JSON array, or JSON lines.
        form: "musique" (gold by title and text), "hotpotqa" and "2wiki" (by title: `evidence` or
            `supporting_facts`), "generic" (`{id, question, gold: [document ids]}`).

    Raises:
        DatasetError: the file is missing or not of that form; names the record.
    """
    if not path.is_file():
        raise DatasetError(f"there is no question file {path}")
    readers: dict[QuestionFormat, Callable[[dict[str, Any]], Question]] = {
        "musique": _musique, "hotpotqa": _titled, "2wiki": _titled, "generic": _generic}
    questions: list[Question] = []
    for number, record in enumerate(_records(path)):
        try:
            questions.append(readers[form](record))
        except (KeyError, TypeError, ValueError) as error:
            raise DatasetError(f"{path}, record {number}: not a {form} question: {error!r}") from error
    return [question for question in questions if question.gold]


def _records(path: Path) -> list[dict[str, Any]]:
    number = 1
    try:
        text = path.read_text("utf-8-sig")
        if text.lstrip().startswith("["):
            return list(json.loads(text))
        records = []
        # Not splitlines: within a JSON string some line separators stand as they are.
        for number, line in enumerate(text.split("\n"), 1):  # noqa: B007
            if line.strip():
                records.append(json.loads(line))
    except json.JSONDecodeError as error:
        raise DatasetError(f"{path} is neither a JSON array nor JSON lines: line {number + error.lineno - 1}: "
                           f"{error.msg}") from error
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path} is not UTF-8 text: {error}") from error
    return records


def _musique(record: dict[str, Any]) -> Question:
    return Question(
        id=str(record["id"]), question=record["question"],
        gold=tuple(GoldPassage(title=p["title"], text=p["paragraph_text"])
                   for p in record["paragraphs"] if p["is_supporting"]),
        steps=_steps(record.get("question_decomposition", ())))


def _titled(record: dict[str, Any]) -> Question:
    titles = record["evidence"] if "evidence" in record else [title for title, _ in record["supporting_facts"]]
    return Question(id=str(record.get("id", record.get("_id", ""))), question=record["question"],
                    gold=tuple(GoldPassage(title=title) for title in dict.fromkeys(titles)))


def _generic(record: dict[str, Any]) -> Question:
    return Question(id=str(record["id"]), question=record["question"],
                    gold=tuple(GoldPassage(id=one) for one in dict.fromkeys(record["gold"])),
                    steps=_steps(record.get("decomposition", ())))


def _steps(steps: Sequence[dict[str, Any]]) -> tuple[GoldStep, ...]:
    return tuple(GoldStep(question=step["question"], answer=str(step["answer"])) for step in steps)


def is_gold(gold: GoldPassage, chunk: Chunk) -> bool:
    """Whether a chunk belongs to a gold passage."""
    if gold.id:
        return chunk.document_id == gold.id
    return chunk.title == gold.title and (not gold.text or chunk.text in gold.text)
