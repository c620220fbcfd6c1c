"""The command line as a user runs it: a process of its own, in a folder of its own, with a bounded time."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import warm_start

PROJECT = Path(__file__).parent.parent
EXAMPLES = PROJECT / "examples"
SECONDS = 300  # the machine may be busy: a command takes 2 to 25 s on a quiet one


def clean_environment(**changes: str) -> dict[str, str]:
    return {**{name: value for name, value in os.environ.items() if not name.startswith("BANYAN_")},
            "COLUMNS": "200", "NO_COLOR": "1", **changes}


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    def refused(self, *words: str) -> "Result":
        """The command failed, and each of the words is in what it said."""
        assert self.code == 1, self
        assert [one for one in words if one not in self.err] == [], self.err
        return self

    @property
    def json(self) -> Any:
        """What `--json` printed: one object and nothing else."""
        assert self.code == 0, self.err
        return self.report

    @property
    def report(self) -> Any:
        """The same, whatever the exit code was."""
        assert self.out.count("\n") == 1, f"not one line: {self.out!r}; {self.err}"
        return json.loads(self.out)


@dataclass(frozen=True)
class CommandLine:
    """Runs `banyan` in `folder`, where its knowledge bases are, with further settings."""

    folder: Path
    settings: tuple[tuple[str, str], ...] = ()

    def __call__(self, *arguments: str | Path, stdin: str = "") -> Result:
        done = warm_start.run(
            [warm_start.BANYAN, *arguments], cwd=self.folder, stdin=stdin, timeout=SECONDS,
            env=clean_environment(BANYAN_HOME=str(self.folder / "home"), **dict(self.settings)))
        assert "Traceback" not in done.stderr, done.stderr
        return Result(done.returncode, done.stdout, done.stderr)


def check_citations(citations: list[dict[str, Any]], documents: Path) -> None:
    assert citations
    assert [c["id"] for c in citations] == list(range(1, len(citations) + 1))
    for citation in citations:
        assert set(citation) >= {"id", "document", "start", "end", "quote"}
        text = (documents / citation["document"]).read_text("utf-8")
        assert text[citation["start"]:citation["end"]] == citation["quote"] != ""
