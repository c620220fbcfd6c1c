"""MCP as a part of the server's app: what a key may do, and where a request may come from."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from banyan.graph_store.store_errors import StoreError
from banyan.schemas.errors import BanyanError
from banyan.server.app import create_app

from ... import in_process, rest
from ...newest import newest


def called(client, tool, **arguments):
    return rest.mcp(client, "tools/call", name=tool, arguments=arguments)


def test_without_keys_whoever_is_on_this_machine_may_ask(client):
    said = called(client, "ask", knowledge_base="people", question="Where was Ada Byron born?")
    assert said["structuredContent"]["citations"][0]["document"] == "ada"


def test_a_damaged_ledger_does_not_tell_where_the_home_is(resources):
    (resources.settings.home / "broken").mkdir()
    (resources.settings.home / "broken" / "ledger.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match=r"broken/ledger\.sqlite") as raised:
        newest(resources, "broken")
    assert str(resources.settings.home) not in str(raised.value)


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


def test_what_langgraphs_server_mounts_has_mcp_too(resources):
    assert "/mcp" in {getattr(route, "path", "") for route in create_app(resources, hosted=True).routes}
