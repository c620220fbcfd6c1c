"""Read the published datasets from folders into the common form of `dataset_files`.

GraphRAG-Bench is the name of two benchmarks: `gbench` is that of Xiao et al. 2025 (arXiv 2506.02404), questions by type
over textbooks; `graphrag-bench` is that of Xiang et al. 2025 (arXiv 2506.05690), questions of four kinds over one long
text of a domain. `multihop-rag` (Tang and Yang 2024, arXiv 2401.15391) has news articles, and questions with their
supporting facts. `anonyrag` (Youtu-GraphRAG, appendix B) has anonymised novels, ids to map back to names, and multiple
choice; its files are as published on Hugging Face (parquet with `question` and `answer`; a column of chunks), or saved
as JSON. HotpotQA, 2WikiMultiHopQA and MuSiQue are read in HippoRAG's form (questions and a corpus) or their own
(contexts inside). `generic` is `questions.jsonl` (`id`, `question`, `answers`, `gold`, optionally `type`,
`unanswerable`, `kind`) and `corpus.jsonl` (`id`, `title`, `text`).

Each reader raises DatasetError if a file is missing, or if a row lacks a field; the message names line and field.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from banyan.evaluation.recall import (
    DatasetError,
    DatasetQuestion,
    GoldPassage,
    QuestionFormat,
    load_answered_questions,
    pick_evenly,
)
from banyan.schemas.formats.small_files import parse_json, read_text, validate_record
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from .dataset_files import (
    FORMATS,
    BenchDocument,
    BenchQuestion,
    Dataset,
    DatasetName,
    Kind,
    any_files,
    models,
    rows,
    the_file,
)
from .scoring import letters, options, pairs

_HEADING = re.compile(r"^#+ +(\S.*)$", re.MULTILINE)
_KINDS: tuple[tuple[str, str, Kind], ...] = (
    ("fb", "fill", "fill_in"), ("ms", "select", "choices"), ("mc", "choice", "choice"), ("tf", "true", "true_false"),
    ("oe", "open", "open"))
"""How the name of a file of questions begins, or else what it contains, and the kind of its questions. The published
names are FB, MC, MS, TF and OE."""
_FILES = tuple(f"*{ending}" for ending in FORMATS)
_QUESTIONS = tuple(f"*question*{ending}" for ending in FORMATS)
_ANONYMOUS_QUESTIONS = tuple(f"*{word}*{ending}" for word in ("qa", "question") for ending in FORMATS)
_ANONYMOUS_TEXTS = tuple(f"*{word}*{ending}" for word in ("text", "chunk", "corpus") for ending in FORMATS)
_NULL = "null"
"""The type of questions without an answer in the documents."""
_NAMES: dict[QuestionFormat, tuple[str, ...]] = {
    "hotpotqa": ("hotpot*.json*",), "2wiki": ("2wiki*.json*", "dev.json*", "train.json*", "test.json*"),
    "musique": ("musique*.json*",), "generic": ("questions.json*",)}
_CORPUS = ("*corpus*.json*",)
_NO_QUESTIONS = (*_CORPUS, "openie*")


def load_dataset(name: DatasetName, folder: Path, limit: int | None = None) -> Dataset:
    """Read a dataset.

    Args:
        name: the dataset.
        folder: where its files are, as published.
        limit: ask only this many questions, spread evenly. All documents are read, unless they are contexts within the
            questions; then only those of the chosen questions are.

    Raises:
        DatasetError: a file is missing, empty or malformed; the message names line and field.
    """
    if name in _READERS:
        read_questions, read_documents = _READERS[name]
        questions, documents = pick_evenly(read_questions(folder), limit), read_documents(folder)
    else:
        form = cast("QuestionFormat", name)
        questions = pick_evenly(_multi_hop_questions(folder, form), limit)
        documents = _multi_hop_documents(folder, form, questions)
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
    """Read the questions of `gbench`: each file has the questions of one kind."""
    questions: list[BenchQuestion] = []
    for path in any_files(folder, ("*.jsonl",)):
        kind = _kind(path)
        for number, (_, row) in enumerate(models(path, _TypedQuestion)):
            listed = row.answer if isinstance(row.answer, list) else [str(row.answer)]
            # The letters of a question with several right options are one answer; otherwise each is accepted.
            answers = ("".join(listed),) if kind == "choices" else tuple(listed)
            questions.append(BenchQuestion(id=f"{path.stem}-{number}", question=row.question, gold=(), kind=kind,
                                           type=kind.replace("_", " "), answers=answers))
    return questions


def _textbooks(folder: Path) -> list[BenchDocument]:
    """Read the textbooks of `gbench`, one document for each file."""
    texts = {path.relative_to(folder).as_posix(): read_text(path, DatasetError)
             for path in any_files(folder, ("*.md", "*.txt"), ("readme*", "license*", "source*"))}
    return [BenchDocument(id=name, title=_title(name, text), text=text) for name, text in texts.items() if text.strip()]


def _kind(path: Path) -> Kind:
    """Return the kind of the questions in a file, by the file's name."""
    name = path.stem.lower()
    for short, long, kind in _KINDS:
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


class _Text(_Row):
    corpus_name: str = Field(min_length=1)
    context: str


def _open_questions(folder: Path) -> list[BenchQuestion]:
    """Read the questions of `graphrag-bench`; all are open, so a judge scores the answers."""
    path = the_file(folder, _QUESTIONS, "questions")
    return [BenchQuestion(id=row.id, question=row.question, gold=(), kind="open", type=row.question_type.lower(),
                          answers=(row.answer,)) for _, row in models(path, _OpenQuestion)]


