"""AnonyRAG (Youtu-GraphRAG, appendix B): anonymised novels, ids to map back to names, and multiple choice.

The files are as published on Hugging Face (parquet with `question` and `answer`; a column of chunks), or saved as JSON.
"""

from pathlib import Path

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from ...datasets import DatasetError
from ..dataset_records import BenchDocument, BenchQuestion
from ..scoring import letters, options, pairs
from .dataset_files import FORMATS, models, the_file

_QUESTIONS = tuple(f"*{word}*{ending}" for word in ("qa", "question") for ending in FORMATS)
_TEXTS = tuple(f"*{word}*{ending}" for word in ("text", "chunk", "corpus") for ending in FORMATS)


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)


class _Chunk(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    title: str = ""
    text: str = Field(validation_alias=AliasChoices("text", "chunk", "content", "context"), min_length=1)


def read_questions(folder: Path) -> list[BenchQuestion]:
    """Read the questions: multiple choice if they have options, else Anonymity Reversion.

    Raises:
        DatasetError: the file is missing, or an answer is neither; the message names line and field.
    """
    path = the_file(folder, _QUESTIONS, "AnonyRAG's questions")
    questions = []
    for number, (where, row) in enumerate(models(path, _Row)):
        question = bench_question(str(number), row.question, row.answer)
        if question is None:
            raise DatasetError(f"{where}, answer: neither pairs of an id and a name, as in PERSON#532——Ishmael, nor "
                               f"the letter of an option of the question: {row.answer[:60]!r}")
        questions.append(question)
    return questions


def bench_question(number: str, question: str, answer: str) -> BenchQuestion | None:
    """Return a question with the kind of its gold answer; None if that is neither pairs nor an option."""
    if options(question) and letters(answer, question):
        kind, group = "choice", "multiple choice"
    elif pairs(answer):
        kind, group = "reversion", "anonymity reversion"
    else:
        return None
    return BenchQuestion.model_validate({"id": number, "question": question, "gold": (), "type": group, "kind": kind,
                                         "answers": (answer,)})


def read_documents(folder: Path) -> list[BenchDocument]:
    """Read the chunks, each as a document.

    Raises:
        DatasetError: the file is missing, or a row has no text; the message names line and field.
    """
    path = the_file(folder, _TEXTS, "AnonyRAG's texts", _QUESTIONS)
    return [BenchDocument(id=f"p{number}", title=chunk.title, text=chunk.text)
            for number, (_, chunk) in enumerate(models(path, _Chunk))]
