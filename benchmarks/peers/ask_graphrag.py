"""Microsoft GraphRAG as an arm of `peer_arms.py`, with its own defaults (local search); needs its environment."""

import asyncio
import os
from pathlib import Path
from typing import Any

from job import Job, read_job, run


async def main(job: Job) -> None:
    """Build and answer."""
    import litellm  # type: ignore[import-not-found]  # noqa: PLC0415  (settings of its environment come first)

    # The tokenizer's vocabulary would be loaded from the network; litellm brings a copy.
    os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(litellm.__file__).parent / "litellm_core_utils" / "tokenizers")
    import pandas as pd  # type: ignore[import-untyped]  # noqa: PLC0415
    from graphrag import api  # type: ignore[import-not-found]  # noqa: PLC0415
    from graphrag.config.models.graph_rag_config import (  # type: ignore[import-not-found]  # noqa: PLC0415
        GraphRagConfig,
    )

    os.chdir(job.folder)  # where its own folders go
    model = {"model_provider": "openai", "api_base": job.base_url, "api_key": "none"}
    # Contexts are counted by the vocabulary of a known model; the endpoint asks the one that is set, whatever its name.
    config = GraphRagConfig(
        completion_models={"default_completion_model": {**model, "model": "gpt-4o"}},
        embedding_models={"default_embedding_model": {**model, "model": "text-embedding-3-small"}},
        vector_store={"vector_size": job.dimension}, concurrent_requests=32)

    async def build() -> None:
        documents = pd.DataFrame([{
            "id": one["id"], "title": one["title"] or one["id"], "text": f"{one['title']}\n{one['text']}",
            "creation_date": "2026-01-01", "raw_data": None, "human_readable_id": number}
            for number, one in enumerate(job.documents)])
        results = await api.build_index(config, input_documents=documents)
        errors = [f"{one.workflow}: {one.error}" for one in results if one.error is not None]
        if errors:
            raise SystemExit("\n".join(errors))

    tables: dict[str, Any] = {}

    async def answer(question: str) -> str:
        if not tables:
            tables.update({name: pd.read_parquet(f"output/{name}.parquet") for name in (
                "entities", "communities", "community_reports", "text_units", "relationships")})
        said, _ = await api.local_search(config, **tables, covariates=None, community_level=2,
                                         response_type=f"Single sentence. {job.instruction}", query=question)
        return str(said)

    await run(job, build, answer)


if __name__ == "__main__":
    asyncio.run(main(read_job()))
