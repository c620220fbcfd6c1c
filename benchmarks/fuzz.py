"""Random input, by the clock, for all that reads what others send; each finding is printed with its seed.

`python benchmarks/fuzz.py [--seconds 600] [--seed N] [--only readers,replies,...]` (`make fuzz SECONDS=600`)
takes the targets in turn. A finding is an exception that is no sentence for the user, a 500,
a request past its deadline, or memory of the server that grows; the command then ends with 1. `--seed` with the number
that was printed, `--seconds 0` and `--only` try the same once more. The fuzzer has a limit on its own memory, so that
an input that takes too much is a finding, and not the end of the machine.
"""

import argparse
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path.append(str(PROJECT))

from benchmarks.serve_load import resident  # noqa: E402
from tests import serving, small_base, warm_start  # noqa: E402
from tests.fuzz import (  # noqa: E402
    readers,
    replies,
    serving_requests,
)
from tests.hashed_embedding import HashedEmbedder  # noqa: E402

_WARM = 0.4
"""The share of the time after which the memory has to stay as it is: caches are full then."""
_MOST_GROWTH = 1.25
_MOST_FINDINGS = 20
_TARGETS = "readers,replies,questions,queries,mcp"
_MOST_MEMORY = 6 << 30
"""Bytes of addresses of the fuzzer's own process; the server and the readers of files are others."""


def main() -> int:
    """Try inputs until the time is over; returns 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--only", default=_TARGETS)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"seed {chosen.seed}, {chosen.seconds:g} s of {chosen.only}", flush=True)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder, embedder = Path(name), HashedEmbedder()
        small_base.people(folder / "home", "demo", embedder)
        server = stack.enter_context(serving.served(
            folder, BANYAN_ASK_SECONDS=str(serving_requests.DEADLINE), BANYAN_REQUESTS_PER_MINUTE="1000000",
            **{warm_start.HASHED: "1"}))
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
        made: list[Any] = [readers.Readers(folder), replies.Replies()]
        made += [target(server) for target in (
            serving_requests.Questions, serving_requests.Queries, serving_requests.Mcp)]
        targets = [target for target in made if target.name in chosen.only.split(",")]
        return _run(targets, server, chosen.seed, chosen.seconds)


def _run(targets: list[Any], server: serving.Served, seed: int, seconds: float) -> int:
    began, inputs, found, memory = time.monotonic(), Counter[str](), 0, list[tuple[float, float]]()
    while True:
        for target in targets:
            try:
                inputs[target.name] += target.round(random.Random(seed))
            except Exception:  # noqa: BLE001  (whatever it is, MemoryError too, it was found)
                found += 1
                print(f"FOUND {target.name}, seed {seed}:\n{traceback.format_exc()}", flush=True)
        passed = time.monotonic() - began
        memory.append((passed, resident(server.process.pid)))
        seed += 1
        if passed >= seconds or found >= _MOST_FINDINGS:
            break
    for target in targets:
        try:
            target.close()
        except AssertionError as error:
            found += 1
            print(f"FOUND {target.name}: {error}", flush=True)
    warm = [one for at, one in memory if at >= _WARM * passed]
    print(f"{passed:.0f} s, inputs {dict(inputs)}, {found} findings; server memory {memory[0][1]:.0f} MB at first, "
          f"{warm[0]:.0f} MB after {_WARM:.0%} of the time, {max(warm):.0f} MB at most then, "
          f"{warm[-1]:.0f} MB at the end", flush=True)
    if max(warm) > warm[0] * _MOST_GROWTH:
        found += 1
        print(f"FOUND memory: it grew more than {_MOST_GROWTH:g} times", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
