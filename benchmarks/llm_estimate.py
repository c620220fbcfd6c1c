"""Measure how close `build --dry-run` is to what a build over a real HTTP endpoint then pays.

`python benchmarks/llm_estimate.py` (`--documents 120 400 --schema general open`). The endpoint answers MuSiQue passages
with their recorded triples and counts as `text.scripts.estimate_tokens` does, or `--factor` times that, as another
tokenizer would. "Before" is estimated for a knowledge base that has paid for nothing, "after" for the second half of
the documents once the first half is built: extraction alone, as later steps concern both halves.

The fit of the answers' length, the estimate's constant, is printed first; it is from passages that are not measured.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from banyan.agents import estimate
from banyan.agents.construction.graph import build_graph
from banyan.agents.estimate import pack_calls
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.models.llm import wire
from banyan.models.llm.chat_model import ChatClient
from banyan.models.llm.extraction_reply import NumberedLines
from banyan.models.llm.llm_reasoner import extraction_prompt
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.formats.schema_loading import load_schema
from banyan.text.scripts import estimate_tokens
from llm_world import RECORDED, llm_server, recorded_brain, write_passages
from rich.console import Console
from rich.table import Table

from tests.hashed_embedding import HashedEmbedder  # isort: skip  (llm_world says where)

HELD_OUT = 400
AT_ONCE = 16


def fit() -> tuple[float, float]:
    """Fit the tokens of recorded answers to those of the passages of a call, and return constant and slope."""
    brain, schema = recorded_brain(RECORDED), load_schema("general")
    settings = Settings(_env_file=None, language="en")
    passages = {str(number): ExtractionRequest(text=one["text"], title=one["title"])
                for number, one in enumerate(json.loads(RECORDED.read_text("utf-8"))["docs"][HELD_OUT:])}
    rows = []
    for most in (0, settings.extract_tokens):
        sizes = [(number, estimate_tokens(one.text)) for number, one in passages.items()]
        for call in pack_calls(sizes, most):
            requests = [passages[number] for number in call]
            asked = extraction_prompt(requests, schema, settings)
            form = {"name": "extraction", "schema": wire.extraction(schema, NumberedLines(requests)).json_schema}
            messages = [{"role": "system", "content": asked.system}, {"role": "user", "content": asked.user}]
            answer = brain({"messages": messages, "response_format": {"type": "json_schema", "json_schema": form}})
            rows.append((1.0, sum(estimate_tokens(one.text) for one in requests), estimate_tokens(answer)))
    values = np.array(rows)
    constant, share = np.linalg.lstsq(values[:, :2], values[:, 2], rcond=None)[0]
    return float(constant), float(share)


def measure(folder: Path, documents: int, schema: str) -> list[tuple[str, int, int]]:
    """Return what was estimated and what was paid, each pair with its name."""
    whole, half = write_passages(folder / "whole.jsonl", documents), folder / "half.jsonl"
    lines = whole.read_text("utf-8").splitlines(keepends=True)
    half.write_text("".join(lines[:documents // 2]), "utf-8")
    with llm_server.LlmServer(recorded_brain(RECORDED)) as server:
        settings = Settings(_env_file=None, home=folder / "home", llm_base_url=server.base_url, llm_retries=0)
        with Resources(settings, HashedEmbedder()) as resources:
            before = estimate.estimate_build(resources, "whole", [whole], schema)
            paid = _build(resources, "whole", whole, schema)
            first = _build(resources, "halves", half, schema)
            after = estimate.estimate_build(resources, "halves", [whole], schema)
            second = _build(resources, "halves", whole, schema)
    rest = [second["extract"][field] - first["extract"][field] for field in ("prompt", "completion")]
    everything = [sum(step[field] for step in paid.values()) for field in ("calls", "prompt", "completion")]
    return [("calls, before", before.calls, everything[0]),
            ("prompt tokens, before", before.prompt_tokens, everything[1]),
            ("completion tokens, before", before.completion_tokens, everything[2]),
            ("both, before", before.prompt_tokens + before.completion_tokens, sum(everything[1:])),
            ("prompt tokens, after", after.extraction.prompt_tokens, rest[0]),
            ("completion tokens, after", after.extraction.completion_tokens, rest[1])]


def _build(resources: Resources, name: str, file: Path, schema: str) -> dict[str, dict[str, Any]]:
    report = build_graph(resources).invoke({"knowledge_base": name, "paths": [str(file)], "schema": schema},
                                           config={"max_concurrency": AT_ONCE + 1})["report"]
    assert not report["stopped"], report["stopped"]
    assert not report["chunks_failed"]
    with resources.snapshot(name) as snapshot:
        return {step.name: step.model_dump() for step in snapshot.kb.calls.spent("step")}


def _counting(factor: float) -> None:
    """Multiply the endpoint's token counts by a factor, as another tokenizer would."""
    send = ChatClient.send

    async def counted(self: ChatClient, *arguments: Any, **named: Any) -> Any:
        reply = await send(self, *arguments, **named)
        return reply._replace(prompt_tokens=round(factor * reply.prompt_tokens),
                              completion_tokens=round(factor * reply.completion_tokens))

    ChatClient.send = counted  # type: ignore[method-assign]


def main() -> None:
    """Print the fit, then a table of estimates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=[120, HELD_OUT])
    parser.add_argument("--schema", nargs="+", default=["general", "open"])
    parser.add_argument("--factor", type=float, default=1.0)
    arguments = parser.parse_args()
    console = Console(width=120)
    constant, share = fit()
    console.print(f"answers: {constant:.0f} + {share:.2f} tokens a token of text (in use: {estimate.ANSWER:.0f} + "
                  f"{estimate.ANSWER_SHARE:.2f})")
    _counting(arguments.factor)
    table = Table("documents", "schema", "what", "estimated", "paid", "off by")
    for documents in arguments.documents:
        for schema in arguments.schema:
            with tempfile.TemporaryDirectory() as folder:
                for what, guessed, paid in measure(Path(folder), documents, schema):
                    table.add_row(str(documents), schema, what, f"{guessed:,}", f"{paid:,}",
                                  f"{guessed / paid - 1:+.1%}")
    console.print(table)


if __name__ == "__main__":
    main()
