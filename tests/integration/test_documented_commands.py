"""The commands in the documentation: each exists, with the options that it is shown with."""

import importlib
import re
import shlex

import pytest

from ..command_line import PROJECT

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
