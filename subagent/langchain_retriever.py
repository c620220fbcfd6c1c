"""Search for passages, without an answer; and as a LangChain retriever."""

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
from ..schemas.retrieval import Passage
from .asking import resources_for


def search(resources: Resources, kb: str, query: str, k: int, context: AskContext | None = None) -> list[Passage]:
    """Return the best passages for a query, best first, without what reasoners read of them besides.

    Args:
        resources: models and open knowledge bases.
        kb: the knowledge base.
        query: a question, or keywords.
        k: the maximum number of passages.
        context: its documents, switches and `decompose` count; None means all documents and routes, undivided.

    Raises:
        BanyanError: the knowledge base does not exist, or the query is empty or too long.
    """
    context = context or AskContext(decompose=False)
    check_context(context)
    _, question = read_conversation({"question": query})
    with resources.snapshot(kb, context.scope) as snapshot:
        index = snapshot.index
        question, _ = respelt(question, index)
        ranking = snapshot.retriever.rank_passages(question, k, switches=context.switches, decompose=context.decompose)
        ranked = [(index.chunks[index.chunk_row[chunk]], score) for chunk, score in ranking]
    return [Passage(chunk_id=chunk.id, document=chunk.document_id, title=chunk.title, text=chunk.text,
                    start=chunk.start, score=score) for chunk, score in ranked]


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
        context = AskContext(decompose=self.decompose, documents=self.documents, where=self.where)
        return [_document(passage) for passage in search(self._opened, self.kb, query, self.k, context)]


def _document(passage: Passage) -> Document:
    return Document(page_content=passage.text, id=passage.chunk_id, metadata={
        "document": passage.document, "title": passage.title, "start": passage.start,
        "end": passage.start + len(passage.text), "score": passage.score})
