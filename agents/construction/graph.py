"""The construction graph: documents in, knowledge base out.

    check -> ingest -> fit_schema -> extract (once for each call) -> propose_schema_delta -> accept_or_reject
          -> write, and extract the next batch beside it; after the last batch -> index

While a batch is bounded, written and embedded, the next one is extracted. Nothing else overlaps. With `batch`, the
first batch has all chunks, and one `extract` has the endpoint answer all calls in its batches.

If the endpoint is down or the budget is spent, the node that made the call sets `stopped`: what was extracted is still
written, and `index` saves the graph without communities. The state carries ids and counts; every step commits to the
ledger, so a run may end anywhere, and the next one resumes it.
"""

from functools import partial

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from ..nodes import as_node
from ..resources import Resources
from .extraction_nodes import ExtractionNodes
from .nodes import ConstructionNodes
from .state import BuildContext, BuildInput, BuildOutput, BuildState, ChunksInput


def build_graph(resources: Resources | None = None, checkpointer: BaseCheckpointSaver[str] | None = None,
                ) -> CompiledStateGraph[BuildState, BuildContext, BuildInput, BuildOutput]:
    """Build the graph over `resources` (None: this process's). `review` needs a `checkpointer`, or a server's own."""
    nodes, extraction = ConstructionNodes(resources), ExtractionNodes(resources)
    node = partial(as_node, abandon=nodes.abandon)
    graph = StateGraph(BuildState, context_schema=BuildContext, input_schema=BuildInput, output_schema=BuildOutput)
    graph.add_node("check", node(nodes.check))
    graph.add_node("ingest", node(nodes.ingest))
    graph.add_node("fit_schema", node(nodes.fit_schema), destinations=("extract", "propose_schema_delta", "index"))
    graph.add_node("extract", node(extraction.extract), input_schema=ChunksInput)
    graph.add_node("propose_schema_delta", node(nodes.propose_schema_delta))
    graph.add_node("accept_or_reject", node(nodes.accept_or_reject), destinations=("write", "extract"))
    graph.add_node("write", node(nodes.write), input_schema=ChunksInput, destinations=("index",))
    graph.add_node("index", node(nodes.index))
    graph.add_edge(START, "check")
    graph.add_edge("check", "ingest")
    graph.add_edge("ingest", "fit_schema")
    graph.add_edge("extract", "propose_schema_delta")
    graph.add_edge("propose_schema_delta", "accept_or_reject")
    graph.add_edge("index", END)
    compiled = graph.compile(checkpointer=checkpointer, name="construction")
    # LangGraph's default limit of steps would end a build after a few hundred chunks; a build ends by itself.
    config = RunnableConfig(recursion_limit=10_000_000)
    if resources is not None:
        # Two more than the extractions: one for `write`, one for the thread of a synchronous run's stream.
        config["max_concurrency"] = 2 + resources.extractions_at_once
    return compiled.with_config(config)


graph = build_graph()
