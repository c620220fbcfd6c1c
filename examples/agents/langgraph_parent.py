"""A plain LangGraph agent that calls Banyan as a tool: `python examples/agents/langgraph_parent.py [QUESTION]`.

A second graph has it as a node, where no model is to decide whether the documents are asked.
"""

import sys
from pathlib import Path
from typing import Any

import banyan
from banyan.agents.construction.graph import graph as construction
from chat_model import chat_model
from langchain_core.messages import ToolCall
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

DOCUMENTS = Path(__file__).parent.parent / "en"
QUESTION = "Where was Marie Curie born?"

construction.invoke({"knowledge_base": "english", "paths": [str(DOCUMENTS)]})  # free where nothing has changed


class State(MessagesState, total=False):
    """The citations are filled in by Banyan, as it has a field of that name."""

    citations: list[dict[str, Any]]


tool = banyan.as_tool("english", about="physicists and chemists around 1900, and their cities")
model = chat_model(lambda question: ToolCall(name=tool.name, id="1", args={"question": question})).bind_tools([tool])


def think(state: State) -> dict[str, Any]:
    """Let the model answer, or ask the documents."""
    return {"messages": [model.invoke(state["messages"])]}


agent = StateGraph(State)
agent.add_node("think", think)
agent.add_node("tools", ToolNode([tool]))
agent.add_edge(START, "think")
agent.add_conditional_edges("think", tools_condition)
agent.add_edge("tools", "think")

pipeline = StateGraph(State)
pipeline.add_node("documents", banyan.as_subagent("english")["runnable"])
pipeline.add_edge(START, "documents")

question = sys.argv[1] if len(sys.argv) > 1 else QUESTION
print("As a tool:", agent.compile().invoke({"messages": [("user", question)]})["messages"][-1].text)
state = pipeline.compile().invoke({"messages": [("user", question)]})
print("As a node:", state["messages"][-1].text)
print("Citations in the parent's state:", [citation["document"] for citation in state["citations"]])
