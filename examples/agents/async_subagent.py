"""A deepagents agent that has Banyan answer in the background: `python examples/agents/async_subagent.py [URL] [KB]`.

Start the server first: `banyan build examples/en --kb english && langgraph dev`, which serves http://127.0.0.1:2024.
"""

import sys
import time

from chat_model import chat_model
from deepagents import AsyncSubAgent, create_deep_agent
from langchain_core.messages import ToolCall
from langgraph.checkpoint.memory import InMemorySaver
from langgraph_sdk import get_sync_client

URL, KB = "http://127.0.0.1:2024", "english"
QUESTION = "Where was Marie Curie born?"

url, kb = [*sys.argv[1:], *(URL, KB)[len(sys.argv) - 1:]]

with get_sync_client(url=url) as client:  # each knowledge base has an assistant, which describes it
    assistant = next(one for one in client.assistants.search(graph_id="retrieval", name=kb) if one["name"] == kb)


def call(said: str) -> ToolCall:
    """Return what a model would call: it starts a task with a question, and checks the one that it is asked for."""
    name, *task = said.split() if said.startswith("check_async_task") else ("start_async_task",)
    arguments = {"task_id": task[0]} if task else {"description": said, "subagent_type": "documents"}
    return ToolCall(name=name, id="1", args=arguments)


agent = create_deep_agent(model=chat_model(call), checkpointer=InMemorySaver(), subagents=[AsyncSubAgent(
    name="documents", description=assistant["description"] or kb, graph_id=assistant["assistant_id"], url=url)])
config = {"configurable": {"thread_id": "one"}}

(task,) = agent.invoke({"messages": [("user", QUESTION)]}, config)["async_tasks"]
while True:
    said = agent.invoke({"messages": [("user", f"check_async_task {task}")]}, config)
    if said["async_tasks"][task]["status"] not in {"pending", "running"}:
        break
    time.sleep(1)
print(said["messages"][-1].text)
