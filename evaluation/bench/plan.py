"""The plan of a benchmark, and the progress of a run."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...schemas.retrieval import Mode
from ..datasets import DatasetError
from .arms import Arm
from .results import Base


@dataclass(frozen=True)
class Peer:
    """A peer: its name in the table, and the command that starts its program."""

    name: str
    command: tuple[str, ...]

    @property
    def about(self) -> str:
        """The peer's description in the table."""
        return f"peer: {Path(self.command[-1]).name}"


def peers_of(given: Sequence[str]) -> list[Peer]:
    """Parse peers from texts such as "lightrag=/envs/lightrag/bin/python benchmarks/peers/lightrag.py".

    Raises:
        DatasetError: a text has another form.
    """
    peers = []
    for text in given:
        name, _, command = text.partition("=")
        words = tuple(shlex.split(command))
        if not name.strip() or not words:
            raise DatasetError(f"--peer {text!r}: write NAME=PYTHON PROGRAM, as in "
                               "lightrag=/envs/lightrag/bin/python benchmarks/peers/lightrag.py")
        peers.append(Peer(name.strip(), words))
    return peers


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a benchmark is run.

    `judge`: the judge's model; None means that answers are not judged. `recorded`: see `building`. `answers`: whether
    questions are answered; otherwise passages are only ranked.
    """

    arms: Sequence[Arm]
    mode: Mode = "reject"
    schema: str = "general"
    judge: str | None = None
    recorded: Path | None = None
    max_tokens: int | None = None
    answers: bool = True
    peers: Sequence[Peer] = ()

    @property
    def rows(self) -> dict[str, str]:
        """The description of each arm and peer, by its name, in the table's order."""
        return {arm.name: arm.about for arm in self.arms} | {peer.name: peer.about for peer in self.peers}


@dataclass
class Progressed:
    """The progress of a run: the knowledge bases by schema, the failures, and why it stopped, if it did."""

    bases: dict[str, Base] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    stopped: str = ""
