"""An MCP client: `python examples/agents/mcp_client.py [URL]`.

Without an address it starts `banyan mcp` itself and talks to it over standard input and output, as desktop agents do;
with one, such as http://127.0.0.1:8000/mcp, it asks a running `banyan serve`.
"""

import asyncio
import os
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters

KB = "two-notes"
NOTES = {
    "ines-falk.md": "# Ines Falk\n\nInes Falk founded the new laboratory in 2019. She was born in Graz.",
    "graz.md": "# Graz\n\nGraz is a city in Austria. Graz lies on the river Mur."}
QUESTION = "On which river does Graz lie?"


async def show_progress(_: float, __: float | None, message: str | None) -> None:
    """Print what the server says of a call that takes its time."""
    print("  ...", message, file=sys.stderr)


async def main() -> None:
    """Add two notes, and ask about them."""
    # A server that is started is given few variables of the environment, unless it is said which.
    started = StdioServerParameters(command=str(Path(sys.executable).with_name("banyan")),
                                    args=["mcp", "--kb", KB], env=dict(os.environ))
    async with Client(sys.argv[1] if len(sys.argv) > 1 else started) as client:
        print("Tools:", ", ".join(tool.name for tool in (await client.list_tools()).tools))
        for name, text in NOTES.items():
            added = await client.call_tool("add_document", {"knowledge_base": KB, "document": name, "text": text},
                                           progress_callback=show_progress)
            print("Added:", added.structured_content or added.content[0].text)
        answer = await client.call_tool("ask", {"knowledge_base": KB, "question": QUESTION},
                                        progress_callback=show_progress)
        print(answer.content[0].text)


asyncio.run(main())
