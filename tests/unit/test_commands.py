"""The command line's own shape: every command is found, described once, and imported only when it is chosen."""


import pytest
from banyan.cli import main as cli
from typer.testing import CliRunner


@pytest.mark.parametrize("name", list(cli._COMMANDS))
def test_the_list_of_commands_says_what_the_command_says_of_itself(name):
    _, short = cli._COMMANDS[name]
    assert " ".join(cli.command(name).help.split()).startswith(short)


@pytest.mark.parametrize("arguments", [["build", "--help"], ["schema", "infer", "--help"], ["eval", "qa", "--help"],
                                       ["entities", "merge", "--help"]])
def test_a_command_and_a_command_of_a_group_have_their_own_help(arguments):
    result = CliRunner().invoke(cli.app, arguments)
    assert (result.exit_code, "Usage: " in result.output) == (0, True)
    assert "--kb" in result.output or "--sample" in result.output


def test_a_command_that_does_not_exist_is_refused():
    result = CliRunner().invoke(cli.app, ["biuld"])
    assert (result.exit_code, "No such command" in result.output) == (2, True)
