"""Entities found by the names that texts give, by other names that are stated of them, and by parts of names."""

import pytest
from banyan.graph_store.graph_index import GraphIndex
from banyan.schemas.graph_schema import GraphSchema
from banyan.schemas.lookups import EntityLookup, TripleLookup
from banyan.tools.graph_names import find_entities, link_by_sentences, named_entities
from banyan.tools.langchain_tools import look_up
from banyan.tools.retriever import Retriever

from ... import small_base as base
from ...hashed_embedding import HashedEmbedder
from ...small_base import create, finish, put

SCHEMA = GraphSchema.model_validate({
    "name": "songs", "entity_types": [{"name": "Person"}, {"name": "Song"}],
    "relation_types": [{"name": "wrote", "domain": ["Person"], "range": ["Song"]}],
    "attribute_types": [{"name": "alias", "owners": ["Person"]}]})


@pytest.fixture(scope="module")
def retriever(tmp_path_factory, hashed_embedder):
    with base.create(tmp_path_factory.mktemp("home"), "kb", hashed_embedder, SCHEMA) as kb, kb.writing():
        base.put(kb, "orlan", "Orlan Petersen wrote Low Tide. He is known as @quill and as Feather.",
                 entities={"Orlan Petersen": "Person", "Low Tide": "Song"},
                 triples=[("Orlan Petersen", "wrote", "Low Tide")],
                 attributes=[("Orlan Petersen", "alias", "@quill"), ("Orlan Petersen", "alias", "Feather")])
        base.put(kb, "mina", "Mina Petersen wrote High Tide.",
                 entities={"Mina Petersen": "Person", "High Tide": "Song"},
                 triples=[("Mina Petersen", "wrote", "High Tide")])
        base.finish(kb)
        yield Retriever(kb)


def names(retriever, entities):
    return [retriever.index.name(entity) for entity in entities]


@pytest.mark.parametrize("name", ["@quill", "@Quill", " @quill ", "Feather", "feather"])
def test_a_name_that_is_only_an_alias_finds_its_entity(retriever, name):
    assert not retriever.index.similar_names("@quill Feather", 5), "no mention has this name"
    assert names(retriever, find_entities(retriever.index, name).entities) == ["Orlan Petersen"]


def test_lookups_take_an_alias_for_a_name(retriever):
    (card,) = look_up(retriever, EntityLookup(entity="@quill"))
    assert card.title.startswith("Orlan Petersen")
    (table,) = look_up(retriever, TripleLookup(relation="wrote", head="@quill"))
    assert [item.statement for item in table.items] == ["Orlan Petersen -> Low Tide (orlan)"]


@pytest.mark.parametrize(("name", "near"), [
    ("Orlan Pettersen", ["Orlan Petersen"]), ("Petersen", ["Mina Petersen", "Orlan Petersen"]),
    ("the tide that came in low", ["Low Tide"]), ("Quincy Zane", []), (" ", [])])
def test_names_are_near_that_are_spelt_alike_or_share_all_words_of_one(retriever, name, near):
    assert list(retriever.index.similar_names(name, 5)) == near


def test_a_question_names_entities_by_their_aliases_and_handles_with_and_without_their_sign(retriever):
    for question in ("What did @quill write?", "What did quill write?"):
        assert names(retriever, named_entities(retriever.index, question)) == ["Orlan Petersen"]
    found = named_entities(retriever.index, "Which songs did Feather write before Mina Petersen?")
    assert list(zip(names(retriever, found), found.values(), strict=True)) == [
        ("Orlan Petersen", "Feather"), ("Mina Petersen", "Mina Petersen")]


def test_a_part_of_one_name_is_enough_and_an_unknown_name_finds_near_ones(retriever):
    assert names(retriever, find_entities(retriever.index, "Orlan").entities) == ["Orlan Petersen"]
    assert names(retriever, find_entities(retriever.index, "the Low Tide").entities) == ["Low Tide"]
    found = find_entities(retriever.index, "Mina Pedersen")
    assert (found.entities, found.near[0]) == ((), "Mina Petersen")


NAMES = {"Ada Lind": "Person", "Carl Berg": "Person", "Radom": "Location", "Ulm": "Location"}


@pytest.fixture
def index(tmp_path):
    with create(tmp_path, "kb", HashedEmbedder()) as kb, kb.writing():
        put(kb, "one", "Ada Lind and Carl Berg met in Radom. Ulm is far away.\n\n- Ulm and Ada Lind\n", entities=NAMES)
        put(kb, "two", "Ada Lind wrote to Carl Berg. Ada Lind was born in Ulm.", entities=NAMES,
            triples=[("Ada Lind", "born_in", "Ulm")])
        finish(kb)
        yield GraphIndex(kb)


def links(index, *names):
    ids = [entity for entity in index.entity_row if index.name(entity) in names]
    return [({index.name(one), index.name(other)}, count) for one, other, count in link_by_sentences(index, ids)]


def test_sentences_link_names_that_no_fact_ties(index):
    found = links(index, *NAMES)
    assert found[0] == ({"Ada Lind", "Carl Berg"}, 2), "those of most sentences first"
    assert ({"Carl Berg", "Radom"}, 1) in found
    assert {"Ada Lind", "Ulm"} not in [pair for pair, _ in found], "a fact ties them"
    assert {"Carl Berg", "Ulm"} not in [pair for pair, _ in found], "only the chunk names both"
