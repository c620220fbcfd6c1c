"""GraphRAG-Bench (Xiang et al. 2025, arXiv 2506.05690): questions of four kinds over one long text of a domain.

Not to be confused with the benchmark of the same name in `g_bench`.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from ..dataset_records import BenchDocument, BenchQuestion
from .dataset_files import FORMATS, models, the_file

_FILES = tuple(f"*{ending}" for ending in FORMATS)
_QUESTIONS = tuple(f"*question*{ending}" for ending in FORMATS)


class _Question(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    answer: str
    question_type: str = ""


class _Text(BaseModel):
    model_config = ConfigDict(extra="ignore")

    corpus_name: str = Field(min_length=1)
    context: str


def read_questions(folder: Path) -> list[BenchQuestion]:
    """Read the questions of all four kinds; a judge scores their answers.

    Raises:
        DatasetError: the file is missing, or a question lacks a field; the message names its position and the field.
    """
    path = the_file(folder, _QUESTIONS, "questions")
    return [BenchQuestion(id=row.id, question=row.question, gold=(), kind="open", type=row.question_type.lower(),
                          answers=(row.answer,)) for _, row in models(path, _Question)]


def read_documents(folder: Path) -> list[BenchDocument]:
    """Read the texts, one document each.

    Raises:
        DatasetError: the file is missing, or a text lacks a field; the message names its position and the field.
    """
    path = the_file(folder, _FILES, "the text", without=_QUESTIONS)
    return [BenchDocument(id=row.corpus_name, title=row.corpus_name, text=row.context)
            for _, row in models(path, _Text) if row.context.strip()]
