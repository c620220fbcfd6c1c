"""A Banyan that runs elsewhere, by LangGraph's `RemoteGraph`: `python examples/agents/remote_graph.py [URL] [KB]`.

Start it first: `banyan build examples/en --kb english && langgraph dev`, which serves http://127.0.0.1:2024.
"""

import sys

from langgraph.graph import START, StateGraph
from langgraph.pregel.remote import RemoteGraph
from typing_extensions import TypedDict

URL, KB = "http://127.0.0.1:2024", "english"
QUESTION = "Where was Marie Curie born?"

url, kb = [*sys.argv[1:], *(URL, KB)[len(sys.argv) - 1:]]
documents = RemoteGraph("retrieval", url=url)


class State(TypedDict):
    """What this graph shares with the remote one, whose output fills it in."""

    knowledge_base: str
    question: str
    answer: str
    messages: list


state = documents.invoke({"knowledge_base": kb, "question": QUESTION}, context={"mode": "open"})
print("Asked directly:", state["answer"])

graph = StateGraph(State)
graph.add_node("documents", documents)
graph.add_edge(START, "documents")
state = graph.compile().invoke({"knowledge_base": kb, "question": QUESTION})
print("As a node:", state["answer"])
for block in state["messages"][-1]["content"]:
    print(block["text"].strip())
