"""The command line's own shape: every command is found, described once, and imported only when it is chosen."""

import json
import shlex
import sqlite3
from contextlib import closing

import pytest
import typer.main
from banyan.cli import main as cli
from banyan.cli.error_messages import explain_errors
from banyan.cli.main import EXAMPLES
from banyan.graph_store.layout import Layout
from typer.testing import CliRunner

from ... import scripted
from ...copying import copied

shell = scripted.shell


@pytest.fixture
def two(shell):
    """The knowledge bases `kb`, of one document, and `other`."""
    shell.copy_built({"a.txt": "Ada:Person --employer--> Acme:Organization."})
    copied(Layout.by(shell.settings, "kb"), Layout.by(shell.settings, "other"))
    return shell


def test_a_command_that_does_not_exist_is_refused():
    result = CliRunner().invoke(cli.app, ["biuld"])
    assert (result.exit_code, "No such command" in result.output) == (2, True)


def _every_command():
    for name in typer.main.get_command(cli.app).list_commands(None):
        found = cli.command(name)
        yield name, found
        yield from ((f"{name} {part}", of_group) for part, of_group in getattr(found, "commands", {}).items())


def test_every_command_has_examples_that_it_takes(monkeypatch):
    commands = dict(_every_command())
    assert set(EXAMPLES) == {*commands, ""}
    monkeypatch.setenv("BANYAN_KB", "papers")
    for name, examples in EXAMPLES.items():
        for example in examples:
            program, *words = shlex.split(example)
            assert program == "banyan"
            called = max((known for known in commands if words[:len(known.split())] == known.split()), key=len)
            assert called.startswith(name), example
            commands[called].make_context(called, words[len(called.split()):])  # raises what a wrong one does


def test_a_command_that_names_no_knowledge_base_means_the_only_one_or_the_one_that_is_set(two, monkeypatch):
    assert "There are kb, other: name one with --kb" in two("status").err
    monkeypatch.setenv("BANYAN_KB", "other")
    assert json.loads(two("status", "--json").out)["kb"] == "other"
    assert json.loads(two("build", two.documents, "--json").out)["kb"] == "other"
    monkeypatch.delenv("BANYAN_KB")
    assert two("drop", "other", "--yes").code == 0
    assert json.loads(two("status", "--json").out)["kb"] == "kb"
    assert two("entities").code == 0
    assert "Name it with --kb" in two("build", two.documents).err, "a name that is not known is not to be guessed"
    assert two("drop", "kb", "--yes").code == 0
    assert "make one with `banyan build PATH --kb NAME`" in two("status").err


def test_knowledge_bases_are_listed_renamed_and_dropped(two, monkeypatch):
    listed = json.loads(two("list", "--json").out)
    assert listed == [{"kb": name, "documents": 1, "chunks": 1, "problem": ""} for name in ("kb", "other")]
    facts = two("export", "--kb", "kb", "--format", "graphml", "-o", "-").out
    assert two("rename", "kb", "new").code == 0
    assert two.kbs() == ["new", "other"]
    assert two("export", "--kb", "new", "--format", "graphml", "-o", "-").out.replace(">new<", ">kb<") == facts
    assert "already" in two("rename", "new", "other").err
    assert "add --yes" in two("drop", "new").err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda text, *, abort: asked.append((text, abort)))
    asked = []
    assert two("drop", "new").code == 0
    assert "Delete new with 1 document and everything" in asked[0][0]
    assert two.kbs() == ["other"]
    assert "there is no knowledge base 'new'" in two("drop", "new", "--yes").err


@pytest.mark.sqlite
def test_dropping_what_cannot_be_read_says_so_and_asks(two, monkeypatch):
    with closing(sqlite3.connect(two.folder / "home" / "kb" / "ledger.sqlite")) as ledger:
        ledger.execute("PRAGMA user_version=99")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    asked = []
    monkeypatch.setattr("typer.confirm", lambda text, *, abort: asked.append((text, abort)))
    assert two("drop", "kb").code == 0
    assert "Delete kb? It cannot be read" in asked[0][0]
    assert "has format 99" in asked[0][0]


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread"),
                                   ImportError("x.so: failed to map segment from shared object")])
def test_a_limit_of_the_system_is_said_in_one_sentence(error, capsys):
    with pytest.raises(SystemExit) as ended, explain_errors():
        raise error
    assert ended.value.code == 1
    assert "ulimit -v" in capsys.readouterr().err


def test_a_defect_keeps_its_traceback():
    with pytest.raises(RuntimeError, match="a defect"), explain_errors():
        raise RuntimeError("a defect")
