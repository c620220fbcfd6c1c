"""The entity, triple and community routes, and what all routes have in common."""

import numpy as np
import pytest
from banyan.schemas.naming import entity_id, triple_id
from banyan.schemas.retrieval import ROUTES, SubQuery
from banyan.tools.index import RetrievalIndex
from banyan.tools.near_facts import near_facts
from banyan.tools.retriever import Retriever
from banyan.tools.routes import community as community_route
from banyan.tools.routes import entity as entity_route
from banyan.tools.routes import triple as triple_route

from ... import small_base as base


@pytest.fixture(scope="module")
def kb(tmp_path_factory, hashed_embedder):
    kb = base.create(tmp_path_factory.mktemp("home"), "routes", hashed_embedder)
    with kb, kb.writing():
        base.put(kb, "ada", "Ada Byron was born in Ulm. She described the engine.",
                 entities={"Ada Byron": "Person", "Ulm": "City", "engine": "Machine"},
                 triples=[("Ada Byron", "born_in", "Ulm"), ("Ada Byron", "described", "engine")])
        base.put(kb, "ulm", "Ulm lies on the Danube. The Danube flows into the Black Sea.",
                 entities={"Ulm": "City", "Danube": "River", "Black Sea": "Sea"},
                 triples=[("Ulm", "lies_on", "Danube"), ("Danube", "flows_into", "Black Sea")])
        base.put(kb, "carl", "Carl Berg painted in Turku.", entities={"Carl Berg": "Person", "Turku": "City"},
                 triples=[("Carl Berg", "painted_in", "Turku")])
        base.put(kb, "lin", "林小雨出生于宁波。", entities={"林小雨": "Person", "宁波": "City"},
                 triples=[("林小雨", "出生于", "宁波")])
        base.finish(kb)
        yield kb


@pytest.fixture(scope="module")
def retriever(kb):
    return Retriever(kb)


@pytest.fixture(scope="module")
def places(tmp_path_factory, hashed_embedder):
    """Nine triples of one relation near to a question, six of another far from it, and a stray one."""
    kb = base.create(tmp_path_factory.mktemp("home"), "places", hashed_embedder)
    near = [("Ida", "born_in", f"Rome {n}") for n in range(9)]
    far = [(f"Bo Kay X{n}", "supplies", f"Y{n}") for n in range(6)]
    with kb, kb.writing():
        triples = [*near, *far, ("Ann", "left", "Ulm")]
        base.put(kb, "all", ". ".join(" ".join(triple) for triple in triples), triples=triples,
                 entities={name: "Thing" for head, _, tail in triples for name in (head, tail)})
        base.finish(kb)
        yield Retriever(kb)


def ask(retriever, question, **elements):
    return retriever.queries([SubQuery(question=question, **elements)])[0]


@pytest.mark.parametrize("route", ROUTES)
def test_evidence_says_what_it_rests_on(retriever, route):
    chunks, entities = set(retriever.index.chunk_row), set(retriever.index.entity_row)
    found = retriever.search(route, ask(retriever, "On which river lies the city where Ada Byron was born?"))
    assert found
    for item in found:
        assert item.route == route
        assert 0 <= item.score <= 1 + 1e-6
        assert item.text
        assert item.path
        assert set(item.chunk_ids) <= chunks
        assert item.entity_ids
        assert set(item.entity_ids) <= entities
        # A community's description is no source; everything else stands in some chunk.
        assert bool(item.chunk_ids) != bool(item.community_id)
        assert not item.community_id or (route == "community" and item.community_id in retriever.index.communities)
    assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)


@pytest.mark.parametrize("route", ROUTES)
def test_a_limit_is_kept_and_takes_the_best(retriever, route):
    query = ask(retriever, "On which river does Ulm lie?")
    every = retriever.search(route, query)
    few = retriever.search(route, query, 3)
    assert 0 < len(few) <= 3
    if route in {"entity", "triple"}:
        assert [item.score for item in few] == [item.score for item in every[:3]]


