"""Kill every writing operation with SIGKILL at random points, and compare the results.

`python benchmarks/kill.py --points 200 --seed 1`: for each point an operation runs on a copy of a small
store and is killed, at half of the points at a random time, at the others at a random point of
writing (a statement to the ledger, either side of writing vectors or the graph's file). The same command
is run again, and the store is compared with one that was never killed: ledger, graph, schema, vectors by
id and value, communities, accounts, `verify`. At half of the points the store is read between the two,
as a user would. Exits 1 if anything differs.

A prompt is paid twice if it was sent again although its response was in the ledger when the process
died. A response that was not received or stored by then (asked, unrecorded) may be paid again: these
are counted separately.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy, whose threads would prevent forking
for _name in [name for name in os.environ if name.startswith("BANYAN_")]:
    del os.environ[_name]

from banyan.agents.resources import Resources  # noqa: E402
from banyan.config import Settings  # noqa: E402
from banyan.graph_store.ledger.postgresql import LedgerSchema, connect  # noqa: E402
from crash_child import Child, Fault, run_command, start  # noqa: E402
from crash_world import BACK_UP, FIRST, KB, OPERATIONS, SETTINGS, CountingServer, write_documents  # noqa: E402
from pydantic import SecretStr  # noqa: E402
from sqlalchemy import make_url  # noqa: E402
from store_state import differences, store_state  # noqa: E402

from tests.hashed_embedding import HashedEmbedder  # noqa: E402

_DELAY = 0.02  # seconds that the endpoint takes: some calls are in flight at any time


@dataclass
class Reference:
    """An operation that ran without being killed."""

    state: dict[str, Any]
    seconds: float
    points: int


@dataclass
class Outcome:
    """The outcome of one point."""

    operation: str
    where: str
    killed: bool = False
    problems: list[str] = field(default_factory=list)
    paid_twice: int = 0
    unrecorded_again: int = 0


_ASIDE = "documents-aside"


class Laboratory:
    """Stores, references and points in a folder, against one endpoint.

    Args:
        folder: where all of it is.
        base_url: the endpoint.
        database: the address of a PostgreSQL server, whose user may make databases; empty: ledgers are in SQLite.
    """

    def __init__(self, folder: Path, base_url: str, database: str) -> None:
        self._folder = folder
        self._url = base_url
        self._server = database
        self.references: dict[str, Reference] = {}

    def prepare(self, names: list[str]) -> None:
        """Make the stores that operations begin with, then run each operation undisturbed."""
        steps = {"built": (OPERATIONS["build"].arguments, BACK_UP), "unindexed": (OPERATIONS["build"].arguments,),
                 "merged": (OPERATIONS["build"].arguments, BACK_UP, OPERATIONS["merge"].arguments)}
        for start_name in sorted({OPERATIONS[name].start for name in names} & steps.keys()):
            home, fault = self._folder / start_name, Fault(word="INTO communities" if start_name == "unindexed" else "")
            self._make_database(start_name)
            write_documents(home, FIRST)
            for arguments in steps[start_name]:
                child = self._command(home, arguments, start_name, fault)
                code = child.wait()
                if code != (-9 if fault.word else 0):
                    raise SystemExit(f"preparing {start_name!r} ended with {code}: {child.output()}")
            # A copy's files are those of a moved folder only if the first ones are gone.
            (home / "documents").rename(home / _ASIDE)
        for name in names:
            self.references[name] = self._reference(name)

    def _reference(self, name: str) -> Reference:
        folder = self._copy(name, f"reference-{name}")
        child = self._command(folder, OPERATIONS[name].arguments, f"reference-{name}", Fault())
        if child.wait():
            raise SystemExit(f"{name} failed undisturbed: {child.output()}")
        return Reference(self._state(folder), child.seconds, int((folder / "points.txt").read_text("utf-8")))

    def _copy(self, name: str, place: str) -> Path:
        operation, folder = OPERATIONS[name], self._folder / place
        self._make_database(place, "" if operation.start == "nothing" else operation.start)
        if operation.start == "nothing":
            folder.mkdir()
        else:
            shutil.copytree(self._folder / operation.start, folder)
            (folder / _ASIDE).rename(folder / "documents")
        operation.prepare(folder)
        return folder

    def _command(self, folder: Path, arguments: tuple[str, ...], key: str, fault: Fault) -> Child:
        return start(folder, self._environment(folder, key), lambda: run_command(arguments, fault))

    def _environment(self, folder: Path, key: str) -> dict[str, str]:
        return {**SETTINGS, "BANYAN_LLM_BASE_URL": self._url, "BANYAN_LLM_API_KEY": key, "NO_COLOR": "1",
                "BANYAN_DATABASE_URL": self._database(folder)}

    # Each folder's ledger is in a separate database, if a server is given.

    def _database(self, folder: Path) -> str:
        return make_url(self._server).set(database=_name(folder.name)).render_as_string(
            hide_password=False) if self._server else ""

    def _run_sql(self, statement: str) -> None:
        with closing(connect(SecretStr(self._server))) as connection:
            connection.exec_driver_sql(statement)

    def _make_database(self, place: str, start: str = "") -> None:
        if self._server:
            self._drop_database(place)
            template = f' TEMPLATE "{_name(start)}"' if start else ""
            self._run_sql(f'CREATE DATABASE "{_name(place)}"{template}')

    def _drop_database(self, place: str) -> None:
        if self._server:
            self._run_sql(f'DROP DATABASE IF EXISTS "{_name(place)}" WITH (FORCE)')

    def close(self) -> None:
        """Remove the databases that were made."""
        for folder in self._folder.iterdir():
            self._drop_database(folder.name)

    def _state(self, folder: Path) -> dict[str, Any]:
        def write() -> None:
            state = store_state(Path("home"), KB, HashedEmbedder(), Settings().database)
            Path("state.json").write_text(json.dumps(state), "utf-8")

        child = start(folder, {"BANYAN_DATABASE_URL": self._database(folder)}, write)
        if child.wait():
            return {"unreadable": child.output()[-600:]}
        return dict(json.loads((folder / "state.json").read_text("utf-8")))

    def point(self, number: int, name: str, rng: random.Random) -> Outcome:
        """Kill an operation at one random point, run it again, and compare."""
        reference, operation = self.references[name], OPERATIONS[name]
        folder = self._copy(name, f"point-{number}")
        key, stood = f"point-{number}", self._read_recorded(folder) or set()
        if rng.random() < 0.5 or not reference.points:
            after = rng.uniform(0, reference.seconds)
            outcome = Outcome(name, f"after {after:.3f} s of {reference.seconds:.3f}")
            outcome.killed = self._command(folder, operation.arguments, key, Fault()).kill_after(after)
        else:
            at = rng.randint(1, reference.points)
            outcome = Outcome(name, f"at writing {at} of {reference.points}")
            outcome.killed = self._command(folder, operation.arguments, key, Fault(number=at)).wait() == -9
        looked = rng.random() < 0.5
        outcome.where += ", read before it was run again" if looked else ""
        there, asked = self._read_recorded(folder), self._fetch_asked(key)
        recorded = there or set()
        if looked and there is not None:
            outcome.problems += self._read(folder)
        again = self._command(folder, operation.arguments, key, Fault())
        if again.wait() and not (operation.done and operation.done in again.output()):
            outcome.problems.append(f"the second run failed: {again.output()[-600:]}")
        outcome.problems += differences(reference.state, self._state(folder))
        self._count(outcome, asked, self._fetch_asked(key)[len(asked):], stood, recorded)
        if not outcome.problems:
            shutil.rmtree(folder)
            self._drop_database(folder.name)
        return outcome

    def _read(self, folder: Path) -> list[str]:
        """Read a store whose writer was killed, and return what goes wrong."""
        child = start(folder, {**SETTINGS, "BANYAN_DATABASE_URL": self._database(folder)}, read_store)
        return [f"reading after the kill: {child.output()[-600:]}"] if child.wait() else []

    def _fetch_asked(self, key: str) -> list[str]:
        root = self._url.removesuffix("/v1")
        with urllib.request.urlopen(f"{root}/asked/{key}", timeout=30) as response:
            return list(json.load(response))

    @staticmethod
    def _count(outcome: Outcome, before: list[str], after: list[str], stood: set[str], recorded: set[str]) -> None:
        """Count calls that were paid again, separately by whether the ledger had their response."""
        outcome.paid_twice = (sum(prompt in stood for prompt in before) + sum(prompt in recorded for prompt in after)
                              + sum(count - 1 for calls in (before, after) for count in Counter(calls).values()))
        outcome.unrecorded_again = len(set(before) & set(after) - recorded)


    def _read_recorded(self, folder: Path) -> set[str] | None:
        """Return the prompts whose responses are in a ledger, or None if there is no ledger."""
        if not self._server:
            return _read_recorded_in_file(folder)
        with closing(connect(SecretStr(self._database(folder)))) as connection:
            place = LedgerSchema(SecretStr(""), KB)
            if not place.about(connection)[0]:  # the number of its format
                return None
            found = connection.exec_driver_sql(f'SELECT response FROM "{place.name}".calls').fetchall()
            return _prompts(found)


def _name(place: str) -> str:
    """Return the name of a folder's database."""
    return f"banyan_kill_{place}"


