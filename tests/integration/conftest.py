"""Fixtures of several files; for the web page's tests one server for all of them, started by the first to ask."""

import json
import shutil
import urllib.request

import banyan
import pytest

from .. import browsing, command_line, llm_server, oidc_issuer, serving, small_base, web


@pytest.fixture(scope="module")
def llm():
    """An endpoint of a model, by the scripted brain."""
    with llm_server.LlmServer() as running:
        yield running


@pytest.fixture(scope="module")
def issuer():
    with oidc_issuer.serving() as issuer:
        yield issuer


@pytest.fixture(scope="module")
def resources(tmp_path_factory, hashed_embedder):
    """With the knowledge base "people", which no test changes."""
    home = tmp_path_factory.mktemp("home")
    small_base.people(home, "people", hashed_embedder)
    with banyan.Resources(banyan.Settings(home=home, llm_base_url=None, _env_file=None), hashed_embedder) as resources:
        yield resources


@pytest.fixture(scope="session")
def web_folder(english_store, tmp_path_factory):
    """Where that server runs: its knowledge bases are in `home`."""
    return shutil.copytree(english_store, tmp_path_factory.mktemp("web") / "copy")


@pytest.fixture(scope="session")
def web_server(web_folder):
    """The address of a server with the English examples."""
    # Both languages in one base would be embedded by the multilingual model, at ten passages a second.
    with serving.served(web_folder, BANYAN_EMBEDDING_MODEL="all-MiniLM-L6-v2") as server:
        yield server.url


@pytest.fixture(scope="session")
def linked(web_folder, web_server):
    """A knowledge base of recorded triples on that server: eight firms, each with the people and town of its own."""
    records = []
    for firm in range(8):
        for person in range(8):
            name, triples = f"Ann{firm}x{person} Lee", [["works_for", f"Firm{firm} Ltd"], ["lives_in", f"Town{firm}"]]
            if person == 0:
                triples.append(["knows", f"Ann{(firm + 1) % 8}x0 Lee"])
            types = {f"Firm{firm} Ltd": "Organization", f"Town{firm}": "Location"}
            ends = [name, *(end for _, end in triples)]
            records.append({
                "id": f"p{firm}-{person}", "title": name, "triples": [[name, *triple] for triple in triples],
                "text": " ".join(f"{name} {relation} {end}." for relation, end in triples),
                "entities": [{"name": end, "type": types.get(end, "Person")} for end in ends]})
    path = web_folder / "linked.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")
    report = command_line.CommandLine(web_folder)(
        "import", path, "--format", "triples", "--schema", "open", "--kb", "linked", "--json").json
    assert report["rejected"] == {}
    return "linked"


@pytest.fixture(scope="module")
def web_browser():
    """A headless Chromium; Playwright has one at a time in a process, and other files have their own."""
    with browsing.browsing() as browser:
        yield browser


@pytest.fixture(scope="module")
def uploaded(web_browser, web_server, tmp_path_factory):
    """A knowledge base made by way of the page: an English, a Chinese, a dropped and a printed document."""
    with urllib.request.urlopen(f"{web_server}/api/knowledge-bases", timeout=30) as response:
        if any(one["name"] == "uploaded" for one in json.load(response)["items"]):
            return "uploaded"
    dropped = tmp_path_factory.mktemp("documents") / "radom.txt"
    dropped.write_text("Zofia Nowak is a chemist. Zofia Nowak was born in Radom, a city in Poland.\n", "utf-8")
    serving.print_work(dropped.with_name("harbours.pdf"), "A report on harbours.", "Zora Lind was born in Turku.")
    with browsing.opened(web_browser, web_server) as page:
        page.get_by_label("Knowledge base").select_option("New knowledge base…")
        page.get_by_role("dialog").get_by_label("Name").fill("uploaded")
        page.keyboard.press("Enter")
        web.drop(page, dropped)
        web.upload(page, [web.EXAMPLES / "en" / "marie-curie.md", web.EXAMPLES / "zh" / "tu-youyou.md",
                          dropped.with_name("harbours.pdf")], dropped=1)
        browsing.expect(page.locator(".build .state").first).to_have_text("done")
        browsing.expect(page.locator(".build .figures").first).to_contain_text("documents4")
        browsing.shoot(page, "upload")
    return "uploaded"
