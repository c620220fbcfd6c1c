"""A deepagents agent with Banyan as a subagent: `python examples/agents/deepagents_parent.py [QUESTION]`."""

import sys
from pathlib import Path

import banyan
from banyan.agents.construction.graph import graph as construction
from chat_model import chat_model
from deepagents import create_deep_agent
from langchain_core.messages import ToolCall

DOCUMENTS = Path(__file__).parent.parent / "en"
QUESTION = "Where was Marie Curie born?"

construction.invoke({"knowledge_base": "english", "paths": [str(DOCUMENTS)]})  # free where nothing has changed

documents = banyan.as_subagent("english", about="physicists and chemists around 1900, and their cities")
agent = create_deep_agent(
    model=chat_model(lambda question: ToolCall(name="task", id="1", args={
        "description": question, "subagent_type": documents["name"]})),
    system_prompt="Answer from the documents. Keep the source numbers and quotes of the subagent's reply.",
    subagents=[documents])

question = sys.argv[1] if len(sys.argv) > 1 else QUESTION
print(agent.invoke({"messages": [("user", question)]})["messages"][-1].text)
