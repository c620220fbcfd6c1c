"""Tries questions before the page offers them, without a model, so trying costs nothing."""

import threading
from functools import cached_property
from typing import Any, cast

from cachetools import LRUCache
from langchain_core.messages import HumanMessage
from langgraph.graph.state import CompiledStateGraph

from ..agents.resources import Resources
from ..agents.retrieval.graph import build_graph
from ..agents.retrieval.state import AskContext, AskInput, AskOutput, AskState

_MOST = 2_000
"""Tried questions to remember."""


class TriedQuestions:
    """Answers questions by the rules, and remembers whether there was an answer."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._answered: LRUCache[tuple[object, ...], bool] = LRUCache(_MOST)
        self._lock = threading.Lock()

    @cached_property
    def _graph(self) -> CompiledStateGraph[AskState, AskContext, AskInput, AskOutput]:
        """The retrieval graph without a model, over the same open knowledge bases."""
        without = {"llm_base_url": None, "llm_model": "", "reranker": "", "reranker_base_url": None}
        rules = Resources(self._resources.settings.model_copy(update=without))
        rules.readers = self._resources.readers
        return build_graph(rules)

    def is_answered(self, kb: str, question: str) -> bool:
        """Return True if the documents of a knowledge base, in their present state, answer a question."""
        key = (kb, self._resources.retriever(kb).version, question)
        with self._lock:  # the cache is not safe to use from several threads
            answered = self._answered.get(key)
        if answered is None:
            given = cast("Any", {"knowledge_base": kb, "messages": [HumanMessage(question)]})
            answered = not self._graph.invoke(given, context=AskContext())["abstained"]
            with self._lock:
                self._answered[key] = answered
        return answered
