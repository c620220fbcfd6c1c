"""A schema that fits: which excerpts a model reads, what becomes of its proposal, and what a review may answer."""

import random
from pathlib import Path

import pytest
from banyan.agents.schema_proposal import choose_excerpts, core_schema, infer_schema
from banyan.ingest.reading import IngestError, Limits
from banyan.models.llm.llm_reasoner import MOST, SchemaWriter, merge_proposal
from banyan.models.llm.wire import ProposedSchema
from banyan.runtime.budgets import BudgetExceeded
from banyan.schemas.delta import Candidate, Example, ReviewError, read_answer
from banyan.schemas.documents import Chunk
from banyan.schemas.graph_schema import AUTO_SCHEMA
from banyan.schemas.naming import content_id, is_readable_label
from langchain.agents.middleware.human_in_the_loop import HITLResponse
from pydantic import TypeAdapter

from ...newest import newest
from ...scripted import Workshop
from ...scripted_endpoint import ScriptedEndpoint

TEXTS = {"a.txt": "Ada:Person --leads--> Acme:Organization.", "b.txt": "Bonn:City --located_in--> Europe:Location."}
PROPOSAL = {"thought": "Firms and who leads them.",
            "types": [["City", "Location", "a town", "城市"], ["person", "", "known already", ""]],
            "relations": [["leads", "Person", "Organization|Firm", "领导"], ["works for", "Person", "City", ""],
                          ["based in", "Organization|City", "Location|City", "", "tail"]],
            "attributes": [["budget", "Organization", "number", "Etat", "one"],
                           ["It cost much. Very.", "Person", "text", ""]]}


def chunk(document: str, ordinal: int, text: str) -> Chunk:
    return Chunk(id=content_id(document, text), document_id=document, ordinal=ordinal, start=0, end=len(text),
                 text=text, title=document)


def proposed(**changes):
    return merge_proposal(core_schema(), ProposedSchema.model_validate({**PROPOSAL, **changes}))


class FittedShop(Workshop):
    """Builds whose schema a model proposes; the endpoint gives its answers in order."""

    def __init__(self, folder, embedder, *answers, **settings) -> None:
        super().__init__(folder, embedder, **settings)
        self.endpoint = ScriptedEndpoint(answers)
        self.use_writer(lambda resources, name: SchemaWriter(resources.settings, resources.accounts(name),
                                                             lambda _: self.endpoint))

    def given(self, paths=()):
        return {"knowledge_base": "kb", "paths": list(paths)}


@pytest.fixture
def fitted(tmp_path, hashed_embedder):
    return lambda *answers, **settings: FittedShop(tmp_path, hashed_embedder, *answers, **settings)


def test_the_excerpts_are_a_function_of_the_documents_and_not_of_their_order():
    chunks = [chunk(f"d{n}", turn, f"Text {turn} of document {n}. " * 20) for n in range(60) for turn in range(3)]
    once = choose_excerpts(chunks, 1000)
    random.Random(1).shuffle(chunks)
    assert choose_excerpts(chunks, 1000) == once
    assert len(once) == 1
    titles = [text.split("\n")[0] for text in once[0]]
    assert len(titles) == len(set(titles)) > 20, "spread over the documents"


def test_a_proposal_is_merged_with_the_core():
    schema = proposed()
    assert schema.name == AUTO_SCHEMA
    assert schema.description == "Firms and who leads them."
    assert [t.name for t in schema.entity_types][-1] == "City"
    assert schema.entity_type("City").parent == "Location"
    assert schema.entity_type("City").label("zh") == "城市"
    leads, based = schema.relation_type("leads"), schema.relation_type("based_in")
    assert (leads.domain, leads.range, leads.labels) == (("Person",), ("Organization",), {"zh": "领导"})
    assert based.range == ("Location",), "a kind of another type adds nothing"
    assert schema.relation_type("works_for").range == ("Organization",), "the core stays"
    assert schema.attribute_type("budget").aliases == ("Etat",)
    assert schema.attribute_type("budget").kind == "number"
    assert (based.functional, leads.functional, schema.attribute_type("budget").functional) == (True, False, True)
    assert len(schema.attribute_types) == len(core_schema().attribute_types) + 1, "a sentence names nothing"


def test_a_proposal_has_a_limit_and_an_empty_one_is_refused():
    many = proposed(relations=[[f"relation {n}", "Person", "Nothing", ""] for n in range(99)])
    assert len(many.relation_types) == len(core_schema().relation_types) + MOST["relation"]
    assert many.relation_types[-1].range == ("*",), "an unknown type bounds nothing"
    with pytest.raises(ValueError, match="no row that can be used"):
        merge_proposal(core_schema(), ProposedSchema())


@pytest.mark.parametrize(("label", "readable"), [
    ("supplied_by", True), ("供应商", True), ("No. of seats", True), ("Chair (since)", True), ("", False),
    ("2024", False), ("https://a.example", False), ("She left. Nobody knew why", False), ("价格。", False),
    ("a b c d e f g h i j k l", False), ("x" * 90, False), ("a@b.example", False), ("{x}", False)])
