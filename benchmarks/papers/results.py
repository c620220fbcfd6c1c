"""Results of a benchmark so far, in a file of JSON lines: a killed run resumes where it ended."""

import os
from pathlib import Path
from threading import Lock
from typing import Any

from banyan.evaluation.recall import DatasetError
from banyan.schemas.documents import Frozen
from banyan.schemas.formats.small_files import json_lines, validate_record
from banyan.schemas.retrieval import Grade
from filelock import FileLock, Timeout
from pydantic import Field

FILE = "results.jsonl"


class Run(Frozen):
    """The identity of a run: results of different runs are not mixed."""

    dataset: str
    corpus: str = Field(description="hash of the documents")
    mode: str
    top_k: int
    schema_name: str
    model: str = Field(description="the models of all steps, or the rules")
    embedding: str
    recorded: str = ""
    answers: bool = Field(True, description="whether questions are answered; else passages are ranked, and that is all")


class Base(Frozen):
    """A knowledge base that was built, and its cost."""

    name: str
    documents: int
    entities: int
    triples: int
    communities: int
    seconds: float
    tokens: dict[str, int] = Field(description="prompt and completion tokens by step")


class ArmOutcome(Frozen):
    """An arm's answer to a question, and the passages that it found.

    `grade`: how the evidence supports the answer. `ranks`: the rank of each gold passage among the documents found,
    from 1; None beyond the last. `facts`: for each of the first passages, the numbers of the question's facts in it.
    `gold`: for each of these passages, whether it is from a gold document.
    """

    arm: str
    id: str
    answer: str = ""
    short: str = ""
    declined: bool = False
    grade: Grade = "none"
    ranks: tuple[int | None, ...] = ()
    facts: tuple[tuple[int, ...], ...] = ()
    gold: tuple[bool, ...] = ()
    passages: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


class JudgedOutcome(Frozen):
    """A judge's verdict on an outcome."""

    arm: str
    id: str
    judge: str
    correct: bool
    reason: str
    coverage: float = 0.0
    tokens: int = 0


class _Line(Frozen):
    run: Run | None = None
    base: Base | None = None
    outcome: ArmOutcome | None = None
    judged: JudgedOutcome | None = None


class Results:
    """The results in a folder; safe to use from several threads.

    Each result is written to disk at once, so a run that was killed has lost none that it paid for.

    Args:
        folder: the folder of the report; it is created if missing.
        run: the identity of the run.

    Raises:
        DatasetError: the folder has results of another run or damaged ones, or another process writes to it.
    """

    def __init__(self, folder: Path, run: Run) -> None:
        """Lock the folder, and read the results of earlier runs from it."""
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / FILE
        self._lock = Lock()
        self._file_lock = FileLock(f"{self.path}.lock")
        self.bases: dict[str, Base] = {}
        self.outcomes: dict[tuple[str, str], ArmOutcome] = {}
        self.verdicts: dict[tuple[str, str, str], JudgedOutcome] = {}
        try:
            self._file_lock.acquire(timeout=0)
        except Timeout as error:
            raise DatasetError(f"another process writes to {folder}: wait for it, or name another folder") from error
        self._stream = self.path.open("ab")
        try:
            self._read_earlier(run)
        except BaseException:
            self.close()
            raise

    def _read_earlier(self, run: Run) -> None:
        """Read the results that the file has; write the run's identity as the first line of a new file."""
        # If a process was killed while it wrote the last line, the line is incomplete and removed.
        complete_bytes = self.path.read_bytes().rfind(b"\n") + 1
        self._stream.truncate(complete_bytes)
        if not complete_bytes:
            self._write(_Line(run=run))
            return
        first, *lines = [validate_record(where, value, _Line, DatasetError)
                         for where, value in json_lines(self.path, DatasetError)]
        if first.run != run:
            different = [name for name, value in run if first.run is None or getattr(first.run, name) != value]
            raise DatasetError(f"{self.path.parent} has results of another run ({', '.join(different)}): name another "
                               "folder (-o), or delete this one")
        for line in lines:
            self._include(line)

    def add(self, *, base: Base | None = None, outcome: ArmOutcome | None = None,
            judged: JudgedOutcome | None = None) -> None:
        """Record that a knowledge base is complete, an answer, or a verdict."""
        line = _Line(base=base, outcome=outcome, judged=judged)
        with self._lock:
            self._write(line)
            self._include(line)

    def _include(self, line: _Line) -> None:
        """Add the result on a line to the results in memory."""
        if line.base:
            self.bases[line.base.name] = line.base
        if line.outcome:
            self.outcomes[line.outcome.arm, line.outcome.id] = line.outcome
        if line.judged:
            self.verdicts[line.judged.judge, line.judged.arm, line.judged.id] = line.judged

    def _write(self, line: _Line) -> None:
        self._stream.write(line.model_dump_json(exclude_none=True).encode() + b"\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def close(self) -> None:
        """Close the file and release its lock."""
        self._stream.close()
        self._file_lock.release()

    def __enter__(self) -> "Results":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
