"""Ctrl-C while the program is loaded, and at the prompt of a conversation."""

import pytest
from banyan.cli import main as command_line
from banyan.cli import start
from banyan.cli.commands import ask
from typer.testing import CliRunner


def interrupt(*_):
    raise KeyboardInterrupt


def test_ctrl_c_while_loading_ends_the_program_without_a_traceback(monkeypatch, capsys):
    monkeypatch.setattr(command_line, "main", interrupt)
    with pytest.raises(SystemExit) as ended:
        start.main()
    assert ended.value.code == 130
    assert capsys.readouterr() == ("", "")


def test_ctrl_c_at_the_prompt_ends_a_conversation(monkeypatch, tmp_path):
    monkeypatch.setenv("BANYAN_HOME", str(tmp_path))
    monkeypatch.setattr(ask.out, "input", interrupt)
    done = CliRunner().invoke(ask.app, ["chat", "--kb", "any"])
    assert done.exit_code == 0