def test_named_entities_come_first_with_full_score(retriever):
    found = entity_route.search(retriever.index, ask(retriever, "Who was Ada Byron of Ulm?"), 5)
    assert {found[0].entity_ids[0], found[1].entity_ids[0]} == {entity_id("Ada Byron", "Person"),
                                                                entity_id("Ulm", "City")}
    assert [item.score == 1.0 for item in found] == [True, True, False, False, False]
    assert "Ada Byron born in Ulm" in found[0].text + found[1].text
    assert "names" in found[0].path[0]


def test_a_chinese_name_is_found(retriever):
    found = entity_route.search(retriever.index, ask(retriever, "林小雨出生在哪里？"), 2)
    assert found[0].entity_ids == (entity_id("林小雨", "Person"),)
    assert found[0].score == 1.0


def test_the_triple_route_finds_the_triple_that_is_asked_about(retriever):
    best = triple_route.search(retriever.index, ask(retriever, "Danube flows into"), 5)[0]
    assert best.entity_ids == (entity_id("Danube", "River"), entity_id("Black Sea", "Sea"))


def test_among_equally_near_triples_the_schema_decides(tmp_path, hashed_embedder):
    kb = base.create(tmp_path, "twins", hashed_embedder)
    with kb, kb.writing():
        # Equal up to underscore and space, so equal in what is embedded.
        base.put(kb, "a", "Ida met Bo.", entities={"Ida": "P", "Bo": "P"},
                 triples=[("Ida", "met_with", "Bo"), ("Ida", "met with", "Bo")])
        base.finish(kb)
        retriever = Retriever(kb)
        for wanted in ("met_with", "met with"):
            query = ask(retriever, "Whom did Ida meet?", relations=(wanted,))
            first = triple_route.search(retriever.index, query, 5)[0]
            edges = [edge for edge in retriever.index.edges if edge[1] == wanted]
            assert first.path[1] == kb.graph.words(edges[0])
            assert first.entity_ids[0] == edges[0][0]


def test_half_of_the_places_are_kept_for_named_relations(places):
    def found(limit, *relations) -> list[str]:
        query = ask(places, "Was Ida born in Rome?", relations=relations)
        return [item.text for item in triple_route.search(places.index, query, limit)]

    near, far = [f"Ida born in Rome {n}" for n in range(9)], [f"Bo Kay X{n} supplies Y{n}" for n in range(6)]
    assert set(found(8)) < set(near)
    kept = found(8, "supplies")
    assert len(kept) == 8
    assert len(set(kept) & set(near)) == 4
    assert len(set(kept) & set(far)) == 4
    assert kept[:4] == found(8)[:4], "the nearest stay where they are"
    assert set(found(40, "supplies")) == set(found(40)) == {*near, *far, "Ann left Ulm"}
    # A relation with fewer triples than places keeps no more than it has.
    assert [text for text in found(8, "left") if text not in near] == ["Ann left Ulm"]
    assert len(set(found(7, "supplies", "left")) & {*far, "Ann left Ulm"}) == 3, "several relations share the places"


def test_a_wrong_relation_and_one_that_is_nearest_anyway_leave_no_place_empty(places):
    for relations in ((), ("teleported_to",), ("born_in",), ("born_in", "supplies", "left")):
        for limit in (1, 2, 3, 8, 15):
            query = ask(places, "Was Ida born in Rome?", relations=relations)
            assert len(triple_route.search(places.index, query, limit)) == limit


def cosines(retriever):
    """The vector of a question, and its cosine to each community."""
    query = ask(retriever, "Which city lies on the Danube?")
    found = retriever.index.community_cosines(query.vector)
    return query.vector, dict(zip(retriever.index.communities, found, strict=True))


def test_a_communitys_vector_is_the_mean_of_what_is_known_of_its_members(kb, retriever):
    index = retriever.index
    vector, found = cosines(retriever)
    assert found
    for one, cosine in found.items():
        members = set(index.communities[one].members)
        mean = kb.vectors.get("triples", [
            triple_id(*edge) for edge in index.edges if members & {edge[0], edge[2]}]).mean(axis=0)
        assert cosine == pytest.approx(vector @ mean / np.linalg.norm(mean), abs=1e-6)


