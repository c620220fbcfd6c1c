"""The command line's own shape: every command is found, described once, and imported only when it is chosen."""

import json
import shlex
from importlib.metadata import version

import pytest
from banyan.cli import main as cli
from banyan.cli.commands import serve
from banyan.cli.examples import EXAMPLES
from typer.testing import CliRunner

from ..conftest import load_test_module

scripted = load_test_module("scripted")
shell = scripted.shell


@pytest.fixture
def two(shell):
    """The knowledge bases `kb`, of one document, and `other`."""
    (path,) = shell.write({"a.txt": "Ada:Person --employer--> Acme:Organization."})
    assert shell("build", path, "--kb", "kb", "--schema", shell.schema).code == 0
    assert shell("build", path, "--kb", "other", "--schema", shell.schema).code == 0
    return shell


@pytest.mark.parametrize("name", list(cli._COMMANDS))
def test_the_list_of_commands_says_what_the_command_says_of_itself(name):
    _, _, short = cli._COMMANDS[name]
    assert " ".join(cli.command(name).help.split()).startswith(short)


@pytest.mark.parametrize("arguments", [["build", "--help"], ["schema", "infer", "--help"], ["eval", "qa", "--help"],
                                       ["entities", "merge", "--help"]])
def test_a_command_and_a_command_of_a_group_have_their_own_help(arguments):
    result = CliRunner().invoke(cli.app, arguments)
    assert (result.exit_code, "Usage: " in result.output) == (0, True)
    assert "--kb" in result.output or "--sample" in result.output
    assert EXAMPLES[" ".join(arguments[:-1])][0][:40] in " ".join(result.output.split())


def test_a_command_that_does_not_exist_is_refused():
    result = CliRunner().invoke(cli.app, ["biuld"])
    assert (result.exit_code, "No such command" in result.output) == (2, True)


def test_commands_are_listed_in_the_order_of_use():
    shown = CliRunner().invoke(cli.app, ["--help"]).output
    places = [shown.index(f" {name} ") for name in ("build", "ask", "serve", "list", "drop", "schema", "eval")]
    assert places == sorted(places)
    assert EXAMPLES[""][0] in shown


def test_the_version_is_that_of_the_package():
    result = CliRunner().invoke(cli.app, ["--version"])
    assert (result.exit_code, result.output) == (0, f"banyan {version('banyan-graphrag')}\n")


def _every_command():
    for name in cli._COMMANDS:
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


# Which knowledge base.

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
def test_the_list_names_the_place_and_shows_a_damaged_one(two):
    (two.folder / "home" / "kb" / "ledger.sqlite").write_bytes(b"no ledger" * 200)
    shown = two("list").out
    assert "not a readable ledger" in shown
    assert str(two.folder / "home") in shown


def test_the_status_is_for_people(two):
    shown = two("status", "--kb", "kb").out
    assert "1, in 1 chunk, all read" in shown
    assert "2 entities, 1 fact" in shown
    assert "scripted, version 1" in shown
    assert not {"{", "[", "None"} & set(shown.split())


# Serving.

@pytest.mark.parametrize(("terminal", "display", "wanted", "opened"), [
    (True, ":0", True, ["http://127.0.0.1:8000"]), (False, ":0", True, []), (True, "", True, []),
    (True, ":0", False, [])])
def test_the_browser_opens_for_a_person_at_this_machine_alone(monkeypatch, capsys, terminal, display, wanted, opened):
    addresses = []
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(serve, "_DISPLAYS", ("DISPLAY",))
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.setattr(serve.sys.stdin, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(serve.sys.stderr, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(serve.webbrowser, "open", addresses.append)
    monkeypatch.setattr(serve.threading, "Thread", AtOnce)
    serve._listening("http://127.0.0.1:8000", browser=wanted)
    assert addresses == opened


class AtOnce:
    """A thread whose work is done when it is started."""

    def __init__(self, *, target, args, daemon):
        assert daemon
        self.start = lambda: target(*args)
