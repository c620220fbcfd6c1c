"""Texts for the papers' benchmarks: names replaced, and back to the byte."""

import sys

import pytest
from banyan.benchmarks.papers import __main__ as papers
from banyan.benchmarks.papers.published_datasets import load_dataset
from typer.testing import CliRunner

from .. import command_line

pytestmark = pytest.mark.integration


def test_there_and_back(tmp_path, monkeypatch):
    texts = tmp_path / "texts"
    texts.mkdir()
    for name in ("marie-curie", "pierre-curie", "warsaw", "irene-joliot-curie"):
        (texts / f"{name}.md").write_bytes((command_line.EXAMPLES / "en" / f"{name}.md").read_bytes())
    (texts / "crlf.txt").write_bytes(b"Marie Curie lived.\r\nShe met [PERSON#9].\r\n")
    monkeypatch.setenv("BANYAN_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "argv", ["papers"])

    def anonymise(*arguments):
        return CliRunner().invoke(papers.app, ["anonymise", *map(str, arguments)], catch_exceptions=True)

    out, key = tmp_path / "out", tmp_path / "key.json"
    assert anonymise(texts, "-o", out, "--key", key).exit_code == 0
    assert "Curie" not in "".join(path.read_text("utf-8") for path in out.glob("*.md"))
    dataset = load_dataset("anonyrag", out)
    assert len(dataset.documents) == 5
    assert {question.kind for question in dataset.questions} >= {"reversion"}
    assert anonymise(out / "crlf.txt", *out.glob("*.md"), "--revert", "--key", key, "-o",
                     tmp_path / "again").exit_code == 0
    for path in texts.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
    refused = anonymise(texts, "-o", out, "--key", out / "key.json")
    assert "name another place (--key)" in str(refused.exception)
