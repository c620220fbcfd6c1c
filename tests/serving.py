"""`banyan serve` as a user runs it: a process with a home of its own, on a free port of this machine."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from fpdf import FPDF

from . import command_line, warm_start
from .ports import free_port
from .waiting import wait_for_answer

STARTS_WITHIN = 180  # the machine may be busy, and workers start one after another: 5 s on a quiet one
ENDS_WITHIN = 60  # the machine may be busy: one second on a quiet one


@dataclass(frozen=True)
class Served:
    url: str
    home: Path
    log: Path
    process: "subprocess.Popen[bytes]"

    @property
    def said(self) -> str:
        return self.log.read_text("utf-8", errors="replace")


@contextmanager
def served(folder: Path, *arguments: str, host: str = "127.0.0.1", **settings: str) -> Iterator[Served]:
    """A server in `folder / "home"` that is ready, ended at the end of the block; `settings` are of its environment."""
    home, log, port = folder / "home", folder / "server.log", free_port()
    command = [warm_start.BANYAN, "serve", "--host", host, "--port", str(port), *arguments]
    with log.open("wb") as output, warm_start.WarmProcess(
            command, cwd=folder, env=command_line.clean_environment(BANYAN_HOME=str(home), **settings), stdout=output,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL) as process:
        server = Served(f"http://127.0.0.1:{port}", home, log, process)
        try:
            wait_for_answer(f"{server.url}/api/ready", process, log, STARTS_WITHIN)
            yield server
        finally:
            stop(server)


@contextmanager
def replicas(folder: Path, database: str, number: int = 2, **settings: str) -> Iterator[list[Served]]:
    with ExitStack() as stack:
        servers = []
        for one in range(number):
            home = folder / f"replica-{one}"
            home.mkdir(parents=True, exist_ok=True)
            servers.append(stack.enter_context(served(home, BANYAN_DATABASE_URL=database, **settings)))
        yield servers


def stop(server: Served) -> int:
    with suppress(ProcessLookupError):
        server.process.send_signal(signal.SIGTERM)
    try:
        return server.process.wait(ENDS_WITHIN)
    except subprocess.TimeoutExpired:
        server.process.kill()
        raise


def build_demo(folder: Path, kb: str = "english", *, language: str = "en") -> None:
    command_line.CommandLine(folder)("build", command_line.EXAMPLES / language, "--kb", kb, "--json")


def print_work(file: Path, *pages: str) -> None:
    printed = FPDF()
    for words in pages:
        printed.add_page()
        printed.set_font("helvetica")
        printed.cell(text=words)
    printed.output(file)
