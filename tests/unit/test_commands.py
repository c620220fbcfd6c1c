"""The command line's own shape: every command is found, described once, and imported only when it is chosen."""

import re
import subprocess
import sys

import pytest
from banyan.cli import main as cli
from typer.testing import CliRunner

HEAVY = {"chromadb", "langchain_core", "langgraph", "networkx", "numpy", "scipy", "sklearn", "torch", "fastapi"}


@pytest.mark.parametrize("name", list(cli._COMMANDS))
def test_the_list_of_commands_says_what_the_command_says_of_itself(name):
    _, short = cli._COMMANDS[name]
    assert " ".join(cli.command(name).help.split()).startswith(short)


def test_help_lists_all_commands_and_imports_none_of_them():
    script = f"import sys; from banyan.cli.main import main\ntry: main()\nfinally: print({HEAVY} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script, "--help"], capture_output=True, text=True, timeout=120,
                          check=True)
    assert done.stdout.endswith("set()\n")
    assert set(cli._COMMANDS) <= set(re.findall(r"[a-z]+", done.stdout))


@pytest.mark.parametrize("arguments", [["build", "--help"], ["schema", "infer", "--help"], ["eval", "qa", "--help"],
                                       ["entities", "merge", "--help"]])
def test_a_command_and_a_command_of_a_group_have_their_own_help(arguments):
    result = CliRunner().invoke(cli.app, arguments)
    assert (result.exit_code, "Usage: " in result.output) == (0, True)
    assert "--kb" in result.output or "--sample" in result.output


def test_a_command_that_does_not_exist_is_refused():
    result = CliRunner().invoke(cli.app, ["biuld"])
    assert (result.exit_code, "No such command" in result.output) == (2, True)