def _prompts(rows: Iterable[Sequence[Any]]) -> set[str]:
    """Return the prompts of responses; those deleted with their document are unknown."""
    return {json.loads(response)["prompt"] for (response,) in rows if response}


def _read_recorded_in_file(folder: Path) -> set[str] | None:
    """Return the prompts in a ledger file, from a copy: opening the file would repair what a kill left."""
    found = folder / "home" / KB
    if not (found / "ledger.sqlite").is_file():
        return None
    with tempfile.TemporaryDirectory() as place:
        for file in found.glob("ledger.sqlite*"):
            shutil.copy(file, place)
        with closing(sqlite3.connect(Path(place) / "ledger.sqlite")) as ledger:
            if not ledger.execute("SELECT 1 FROM sqlite_master WHERE name = 'calls'").fetchone():
                return set()
            return _prompts(ledger.execute("SELECT response FROM calls"))


def read_store() -> None:
    """Search the store by words, vectors and the graph, as a question does."""
    with Resources(Settings(), HashedEmbedder()) as resources:
        with resources.snapshot(KB) as snapshot:
            kb = snapshot.kb
        if kb.schemas.version() == 0:
            return
        retriever = snapshot.retriever
        for ranked in retriever.rank_passages("Whom does Drin know, and who employs Drin?", 5):
            passage = retriever.passage(*ranked)
            document = kb.documents.get(passage.document)
            if document.text[passage.start:passage.start + len(passage.text)] != passage.text:
                raise AssertionError(f"{passage.document} does not say {passage.text!r}")


