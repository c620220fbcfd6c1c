"""Ranking: beta, trust, what each switch adds (invariant 7), ties, and what a retriever caches."""

import numpy as np
import pytest
from banyan.schemas.retrieval import ROUTES, Switches
from banyan.tools.ranking.fusion import beta, rank_chunks
from banyan.tools.retriever import Retriever

from ... import small_base as base

PEOPLE = ["Ada Byron", "Carl Berg", "Ines Moreau", "Otto Falk", "Lena Sand", "Hugo Stern"]
CITIES = ["Ulm", "Turku", "Lyon", "Graz", "Oslo", "Bern"]
RIVERS = ["Danube", "Aura", "Rhone", "Mur", "Akers", "Aare"]
CRAFTS = ["painter", "botanist", "printer", "surveyor", "glazier", "weaver"]


def fill(kb) -> None:
    """Linked documents about people, their towns and crafts, with little lexical overlap between hops."""
    for n, (person, city, river, craft) in enumerate(zip(PEOPLE, CITIES, RIVERS, CRAFTS, strict=True)):
        teacher = PEOPLE[(n + 1) % 6]
        base.put(kb, f"person{n}", f"{person} was born in {city}. {person} was taught by {teacher}.",
                 entities={person: "Person", city: "City", teacher: "Person"},
                 triples=[(person, "born_in", city), (person, "taught_by", teacher)])
        base.put(kb, f"city{n}", f"{city} lies on the {river}, where barges moor.",
                 entities={city: "City", river: "River"}, triples=[(city, "lies_on", river)])
        base.put(kb, f"craft{n}", f"The guild kept a register. {person} joined it as a {craft}.",
                 entities={person: "Person", craft: "Craft"}, triples=[(person, "worked_as", craft)])
    base.put(kb, "zh", "林小雨出生于宁波。她毕业于北京大学。", entities={"林小雨": "Person", "宁波": "City"},
             triples=[("林小雨", "出生于", "宁波")])
    base.put(kb, "plain", "Nothing is named here, but some words are written.")


@pytest.fixture(scope="module")
def kb(tmp_path_factory, hashed_embedder):
    kb = base.create(tmp_path_factory.mktemp("home"), "fusion", hashed_embedder)
    with kb, kb.writing():
        fill(kb)
        base.finish(kb)
        yield kb


@pytest.fixture(scope="module")
def retriever(kb):
    return Retriever(kb)


def beta_of(retriever, question) -> float:
    return beta(retriever.compare(question))


@pytest.mark.parametrize(("named", "thematic"), [
    ("Was Ada Byron born in Ulm?", "What do people generally think about work and water?"),
    ("林小雨出生于宁波吗？", "人们通常怎样看待工作和水？"),
])
def test_beta_is_higher_for_names_than_for_themes(retriever, named, thematic):
    assert beta_of(retriever, thematic) < 0.5 < beta_of(retriever, named)


QUESTIONS = ["On which river lies the city where the teacher of Ada Byron was born?",
             "Compare Bern, Oslo and Lyon.", "Which towns, barges and rivers belong together?",
             "Which river flows through Bern?", "Who worked with Otto Falk in Lyon?"]


def ranked(retriever, question, limit=50, **more) -> list[str]:
    """The documents of the best passages."""
    chunks, row = retriever.index.chunks, retriever.index.chunk_row
    return [chunks[row[one]].document_id for one, _ in retriever.rank_passages(question, limit, **more)]


@pytest.mark.parametrize("switches", [
    *(Switches(routes=tuple(one for one in ROUTES if one != route)) for route in ROUTES),
    *(Switches(**{part: False}) for part in ("dense", "lexical", "spreading")), Switches(beta=0), Switches(beta=1)])
def test_each_switch_changes_the_ranking(retriever, switches):
    """Invariant 7."""
    assert any(ranked(retriever, question, 15) != ranked(retriever, question, 15, switches=switches)
               for question in QUESTIONS)


def test_the_walk_finds_the_second_passage_of_a_chain_sooner(retriever):
    """It shares no name with the question: the first passage leads to it."""
    place = dict.fromkeys((True, False), 0)
    for person, city in zip(PEOPLE, range(6), strict=True):
        for spreading in place:
            query = retriever.compare(f"On what water lies the birthplace of {person}?")
            scores = rank_chunks(retriever.index, [(query, ())], Switches(spreading=spreading))
            ids = [retriever.index.chunks[int(row)].document_id for row in np.argsort(-scores, kind="stable")]
            place[spreading] += ids.index(f"city{city}")
    assert place[True] < 0.9 * place[False]


def test_a_question_and_its_first_step_do_not_outweigh_the_step_that_follows(retriever):
    question, asked = map(retriever.compare, ("Where was the teacher of Ada Byron born?", "Where was he born?"))
    alone = rank_chunks(retriever.index, [(question, ())])
    hop = rank_chunks(retriever.index, [(question, ()), (asked, (0,))]) - alone
    assert hop.max() > 0
    together = rank_chunks(retriever.index, [(question, ()), (question, ()), (asked, (1,))])
    np.testing.assert_allclose(together, np.sqrt(2) * alone + hop, rtol=1e-4, atol=1e-5)


def test_rankings_are_deterministic_and_queries_do_not_affect_each_other(kb, retriever):
    for question in QUESTIONS:
        assert retriever.rank_passages(question, 20) == Retriever(kb).rank_passages(question, 20)


def test_a_question_is_embedded_once_however_many_are_asked_meanwhile(kb, monkeypatch):
    retriever, encoded = Retriever(kb), []
    encode = type(retriever.index.embedder).encode
    monkeypatch.setattr(type(retriever.index.embedder), "encode",
                        lambda self, texts: encoded.extend(texts) or encode(self, texts))
    questions = [f"Where was number {number} born?" for number in range(200)]
    first = [retriever.compare(question).vector for question in questions]
    again = [retriever.compare(question).vector for question in questions]
    np.testing.assert_array_equal(first, again)
    assert sorted(encoded) == sorted(questions)


def test_an_empty_knowledge_base_ranks_nothing(tmp_path, hashed_embedder):
    with base.create(tmp_path, "empty", hashed_embedder) as kb:
        for switches in (Switches(), Switches(spreading=False)):
            assert Retriever(kb).rank_passages("Is there anything?", 10, switches=switches) == []


def test_a_question_during_a_build_is_answered_from_what_is_written(tmp_path, hashed_embedder):
    kb = base.create(tmp_path, "building", hashed_embedder)
    with kb, kb.writing():
        base.put(kb, "a", "Ida lives in Rome.", entities={"Ida": "P", "Rome": "C"},
                 triples=[("Ida", "lives_in", "Rome")])
        base.finish(kb)
        # Written, but not embedded yet: what another process sees between two steps of a build.
        base.put(kb, "b", "Ida met Bo.", entities={"Ida": "P", "Bo": "P"}, triples=[("Ida", "met", "Bo")])
        assert ranked(Retriever(kb), "Where does Ida live?") == ["a", "b"]
