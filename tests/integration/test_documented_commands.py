"""The commands in the documentation: each exists, with the options that it is shown with, and those on files run."""

import importlib
import json
import re
import shlex

import pytest
from fpdf import FPDF

from .. import scripted
from ..command_line import PROJECT

shell = scripted.shell

_LINE = re.compile(r'(?:[^"\n]|"[^"]*")+')
"""A line of a block; a text in quotes may have several lines."""
PAGES = sorted([*PROJECT.glob("docs/*.md"), *PROJECT.glob("*.md"), PROJECT / "benchmarks" / "README.md",
                PROJECT / "skills" / "banyan" / "SKILL.md"])


def commands(page):
    """What the page shows of the command line: lines of its blocks, and what stands between backticks."""
    text = page.read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in _LINE.findall(block.replace("\\\n", " "))]
    inline = re.findall(r"`(banyan [^`]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))
    return [shlex.split(line, comments=True) for line in [*lines, *inline] if line.startswith("banyan ")]


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.name)
def test_each_command_and_option_exists(page):
    main = importlib.import_module("banyan.cli.main")
    for _, *words in commands(page):
        names, options = [word for word in words if not word.startswith("-")], {
            word.split("=")[0] for word in words if word.startswith("--")}
        if not names or not re.fullmatch("[a-z]+", names[0]):  # `banyan --help`, `banyan COMMAND`
            assert options <= {"--help", "--version"}
            continue
        command = main.command(names[0])
        while getattr(command, "commands", None) and len(names) > 1 and names[1] in command.commands:
            names.pop(0)
            command = command.commands[names[0]]
        known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)} | {"--help"}
        assert options <= known, f"banyan {' '.join(words)}"


NEEDED = {"https://example.org/page": "BANYAN_FETCH", "--reread": "model", "--fresh-verdicts": "only a model",
          "merge": "Missing argument", "split": "Missing argument", "s3://reports/2024": "s3fs",
          "Marie Curie": "no entity"}
"""Words of commands that need more than documents, and what is said without it."""


@pytest.mark.parametrize("name", ["documents.md", "faq.md"])
def test_commands_on_documents_run_as_they_are_written(shell, name, monkeypatch):
    papers = shell.folder / "papers"
    papers.mkdir()
    (papers / "a.md").write_text("Ada:Person --employer--> Acme:Organization.")
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("helvetica")
    pdf.cell(text="Bob:Person --employer--> Acme:Organization.")
    pdf.output(str(papers / "new.pdf"))
    monkeypatch.chdir(shell.folder)
    (shell.folder / "FILE").write_text(json.dumps({
        "id": "c", "title": "Cy", "text": "Cy works for Acme.", "entities": [],
        "triples": [["Cy", "employer", "Acme"]]}))
    assert shell("build", papers, "--kb", "papers", "--schema", "general").code == 0
    shown = [words for _, *words in commands(PROJECT / "docs" / name)]
    assert len(shown) > 7
    for words in shown:
        written = [word.replace("NAME", "papers").replace("~", str(shell.folder)).replace("hipporag|", "")
                   for word in words]
        result = shell(*written)
        missing = next((said for word, said in NEEDED.items() if word in words), "")
        assert (result.code != 0) is bool(missing), f"banyan {' '.join(words)}: {result.err}"
        assert missing in result.err
