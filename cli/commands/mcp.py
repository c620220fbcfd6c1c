"""`banyan mcp`: an MCP server on standard input and output, for agents that start it themselves."""

import asyncio
import signal
from typing import Annotated

import typer

from ...subagent.mcp_server import mcp_server
from ..session import open_resources

app = typer.Typer()


@app.command()
def mcp(
    kb: Annotated[str, typer.Option("--kb", help="The one knowledge base to serve; without it all are.")] = "",
    *,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer only tools that change nothing.")] = False,
    decisions: Annotated[bool, typer.Option("--decisions", help="Let the agent decide on schema candidates.")] = False,
) -> None:
    """Serve search, ask, documents and schema to an agent over MCP, on standard input and output."""
    with open_resources() as resources:
        server = mcp_server(resources, knowledge_base=kb, writes=not read_only, decides=decisions and not read_only,
                            sees=(lambda _, name: name == kb) if kb else None)
        # A thread that reads standard input cannot be woken, so Ctrl-C ends the process at once, as SIGTERM does.
        # The ledger survives this, as it survives any kill.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        asyncio.run(server.run_stdio_async())
