"""HotpotQA, 2WikiMultiHopQA and MuSiQue, in HippoRAG's form (questions and a corpus) or their own (contexts inside).

It also reads the generic form: `questions.jsonl` (`id`, `question`, `answers`, `gold`, optionally `type`,
`unanswerable`, `kind`) and `corpus.jsonl` (`id`, `title`, `text`).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from ...schemas.formats.small_files import parse_json, read_text, validate_record
from ..datasets import DatasetError, DatasetQuestion, QuestionFormat, load_answered_questions
from .dataset_files import any_files, models, rows, the_file
from .dataset_records import BenchDocument, BenchQuestion, Kind

_NAMES: dict[QuestionFormat, tuple[str, ...]] = {
    "hotpotqa": ("hotpot*.json*",), "2wiki": ("2wiki*.json*", "dev.json*", "train.json*", "test.json*"),
    "musique": ("musique*.json*",), "generic": ("questions.json*",)}
_CORPUS = ("*corpus*.json*",)
_OTHERS = (*_CORPUS, "openie*")


class _Passage(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    id: str = ""
    title: str
    text: str


class _Kind(BaseModel):
    kind: Kind = "short"


def read_questions(folder: Path, form: QuestionFormat) -> list[BenchQuestion]:
    """Read the questions of a folder.

    Raises:
        DatasetError: the file is missing, or has another form; the message names line and field.
    """
    path = the_file(folder, _NAMES[form], f"{form}'s questions", _OTHERS)
    questions = load_answered_questions(path, form)
    kinds: list[Kind] = ["short"] * len(questions)
    if form == "generic":
        kinds = [validate_record(where, {key: row[key] for key in ("kind",) if key in row}, _Kind, DatasetError).kind
                 for where, row in rows(path)]
    counted = Counter[str]()
    numbered = []
    for question, kind in zip(questions, kinds, strict=True):
        counted[question.id] += 1
        again = counted[question.id] > 1 or not question.id  # results need a unique id
        name = f"{question.id}#{counted[question.id]}" if again else question.id
        numbered.append(BenchQuestion(**dict(question) | {"id": name}, kind=kind))
    return numbered


def read_documents(folder: Path, form: QuestionFormat, asked: Sequence[DatasetQuestion]) -> list[BenchDocument]:
    """Read the corpus, or without a corpus file the contexts of the asked questions, as HippoRAG built its corpora.

    Raises:
        DatasetError: there is neither, or it has another form; the message names line and field.
    """
    if any_files(folder, _CORPUS, ("openie*",)):
        passages = list(_corpus(the_file(folder, _CORPUS, "the corpus", ("openie*",))))
    else:
        path = the_file(folder, _NAMES[form], f"{form}'s questions", _OTHERS)
        texts = {question.question for question in asked}
        passages = [passage for where, row in rows(path) if row["question"] in texts
                    for passage in _contexts(where, row)]
    unlike = {(passage.id, passage.title, passage.text): passage for passage in passages if passage.text.strip()}
    return [BenchDocument(id=passage.id or f"p{number}", title=passage.title, text=passage.text)
            for number, passage in enumerate(unlike.values())]


def _corpus(path: Path) -> Iterator[_Passage]:
    """Yield the passages of a list, or of HotpotQA's titles with their sentences."""
    text = read_text(path, DatasetError)
    if path.suffix == ".json" and text.lstrip().startswith("{"):
        try:
            titles = parse_json(text)
        except ValueError as error:
            raise DatasetError(f"{path}: not usable JSON: {error}") from error
        for title, sentences in titles.items():
            yield _passage(f"{path}: {title!r}", title, sentences)
    else:
        yield from (passage for _, passage in models(path, _Passage))


def _contexts(where: str, row: dict[str, Any]) -> Iterator[_Passage]:
    """Yield the passages inside a question: MuSiQue's `paragraphs`, or HotpotQA's and 2Wiki's `context`."""
    if "paragraphs" in row:
        for paragraph in row["paragraphs"]:
            yield _passage(where, paragraph["title"], paragraph["paragraph_text"])
        return
    context = row.get("context")
    if isinstance(context, dict):  # columns, as on Hugging Face
        context = list(zip(context.get("title", ()), context.get("sentences", ()), strict=False))
    if not isinstance(context, list) or not all(isinstance(one, list | tuple) and len(one) == 2 for one in context):  # noqa: PLR2004
        raise DatasetError(f"{where}, context: a list of [title, sentences] is needed where there is no corpus file")
    for title, sentences in context:
        yield _passage(where, title, sentences)


def _passage(where: str, title: Any, text: Any) -> _Passage:
    # Sentences contain their own spaces, in HotpotQA's and (except the first) in 2Wiki's files.
    joined = "".join(text) if isinstance(text, list) and all(isinstance(one, str) for one in text) else text
    return validate_record(where, {"title": title, "text": joined}, _Passage, DatasetError)
