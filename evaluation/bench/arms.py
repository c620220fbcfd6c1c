"""The arms of a benchmark: ways to answer the same questions from the same documents, as compared in the papers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ...agents.retrieval.state import TOOL_NAMES, AskContext, ToolName
from ..datasets import DatasetError

Method = Literal["zero-shot", "BM25", "dense passages", "BM25 and dense", "HippoRAG 2", "text agent", "graph"]
"""The method that finds the evidence: none, one or two of `baselines`, an agent over text, or the retrieval graph."""


@dataclass(frozen=True)
class Arm:
    """One row of the table.

    `context`: how the retrieval graph is asked; what is off for it is off for the ranking of passages, too.
    `schema`: the knowledge base is bounded by the seed schema; otherwise it is built with an open one.
    """

    name: str
    about: str
    method: Method = "graph"
    context: AskContext = field(default_factory=AskContext)
    schema: bool = True

    @property
    def needs_llm(self) -> bool:
        """Whether the arm can answer only with a model."""
        return self.method in {"zero-shot", "text agent"}


def _without(lookup: ToolName) -> AskContext:
    """Return a context without a lookup and without the route of that name in the ranking of passages."""
    return AskContext(routes=tuple(other for other in TOOL_NAMES if other != lookup))


ARMS: tuple[Arm, ...] = (
    Arm("full", "everything on"),
    Arm("zero-shot", "the model's own knowledge, no passages", "zero-shot"),
    Arm("naive-dense", "naive RAG: the nearest passages", "dense passages"),
    Arm("naive-bm25", "naive RAG: passages by their words", "BM25"),
    Arm("naive-both", "naive RAG: both, by reciprocal rank", "BM25 and dense"),
    Arm("agentic-text", "a plain agent: keyword and dense search, reading on, no graph", "text agent"),
    Arm("pagerank", "HippoRAG 2's walk over the same triples, without its filter", "HippoRAG 2"),
    Arm("no-agent", "Youtu: w/o agent (the first look and one call)",
        context=AskContext(agent=False, decompose=False)),
    Arm("no-decompose", "without decomposition (the question itself is searched first)",
        context=AskContext(decompose=False)),
    Arm("no-reflection", "without reflection (one round of lookups)", context=AskContext(agent=False)),
    Arm("no-schema", "Youtu: w/o schema; UniAI: w/o ontology (an open schema)", schema=False),
    Arm("no-community", "Youtu: w/o community; UniAI: w/o community reports", context=_without("community")),
    Arm("no-entity", "without entity lookups and the entity route", context=_without("entity")),
    Arm("no-triple", "without tables of triples and the triple route", context=_without("triple")),
    Arm("no-dfs", "without chains of facts", context=_without("dfs")),
    Arm("no-passage", "without passages: the graph and its reports alone", context=_without("passage")),
    Arm("no-spreading", "without the walk over the graph", context=AskContext(spreading=False)),
    Arm("no-lexical", "passages not found by their words", context=AskContext(lexical=False)),
    Arm("no-dense", "passages not found by their vectors", context=AskContext(dense=False)),
    Arm("fixed-beta", "UniAI: channels weighed alike, whatever the question", context=AskContext(beta=0.5)),
    Arm("graph-channel", "UniAI: the graph's channel alone", context=AskContext(beta=1.0)),
    Arm("report-channel", "UniAI: the communities' channel alone", context=AskContext(beta=0.0)),
)
DEFAULT_ARMS = "full,zero-shot,naive-dense,naive-bm25,naive-both,agentic-text,no-agent,no-schema,no-community"


def chosen_arms(names: str, *, with_llm: bool, recorded: bool = False) -> list[Arm]:
    """Return the arms of a comma-separated list of names, or of "all", in the table's order.

    Args:
        names: the names of the arms.
        with_llm: whether a model is set; without one, arms that need it are omitted.
        recorded: whether triples are imported; then arms with another schema are omitted.

    Raises:
        DatasetError: a name is unknown, or no arm is left.
    """
    known = {arm.name: arm for arm in ARMS}
    wanted = set(known) if names == "all" else {name.strip() for name in names.split(",") if name.strip()}
    if unknown := sorted(wanted - set(known)):
        raise DatasetError(f"there is no arm {unknown[0]!r}; choose from: all, {', '.join(known)}")
    arms = [arm for arm in ARMS if arm.name in wanted and (with_llm or not arm.needs_llm)
            and (arm.schema or not recorded)]
    if not arms:
        raise DatasetError("no arm is left that can be measured: name one (--arms), or set BANYAN_LLM_BASE_URL for "
                           "those that need a model")
    return arms


def fuse_rankings(rankings: Sequence[Sequence[str]]) -> list[str]:
    """Fuse rankings by reciprocal rank (Cormack et al. 2009, k = 60)."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + 1 / (60 + rank)
    return sorted(scores, key=lambda key: (-scores[key], key))
