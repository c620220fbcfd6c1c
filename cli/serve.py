"""`banyan serve`, which serves everything on one port, and `banyan key`, which says who may use it."""

import os
import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ..config import Settings
from .shared import CommandError, err, opened, out

if TYPE_CHECKING:
    from ..server.security.keys import Scope

_GRACE = 5
"""Seconds that open requests have to end in when the server is told to end."""
_MOST_CONNECTIONS = 1000


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; beyond this machine only with API keys.")]
    = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8000,
) -> None:
    """Serve the knowledge bases: a web page, REST, chat and MCP, on one port of this machine."""
    try:
        import uvicorn  # noqa: PLC0415

        from ..server.app import create_app  # noqa: PLC0415
        from ..server.security.hosts import Hosts, is_loopback  # noqa: PLC0415
        from ..server.security.keys import Keys  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise CommandError(f"the server's packages are not installed ({error.name} is missing): run "
                           "`pip install 'banyan-graphrag[server]'`") from error
    settings, beyond = Settings(), not is_loopback(host)
    if beyond and not Keys.of(settings).all():
        raise CommandError(f"{host} can be reached from other machines, and no API key is set: make one with `banyan "
                           "key NAME --scope read --scope ask`, or leave --host out")
    with opened() as resources:
        app = create_app(resources, hosts=Hosts.bound(host, settings.server_hosts), needs_keys=beyond)
        # Addresses that proxies claim are not believed: clients are told apart by them.
        server = uvicorn.Server(uvicorn.Config(
            app, host=host, port=port, log_level="warning", access_log=False, server_header=False, proxy_headers=False,
            ws="none", timeout_graceful_shutdown=_GRACE, limit_concurrency=_MOST_CONNECTIONS))
        err.print(f"Banyan is at http://{f'[{host}]' if ':' in host else host}:{port} (Ctrl-C ends it)", soft_wrap=True)
        # uvicorn sends itself the signal that ended it once more when all is done: what is open is to be closed first.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        server.run()
        if not app.state.service.idle:
            err.print("a build was cut off in the step that was under way; the next one goes on from there")
            sys.stderr.flush()
            os._exit(0)  # its thread cannot be stopped, and the interpreter would wait for it
        if not server.started:
            raise typer.Exit(1)


def api_key(
    name: Annotated[str, typer.Argument(help="The client's name; none: list the keys.")] = "",
    scope: Annotated[list[str] | None, typer.Option(help="What it may do: read, ask, write (build, delete) or review "
                                                         "(decide on the schema). May be repeated.")] = None,
    *, revoke: Annotated[bool, typer.Option("--revoke", help="Take the key back.")] = False,
) -> None:
    """Make an API key of the server, which is shown once; a client's earlier key goes."""
    from ..server.security.keys import SCOPES, Keys  # noqa: PLC0415

    keys = Keys.of(Settings())
    if not name:
        table = Table("client", "scopes", "made at")
        for one in keys.all():
            table.add_row(one.name, ", ".join(one.scopes), one.created_at)
        out.print(table)
    elif revoke:
        keys.revoke(name)
        err.print(f"revoked: {name}")
    else:
        wanted: list[Scope] = [one for one in SCOPES if one in (scope or ())]
        if not scope or len(wanted) != len(set(scope)):
            raise CommandError(f"say what the key is for: --scope with one of {', '.join(SCOPES)}; it may be repeated")
        made = keys.make(name, wanted)
        err.print("send it as `Authorization: Bearer KEY`; it is not shown again:")
        out.print(made, soft_wrap=True)