@contextmanager
def counting_server() -> Iterator[str]:
    """Run the endpoint in a separate process, and yield its base URL."""
    receiver, sender = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(receiver)
        with CountingServer(_DELAY) as server:
            os.write(sender, server.base_url.encode())
            os.close(sender)
            threading.Event().wait()
    os.close(sender)
    try:
        with os.fdopen(receiver) as pipe:
            yield pipe.read()
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _run(laboratory: Laboratory, arguments: argparse.Namespace) -> list[Outcome]:
    names = arguments.operations
    outcomes: list[Outcome] = []
    for number in range(arguments.points):
        # Each point has its own seed: it can be repeated alone.
        rng = random.Random(f"{arguments.seed}/{number}")
        if arguments.only is not None and number != arguments.only:
            continue
        outcome = laboratory.point(number, names[number % len(names)], rng)
        outcomes.append(outcome)
        if outcome.problems or outcome.paid_twice:
            sys.stdout.write(f"point {number}: {outcome.operation}, {outcome.where}: paid twice {outcome.paid_twice}\n")
            sys.stdout.writelines(f"  {problem}\n" for problem in outcome.problems)
            sys.stdout.flush()
    return outcomes


def _report(outcomes: list[Outcome], laboratory: Laboratory, seed: int, seconds: float) -> bool:
    sys.stdout.write(f"seed {seed}, {len(outcomes)} points in {seconds:.0f} s\n")
    for name, reference in laboratory.references.items():
        mine = [outcome for outcome in outcomes if outcome.operation == name]
        sys.stdout.write(
            f"{name:>8}: {len(mine)} points, {sum(o.killed for o in mine)} killed before the end, "
            f"{sum(not o.problems for o in mine)} equal; paid twice {sum(o.paid_twice for o in mine)}, unrecorded and "
            f"paid again {sum(o.unrecorded_again for o in mine)}; undisturbed {reference.seconds:.2f} s, "
            f"{reference.points} points of writing\n")
    return all(not outcome.problems and not outcome.paid_twice for outcome in outcomes)


def main() -> None:
    """Run the points and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--operations", nargs="+", choices=list(OPERATIONS), default=list(OPERATIONS))
    parser.add_argument("--only", type=int, help="one point of these, by number")
    parser.add_argument("--keep", type=Path, help="folder to work in; stores that differ are left there")
    parser.add_argument("--database-url", default="", help="a PostgreSQL server whose user may make databases: ledgers "
                                                           "are there")
    arguments = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as place, counting_server() as url:
        folder = (arguments.keep or Path(place)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        laboratory = Laboratory(folder, url, arguments.database_url)
        with closing(laboratory):
            names = arguments.operations
            laboratory.prepare(names if arguments.only is None else [names[arguments.only % len(names)]])
            outcomes = _run(laboratory, arguments)
        sound = _report(outcomes, laboratory, arguments.seed, time.monotonic() - started)
    raise SystemExit(0 if sound else 1)


if __name__ == "__main__":
    main()
