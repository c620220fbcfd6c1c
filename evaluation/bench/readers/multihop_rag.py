"""MultiHop-RAG (Tang and Yang 2024, arXiv 2401.15391): news articles, and questions with their supporting facts."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from ...datasets import GoldPassage
from ..dataset_records import BenchDocument, BenchQuestion
from .dataset_files import models, the_file

_NULL = "null"


class _Article(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

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


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    query: str = Field(min_length=1)
    answer: str
    question_type: str
    evidence_list: list[_Evidence]


def read_questions(folder: Path) -> list[BenchQuestion]:
    """Read the questions. Those of type `null_query` have no facts, and the right answer is to decline.

    Raises:
        DatasetError: the file is missing, or a row lacks a field; the message names line and field.
    """
    path = the_file(folder, ("multihop*.json*", "questions.json*"), "MultiHop-RAG's questions")
    questions = []
    for number, (_, row) in enumerate(models(path, _Row)):
        kind = row.question_type.removesuffix("_query")
        gold = tuple(dict.fromkeys(GoldPassage(title=one.title) for one in row.evidence_list if one.title))
        null = kind == _NULL
        questions.append(BenchQuestion(
            id=str(number), question=row.query, type=kind, gold=() if null else gold, unanswerable=null,
            answers=() if null else (row.answer,), facts=tuple(dict.fromkeys(one.fact for one in row.evidence_list))))
    return questions


def read_documents(folder: Path) -> list[BenchDocument]:
    """Read the articles, with source, date and author as metadata, which questions ask about.

    Raises:
        DatasetError: the file is missing, or an article lacks a field; the message names line and field.
    """
    path = the_file(folder, ("corpus.json*",), "MultiHop-RAG's articles")
    documents = []
    for number, (_, article) in enumerate(models(path, _Article)):
        fields = article.model_dump(include={"source", "published_at", "author", "category", "url"}, exclude_none=True)
        documents.append(BenchDocument(id=f"p{number}", title=article.title, text=article.body,
                                       metadata={name: value for name, value in fields.items() if value.strip()}))
    return documents
