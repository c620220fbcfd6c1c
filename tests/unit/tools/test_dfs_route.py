"""The path route: where it sets out, what guides it, and how little work it takes."""

import numpy as np
import pytest
from banyan.tools.routes import dfs as dfs_route
from banyan.tools.routes.dfs import MAX_HOPS
from hypothesis import given
from hypothesis import strategies as st

from ... import graph_index as graphs
from ... import hashed_embedding as hashed

one = graphs.one
# A path of one length at most this often, each along at most so many triples (stated in tools/routes/dfs.py).
BEAM, BRANCHES = 10, 5


def index_of(triples: graphs.Triples, *others: str):
    """A graph of triples, each stated in a chunk of its own, and of entities without any."""
    return graphs.index_of([*(graphs.Stated(" ".join(triple), [triple]) for triple in triples),
                            graphs.Stated(" ".join(others), entities=others)], hashed.HashedEmbedder())


def asked(index, *steps: str, trust: float | None = None):
    """The last of some steps, each of which follows the one before."""
    query = graphs.asked(index, steps[0], trust=trust)
    for step in steps[1:]:
        query = graphs.asked(index, step, query, trust=trust)
    return query


JOURNEY = [("Ada Byron", "born_in", "Ulm"), ("Ulm", "lies_on", "Danube"), ("Danube", "flows_into", "Black Sea"),
           ("Ada Byron", "described", "engine"), ("Carl Berg", "painted_in", "Turku"), ("林小雨", "出生于", "宁波")]


@pytest.fixture(scope="module")
def journey():
    return index_of(JOURNEY, "Bonn")


def test_paths_lead_over_several_hops(journey):
    query = asked(journey, "Into which sea flows the river on which the birthplace of Ada Byron lies?")
    found = dfs_route.search(journey, query, 50)
    path = next(item for item in found if item.path[0] == "Ada Byron" and item.entity_ids[-1] == one("Black Sea"))
    assert path.path == ("Ada Byron", "Ada Byron born in Ulm", "Ulm lies on Danube", "Danube flows into Black Sea")
    assert path.text == "; ".join(path.path[1:])
    assert path.entity_ids == (one("Danube"), one("Black Sea")), "it is about what its last triple says"
    assert path.chunk_ids == ("chunk0", "chunk1", "chunk2")


def test_paths_set_out_from_names_and_from_the_triples_nearest_to_a_description(journey):
    named = dfs_route.search(journey, asked(journey, "Danube"), 50)
    assert named[0].path[0] == "Danube"
    described = dfs_route.search(journey, asked(journey, "The painter who painted in a Finnish town"), 50)
    assert described[0].text == "Carl Berg painted in Turku"
    assert {item.path[0] for item in described} >= {"Carl Berg", "Turku"}
    chinese = dfs_route.search(journey, asked(journey, "林小雨出生于哪里？"), 50)
    assert chinese[0].path == ("林小雨", "林小雨 出生于 宁波")


def test_repeated_names_and_names_without_triples_change_nothing(journey):
    def found(text):
        return dfs_route.search(journey, graphs.asked(journey, text, like="Ada Byron"), 50)

    once = found("Ada Byron")
    assert once
    assert found("Ada Byron, ADA BYRON of Bonn and Ada Byron") == once
    assert found("Bonn") == found("nobody")
    assert all(item.path[0] != "Bonn" for item in found("Bonn"))


def test_scores_are_geometric_means_times_the_trust(journey):
    question = "Where was Ada Byron born?"
    whole = dfs_route.search(journey, asked(journey, question), 50)
    half = dfs_route.search(journey, asked(journey, question, trust=0.5), 50)
    row = journey.edges.index((one("Ada Byron"), "born_in", one("Ulm")))
    (cosine,) = asked(journey, question).meaning.triples.at(np.array([row])).tolist()
    first = next(item for item in whole if item.path == ("Ada Byron", "Ada Byron born in Ulm"))
    assert first.score == pytest.approx(cosine ** 0.5, rel=1e-5), "of the name, found by its letters, and the triple"
    assert [item.score for item in half] == pytest.approx([item.score / 2 for item in whole])
    assert [item.path for item in half] == [item.path for item in whole]
    assert {item.score for item in dfs_route.search(journey, asked(journey, question, trust=0.0), 50)} == {0.0}


def test_there_are_no_paths_without_triples():
    empty = index_of([], "Ada Byron")
    assert dfs_route.search(empty, asked(empty, "Ada Byron"), 10) == []
    loop = index_of([("Ada Byron", "knows", "Ada Byron")])
    assert dfs_route.search(loop, asked(loop, "Whom does Ada Byron know?"), 10) == []


FORK = [("Ada", "was born in", "Ulm"), ("Ada", "paid a visit to", "Turku"), ("Ulm", "lies on the river", "Danube"),
        ("Turku", "lies on the river", "Aura")]
BORN, VISITED, RIVER = "Ada was born in?", "Ada paid a visit to?", "lies on the river"


def ends(index, *steps) -> list[str]:
    """Where the paths from Ada end, best first."""
    found = dfs_route.search(index, asked(index, *steps), 50)
    return [index.name(item.entity_ids[-1]) for item in found if item.path[0] == "Ada"]


@pytest.mark.parametrize(("first", "best", "other"), [(BORN, "Danube", "Aura"), (VISITED, "Aura", "Danube")])
def test_each_hop_is_guided_by_its_step(first, best, other):
    """Both paths fit the second step; the one that also fits the first wins."""
    fork = index_of(FORK)
    found = ends(fork, first, RIVER)
    assert found[0] == best
    assert found.index(best) < found.index(other)


