"""Watch the documentation's commands with strace: none connects to anything beyond this machine.

`python benchmarks/egress.py` prints each command with the addresses that it tried to reach, and fails if there is any.
Needs strace.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
_OUT = re.compile(r'(?:connect|sendto|sendmsg)\(.*sa_family=AF_INET.*?inet_(?:addr|pton)\((?:AF_INET6, )?"([^"]+)"')
_HERE = re.compile(r"127\.|::1$|::ffff:127\.|0\.0\.0\.0$")
_MCP = (b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", '
        b'"capabilities": {}, "clientInfo": {"name": "egress", "version": "1"}}}\n')
_SERVES = 25


def watched(command: list[str | Path], folder: Path, ready: str = "", given: bytes = b"") -> set[str]:
    """Run a command, and return the addresses beyond this machine that it and its children tried to reach.

    Args:
        command: the command, run in the project's folder.
        folder: the folder for files that are written.
        ready: for a server, the address of its page; the server then runs for a while.
        given: standard input.
    """
    trace = folder / "trace.txt"
    changed = {"BANYAN_HOME": str(folder / "home"), "BANYAN_LLM_BASE_URL": "",
               "PATH": f"{BIN}:{os.environ['PATH']}"}
    strace = ["strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg", "-o", trace]
    with subprocess.Popen([*strace, *command], cwd=ROOT, env=os.environ | changed, stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        if ready:
            _wait_for(ready)
            time.sleep(_SERVES)
            os.killpg(process.pid, signal.SIGTERM)
        process.communicate(given)
    return {address for address in _OUT.findall(trace.read_text()) if not _HERE.match(address)}


def _wait_for(address: str) -> None:
    deadline = time.monotonic() + 90
    while True:
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            if time.monotonic() > deadline:
                raise  # nothing else is looked at: the server did not start
            time.sleep(0.5)
        else:
            return


def main() -> int:
    """Watch all commands."""
    banyan: list[str | Path] = [BIN / "banyan"]
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for label, command, ready, given in (
                ("build", [*banyan, "build", "examples/en", "--kb", "english"], "", b""),
                ("ask", [*banyan, "ask", "When was Marie Curie born?", "--kb", "english"], "", b""),
                ("serve", [*banyan, "serve", "--port", "8765"], "http://127.0.0.1:8765/api/ready", b""),
                ("mcp", [*banyan, "mcp"], "", _MCP),
                ("studio", ["make", "-o", ".venv/installed", "studio", "PORT=8766"], "http://127.0.0.1:8766/ok", b"")):
            asked = watched(list(command), folder, ready, given)
            failed = failed or bool(asked)
            print(f"{label}: {', '.join(sorted(asked)) or 'nothing beyond this machine'}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
