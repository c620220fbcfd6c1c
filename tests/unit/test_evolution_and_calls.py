"""The schema's growth, the accounts of calls, and the measured reliability of vectors."""

import numpy as np
import pytest
from banyan.graph_store.accounts import Calls, StepTokens
from banyan.graph_store.bounding import Bounds, label_key
from banyan.graph_store.database import Database
from banyan.graph_store.evolution import DecisionError, apply, decide
from banyan.graph_store.reliability import SAMPLE, Reliability, measure, sample
from banyan.models.llm.accounts import BudgetExceeded
from banyan.schemas.delta import Candidate, Decision
from banyan.schemas.documents import Chunk
from banyan.schemas.extraction import ExtractedEntity, ExtractedTriple, Extraction
from banyan.schemas.graph_schema import ANY, EntityType, GraphSchema, RelationType
from hypothesis import given
from hypothesis import strategies as st

from ..conftest import load_test_module

base = load_test_module("small_base")

SCHEMA = GraphSchema(name="s", entity_types=(EntityType(name="Person"), EntityType(name="City")),
                     relation_types=(RelationType(name="born_in", domain=("Person",), range=("City",)),))


def candidate(kind, name, *, documents=2, confidence=0.9, subjects=(), objects=()) -> Candidate:
    return Candidate(kind=kind, name=name, documents=documents, occurrences=documents, confidence=confidence,
                     subject_types=subjects, object_types=objects)


def decision(one: Candidate, verdict="accept", new_name="") -> Decision:
    return Decision(kind=one.kind, name=one.name, verdict=verdict, new_name=new_name)


# ---- decide --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("confidence", "documents", "accepted"), [
    (0.8, 2, True), (0.79, 2, False), (0.8, 1, False), (1.0, 100, True), (0.0, 100, False)])
def test_the_thresholds_themselves_are_enough(confidence, documents, accepted):
    one = candidate("relation", "taught by", confidence=confidence, documents=documents)
    assert [d.name for d in decide([one], 0.8, 2)] == (["taught by"] if accepted else [])


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 5)), max_size=10), st.floats(0, 1), st.integers(1, 5))
def test_decisions_are_those_that_pass_both_thresholds(values, mu, support):
    candidates = [candidate("relation", f"r{n}", confidence=c, documents=d) for n, (c, d) in enumerate(values)]
    decisions = decide(candidates, mu, support)
    assert [d.name for d in decisions] == [c.name for c in candidates if c.confidence >= mu and c.documents >= support]
    assert all(d.verdict == "accept" and d.why for d in decisions)


# ---- apply ---------------------------------------------------------------------------------------


def test_accepted_elements_join_with_observed_types():
    candidates = [candidate("relation", "taught by", subjects=("Person",), objects=("Guild hall", "Person")),
                  candidate("attribute", "birth date", subjects=("Person",)),
                  candidate("entity_type", "guild hall")]
    grown = apply(SCHEMA, candidates, [decision(c) for c in candidates])
    assert grown.entity_type("GuildHall").aliases == ("guild hall",)
    relation = grown.relation_type("taught_by")
    # Only types that the schema has by then can bound a relation; labels of others are unknown to it.
    assert (relation.domain, relation.range) == (("Person",), ("Person",))
    assert grown.attribute_type("birth_date").owners == ("Person",)
    assert SCHEMA.relation_type("taught_by") is None


def test_entity_types_join_before_the_relations_that_need_them():
    relation = candidate("relation", "works at", subjects=("Person",), objects=("Guild",))
    kind = candidate("entity_type", "guild")
    for order in ([relation, kind], [kind, relation]):
        grown = apply(SCHEMA, order, [decision(c) for c in order])
        assert grown.relation_type("works_at").range == ("Guild",)
        assert grown.fits("Person", "works_at", "Guild")
        assert not grown.fits("Guild", "works_at", "Person")


@pytest.mark.parametrize("types", [(), ("Unknown",)])
def test_without_known_observed_types_anything_may_stand_there(types):
    one = candidate("relation", "near", subjects=types, objects=types)
    relation = apply(SCHEMA, [one], [decision(one)]).relation_type("near")
    assert (relation.domain, relation.range) == ((ANY,), (ANY,))


