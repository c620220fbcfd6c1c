"""`banyan serve`, with keys for its clients (`key`), and `banyan mcp` for agents that start a server themselves."""

import asyncio
import errno
import os
import signal
import socket
import sys
import tempfile
import threading
import webbrowser
from contextlib import closing
from typing import Annotated, Any

import typer

from ...config import Settings
from ...graph_store.layout import knowledge_bases
from ...schemas.services import is_loopback
from ...server.security.hosts import Hosts, is_for_others
from ...server.security.keys import SCOPES, Keys, Scope
from ..console import CommandError, err, note_missing_model, on_a_line, out, table_of
from ..serving import Connection, WorkerSupervisor, serve_alone

app = typer.Typer()

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
MAX_HEAD = 32 * 1024
"""Most bytes of a request's line and headers that arrive in several pieces."""
HEAD_SECONDS = 20
"""Seconds in which the head of a request arrives, from the connection or its last answer; then it is closed."""
_DESCRIPTORS = 4096
"""Open files of a process: its connections, and those of its knowledge bases."""
_GRACE = 5
"""Seconds that open requests have to finish when the server stops."""
MOST_CONNECTIONS = 1000
"""Connections of a process; a further one takes the place of one that waits for a request, or is refused."""


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; other machines can connect only with API keys or an "
                                          "OIDC issuer.")]
    = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8000,
    workers: Annotated[int, typer.Option(min=1, help="Number of processes; one per core is fastest.")] = 1,
    *, no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the page in the browser.")] = False,
) -> None:
    """Serve the knowledge bases: a web page, REST, chat and MCP, on one port."""
    settings = Settings()
    has_public_names = is_for_others(settings.server_hosts)
    is_reachable = has_public_names or not is_loopback(host)
    if is_reachable and not settings.oidc_issuer and not Keys.of(settings).all():
        reached = (f"{host} can be reached from other machines" if not is_loopback(host) else
                   f"BANYAN_SERVER_HOSTS names this server for others ({settings.server_hosts})")
        cause = "BANYAN_SERVER_HOSTS" if has_public_names else "--host"
        raise CommandError(f"{reached}, and no API key is set: make one with `banyan key NAME --scope read --scope "
                           f"ask`, set BANYAN_OIDC_ISSUER, or omit {cause}")
    hosts, address = Hosts.bound(host, settings.server_hosts), f"http://{f'[{host}]' if ':' in host else host}:{port}"

    _check_free(host, port)
    _allow_descriptors()

    def listening() -> None:
        err.print(f"Banyan is at {address} (Ctrl-C ends it)", soft_wrap=True)
        # Without a display, a text browser would take over the terminal.
        has_windows = sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in _DISPLAYS)
        if not (no_browser or is_reachable) and sys.stdin.isatty() and sys.stderr.isatty() and has_windows:
            # In a thread, because a browser that starts slowly must not block the server.
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    # Unlike httptools, h11 limits the head. Addresses that proxies claim are not trusted: rate limits count by address.
    options: dict[str, Any] = {
        "host": host, "port": port, "log_level": "warning", "access_log": False, "server_header": False,
        "proxy_headers": False, "http": Connection, "h11_max_incomplete_event_size": MAX_HEAD, "ws": "none",
        "timeout_graceful_shutdown": _GRACE, "timeout_keep_alive": HEAD_SECONDS, "limit_concurrency": MOST_CONNECTIONS}
    if workers > 1:
        supervisor = WorkerSupervisor(settings, workers, hosts, listening, needs_keys=is_reachable, **options)
        note_missing_model(settings)
        with tempfile.TemporaryDirectory(prefix="banyan-metrics-") as folder:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # for the workers' shared counters (server/metrics.py)
            supervisor.run()
        started = supervisor.started
    else:
        note_missing_model(settings)
        started = serve_alone(settings, hosts, listening, needs_keys=is_reachable, options=options)
    if not started:
        raise typer.Exit(1)


