"""Processes that start in milliseconds: forked from one that has imported Banyan and done nothing else.

`WarmProcess` is a `subprocess.Popen` of `banyan`, or of a Python program that uses it: with a process id, an exit code,
signals and pipes of its own, as if it had been executed, but without two to four seconds of imports. Where that start
is the point (the entry point, what is imported and when), use `subprocess` itself.

As a script, this is the process that forks: a child for each request on the socket that it is given.
"""

import atexit
import contextlib
import ctypes
import gc
import importlib
import io
import json
import os
import resource
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

BANYAN = str(Path(sys.executable).with_name("banyan"))
HASHED = "TESTS_HASHED_EMBEDDER"
"""The variable that gives a process the tests' hashed embedder, for tests that embedding is not the point of."""
DESCRIPTORS = "TESTS_DESCRIPTORS"
"""The variable that says how many files a process may have open."""
IMPORTED = (
    "banyan.agents.construction.graph", "banyan.agents.resources", "banyan.agents.retrieval.graph", "banyan.cli.main",
    "banyan.evaluation.recall", "banyan.graph_store.integrity.backup", "banyan.graph_store.integrity.verify",
    "banyan.graph_store.sql.table_file", "banyan.graph_store.tree.tree_levels", "chromadb",
    "banyan.models.embedding.minilm", "onnxruntime", "banyan.models.llm.chat_model", "banyan.models.rules.reader",
    "banyan.models.rules.rules_reasoner", "banyan.server.app", "banyan.subagent.tool", "anyio._backends._asyncio",
    "bm25s", "chromadb_rust_bindings", "chromadb.api.rust", "httpcore2", "langchain_openai",
    "mcp", "networkx", "openai.resources.chat", "sklearn.cluster", "sqlglot.dialects.duckdb", "typer.rich_utils",
    "uvicorn")
