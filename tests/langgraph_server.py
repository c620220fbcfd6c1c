"""`langgraph dev` as a user runs it: a process with a home of its own, on a free port of this machine."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from langgraph_sdk.errors import APIStatusError

from . import command_line, warm_start
from .ports import free_port
from .waiting import wait_for_answer

STARTS_WITHIN = 60


def project_in(folder: Path) -> Path:
    """Make a folder look like the project's root to the server, so that what the server leaves behind stays in it."""
    for entry in command_line.PROJECT.iterdir():
        if not entry.name.startswith("."):
            (folder / entry.name).symlink_to(entry)
    return folder


@contextmanager
def langgraph_dev(folder: Path, log: Path, **settings: str) -> Iterator[str]:
    """The address of a running server, ended at the end of the block.

    Args:
        folder: as `project_in` made it; the home is `folder / "home"`.
        log: the file for what the server says.
        settings: further variables of its environment.
    """
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, str(Path(sys.executable).with_name("langgraph")), "dev", "--no-browser", "--no-reload",
               "--host", "127.0.0.1", "--port", str(port), "--n-jobs-per-worker", "4"]
    environment = command_line.clean_environment(
        **{"BANYAN_HOME": str(folder / "home"), "LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1",
           "LANGGRAPH_NO_VERSION_CHECK": "1"} | settings)
    with log.open("wb") as output, warm_start.WarmProcess(
            command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            start_new_session=True) as server:
        try:
            wait_for_answer(f"{address}/ok", server, log, STARTS_WITHIN)
            yield address
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                server.wait(timeout=20)
            with suppress(ProcessLookupError):  # nobody of its group is left
                os.killpg(server.pid, signal.SIGKILL)


@contextmanager
def refused(status: int, why: str = "") -> Iterator[None]:
    """The block ends with the response of this status."""
    with pytest.raises((APIStatusError, httpx.HTTPStatusError)) as told:
        yield
    assert (told.value.response.status_code, why in told.value.response.text) == (status, True)
