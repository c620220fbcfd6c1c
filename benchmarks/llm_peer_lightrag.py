"""Build with LightRAG from Banyan's passages, over the same endpoint with the same recorded triples.

As a program, run by an interpreter that has lightrag-hku: `llm_peer_lightrag.py PASSAGES FOLDER BASE_URL` builds and
prints the seconds it took. As a module: the endpoint's script for LightRAG's prompts.
"""

import asyncio
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

_FIELD, _END = "<|#|>", "<|COMPLETE|>"
_SIZE = 128


def script(recorded: Path) -> Callable[[dict[str, Any]], str]:
    """Return a function that answers in LightRAG's rows with a passage's recorded triples, and gleans nothing more."""
    from recorded_brain import Recorded  # noqa: PLC0415  (in the tests' folder; not in LightRAG's environment)

    known = Recorded(recorded)

    def reply(request: dict[str, Any]) -> str:
        step = step_of(request)
        if step != "extract":
            return _END if step == "glean" else "A description."
        rows: list[str] = []
        for _, passage in known.find(request["messages"][-1]["content"]):
            rows += [_FIELD.join(("entity", one["name"], "other", f"{one['name']} is in the text."))
                     for one in passage.entities("other")]
            rows += [_FIELD.join(("relation", one["head"], one["tail"], one["relation"],
                                  f"{one['head']} {one['relation']} {one['tail']}")) for one in passage.triples()]
        return "\n".join([*rows, _END])

    return reply


def step_of(request: dict[str, Any]) -> str:
    """Return the step of one of LightRAG's requests."""
    last = request["messages"][-1]["content"]
    if "Based on the last extraction task" in last:
        return "glean"
    return "extract" if "Extract entities and relationships" in last else "summarise"


@cache
def _place(trigram: str) -> int:
    return int.from_bytes(hashlib.blake2b(trigram.encode(), digest_size=4).digest(), "big") % _SIZE


async def _encode(texts: list[str]) -> Any:
    import numpy as np  # noqa: PLC0415

    vectors = np.zeros((len(texts), _SIZE), np.float32)
    for row, text in enumerate(texts):
        padded = f"  {text.lower()}  "
        places = [_place(padded[start:start + 3]) for start in range(len(padded) - 2)]
        vectors[row] = np.bincount(places, minlength=_SIZE)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


async def _build(passages: list[dict[str, str]], folder: str, base_url: str) -> float:
    from lightrag import LightRAG  # type: ignore[import-not-found]  # noqa: PLC0415
    from lightrag.utils import EmbeddingFunc, Tokenizer  # type: ignore[import-not-found]  # noqa: PLC0415
    from openai import AsyncOpenAI  # noqa: PLC0415

    class Letters:
        """Four letters to a token; tiktoken would load its vocabulary from the network."""

        def encode(self, text: str) -> list[int]:
            return [int.from_bytes(text[start:start + 4].encode("utf-32-le"), "little")
                    for start in range(0, len(text), 4)]

        def decode(self, tokens: list[int]) -> str:
            return "".join(token.to_bytes(16, "little").decode("utf-32-le").rstrip("\0") for token in tokens)

    client = AsyncOpenAI(base_url=base_url, api_key="none")

    async def ask(prompt: str, system_prompt: str | None = None, history_messages: Any = None, **_: Any) -> str:
        messages: list[Any] = [{"role": "system", "content": system_prompt}] if system_prompt else []
        messages += [*(history_messages or []), {"role": "user", "content": prompt}]
        answer = await client.chat.completions.create(model="recorded", messages=messages)
        return answer.choices[0].message.content or ""

    rag = LightRAG(working_dir=folder, llm_model_func=ask, llm_model_max_async=32, max_parallel_insert=8,
                   tokenizer=Tokenizer("letters", Letters()),
                   embedding_func=EmbeddingFunc(embedding_dim=_SIZE, max_token_size=8192, func=_encode))
    await rag.initialize_storages()
    started = time.perf_counter()
    await rag.ainsert([f"{one['title']}\n{one['text']}" for one in passages], ids=[one["id"] for one in passages])
    seconds = time.perf_counter() - started
    await rag.finalize_storages()
    return seconds


def main() -> None:
    """Build and print the seconds."""
    source, folder, base_url = sys.argv[1:]
    passages = [json.loads(line) for line in Path(source).read_text("utf-8").splitlines()]
    with tempfile.TemporaryDirectory(dir=folder) as kept:
        seconds = asyncio.run(_build(passages, kept, base_url))
    rate = len(passages) / seconds
    sys.stdout.write(f"LightRAG: {len(passages)} documents in {seconds:.1f} s, {rate:.2f} a second\n")


if __name__ == "__main__":
    main()
