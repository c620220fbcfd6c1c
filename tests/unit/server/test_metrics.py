"""`/metrics`: what it counts, who may see it, and that no client makes it grow."""

from prometheus_client.parser import text_string_to_metric_families

from ... import in_process

ASK = "/api/knowledge-bases/{kb}/ask"


def told(client):
    response = client.get("/metrics")
    assert (response.status_code, response.headers["content-type"].partition(";")[0]) == (200, "text/plain")
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in text_string_to_metric_families(response.text) for sample in family.samples
            if sample.name.startswith("banyan_") and not sample.name.endswith("_created")}


def value(series, name, **labels):
    return series.get((name, tuple(sorted(labels.items()))), 0.0)


def test_requests_are_counted_by_route_and_status(client):
    before = told(client)
    assert client.post(ASK.format(kb="people"), json={"question": "Where was Ada Byron born?"}).status_code == 200
    assert client.post(ASK.format(kb="nobody"), json={"question": "Who?"}).status_code == 404
    after = told(client)
    for status in ("200", "404"):
        labels = {"method": "POST", "route": ASK, "status": status}
        assert value(after, "banyan_requests_total", **labels) - value(before, "banyan_requests_total", **labels) == 1
    of = {"method": "POST", "route": ASK}
    took = value(after, "banyan_request_seconds_sum", **of) - value(before, "banyan_request_seconds_sum", **of)
    assert 0 < took < 60
    assert value(after, "banyan_questions_running") == 0
    assert [value(after, "banyan_builds", state=state) for state in ("queued", "running", "waiting")] == [0, 0, 0]


def test_no_label_comes_from_what_clients_send(client, app):
    def garbage(number):
        client.get(f"/no-such-{number}")
        client.get(f"/api/knowledge-bases/base{number}", headers={"Host": f"evil{number}.example"})
        client.get(f"/api/knowledge-bases/base{number}/documents", params={"q": f"word{number}"})
        client.request(f"VERB{number}", "/api/health")
        client.post(f"/chat/kb/base{number}/invoke", json={"input": {"messages": [["user", f"question {number}"]]}})
        client.get(f"/assets/file{number}.js")
        client.get("/api/health", headers={"X-Request-ID": f"id{number}"})

    garbage("a")
    before = told(client)
    for number in range(20):
        garbage(number)
    after = told(client)
    assert before.keys() == after.keys()
    # Other tests of this process have counted requests to apps of their own.
    counted = [dict(labels) for (name, labels), number in after.items()
               if name == "banyan_requests_total" and number > before[name, labels]]
    routes = {labels["route"] for labels in counted}
    assert routes <= {route.path for route in in_process.routes_of(app)} | {"none"}
    assert {ASK.removesuffix("/ask"), "none"} <= routes
    assert {labels["method"] for labels in counted} <= {
        "GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "other"}
