"""What a person may answer to a schema review: each form means the same decisions, and nothing else means any."""

import json

import pytest
from banyan.agents.construction.asked_review import request
from banyan.schemas.delta import Candidate, Example
from banyan.schemas.review import ReviewError, read_answer
from langchain.agents.middleware.human_in_the_loop import HITLResponse
from pydantic import TypeAdapter

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


@pytest.mark.parametrize("said", [
    "accept 1, rename 2 to board_game; merge 3 into age in years",
    "accept native of, rename game to board_game, merge #3 into age in years",
    "接受 1，改名 2 to board_game，合并 3 into age in years",
    json.dumps({"decisions": [{"kind": "relation", "name": "born in", "verdict": "accept"},
                              {"kind": "entity_type", "name": "game", "verdict": "rename", "new_name": "board_game"},
                              {"kind": "attribute", "name": "age", "verdict": "merge", "into": "age in years"}]})])
def test_each_is_decided_on(said):
    assert decided(said) == [("born in", "accept"), ("game", "rename", "board_game"), ("age", "merge", "age in years")]


@pytest.mark.parametrize(("said", "why"), [
    ("", "the answer is empty"), (None, "the review cannot be read"), (7, "the review cannot be read"),
    ("perhaps", "'perhaps' cannot be read"), ("accept 1, 2 accept", "'2 accept' cannot be read"),
    ("accept 4", "'4' is no candidate: use a number; there are 1 \\(born in\\), 2 \\(game\\), 3 \\(age\\)"),
    ("accept 0", "'0' is no candidate"), ({"game": "accept"}, "game: Extra inputs"),
    ("accept " + 5000 * "9", "is no candidate"),
    ({"decisions": 7}, "decisions: Input should be"), ({"decisions": [7]}, "decisions.0: Input should be"),
    ({"decisions": [{"verdict": "accept"}]}, "decisions.0.kind: Field required"),
    ({"all": "perhaps"}, "all: Input should be"), ("[" * 100_000, "nested too deeply"),
    ({"decisions": [{"kind": "relation", "name": "x", "verdict": "accept", "colour": "red"}]}, "colour")])
def test_what_means_nothing_is_told(said, why):
    with pytest.raises(ReviewError, match=why):
        read_answer(said, SHOWN)


def test_a_name_of_two_candidates_is_asked_for_by_number():
    two = [BORN, BORN.model_copy(update={"kind": "attribute"})]
    with pytest.raises(ReviewError, match="means several candidates: use a number"):
        read_answer("accept born in", two)
    assert [one.kind for one in read_answer("accept 2", two).decisions] == ["attribute"]


def test_what_is_shown_says_what_is_asked_and_how_to_answer():
    shown = request("kb", SHOWN)
    assert shown["title"] == "Schema review of 'kb': 3 candidates"
    born = "1. relation 'born in' (Person -> City/Country), in 2 documents, confidence 0.90. a.md: "
    assert [one["description"] for one in shown["action_requests"]] == [
        f'{born}"Ada was born in Ulm."',
        "2. entity type 'game', in 1 document, confidence 0.50",
        "3. attribute 'age' (Person: number), in 1 document, confidence 0.50"]
    assert "error" not in shown
    assert [Candidate(**one) for one in shown["delta"]["candidates"]] == SHOWN
    again = request("kb", SHOWN, "that was nothing")
    assert again["error"] == "nothing was changed: that was nothing"
    assert again["action_requests"][0]["description"].startswith("nothing was changed: that was nothing")


def edit(**changed):
    return {"type": "edit", "edited_action": {"name": "add_to_schema", "args": changed}}


def test_langchains_decisions_are_taken():
    said = {"decisions": [edit(name="birthplace", range='["City"]'), {"type": "reject", "message": "none"},
                          edit(kind="attribute", name="age", domain="Person, Pet", merge_into="")]}
    born, game, age = read_answer(TypeAdapter(HITLResponse).validate_python(said), SHOWN, "ada").decisions
    assert (born.verdict, born.new_name, born.domain, born.range) == ("rename", "birthplace", None, ("City",))
    assert (game.verdict, game.why) == ("reject", "none")
    assert (age.verdict, age.domain, age.range) == ("accept", ("Person", "Pet"), None)
    assert decided(json.dumps({"decisions": [{"type": "approve"}, {"type": "approve"}, edit(merge_into="years")]})) == [
        ("born in", "accept"), ("game", "accept"), ("age", "merge", "years")]
    assert read_answer(said, SHOWN, "ada").who == "ada"
