"""`banyan serve`, with keys for its clients (`key`), and `banyan mcp` for agents that start a server themselves.

`banyan serve` is one process, or several workers behind one port, over the same files: uvicorn's supervisor starts
them, replaces one that dies, and stops them all. Limits that each process counts by itself are divided among them.
"""

import asyncio
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from ...config import Settings
from ...graph_store.layout import knowledge_bases
from ...runtime.libraries import collect_rarely
from ...schemas.services import is_loopback
from ...server.security.keys import SCOPES, Keys, Scope
from ..console import CommandError, err, note_missing_model, out, print_table, set_up_logs

if TYPE_CHECKING:
    from fastapi import FastAPI

    from ...server.security.gate import Hosts

app = typer.Typer()
MAX_HEAD = 32 * 1024  # bytes of a request's line and headers that arrive in several pieces
HEAD_SECONDS = 20  # in which the head of a request arrives, from the connection or its last answer
MOST_CONNECTIONS = 1000  # of a process; a further one takes the place of one that waits for a request, or is refused
_DESCRIPTORS = 4096  # open files of a process: its connections, and those of its knowledge bases
_GRACE = 5  # seconds that open requests have to finish when the server stops
# The settings that each process counts by itself.
_DIVIDED_LIMITS = ("asks_at_once", "llm_concurrency", "llm_requests_per_second", "llm_tokens_per_minute",
                   "requests_per_minute")
# Seconds for a worker to start, and to answer the supervisor, before it is killed. This is far more than it needs,
# because a build may block all of Python while it parses something large.
_STARTS_WITHIN, _ANSWERS_WITHIN = 120, 60


