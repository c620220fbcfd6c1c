"""Banyan as its peers are run: a program of its own that builds, opens what is there, and answers."""

import asyncio
import json
import os
from pathlib import Path

from job import Job, read_job, run


async def main(job: Job) -> None:
    """Build and answer."""
    os.environ |= {"BANYAN_HOME": job.folder, "BANYAN_LLM_BASE_URL": job.base_url, "BANYAN_LLM_MODEL": job.model,
                   "BANYAN_EMBEDDING_BASE_URL": job.base_url, "BANYAN_EMBEDDING_MODEL": "banyan"}
    import banyan  # noqa: PLC0415  (reads the settings)

    base = banyan.open("same")

    async def build() -> None:
        texts = Path(job.folder) / "texts.json"
        texts.write_text(json.dumps([{"title": one["title"], "text": one["text"]} for one in job.documents]), "utf-8")
        await base.aadd(texts, schema="open")

    async def answer(question: str) -> str:
        return str(await base.aask(question, mode="open"))

    await run(job, build, answer)


if __name__ == "__main__":
    asyncio.run(main(read_job()))
