"""Fill up a disk during each command, and check that it ends with a message, and goes on once there is room.

`python benchmarks/full_disk.py --from 1000 --to 6000 --step 500` (as root, on Linux): for each size in KB the home
folder is on a file system in memory of that size. A build, a question, a deletion, a backup and a restore run on it.
Then the file system gets room, the same commands run again, and the knowledge base is compared with one that always had
room: ledger, graph, schema, vectors, communities, `verify`. The restored copy is verified. Prints a row for each size;
exits 1 if a command does not end in time, ends with a traceback, fails without a message, or if anything differs
afterwards. What is paid twice is counted by kill.py, not here.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy, whose threads would prevent forking
for _name in [name for name in os.environ if name.startswith("BANYAN_")]:
    del os.environ[_name]

from crash_child import Child, Fault, run_command, start  # noqa: E402
from crash_world import KB, SETTINGS, write_documents  # noqa: E402
from kill import counting_server  # noqa: E402
from store_state import differences, store_state  # noqa: E402

from tests.hashed_embedding import HashedEmbedder  # noqa: E402

_WITHIN = 360.0  # longer than the deadline of a call to Chroma
_ROOM = 200_000
_COPY = "copy"
_BUILD = ("build", "documents", "--kb", KB, "--schema", "schema.json", "--json")
_DELETE = ("delete", "doc03.txt", "--kb", KB)
COMMANDS: dict[str, Sequence[str]] = {
    "build": _BUILD,
    "ask": ("ask", "Who employs Drin?", "--kb", KB, "--json"),
    "delete": _DELETE,
    "backup": ("backup", "--kb", KB, "-o", "disk/backup.zip"),
    "restore": ("restore", "whole.zip", "--kb", _COPY),
}
_UNCOMPARED = {"calls", "tokens", "schema_versions"}
"""The question's calls, and the schema's history, which notes each build and deletion that ran again."""


class Laboratory:
    """A folder with documents, and a disk of a given size for the home folder."""

    def __init__(self, folder: Path, url: str, documents: int) -> None:
        self._folder = folder
        self._environment = {**SETTINGS, "BANYAN_HOME": "disk/home", "BANYAN_LLM_BASE_URL": url, "NO_COLOR": "1",
                             "BANYAN_LLM_API_KEY": "key", "BANYAN_BATCH_CHUNKS": "64"}
        write_documents(folder, range(documents))
        (folder / "disk").mkdir()

    @contextmanager
    def disk(self, kilobytes: int) -> Iterator[None]:
        """Mount an empty disk, and unmount it at the end."""
        place = str(self._folder / "disk")
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", place], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", place], check=True)

    def make_room(self) -> None:
        """Give the mounted disk all the room that it needs."""
        subprocess.run(["mount", "-o", f"remount,size={_ROOM}k", str(self._folder / "disk")], check=True)

    def used(self) -> int:
        """Return the kilobytes in use on the disk."""
        found = os.statvfs(self._folder / "disk")
        return (found.f_blocks - found.f_bfree) * found.f_frsize // 1024

    def run(self, arguments: Sequence[str]) -> tuple[int | None, Child]:
        """Run a command; the code is None if it did not end in time."""
        child = start(self._folder, self._environment, lambda: run_command(tuple(arguments), Fault()))
        return child.wait_within(_WITHIN), child

    def state(self, name: str) -> dict[str, Any]:
        """Return all that a knowledge base holds, with the problems that `verify` finds."""
        def write() -> None:
            state = store_state(Path("disk/home"), name, HashedEmbedder())
            Path("state.json").write_text(json.dumps(state), "utf-8")

        child = start(self._folder, self._environment, write)
        if child.wait_within(_WITHIN) != 0:
            return {"unreadable": child.output()[-600:]}
        state = dict(json.loads((self._folder / "state.json").read_text("utf-8")))
        state["extractions"] = sorted(map(_sort_entities, state["extractions"]))
        return {part: value for part, value in state.items() if part not in _UNCOMPARED}


def _sort_entities(row: str) -> str:
    """Sort the entities of an extraction: their order depends on which chunks shared its call, and means nothing."""
    chunk, reasoner, extraction = json.loads(row)
    read = json.loads(extraction)
    return json.dumps([chunk, reasoner, {**read, "entities": sorted(read["entities"], key=json.dumps)}])


def _describe(code: int | None, child: Child) -> tuple[str, bool]:
    """Return how a command ended in a few words, and whether that is as it should be."""
    output = child.output()
    if code is None:
        return f"HANGS ({_WITHIN:.0f} s)", False
    if "Traceback" in output:
        return f"TRACEBACK ({output.strip().splitlines()[-1][:60]})", False
    if code == 0:
        return f"done ({child.seconds:.1f} s)", True
    said = " ".join(line for line in output.splitlines() if line.startswith("error:"))
    return (f"error ({child.seconds:.1f} s)", True) if said else (f"FAILS WITHOUT A WORD ({code})", False)


def _row(laboratory: Laboratory, kilobytes: int, expected: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the cells of a size's row, and what is wrong."""
    cells, wrong = [f"{kilobytes:,}"], list[str]()
    with laboratory.disk(kilobytes):
        failed = list[str]()
        for name, arguments in COMMANDS.items():
            code, child = laboratory.run(arguments)
            cell, fine = _describe(code, child)
            cells.append(cell)
            failed += [name] * (code != 0)
            if not fine:
                wrong.append(f"{name}: {cell}: {child.output()[-2000:]}")
        if "build" in failed and "delete" not in failed:
            failed.append("delete")  # the build that runs again adds it again
        laboratory.make_room()
        for name in [name for name in COMMANDS if name in failed]:
            code, child = laboratory.run(COMMANDS[name])
            if code != 0:
                wrong.append(f"{name} with room: {child.output()[-1000:]}")
        wrong += [f"afterwards: {line}" for line in differences(expected, laboratory.state(KB))]
        copy = laboratory.state(_COPY)
        wrong += [f"the copy: {line}" for line in copy.get("verify", [copy.get("unreadable")])]
    cells.append("differs" if wrong else "equal, sound")
    return cells, wrong


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", type=int, default=1000, dest="first", help="the smallest disk, in KB")
    parser.add_argument("--to", type=int, default=6000, dest="last", help="the largest")
    parser.add_argument("--step", type=int, default=100)
    parser.add_argument("--documents", type=int, default=120)
    arguments = parser.parse_args()
    sound = True
    with tempfile.TemporaryDirectory() as place, counting_server() as url:
        laboratory = Laboratory(Path(place), url, arguments.documents)
        with laboratory.disk(_ROOM):
            for command in (_BUILD, ("backup", "--kb", KB, "-o", "whole.zip"), _DELETE):
                code, child = laboratory.run(command)
                if code != 0:
                    raise SystemExit(f"{command[0]} failed with room: {child.output()}")
            expected = laboratory.state(KB)
            sys.stdout.write(f"The knowledge base needs {laboratory.used():,} KB.\n\n")
        for cells in (["KB", *COMMANDS, "afterwards, with room"], ["---"] * (len(COMMANDS) + 2)):
            sys.stdout.write(f"| {' | '.join(cells)} |\n")
        for kilobytes in range(arguments.first, arguments.last + 1, arguments.step):
            cells, wrong = _row(laboratory, kilobytes, expected)
            sys.stdout.write(f"| {' | '.join(cells)} |\n")
            sys.stdout.flush()
            sys.stderr.writelines(f"{kilobytes} KB: {line}\n" for line in wrong)
            sys.stderr.flush()
            sound = sound and not wrong
    raise SystemExit(0 if sound else 1)


if __name__ == "__main__":
    main()
