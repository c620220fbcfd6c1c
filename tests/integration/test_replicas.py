"""Servers on one PostgreSQL database, each with a home of its own: what one does all show, what it leaves others do.

The tests go in order: the last ones end servers.
"""

import signal
import threading
import time
from contextlib import closing

import httpx
import pytest
from banyan.graph_store.ledger.postgresql import connect
from banyan.server.runs.jobs import Job
from banyan.server.server_database import ServerDatabase
from pydantic import SecretStr
from sqlalchemy import text

from .. import chess_brain, rest, serving, warm_start
from ..rest import state
from ..waiting import wait_for

pytestmark = pytest.mark.integration
KB, CHESS = rest.KB, rest.CHESS
WHO = {"question": "Who is Ada Blum?", "thread": "t"}
endpoint = chess_brain.endpoint


@pytest.fixture(scope="module")
def database(postgresql):
    return postgresql.database("replicas")


@pytest.fixture(scope="module")
def servers(tmp_path_factory, database, endpoint):
    with serving.replicas(tmp_path_factory.mktemp("replicas"), database, BANYAN_LLM_BASE_URL=endpoint.base_url,
                           BANYAN_LLM_MODEL="scripted", BANYAN_LLM_RETRIES="0", BANYAN_LLM_TIMEOUT="600",
                           **{warm_start.HASHED: "1"}) as servers:
        yield servers


@pytest.fixture(scope="module")
def clients(servers):
    found = [httpx.Client(base_url=server.url, timeout=60) for server in servers]
    yield found
    for client in found:
        client.close()


@pytest.fixture(autouse=True)
def quick(endpoint):
    endpoint.seconds = 0.0


def test_a_build_is_seen_decided_on_and_cancelled_at_any(clients, endpoint, servers):
    first, second = clients
    waiting = rest.built(first, "chess", CHESS, review="true", schema="general")
    assert waiting["state"] == "waiting"
    for client in clients:
        assert client.get("/api/builds").json()["items"] == [waiting]
    decided = {"decisions": [{"kind": "relation", "name": "defeat", "verdict": "accept"}], "who": "Ann"}
    assert second.post(f"/api/builds/{waiting['id']}/decisions", json=decided).status_code == 200
    assert second.post(f"/api/builds/{waiting['id']}/decisions", json=decided).status_code == 409
    done = rest.followed(first, waiting["id"])[-1]
    assert (done["state"], done["report"]["documents"]) == ("done", 2)
    build = chess_brain.running(first, endpoint, "slow")
    wait_for(lambda: state(second, build) == "running")
    assert second.post(f"/api/builds/{build}/cancel").status_code == 200
    assert rest.followed(first, build)[-1]["state"] == "cancelled"
    assert not any(path.suffix == ".md" for server in servers for path in server.home.rglob("*"))
    refused = first.put("/api/model", json={"endpoint": "http://127.0.0.1:9/v1"})
    assert (refused.status_code, "without BANYAN_DATABASE_URL" in refused.text) == (409, True)


@pytest.mark.slow
def test_all_answer_from_what_one_has_written_and_forget_what_it_dropped(clients, servers):
    first, second = clients
    for client in clients:
        assert client.get(f"{KB}/chess/documents").json()["items"][0]["id"] == "ada-blum.md"
    rest.built(second, "chess", rest.players(2))
    wait_for(lambda: [len(client.get(f"{KB}/chess/documents").json()["items"]) for client in clients] == [4] * 2)
    rest.built(first, "moving", CHESS)
    for client in clients:
        assert client.post(f"{KB}/moving/ask", json=WHO).status_code == 200
    assert second.patch(f"{KB}/moving", json={"name": "moved"}).status_code == 200
    assert [client.post(f"{KB}/moving/ask", json=WHO).status_code for client in clients] == [404] * 2
    assert second.get("/api/threads/t", params={"kb": "moved"}).json()["turns"]
    assert [client.post(f"{KB}/moved/ask", json={"question": WHO["question"]}).status_code for client in clients
            ] == [200] * 2
    assert first.delete(f"{KB}/moved").status_code == 204
    assert [client.get(f"{KB}/moved").status_code for client in clients] == [404] * 2


@pytest.mark.slow
def test_postgresql_restarted_under_load_is_told_and_nothing_is_lost(clients, endpoint, postgresql):
    first, second = clients
    build = chess_brain.running(first, endpoint, "restarted", rest.players(12))
    endpoint.seconds = 0.05
    stop, said = threading.Event(), []

    def ask():
        with httpx.Client(base_url=second.base_url, timeout=60) as http:
            while not stop.is_set():
                said.append(http.post(f"{KB}/chess/ask", json={"question": WHO["question"]}))
                time.sleep(0.05)

    asking = threading.Thread(target=ask)
    asking.start()
    wait_for(lambda: said)
    postgresql.stop(signal.SIGQUIT)
    wait_for(lambda: said[-1].status_code != 200)
    told = [client.get("/api/builds") for client in clients]
    anyway = [second.get(path).status_code for path in ("/api/health", "/api/ready", "/")]
    postgresql.start()
    try:
        wait_for(lambda: said[-1].status_code == 200)
    finally:
        stop.set()
        asking.join(60)
    assert anyway == [200] * 3, "nobody is restarted for it"
    for answer in (*told, *(answer for answer in said if answer.status_code != 200)):
        assert answer.status_code == 503, answer.text
        error = answer.json()["error"]
        assert error["type"] in {"DatabaseError", "KeysError"}, "the keys are in the database, too"
        assert "PostgreSQL server" in error["message"]
        assert "check that it runs" in error["message"] or "do the same again" in error["message"]
    done = rest.followed(second, build)[-1]
    assert done["state"] == "done", done["error"]
    assert done["report"]["documents"] == 12, "it goes on by itself"
    assert [client.post(f"{KB}/restarted/ask", json=WHO).status_code for client in clients] == [200] * 2
    with closing(connect(SecretStr(postgresql.url("replicas")))) as session:
        # The build's goes with its session.
        wait_for(lambda: session.exec_driver_sql(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").scalar_one() == 0)


def test_one_that_is_ended_hands_its_build_over(clients, servers, endpoint, database):
    first, second = clients
    build = chess_brain.running(second, endpoint, "handed-over")
    assert serving.stop(servers[1]) == 0
    endpoint.seconds = 0.0
    done = rest.followed(first, build)[-1]
    assert done["state"] == "done", done["error"]
    assert done["report"]["documents"] == 2
    with closing(ServerDatabase(SecretStr(database))) as kept, kept.reading() as connection:
        record = connection.execute(text("SELECT record FROM banyan_builds WHERE id = :id"), {"id": build}).scalar_one()
        assert Job.model_validate_json(record).taken_up == 0, "it ended no process"
        assert connection.exec_driver_sql("SELECT count(*) FROM banyan_uploads").scalar_one() == 0
