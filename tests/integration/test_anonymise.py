"""`banyan anonymise` on examples: the result is a dataset of `bench`, names nobody, and comes back to the byte."""

import json

import pytest
from banyan.evaluation.bench.published_datasets import load_dataset

from .. import command_line, warm_start

pytestmark = pytest.mark.integration


def test_there_and_back(tmp_path):
    texts = tmp_path / "texts"
    texts.mkdir()
    for name in ("marie-curie", "pierre-curie", "warsaw", "irene-joliot-curie"):
        (texts / f"{name}.md").write_bytes((command_line.EXAMPLES / "en" / f"{name}.md").read_bytes())
    (texts / "crlf.txt").write_bytes(b"Marie Curie lived.\r\nShe met [PERSON#9].\r\n")
    (tmp_path / "own.json").write_text(json.dumps([
        {"question": "Where was Marie Curie born?", "answer": "PERSON#0——in Warsaw"}]), "utf-8")
    banyan = command_line.CommandLine(tmp_path, ((warm_start.HASHED, "1"),))
    said = banyan("anonymise", texts, "-o", "out", "--key", "key.json", "--questions", "own.json", "--json").json
    key = json.loads((tmp_path / "key.json").read_text("utf-8"))
    assert said == {"texts": 5, "ids": len(key["entities"]), "places": sum(map(len, key["places"].values())),
                    "tasks": said["tasks"], "leaks": 0}
    assert "Curie" not in "".join(path.read_text("utf-8") for path in (tmp_path / "out").glob("*.md"))
    dataset = load_dataset("anonyrag", tmp_path / "out")
    assert len(dataset.documents) == 5
    assert "[PERSON#" in dataset.questions[0].question
    assert {question.kind for question in dataset.questions} >= {"reversion"}

    back = banyan("anonymise", *sorted((tmp_path / "out").glob("*.md")), tmp_path / "out" / "crlf.txt", "--revert",
                  "--key", "key.json", "-o", "again")
    assert back.code == 0, back.err
    for path in texts.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
    refused = banyan("anonymise", texts, "-o", "out", "--key", "out/key.json")
    assert refused.code == 1
    assert "name another place (--key)" in refused.err
