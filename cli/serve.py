"""`banyan serve`: everything on one port."""

import os
import signal
import sys
from typing import Annotated

import typer
import uvicorn

from ..config import Settings
from ..server.app import create_app
from ..server.security.hosts import Hosts, is_loopback
from ..server.security.keys import Keys
from .console import err
from .errors import CommandError
from .session import opened

app = typer.Typer()

_GRACE = 5
"""Seconds in which open requests may finish when the server is told to stop."""
_MOST_CONNECTIONS = 1000


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; beyond this machine only with API keys.")]
    = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8000,
) -> None:
    """Serve the knowledge bases: a web page, REST, chat and MCP, on one port."""
    settings, beyond = Settings(), not is_loopback(host)
    if beyond and not Keys.of(settings).all():
        raise CommandError(f"{host} can be reached from other machines, and no API key is set: make one with `banyan "
                           "key NAME --scope read --scope ask`, or omit --host")
    with opened() as resources:
        service = create_app(resources, hosts=Hosts.bound(host, settings.server_hosts), needs_keys=beyond)
        # Addresses that proxies claim are not trusted: rates are counted by them.
        server = uvicorn.Server(uvicorn.Config(
            service, host=host, port=port, log_level="warning", access_log=False, server_header=False,
            proxy_headers=False, ws="none", timeout_graceful_shutdown=_GRACE, limit_concurrency=_MOST_CONNECTIONS))
        err.print(f"Banyan is at http://{f'[{host}]' if ':' in host else host}:{port} (Ctrl-C ends it)", soft_wrap=True)
        # uvicorn sends itself the signal that stopped it again when all is done: resources are to be closed first.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        server.run()
        if not service.state.service.idle:
            err.print("a build was interrupted in its current step; the next build resumes there")
            sys.stderr.flush()
            os._exit(0)  # its thread cannot be stopped, and the interpreter would wait for it
        if not server.started:
            raise typer.Exit(1)
