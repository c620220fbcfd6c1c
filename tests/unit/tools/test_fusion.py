"""Ranking: beta, trust, what each switch adds (invariant 7), words, walks, and the steps of nested questions."""

import numpy as np
import pytest
from banyan.graph_store.index.lexical import LexicalIndex
from banyan.models.parsing.parser import Parser
from banyan.schemas.retrieval import ROUTES, Switches
from banyan.tools.ranking.fusion import beta, rank_chunks
from banyan.tools.ranking.nested_english import Step, split_question
from banyan.tools.retriever import Retriever
from hypothesis import given
from hypothesis import strategies as st

from ... import graph_index as graphs
from ... import hashed_embedding as hashed
from ... import small_base as base

PEOPLE = ["Ada Byron", "Carl Berg", "Ines Moreau", "Otto Falk", "Lena Sand", "Hugo Stern"]
CITIES = ["Ulm", "Turku", "Lyon", "Graz", "Oslo", "Bern"]
RIVERS = ["Danube", "Aura", "Rhone", "Mur", "Akers", "Aare"]
CRAFTS = ["painter", "botanist", "printer", "surveyor", "glazier", "weaver"]


def fill(kb) -> None:
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


@pytest.mark.parametrize(("named", "thematic"), [
    ("Was Ada Byron born in Ulm?", "What do people generally think about work and water?"),
    ("林小雨出生于宁波吗？", "人们通常怎样看待工作和水？"),
])
def test_beta_is_higher_for_names_than_for_themes(retriever, named, thematic):
    assert beta(retriever.compare(thematic)) < 0.5 < beta(retriever.compare(named))


QUESTIONS = ["On which river lies the city where the teacher of Ada Byron was born?",
             "Compare Bern, Oslo and Lyon.", "Which towns, barges and rivers belong together?",
             "Which river flows through Bern?", "Who worked with Otto Falk in Lyon?"]


def ranked(retriever, question, limit=50, **more) -> list[str]:
    chunks, row = retriever.index.chunks, retriever.index.chunk_row
    return [chunks[row[one]].document_id for one, _ in retriever.rank_passages(question, limit, **more)]


@pytest.mark.parametrize("switches", [
    *(Switches(routes=tuple(one for one in ROUTES if one != route)) for route in ROUTES),
    *(Switches(**{part: False}) for part in ("dense", "lexical", "spreading")), Switches(beta=0), Switches(beta=1)])
def test_each_switch_changes_the_ranking(retriever, switches):
    assert any(ranked(retriever, question, 15) != ranked(retriever, question, 15, switches=switches)
               for question in QUESTIONS)


def test_the_walk_finds_the_second_passage_of_a_chain_sooner(retriever):
    place = dict.fromkeys((True, False), 0)
    for person, city in zip(PEOPLE, range(6), strict=True):
        for spreading in place:
            query = retriever.compare(f"On what water lies the birthplace of {person}?")
            scores = rank_chunks(retriever.index, [(query, ())], Switches(spreading=spreading))
            ids = [retriever.index.chunks[int(row)].document_id for row in np.argsort(-scores, kind="stable")]
            place[spreading] += ids.index(f"city{city}")
    assert place[True] < 0.9 * place[False]


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


CHUNKS = [
    graphs.Stated("Ada Byron was born in Ulm.", [("Ada Byron", "born_in", "Ulm")]),
    graphs.Stated("Ada Byron owned hives.", [("Ada Byron", "owned", "hives")]),
    graphs.Stated("Barges moor at the quay of Ulm.", entities=["Ulm", "quay of Ulm"]),
    graphs.Stated("Barges moor at the quay of Graz.", entities=["Graz", "quay of Graz"])]


@pytest.fixture(scope="module")
def index():
    return graphs.index_of(CHUNKS, hashed.HashedEmbedder(),
                           communities={"towns": ["quay of Ulm", "Graz"], "ada": ["Ada Byron", "hives"]})


_switches = st.builds(Switches, routes=st.sets(st.sampled_from(ROUTES)).map(sorted).map(tuple), dense=st.booleans(),
                      lexical=st.booleans(), spreading=st.booleans(), beta=st.none() | st.floats(0, 1))