def _long_texts(folder: Path) -> list[BenchDocument]:
    """Read the texts of `graphrag-bench`, one document each."""
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
    """Read the questions of `anonyrag`: multiple choice if they have options, else Anonymity Reversion."""
    path = the_file(folder, _ANONYMOUS_QUESTIONS, "AnonyRAG's questions")
    questions = []
    for number, (where, row) in enumerate(models(path, _AnonymousQuestion)):
        is_choice = bool(options(row.question) and letters(row.answer, row.question))
        if not is_choice and not pairs(row.answer):
            raise DatasetError(f"{where}, answer: neither pairs of an id and a name, as in PERSON#532——Ishmael, nor "
                               f"the letter of an option of the question: {row.answer[:60]!r}")
        questions.append(BenchQuestion(
            id=str(number), question=row.question, gold=(), answers=(row.answer,),
            kind="choice" if is_choice else "reversion",
            type="multiple choice" if is_choice else "anonymity reversion"))
    return questions


def _anonymous_chunks(folder: Path) -> list[BenchDocument]:
    """Read the chunks of `anonyrag`, each as a document."""
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


class _Evidence(_Row):
    fact: str = Field(min_length=1)
    title: str = ""


class _QuestionWithFacts(_Row):
    query: str = Field(min_length=1)
    answer: str
    question_type: str
    evidence_list: list[_Evidence]


def _questions_with_facts(folder: Path) -> list[BenchQuestion]:
    """Read the questions of `multihop-rag`."""
    path = the_file(folder, ("multihop*.json*", "questions.json*"), "MultiHop-RAG's questions")
    questions = []
    for number, (_, row) in enumerate(models(path, _QuestionWithFacts)):
        question_type = row.question_type.removesuffix("_query")
        gold = tuple(dict.fromkeys(GoldPassage(title=item.title) for item in row.evidence_list if item.title))
        facts = tuple(dict.fromkeys(item.fact for item in row.evidence_list))
        unanswerable = question_type == _NULL
        questions.append(BenchQuestion(
            id=str(number), question=row.query, type=question_type, gold=() if unanswerable else gold,
            unanswerable=unanswerable, answers=() if unanswerable else (row.answer,), facts=facts))
    return questions


def _articles(folder: Path) -> list[BenchDocument]:
    """Read the articles of `multihop-rag`; source, date, author and so on are metadata, which questions ask about."""
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
"""The functions that read the questions and the documents of each dataset."""


class _Passage(_Row):
    id: str = ""
    title: str
    text: str


class _Kind(BaseModel):
    kind: Kind = "short"


def _multi_hop_questions(folder: Path, form: QuestionFormat) -> list[BenchQuestion]:
    """Read the questions of HotpotQA, 2WikiMultiHopQA, MuSiQue or `generic`, and make their ids unique."""
    path = the_file(folder, _NAMES[form], f"{form}'s questions", _NO_QUESTIONS)
    questions = load_answered_questions(path, form)
    kinds: list[Kind] = ["short"] * len(questions)
    if form == "generic":
        kinds = [validate_record(where, {key: row[key] for key in ("kind",) if key in row}, _Kind, DatasetError).kind
                 for where, row in rows(path)]
    id_counts = Counter[str]()
    unique = []
    for question, kind in zip(questions, kinds, strict=True):
        id_counts[question.id] += 1
        needs_number = id_counts[question.id] > 1 or not question.id
        question_id = f"{question.id}#{id_counts[question.id]}" if needs_number else question.id
        unique.append(BenchQuestion(**dict(question) | {"id": question_id}, kind=kind))
    return unique


def _multi_hop_documents(folder: Path, form: QuestionFormat, asked: Sequence[DatasetQuestion]) -> list[BenchDocument]:
    """Read the documents of HotpotQA, 2WikiMultiHopQA, MuSiQue or `generic`."""
    if any_files(folder, _CORPUS, ("openie*",)):
        passages = list(_corpus(the_file(folder, _CORPUS, "the corpus", ("openie*",))))
    else:
        path = the_file(folder, _NAMES[form], f"{form}'s questions", _NO_QUESTIONS)
        asked_texts = {question.question for question in asked}
        passages = [passage for where, row in rows(path) if row["question"] in asked_texts
                    for passage in _contexts(where, row)]
    distinct = {(passage.id, passage.title, passage.text): passage for passage in passages if passage.text.strip()}
    return [BenchDocument(id=passage.id or f"p{number}", title=passage.title, text=passage.text)
            for number, passage in enumerate(distinct.values())]


def _corpus(path: Path) -> Iterator[_Passage]:
    """Yield the passages of a corpus file: a list of passages, or HotpotQA's object of titles with their sentences."""
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
    if not isinstance(context, list) or not all(map(_is_pair, context)):
        raise DatasetError(f"{where}, context: a list of [title, sentences] is needed where there is no corpus file")
    for title, sentences in context:
        yield _passage(where, title, sentences)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2


def _passage(where: str, title: Any, text: Any) -> _Passage:
    """Return a passage whose text is given as one text or as a list of sentences."""
    # The spaces between sentences are part of the sentences, in HotpotQA's and (except the first) in 2Wiki's files.
    is_list_of_texts = isinstance(text, list) and all(isinstance(sentence, str) for sentence in text)
    joined = "".join(text) if is_list_of_texts else text
    return validate_record(where, {"title": title, "text": joined}, _Passage, DatasetError)
