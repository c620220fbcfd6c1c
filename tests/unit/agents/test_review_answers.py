"""What a person may answer to a schema review: each form means the same decisions, and nothing else means any."""

import pytest
from banyan.agents.schema_proposal import request
from banyan.schemas.delta import Candidate, Example, ReviewError, read_answer
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
    assert decided({"decisions": [{"type": "approve"}, {"type": "approve"}, edit(merge_into="years")]}) == [
        ("born in", "accept"), ("game", "accept"), ("age", "merge", "years")]
    assert read_answer(said, SHOWN, "ada").who == "ada"
