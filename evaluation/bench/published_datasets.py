"""The published datasets, each by its name from its folder, in the common form of `dataset_records`.

GraphRAG-Bench is the name of two benchmarks: `gbench` is that of Xiao et al. 2025 (arXiv 2506.02404), questions by type
over textbooks; `graphrag-bench` is that of Xiang et al. 2025 (arXiv 2506.05690), questions of four kinds over one long
text of a domain. `multihop-rag` (Tang and Yang 2024, arXiv 2401.15391) has news articles, and questions with their
supporting facts. `anonyrag` (Youtu-GraphRAG, appendix B) has anonymised novels, ids to map back to names, and multiple
choice; its files are as published on Hugging Face (parquet with `question` and `answer`; a column of chunks), or saved
as JSON. The others are in `multi_hop`.

Each reader raises DatasetError if a file is missing, or if a row lacks a field; the message names line and field.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import cast

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from ...schemas.formats.small_files import read_text
from ..datasets import DatasetError, GoldPassage, QuestionFormat, spread
from . import multi_hop
from .dataset_files import FORMATS, any_files, models, the_file
from .dataset_records import BenchDocument, BenchQuestion, Dataset, DatasetName, Kind
from .scoring import letters, options, pairs

_HEADING = re.compile(r"^#+ +(\S.*)$", re.MULTILINE)
_KINDS: tuple[tuple[str, Kind], ...] = (
    (r"fb|fill", "fill_in"), (r"ms|select", "choices"), (r"mc|choice", "choice"), (r"tf|true", "true_false"),
    (r"oe|open", "open"))
"""The kinds by the beginning of a file's name or a part of it; the published names are FB, MC, MS, TF and OE."""
_FILES = tuple(f"*{ending}" for ending in FORMATS)
_QUESTIONS = tuple(f"*question*{ending}" for ending in FORMATS)
_ANONYMOUS_QUESTIONS = tuple(f"*{word}*{ending}" for word in ("qa", "question") for ending in FORMATS)
_ANONYMOUS_TEXTS = tuple(f"*{word}*{ending}" for word in ("text", "chunk", "corpus") for ending in FORMATS)
_NULL = "null"
"""The type of questions without an answer in the documents."""


def load_dataset(name: DatasetName, folder: Path, limit: int | None = None) -> Dataset:
    """Read a dataset.

    Args:
        name: the dataset.
        folder: where its files are, as published.
        limit: ask only this many questions, spread evenly; the corpus stays whole, except contexts within questions.

    Raises:
        DatasetError: a file is missing, empty or malformed; the message names line and field.
    """
    if name in _READERS:
        read_questions, read_documents = _READERS[name]
        questions, documents = spread(read_questions(folder), limit), read_documents(folder)
    else:
        form = cast("QuestionFormat", name)
        questions = spread(multi_hop.read_questions(folder, form), limit)
        documents = multi_hop.read_documents(folder, form, questions)
    for what, records in (("questions", questions), ("documents with text", documents)):
        if not records:
            raise DatasetError(f"the files of {name} in {folder} have no {what}: nothing can be measured")
    return Dataset(name=name, questions=tuple(questions), documents=tuple(documents))


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)


class _TypedQuestion(_Row):
    question: str = Field(alias="Question", min_length=1)
    answer: str | list[str] | bool = Field(alias="Answer")
    topic: str = Field("", alias="Level-1 Topic")


def _questions_by_type(folder: Path) -> list[BenchQuestion]:
    """Read the questions of all files, grouped by their type."""
    questions: list[BenchQuestion] = []
    for path in any_files(folder, ("*.jsonl",)):
        kind = _kind(path)
        for number, (_, row) in enumerate(models(path, _TypedQuestion)):
            written = row.answer if isinstance(row.answer, list) else [str(row.answer)]
            # The letters of several options are one answer.
            answers = ("".join(written),) if kind == "choices" else tuple(written)
            questions.append(BenchQuestion(id=f"{path.stem}-{number}", question=row.question, gold=(), kind=kind,
                                           type=kind.replace("_", " "), answers=answers))
    return questions


def _textbooks(folder: Path) -> list[BenchDocument]:
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


class _OpenQuestion(_Row):
    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    answer: str
    question_type: str = ""