def test_a_community_without_triples_is_found_by_its_keywords(tmp_path, hashed_embedder):
    with base.create(tmp_path, "names", hashed_embedder) as kb, kb.writing():
        base.put(kb, "names", "Ada, Ben and Cid.", entities=dict.fromkeys(("Ada", "Ben", "Cid"), "Person"))
        base.finish(kb)
        retriever = Retriever(kb)
        vector, found = cosines(retriever)
        assert found
        for one, cosine in found.items():
            mean = kb.vectors.get("entities", retriever.index.communities[one].keywords).mean(axis=0)
            assert cosine == pytest.approx(vector @ mean / np.linalg.norm(mean), abs=1e-6)
        kb.database.execute("DELETE FROM summaries")
        assert list(RetrievalIndex(kb).communities) == [], "what is not described is not searched"


def test_the_community_route_goes_down_to_facts(retriever):
    found = community_route.search(retriever.index, ask(retriever, "Carl Berg painted in Turku"), 20)
    communities = [item for item in found if item.community_id]
    facts = [item for item in found if not item.community_id]
    assert communities
    assert "Carl Berg" in communities[0].text
    assert facts[0].text == "Carl Berg painted in Turku"
    assert facts[0].path[0].startswith("community ")
    assert all(item.chunk_ids for item in facts)
    assert not any(item.chunk_ids for item in communities), "a summary is no source"


@pytest.mark.parametrize("limit", [1, 3, 12, 24])
def test_communities_have_most_of_the_places(retriever, limit):
    found = community_route.search(retriever.index, ask(retriever, "Carl Berg painted in Turku"), limit)
    assert 0 < len(found) <= limit
    assert sum(not item.community_id for item in found) <= limit / 4
    assert len({item.community_id for item in found if item.community_id}) == sum(
        bool(item.community_id) for item in found)


def test_routes_find_nothing_in_an_empty_knowledge_base(tmp_path, hashed_embedder):
    with base.create(tmp_path, "empty", hashed_embedder) as kb:
        retriever = Retriever(kb)
        query = ask(retriever, "Is there anything?")
        assert retriever.evidence(query) == []
        assert retriever.ranking(retriever.rank([query], [[]]), 10) == []


PLANTS = ("Ash", "Birch", "Cedar")


@pytest.fixture(scope="module")
def plants(tmp_path_factory, hashed_embedder):
    """Three things of one colour in documents of their own, and one of another."""
    with base.create(tmp_path_factory.mktemp("home"), "plants", hashed_embedder) as kb, kb.writing():
        for name, colour in (*((plant, "Dark green") for plant in PLANTS), ("Dahlia", "7")):
            base.put(kb, name.lower(), f"{name} has leaf colour {colour}.", entities={name: "Plant"},
                     attributes=[(name, "leaf_colour", colour)])
        base.finish(kb)
        yield Retriever(kb)


def test_the_community_route_finds_all_entities_of_a_value_that_is_named(plants):
    (group,) = [item for item in community_route.search(plants.index, ask(plants, "Which are dark green?"), 20)
                if item.text.startswith("leaf colour")]
    assert group.text == "leaf colour: Dark green. Ash, Birch, Cedar"
    assert {plants.index.chunks[plants.index.chunk_row[chunk]].document_id for chunk in group.chunk_ids} == {
        "ash", "birch", "cedar"}
    assert {plants.index.name(entity) for entity in group.entity_ids} == set(PLANTS)


def test_no_group_is_found_by_a_mere_number(plants):
    found = community_route.search(plants.index, ask(plants, "Which have 7?"), 20)
    assert not any(item.text.startswith("leaf colour") for item in found)


def test_facts_of_a_named_value_are_told_of_all_entities_or_of_none(plants):
    def lines(question):
        query = ask(plants, question)
        query.meaning.__dict__["trust"] = 1.0
        return {item.line for item in near_facts(plants, [query])}

    assert lines("What has leaf colour dark green?") == {f"{plant} | leaf colour | Dark green" for plant in PLANTS}
    assert lines("Was the sea dark green?") == set()
