"""Walks over the entity-chunk graph, and how the walk of one sub-query leads that of the next."""

import numpy as np
import pytest
from banyan.schemas.retrieval import EVERYTHING, Evidence, Switches
from banyan.tools.ranking.fusion import Walk, walk
from hypothesis import given
from hypothesis import strategies as st

from ... import graph_index as graphs
from ... import hashed_embedding as hashed

one = graphs.one

# What is said of Ulm and of Graz differs by the names alone.
BORN, BEES, ULM, GRAZ, FAIR = range(5)
CHUNKS = [
    graphs.Stated("Ada Byron was born in Ulm.", [("Ada Byron", "born_in", "Ulm")]),
    graphs.Stated("Ada Byron owned hives.", [("Ada Byron", "owned", "hives")]),
    graphs.Stated("Barges moor at the quay of Ulm.", entities=["Ulm", "quay of Ulm"]),
    graphs.Stated("Barges moor at the quay of Graz.", entities=["Graz", "quay of Graz"]),
    graphs.Stated("Which goods sell at fairs is unknown.", entities=["fair"]),
]
FIRST, SECOND = "Where was Ada Byron born?", "Which goods go there?"
SILENT = Switches(dense=False, lexical=False)


@pytest.fixture(scope="module")
def index():
    index = graphs.index_of(CHUNKS, hashed.HashedEmbedder())
    index.community_chunks = {"towns": np.array([ULM, GRAZ], np.intp), "ada": np.array([BORN, BEES], np.intp)}
    return index


def found(*names: str, route="triple", score=0.9) -> Evidence:
    return Evidence(route=route, text="fact", score=score, entity_ids=tuple(one(name) for name in names))


@pytest.fixture(scope="module")
def first(index):
    """The first step, and the walk to which what it names and the triple that it asks about lead."""
    query = graphs.asked(index, FIRST)
    return query, walk(index, query, [found("Ada Byron", route="entity", score=1.0), found("Ada Byron", "Ulm")])


def led(index, first, question=SECOND, switches=EVERYTHING, evidence=()):
    """A question with the lead of the first step, and by itself."""
    query, before = first
    after = walk(index, graphs.asked(index, question, query), evidence, switches, [before])
    return after, walk(index, graphs.asked(index, question), evidence, switches)


def row(index, name: str) -> int:
    return index.entity_row[one(name)]


def weights(index, **given: float) -> np.ndarray:
    made = np.zeros(len(index.entity_row), np.float32)
    for name, weight in given.items():
        made[row(index, name)] = weight
    return made


def nothing(index):
    return np.zeros(len(index.chunks), np.float32)


def test_a_chunk_that_shares_no_word_rises_with_the_entities_of_the_walk_before(index, first):
    after, alone = led(index, first)
    words = index.lexical.scores(SECOND)
    assert words[ULM] == words[GRAZ] == 0
    assert int(np.argmax(alone.chunks)) == FAIR, "by its words"
    # Only the lead tells Ulm from Graz.
    assert alone.chunks[ULM] < 1.5 * alone.chunks[GRAZ]
    assert after.chunks[ULM] > 3 * after.chunks[GRAZ]
    assert after.chunks[ULM] > 3 * alone.chunks[ULM]
    assert after.chunks[FAIR] < alone.chunks[FAIR]
    assert after.entities[row(index, "Ulm")] > alone.entities[row(index, "Ulm")]


def lead_of(index, query, before):
    """The weights with which a walk sets out: where nothing spreads, those of its entities."""
    silent = SILENT.model_copy(update={"spreading": False})
    weights = walk(index, query, [], silent, before).entities
    return weights / (weights.sum() or 1)


def test_what_the_earlier_question_named_is_not_its_answer(index, first):
    query, before = first
    assert int(np.argmax(before.entities)) == row(index, "Ada Byron")
    lead = lead_of(index, graphs.asked(index, SECOND, query), [before])
    assert lead[row(index, "Ada Byron")] == 0
    assert int(np.argmax(lead)) == row(index, "Ulm")
    assert lead.sum() == pytest.approx(1)
    # The same walk of a question that does not name her leads back to her.
    unnamed = (graphs.asked(index, "Where was she born?"), before)
    her = lead_of(index, graphs.asked(index, SECOND, unnamed[0]), [before])
    assert int(np.argmax(her)) == row(index, "Ada Byron")
    assert led(index, first)[0].chunks[BEES] < led(index, unnamed)[0].chunks[BEES]


