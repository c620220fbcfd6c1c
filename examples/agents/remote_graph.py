"""A Banyan that runs elsewhere, as a node and as a tool: `python examples/agents/remote_graph.py [URL] [KB]`.

Start it first: `banyan build examples/en --kb english && langgraph dev`, which serves http://127.0.0.1:2024.
"""

import sys

import banyan
from langgraph.graph import START, MessagesState, StateGraph

URL, KB = "http://127.0.0.1:2024", "english"
QUESTION = "Where was Marie Curie born?"

url, kb = [*sys.argv[1:], *(URL, KB)[len(sys.argv) - 1:]]

with banyan.Remote(url, kb) as remote:  # its connections are closed at the end of the block
    graph = StateGraph(MessagesState)
    graph.add_node("documents", remote.as_subagent()["runnable"])
    graph.add_edge(START, "documents")
    state = graph.compile().invoke({"messages": [("user", QUESTION)]})
    print("As a node:", state["messages"][-1].text)

    message = remote.as_tool().invoke({"question": QUESTION})
    print("As a tool:", message)

    answer = remote.graph.invoke({"knowledge_base": kb, "question": QUESTION}, context={"mode": "open"})
    print("As LangGraph's RemoteGraph:", answer["answer"])
