"""Two writers, ten readers and a build at once: no error but the lock's, no wrong read.

`python benchmarks/concurrency.py --seconds 60`: three processes write to one knowledge base in turn as the
lock lets them (builds of all documents by the command line, updates by one long-lived process, deletions
by short ones), five processes of two threads each read: three keep it open as a server does, two open it
anew for each question. Each reading asks a question and checks

- that every citation stands in a version of its document that was written at some time,
- that graph, facts and counts are of one moment: the graph is what the contributions give,
- that the communities partition the entities, where they are not behind.

At the end what kept it open must have come to the last state, and `verify` must find nothing.
"""

import argparse
import faulthandler
import json
import os
import random
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import kill  # first: it sets what must be set before numpy is imported
from banyan.agents.construction import graph as construction
from banyan.agents.resources import Resources
from banyan.agents.retrieval import graph as retrieval
from banyan.config import Settings
from banyan.graph_store.graph.knowledge_graph import KnowledgeGraph
from banyan.graph_store.integrity.status import status_of
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.store_errors import WriterBusyError
from crash_child import Fault, run_command, start
from crash_world import ALL, FIRST, KB, OPERATIONS, SETTINGS, UPDATED, document, write_documents
from store_state import store_state

from tests.hashed_embedding import HashedEmbedder
from tests.newest import dump_graph

_WRITTEN = ("built", "updated", "deleted")
_PAUSE = 0.5  # seconds after writing, so that each writer has its turn
_HANGS = 90.0  # seconds after the last round begins
_ENDED = 30.0  # seconds that readers have, at the end, to come to the last state
_VERSIONS = {f"doc{number:02}.txt": (document(number), document(number, updated=True)) for number in ALL}


class Tally:
    """What a process did and what went wrong in it."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.errors: list[str] = []
        self._lock = threading.Lock()

    @contextmanager
    def round(self, what: str) -> Iterator[None]:
        """One round: counted, its error kept; that another process writes is none."""
        try:
            yield
        except WriterBusyError:
            with self._lock:
                self.counts["busy"] += 1
            time.sleep(0.02)
        except Exception:  # noqa: BLE001  (whatever it is, it is what is looked for)
            with self._lock:
                self.errors.append(f"{what}: {traceback.format_exc()[-1500:]}")
        else:
            with self._lock:
                self.counts[what] += 1
            if what in _WRITTEN:
                time.sleep(_PAUSE)

    def save(self) -> None:
        """Leave it where the parent looks."""
        Path("tally.json").write_text(json.dumps({"counts": self.counts, "errors": self.errors}), "utf-8")


def _until(deadline: float) -> Iterator[int]:
    number = 0
    while time.time() < deadline:
        yield number
        number += 1


def _resources(home: Path) -> Resources:
    return Resources(Settings(home=home), HashedEmbedder())


def _command(deadline: float) -> None:
    _watch(deadline)
    run_command(OPERATIONS["add"].arguments, Fault())


def _watch(deadline: float) -> None:
    """End this process, and say where it stood, if it does not end by itself."""
    faulthandler.dump_traceback_later(max(deadline - time.time(), 0.0) + _HANGS, exit=True)


def build_by_command(home: Path, deadline: float) -> None:
    """Build all documents, each time in a process of its own; the last build is never refused for good."""
    tally = Tally()
    for number in _until(deadline):
        with tally.round("built"):
            folder = Path(f"round{number}")
            folder.mkdir()
            write_documents(folder, ALL)
            child = start(folder, {"BANYAN_HOME": str(home)}, partial(_command, deadline))
            if child.wait():
                output = child.output()
                if "another process is writing to" in output:
                    raise WriterBusyError(output)
                raise AssertionError(output[-1500:])
    tally.save()


def update(home: Path, deadline: float) -> None:
    """Build the first documents in two versions in turn, in one process that keeps the knowledge base open."""
    _watch(deadline)
    tally = Tally()
    for place, updated in (("old", ()), ("new", UPDATED)):
        write_documents(Path(place), FIRST, updated)
    with _resources(home) as resources:
        graph = construction.build_graph(resources)
        for number in _until(deadline):
            with tally.round("updated"):
                folder = Path("new" if number % 2 else "old") / "documents"
                graph.invoke({"knowledge_base": KB, "paths": [str(folder)]}, {"max_concurrency": 5})
    tally.save()


def _persist(write: Callable[[], None], deadline: float) -> None:
    """Try again and again while others write: opening takes longer than the lock is free."""
    while True:
        try:
            write()
        except WriterBusyError:
            if time.time() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def delete(home: Path, deadline: float) -> None:
    """Delete one document after another; the builds bring them back."""
    _watch(deadline)
    tally, rng = Tally(), random.Random("delete")
    for _ in _until(deadline):
        with tally.round("deleted"), _resources(home) as resources:
            with resources.snapshot(KB) as snapshot:
                there = [entry.id for entry in snapshot.kb.documents.entries()]
            if there:
                _persist(partial(resources.delete_documents, KB, [rng.choice(there)]), deadline)
    tally.save()


def check(kb: KnowledgeBase) -> None:
    """Whether all that is read of a knowledge base is of one moment.

    Raises:
        AssertionError: it is not.
    """
    fresh = KnowledgeGraph.of_rows(kb.extractions.rows())
    assert dump_graph(fresh) == dump_graph(kb.graph), "the graph is not what the rows give"
    status = status_of(kb)
    assert status.entities == len(fresh.entity_ids())
    assert status.chunks == len(kb.documents.chunks())
    if not kb.tree.is_behind():
        members = sorted(one for community in kb.communities.all() for one in community.members)
        assert members == kb.graph.entity_ids(), "the communities do not partition the entities"


def ask(resources: Resources, rng: random.Random) -> str:
    """Ask a question, and check the answer's citations against what was ever written; returns how it ended."""
    person = document(rng.choice(ALL)).partition(":")[0]
    answer = retrieval.build_graph(resources).invoke(
        {"knowledge_base": KB, "question": f"{person} knows which Person?"})
    for citation in answer["citations"]:
        cited = [text[citation["start"]:citation["end"]] for text in _VERSIONS[citation["document"]]]
        assert citation["quote"] in cited, citation
    return "abstained" if answer["abstained"] else "answered"


