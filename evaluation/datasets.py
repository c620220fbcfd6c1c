"""Question files of the usual benchmarks, in one form."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from ..schemas.documents import Chunk, Frozen
from ..schemas.errors import BanyanError
from ..schemas.formats.reading import json_lines, parse_json, read_text

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
    """A question with its gold passages and, where the dataset has them, its decomposition and type."""

    id: str
    question: str
    gold: tuple[GoldPassage, ...]
    steps: tuple[GoldStep, ...] = ()
    type: str = ""

    @property
    def group(self) -> str:
        """What it is counted under: its type, else the number of its steps, else nothing."""
        return self.type or (f"{len(self.steps)} steps" if self.steps else "")


class AnsweredQuestion(Question):
    """A question with the answers that are accepted; an unanswerable one has neither these nor gold."""

    answers: tuple[str, ...] = ()
    unanswerable: bool = False


def load_questions(path: Path, form: QuestionFormat) -> list[Question]:
    """Read a question file; questions without gold passages (unanswerable ones) are left out.

    Args:
        path: a JSON array, or JSON lines.
        form: "musique" (gold by title and text), "hotpotqa" and "2wiki" (by title: `evidence` or
            `supporting_facts`; the steps of 2wiki are its `evidences`), "generic" (`{id, question,
            gold: [document ids]}`, and if you like `type` and `decomposition: [{question, answer}]`).

    Raises:
        DatasetError: the file is missing or not of that form, and then names the record, or it has no
            question with gold passages.
    """
    questions = _read(path, form)
    usable = [question for question, _ in questions if question.gold]
    if not usable:
        raise DatasetError(f"{path} has no question with gold passages: nothing can be measured" if questions else
                           f"{path} has no question: a {form} file is a JSON array of records, or one on each line")
    return usable


def load_answered_questions(path: Path, form: QuestionFormat) -> list[AnsweredQuestion]:
    """Read a question file with its answers, unanswerable questions included.

    A question is unanswerable where its record says so (`unanswerable`; MuSiQue: `answerable`) or
    has no gold passages.

    Args:
        path: a JSON array, or JSON lines.
        form: as for `load_questions`; expected answers are `answers` (generic), or `answer` and
            `answer_aliases`.

    Raises:
        DatasetError: the file is missing or not of that form, and then names the record, or it has no
            question.
    """
    usable: list[AnsweredQuestion] = []
    for number, (question, record) in enumerate(_read(path, form)):
        unanswerable = bool(record.get("unanswerable")) or record.get("answerable") is False or not question.gold
        answers = () if unanswerable else _answers(record)
        if not answers and not unanswerable:
            raise DatasetError(f"{path}, record {number}: the question has gold passages and no answer: give it "
                               "`answers`, or say `\"unanswerable\": true`")
        usable.append(AnsweredQuestion(id=question.id, question=question.question, steps=question.steps,
                                      type=question.type, gold=() if unanswerable else question.gold,
                                      answers=answers, unanswerable=unanswerable))
    if not usable:
        raise DatasetError(f"{path} has no question: a {form} file is a JSON array of records, or one on each line")
    return usable


def _answers(record: dict[str, Any]) -> tuple[str, ...]:
    given = record.get("answers", record.get("answer", ()))
    listed = [given] if isinstance(given, str | int | float) else list(given)
    return tuple(dict.fromkeys(str(item) for item in [*listed, *record.get("answer_aliases", ())] if str(item).strip()))


def _read(path: Path, form: QuestionFormat) -> list[tuple[Question, dict[str, Any]]]:
    """Every record as a question, beside what stands in the file."""
    if not path.is_file():
        raise DatasetError(f"there is no question file {path}")
    readers: dict[QuestionFormat, Callable[[dict[str, Any]], Question]] = {
        "musique": _musique, "hotpotqa": _titled, "2wiki": _titled, "generic": _generic}
    questions: list[tuple[Question, dict[str, Any]]] = []
    for number, record in enumerate(_records(path)):
        try:
            questions.append((readers[form](record), record))
        except (KeyError, TypeError, ValueError) as error:
            raise DatasetError(f"{path}, record {number}: not a {form} question: {error!r}") from error
    return questions


def _records(path: Path) -> list[dict[str, Any]]:
    text = read_text(path, DatasetError)
    if not text.lstrip().startswith("["):
        return [record for _, record in json_lines(path, DatasetError)]
    try:
        return list(parse_json(text))
    except json.JSONDecodeError as error:
        raise DatasetError(f"{path}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from error
    except ValueError as error:  # a number of thousands of digits, or nested too deeply
        raise DatasetError(f"{path}: not usable JSON: {error}") from error


def _musique(record: dict[str, Any]) -> Question:
    return Question(
        id=str(record["id"]), question=record["question"],
        gold=tuple(GoldPassage(title=p["title"], text=p["paragraph_text"])
                   for p in record["paragraphs"] if p["is_supporting"]),
        steps=_steps(record.get("question_decomposition", ())))


def _titled(record: dict[str, Any]) -> Question:
    titles = record["evidence"] if "evidence" in record else [title for title, _ in record["supporting_facts"]]
    return Question(id=str(record.get("id", record.get("_id", ""))), question=record["question"],
                    gold=tuple(GoldPassage(title=title) for title in dict.fromkeys(titles)), type=_type(record),
                    steps=tuple(GoldStep(question=f"{head} {relation}", answer=str(tail))
                                for head, relation, tail in record.get("evidences", ())))


def _generic(record: dict[str, Any]) -> Question:
    return Question(id=str(record["id"]), question=record["question"],
                    gold=tuple(GoldPassage(id=item) for item in dict.fromkeys(record["gold"])),
                    steps=_steps(record.get("decomposition", ())), type=_type(record))


def _type(record: dict[str, Any]) -> str:
    return str(record.get("type") or "")


def _steps(steps: Sequence[dict[str, Any]]) -> tuple[GoldStep, ...]:
    return tuple(GoldStep(question=step["question"], answer=str(step["answer"])) for step in steps)


def is_gold(gold: GoldPassage, chunk: Chunk) -> bool:
    """Whether a chunk belongs to a gold passage."""
    if gold.id:
        return chunk.document_id == gold.id
    return chunk.title == gold.title and (not gold.text or chunk.text in gold.text)
