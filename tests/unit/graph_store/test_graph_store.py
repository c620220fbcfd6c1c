"""The graph as a function of its chunks, and its file."""

from contextlib import closing, nullcontext
from pathlib import Path
from sqlite3 import OperationalError

import networkx as nx
import pytest
from banyan.graph_store.bounding.admission import Bounds, bound
from banyan.graph_store.graph import graph_file
from banyan.graph_store.graph.knowledge_graph import KnowledgeGraph
from banyan.graph_store.ledger.database import FORMAT, Database
from banyan.graph_store.ledger.extractions import Extractions
from banyan.graph_store.ledger.notes import ledger_state
from banyan.graph_store.ledger.tables import METADATA
from banyan.graph_store.ledger.token_accounts import Calls
from banyan.graph_store.store_errors import FormatError
from banyan.runtime.budgets import charge_calls
from banyan.schemas.documents import Chunk
from banyan.schemas.extraction import (
    BoundedExtraction,
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
)
from banyan.schemas.graph_schema import open_schema
from banyan.schemas.naming import content_id
from hypothesis import given
from hypothesis import strategies as st

from ... import small_base
from ...admitted import admitted, graph_of
from ...newest import dump_graph

NAMES = ["Ada", "ADA", "Bob", "Cem", "Dua", "北京"]
TIMES = ["", "since 2015", "in 2018", "until 2021", "planned", "role: Bob", "since 2015; role: Bob; seat: Cem"]
TEXT = " ".join([*NAMES, *TIMES])
OPEN = Bounds(open_schema())


def contribution(extraction):
    found = bound(extraction, Chunk(id="c", document_id="d", ordinal=0, start=0, end=len(TEXT), text=TEXT, title=""),
                  OPEN)
    return BoundedExtraction(mentions=found.mentions, facts=found.facts, attributes=found.attributes)


names, times = st.sampled_from(NAMES), st.sampled_from(TIMES)
contributions = st.builds(
    Extraction,
    entities=st.lists(st.builds(ExtractedEntity, name=names, type=st.sampled_from(["A", "B"])), max_size=4).map(tuple),
    triples=st.lists(st.builds(ExtractedTriple, head=names, relation=st.sampled_from(["r", "s"]), tail=names,
                               time=times, confidence=st.sampled_from([0.1, 0.9])), max_size=4).map(tuple),
    attributes=st.lists(st.builds(ExtractedAttribute, entity=names, attribute=st.just("x"), value=names, time=times),
                        max_size=2).map(tuple)).map(contribution)
chunks = st.dictionaries(st.sampled_from("abcdef"), contributions, min_size=1)


@given(chunks, st.randoms(use_true_random=False),
       st.lists(st.tuples(st.sampled_from("abcdefgh"), contributions | st.none()), max_size=8))
def test_rows_are_those_of_the_last_contributions_whatever_was_there(wanted, random, history):
    with closing(Database(Path(":memory:"))) as database:
        database.execute("PRAGMA foreign_keys=OFF")  # these chunks are of no document
        table, places = Extractions(database), {chunk: Chunk(
            id=chunk, document_id="d", ordinal=0, start=0, end=len(TEXT), text=TEXT, title="") for chunk in "abcdefgh"}
        order = [*history, *sorted({chunk for chunk, _ in history} - wanted.keys())]
        for entry in order:
            chunk, part = (entry, None) if isinstance(entry, str) else entry
            table.write([(places[chunk], part or BoundedExtraction())])
        last = sorted(wanted.items())
        random.shuffle(last)
        for chunk, part in last:
            table.write([(places[chunk], part)])
        assert dump_graph(KnowledgeGraph.of_rows(table.rows())) == dump_graph(graph_of(wanted.items()))
        before = ledger_state(database).position
        table.write([(places[chunk], part) for chunk, part in wanted.items()])
        assert ledger_state(database).position == before, "what stays is not written again"
        for chunk, part in wanted.items():
            assert admitted(table, places[chunk]) == part


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "graph.json"
    network = nx.MultiDiGraph(name="北京\n")
    network.add_edge("a", "b", "r", kind="triple", sources=[{"start": 1}])
    data = nx.node_link_data(network, edges="edges")
    graph_file.save(path, [1, 2], graph_file.NodeLink(data["graph"], data["nodes"], data["edges"]))
    return path, network


def test_a_graph_read_back_is_what_was_written_and_its_state(saved):
    path, network = saved
    state, loaded = graph_file.load(path)
    assert state == [1, 2]
    assert graph_file.shows_state(path, [1, 2])
    assert not graph_file.shows_state(path, [1, 3])
    assert nx.utils.graphs_equal(nx.node_link_graph(loaded), network)
    assert [entry.name for entry in path.parent.iterdir()] == ["graph.json"], "no temporary file is left"


@given(data=st.data())
def test_a_file_that_was_cut_anywhere_is_noticed(saved, data):
    path, _ = saved
    copy = path.with_name("copy.json")
    copy.write_bytes(path.read_bytes()[:data.draw(st.integers(0, path.stat().st_size - 2))])
    try:
        with pytest.raises(graph_file.GraphFileDamagedError):
            graph_file.load(copy)
    finally:
        copy.unlink()


@pytest.fixture
def home(tmp_path, hashed_embedder):
    return lambda: small_base.create(tmp_path, "kb", hashed_embedder)


@pytest.mark.sqlite
def test_a_ledger_of_another_format_is_refused(home):
    with home() as kb:
        kb.database.execute("PRAGMA user_version=99")
    with pytest.raises(FormatError, match=f"has format 99, .* reads format {FORMAT} alone: drop .* build it"):
        home()


def test_other_tables_take_another_format():
    columns = [(table.name, column.name) for table in METADATA.sorted_tables for column in table.columns]
    assert (FORMAT, content_id(*sorted(map(".".join, columns)))) == (5, "27859fc76fcb49a8d547"), \
        "raise the number with the tables"


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path / "ledger.sqlite")
    yield database
    database.close()


def record(calls, key, *, step="extract", response="r", prompt=10, completion=5):
    calls.spend("", prompt, completion, 0)
    calls.record(key=key, step=step, response=response, prompt_tokens=prompt, completion_tokens=completion)


@pytest.mark.parametrize("build", ["", "run"])
def test_a_question_keeps_the_answer_that_cannot_be_stored_and_a_build_fails(database, build):
    """On a full disk: the answer is paid for, and a build would pay for everything again."""
    database.execute("PRAGMA max_page_count = 1")
    calls, lots = Calls(database), "x" * 1_000_000
    with charge_calls(build=build), pytest.raises(OperationalError, match="full") if build else nullcontext():
        record(calls, "a", response=lots)
    assert calls.lookup("a") is None
    assert calls.total().calls == 0


def test_a_transaction_that_fails_leaves_nothing_behind_even_within_another(database):
    with pytest.raises(ZeroDivisionError), database.transaction():
        database.set_meta("color", "red")
        with database.transaction():
            database.set_meta("size", "large")
        _ = 1 / 0
    assert (database.get_meta("color"), database.get_meta("size")) == ("", "")