def read_as_server(home: Path, deadline: float) -> None:
    """Read from two threads that share one open knowledge base."""
    _watch(deadline)
    tally = Tally()
    with _resources(home) as resources:
        def work(seed: int) -> None:
            rng = random.Random(f"{os.getpid()}/{seed}")
            for _ in _until(deadline):
                with tally.round("read"):
                    tally.counts[ask(resources, rng)] += 1
                    with resources.snapshot(KB) as snapshot:
                        check(snapshot.kb)

        _in_threads(work)
        Path("read").touch()
        _wait_for(Path("../written"))
        with (tally.round("came to the last state"), KnowledgeBase.open(home, KB, HashedEmbedder()) as last,
              resources.snapshot(KB) as snapshot):
            assert snapshot.kb.version() == last.version()
            assert dump_graph(snapshot.kb.graph) == dump_graph(last.graph)
    tally.save()


def read_anew(home: Path, deadline: float) -> None:
    """Read from two threads that open the knowledge base for each question."""
    _watch(deadline)
    tally = Tally()

    def work(seed: int) -> None:
        rng = random.Random(f"{os.getpid()}/{seed}")
        for _ in _until(deadline):
            with tally.round("read"), _resources(home) as resources:
                with resources.snapshot(KB) as snapshot:
                    check(snapshot.kb)
                tally.counts[ask(resources, rng)] += 1

    _in_threads(work)
    tally.save()


def _in_threads(work: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _wait_for(path: Path) -> None:
    deadline = time.time() + _ENDED
    while not path.exists():
        if time.time() > deadline:
            raise TimeoutError(f"{path} did not come")
        time.sleep(0.05)


WRITERS = {"build": build_by_command, "update": update, "delete": delete}
READERS = {"server1": read_as_server, "server2": read_as_server, "server3": read_as_server, "short1": read_anew,
           "short2": read_anew}


def run(folder: Path, url: str, seconds: float) -> dict[str, dict[str, Any]]:
    """Write and read for some seconds; returns each process's tally, and that of the end."""
    environment = {**SETTINGS, "BANYAN_HOME": str(folder / "home"), "BANYAN_LLM_BASE_URL": url,
                   "BANYAN_LLM_API_KEY": "concurrency", "NO_COLOR": "1"}
    home = folder / "home"
    begin = folder / "begin"
    begin.mkdir()
    write_documents(begin, FIRST)
    first = start(begin, environment, lambda: run_command(OPERATIONS["build"].arguments, Fault()))
    if first.wait():
        raise SystemExit(f"the first build failed: {first.output()}")
    deadline = time.time() + seconds
    children = {}
    for name, work in {**WRITERS, **READERS}.items():
        (folder / name).mkdir()
        children[name] = start(folder / name, environment, partial(work, home, deadline))
    codes = {name: children[name].wait() for name in WRITERS}
    (folder / "written").touch()
    codes |= {name: children[name].wait() for name in READERS}
    tallies = {}
    for name, code in codes.items():
        path = folder / name / "tally.json"
        tallies[name] = json.loads(path.read_text("utf-8")) if path.exists() else {"counts": {}, "errors": []}
        if code:
            tallies[name]["errors"].append(f"ended with {code}: {children[name].output()[-6000:]}")
    tallies["verify"] = {"counts": {}, "errors": _verified(folder, environment)}
    return tallies


def _verified(folder: Path, environment: dict[str, str]) -> list[str]:
    def write() -> None:
        state = store_state(folder / "home", KB, HashedEmbedder())
        Path("verify.json").write_text(json.dumps(state["verify"]), "utf-8")

    child = start(folder, environment, write)
    return [child.output()[-1500:]] if child.wait() else list(json.loads((folder / "verify.json").read_text("utf-8")))


def main() -> None:
    """Run, print, and exit 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--keep", type=Path, help="folder to work in")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, kill.counting_server() as url:
        folder = (arguments.keep or Path(place)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        tallies = run(folder, url, arguments.seconds)
    wrong = 0
    for name, tally in tallies.items():
        wrong += len(tally["errors"])
        sys.stdout.write(f"{name:>8}: {json.dumps(tally['counts'])}, {len(tally['errors'])} errors\n")
        for error, times in Counter(tally["errors"]).most_common(3):
            sys.stdout.write(f"  {times} times: {error}\n")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
