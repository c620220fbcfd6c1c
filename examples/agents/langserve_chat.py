"""A chat through LangServe's client, with follow-ups: `python examples/agents/langserve_chat.py [URL] [KB]`.

Start a server first: `banyan build examples/en --kb english && banyan serve`, which serves http://127.0.0.1:8000.
"""

import sys
import uuid

from langserve import RemoteRunnable

URL, KB = "http://127.0.0.1:8000", "english"
QUESTIONS = ("Where was Marie Curie born?", "When was she born?")

url, kb = [*sys.argv[1:], *(URL, KB)[len(sys.argv) - 1:]]

chat = RemoteRunnable(f"{url}/chat/kb/{kb}")  # with API keys: headers={"X-API-Key": ...}
# The server keeps the conversation under this name; without it, send all messages each time.
thread = {"configurable": {"thread_id": uuid.uuid4().hex}}
for question in QUESTIONS:
    print(f"> {question}")
    for piece in chat.stream({"messages": [("user", question)]}, thread):
        print(piece.content, end="", flush=True)  # the last piece has the sources, and as data in `additional_kwargs`
    print()
