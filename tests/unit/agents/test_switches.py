"""What is switched off in retrieval has no say."""

import numpy as np
import pytest
from banyan.agents.retrieval.state import AskContext
from banyan.schemas.naming import entity_id
from banyan.schemas.retrieval import ROUTES, Evidence, SubQuery, Switches
from banyan.tools.ranking.chunk_scores import lexical_scores
from banyan.tools.retriever import Retriever
from pydantic import ValidationError

from ... import small_base as base

PEOPLE = ["Ada Byron", "Carl Berg", "Ines Moreau", "Otto Falk"]
CITIES = ["Ulm", "Turku", "Lyon", "Graz"]
QUESTION = "Where was Ada Byron, who kept a register of barges, born?"


@pytest.fixture(scope="module")
def retriever(tmp_path_factory, hashed_embedder):
    with base.create(tmp_path_factory.mktemp("home"), "kb", hashed_embedder) as kb, kb.writing():
        for n, (person, city) in enumerate(zip(PEOPLE, CITIES, strict=True)):
            base.put(kb, f"person{n}", f"{person} was born in {city}.", entities={person: "Person", city: "City"},
                     triples=[(person, "born_in", city)])
            base.put(kb, f"city{n}", f"{city} lies where barges moor.", entities={city: "City"})
        base.put(kb, "plain", "The guild kept a register.")
        base.finish(kb)
        yield Retriever(kb)


@pytest.fixture
def query(retriever):
    return retriever.queries([SubQuery(question=QUESTION)])[0]


def ranked(retriever, query, evidence=(), **switches):
    """The documents that weigh anything, best first."""
    scores = retriever.rank([query], [list(evidence)], Switches(**switches))
    chunks = retriever.index.chunks
    return [chunks[retriever.index.chunk_row[one]].document_id for one, _ in retriever.ranking(scores, 50)]


def by_score(retriever, scores):
    return [retriever.index.chunks[row].document_id for row in np.argsort(-scores, kind="stable")]


def found(*names: tuple[str, str], route="triple"):
    return [Evidence(route=route, text="fact", score=0.9, entity_ids=tuple(entity_id(*name) for name in names))]


def test_without_words_vectors_decide_and_without_vectors_words(retriever, query):
    dense = by_score(retriever, query.meaning.chunks.at(np.arange(len(retriever.index.chunks))))
    lexical = by_score(retriever, lexical_scores(retriever.index, QUESTION))
    only_dense = ranked(retriever, query, lexical=False, spreading=False)
    only_lexical = ranked(retriever, query, dense=False, spreading=False)
    assert only_dense == dense[:len(only_dense)]
    assert only_lexical == lexical[:len(only_lexical)]
    assert len(only_dense) > 3
    assert len(only_lexical) > 3
    assert only_dense[:4] != only_lexical[:4]
    assert ranked(retriever, query, dense=False, lexical=False) == []


def test_without_spreading_only_passages_that_mention_a_seed_weigh(retriever, query):
    evidence = found(("Carl Berg", "Person"))
    off = {"dense": False, "lexical": False}
    assert ranked(retriever, query, evidence, spreading=False, **off) == ["person1"]
    assert set(ranked(retriever, query, evidence, **off)) == {"person1", "city1"}


def community_of(retriever, document):
    """Evidence of the community route that a document has a part in and some other has not."""
    index = retriever.index
    row = next(row for row, chunk in enumerate(index.chunks) if chunk.document_id == document)
    one = next(one for one, rows in sorted(index.community_chunks.items()) if row in rows and len(rows) < 8)
    return [Evidence(route="community", text="theme", score=0.9, community_id=one)]


@pytest.mark.parametrize(("beta", "silent", "heard"), [(1.0, "community", "triple"), (0.0, "triple", "community")])
def test_a_fixed_beta_gives_all_to_one_channel(retriever, query, beta, silent, heard):
    alone = retriever.rank([query], [[]], Switches(beta=beta))
    evidence = {"triple": found(("Otto Falk", "Person")), "community": community_of(retriever, "person3")}
    for route, same in ((silent, True), (heard, False)):
        with_it = retriever.rank([query], [evidence[route]], Switches(beta=beta))
        assert np.array_equal(alone, with_it) is same


def test_what_may_be_switched():
    assert AskContext().switches == Switches() == Switches(routes=ROUTES)
    given = {"routes": ("dfs",), "dense": False, "lexical": False, "spreading": False, "beta": 0.25}
    assert AskContext(**given).switches == Switches(**given)
    # From a server the context comes as JSON.
    assert AskContext(**given | {"routes": ["dfs"]}).switches == Switches(**given)
    for wrong in ({"beta": 1.1}, {"beta": -0.1}, {"routes": ("air",)}, {"walk": False}):
        with pytest.raises(ValidationError):
            Switches(**wrong)