def test_a_declined_candidate_adds_nothing():
    one = candidate("relation", "near")
    assert apply(SCHEMA, [one], [decision(one, "reject")]) == SCHEMA
    assert apply(SCHEMA, [one], []) == SCHEMA


def test_a_new_name_keeps_the_old_one_as_alias():
    one = candidate("relation", "instructed by", subjects=("Person",), objects=("Person",))
    grown = apply(SCHEMA, [one], [decision(one, "rename", " taught_by ")])
    assert grown.relation_type("taught_by").aliases == ("instructed by",)
    assert Bounds(grown).relation("Instructed-By") == "taught_by"


def test_renaming_to_a_known_element_makes_an_alias_of_it():
    one = candidate("relation", "birthplace", subjects=("City",))
    grown = apply(SCHEMA, [one], [decision(one, "rename", "Born In")])
    assert len(grown.relation_types) == 1
    relation = grown.relation_type("born_in")
    assert relation.aliases == ("birthplace",)
    # What is known keeps its bounds.
    assert (relation.domain, relation.range) == (("Person",), ("City",))
    assert apply(grown, [one], [decision(one, "rename", "born_in")]) == grown


def test_a_label_that_cannot_be_a_name_of_two_words_leads_to_its_element():
    for name in ("guild hall", "行会", "r&d unit", "x's unit"):
        one = candidate("entity_type", name)
        assert Bounds(apply(SCHEMA, [one], [decision(one)])).entity_type(name) is not None, name


@pytest.mark.parametrize("wrong", [
    Decision(kind="relation", name="absent", verdict="accept"),
    Decision(kind="attribute", name="near", verdict="accept"),
    Decision(kind="relation", name="absent", verdict="reject")])
def test_a_decision_on_no_candidate_is_an_error(wrong):
    with pytest.raises(DecisionError, match=r"there is no candidate.*there are: near"):
        apply(SCHEMA, [candidate("relation", "near")], [wrong])


@pytest.mark.parametrize("name", ["", "  "])
def test_renaming_to_nothing_is_an_error(name):
    one = candidate("relation", "near")
    with pytest.raises(DecisionError, match="gives no new name"):
        apply(SCHEMA, [one], [decision(one, "rename", name)])


@given(st.sampled_from(["entity_type", "relation", "attribute"]),
       st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), min_size=1, max_size=20)
       .map(label_key).filter(bool))
def test_every_accepted_label_leads_to_an_element(kind, name):
    one = candidate(kind, name)
    bounds = Bounds(apply(SCHEMA, [one], [decision(one)]))
    found = {"entity_type": bounds.entity_type, "relation": bounds.relation, "attribute": bounds.attribute}[kind](name)
    assert found is not None
    assert label_key(name) == name


@pytest.mark.parametrize("label", ["", " ", "_", "-", "－＿", "x" * 150, "a\u200bb"])
def test_a_label_that_cannot_be_a_name_is_never_proposed(tmp_path, hashed_embedder, label):
    with base.create(tmp_path, "kb", hashed_embedder) as kb:
        kb.schemas.append(SCHEMA, (), "test")
        for person, city in (("Ada", "Ulm"), ("Carl", "Turku")):
            base.put(kb, person, f"{person} painted {city}.", entities={person: "Person", city: label[:100]},
                     triples=[(person, label or "-", person), (person, label or "-", city)])
        candidates = kb.extractions.candidates()
        decisions = decide(candidates, 0, 1)
        apply(kb.schemas.current(), candidates, decisions)


def test_observed_types_come_from_what_waits(tmp_path, hashed_embedder):
    with base.create(tmp_path, "kb", hashed_embedder) as kb:
        kb.schemas.append(SCHEMA, (), "test")
        for person, city in (("Ada", "Ulm"), ("Carl", "Turku")):
            chunk = base.put(kb, person, f"{person} painted {city}.", entities={person: "Person", city: "City"},
                             triples=[(person, "Painted", city)])
            assert kb.extractions.contribution(chunk).facts == ()
        (one,) = kb.extractions.candidates()
        assert (one.kind, one.name, one.documents) == ("relation", "painted", 2)
        assert (one.subject_types, one.object_types) == (("Person",), ("City",))
        decisions = decide([one], 0.8, 2)
        kb.schemas.append(apply(kb.schemas.current(), [one], decisions), decisions, "auto")
        kb.write_chunks([])
        assert [key[1] for key in kb.graph.edges()] == ["painted", "painted"]
        assert kb.extractions.candidates() == []


