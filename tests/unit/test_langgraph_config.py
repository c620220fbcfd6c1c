"""langgraph.json: what it names exists, and installs what the app needs."""

import importlib
import json
import tomllib

from ..conftest import TESTS

ROOT = TESTS.parent
CONFIG = json.loads((ROOT / "langgraph.json").read_text("utf-8"))


def test_the_image_has_what_the_server_extra_has():
    """`langgraph build` knows no extras of a local package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert CONFIG["dependencies"] == [".", *sorted(project["optional-dependencies"]["server"])]


def test_graphs_are_named_by_module_and_described():
    for graph in CONFIG["graphs"].values():
        module, name = graph["path"].split(":")
        compiled = getattr(importlib.import_module(module), name)
        assert compiled.checkpointer is None, "the server brings its own"
        assert graph["description"].endswith(".")
