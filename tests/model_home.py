"""Builds by a model behind the scripted endpoint, each as a process of its own would run it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from banyan.agents.construction.graph import build_graph
from banyan.agents.construction.state import BuildContext
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.graph_store.integrity.status import status_of

from . import llm_server
from .command_line import EXAMPLES
from .newest import contents, newest

FEW = [EXAMPLES / "en" / f"{name}.md" for name in (
    "marie-curie", "niels-bohr", "polonium", "stockholm", "vienna", "warsaw")]


@pytest.fixture
def server():
    with llm_server.LlmServer() as running:
        yield running


class ModelHome:
    """A home folder and its knowledge base `kb`; where a build names no model, `model` reads, and "" are the rules."""

    def __init__(self, folder: Path, embedder: Any, server: Any, *, model: str = "scripted", schema: str = "",
                 **settings: Any) -> None:
        self.folder, self.embedder, self.server, self.model = folder, embedder, server, model
        self.base_url = server.base_url  # of the server while it runs: what was built is read after its end, too
        self.schema = {"schema": schema} if schema else {}
        self.settings = {"llm_retries": 0, "llm_concurrency": 6, **settings}

    def resources(self, model: str | None = None, **changes: Any) -> Resources:
        name = self.model if model is None else model
        return Resources(Settings(_env_file=None, home=self.folder, llm_base_url=self.base_url if name else None,
                                  llm_model=name or "none", **self.settings | changes), self.embedder)

    def build(self, model: str | None = None, paths: Iterable[Path] = FEW, changes: Any = (), **context: Any) -> Any:
        with self.resources(model, **dict(changes)) as resources:
            return build_graph(resources).invoke(
                {"knowledge_base": "kb", "paths": [str(path) for path in paths], **self.schema},
                context=BuildContext(**context),
                config={"max_concurrency": resources.settings.llm_concurrency + 1})["report"]

    def state(self) -> Any:
        with self.resources() as resources:
            return contents(newest(resources).kb)

    def status(self) -> Any:
        with self.resources() as resources:
            return status_of(newest(resources).kb, resources.spending.prices)