def test_what_was_declined_is_not_proposed_again(tmp_path, hashed_embedder):
    with base.create(tmp_path, "kb", hashed_embedder) as kb:
        kb.schemas.append(SCHEMA, (), "test")
        chunk = base.put(kb, "a", "Ada painted Ulm.")
        kb.extractions.save(chunk, "test", Extraction(
            entities=(ExtractedEntity(name="Ada", type="Person"), ExtractedEntity(name="Ulm", type="City")),
            triples=(ExtractedTriple(head="Ada", relation="painted", tail="Ulm"),)))
        kb.write_chunks([chunk])
        (one,) = kb.extractions.candidates()
        kb.schemas.append(apply(SCHEMA, [one], [decision(one, "reject")]), [decision(one, "reject")], "reviewer")
        assert kb.extractions.candidates() == []
        assert kb.graph.edges() == []


# ---- calls ---------------------------------------------------------------------------------------


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path / "ledger.sqlite")
    yield database
    database.close()


def record(calls, key, *, step="extract", response="r", prompt=10, completion=5):
    calls.record(key=key, step=step, response=response, prompt_tokens=prompt, completion_tokens=completion)


def test_calls_are_found_again_and_counted_by_step(database, tmp_path):
    calls = Calls(database)
    assert calls.lookup("a") is None
    assert calls.total() == StepTokens(step="all", calls=0, prompt=0, completion=0)
    record(calls, "a", response="答")
    record(calls, "b", prompt=1, completion=2)
    record(calls, "c", step="answer", response="")
    assert (calls.lookup("a"), calls.lookup("c"), calls.lookup("d")) == ("答", "", None)
    assert calls.steps() == [StepTokens(step="answer", calls=1, prompt=10, completion=5),
                             StepTokens(step="extract", calls=2, prompt=11, completion=7)]
    assert calls.total() == StepTokens(step="all", calls=3, prompt=21, completion=12)
    again = Database(tmp_path / "ledger.sqlite")
    assert Calls(again).lookup("a") == "答"
    assert Calls(again).total() == calls.total()
    again.close()


def test_a_call_made_again_is_paid_again_and_its_last_response_kept(database):
    calls = Calls(database)
    record(calls, "a", response="old")
    record(calls, "a", response="new")
    assert calls.lookup("a") == "new"
    assert calls.total().calls == 2


def test_a_call_is_recorded_whole_or_not_at_all(database):
    calls = Calls(database)
    with pytest.raises(RuntimeError, match="stop"), database.transaction():
        record(calls, "a")
        raise RuntimeError("stop")
    assert calls.lookup("a") is None
    assert calls.total().calls == 0


def test_no_call_is_paid_once_the_limit_is_reached(database):
    calls = Calls(database)
    limited = calls.within(30)
    limited.check_budget()
    record(limited, "a", prompt=10, completion=5)
    limited.check_budget()
    record(calls, "b", prompt=10, completion=4)
    limited.check_budget()
    record(limited, "c", prompt=1, completion=0)
    with pytest.raises(BudgetExceeded, match="30 tokens spent"):
        limited.check_budget()
    # What is known is still free, and the accounts are the same ones.
    assert limited.lookup("b") == "r"
    assert calls.total() == limited.total()
    calls.check_budget()


def test_a_limit_of_zero_allows_nothing_and_none_everything(database):
    calls = Calls(database)
    with pytest.raises(BudgetExceeded):
        calls.within(0).check_budget()
    record(calls, "a", prompt=10**9)
    calls.within(None).check_budget()


# ---- reliability ---------------------------------------------------------------------------------


class Constant:
    """An embedder that sees no difference."""

    name, dimension, fingerprint = "constant", 4, "constant"

    def encode(self, texts):
        return np.full((len(texts), 4), 0.5, np.float32)