@app.command()
def serve(host: str = "127.0.0.1", port: Annotated[int, typer.Option(min=1, max=65535)] = 8000,
          workers: Annotated[int, typer.Option(min=1)] = 1, *, no_browser: bool = False) -> None:
    """Serve the knowledge bases: a web page, REST, chat and MCP, on one port."""
    from ...server.security.gate import Hosts, is_for_others  # noqa: PLC0415  (`banyan key` does without this second)

    settings = Settings()
    is_reachable = is_for_others(settings.server_hosts) or not is_loopback(host)
    if is_reachable and not settings.oidc_issuer and not Keys.of(settings).all():
        raise CommandError("the server can be reached from other machines, and no API key is set: make one with "
                           "`banyan key NAME --scope read --scope ask`, set BANYAN_OIDC_ISSUER, or omit "
                           "BANYAN_SERVER_HOSTS and --host")
    hosts = Hosts.bound(host, settings.server_hosts)
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"  # IPv6 in brackets
    try:  # a trial before models are loaded, which takes long; the server opens the port again
        socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError as error:
        raise CommandError(f"{host}:{port} cannot be listened on ({error.strerror or error}): end the program that "
                           "uses it, or choose another with --host or --port") from error
    _allow_descriptors()

    def announce() -> None:
        """Print the address, and open it in a browser if a person at this machine has started the server."""
        err.say("Banyan is at {} (Ctrl-C ends it)", address)
        # Without a display, a text browser would take over the terminal.
        has_windows = sys.platform in ("darwin", "win32") or {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys()
        # A server for other machines needs keys, so a browser here could not use it without one.
        if sys.stderr.isatty() and has_windows and not no_browser and not is_reachable:
            # In a thread, because a browser that starts slowly must not block the server.
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    options = {"host": host, "port": port, **_SERVER_OPTIONS}
    note_missing_model(settings)
    if workers > 1:
        supervisor = WorkerSupervisor(settings, workers, hosts, announce, needs_keys=is_reachable, **options)
        with tempfile.TemporaryDirectory(prefix="banyan-metrics-") as folder:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # for the workers' shared counters (server/metrics.py)
            supervisor.run()
        started = supervisor.started
    else:
        started = serve_alone(settings, hosts, announce, needs_keys=is_reachable, options=options)
    if not started:
        raise typer.Exit(1)


def _allow_descriptors() -> None:
    """Let the process open `_DESCRIPTORS` files, if the system allows it; many begin with 256 or 1,024."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - Windows has none

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)  # the limit in force, and what it may be raised to
        wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(_DESCRIPTORS, hard)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def serve_alone(settings: Settings, hosts: "Hosts", listening: Callable[[], None], *, needs_keys: bool,
                options: dict[str, Any]) -> bool:
    """Serve in this process until it is stopped; return True if the server could start.

    `listening` is called once it has started. If a build cannot be stopped at the end, this process exits here.
    """
    app = serving_app(settings, hosts, needs_keys=needs_keys)
    server = _Server(uvicorn.Config(app, **options), listening)
    # uvicorn handles a signal by shutting down, and then raises it again, which would kill this process.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    server.run()
    if not app.state.service.idle:  # a build still runs
        sys.stderr.flush()
        os._exit(0)  # a normal exit would wait for the build's thread, which cannot be stopped
    return server.started


class _Server(uvicorn.Server):
    """A server that calls `listening` once it accepts connections, so its address is not announced too early."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[], None]) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does, then call `listening`; a server that could not start is not announced."""
        await super().startup(sockets)
        if self.started:
            self._listening()


class Connection(H11Protocol):
    """A connection that is closed unless the whole head of a request arrives within `timeout_keep_alive` seconds."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the timer, which uvicorn starts only after an answer, and make room for this connection."""
        super().connection_made(cast("asyncio.Transport", transport))
        if self.limit_concurrency is not None:
            # Only those that wait for the head of a request have a timer; the others are being answered.
            closing_time = {connection: connection.timeout_keep_alive_task.when() for connection in self.connections
                            if isinstance(connection, Connection) and connection.timeout_keep_alive_task}
            excess = max(0, len(self.connections) + 1 - self.limit_concurrency)
            # Those that have waited longest for the head of a request are closed.
            for connection in sorted(closing_time, key=closing_time.__getitem__)[:excess]:
                connection.timeout_keep_alive_handler()
                # uvicorn does this when the transport has closed; a request that is handled before would be refused.
                self.connections.discard(connection)
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def data_received(self, data: bytes) -> None:
        """Handle what has arrived without stopping the timer, as uvicorn's own method does at the first byte."""
        self.conn.receive_data(data)
        self.handle_events()


# Unlike httptools, h11 limits the head. Addresses that proxies claim are not trusted: rate limits count by address.
_SERVER_OPTIONS: dict[str, Any] = {
    "log_level": "warning", "access_log": False, "server_header": False, "proxy_headers": False, "http": Connection,
    "h11_max_incomplete_event_size": MAX_HEAD, "ws": "none", "timeout_graceful_shutdown": _GRACE,
    "timeout_keep_alive": HEAD_SECONDS, "limit_concurrency": MOST_CONNECTIONS}


def serving_app(settings: Settings, hosts: "Hosts", *, needs_keys: bool, workers: int = 1) -> "FastAPI":
    """Create the app that a process serves; called in that process, whose end closes the app's resources."""
    # Imported here, so the supervisor of several workers, which serves nothing, saves the 2 s and 130 MB.
    from ...agents.resources import Resources  # noqa: PLC0415
    from ...server.app import create_app  # noqa: PLC0415
    set_up_logs(settings)
    # A thread lets others run at each read of a file or database, and waits this long to go on if one of them computes:
    # with Python's 5 ms, one client's computations would slow down the many reads of another one's request.
    sys.setswitchinterval(0.0005)
    return create_app(Resources(settings), hosts=hosts, needs_keys=needs_keys, workers=workers)


class WorkerSupervisor(Multiprocess):
    """The supervisor of several workers; its `settings` are those of all workers together."""

    def __init__(self, settings: Settings, workers: int, hosts: "Hosts", listening: Callable[[], None], *,
                 needs_keys: bool, **options: Any) -> None:
        """Bind the port; nothing is started yet."""
        app = partial(_worker_app, divide_limits(settings, workers), hosts, needs_keys=needs_keys, workers=workers)
        config = uvicorn.Config(app, factory=True, workers=workers, timeout_worker_healthcheck=_ANSWERS_WITHIN,
                                **options)
        self.started = False
        self._listening = listening
        super().__init__(config, [config.bind_socket()])

    def init_processes(self) -> None:
        """Start all workers; if one cannot start, stop all, as it would fail again whenever it is replaced."""
        for _ in range(self.processes_num):
            process = Process(self.config, self.sockets)
            # Reading this lazy property creates its value before threads use it. Otherwise two threads could each
            # create one, and the worker's start would go unnoticed.
            process.server  # noqa: B018
            process.start()
            self.processes.append(process)
        self.started = all(process.wait_until_ready(_STARTS_WITHIN) for process in self.processes)
        if self.started:
            self._listening()
        else:
            self.should_exit.set()


def divide_limits(settings: Settings, workers: int) -> Settings:
    """Return a worker's settings, with its part of each limit; raise CommandError if one cannot be divided."""
    limits = {name: limit for name in _DIVIDED_LIMITS if (limit := getattr(settings, name)) is not None}
    for name, limit in limits.items():
        if isinstance(limit, int) and limit < workers:
            raise CommandError(f"BANYAN_{name.upper()} is {limit}, which cannot be divided among {workers} workers: "
                               "start fewer, or raise it")
    # Whole numbers stay whole, such as a number of questions; rates need not.
    return settings.model_copy(update={name: limit // workers if isinstance(limit, int) else limit / workers
                                       for name, limit in limits.items()})


def _worker_app(settings: Settings, hosts: "Hosts", *, needs_keys: bool, workers: int) -> "FastAPI":
    """Create the app of a worker, in the worker's process."""
    def end_with_supervisor() -> None:
        """Stop this worker when its supervisor has ended: nobody else would, if the supervisor was killed."""
        if supervisor := multiprocessing.parent_process():
            supervisor.join()
            os.kill(os.getpid(), signal.SIGTERM)

    collect_rarely()
    threading.Thread(target=end_with_supervisor, daemon=True).start()
    return serving_app(settings, hosts, needs_keys=needs_keys, workers=workers)


@app.command()
def key(name: Annotated[str, typer.Argument()] = "", scope: list[str] | None = None, kb: list[str] | None = None,
        per_minute: Annotated[int | None, typer.Option(min=1)] = None, *, revoke: bool = False) -> None:
    """Create, list or revoke API keys of the server."""
    settings = Settings()
    keys = Keys.of(settings)
    if not name:
        print_table(("client", "scopes", "knowledge bases", "a minute", "created"), [
            (known.name, ", ".join(known.scopes),
             "all" if known.knowledge_bases is None else ", ".join(known.knowledge_bases),
             known.requests_per_minute or "", known.created_at) for known in keys.all()])
    elif revoke:
        # Imported here, because they take half a second, and only revoking needs them.
        from ...server.runs.conversations import Conversations  # noqa: PLC0415
        from ...server.server_database import ServerDatabase  # noqa: PLC0415

        keys.revoke(name)
        with closing(ServerDatabase.of(settings)) as database:
            Conversations(database).forget_client(name)  # a later client of the same name must not get them
        err.print(f"revoked, and its conversations deleted: {name}")
        if not keys.all():
            err.say("no key is left, so the server accepts no request: make another, or delete the file of keys (in "
                    "PostgreSQL the rows of banyan.banyan_keys) to open it to this machine again")
    else:
        wanted: list[Scope] = [known for known in SCOPES if known in (scope or ())]
        if not scope or len(wanted) != len(set(scope)):
            raise CommandError(f"choose what the key allows: --scope with one of {', '.join(SCOPES)}; may be repeated")
        secret = keys.make(name, wanted, kb or (), per_minute)
        for missing in sorted({*(kb or ())} - {*knowledge_bases(settings)}):
            err.say("there is no knowledge base {} yet; the key will apply once it is created", missing)
        err.print("send it as `Authorization: Bearer KEY`; it is not shown again:")
        out.print(secret, soft_wrap=True)


@app.command()
def mcp(kb: str = "", *, read_only: bool = False, decisions: bool = False) -> None:
    """Serve search, ask, documents and schema to an agent over MCP, on standard input and output."""
    # Imported here, because they take seconds, which `serve` with several workers and `key` save.
    from ...subagent.mcp_tools import McpGate, mcp_server  # noqa: PLC0415
    from ..session import open_resources  # noqa: PLC0415

    with open_resources() as resources:
        server = mcp_server(resources, knowledge_base=kb, writes=not read_only, decides=decisions and not read_only,
                            gate=McpGate(sees=lambda _, name: not kb or name == kb))
        # A thread that waits for standard input cannot be stopped, so Ctrl-C is to end the process at once, as SIGTERM
        # does. That is safe, because the ledger survives any kill.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        asyncio.run(server.run_stdio_async())
