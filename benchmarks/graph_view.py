"""Measures what the server does for the page's map, on a store of any size, without a browser.

Run `python benchmarks/graph_view.py --home FOLDER --kb NAME`: this process serves FOLDER to itself, and asks once for
each route that the page's first view and the next clicks ask for. For each it prints the seconds, those of the
processor, and how much private memory the process has come to hold since before the first (Linux; mapped files, which
processes share, are not counted). The first route pays for opening the store.
"""

import argparse
import time
from pathlib import Path
from typing import Any

from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.server.app import create_app
from rich.console import Console
from rich.table import Table
from starlette.testclient import TestClient

_FIRST = ("", "/graph/types?limit=50", "/graph/overview", "/introduction", "/tree", "/graph/search?q=a",
          "/graph/overview?limit=500")
_NEXT = ("/graph/entity?id={}", "/graph/neighbourhood?id={}", "/graph/path?start={}&end={}")


def private() -> float:
    """Megabytes that are this process's alone and of no file."""
    lines = Path("/proc/self/smaps_rollup").read_text("utf-8").splitlines()
    (found,) = (line.split()[1] for line in lines if line.startswith("Anonymous:"))
    return int(found) / 1024


def main() -> None:
    """Ask, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--home", type=Path, required=True, help="folder of the knowledge bases")
    parser.add_argument("--kb", required=True, help="which of them")
    arguments = parser.parse_args()
    table = Table("route", "s", "processor s", "MB so far", title=arguments.kb)
    with Resources(Settings(home=arguments.home)) as resources:
        resources.embedder.encode(["ready"])
        with TestClient(create_app(resources), base_url="http://127.0.0.1", client=("127.0.0.1", 7)) as client:
            before = private()

            def ask(route: str) -> Any:
                start, used = time.perf_counter(), time.process_time()
                answer = client.get(f"/api/knowledge-bases/{arguments.kb}{route}").raise_for_status().json()
                table.add_row(route, f"{time.perf_counter() - start:.3f}", f"{time.process_time() - used:.3f}",
                              f"{private() - before:.0f}")
                return answer

            best = [ask(route) for route in _FIRST][-1]["nodes"]
            for route in _NEXT:
                ask(route.format(best[0]["id"], best[-1]["id"]))
    Console().print(table)


if __name__ == "__main__":
    main()
