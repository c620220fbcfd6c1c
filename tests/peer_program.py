"""A peer's program for tests: it asks the endpoint for vectors and for each answer, as peers do."""

import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

job = json.loads(Path(sys.argv[1]).read_text("utf-8"))


def post(path: str, body: dict[str, Any]) -> bytes:
    request = urllib.request.Request(f"{job['base_url']}/{path}", json.dumps(body).encode(),
                                     {"content-type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return bytes(response.read())


built = Path(job["folder"]) / "built"
if not built.exists():
    texts = [document["text"] for document in job["documents"]]
    vectors = [item["embedding"] for item in json.loads(post("embeddings", {"input": texts}))["data"]]
    assert {len(vector) for vector in vectors} == {job["dimension"]}
    post("chat/completions", {"model": "any", "messages": [{"role": "user", "content": "Build."}]})
    built.touch()
print("a line that is for nobody\n" + json.dumps({"built": 1.5}), flush=True)
for line in sys.stdin:
    question = json.loads(line)
    asked = {"model": "any", "messages": [{"role": "user", "content": f"{question['question']}\n{job['instruction']}"}]}
    streamed = post("chat/completions", asked | {"stream": True}).decode().split("\n\n")
    text = "".join(json.loads(event[6:])["choices"][0]["delta"].get("content") or ""
                   for event in streamed if event.startswith("data: {"))
    assert streamed[-2] == "data: [DONE]"
    assert text == json.loads(post("chat/completions", asked))["choices"][0]["message"]["content"]
    print("{'what': 'a line that is no JSON, though it begins so'}\n[1]\n\n17")
    print(json.dumps({"id": question["id"], "answer": text}), flush=True)
sys.exit(int("fail" in sys.argv))
