"""The schema's terms in the agent's prompt: all of them, or the largest and those near to the question."""

from contextlib import contextmanager

import pytest
from banyan.agents.retrieval.schema_terms import terms_text
from banyan.schemas.graph_schema import GraphSchema
from banyan.text.tokens import estimate_tokens
from banyan.tools.retriever import Retriever

from ... import small_base as base

LARGE = ("zest", "yield_point", "xylem_share")
"""Attributes that most things have; their names are last in order and far from the questions."""
SMALL = tuple(f"colour_of_the_lamp_on_mast_{number:02}" for number in range(60))
THINGS = ("Alba", "Brix", "Calw", "Dorn", "Esch")


def schema_of(*attributes):
    return GraphSchema.model_validate({
        "name": "ships", "entity_types": [{"name": "Ship"}],
        "attribute_types": [{"name": name, "owners": ["Ship"], "kind": "text"} for name in attributes]})


@contextmanager
def made(home, embedder, attributes):
    """A knowledge base of given attributes, each with how many things have it."""
    with base.create(home, "kb", embedder, schema_of(*attributes)) as kb, kb.writing():
        facts = [(thing, name, f"v{number}") for number, (name, rows) in enumerate(attributes.items())
                 for thing in THINGS[:rows]]
        base.put(kb, "facts", "\n".join(f"{thing} has {name} {value}." for thing, name, value in facts),
                 entities=dict.fromkeys(THINGS, "Ship"), attributes=facts)
        base.finish(kb)
        yield Retriever(kb)


@pytest.fixture(scope="module")
def retriever(tmp_path_factory, hashed_embedder):
    rows = {name: len(THINGS) - number for number, name in enumerate(LARGE)}
    with made(tmp_path_factory.mktemp("home"), hashed_embedder, dict.fromkeys(SMALL, 1) | rows) as retriever:
        yield retriever


@pytest.mark.parametrize("question", ["What is the colour of the lamp on the mast?", "Who are you?"])
def test_of_many_terms_those_with_the_most_rows_are_shown(retriever, question):
    shown, _, more = terms_text(retriever, schema_of(*SMALL, *LARGE), question).partition(", … ")
    terms = shown.split(", ")
    assert terms[:3] == ["zest 5", "yield_point 4", "xylem_share 3"]
    assert more == f"{len(SMALL) + len(LARGE) - len(terms)} more"
    assert estimate_tokens(shown) <= 200
