"""What is printed: markup, escape sequences and invisible characters of documents and models are shown, not obeyed."""

import json
import re

import pytest
from banyan.cli.console import SafeConsole, json_line, on_a_line
from banyan.schemas.naming import UNSEEN
from banyan.schemas.retrieval import CommunitySummary
from banyan.text.cleaning import visible
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from ... import scripted

EVIL = "\x1b]8;;https://collector.invalid\x1b\\[red]Ada[/red]\x1b[2J\u202e[link=https://collector.invalid]x[/link]\x9b31m:bomb:"
SHOWN = "[red]Ada[/red]"
_OURS = re.compile("\x1b\\[[0-9;]*m")  # the colours of our own styles


@pytest.mark.parametrize(("text", "shown"), [
    ("plain [bold] text", "plain [bold] text"), ("a\x9b31mb\x07", "a‹U+009B›31mb‹U+0007›"),
    ("re\u200bport\u00ad.txt", "re‹U+200B›port‹U+00AD›.txt"), ("\U000e0041tag \ud800", "‹U+E0041›tag ‹U+D800›"),
    ("P\u0430ypal Мара ΑBC", "Pа‹U+0430›ypal Мара Α‹U+0391›BC")])
def test_what_acts_on_a_terminal_is_shown_as_its_number(text, shown):
    assert visible(text) == shown
    assert visible(shown) == shown


@given(st.text())
def test_nothing_that_acts_is_left(text):
    assert not UNSEEN.search(visible(text))
    assert all(character.isprintable() or character in "\n\t\u200c\u200d" or not character.isascii()
               for character in visible(text))
    assert json.loads(json_line(text)) == text
    line = json_line([text])
    assert "\n" not in line
    assert not UNSEEN.search(line)
    line.encode("utf-8")


@pytest.mark.parametrize("made", [
    lambda: on_a_line(EVIL), lambda: Text(EVIL), lambda: Tree(on_a_line(EVIL)), lambda: _table(on_a_line(EVIL))])
def test_a_console_shows_markup_and_sequences(made, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "500")
    SafeConsole().print(made(), soft_wrap=True)
    printed = capsys.readouterr().out
    assert SHOWN in printed
    assert "‹U+001B›" in printed
    assert ":bomb:" in printed
    assert not UNSEEN.search(_OURS.sub("", printed))


def _table(cell):
    table = Table(min_width=400)
    table.add_column("name", no_wrap=True)
    table.add_row(cell)
    return table


class _EvilReasoner(scripted.ScriptedReasoner):
    async def summarise(self, communities):
        return [CommunitySummary(name=EVIL, summary=EVIL) for _ in communities]


@pytest.fixture
def shell(tmp_path, hashed_embedder, monkeypatch, capsys):
    made = scripted.Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    made.scripted = _EvilReasoner()
    made.write({f"{name}{number}.md": f"# {EVIL}\n\nAda:Person --obeys--> Bob:Person (0.6)."
                for name in ("[red]", "evil\n\u202e\x1b[2J[red]") for number in range(2)})
    return made


def test_no_command_prints_what_acts(shell):
    report = shell("build", shell.documents, shell.folder / "none", "--kb", "kb", "--schema", shell.schema)
    assert report.code == 1  # a path that is not there
    (shell.documents / "bad\x1b]0;x\x07\u202e.xyz").write_text("x")
    printed = [shell("build", shell.documents, "--kb", "kb", "--schema", shell.schema)]
    assert "‹U+202E›" in printed[0].err
    for command in (["documents"], ["status"], ["tree"], ["schema", "show"], ["schema", "history"],
                    ["schema", "review"],
                    ["ask", "Who knows Ada [red]\x1b[2J?", "--trace"],
                    ["ask", "Ada?", "--mode", "open", "--json"],
                    ["documents", "--json"], ["status", "--json"], ["tree", "--json"], ["schema", "show", "--json"]):
        printed.append(shell(*command, "--kb", "kb"))
        assert printed[-1].out.strip() or printed[-1].err.strip()
    for name in ("nowhere\x1b[2J\u202e", "[link=https://collector.invalid]x[/link]\x1b"):
        printed.append(shell("delete", name, "--kb", "kb"))
        printed.append(shell("status", "--kb", name))
        printed.append(shell("build", name, "--kb", "kb"))
    for result in printed:
        for stream in (result.out, result.err):
            assert not UNSEEN.search(_OURS.sub("", stream)), stream
    shown = shell("documents", "--kb", "kb").out
    assert shown.count("[red]") >= 2
    assert printed[0].err.count("write 1 to 1,000 visible characters") == 3
