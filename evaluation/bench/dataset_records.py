"""The common form of all datasets: documents, and questions with their gold answers and evidence."""

from typing import Literal

from pydantic import Field

from ...schemas.documents import Frozen
from ..datasets import DatasetQuestion

DatasetName = Literal["hotpotqa", "2wiki", "musique", "gbench", "graphrag-bench", "anonyrag", "multihop-rag", "generic"]

Kind = Literal["short", "fill_in", "choice", "choices", "true_false", "open", "reversion"]
"""How an answer is scored. short: a name, number or date; fill_in: the missing word; choice and choices: the letters
of options; true_false; open: a text that only a judge can score; reversion: anonymous ids mapped to names."""


class BenchQuestion(DatasetQuestion):
    """A question of any dataset. `facts` are sentences of the gold documents, if the dataset has them."""

    kind: Kind = "short"
    facts: tuple[str, ...] = ()


class BenchDocument(Frozen):
    """A document of a dataset's corpus, in the form that a build takes."""

    id: str
    title: str
    text: str
    metadata: dict[str, str] = Field(default_factory=dict)


class Dataset(Frozen):
    """The questions of a dataset, and the documents that they are about."""

    name: DatasetName
    documents: tuple[BenchDocument, ...]
    questions: tuple[BenchQuestion, ...]
