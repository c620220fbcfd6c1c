"""Data of this folder: words in JSON, and regular expressions in TOML, where `{name}` stands for a text of [parts]."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

_PART = re.compile(r"\{([a-z_]+)\}")


def read_json(file: str) -> Any:
    """Return the data of a JSON file."""
    return json.loads(Path(__file__).with_name(file).read_text("utf-8"))


def read_patterns(file: str, **parts: str) -> dict[str, Any]:
    """Return the tables of a file, in whose texts the names of its parts, and of `parts`, are replaced by these."""
    tables = tomllib.loads(Path(__file__).with_name(file).read_text("utf-8"))
    texts = {**tables.pop("parts", {}), **parts}

    def fill(value: Any) -> Any:
        """Return a value of the file with all parts filled in, also those that are in other parts."""
        if isinstance(value, dict):
            return {name: fill(one) for name, one in value.items()}
        if isinstance(value, list):
            return [*map(fill, value)]
        while isinstance(value, str) and _PART.search(value):
            value = _PART.sub(lambda name: texts[name[1]], value)
        return value

    return {name: fill(value) for name, value in tables.items()}


def alternatives(words: "set[str] | frozenset[str] | dict[str, Any]") -> str:
    """Return a regular expression for any of some words, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))
