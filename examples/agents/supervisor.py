"""A supervisor that hands questions to subagents: `python examples/agents/supervisor.py [QUESTION]`.

Banyan answers from the documents; a second subagent stands for whatever else a team has.
"""

import sys
from pathlib import Path
from typing import Any, Literal

import banyan
from banyan.agents.construction.graph import graph as construction
from chat_model import chat_model
from langchain_core.messages import AIMessage, ToolCall
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

DOCUMENTS = Path(__file__).parent.parent / "en"
QUESTION = "Where was Marie Curie born?"

construction.invoke({"knowledge_base": "english", "paths": [str(DOCUMENTS)]})  # free where nothing has changed


class State(MessagesState, total=False):
    """Banyan fills in the answer as data, as the state has a field of that name."""

    structured_response: Any


@tool
def hand_over(to: Literal["documents", "smalltalk"]) -> None:
    """Hand the user's message over: to `documents` for questions about scientists, to `smalltalk` for the rest."""


model = chat_model(lambda _: ToolCall(name="hand_over", id="1", args={"to": "documents"})).bind_tools([hand_over])


def supervise(state: State) -> Command[Literal["documents", "smalltalk"]]:
    """Let the model choose who answers."""
    return Command(goto=model.invoke(state["messages"]).tool_calls[0]["args"]["to"])


def talk(_: State) -> dict[str, Any]:
    """Stand for another subagent."""
    return {"messages": [AIMessage("Hello! Ask me about physicists around 1900.")]}


team = StateGraph(State)
team.add_node("supervisor", supervise)
team.add_node("documents", banyan.as_subagent("english")["runnable"])
team.add_node("smalltalk", talk)
team.add_edge(START, "supervisor")

state = team.compile().invoke({"messages": [("user", sys.argv[1] if len(sys.argv) > 1 else QUESTION)]})
print(state["messages"][-1].text)
print("Grade:", state["structured_response"].grade)