class EnglishOnly:
    """Blind to anything but Latin letters."""

    name, dimension, fingerprint = "english", 129, "english"

    def __init__(self, embedder) -> None:
        self._embedder = embedder

    def encode(self, texts):
        seen = ["".join(letter for letter in text if letter.isascii()).strip(" .") for text in texts]
        vectors = np.zeros((len(texts), 129), np.float32)
        for row, text in enumerate(seen):
            if text:
                vectors[row, :128] = self._embedder.encode([text])[0]
            else:
                vectors[row, 128] = 1
        return vectors


WORDS = ["harbour", "violin", "glacier", "ledger", "orchard", "furnace", "parade", "lantern", "saddle", "compass"]
HAN = "港湾小提琴冰川账簿果园熔炉游行灯笼马鞍罗盘山河湖海桥路城镇"


def text_of(number: int) -> str:
    a, b, c = WORDS[number % 10], WORDS[(number // 10 + 3) % 10], WORDS[(number * 7 + 1) % 10]
    return (f"Report {number} is about the {a}. The {b} number {number} and the {c} were seen in year {1700 + number}. "
            f"It ends with {a} and {c}.")


def chinese_of(number: int) -> str:
    a, b, c = HAN[number % 28], HAN[(number * 5 + 3) % 28], HAN[(number * 11 + 7) % 28]
    return f"报告说到{a}{b}。其中{b}{c}与{c}{a}{b}在第{number}号。结尾是{a}{c}。"


def chunks(texts) -> list[Chunk]:
    return [Chunk(id=f"{number:04}", document_id="d", ordinal=number, start=0, end=len(text), text=text, title="")
            for number, text in enumerate(texts)]


def measured(texts, embedder) -> Reliability:
    return measure(chunks(texts), embedder.encode(texts), embedder)


def test_a_good_embedder_is_trusted_by_script(hashed_embedder):
    found = measured([text_of(n) for n in range(40)] + [chinese_of(n) for n in range(28)], hashed_embedder)
    assert found.by_script["latin"] > 0.9
    assert found.by_script["cjk"] > 0.9


def test_an_embedder_that_sees_no_difference_is_not_trusted():
    found = measured([text_of(n) for n in range(40)] + [chinese_of(n) for n in range(28)], Constant())
    assert found.by_script["latin"] < 0.05
    assert found.by_script["cjk"] < 0.05


def test_trust_is_measured_by_script(hashed_embedder):
    texts = [text_of(n) for n in range(40)] + ["".join(c for c in chinese_of(n) if not c.isdigit()) for n in range(28)]
    found = measured(texts, EnglishOnly(hashed_embedder))
    assert found.of("Which report?") > 0.9
    assert found.of("哪份报告？") < 0.1
    assert found.of("Какой отчёт?") == 1.0


def test_the_measure_does_not_depend_on_order(hashed_embedder):
    texts = [text_of(n) for n in range(30)]
    one, rows = chunks(texts), list(range(30))[::-1]
    vectors = hashed_embedder.encode(texts)
    assert measure(one, vectors, hashed_embedder) == measure([one[r] for r in rows], vectors[rows], hashed_embedder)


def test_without_anything_to_measure_vectors_are_trusted(hashed_embedder):
    assert measured([], hashed_embedder).of("Who?") == 1.0
    assert measured(["One sentence only.", ""], hashed_embedder) == Reliability()


def test_the_sample_is_bounded_and_takes_middle_sentences():
    made = chunks([f"First {n}. Middle {n}. Last {n}." for n in range(300)])
    chosen = sample(made)
    assert len(chosen) == SAMPLE
    assert all(text.strip() == f"Middle {row}." for row, text in chosen)


@given(st.dictionaries(st.sampled_from(["latin", "cjk", "arabic"]), st.floats(0, 1)))
def test_reliability_is_stored_and_read_back(by_script):
    made = Reliability(by_script)
    assert Reliability.parse(made.dump()) == made


def test_nothing_stored_is_read_as_nothing_sampled():
    assert Reliability.parse(None) == Reliability()
