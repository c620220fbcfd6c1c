"""An A2A client: `python examples/agents/a2a_client.py [URL] [KB]`.

Start the server first: `banyan build examples/en --kb english && langgraph dev`, which serves http://127.0.0.1:2024.
"""

import sys
import uuid

import httpx
from langgraph_sdk import get_sync_client

URL, KB = "http://127.0.0.1:2024", "english"
QUESTION = "Where was Marie Curie born?"

url, kb = [*sys.argv[1:], *(URL, KB)[len(sys.argv) - 1:]]

with get_sync_client(url=url) as client:  # each knowledge base is an agent of its own
    named = client.assistants.search(graph_id="retrieval", name=kb)
    agent = next(one for one in named if one["name"] == kb)["assistant_id"]

with httpx.Client(base_url=f"{url}/a2a/{agent}", timeout=300, headers={"Accept": "application/json"}) as http:
    card = http.get("/.well-known/agent-card.json").json()
    print(f"{card['name']}: {card['description']}")
    answer = http.post("", json={"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {
        "role": "user", "messageId": uuid.uuid4().hex, "parts": [{"kind": "text", "text": QUESTION}]}}}).json()
    for artifact in answer["result"]["artifacts"]:
        print(*(part["text"] for part in artifact["parts"]))
