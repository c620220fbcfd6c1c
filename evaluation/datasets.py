"""Question files of the usual benchmarks as one type."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..schemas.documents import Chunk, Frozen
from ..schemas.errors import BanyanError
from ..schemas.formats.small_files import json_records, validate_record

_Item = TypeVar("_Item")
QuestionFormat = Literal["musique", "hotpotqa", "2wiki", "generic"]


class DatasetError(BanyanError):
    """A question file that cannot be used; the message names the place and the cause."""


class GoldPassage(Frozen):
    """What identifies a gold passage: a document id, or a title with or without text. Empty fields are not compared."""

    id: str = ""
    title: str = ""
    text: str = ""


class DatasetQuestion(Frozen):
    """A question with its gold passages and accepted answers.

    `steps` is the number of steps in the dataset's decomposition, and `type` its type of question, if it has them. An
    unanswerable question has neither answers nor gold passages.
    """

    id: str
    question: str
    gold: tuple[GoldPassage, ...]
    steps: int = 0
    type: str = ""
    answers: tuple[str, ...] = ()
    unanswerable: bool = False

    @property
    def group(self) -> str:
        """The group of the question in reports: its type, else its number of steps, else ""."""
        return self.type or (f"{self.steps} steps" if self.steps else "")


def load_questions(path: Path, form: QuestionFormat) -> list[DatasetQuestion]:
    """Read a question file, without the questions that have no gold passages (unanswerable ones).

    The file is a JSON array or JSON lines. Its form: "musique" (gold by title and text), "hotpotqa" and "2wiki" (gold
    by title: `evidence` or `supporting_facts`), or "generic" (`{id, question, gold: [document ids]}`, optionally with
    `type` and `decomposition`).

    Raises:
        DatasetError: the file is missing, has another form (the message names the record), or nothing to measure.
    """
    usable = [question for question in _read(path, form) if question.gold]
    if not usable:
        raise DatasetError(f"{path} has no question with gold passages: nothing can be measured")
    return usable


def load_answered_questions(path: Path, form: QuestionFormat) -> list[DatasetQuestion]:
    """Read a question file with its answers, including unanswerable questions.

    A question is unanswerable if its record says so (`unanswerable`; MuSiQue: `answerable`) or has no gold passages.
    Expected answers are `answers` (generic), or `answer` and `answer_aliases`.

    Raises:
        DatasetError: the file is missing or has another form (the message names the record), or it has no question.
    """
    questions: list[DatasetQuestion] = []
    for number, question in enumerate(_read(path, form)):
        if question.unanswerable or not question.gold:
            questions.append(question.model_copy(update={"gold": (), "answers": (), "unanswerable": True}))
        elif question.answers:
            questions.append(question)
        else:
            raise DatasetError(f"{path}, record {number}: the question has gold passages and no answer: give it "
                               "`answers`, or say `\"unanswerable\": true`")
    return questions


def pick_evenly(items: Sequence[_Item], limit: int | None) -> Sequence[_Item]:
    """Return `limit` items spread evenly from the first to the last, or all for None."""
    if limit is None or limit >= len(items):
        return items
    return [items[number * len(items) // limit] for number in range(limit)]


def _read(path: Path, form: QuestionFormat) -> list[DatasetQuestion]:
    if not path.is_file():
        raise DatasetError(f"there is no question file {path}: check its path")
    questions = [validate_record(f"{where}: not a {form} question", record, _FORMS[form], DatasetError).question_of()
                 for where, record in json_records(path, DatasetError)]
    if not questions:
        raise DatasetError(f"{path} has no question: a {form} file is a JSON array of records, or one on each line")
    return questions


class _Record(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    question: str
    type: str | None = None
    answers: list[str] | str | None = None
    answer: list[str] | str | None = None
    answer_aliases: list[str] = []
    unanswerable: bool = False
    answerable: bool = True

    def _question(self, name: str | None, gold: Iterable[GoldPassage], steps: Sequence[Any] = ()) -> DatasetQuestion:
        """Return the record as a question; answers may be in three fields, and empty or repeated ones are dropped."""
        expected = (self.answer if self.answers is None else self.answers) or []
        answers = [*([expected] if isinstance(expected, str) else expected), *self.answer_aliases]
        return DatasetQuestion(id=name or "", question=self.question, gold=tuple(dict.fromkeys(gold)),
                                steps=len(steps), type=self.type or "",
                                answers=tuple(dict.fromkeys(answer for answer in answers if answer.strip())),
                                unanswerable=self.unanswerable or not self.answerable)


class _Paragraph(BaseModel):
    title: str
    paragraph_text: str
    is_supporting: bool


class _Musique(_Record):
    id: str
    paragraphs: list[_Paragraph]
    question_decomposition: list[Any] = []

    def question_of(self) -> DatasetQuestion:
        gold = [GoldPassage(title=p.title, text=p.paragraph_text) for p in self.paragraphs if p.is_supporting]
        return self._question(self.id, gold, self.question_decomposition)


class _Titled(_Record):
    id: str | None = None
    own_id: str | None = Field(None, alias="_id")
    evidence: list[str] | None = None
    supporting_facts: list[tuple[str, Any]] | None = None
    evidences: list[Any] = []

    @model_validator(mode="after")
    def _has_gold(self) -> Self:
        if self.evidence is None and self.supporting_facts is None:
            raise ValueError("it has neither `evidence` nor `supporting_facts`")
        return self

    def question_of(self) -> DatasetQuestion:
        titles = self.evidence if self.evidence is not None else [title for title, _ in self.supporting_facts or ()]
        return self._question(self.id or self.own_id, [GoldPassage(title=title) for title in titles], self.evidences)


class _Generic(_Record):
    id: str
    gold: list[str]
    decomposition: list[Any] = []

    def question_of(self) -> DatasetQuestion:
        return self._question(self.id, [GoldPassage(id=document) for document in self.gold], self.decomposition)


_FORMS: dict[QuestionFormat, type[_Musique | _Titled | _Generic]] = {
    "musique": _Musique, "hotpotqa": _Titled, "2wiki": _Titled, "generic": _Generic}


def is_gold(gold: GoldPassage, chunk: Chunk) -> bool:
    """Return True if a chunk belongs to a gold passage."""
    return is_of_gold_passage(gold, chunk.document_id, chunk.title, chunk.text)


def is_of_gold_passage(gold: GoldPassage, document: str, title: str, text: str) -> bool:
    """Return True if a text of a document belongs to a gold passage.

    A gold passage with an id is the whole document. Otherwise the titles must be equal, and the text must be in the
    gold passage's text if it has one.
    """
    if gold.id:
        return document == gold.id
    return title == gold.title and (not gold.text or text in gold.text)
