"""What Studio's chat and agent-chat-ui send, messages alone: `python examples/agents/chat_messages.py [URL] [KB]`.

Start the server first: `banyan build examples/en --kb english && langgraph dev`, which serves http://127.0.0.1:2024. In
agent-chat-ui (at http://localhost:3000, as `pnpm dev` serves it), enter that address and, as the assistant's id,
`retrieval` or the id of the knowledge base's assistant.
"""

import sys

from langchain_core.messages import convert_to_messages
from langgraph_sdk import get_sync_client

URL, KB = "http://127.0.0.1:2024", "english"
QUESTIONS = ("Where was Marie Curie born?", "When was she born?")

url, kb = [*sys.argv[1:], *(URL, KB)[len(sys.argv) - 1:]]

with get_sync_client(url=url) as client:  # with API keys: headers={"X-API-Key": ...}
    # The server offers an assistant for each knowledge base; with one alone, `retrieval` finds it by itself.
    assistant = next(one for one in client.assistants.search(graph_id="retrieval", name=kb) if one["name"] == kb)
    thread = client.threads.create()["thread_id"]
    for question in QUESTIONS:
        state = client.runs.wait(thread, assistant["assistant_id"], input={
            "messages": [{"role": "user", "content": question}]})
        answer = convert_to_messages(state["messages"])[-1]  # its text ends with its sources
        print(f"> {question}\n{answer.text}")
        for block in answer.content_blocks:
            for citation in block.get("annotations", ()):
                print(f"  {citation['title']}: {citation['cited_text']!r}")
