"""Search for passages, without an answer."""

from typing import Any, cast

from ..agents.resources import Resources
from ..agents.retrieval.graph import build_graph
from ..agents.retrieval.state import AskContext
from ..schemas.retrieval import Passage


def search(resources: Resources, kb: str, query: str, k: int, context: AskContext | None = None) -> list[Passage]:
    """Return the best passages for a query, best first, ranked as the retrieval graph ranks them for an answer.

    Args:
        resources: models and open knowledge bases.
        kb: the knowledge base.
        query: a question, or keywords.
        k: the maximum number of passages.
        context: how to search; None means one round along all routes, without calling a model.

    Raises:
        BanyanError: the knowledge base does not exist, or the query is empty or too long.
    """
    context = context or AskContext(agent=False, decompose=False)
    state = build_graph(resources, checkpointer=False).invoke(
        cast("Any", {"knowledge_base": kb, "question": query}), context=context,
        output_keys=["ranking"], interrupt_before=["answer"])
    retriever = resources.retriever(kb, context.scope)
    # The knowledge base may have changed since the ranking.
    return [retriever.passage(chunk, score) for chunk, score in state["ranking"][:k]
            if chunk in retriever.index.chunk_row]
