"""The table of settings in docs, made from the settings themselves: `python tests/settings_table.py` writes it."""

import re
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from banyan.config import Settings
from pydantic import SecretStr
from pydantic.fields import FieldInfo

PAGE = Path(__file__).parent.parent / "docs" / "settings.md"
_TABLE = re.compile(r"^\| variable \| default \| \|\n(?:\|.*\n)+", re.MULTILINE)
# Read before there are settings, by the models alone.
_CACHE = "| `BANYAN_CACHE` | the user's cache folder | where the converted embedding model is kept |"


def table() -> str:
    """The table, as Markdown."""
    rows = [f"| `BANYAN_{name.upper()}` | {_default(field.default)} | {_description(field)} |"
            for name, field in Settings.model_fields.items()]
    return "\n".join(["| variable | default | |", "|---|---|---|", *rows, _CACHE, ""])


def _description(field: FieldInfo) -> str:
    assert field.description
    choices = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    said = f"{field.description} ({', '.join(f'`{one}`' for one in choices)})" if choices else field.description
    return re.sub(r"\b(llm_\w+)\b", lambda found: f"`BANYAN_{found[1].upper()}`", said)


def _default(value: Any) -> str:
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if value in (None, "", "none"):
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"{value:,g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else f"`{value}`"


def found() -> str:
    """The table that the page has."""
    (there,) = _TABLE.findall(PAGE.read_text("utf-8"))
    return str(there)


if __name__ == "__main__":
    PAGE.write_text(_TABLE.sub(lambda _: table(), PAGE.read_text("utf-8")), "utf-8")