def test_a_step_that_follows_none_is_guided_by_itself_alone():
    fork = index_of(FORK)
    alone = dfs_route.search(fork, asked(fork, RIVER), 50)
    assert alone[0].text in {"Ulm lies on the river Danube", "Turku lies on the river Aura"}
    assert all(item.path[0] in {"Ulm", "Danube", "Turku", "Aura"} for item in alone), "nothing says that Ada is meant"


def test_paths_of_a_chain_are_as_long_as_it_and_set_out_from_its_first_step():
    line = index_of([(f"Node{n}", "leads to", f"Node{n + 1}") for n in range(9)])
    for steps in range(1, MAX_HOPS + 3):
        texts = ["Node0 leads to", *["Node7 leads to"] * (steps - 1)]
        found = dfs_route.search(line, asked(line, *texts), 100)
        lengths = {len(item.path) - 1 for item in found}
        assert lengths == set(range(min(steps, MAX_HOPS), MAX_HOPS + 1))
        # A longer chain is cut at its head.
        assert any(item.path[0] == ("Node0" if steps <= MAX_HOPS else "Node7") for item in found)


def test_of_several_forerunners_the_last_leads_the_path():
    fork = index_of([*FORK, ("Bo", "knows", "Ulm")])
    bo, ada = asked(fork, "Bo knows"), asked(fork, BORN)
    both = graphs.asked(fork, RIVER, bo, ada)
    assert both.chain == (ada, both)
    assert dfs_route.search(fork, both, 20) == dfs_route.search(fork, asked(fork, BORN, RIVER), 20)


def visited(index, item) -> list[str]:
    """The entities on a path, one after the other."""
    names = [item.path[0]]
    for text in item.path[1:]:
        head, tail = text.split(" ")[0], text.split(" ")[-1]
        assert names[-1] in {head, tail}
        names.append(tail if names[-1] == head else head)
    assert [index.name(one) for one in item.entity_ids] == names[-2:]
    return names


def test_paths_have_at_most_five_hops_and_never_come_back():
    """A ring of nine with a chord at each, so that paths could go on for ever."""
    people = [f"Person{n}" for n in range(9)]
    ring = index_of([(people[n], relation, people[(n + step) % 9]) for n in range(9)
                     for relation, step in (("knows", 1), ("likes", 1), ("follows", 3))])
    found = dfs_route.search(ring, asked(ring, "Whom does Person0 know?"), 1000)
    assert {len(item.path) - 1 for item in found} == set(range(1, MAX_HOPS + 1))
    assert MAX_HOPS == 5
    assert len(found) <= MAX_HOPS * BEAM
    for item in found:
        assert len(set(visited(ring, item))) == len(item.path)


@pytest.fixture(scope="module")
def hub():
    """One entity with 5,000 neighbours, one of which is related in another way."""
    spokes = [("Hub", "supervises" if n == 3210 else "aq", f"N{n}") for n in range(5000)]
    index = graphs.index_of([graphs.Stated("A hub.", spokes)], hashed.HashedEmbedder())
    assert len(index.edges) == 5000
    return index


def test_the_best_relation_of_a_hub_is_followed(hub):
    found = dfs_route.search(hub, asked(hub, "Whom does the Hub supervise?"), 20)
    assert found[0].text == "Hub supervises N3210"


@pytest.mark.parametrize("steps", [
    ["Whom does the Hub supervise?"],
    ["Whom do N1, N2 and N3 know at the Hub?", "Whom does it supervise?"],
    [" ".join(f"N{n}" for n in range(50))]])
def test_work_at_a_hub_is_bounded(hub, monkeypatch, steps):
    looked, ends_at, query = list[int](), hub.ends_at, asked(hub, *steps)
    monkeypatch.setattr(hub, "ends_at", lambda row: looked.append(row) or ends_at(row))
    starts = len(query.chain[0].meaning.names) + 4
    found = dfs_route.search(hub, query, 1000)
    # The first hop sets out from every start; then only the best paths go on.
    nearest = 2
    assert 0 < len(looked) <= nearest + BRANCHES * (starts + (MAX_HOPS - 1) * BEAM)
    assert 0 < len(found) <= BEAM * MAX_HOPS
    assert max(len(item.path) - 1 for item in found) == 2, "what hangs on the hub alone leads nowhere else"


_names = st.sampled_from(["A1", "B2", "C3", "D4", "E5"])
_triples = st.lists(st.tuples(_names, st.sampled_from(["likes", "met", "出生于"]), _names), min_size=1, max_size=12,
                    unique=True)


@given(_triples, st.lists(st.sampled_from(["A1 likes", "whom B2 met", "C3出生于", "xyz", "?"]), min_size=1, max_size=7),
       st.integers(1, 12))
def test_paths_are_sound_ordered_and_do_not_depend_on_the_order_of_the_triples(triples, steps, limit):
    index, turned = index_of(triples), index_of(triples[::-1])
    found = dfs_route.search(index, asked(index, *steps), limit)
    again = dfs_route.search(turned, asked(turned, *steps), limit)
    assert [(item.path, item.score) for item in found] == [(item.path, item.score) for item in again]
    assert len(found) <= limit
    assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)
    said = {f"{head} {relation} {tail}" for head, relation, tail in triples}
    for item in found:
        assert 0 < item.score <= 1
        assert min(len(steps), MAX_HOPS) <= len(item.path) - 1 <= MAX_HOPS
        assert set(item.path[1:]) <= said
        assert len(set(visited(index, item))) == len(item.path)
        assert item.chunk_ids
