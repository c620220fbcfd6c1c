"""`banyan schema`: show, history, review by name and by file, infer."""

import json

from banyan.schemas.formats.schema_loading import load_schema

from ... import scripted
from ...newest import newest

ONE = {"a.txt": "Ada:Person --mentor of--> Bob:Person. Ada:Person --plays--> Chess:Game.",
       "b.txt": "Cem:Person --employer--> Acme:Organization."}
TWO = {**ONE, "c.txt": "Cem:Person --mentor of--> Dua:Person."}


def version(shell) -> int:
    with shell.resources() as resources:
        return newest(resources).kb.schemas.version()


def test_the_schema_is_shown_as_a_table_and_written_as_it_is_read_back(shell):
    shell.copy_built(ONE)
    table = shell("schema", "show", "--kb", "kb")
    assert "employer" in table.out
    assert "Person -> Organization" in table.out
    assert shell("schema", "show", "--kb", "kb", "--output", "out.json").code == 0
    assert load_schema("out.json") == scripted.schema()
    printed = shell("schema", "show", "--kb", "kb", "--json")
    assert json.loads(printed.out)["name"] == "scripted"


def test_growth_is_told_with_its_evidence(shell):
    shell.copy_built(TWO)
    told = shell("schema", "history", "--kb", "kb").out
    assert "auto" in told
    assert "accept relation mentor of" in told
    assert "2 documents" in told
    assert "(Ada; mentor of; Bob)" in told
    (seed, grown) = json.loads(shell("schema", "history", "--kb", "kb", "--json").out)
    assert (seed["who"], grown["who"]) == ("seed", "auto")
    assert grown["decisions"][0]["evidence"]["examples"][0]["document"] == "a.txt"


def test_candidates_are_listed_and_decided_on_by_name(shell):
    shell.copy_built(ONE)
    listed = shell("schema", "review", "--kb", "kb")
    assert "entity type game" in listed.out
    assert version(shell) == 1
    assert shell("schema", "review", "--kb", "kb", "--accept", "Game", "--accept", "plays", "--by", "Ann").code == 0
    assert version(shell) == 2
    shell("schema", "review", "--kb", "kb", "--reject", "sails").refused("there is no candidate 'sails'")
    assert shell("schema", "review", "--kb", "kb", "--reject", "mentor of", "--by", "Ben").code == 0
    assert shell.triples() == {("Ada", "plays", "Chess"), ("Cem", "employer", "Acme")}
    who = [v["who"] for v in json.loads(shell("schema", "history", "--kb", "kb", "--json").out)]
    assert who == ["seed", "Ann", "Ben"]
    assert "nothing is pending" in shell("schema", "review", "--kb", "kb").out
    assert shell.sound()


def test_a_review_by_file_gives_what_all_at_once_gives(shell, tmp_path):
    shell.copy_built(ONE)
    saved = shell("schema", "review", "--kb", "kb", "--save", "review.json")
    assert "3 candidates" in saved.out
    review = json.loads((tmp_path / "review.json").read_text("utf-8"))
    assert {c["name"] for c in review["candidates"]} == {"game", "mentor of", "plays"}
    review["decisions"] = [{"kind": c["kind"], "name": c["name"], "verdict": "accept"} for c in review["candidates"]]
    (tmp_path / "review.json").write_text(json.dumps(review), "utf-8")
    result = shell("schema", "review", "--kb", "kb", "--decisions", "review.json")
    assert "3 decisions; the schema is now version 2" in result.out
    with shell.resources() as resources:
        by_file = newest(resources).kb.schemas.current()
    (tmp_path / "home" / "kb").rename(tmp_path / "home" / "other")
    shell.report()
    shell("schema", "review", "--kb", "kb", "--all", "accept")
    with shell.resources() as resources:
        assert newest(resources).kb.schemas.current() == by_file


def test_only_a_model_infers_a_schema(shell):
    shell("schema", "infer", *shell.write(ONE)).refused("BANYAN_LLM_BASE_URL")
