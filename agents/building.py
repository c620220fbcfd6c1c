"""What the construction graph is given, what passes between its nodes, and what it reports."""

import operator
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any

from typing_extensions import TypedDict

from ..graph_store.schema_control import Policy
from ..ingest.recorded import RecordedFormat


@dataclass(kw_only=True)
class BuildContext:
    """How a build is to be run."""

    review: bool = field(default=False, metadata={"description": "ask a person about schema candidates"})
    evolve: bool = field(default=True, metadata={"description": "let the schema grow; no: it stays as it is"})
    retry_failed: bool = field(default=False, metadata={"description": "extract failed chunks again"})
    resolve: bool = field(default=True, metadata={"description": "make one node of a thing's several names"})
    max_tokens: int | None = field(default=None, metadata={"description": "hard budget of this build, in tokens"})
    max_cost: float | None = field(default=None, metadata={"description": "the same in the price file's currency"})

    @property
    def policy(self) -> Policy:
        """Who lets the schema grow."""
        return "review" if self.review else "auto" if self.evolve else "off"


def new_run() -> str:
    """What a new run is called: when it began, so that names sort, and something that no other has."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}-{uuid.uuid4().hex[:12]}"


def first_reason(old: str, new: str) -> str:
    """Parallel extractions may all run out of budget: one reason is kept; "" begins a new run."""
    return (old or new) if new else ""


class BuildInput(TypedDict, total=False):
    """What a build is given."""

    knowledge_base: str
    """Its name; made if there is none."""
    paths: list[str]
    """Files and folders to read; none: go on with what is stored."""
    schema: str
    """Seed schema, `open`, or a file; only for a knowledge base that has none yet."""
    examples: str
    """File with sentences and their triples, from which the rules learn the schema; as for `schema`."""
    recorded: RecordedFormat | None
    """Read `paths` as recorded triples in this format, instead of asking the reasoner."""


class BuildReport(TypedDict):
    """What a build did and what the knowledge base holds afterwards."""

    kb: str
    documents: int
    chunks: int
    chunks_failed: int
    files_failed: list[str]
    entities: int
    triples: int
    attributes: int
    communities: int
    schema_version: int
    rejected: dict[str, int]
    tokens: dict[str, int]
    cached_tokens: int
    wasted_tokens: int
    cost: float | None
    """In the price file's currency; None: not all prices are known."""
    stopped: str
    seconds: float


class BuildOutput(TypedDict):
    """The result of a build."""

    report: BuildReport


class BuildState(BuildInput, BuildOutput, total=False):
    """What passes between the nodes."""

    run: str
    started: float
    files_failed: list[str]
    total: int
    batch: list[str]
    candidates: list[dict[str, Any]]
    undecided: bool
    """Whether the schema has still to be looked at before the build ends."""
    stopped: Annotated[str, first_reason]
    """Why the build stopped before its end; empty while it has not."""
    extracted: Annotated[int, operator.add]
    unanswered: Annotated[list[str], operator.add]
    """Chunks that failed by a failure of the endpoint, not by one of their own."""


class ExtractInput(TypedDict):
    """What one extraction is sent."""

    knowledge_base: str
    run: str
    chunks: list[str]
