"""MCP as a part of the server's app: what a key may do, and where a request may come from."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from banyan.schemas.errors import BanyanError
from banyan.server.app import create_app

from ... import in_process, rest


def called(client, tool, **arguments):
    return rest.mcp(client, "tools/call", name=tool, arguments=arguments)


def test_documents_that_are_added_count_among_the_builds(resources, monkeypatch):
    at_work, most = 0, 0

    async def build(*_, **__):
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0.1)
        at_work -= 1
        raise BanyanError("enough")
        yield

    monkeypatch.setattr("banyan.subagent.mcp_tools.construction_graph", lambda _: SimpleNamespace(astream=build))
    with (in_process.client(create_app(resources)) as client,
          ThreadPoolExecutor(10) as threads):
        told = list(threads.map(lambda number: called(
            client, "add_document", knowledge_base=f"kb{number}", document="x.md", text="Text."), range(10)))
    assert [answer["content"][0]["text"] for answer in told] == ["Error executing tool add_document: enough"] * 10
    assert most == resources.settings.builds_at_once
