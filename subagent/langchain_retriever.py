"""Searching for passages, without an answer, as a function and as a LangChain retriever."""

from typing import Self

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, PrivateAttr, model_validator

from ..agents.contexts import check_context
from ..agents.resources import Resources
from ..agents.retrieval.conversation import read_conversation
from ..agents.retrieval.spelling import respelt
from ..agents.retrieval.state import AskContext
from ..config import Settings
from ..graph_store.layout import check_name
from ..schemas.documents import Chunk
from .asking import resources_for
from .tool_answers import RetrievedPassage


def search(resources: Resources, kb: str, query: str, k: int, context: AskContext | None = None,
           ) -> list[RetrievedPassage]:
    """Return the best passages for a query, best first; the arguments and errors are those of `_rank`."""
    return [RetrievedPassage(document=chunk.document_id, title=chunk.title, start=chunk.start,
                             end=chunk.start + len(chunk.text), text=chunk.text, score=score)
            for chunk, score in _rank(resources, kb, query, k, context or AskContext(decompose=False))]


def _rank(resources: Resources, kb: str, query: str, k: int, context: AskContext) -> list[tuple[Chunk, float]]:
    """Return the best chunks for a query with their scores, best first.

    Args:
        resources: models and open knowledge bases.
        kb: the knowledge base.
        query: a question, or keywords.
        k: the maximum number of passages.
        context: says which documents to search, what the ranking uses, and whether to decompose the query; the other
            values have no effect.

    Raises:
        BanyanError: the knowledge base does not exist, or the query is empty or too long.
    """
    check_context(context)
    _, question = read_conversation({"question": query})
    with resources.snapshot(kb, context.scope) as snapshot:
        index = snapshot.index
        question, _ = respelt(question, index)
        ranking = snapshot.retriever.rank_passages(question, k, switches=context.switches, decompose=context.decompose)
        return [(index.chunks[index.chunk_row[chunk]], score) for chunk, score in ranking]


class BanyanRetriever(BaseRetriever):
    """The best passages of a knowledge base for a query, for your own chains.

    Each `Document` holds a passage; its id is the passage's, and its metadata are `document` (the document's id),
    `title`, `start` and `end` (characters of the document, so that `document.text[start:end]` is the passage) and
    `score` (higher is better). `ainvoke` searches in a thread.
    """

    kb: str = Field(description="the knowledge base")
    k: int = Field(default=4, ge=1, le=100, description="passages returned at most")
    decompose: bool = Field(default=False, description="split a nested query into steps")
    documents: tuple[str, ...] = Field(default=(), description="ids, titles or paths of the documents to search, or "
                                       "patterns; none: all")
    where: dict[str, str] = Field(default={}, description="metadata of the documents to search, as {key: value or "
                                                          "pattern}")
    settings: Settings | None = Field(default=None, exclude=True, repr=False,
                                      description="home, models and limits; none: those of the environment")
    resources: Resources | None = Field(default=None, exclude=True, repr=False,
                                        description="opened by your own code, instead of `settings`")
    _opened: Resources = PrivateAttr()

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_name(self.kb)
        self._opened = self.resources or resources_for(self.settings)
        return self

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:  # noqa: ARG002  (LangChain's signature)
        """Return the best passages for a query as LangChain documents; LangChain calls this for `invoke`."""
        context = AskContext(decompose=self.decompose, documents=self.documents, where=self.where)
        return [Document(page_content=chunk.text, id=chunk.id, metadata={
            "document": chunk.document_id, "title": chunk.title, "start": chunk.start,
            "end": chunk.start + len(chunk.text), "score": score})
            for chunk, score in _rank(self._opened, self.kb, query, self.k, context)]
