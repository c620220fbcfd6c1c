"""Check an installed wheel as its first user would, outside the checkout: the demo, `doctor`, the page, and Studio.

`python tests/check_wheel.py`, with the Python of an environment that has the wheel with `[studio,server]`.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent
PAGE, STUDIO = 8123, 2123
GRAPHS = ("construction", "retrieval")
STUDIO_CONFIG = {"dependencies": ["."], "graphs": {
    name: f"banyan.agents.{name}.graph:graph" for name in GRAPHS}, "http": {"app": "banyan.server.hosted:app"}}
SECONDS = 180


def run(*command: object, folder: Path) -> str:
    done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True, timeout=900,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def fetched(url: str, body: dict[str, Any] | None = None) -> str:
    request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return str(answer.read().decode())


@contextmanager
def serving(*command: object, folder: Path, ready: str) -> Iterator[None]:
    """Run a server in the block, which begins as soon as an address of it answers."""
    with (folder / "server.log").open("w") as log, subprocess.Popen(
            [str(part) for part in command], cwd=folder, stdout=log, stderr=log) as server:
        try:
            end = time.monotonic() + SECONDS
            while True:
                try:
                    fetched(ready)
                    break
                except OSError:
                    assert server.poll() is None and time.monotonic() < end, (folder / "server.log").read_text()
                    time.sleep(1)
            yield
        finally:
            server.terminate()


def check(folder: Path) -> None:
    banyan = BIN / "banyan"
    assert not Path(str(files("banyan"))).is_relative_to(Path.cwd()), "the checkout, not the wheel"
    run(banyan, "build", files("banyan") / "examples" / "en", "--kb", "english", folder=folder)
    answer = json.loads(run(banyan, "ask", "When was Marie Curie born?", "--kb", "english", "--json", folder=folder))
    assert "1867" in answer["answer"], answer
    assert json.loads(run(banyan, "doctor", "--json", folder=folder))["ok"]
    with serving(banyan, "serve", "--port", PAGE, "--no-browser", folder=folder,
                 ready=f"http://127.0.0.1:{PAGE}/api/ready"):
        assert "assets/main.js" in fetched(f"http://127.0.0.1:{PAGE}/")
        assert "followPicker" in fetched(f"http://127.0.0.1:{PAGE}/assets/main.js")
        asked = fetched(f"http://127.0.0.1:{PAGE}/api/knowledge-bases/english/ask",
                        {"question": "When was Marie Curie born?"})
        assert "1867" in asked, asked
    (folder / "langgraph.json").write_text(json.dumps(STUDIO_CONFIG))
    with serving(BIN / "langgraph", "dev", "--no-browser", "--port", STUDIO, folder=folder,
                 ready=f"http://127.0.0.1:{STUDIO}/ok"):
        found = json.loads(fetched(f"http://127.0.0.1:{STUDIO}/assistants/search", {}))
        assert {assistant["graph_id"] for assistant in found} >= set(GRAPHS), found
        asked = json.loads(fetched(f"http://127.0.0.1:{STUDIO}/runs/wait", {
            "assistant_id": "retrieval", "input": {"knowledge_base": "english",
                                                   "question": "When was Marie Curie born?"}}))
        assert "1867" in asked["answer"], asked


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"BANYAN_HOME": str(Path(home) / "bases"), "LANGGRAPH_CLI_NO_ANALYTICS": "1",
                       "LANGGRAPH_NO_VERSION_CHECK": "1", "LANGSMITH_TRACING": "false"}
        os.chdir(home)
        check(Path(home))
        print(f"the wheel works on Python {sys.version.split()[0]}")
