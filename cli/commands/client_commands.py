"""`banyan key`, for clients of the server, and `banyan mcp`, for agents that start a server themselves."""

import asyncio
import signal
from typing import Annotated

import typer
from rich.table import Table

from ...config import Settings
from ...graph_store.layout import knowledge_bases
from ...server.security.keys import SCOPES, Keys, Scope
from ..console import CommandError, err, on_a_line, out, table_of
from ..session import open_resources

app = typer.Typer()


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
        out.print(_keys_table(keys))
    elif revoke:
        keys.revoke(name)
        err.print(f"revoked: {name}" if keys.all() else f"revoked: {name}; no key is left, so the server accepts no "
                  "request: make another, or delete the file of keys (in PostgreSQL the rows of banyan.banyan_keys) "
                  "to open it to this machine again", soft_wrap=True)
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


def _keys_table(keys: Keys) -> Table:
    return table_of(("client", "scopes", "knowledge bases", "a minute", "created"), (
        (known.name, ", ".join(known.scopes),
         "all" if known.knowledge_bases is None else ", ".join(known.knowledge_bases),
         known.requests_per_minute or "", known.created_at) for known in keys.all()))


@app.command()
def mcp(
    kb: Annotated[str, typer.Option("--kb", help="The one knowledge base to serve; without it all are.")] = "",
    *,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer only tools that change nothing.")] = False,
    decisions: Annotated[bool, typer.Option("--decisions", help="Let the agent decide on schema candidates.")] = False,
) -> None:
    """Serve search, ask, documents and schema to an agent over MCP, on standard input and output."""
    from ...subagent.mcp_tools import mcp_server  # noqa: PLC0415  (two seconds of imports)

    with open_resources() as resources:
        server = mcp_server(resources, knowledge_base=kb, writes=not read_only, decides=decisions and not read_only,
                            sees=(lambda _, name: name == kb) if kb else None)
        # A thread that waits for standard input cannot be stopped, so Ctrl-C is to end the process at once, as SIGTERM
        # does. That is safe, because the ledger survives any kill.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        asyncio.run(server.run_stdio_async())
