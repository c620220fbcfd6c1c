"""Knowledge bases in PostgreSQL that several home folders share: each derives its own files, none disturbs another."""

import hashlib

import pytest
from banyan.agents.retrieval.graph import build_graph
from banyan.graph_store.layout import sweep
from banyan.graph_store.store_errors import UnknownKnowledgeBaseError
from pydantic import SecretStr

from .. import chroma_process, scripted
from ..newest import dump_graph, newest
from ..waiting import wait_for

pytestmark = pytest.mark.integration
chroma, fresh_connections = chroma_process.chroma, chroma_process.fresh_connections
TEXTS = scripted.TEXTS | scripted.WAITING
MORE = {"m.txt": "Mia:Person --employer--> Zeta:Organization. Zeta:Organization --located_in--> Bonn:Place."}
QUESTION = "Where is the organization that employs Ada?"
WHEREVER_VECTORS_ARE = pytest.mark.parametrize(
    "homes", ["embedded", pytest.param("server", marks=pytest.mark.slow)], indirect=True)


@pytest.fixture
def database(postgresql, request):
    return SecretStr(postgresql.database(f"homes-{hashlib.sha1(request.node.name.encode()).hexdigest()}"))


@pytest.fixture
def homes(request, tmp_path, hashed_embedder, database):
    """Two homes of one database, with vectors of their own or, as a parameter, on one server."""
    shared = getattr(request, "param", "") == "server"
    more = {"chroma_url": request.getfixturevalue("chroma").url} if shared else {}
    return [scripted.Workshop(tmp_path / name, hashed_embedder, database_url=database, **more)
            for name in ("here", "there")]


def answer(resources):
    result = build_graph(resources).invoke({"knowledge_base": "kb", "question": QUESTION})
    return result["answer"], [citation["quote"] for citation in result["citations"]]


def follows(resources, documents):
    """Wait until a server's reader has gone on to what another one's writer made."""
    def has_followed():
        resources.snapshots.open_newest_states()
        return newest(resources).kb.documents.count_documents() == documents

    wait_for(has_followed)
    assert newest(resources).kb.written_index() is not None, "it is mapped, not made in memory"


@WHEREVER_VECTORS_ARE
def test_what_one_home_writes_the_other_answers_from(homes):
    here, there = homes
    here.build(here.write(TEXTS))
    with here.resources() as ours, there.resources() as theirs:
        assert answer(theirs) == answer(ours)
        epoch = newest(theirs).kb.version().epoch
        assert there.problems() == []
        # The other one writes, then the first again: each goes on from what it has itself.
        for writer, reader, texts, count in ((there, ours, MORE, 7), (here, theirs, {"n.txt": TEXTS["b.txt"]}, 8)):
            with reader.snapshot("kb") as before:
                writer.build(writer.write(texts))
                assert before.kb.documents.count_documents() == count - 1, "a reader's moment"
            follows(reader, count)
            assert answer(ours) == answer(theirs)
        theirs.delete_documents("kb", [newest(theirs).kb.documents.entries()[0].id])
        follows(ours, 7)
        assert dump_graph(newest(ours).kb.graph) == dump_graph(newest(theirs).kb.graph)
        assert newest(ours).kb.version().epoch == epoch, "nobody made all vectors anew"
    assert here.vectors() == there.vectors()
    assert here.problems() == there.problems() == []


@pytest.mark.slow
def test_what_another_home_dropped_is_removed_and_nothing_else(homes):
    here, there = homes
    here.build(here.write(TEXTS))
    with here.resources() as ours, there.resources() as theirs:
        assert answer(theirs) == answer(ours)
        (there.settings.home / "not-ours").mkdir()
        sweep(there.settings)
        assert (there.settings.home / "kb" / "index.bin").exists()
        ours.rename("kb", "other")
        with pytest.raises(UnknownKnowledgeBaseError):
            newest(theirs)
        sweep(there.settings)
        assert [path.name for path in there.settings.home.iterdir() if path.is_dir()] == ["not-ours"]
        assert dump_graph(newest(theirs, "other").kb.graph) == dump_graph(newest(ours, "other").kb.graph)