FIXED = {"COLUMNS": "200", "NO_COLOR": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""What modules read when they are imported. A process with several threads must not be forked."""
_BECOME_SUBREAPER = 36
_LARGEST = 1 << 20


class WarmProcess(subprocess.Popen):
    """Like `subprocess.Popen([BANYAN, ...])`, or of `[sys.executable, "-c", CODE, ...]` or `[..., FILE, ...]`."""

    def _execute_child(self, args: Any, executable: Any, preexec_fn: Any, close_fds: Any, pass_fds: Any, cwd: Any,
                       env: Any, *rest: Any) -> None:
        pipes, new_session = rest[3:9], rest[14]
        files = [standard if fd == -1 else fd for standard, fd in enumerate((pipes[0], pipes[3], pipes[5]))]
        request = {"arguments": [str(argument) for argument in args], "folder": str(cwd or Path.cwd()),
                   "environment": dict(os.environ if env is None else env), "new_session": new_session}
        origin = _origin()
        socket.send_fds(origin, [json.dumps(request).encode()], files)
        self.pid = int(origin.recv(100))
        self._child_created = True
        self._close_pipe_fds(*pipes)


def run(arguments: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str], timeout: float,
        stdin: str = "") -> "subprocess.CompletedProcess[str]":
    with WarmProcess(arguments, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                     stderr=subprocess.PIPE, text=True, encoding="utf-8") as process:
        try:
            out, err = process.communicate(stdin, timeout)
        finally:
            process.kill()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@cache
def _origin() -> socket.socket:
    """The socket of the process that forks; there is one for each process that runs tests."""
    # What it forks becomes a child of this process, which can wait for it: the parent in between ends at once.
    ctypes.CDLL(None, use_errno=True).prctl(_BECOME_SUBREAPER, 1, 0, 0, 0)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    cleared = {name: value for name, value in os.environ.items() if not name.startswith("BANYAN_")}
    process = subprocess.Popen([sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()],
                               env={**cleared, **FIXED}, stdin=subprocess.DEVNULL)
    theirs.close()
    assert ours.recv(100) == b"ready"

    def end() -> None:
        ours.close()
        process.wait(30)

    atexit.register(end)
    return ours


def read_certificates_once() -> None:
    """Share what each client of an endpoint would read of the machine's certificates, for 20 ms."""
    httpcore = importlib.import_module("httpcore2")
    httpcore.default_ssl_context = cache(httpcore.default_ssl_context)


def import_all() -> None:
    """Import what a command imports when it needs it, so that processes that are forked then have it."""
    # scikit-learn imports pandas where it is installed, as it is for a few tests, and that starts a thread.
    sys.modules["pandas"] = None  # type: ignore[assignment]
    for module in IMPORTED:
        importlib.import_module(module)
    for command in Path(sys.modules["banyan.cli"].__path__[0], "commands").glob("*.py"):
        importlib.import_module(f"banyan.cli.commands.{command.stem}")
    del sys.modules["pandas"]
    read_certificates_once()
    sys.modules["httpcore2"].default_ssl_context()


def load_model_once() -> None:
    """Load the default embedding model, so that processes that are forked then have it.

    It starts no thread, unlike exporting it, the first time on a machine: that is left to another process.
    """
    export = "from banyan.models.embedding.minilm import bundled_export; bundled_export()"
    subprocess.run([sys.executable, "-c", export], check=True)
    embedder = importlib.import_module("banyan.models.embedding.minilm")
    for name in ("bundled_export", "OnnxEmbedder"):
        setattr(embedder, name, cache(getattr(embedder, name)))
    embedder.load_bundled(32)  # as the settings have it


def serve(channel: socket.socket) -> list[str]:
    """Fork a child for each request, until there are no more; returns in each child, with its arguments."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import_all()
    pipelines = importlib.import_module("banyan.models.parsing.parser")
    pipelines.load_pipeline(pipelines.PACKAGE, alone=True)
    pipelines.find_pipelines()
    load_model_once()
    threads = len(list(Path("/proc/self/task").iterdir()))
    assert threads == 1, f"a process with {threads} threads must not be forked"
    gc.collect()
    gc.freeze()
    channel.send(b"ready")
    while True:
        message, files, *_ = socket.recv_fds(channel, _LARGEST, 3)
        if not message:
            sys.exit()
        reading, writing = os.pipe()
        between = os.fork()
        if not between:
            child = os.fork()
            if not child:
                os.close(reading)
                os.close(writing)
                channel.close()
                return _set_up(json.loads(message), files)
            os.write(writing, str(child).encode())
            os._exit(0)
        os.waitpid(between, 0)
        channel.send(os.read(reading, 100))
        for file in (*files, reading, writing):
            os.close(file)


def _set_up(request: dict[str, Any], files: list[int]) -> list[str]:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if request["new_session"]:
        os.setsid()
    for standard, file in enumerate(files):
        os.dup2(file, standard)
        os.close(file)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), "utf-8")
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)), "utf-8")
    sys.stderr = io.TextIOWrapper(io.BufferedWriter(io.FileIO(2, "w", closefd=False)), "utf-8", "backslashreplace",
                                  line_buffering=True)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    return list(request["arguments"])


def use_hashed() -> None:
    """Have the tests' hashed embedder loaded, if the environment says so."""
    if HASHED in os.environ:
        embedder = runpy.run_path(str(Path(__file__).with_name("hashed_embedding.py")))["HashedEmbedder"]()
        importlib.import_module("banyan.agents.resources").load_embedder = lambda _: embedder


def become(arguments: list[str]) -> None:
    use_hashed()
    if DESCRIPTORS in os.environ:
        most = int(os.environ[DESCRIPTORS])
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    program, *rest = arguments
    if program == BANYAN:
        sys.argv = arguments
        importlib.import_module("banyan.cli.main").main()
    elif rest[0] == "-c":
        sys.argv = ["-c", *rest[2:]]
        exec(compile(rest[1], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = rest
        sys.path[0] = str(Path(rest[0]).parent)
        runpy.run_path(rest[0], run_name="__main__")


def main() -> None:
    code = None

    def leave() -> None:
        # The last thing at exit: the interpreter would now take every module apart, longer than most commands take.
        if code is not None:
            with contextlib.suppress(BrokenPipeError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)

    atexit.register(leave)
    arguments = serve(socket.socket(fileno=int(sys.argv[1])))
    try:
        become(arguments)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        raise
    code = 0


if __name__ == "__main__":
    main()
elif __name__ == "__mp_main__":  # a process that multiprocessing starts anew, from one that was forked
    use_hashed()
