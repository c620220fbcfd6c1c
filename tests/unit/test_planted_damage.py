"""What verify sees where a sound knowledge base was altered."""

import pytest
from banyan.graph_store.graph import graph_file
from banyan.graph_store.integrity.verify import verify

from .. import scripted, small_base


@pytest.fixture
def home(tmp_path, hashed_embedder):
    """Opens the knowledge base `kb`, with an open schema."""
    return lambda: small_base.create(tmp_path, "kb", hashed_embedder)


@pytest.fixture
def sound(home):
    with home() as kb:
        small_base.put_meetings(kb, range(4))
        small_base.finish(kb)
        assert verify(kb) == []
        yield kb


def whats(kb):
    return " | ".join(problem.what for problem in verify(kb))


@pytest.mark.parametrize("table", ["facts", "mentions"])
def test_verify_sees_a_span_that_was_altered(sound, table):
    sound.database.execute(f"UPDATE {table} SET start = start + 1 WHERE ordinal = 0")
    assert "are not what the schema admits of the extraction" in whats(sound)


def test_verify_sees_a_source_that_was_altered(sound):
    sound.database.execute("UPDATE documents SET text = replace(text, 'met', 'saw') WHERE id = 'd1'")
    assert "document 'd1', chunk 0" in whats(sound)


def test_verify_sees_a_fact_that_does_not_fit_the_schema(sound):
    sound.schemas.append(scripted.schema(), (), "someone")
    assert "(P0; met; P1) does not fit the schema" in whats(sound)


@pytest.mark.parametrize("kind", ["entities", "triples", "relations", "chunks"])
def test_verify_sees_a_vector_that_is_gone_and_reindex_mends_it(sound, kind):
    sound.vectors.drop(kind, sorted(sound.vectors.ids(kind))[:1])
    assert whats(sound) == f"the vectors of the {kind}: 1 missing, 0 left over"
    small_base.reindex(sound)
    assert verify(sound) == []


def test_verify_sees_a_vector_too_many(sound):
    sound.vectors.put("entities", ["stranger"], ["stranger"])
    assert whats(sound) == "the vectors of the entities: 0 missing, 1 left over"


def test_verify_sees_a_graph_file_that_is_not_what_the_ledger_gives(sound, home):
    state, other = graph_file.load(sound.layout.graph)
    other.remove_edge(*next(iter(other.edges(keys=True))))
    graph_file.save(sound.layout.graph, state, small_base.node_link_of(other))
    sound.close()
    with home() as kb:
        assert "the graph's file is not what the ledger's rows give" in whats(kb)
        small_base.reindex(kb)
        assert verify(kb) == []


def test_verify_sees_communities_that_do_not_partition_the_entities(sound):
    sound.database.execute("UPDATE communities SET members = '[]' WHERE id = (SELECT min(id) FROM communities)")
    assert "the communities do not partition the entities" in whats(sound)
