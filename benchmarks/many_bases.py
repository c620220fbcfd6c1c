"""Asks many knowledge bases in turn of one server: its descriptors, threads and memory stay where they are.

`python benchmarks/many_bases.py --bases 300 --descriptors 512` copies one small knowledge base that often, asks each
over REST of a `banyan serve` that may open so many descriptors, and prints what the server holds after each tenth of
them. A question that fails ends it.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path.append(str(PROJECT))

from benchmarks.serve_load import resident  # noqa: E402
from tests.ports import free_port  # noqa: E402

BANYAN = [sys.executable, "-m", "banyan"]
STARTS_WITHIN = 60


def main() -> None:
    """Build one, copy it, ask all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bases", type=int, default=300)
    parser.add_argument("--descriptors", type=int, default=512)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home, port = Path(folder), free_port()
        environment = {**os.environ, "BANYAN_HOME": folder, "BANYAN_LLM_BASE_URL": "", "BANYAN_LLM_MODEL": "",
                       "BANYAN_REQUESTS_PER_MINUTE": "100000"}
        built = [*BANYAN, "build", str(PROJECT / "examples" / "en"), "--kb", "kb", "--json"]
        subprocess.run(built, env=environment, check=True, stdout=subprocess.DEVNULL)
        for number in range(arguments.bases):
            shutil.copytree(home / "kb", home / f"kb{number}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (arguments.descriptors, arguments.descriptors))
        with subprocess.Popen([*BANYAN, "serve", "--port", str(port), "--no-browser"], env=environment,
                              stdout=subprocess.DEVNULL) as server:
            try:
                _ask_all(f"http://127.0.0.1:{port}", server.pid, arguments.bases)
            finally:
                server.terminate()


def _ask_all(url: str, server: int, bases: int) -> None:
    _wait(url)
    for number in range(bases):
        request = urllib.request.Request(
            f"{url}/api/knowledge-bases/kb{number}/ask", headers={"Content-Type": "application/json"},
            data=json.dumps({"question": "When was Marie Curie born?"}).encode())
        with urllib.request.urlopen(request, timeout=60) as response:
            answer = json.load(response)["answer"]
        if "1867" not in answer:
            raise SystemExit(f"kb{number}: {answer}")
        if number % (bases // 10) == 0:
            files, threads = (len(list(Path(f"/proc/{server}", kind).iterdir())) for kind in ("fd", "task"))
            print(f"{number + 1}: {files} descriptors, {threads} threads, {resident(server):.0f} MB", flush=True)


def _wait(url: str) -> None:
    ends = time.monotonic() + STARTS_WITHIN
    while True:
        try:
            with urllib.request.urlopen(f"{url}/api/ready", timeout=5):
                return
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > ends:
                raise
            time.sleep(0.2)


if __name__ == "__main__":
    main()