def test_only_a_readable_label_can_name_an_element(label, readable):
    assert is_readable_label(label) is readable


def test_a_build_proposes_its_schema_once(fitted):
    shop = fitted(PROPOSAL)
    paths = shop.write(TEXTS)
    assert shop.build(paths)["stopped"] == ""
    assert shop.triples() == {("Ada", "leads", "Acme"), ("Bonn", "located_in", "Europe")}
    with shop.resources() as resources:
        kb = newest(resources).kb
        first = kb.schemas.versions()[0]
        assert (first.who, first.graph_schema.name) == ("auto", AUTO_SCHEMA)
        assert {d.decision.name: d.decision.why for d in first.decisions}["City"] == (
            "proposed from 2 excerpts of 2 documents: a town")
        assert [account.name for account in kb.calls.spent("step")] == ["infer"]
    shop.build(shop.write({"c.txt": "Cem:Person --leads--> Acme:Organization."}))
    assert len(shop.endpoint.sent) == 1
    assert shop.problems() == []


def test_a_schema_is_inferred_for_files(fitted):
    shop, failed = fitted(PROPOSAL), []
    with shop.resources() as resources, resources.standalone_calls() as calls:
        writer = SchemaWriter(resources.settings, calls, lambda _: shop.endpoint)
        found = infer_schema(writer, [*map(Path, shop.write(TEXTS))], Limits(), 300, failed.append)
        assert (*found, failed) == (proposed(), 2, 2, [])
        with pytest.raises(IngestError, match="nothing to read"):
            infer_schema(writer, [*map(Path, shop.write({"empty.txt": ""}))], Limits(), 300, failed.append)
        with pytest.raises(BudgetExceeded), resources.standalone_calls(0):
            infer_schema(writer, [*map(Path, shop.write({"new.txt": "A new text."}))], Limits(), 300, failed.append)


BORN = Candidate(kind="relation", name="born in", labels=("born in", "native of"), documents=2, occurrences=3,
                 confidence=0.9, subject_types=("Person",), object_types=("City", "Country"),
                 examples=(Example(document="a.md", item="(Ada; born in; Ulm)", words="Ada was born in Ulm."),))
GAME = Candidate(kind="entity_type", name="game", labels=("game",), documents=1, occurrences=1, confidence=0.5)
AGE = Candidate(kind="attribute", name="age", labels=("age",), documents=1, occurrences=1, confidence=0.5,
                subject_types=("Person",), object_types=("number",))
SHOWN = [BORN, GAME, AGE]


def decided(said, shown=SHOWN):
    """Name and verdict of each decision, with the new name or the other element where there is one."""
    return [(one.name, one.verdict, *filter(None, [one.new_name or one.into])) for one in
            read_answer(said, shown).on(shown)]


def test_decisions_are_taken_as_data():
    said = {"decisions": [{"kind": "relation", "name": "born in", "verdict": "accept"},
                          {"kind": "entity_type", "name": "game", "verdict": "rename", "new_name": "board_game"}],
            "all": "reject"}
    assert decided(said) == [("born in", "accept"), ("game", "rename", "board_game"), ("age", "reject")]
    assert read_answer(said, SHOWN, "ada").who == "ada"
    assert read_answer({**said, "who": "eva"}, SHOWN, "ada").who == "eva"


@pytest.mark.parametrize(("said", "why"), [
    ("accept 1", "the review cannot be read"), (None, "the review cannot be read"),
    ({"game": "accept"}, "game: Extra inputs"), ({"decisions": [{"type": "approve"}]}, "1 decisions on 3 actions"),
    ({"decisions": 7}, "decisions: Input should be"), ({"decisions": [7]}, "decisions.0: Input should be"),
    ({"decisions": [{"verdict": "accept"}]}, "decisions.0.kind: Field required"),
    ({"all": "perhaps"}, "all: Input should be"),
    ({"decisions": [{"kind": "relation", "name": "x", "verdict": "accept", "colour": "red"}]}, "colour")])
def test_what_means_nothing_is_told(said, why):
    with pytest.raises(ReviewError, match=why):
        read_answer(said, SHOWN)


def edit(**changed):
    return {"type": "edit", "edited_action": {"name": "add_to_schema", "args": changed}}


def test_langchains_decisions_are_taken():
    said = {"decisions": [edit(name="birthplace", range='["City"]'), {"type": "reject", "message": "none"},
                          edit(kind="attribute", name="age", domain="Person, Pet", merge_into="")]}
    born, game, age = read_answer(TypeAdapter(HITLResponse).validate_python(said), SHOWN, "ada").decisions
    assert (born.verdict, born.new_name, born.domain, born.range) == ("rename", "birthplace", None, ("City",))
    assert (game.verdict, game.why) == ("reject", "none")
    assert (age.verdict, age.domain, age.range) == ("accept", ("Person", "Pet"), None)
    assert decided({"decisions": [{"type": "approve"}, {"type": "approve"}, edit(merge_into="years")]}) == [
        ("born in", "accept"), ("game", "accept"), ("age", "merge", "years")]
    assert read_answer(said, SHOWN, "ada").who == "ada"