_questions = st.sampled_from(["Where was Ada Byron born?", "Ulm", "towns", "", "?", "林小雨", "Ada Byron Graz hives"])


@given(_questions, st.none() | st.floats(0, 1), _switches)
def test_weights_are_sound_and_always_the_same(index, question, trust, switches):
    turned = switches.model_copy(update={"routes": switches.routes[::-1]})
    weights, again = (rank_chunks(index, [(graphs.asked(index, question, trust=trust), ())], switches)
                      for switches in (switches, turned))
    assert weights.shape == (len(index.chunks),)
    assert np.isfinite(weights).all()
    assert (weights >= 0).all()
    np.testing.assert_array_equal(weights, again)


def test_only_texts_that_share_a_term_have_a_score():
    index = LexicalIndex.of(["the river Danube", "公司的净利润", "", "a river, a river"])
    assert index.scores("unheard 词").tolist() == [0.0] * 4
    assert index.scores("").tolist() == [0.0] * 4
    river = index.scores("Rivers? no: RIVER unheard")
    assert river[0] > 0
    assert river[3] > river[0]
    assert river[1] == river[2] == 0
    assert np.flatnonzero(index.scores("净利润率")).tolist() == [1]


def test_a_date_finds_the_text_that_writes_it_otherwise():
    index = LexicalIndex.of(["minutes 2020.2.18", "minutes 2020.3.31", "minutes 2018.2.20", "minutes 2019-10-15"])
    for asked, best in [("minutes of 18 February 2020", 0), ("2020年3月31日", 1), ("minutes of October 2019", 3)]:
        scores = index.scores(asked)
        assert scores.argmax() == best
        assert scores[best] > np.delete(scores, best).max() + 0.5 * index.idf(1), asked


def test_a_word_is_found_in_its_other_forms():
    index = LexicalIndex.of(["The board meets on Mondays.", "Prices of bread", "Der Müller mahlt"])
    assert [int(index.scores(asked).argmax()) for asked in ("meeting of a board", "price", "Müller")] == [0, 1, 2]
    assert all(map(index.knows, ("meeting", "prices", "müller")))
    assert not index.knows("metre")


PARSER = Parser()


def steps(question: str, *known: str) -> list[tuple[str, tuple[int, ...]]]:
    first, *others = split_question(question, PARSER, lambda text: [name for name in known if name in text])
    assert first == Step(question.strip())
    return [tuple(step) for step in others]


@pytest.mark.parametrize(("question", "expected"), [
    ("What is the river of the birthplace of the discoverer of polonium?",
     [("Who is the discoverer of polonium?", ()), ("What is the birthplace of?", (1,)),
      ("What is the river of?", (2,))]),
    ("What is the capital of the country where Frida Kahlo was born?",
     [("Which country Frida Kahlo was born?", ()), ("What is the capital of?", (1,))]),
    ("Who taught the author of the book that won the Golden Leaf in 1981?",
     [("Which book won the Golden Leaf in 1981?", ()), ("Who is the author of?", (1,)), ("Who taught?", (2,))]),
    ("Who is the spouse of the Silver Lamp performer?",
     [("Who is the Silver Lamp performer?", ()), ("Who is the spouse of?", (1,))]),
    *((question, []) for question in (
        "", "What is the capital of France?", "Who was the man who wrote Emma?", "What is the University of Vienna?",
        "Where is the company that Ada Byron founded?", "What is the name of the film directed by Agnes Varda?",
        "法国的首都有多少人口？", "What is the river of the birthplace of the discoverer of polonium? " * 40))])
def test_nested_questions_are_split_innermost_first_and_simple_or_long_ones_not(question, expected):
    assert steps(question) == expected


def test_a_split_whose_first_step_has_no_known_name_is_misread():
    question = "Which town is the birthplace of the author of Emma near?"
    assert steps(question, "Emma")
    assert steps(question, "town") == []


@given(st.text(max_size=60))
def test_any_text_is_searched_and_steps_follow_earlier_ones(question):
    for number, (text, follows) in enumerate(steps(question), 1):
        assert text
        assert all(earlier < number for earlier in follows)