def test_all_namesakes_of_what_was_named_are_left_out():
    index = graphs.index_of([graphs.Stated("Ulm on Ulm and ULM.", [("Ulm", "on", "Danube")], ["ULM"])],
                            hashed.HashedEmbedder())
    query = graphs.asked(index, "Where is ulm?")
    everything = Walk(np.ones(len(index.entity_row), np.float32), nothing(index))
    lead = lead_of(index, graphs.asked(index, SECOND, query), [everything])
    assert [index.name(index.entity_row.at(at)) for at in np.flatnonzero(lead)] == ["Danube"]


def test_without_a_lead_the_walk_is_as_it_was(index, first):
    query, _ = first
    evidence = [found("Graz")]
    alone = walk(index, graphs.asked(index, SECOND), evidence)
    for entities in (weights(index), weights(index, **{"Ada Byron": 1.0})):
        before = Walk(entities, nothing(index))
        after = walk(index, graphs.asked(index, SECOND, query), evidence, before=[before])
        np.testing.assert_array_equal(after.chunks, alone.chunks)
        np.testing.assert_array_equal(after.entities, alone.entities)


def test_a_wrong_lead_hides_no_chunk(index, first):
    query, _ = first
    before = Walk(weights(index, Graz=1.0), nothing(index))
    after = walk(index, graphs.asked(index, SECOND, query), [], before=[before])
    alone = walk(index, graphs.asked(index, SECOND), [])
    assert after.chunks[GRAZ] > 3 * after.chunks[ULM]
    assert set(np.flatnonzero(alone.chunks)) <= set(np.flatnonzero(after.chunks))


def test_of_chunks_of_the_same_words_the_one_that_the_lead_reaches_has_their_weight(index, first):
    query, _ = first
    before, question = Walk(weights(index, Ulm=1.0), nothing(index)), "Which barges moor at a quay?"
    words = Switches(dense=False, spreading=False)
    alone = walk(index, graphs.asked(index, question), [], words).chunks
    assert alone[ULM] == pytest.approx(alone[GRAZ])
    after = walk(index, graphs.asked(index, question, query), [], words, [before]).chunks
    # Half of the lead's own share, for two chunks mention Ulm, and what all chunks had by their words.
    assert after[ULM] == pytest.approx(0.25 + alone.sum(), abs=0.02)
    assert 0 < after[GRAZ] < 0.02


def test_a_walk_needs_one_before_it_for_each_query_it_follows(index, first):
    with pytest.raises(ValueError, match="shorter"):
        walk(index, graphs.asked(index, SECOND, first[0]), [])


def test_several_leads_add_up_in_any_order(index):
    asked = [graphs.asked(index, "Which town?"), graphs.asked(index, "Which other?")]
    walks = [Walk(weights(index, Ulm=0.4), nothing(index)), Walk(weights(index, Graz=0.1), nothing(index))]
    query = graphs.asked(index, SECOND, *asked)
    lead = lead_of(index, query, walks)
    # How much of a walk ended there does not matter: each forerunner has an answer of its own.
    assert lead[row(index, "Ulm")] == lead[row(index, "Graz")] == pytest.approx(0.5)
    turned = walk(index, graphs.asked(index, SECOND, *asked[::-1]), [], before=walks[::-1])
    np.testing.assert_array_equal(walk(index, query, [], before=walks).chunks, turned.chunks)
    assert min(turned.chunks[[ULM, GRAZ]]) > turned.chunks[BEES]


def test_a_lead_without_spreading_reaches_what_mentions_its_entities_alone(index, first):
    query, _ = first
    before = Walk(weights(index, Ulm=1.0), nothing(index))
    off = Switches(spreading=False)
    follows = graphs.asked(index, SECOND, query)
    silent = walk(index, follows, [], off.model_copy(update={"dense": False, "lexical": False}), [before])
    assert np.flatnonzero(silent.chunks).tolist() == [BORN, ULM]
    assert np.flatnonzero(silent.entities).tolist() == [row(index, "Ulm")]
    after, alone = walk(index, follows, [], off, [before]), walk(index, graphs.asked(index, SECOND), [], off)
    # Half of the lead's share, for two chunks mention Ulm, and a little of what the others lose.
    assert after.chunks[ULM] - after.chunks[GRAZ] == pytest.approx(0.28, abs=0.05)
    assert alone.chunks[ULM] - alone.chunks[GRAZ] == pytest.approx(0, abs=0.05)
    assert not alone.entities.any()


def test_with_nothing_but_a_lead_the_walk_goes_on_from_it(index, first):
    after, alone = led(index, first, switches=SILENT)
    assert not alone.chunks.any()
    assert int(np.argmax(after.chunks)) in {BORN, ULM}
    assert after.chunks[GRAZ] < 1e-6


