"""A Ray cluster of the tests' own: real nodes of `ray start` on loopback, small ones, each a process to be killed.

Ray does what whoever reaches its ports says, and by itself listens on every interface. Here it is kept to loopback, and
asks for a token. Import this before Ray: it reads both from the environment, once.
"""

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Self

from .ports import free_port

_STARTED = "Ray runtime started."
_SECONDS = 120
_SAFE = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
os.environ.update(_SAFE)
# Without clusters Ray stays on loopback, and refuses a second node: this lets it have one there.
_START = ("from ray._private import ray_constants, services\nfrom ray.scripts.scripts import main\n"
          "services.get_node_ip_address = lambda address=None: '127.0.0.1'\n"
          "ray_constants.ENABLE_RAY_CLUSTER = True\nmain()")
_OBJECT_STORE = 80_000_000  # the least that Ray takes


class RayCluster:
    """One head with so many processors and some workers with one each; a context manager that ends them."""

    def __init__(self, workers: int = 2, head: int = 1) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        self._workers = workers
        self._head = head
        # The paths of its sockets must be short.
        self._folder = tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True)
        self._nodes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        try:
            self._add("--head", "--port", self.address.rpartition(":")[2], "--temp-dir", self._folder.name,
                      "--include-dashboard=false", "--disable-usage-stats")
            for _ in range(self._workers):
                self._add("--address", self.address)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for number in reversed(range(len(self._nodes))):
            self.kill(number)
        self._folder.cleanup()

    def _add(self, *options: str) -> None:
        """Start another node, and wait until it is there: of two that start at once here one would fail."""
        log = Path(self._folder.name) / f"node-{len(self._nodes)}.log"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        with log.open("wb") as output:
            node = subprocess.Popen(
                [sys.executable, "-c", _START, "start", *options, "--node-ip-address=127.0.0.1",
                 f"--num-cpus={1 if self._nodes else self._head}",
                 f"--object-store-memory={_OBJECT_STORE}", "--block"], stdout=output, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL, start_new_session=True,
                env={**environment, **_SAFE, "RAY_USAGE_STATS_ENABLED": "0"})
        self._nodes.append(node)
        deadline = time.monotonic() + _SECONDS
        while _STARTED not in log.read_text("utf-8", "replace"):
            assert node.poll() is None, log.read_text("utf-8", "replace")
            assert time.monotonic() < deadline, "the node did not start"
            time.sleep(0.1)

    def kill(self, number: int) -> None:
        """End a node and all of its processes with -9; 0 is the head."""
        node = self._nodes[number]
        if node.poll() is None:
            os.killpg(node.pid, signal.SIGKILL)
            node.wait()