def _check_free(host: str, port: int) -> None:
    """Check that no other program uses the port; called before models are loaded, which takes long."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, os.name == "posix")
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CommandError(f"port {port} of {host} is taken by another program: end it, or choose another port "
                               "with --port") from error
        raise CommandError(f"{host}:{port} cannot be listened on ({error.strerror or error}): choose another address "
                           "with --host or --port") from error


def _allow_descriptors() -> None:
    """Let the process open `_DESCRIPTORS` files, if the system allows it; many begin with 256 or 1,024."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - Windows has none

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(_DESCRIPTORS, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


@app.command()
def key(
    name: Annotated[str, typer.Argument(help="The client's name; without one, list the keys.")] = "",
    scope: Annotated[list[str] | None, typer.Option(help="Permission: read, ask, write (build, delete), review "
                                                         "(decide on the schema) or metrics. May be repeated.")] = None,
    kb: Annotated[list[str] | None, typer.Option(help="A knowledge base that the key can access; it cannot see others. "
                                                      "May be repeated; none: all.")] = None,
    per_minute: Annotated[int | None, typer.Option(min=1, help="The most requests per minute; none: "
                                                               "BANYAN_REQUESTS_PER_MINUTE.")] = None,
    *, revoke: Annotated[bool, typer.Option("--revoke", help="Revoke the key.")] = False,
) -> None:
    """Create, list or revoke API keys of the server.

    A new key is shown once, and replaces the client's earlier key. A key with --kb and the scope write can also create,
    rename and drop knowledge bases, but only those with the given names.
    """
    settings = Settings()
    keys = Keys.of(settings)
    if not name:
        out.print(table_of(("client", "scopes", "knowledge bases", "a minute", "created"), (
            (known.name, ", ".join(known.scopes),
             "all" if known.knowledge_bases is None else ", ".join(known.knowledge_bases),
             known.requests_per_minute or "", known.created_at) for known in keys.all())))
    elif revoke:
        keys.revoke(name)
        # Deleted, so that a later key of the same name does not get them. Only revoking takes this half second.
        from ...server.runs.conversations import Conversations  # noqa: PLC0415
        from ...server.server_database import ServerDatabase  # noqa: PLC0415

        with closing(ServerDatabase.of(settings)) as database:
            Conversations(database).forget_client(name)
        err.print(f"revoked, and its conversations deleted: {name}")
        if not keys.all():
            err.print("no key is left, so the server accepts no request: make another, or delete the file of keys (in "
                      "PostgreSQL the rows of banyan.banyan_keys) to open it to this machine again", soft_wrap=True)
    else:
        wanted: list[Scope] = [known for known in SCOPES if known in (scope or ())]
        if not scope or len(wanted) != len(set(scope)):
            raise CommandError(f"choose what the key allows: --scope with one of {', '.join(SCOPES)}; may be repeated")
        secret = keys.make(name, wanted, kb or (), per_minute)
        for missing in sorted({*(kb or ())} - {*knowledge_bases(settings)}):
            err.print(f"there is no knowledge base {on_a_line(missing)} yet; the key will apply once it is created",
                      soft_wrap=True)
        err.print("send it as `Authorization: Bearer KEY`; it is not shown again:")
        out.print(secret, soft_wrap=True)


@app.command()
def mcp(
    kb: Annotated[str, typer.Option("--kb", help="The one knowledge base to serve; without it all are.")] = "",
    *,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer only tools that change nothing.")] = False,
    decisions: Annotated[bool, typer.Option("--decisions", help="Let the agent decide on schema candidates.")] = False,
) -> None:
    """Serve search, ask, documents and schema to an agent over MCP, on standard input and output."""
    # Imported here, because they take seconds, which `serve` with several workers and `key` save.
    from ...subagent.mcp_tools import mcp_server  # noqa: PLC0415
    from ..session import open_resources  # noqa: PLC0415

    with open_resources() as resources:
        server = mcp_server(resources, knowledge_base=kb, writes=not read_only, decides=decisions and not read_only,
                            sees=(lambda _, name: name == kb) if kb else None)
        # A thread that waits for standard input cannot be stopped, so Ctrl-C is to end the process at once, as SIGTERM
        # does. That is safe, because the ledger survives any kill.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        asyncio.run(server.run_stdio_async())
