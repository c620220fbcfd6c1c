"""The retrieval graph: a question in, an answer with checked citations out.

    condense -> decompose -> entity_search, triple_search, community_search, dfs_search: all sub-queries of a round
                          or survey: a batch of reports each, for questions about the whole corpus
             -> fuse -> reflect -> (new sub-queries: search again, at most `max_rounds`) -> answer

What each node does is in `nodes`. What is searched next is decided in `planning` and `chaining`, what a model reads in
`evidence`; `citing` checks quotes and whether enough of them hold, `presenting` decides that for answers made of quotes
alone. `reflect` keeps the cap on rounds (the first counts) and asks no model in the last round. `survey` is no route:
it reads reports instead of searching. Each step leaves a `TraceStep` in the state.
"""

from functools import partial

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from ...schemas.retrieval import ROUTES
from ..nodes import as_node, traced_node
from ..resources import Resources
from .nodes import RetrievalNodes
from .state import AskContext, AskInput, AskOutput, AskState, SearchInput, SurveyInput


def build_graph(resources: Resources | None = None, checkpointer: Checkpointer = None,
                ) -> CompiledStateGraph[AskState, AskContext, AskInput, AskOutput]:
    """Build the retrieval graph.

    Args:
        resources: models and open knowledge bases; None means those of this process's environment.
        checkpointer: stores conversations by thread, unless the server brings its own; False for a subgraph, so that
            nothing is stored beside the parent's state.
    """
    nodes = RetrievalNodes(resources)
    # Nodes that wait for a model are coroutines; the others keep a core busy, and LangGraph runs them in threads.
    waiting = partial(as_node, within=nodes.charged_to_client)
    busy = partial(traced_node, within=nodes.charged_to_client)
    searches = {route: f"{route}_search" for route in ROUTES}
    graph = StateGraph(AskState, context_schema=AskContext, input_schema=AskInput, output_schema=AskOutput)
    graph.add_node("condense", waiting(nodes.condense))
    graph.add_node("decompose", waiting(nodes.decompose))
    for route, name in searches.items():
        graph.add_node(name, busy(partial(nodes.search, route), name), input_schema=SearchInput)
    graph.add_node("survey", waiting(nodes.survey), input_schema=SurveyInput)
    graph.add_node("fuse", busy(nodes.fuse, "fuse"))
    graph.add_node("reflect", waiting(nodes.reflect))
    graph.add_node("answer", waiting(nodes.answer))
    graph.add_edge(START, "condense")
    graph.add_edge("condense", "decompose")
    # `fuse` at once: nothing is to be searched, such as a sub-query that waits for an answer that was not found.
    graph.add_conditional_edges("decompose", nodes.begin, [*searches.values(), "survey", "fuse"])
    for name in (*searches.values(), "survey"):
        graph.add_edge(name, "fuse")
    graph.add_edge("fuse", "reflect")
    graph.add_conditional_edges("reflect", nodes.go_on, [*searches.values(), "fuse", "answer"])
    graph.add_edge("answer", END)
    return graph.compile(checkpointer=checkpointer, name="retrieval")


graph = build_graph()