class _Text(BaseModel):
    model_config = ConfigDict(extra="ignore")

    corpus_name: str = Field(min_length=1)
    context: str


def _open_questions(folder: Path) -> list[BenchQuestion]:
    """Read the questions of all four kinds; a judge scores their answers."""
    path = the_file(folder, _QUESTIONS, "questions")
    return [BenchQuestion(id=row.id, question=row.question, gold=(), kind="open", type=row.question_type.lower(),
                          answers=(row.answer,)) for _, row in models(path, _OpenQuestion)]


def _long_texts(folder: Path) -> list[BenchDocument]:
    """Read the texts, one document each."""
    path = the_file(folder, _FILES, "the text", without=_QUESTIONS)
    return [BenchDocument(id=row.corpus_name, title=row.corpus_name, text=row.context)
            for _, row in models(path, _Text) if row.context.strip()]


class _AnonymousQuestion(_Row):
    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)


class _Chunk(_Row):
    title: str = ""
    text: str = Field(validation_alias=AliasChoices("text", "chunk", "content", "context"), min_length=1)


def _anonymous_questions(folder: Path) -> list[BenchQuestion]:
    """Read the questions: multiple choice if they have options, else Anonymity Reversion."""
    path = the_file(folder, _ANONYMOUS_QUESTIONS, "AnonyRAG's questions")
    questions = []
    for number, (where, row) in enumerate(models(path, _AnonymousQuestion)):
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


def _anonymous_chunks(folder: Path) -> list[BenchDocument]:
    """Read the chunks, each as a document."""
    path = the_file(folder, _ANONYMOUS_TEXTS, "AnonyRAG's texts", _ANONYMOUS_QUESTIONS)
    return [BenchDocument(id=f"p{number}", title=chunk.title, text=chunk.text)
            for number, (_, chunk) in enumerate(models(path, _Chunk))]


class _Article(_Row):
    title: str
    body: str
    source: str | None = None
    published_at: str | None = None
    author: str | None = None
    category: str | None = None
    url: str | None = None


class _Evidence(BaseModel):
    model_config = ConfigDict(extra="ignore")

    fact: str = Field(min_length=1)
    title: str = ""


class _QuestionWithFacts(_Row):
    query: str = Field(min_length=1)
    answer: str
    question_type: str
    evidence_list: list[_Evidence]


def _questions_with_facts(folder: Path) -> list[BenchQuestion]:
    """Read the questions. Those of type `null_query` have no facts, and the right answer is to decline."""
    path = the_file(folder, ("multihop*.json*", "questions.json*"), "MultiHop-RAG's questions")
    questions = []
    for number, (_, row) in enumerate(models(path, _QuestionWithFacts)):
        kind = row.question_type.removesuffix("_query")
        gold = tuple(dict.fromkeys(GoldPassage(title=one.title) for one in row.evidence_list if one.title))
        null = kind == _NULL
        questions.append(BenchQuestion(
            id=str(number), question=row.query, type=kind, gold=() if null else gold, unanswerable=null,
            answers=() if null else (row.answer,), facts=tuple(dict.fromkeys(one.fact for one in row.evidence_list))))
    return questions


def _articles(folder: Path) -> list[BenchDocument]:
    """Read the articles, with source, date and author as metadata, which questions ask about."""
    path = the_file(folder, ("corpus.json*",), "MultiHop-RAG's articles")
    documents = []
    for number, (_, article) in enumerate(models(path, _Article)):
        fields = article.model_dump(include={"source", "published_at", "author", "category", "url"}, exclude_none=True)
        documents.append(BenchDocument(id=f"p{number}", title=article.title, text=article.body,
                                       metadata={name: value for name, value in fields.items() if value.strip()}))
    return documents


_READERS: dict[DatasetName, tuple[Callable[[Path], list[BenchQuestion]], Callable[[Path], list[BenchDocument]]]] = {
    "gbench": (_questions_by_type, _textbooks),
    "graphrag-bench": (_open_questions, _long_texts),
    "anonyrag": (_anonymous_questions, _anonymous_chunks),
    "multihop-rag": (_questions_with_facts, _articles)}
"""What reads the questions and the documents of each dataset."""
