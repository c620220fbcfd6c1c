"""A dataset by its name, from its folder, in whole or in part."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

from ..datasets import DatasetError, QuestionFormat, spread
from .dataset_records import BenchDocument, BenchQuestion, Dataset, DatasetName
from .readers import anony_rag, g_bench, graphrag_bench, multi_hop, multihop_rag

_Reader = tuple[Callable[[Path], list[BenchQuestion]], Callable[[Path], list[BenchDocument]]]
_READERS: dict[DatasetName, _Reader] = {
    "gbench": (g_bench.read_questions, g_bench.read_documents),
    "graphrag-bench": (graphrag_bench.read_questions, graphrag_bench.read_documents),
    "anonyrag": (anony_rag.read_questions, anony_rag.read_documents),
    "multihop-rag": (multihop_rag.read_questions, multihop_rag.read_documents)}


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
    for what, found in (("questions", questions), ("documents with text", documents)):
        if not found:
            raise DatasetError(f"the files of {name} in {folder} have no {what}: nothing can be measured")
    return Dataset(name=name, questions=tuple(questions), documents=tuple(documents))
