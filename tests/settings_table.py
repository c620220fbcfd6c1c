"""The settings in docs/settings.md and .env.example, made from the settings themselves."""

import re
import textwrap
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from banyan.config import Settings
from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

PAGE = Path(__file__).parent.parent / "docs" / "settings.md"
EXAMPLE = PAGE.parent.parent / ".env.example"
_HEAD = """\
# Settings of Banyan. Copy this file to `.env` in the folder of your knowledge bases (`banyan list` names it), or name
# it in BANYAN_ENV_FILE, and remove the `#` before what you set. A variable of the environment is stronger than a line
# here.
# What is shown is the default. docs/settings.md has the same as a table; `python -m tests.generated_pages` writes both.
"""
_TABLE = re.compile(r"^\| variable \| default \| \|\n(?:\|.*\n)+", re.MULTILINE)
# Read before there are settings, by the models alone.
_HOME = "the user's data folder"
_CACHE = "| `BANYAN_CACHE` | the user's cache folder | where the converted embedding model is kept |"


def files() -> dict[Path, str]:
    rows = [f"| `BANYAN_{name.upper()}` | {_default(field.default)} | {_description(field)} |"
            for name, field in Settings.model_fields.items()]
    table = "\n".join(["| variable | default | |", "|---|---|---|", *rows, _CACHE, ""])
    page, tables = _TABLE.subn(lambda _: table, PAGE.read_text("utf-8"))
    assert tables == 1
    return {PAGE: page, EXAMPLE: example()}


def example() -> str:
    """The file of settings to copy: each with what it does, its default, and a `#` before it."""
    lines = [_HEAD]
    for name, field in Settings.model_fields.items():
        value = _default(field.default)
        given = "" if value in {"none", _HOME} else value.strip("`").replace(",", "")
        lines += [*textwrap.wrap(_description(field).replace("`", ""), 118, initial_indent="# ",
                                 subsequent_indent="# ", break_on_hyphens=False), f"#BANYAN_{name.upper()}={given}", ""]
    return "\n".join(lines)


def _description(field: FieldInfo) -> str:
    assert field.description
    choices = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    said = f"{field.description} ({', '.join(f'`{one}`' for one in choices)})" if choices else field.description
    return re.sub(r"\b(llm_\w+)\b", lambda found: f"`BANYAN_{found[1].upper()}`", said)


def _default(value: Any) -> str:
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if value is PydanticUndefined:  # made when it is asked for, which only the home folder is
        return _HOME
    if value in (None, "", "none", {}):
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"{value:,g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else f"`{value}`"