@pytest.mark.parametrize("spreading", [True, False])
def test_routes_that_rest_on_vectors_weigh_by_trust_and_names_do_not(index, spreading):
    switches = Switches(dense=False, lexical=False, spreading=spreading)
    for trust in (0.0, 0.5):
        query = graphs.asked(index, SECOND, trust=trust)
        assert walk(index, query, [found("Ulm", route="entity", score=1.0)], switches).chunks[ULM] > 0
        for route in ("triple", "dfs"):
            reached = walk(index, query, [found("Ulm", route=route)], switches).chunks[ULM]
            assert (reached > 0) == (trust > 0)
    # What is near to the question counts less than what it names.
    near, named = (walk(index, graphs.asked(index, SECOND), [
        found("Ulm", route="entity", score=score), found("Graz", route="entity", score=1.0)], switches).chunks[ULM]
        for score in (0.5, 1.0))
    assert 0 < near < named


TITLED = [graphs.Stated("It lies on the Danube.", entities=["Danube"], title="Ulm (city)"),
          graphs.Stated("Barges moor at Ulm.", entities=["Ulm"]),
          graphs.Stated("It was built in stone.", entities=["stone"], title="The minster of Ulm"),
          graphs.Stated("It is about nothing named.", title="?")]


def test_a_document_is_about_the_entity_that_its_title_names():
    index = graphs.index_of(TITLED, hashed.HashedEmbedder())
    query, named = graphs.asked(index, "What of Ulm?"), [found("Ulm", route="entity", score=1.0)]
    silent = walk(index, query, named, SILENT).chunks
    # The city's own document restarts the walk too; that of its minster is only reached from the city.
    assert silent[0] > 3 * max(silent[1], silent[2])
    assert silent[1] > 0 < silent[2]
    assert not silent[3]
    # Without the entity route, or where the question names something else, it does not.
    still = SILENT.model_copy(update={"spreading": False})
    unnamed = walk(index, graphs.asked(index, "What of stone?"), named, still).chunks
    assert walk(index, query, named, still).chunks[0] > 0 == unnamed[0] < unnamed[1]
    assert not walk(index, query, [], SILENT).chunks.any()


_names = st.sampled_from(["Ada Byron", "Ulm", "Graz", "hives", "gone"])
_evidence = st.lists(st.builds(
    lambda route, names, score, community: Evidence(
        route=route, text="x", score=score, entity_ids=tuple(one(name) for name in names), community_id=community),
    st.sampled_from(["entity", "triple", "community", "dfs"]), st.lists(_names, max_size=3),
    st.just(1.0) | st.floats(0, 1), st.sampled_from(["", "towns", "ada", "gone"])), max_size=8)
_switches = st.builds(Switches, dense=st.booleans(), lexical=st.booleans(), spreading=st.booleans(),
                      beta=st.none() | st.floats(0, 1))
_questions = st.sampled_from([FIRST, SECOND, "Ulm", "towns", "", "?", "林小雨", "Ada Byron Ulm Graz hives"])


@given(_evidence, _evidence, _questions, _questions, st.none() | st.floats(0, 1), _switches,
       st.randoms(use_true_random=False))
def test_weights_are_sound_and_do_not_depend_on_the_order_of_the_evidence(index, before, after, earlier, later, trust,
                                                                          switches, chance):
    def walks(turn):
        query = graphs.asked(index, earlier, trust=trust)
        leading = walk(index, query, turn(before), switches)
        return [leading, walk(index, graphs.asked(index, later, query, trust=trust), turn(after), switches, [leading])]

    for walked, again in zip(walks(list), walks(lambda found: chance.sample(found, len(found))), strict=True):
        assert walked.entities.shape == (len(index.entity_row),)
        assert walked.chunks.shape == (len(index.chunks),)
        for made, remade in ((walked.entities, again.entities), (walked.chunks, again.chunks)):
            assert np.isfinite(made).all()
            assert (made >= 0).all()
            np.testing.assert_array_equal(made, remade)
        if switches.spreading:
            assert walked.entities.sum() + walked.chunks.sum() <= 1 + 1e-4


@given(st.lists(st.floats(0, 1, width=32), min_size=7, max_size=7), _switches)
def test_any_lead_leaves_sound_weights(index, entities, switches):
    assert len(index.entity_row) == len(entities)
    before = Walk(np.array(entities, np.float32), nothing(index))
    query = graphs.asked(index, SECOND, graphs.asked(index, "Who?"))
    lead = lead_of(index, query, [before])
    assert lead.sum() == pytest.approx(1, abs=1e-4) or not lead.any()
    after = walk(index, query, [], switches, [before])
    assert np.isfinite(after.chunks).all()
    assert (after.chunks >= 0).all()
    assert (after.entities >= 0).all()
