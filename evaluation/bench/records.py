"""What every dataset is read into: documents, and questions with their gold answers and evidence."""

from typing import Literal

from pydantic import Field

from ...schemas.documents import Frozen
from ..datasets import AnsweredQuestion

DatasetName = Literal["hotpotqa", "2wiki", "musique", "gbench", "graphrag-bench", "anonyrag", "multihop-rag", "generic"]

Kind = Literal["short", "fill_in", "choice", "choices", "true_false", "open", "reversion"]
"""How an answer is scored: a name, number or date; the missing word; the letter or letters of options; true or false;
a text, which only a judge can weigh; and anonymous ids mapped back to names."""


class BenchQuestion(AnsweredQuestion):
    """A question of any dataset. `facts` are sentences that stand in the gold documents, where the dataset has them."""

    kind: Kind = "short"
    facts: tuple[str, ...] = ()


class BenchDocument(Frozen):
    """A document of a dataset's corpus, as a build is given it."""

    id: str
    title: str
    text: str
    metadata: dict[str, str] = Field(default_factory=dict)


class Dataset(Frozen):
    """The questions that are asked, and the documents that they are asked of."""

    name: DatasetName
    documents: tuple[BenchDocument, ...]
    questions: tuple[BenchQuestion, ...]
