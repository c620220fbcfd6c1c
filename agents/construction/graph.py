"""The construction graph: documents in, knowledge base out.

    check -> ingest -> fit_schema -> choose_batch -> extract (once for each call) -> propose_schema_delta
          -> accept_or_reject -> choose_batch (next batch, or none left -> write the last one -> index)

From the second batch on, two things run side by side: the previous batch is bounded, written and embedded, and the
next one is extracted. Nothing else overlaps. The reasoner sees the schema that was decided on after the previous batch.

With `batch`, the first batch has all chunks, so all calls show the same schema, and one `extract` submits them all and
waits for the endpoint's answers.

`write` bounds a batch (`graph_store/bounding/admission.py`): it rejects what does not fit the schema or is not in the
source, with the reason. If the endpoint is down or the budget is spent, a build does not fail but stops. The node that
made the call sets `stopped`. What was extracted is still written. `index` saves the graph and its vectors but finds no
communities, and the report says why the build stopped.

The state carries ids and counts; texts and facts are in the ledger, where every step commits what it has done. A run
may therefore end anywhere, and the next one resumes it. The steps are in `nodes` and `extraction_nodes`.
"""

from collections.abc import Sequence
from functools import partial
from typing import Literal

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send

from ..nodes import as_node
from ..resources import Resources
from .extraction_nodes import ExtractionNodes
from .nodes import ConstructionNodes
from .state import BuildContext, BuildInput, BuildOutput, BuildState, CallsInput, ChunksInput


def write_and_extract(state: BuildState) -> Sequence[Send | str]:
    """Extract the next batch, one task for each call, and write the previous batch at the same time."""
    name, run, options = state["knowledge_base"], state["run"], state["options"]
    tasks = [state["calls"]] if state["in_batches"] else [[call] for call in state["calls"]]
    sends = [Send("extract", CallsInput(knowledge_base=name, run=run, options=options, calls=calls,
                                        in_batches=state["in_batches"])) for calls in tasks]
    # `write` is sent last: its transaction keeps extractions from reading the ledger, and if it began first, the
    # endpoint would be idle meanwhile.
    if state["extracted"] or not state["undecided"]:
        sends.append(Send("write", ChunksInput(knowledge_base=name, run=run, options=options,
                                               chunks=state["extracted"])))
    # If nothing is left to extract or write, candidates of an earlier build may still be undecided.
    return sends or ["propose_schema_delta"]


def begin_or_index(state: BuildState) -> Literal["choose_batch", "index"]:
    """Go to the first batch, or to the index if no schema could be inferred."""
    return "index" if state["stopped"] else "choose_batch"


def after_write(state: BuildState) -> Literal["propose_schema_delta", "index"]:
    """Go on with the batch that was extracted beside the write; go to the index if there is no such batch."""
    return "propose_schema_delta" if state["batch"] else "index"


def build_graph(resources: Resources | None = None, checkpointer: BaseCheckpointSaver[str] | None = None,
                ) -> CompiledStateGraph[BuildState, BuildContext, BuildInput, BuildOutput]:
    """Build the construction graph.

    Args:
        resources: models and open knowledge bases; None means those of this process's environment.
        checkpointer: needed for `review`, unless the graph runs in a server that brings its own.
    """
    nodes, extraction = ConstructionNodes(resources), ExtractionNodes(resources)
    node = partial(as_node, abandon=nodes.abandon)
    graph = StateGraph(BuildState, context_schema=BuildContext, input_schema=BuildInput, output_schema=BuildOutput)
    graph.add_node("check", node(nodes.check))
    graph.add_node("ingest", node(nodes.ingest))
    graph.add_node("fit_schema", node(nodes.fit_schema))
    graph.add_node("choose_batch", node(nodes.choose_batch))
    graph.add_node("extract", node(extraction.extract), input_schema=CallsInput)
    graph.add_node("propose_schema_delta", node(nodes.propose_schema_delta))
    graph.add_node("accept_or_reject", node(nodes.accept_or_reject))
    graph.add_node("write", node(nodes.write), input_schema=ChunksInput)
    graph.add_node("index", node(nodes.index))
    graph.add_edge(START, "check")
    graph.add_edge("check", "ingest")
    graph.add_edge("ingest", "fit_schema")
    graph.add_conditional_edges("fit_schema", begin_or_index, ["choose_batch", "index"])
    graph.add_conditional_edges("choose_batch", write_and_extract, ["write", "extract", "propose_schema_delta"])
    graph.add_edge("extract", "propose_schema_delta")
    graph.add_edge("propose_schema_delta", "accept_or_reject")
    graph.add_edge("accept_or_reject", "choose_batch")
    graph.add_conditional_edges("write", after_write, ["propose_schema_delta", "index"])
    graph.add_edge("index", END)
    compiled = graph.compile(checkpointer=checkpointer, name="construction")
    # LangGraph's default limit of steps would end a build after a few hundred chunks; a build ends by itself.
    config = RunnableConfig(recursion_limit=10_000_000)
    if resources is not None:
        # Two more than the extractions: one for `write`, one for the thread of a synchronous run's stream.
        config["max_concurrency"] = 2 + resources.extractions_at_once
    return compiled.with_config(config)


graph = build_graph()
