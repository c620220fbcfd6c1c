"""GraphRAG-Bench (Xiao et al. 2025, arXiv 2506.02404): questions as JSON lines by type, over textbooks as Markdown."""

import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from ....schemas.formats.small_files import read_text
from ...datasets import DatasetError
from ..dataset_records import BenchDocument, BenchQuestion, Kind
from .dataset_files import any_files, models

_HEADING = re.compile(r"^#+ +(\S.*)$", re.MULTILINE)
_KINDS: tuple[tuple[str, Kind], ...] = (
    (r"fb|fill", "fill_in"), (r"ms|select", "choices"), (r"mc|choice", "choice"), (r"tf|true", "true_false"),
    (r"oe|open", "open"))
"""The kinds by the beginning of a file's name or a part of it; the published names are FB, MC, MS, TF and OE."""


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    question: str = Field(alias="Question", min_length=1)
    answer: str | list[str] | bool = Field(alias="Answer")
    topic: str = Field("", alias="Level-1 Topic")


def read_questions(folder: Path) -> list[BenchQuestion]:
    """Read the questions of all files, grouped by their type.

    Raises:
        DatasetError: a file's name has no type, or a line lacks a field; the message names the line.
    """
    questions: list[BenchQuestion] = []
    for path in any_files(folder, ("*.jsonl",)):
        kind = _kind(path)
        for number, (_, row) in enumerate(models(path, _Row)):
            given = row.answer if isinstance(row.answer, list) else [str(row.answer)]
            # The letters of several options are one answer.
            answers = ("".join(given),) if kind == "choices" else tuple(given)
            questions.append(BenchQuestion(id=f"{path.stem}-{number}", question=row.question, gold=(), kind=kind,
                                           type=kind.replace("_", " "), answers=answers))
    return questions


def read_documents(folder: Path) -> list[BenchDocument]:
    """Read the textbooks, one document for each file."""
    texts = {path.relative_to(folder).as_posix(): read_text(path, DatasetError)
             for path in any_files(folder, ("*.md", "*.txt"), ("readme*", "license*", "source*"))}
    return [BenchDocument(id=name, title=_title(name, text), text=text) for name, text in texts.items() if text.strip()]


def _kind(path: Path) -> Kind:
    name = path.stem.lower()
    for pattern, kind in _KINDS:
        short, long = pattern.split("|")
        if re.match(rf"{short}(?![a-z])", name) or long in name:
            return kind
    raise DatasetError(f"{path}: its name has no type of question: name it FB, MC, MS, TF or OE")


def _title(name: str, text: str) -> str:
    heading = _HEADING.search(text)
    return heading[1].strip() if heading else Path(name).stem
