"""Reading again with a model what the rules or another model read: `banyan build --reread`."""

from typing import Any

import pytest
from banyan.models.llm.llm_reasoner import LlmReasoner

from .. import llm_server, model_home
from ..model_home import ModelHome
from ..newest import newest

pytestmark = pytest.mark.integration

server = model_home.server
NONE = {"prompt": 0, "completion": 0, "calls": 0}


def home_in(folder, embedder, server):
    return ModelHome(folder, embedder, server, model="", schema="general", llm_concurrency=4, batch_chunks=4,
                     extract_tokens=0)


@pytest.fixture
def home(tmp_path, hashed_embedder, server):
    return home_in(tmp_path / "home", hashed_embedder, server)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory, hashed_embedder) -> tuple[Any, Any]:
    with llm_server.LlmServer() as server:
        home = home_in(tmp_path_factory.mktemp("fresh"), hashed_embedder, server)
        return home.build("scripted"), home.state()


def test_what_is_read_again_equals_what_the_model_read_at_once(home, fresh):
    _, state = fresh
    built = home.build()
    assert built["chunks_outdated"] == 0, "without a model nothing is to be read again"
    chunks = built["chunks"]
    assert home.status().read_by == {"rules": chunks}

    unchanged = home.build("scripted")
    assert unchanged["chunks_outdated"] == chunks
    before = home.server.stats.steps["extraction"]
    assert before == 0, "it is not read again unless that is asked for"

    again = home.build("scripted", reread=True)
    assert (again["chunks_failed"], again["chunks_outdated"], again["stopped"]) == (0, 0, "")
    assert home.server.stats.steps["extraction"] == chunks
    assert home.status().read_by == {"scripted": chunks}
    assert home.state() == state
    home.build("scripted", reread=True)  # a comparison of labels that only the replaced readings had is made again
    assert home.build("scripted", reread=True)["tokens"] == NONE


def test_a_build_that_dies_leaves_old_readings_in_service_and_pays_nothing_twice(home, fresh, monkeypatch):
    home.build()
    stood, read = home.state(), LlmReasoner.extract
    calls = iter(range(100))

    async def dies(self: LlmReasoner, *arguments: Any) -> Any:
        if next(calls) > 4:
            raise OSError("the machine stopped")
        return await read(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(LlmReasoner, "extract", dies)
        with pytest.raises(OSError, match="the machine stopped"):
            home.build("scripted", reread=True)
    halfway = home.status()
    assert halfway.chunks_waiting == 0
    assert 0 < halfway.read_by["scripted"] < halfway.chunks == sum(halfway.read_by.values())
    with home.resources("") as resources:
        kb = newest(resources).kb
        assert {row.chunk for row in kb.extractions.rows().mentions} <= set(kb.documents.done())
        assert len(kb.documents.done()) == len(stood["vectors"]["chunks"]), "each chunk has a reading in the graph"
    home.build("scripted", reread=True)
    assert home.state() == fresh[1]
    assert home.server.stats.steps["extraction"] == halfway.chunks


def test_deleting_one_of_twenty_documents_costs_nothing_at_the_next_build(home, server, tmp_path):
    """Stored replies belong to the documents whose text they have: they go with these, and the others stay."""
    paths = [tmp_path / f"{number}.md" for number in range(20)]
    for number, path in enumerate(paths):
        path.write_text(f"# Ada{number} Berg\n\nAda{number} Berg was born in Graz{number}.", "utf-8")
    assert home.build("scripted", paths)["tokens"]["calls"] >= len(paths)
    first = paths[1].read_text("utf-8")
    paths[1].write_text(f"{first} It is small.", "utf-8")
    assert home.build("scripted", paths)["tokens"]["calls"], "of a text that was not read before"
    with home.resources("scripted") as resources:
        resources.delete_documents("kb", [paths[0].name])
    before = server.stats.requests
    paths[1].write_text(first, "utf-8")
    report = home.build("scripted", paths[1:])
    assert (report["documents"], report["chunks_failed"], report["tokens"]["calls"]) == (19, 0, 0)
    assert server.stats.requests == before
