"""LightRAG as an arm of `benchmarks/peer_arms.py`, with its own defaults (mode mix).

It needs an environment with lightrag-hku and openai.
"""

import asyncio
from typing import Any

import numpy as np
from job import Job, read_job, run
from lightrag import LightRAG, QueryParam  # type: ignore[import-not-found]
from lightrag.utils import EmbeddingFunc, Tokenizer  # type: ignore[import-not-found]
from openai import AsyncOpenAI


class Letters:
    """Four letters to a token; tiktoken would load its vocabulary from the network."""

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text."""
        return [int.from_bytes(text[start:start + 4].encode("utf-32-le"), "little") for start in range(0, len(text), 4)]

    def decode(self, tokens: list[int]) -> str:
        """Return the text of tokens."""
        return "".join(token.to_bytes(16, "little").decode("utf-32-le").rstrip("\0") for token in tokens)


async def main(job: Job) -> None:
    """Build and answer."""
    client = AsyncOpenAI(base_url=job.base_url, api_key="none")

    async def ask(prompt: str, system_prompt: str | None = None, history_messages: Any = None, **_: Any) -> str:
        messages: list[Any] = [{"role": "system", "content": system_prompt}] if system_prompt else []
        messages += [*(history_messages or []), {"role": "user", "content": prompt}]
        reply = await client.chat.completions.create(model=job.model, messages=messages)
        return reply.choices[0].message.content or ""

    async def embed(texts: list[str]) -> Any:
        reply = await client.embeddings.create(model="banyan", input=texts, encoding_format="float")
        return np.array([item.embedding for item in reply.data], np.float32)

    rag = LightRAG(working_dir=job.folder, llm_model_func=ask, llm_model_max_async=32, max_parallel_insert=8,
                   tokenizer=Tokenizer("letters", Letters()),
                   embedding_func=EmbeddingFunc(embedding_dim=job.dimension, max_token_size=8192, func=embed))
    await rag.initialize_storages()

    async def build() -> None:
        await rag.ainsert([f"{one['title']}\n{one['text']}" for one in job.documents],
                          ids=[one["id"] for one in job.documents])

    async def answer(question: str) -> str:
        said = await rag.aquery(question, QueryParam(mode="mix", chunk_top_k=job.top_k, enable_rerank=False,
                                                     response_type="Single Sentence", user_prompt=job.instruction))
        return str(said or "")

    await run(job, build, answer)
    await rag.finalize_storages()


if __name__ == "__main__":
    asyncio.run(main(read_job()))
