"""Build with Microsoft GraphRAG from Banyan's passages, over the same endpoint with the same recorded triples.

As a program, run by an interpreter that has graphrag: `llm_peer_graphrag.py PASSAGES FOLDER BASE_URL` builds an index
with GraphRAG's own defaults (one gleaning, community reports; the embedding of texts, which asks no chat model, is left
out) and prints the seconds it took. As a module: the endpoint's script for GraphRAG's prompts.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_FIELD, _ROW, _END = "<|>", "\n##\n", "<|COMPLETE|>"
_WORKFLOWS = ("create_base_text_units", "create_final_documents", "extract_graph", "finalize_graph",
              "extract_covariates", "create_communities", "create_final_text_units", "create_community_reports")


def script(recorded: Path) -> Callable[[dict[str, Any]], str]:
    """Return a function that answers in GraphRAG's rows with a passage's recorded triples, and gleans nothing more."""
    from recorded_brain import Recorded  # noqa: PLC0415  (in the tests' folder; not in GraphRAG's environment)

    known = Recorded(recorded)

    def reply(request: dict[str, Any]) -> str:
        match step_of(request):
            case "report":
                return json.dumps({"title": "A community", "summary": "What it is about.", "rating": 1.0,
                                   "rating_explanation": "As it is.",
                                   "findings": [{"summary": "A finding.", "explanation": "What was found."}]})
            case "extract":
                text = request["messages"][-1]["content"].rpartition("\nText:")[2]
                rows = [row for _, passage in known.find(text) for row in _rows(passage)]
                return _ROW.join([*rows, _END])
            case "glean":
                return _END
            case _:
                return "A description."

    return reply


def _rows(passage: Any) -> list[str]:
    rows = [("entity", one["name"], "event", f"{one['name']} is in the text.") for one in passage.entities("event")]
    rows += [("relationship", one["head"], one["tail"], f"{one['head']} {one['relation']} {one['tail']}", "1")
             for one in passage.triples()]
    return ["(" + _FIELD.join((f'"{kind}"', *fields)) + ")" for kind, *fields in rows]


def step_of(request: dict[str, Any]) -> str:
    """Return the step of one of GraphRAG's requests."""
    last = request["messages"][-1]["content"]
    if "were missed in the last extraction" in last:
        return "glean"
    if "identify all entities of those types" in last:
        return "extract"
    return "report" if "Write a comprehensive report of a community" in last else "summarise"


async def _build(passages: list[dict[str, str]], folder: str, base_url: str) -> float:
    import pandas as pd  # type: ignore[import-untyped]  # noqa: PLC0415
    from graphrag.api import build_index  # type: ignore[import-not-found]  # noqa: PLC0415
    from graphrag.config.models.graph_rag_config import (  # type: ignore[import-not-found]  # noqa: PLC0415
        GraphRagConfig,
    )

    model = {"model_provider": "openai", "model": "gpt-4o", "api_base": base_url, "api_key": "none"}
    os.chdir(folder)  # it writes its folders here
    config = GraphRagConfig(completion_models={"default_completion_model": model},
                            embedding_models={"default_embedding_model": model},
                            workflows=list(_WORKFLOWS), concurrent_requests=32)
    documents = pd.DataFrame([{"id": one["id"], "title": one["title"], "text": f"{one['title']}\n{one['text']}",
                               "creation_date": "2026-01-01", "raw_data": None, "human_readable_id": number}
                              for number, one in enumerate(passages)])
    started = time.perf_counter()
    results = await build_index(config, input_documents=documents)
    seconds = time.perf_counter() - started
    errors = [f"{one.workflow}: {one.error}" for one in results if one.error is not None]
    if errors:
        raise SystemExit("\n".join(errors))
    return seconds


def main() -> None:
    """Build and print the seconds."""
    source, folder, base_url = sys.argv[1:]
    # Prices and the tokenizer's vocabulary would be downloaded; its dependency litellm has copies.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm  # type: ignore[import-not-found]  # noqa: PLC0415
    os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(litellm.__file__).parent / "litellm_core_utils" / "tokenizers")
    passages = [json.loads(line) for line in Path(source).read_text("utf-8").splitlines()]
    seconds = asyncio.run(_build(passages, folder, base_url))
    rate = len(passages) / seconds
    sys.stdout.write(f"GraphRAG: {len(passages)} documents in {seconds:.1f} s, {rate:.2f} a second\n")


if __name__ == "__main__":
    main()
