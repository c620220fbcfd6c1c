"""The schema elements that a sub-query names weigh what the routes find; a wrong one hides nothing."""

import pytest
from banyan.schemas.naming import entity_id
from banyan.schemas.retrieval import SubQuery
from banyan.tools.retriever import Retriever
from banyan.tools.routes.fitting import UNFIT

from ... import small_base as base

TEXT = "Mercury orbits the Sun, mass 4500. Mercury was poisoned in 1956. Ada Byron saw Mercury. Ada Byron met Sun Li."


@pytest.fixture(scope="module")
def retriever(tmp_path_factory, hashed_embedder):
    with base.create(tmp_path_factory.mktemp("home"), "fitting", hashed_embedder) as kb, kb.writing():
        base.put(kb, "a", TEXT, entities={"Mercury": "Planet", "Sun": "Star", "Ada Byron": "Person",
                                          "Sun Li": "Person"},
                 triples=[("Mercury", "orbits", "Sun"), ("Ada Byron", "saw", "Mercury"),
                          ("Ada Byron", "met", "Sun Li")],
                 attributes=[("Mercury", "mass", "4500")])
        base.put(kb, "b", "Mercury sank in 1956.", entities={"Mercury": "Ship"})
        base.finish(kb)
        yield Retriever(kb)


def found(retriever, route, question="Who saw Mercury?", **elements):
    return retriever.search(route, retriever.queries([SubQuery(question=question, **elements)])[0])


def scores(items):
    """The best score of each text: a path may be walked from both of its ends."""
    return {item.text: item.score for item in reversed(items)}


def test_a_type_chooses_among_namesakes(retriever):
    ship, planet = entity_id("Mercury", "Ship"), entity_id("Mercury", "Planet")

    def score(*types):
        return {item.entity_ids[0]: item.score for item in found(retriever, "entity", entity_types=types)
                if item.entity_ids[0] in {ship, planet}}

    assert score() == {ship: 1.0, planet: 1.0}
    assert score("Ship") == {ship: 1.0, planet: UNFIT}
    assert score("River") == score(), "a type of none of them was wrong"


def test_triples_without_an_end_of_a_named_type_count_less(retriever):
    plain, typed = scores(found(retriever, "triple")), scores(found(retriever, "triple", entity_types=("Person",)))
    assert typed.keys() == plain.keys()
    assert typed["Ada Byron saw Mercury"] == plain["Ada Byron saw Mercury"]
    assert typed["Mercury orbits Sun"] == pytest.approx(UNFIT * plain["Mercury orbits Sun"])


def test_named_relations_guide_paths_and_a_type_weighs_their_ends(retriever):
    plain = scores(found(retriever, "dfs"))
    guided = scores(found(retriever, "dfs", relations=("orbits",)))
    assert guided["Mercury orbits Sun"] == plain["Mercury orbits Sun"]
    assert guided["Ada Byron saw Mercury"] < plain["Ada Byron saw Mercury"]
    typed = scores(found(retriever, "dfs", entity_types=("Star",)))
    assert typed["Mercury orbits Sun"] == plain["Mercury orbits Sun"]
    assert typed["Ada Byron saw Mercury"] == pytest.approx(UNFIT * plain["Ada Byron saw Mercury"])


def test_a_named_attribute_is_what_the_entity_route_returns(retriever):
    (item,) = (item for item in found(retriever, "entity", attributes=("mass",))
               if item.entity_ids == (entity_id("Mercury", "Planet"),))
    assert item.text == "Mercury (Planet). mass: 4500"
    (chunk,) = item.chunk_ids
    assert retriever.index.chunks[retriever.index.chunk_row[chunk]].document_id == "a"


def test_elements_that_nothing_has_change_no_evidence(retriever):
    for route in ("entity", "triple", "dfs"):
        plain = [(item.text, item.entity_ids) for item in found(retriever, route)]
        odd = found(retriever, route, relations=("no such",), attributes=("no such",))
        assert [(item.text, item.entity_ids) for item in odd] == plain
