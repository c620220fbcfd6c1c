"""HippoRAG 2 as an arm of `benchmarks/peer_arms.py`, with its own defaults; needs an environment of its own.

Its pins leave pip no solution, so install it without them: `pip install --no-deps hipporag==2.0.0a4`, then `pip install
openai igraph torch transformers tenacity tiktoken tqdm pandas pyarrow einops boto3 filelock httpx`. It runs what the
model writes as triples as Python (`eval`): ask a model that you trust, about texts that you trust.
"""

import asyncio
import importlib.util
import sys
from types import ModuleType
from typing import Any

from job import Job, read_job, run

_OF_OTHER_ENDPOINTS = ("gritlm", "litellm", "vllm")
"""What it imports at its start and does not use here, gigabytes among it."""


class _Absent(ModuleType):
    """A module that has every name."""

    def __getattr__(self, name: str) -> None:
        """Nothing."""


async def main(job: Job) -> None:
    """Build and answer."""
    for name in _OF_OTHER_ENDPOINTS:
        if importlib.util.find_spec(name) is None:
            sys.modules[name] = _Absent(name)
    from hipporag import HippoRAG  # type: ignore[import-not-found]  # noqa: PLC0415  (what it imports comes first)
    from hipporag.utils.config_utils import BaseConfig  # type: ignore[import-not-found]  # noqa: PLC0415

    # It tells endpoints by their models' names; ours asks the model that is set, whatever name it is sent.
    config = BaseConfig(llm_name="gpt-4o-mini", embedding_model_name="text-embedding-3-small",
                        llm_base_url=job.base_url, embedding_base_url=job.base_url, save_dir=job.folder,
                        qa_top_k=min(job.top_k, 5))
    rag = HippoRAG(global_config=config)

    async def build() -> None:
        await asyncio.to_thread(rag.index, [f"{one['title']}\n{one['text']}" for one in job.documents])

    async def answer(question: str) -> str:
        found: Any = await asyncio.to_thread(rag.rag_qa, queries=[f"{question}\n{job.instruction}"])
        return str(found[0][0].answer)

    await run(job, build, answer)


if __name__ == "__main__":
    asyncio.run(main(read_job()))
