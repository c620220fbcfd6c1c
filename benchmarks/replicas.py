"""Two replicas of a server under load while a build runs and one of them is killed: what fails, and what goes on.

Run `python benchmarks/replicas.py [--clients 50] [--seconds 60] [--chroma]`. A PostgreSQL server of its own holds
ledgers, conversations and builds; each replica has a home folder of its own, with vectors of its own or, with
`--chroma`, on one Chroma server. The model is the tests' protocol server. Each client has a conversation and asks one
question after another at one of the replicas. The first replica builds; after a third of the time it is killed with
SIGKILL. Its clients go to the other one, which has to take the build up.

Exits 1 if anything fails but requests that were open at the killed replica, if a conversation lacks an answer, or if
the build does not end with all its documents.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import httpx
import numpy as np

PROJECT = Path(__file__).resolve().parent.parent
sys.path.append(str(PROJECT))

from tests import chroma_process, llm_server, postgresql, replicas, rest  # noqa: E402  (what tests start servers with)

_DOCUMENTS_A_SECOND = 12
"""Of the build, so that it lasts longer than half of the time."""
_CALLS_AT_ONCE = "16"


def main() -> None:
    """Print what was seen as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--chroma", action="store_true", help="vectors on one Chroma server")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        endpoint = stack.enter_context(llm_server.LlmServer())
        database = stack.enter_context(postgresql.cluster()).url()
        settings = {"BANYAN_LLM_BASE_URL": endpoint.base_url, "BANYAN_LLM_MODEL": "scripted",
                    "BANYAN_LLM_CONCURRENCY": _CALLS_AT_ONCE, "BANYAN_REQUESTS_PER_MINUTE": "1000000"}
        if chosen.chroma:
            settings["BANYAN_CHROMA_URL"] = stack.enter_context(chroma_process.running(folder)).url
        servers = stack.enter_context(replicas.replicas(folder, database, **settings))
        with httpx.Client(base_url=servers[0].url, timeout=120) as client:
            assert rest.built(client, replicas.ASKED, rest.CHESS)["state"] == "done"
        endpoint.seconds = 0.3
        documents = int(chosen.seconds * _DOCUMENTS_A_SECOND)
        seen = asyncio.run(replicas.Load(servers, chosen.clients, chosen.seconds, documents).run())
    report = seen.build.get("report") or {}
    assert isinstance(report, dict)
    print(json.dumps({
        "clients": chosen.clients, "answers": seen.answers,
        **{f"answer_p{share}_ms": round(float(np.percentile(seen.seconds, share)) * 1000) for share in (50, 95)},
        "open_when_killed": seen.open_when_killed, "broken": len(seen.broken), "errors": len(seen.errors),
        "first_error": seen.errors[0] if seen.errors else "", "conversations_that_went_on": seen.went_on,
        "conversations_that_lack_answers": seen.lost_turns, "build": seen.build.get("state"),
        "build_error": seen.build.get("error"), "documents": report.get("documents"), "of": documents}, indent=1))
    whole = seen.build.get("state") == "done" and report.get("documents") == documents and not seen.lost_turns
    sys.exit(0 if whole and not seen.errors and len(seen.broken) <= seen.open_when_killed else 1)


if __name__ == "__main__":
    main()
