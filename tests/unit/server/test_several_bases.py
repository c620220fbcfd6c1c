"""Several knowledge bases in one request: questions, tables, MCP, chat, and what a key of one of them may not ask."""

import pytest

from ... import rest, small_base

NAMES = f"{rest.KB}/people,town"
QUESTION = {"question": "Where was Ada Byron born?"}


@pytest.fixture
def both(resources, client, hashed_embedder):
    kb = small_base.create(resources.settings.home, "town", hashed_embedder)
    small_base.put(kb, "ada", "Ada Byron is a street in Turku. Ada Byron was paved in 1934.")
    small_base.finish(kb)
    kb.close()
    return client


def test_a_question_is_answered_from_both_and_its_conversation_kept(both):
    thread = "a" * 32
    answer = both.post(f"{NAMES}/ask", json={**QUESTION, "thread": thread}).json()
    assert (answer["short"], answer["citations"][0]["document"]) == ("Ulm", "people/ada")
    stored = both.get(f"/api/threads/{thread}", params={"kb": "people,town"}).json()
    assert [turn["question"] for turn in stored["turns"]] == [QUESTION["question"]]


def test_conversations_about_both_follow_each_and_end_with_either(both):
    thread = f"/api/threads/{'b' * 32}"
    both.post(f"{NAMES}/ask", json={**QUESTION, "thread": "b" * 32}).raise_for_status()
    both.patch(f"{rest.KB}/town", json={"name": "village"}).raise_for_status()
    assert both.get(thread, params={"kb": "people,town"}).status_code == 404
    assert len(both.get(thread, params={"kb": "people,village"}).json()["turns"]) == 1
    both.delete(f"{rest.KB}/people").raise_for_status()
    assert both.get(thread, params={"kb": "people,village"}).status_code == 404


def test_tables_and_mcp_and_chat_read_both(both):
    names = {table["name"] for table in both.get(f"{NAMES}/tables").json()["items"]}
    assert {"people.documents", "town.documents"} <= names
    counted = both.post(f"{NAMES}/sql", json={"sql": "SELECT count(*) FROM town.documents"}).json()
    assert (counted["rows"], counted["citations"][0]["document"]) == ([[1]], "town/ada")
    found = rest.mcp(both, "tools/call", name="search", arguments={
        "query": "paved", "knowledge_base": "people,town"})["structuredContent"]["passages"]
    assert found[0]["document"] == "town/ada"
    said = both.post("/v1/chat/completions", json={"model": "people,town", "messages": [
        {"role": "user", "content": QUESTION["question"]}]}).json()["choices"][0]["message"]
    assert said["annotations"][0]["url_citation"]["title"] == "people/ada"


def test_a_key_of_one_base_may_not_ask_both(both):
    key = both.app.state.service.clients.keys.make("reader", ["read", "ask"], ["people"])
    headers = {"Authorization": f"Bearer {key}"}
    assert both.post(f"{rest.KB}/people/ask", json=QUESTION, headers=headers).status_code == 200
    for refused in (both.post(f"{NAMES}/ask", json=QUESTION, headers=headers),
                    both.get(f"{NAMES}/tables", headers=headers),
                    both.post("/v1/chat/completions", headers=headers, json={
                        "model": "people,town", "messages": [{"role": "user", "content": "Where?"}]})):
        assert refused.status_code == 404
        assert "there is no knowledge base 'town'" in refused.text
    told = rest.mcp(both, "tools/call", headers, name="ask", arguments={**QUESTION, "knowledge_base": "people,town"})
    assert told["isError"]
    assert "there is no knowledge base 'town'" in told["content"][0]["text"]
