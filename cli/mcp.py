"""`banyan mcp`: an MCP server on standard input and output, for agents that start it themselves."""

from typing import Annotated

import typer

from .shared import CommandError, opened


def mcp(
    kb: Annotated[str, typer.Option("--kb", help="Knowledge base meant where a call names none.")] = "",
    *,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer nothing that changes anything.")] = False,
    decisions: Annotated[bool, typer.Option("--decisions", help="Let the agent decide on schema candidates.")] = False,
) -> None:
    """Serve search, ask, documents and schema to an agent over MCP, on standard input and output."""
    import asyncio  # noqa: PLC0415
    import signal  # noqa: PLC0415

    try:
        from ..subagent.mcp_server import mcp_server  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise CommandError(f"the server's packages are not installed ({error.name} is missing): run "
                           "`pip install 'banyan-graphrag[server]'`") from error

    with opened() as resources:
        server = mcp_server(resources, knowledge_base=kb, writes=not read_only, decides=decisions and not read_only)
        # A thread that reads standard input cannot be woken: Ctrl-C ends the process at once, as agents' SIGTERM does.
        # What was stored stands, as after any kill.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        asyncio.run(server.run_stdio_async())
