"""Passages for a query, without an answer."""

from typing import Any, cast

from ..agents.resources import Resources
from ..agents.retrieval.graph import build_graph
from ..agents.retrieval.state import AskContext
from ..schemas.retrieval import Passage


def search(resources: Resources, kb: str, query: str, k: int, context: AskContext | None = None) -> list[Passage]:
    """The best passages for a query, best first, as the retrieval graph ranks them before it answers.

    Args:
        resources: models and open knowledge bases.
        kb: the knowledge base.
        query: a question, or words.
        k: how many at most.
        context: how to search; none: one round along all routes, without a call to a model.

    Raises:
        BanyanError: there is no such knowledge base, or the query is empty or too long.
    """
    state = build_graph(resources, checkpointer=False).invoke(
        cast("Any", {"knowledge_base": kb, "question": query}),
        context=context or AskContext(agent=False, decompose=False),
        output_keys=["ranking"], interrupt_before=["answer"])
    retriever = resources.retriever(kb)
    # The knowledge base may have changed since the ranking was made.
    return [retriever.passage(chunk, score) for chunk, score in state["ranking"][:k]
            if chunk in retriever.index.chunk_row]
