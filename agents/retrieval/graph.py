"""The retrieval graph: a question in, an answer with checked citations out.

    condense -> first_look -> decompose -> (entity_search | triple_search | table_query | dfs_search | community_search
                 | passage_search: one for each lookup) -> reflect -> (further lookups) -> answer

A lookup is made by the LangChain tool that other agents call too (`tools/langchain_tools`). `reflect` leads to at most
`max_rounds` rounds and `max_tool_calls` lookups (`state.Caps`), and then has to answer.
"""

from functools import partial

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from ...schemas.lookups import TOOLS
from ..nodes import as_node
from ..resources import Resources
from .nodes import RetrievalNodes
from .state import AskContext, AskInput, AskOutput, AskState, LookupInput

_NEXT = (*TOOLS, "reflect", "answer")  # where a judgement leads (see `RetrievalNodes._apply`)


def build_graph(resources: Resources | None = None, checkpointer: Checkpointer = None,
                ) -> CompiledStateGraph[AskState, AskContext, AskInput, AskOutput]:
    """Build the retrieval graph over `resources`; None means those of this process's environment.

    The `checkpointer` stores conversations by thread: None leaves that to a server, False to the graph around this.
    """
    nodes = RetrievalNodes(resources)
    node = partial(as_node, abandon=nodes.abandon)
    graph = StateGraph(AskState, context_schema=AskContext, input_schema=AskInput, output_schema=AskOutput)
    graph.add_node("condense", node(nodes.condense))
    graph.add_node("first_look", node(nodes.first_look))
    graph.add_node("decompose", node(nodes.decompose), destinations=_NEXT)
    for tool in TOOLS:
        graph.add_node(tool, node(nodes.look_up), input_schema=LookupInput)
    graph.add_node("reflect", node(nodes.reflect), destinations=_NEXT)
    graph.add_node("answer", node(nodes.answer))
    graph.add_edge(START, "condense")
    graph.add_edge("condense", "first_look")
    graph.add_edge("first_look", "decompose")
    for tool in TOOLS:
        graph.add_edge(tool, "reflect")
    graph.add_edge("answer", END)
    return graph.compile(checkpointer=checkpointer, name="retrieval")


graph = build_graph()
