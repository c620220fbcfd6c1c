"""An agent that plans its lookups and whose quotes are checked: `python examples/agents/planning_agent.py [QUESTION]`.

It has the six lookups that Banyan's own agent uses: cards of entities, facts, SQL, paths, reports and passages. The
middleware asks for quotes, sends an answer back once if a quote stands in no result, and attaches the sources.
"""

import sys
from pathlib import Path

import banyan
from chat_model import chat_model
from langchain.agents import create_agent
from langchain_core.messages import ToolCall

DOCUMENTS = Path(__file__).parent.parent / "en"
QUESTION = "Where was Marie Curie born?"

with banyan.open("english") as kb:
    kb.add(DOCUMENTS)  # free where nothing has changed
    agent = create_agent(
        chat_model(lambda question: ToolCall(name="passage_search", id="1", args={"query": question}), quotes=True),
        tools=kb.as_tools(),
        middleware=[banyan.CitationMiddleware()])
    state = agent.invoke({"messages": [("user", sys.argv[1] if len(sys.argv) > 1 else QUESTION)]})
    for message in state["messages"]:
        for block in getattr(message, "artifact", None) or ():  # of a tool: what it found, as data
            print("Found in:", ", ".join(dict.fromkeys(item.document for item in block.items)))
    print(state["messages"][-1].text)
