"""Setting another model while the server runs: who may, what is told, and where a key goes."""

from banyan.models.llm.model_calls import Trial
from banyan.server.app import create_app
from banyan.server.routes import build_routes as routes_model
from banyan.server.security.keys import KEYS_FILE, Keys

from ... import in_process

HERE, THERE = "http://127.0.0.1:9/v1", "http://127.0.0.2:9/v1"


def key_of(resources):
    return resources.settings.llm_api_key.get_secret_value()


def test_a_model_is_set_and_taken_back_and_its_key_is_told_to_nobody(client, resources):
    assert client.get("/api/model").json()["reasoner"] == "rules"
    told = client.put("/api/model", json={"endpoint": HERE, "model": "m", "key": "secret"})
    assert told.json() == {"reasoner": "llm", "model": "m", "endpoint": HERE, "host": "127.0.0.1:9", "has_key": True,
                           "from_page": True}
    assert "secret" not in told.text + client.get("/api/model").text + client.get("/api/ready").text
    assert (resources.settings.uses_llm, key_of(resources)) == (True, "secret")
    for choice, key in (({"endpoint": HERE, "model": "another"}, "secret"), ({"endpoint": THERE}, "none")):
        client.put("/api/model", json=choice)
        assert key_of(resources) == key, "a key goes to the address that it was given with alone"
    assert client.put("/api/model", json={}).json()["reasoner"] == "rules"
    assert key_of(resources) == "none"


def test_a_trial_sends_no_key_elsewhere_and_sets_nothing(client, resources, monkeypatch):
    tried = []
    monkeypatch.setattr(routes_model, "try_out", lambda settings: tried.append(settings) or Trial(0.5, 7))
    client.put("/api/model", json={"endpoint": HERE, "model": "m", "key": "secret"})
    assert client.post("/api/model/try", json={"endpoint": THERE, "model": "m"}).json() == {"seconds": 0.5, "tokens": 7}
    assert [one.llm_api_key.get_secret_value() for one in tried] == ["none"]
    assert resources.settings.llm_base_url == HERE


def test_only_a_key_with_every_scope_sets_the_model(client, tmp_path):
    keys = Keys(tmp_path / KEYS_FILE)
    some, every = keys.make("some", ["read", "ask", "write"]), keys.make("every", ["read", "ask", "write", "review"])
    status = [client.put("/api/model", json={}, headers={"X-API-Key": key}).status_code for key in (some, every)]
    assert status == [403, 200]


def test_of_several_processes_none_takes_a_model_that_the_others_would_not_know(resources):
    with in_process.client(create_app(resources, workers=2)) as client:
        refused = client.put("/api/model", json={"endpoint": HERE, "model": "m", "key": "secret"})
    assert (refused.status_code, "serve with one worker" in refused.json()["error"]["message"]) == (409, True)
    assert not resources.settings.uses_llm


def test_an_address_with_a_password_is_refused_and_not_repeated(client):
    for way in (client.put, client.post):
        told = way("/api/model" + ("/try" if way == client.post else ""),
                   json={"endpoint": "http://user:Tr0ub4dor@127.0.0.1:9/v1", "model": "m"})
        assert told.status_code == 422
        assert "name or password" in told.text
        assert "Tr0ub4dor" not in told.text
