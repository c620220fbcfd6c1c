"""What the construction graph is given, what passes between its nodes, and what it reports."""

import operator
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ...graph_store.evolution.control import Policy
from ...ingest.recorded import RecordedFormat


@dataclass(kw_only=True)
class BuildContext:
    """How a build is to be run."""

    review: bool = field(default=False, metadata={"description": "interrupt the build for a person's "
                                                   "decision on what may join the schema"})
    evolve: bool = field(default=True, metadata={"description": "let the schema grow where documents "
                                                   "ask for it; no: it stays as it is"})
    retry_failed: bool = field(default=False, metadata={"description": "extract failed chunks again"})
    resolve: bool = field(default=True, metadata={"description": "merge the several names of an entity into one node"})
    max_tokens: int | None = field(default=None, metadata={"description": "hard budget of this build, in tokens"})
    max_cost: float | None = field(default=None, metadata={"description": "the same in the price file's currency"})

    @property
    def policy(self) -> Policy:
        """Who lets the schema grow."""
        return "review" if self.review else "auto" if self.evolve else "off"


def new_run() -> str:
    """Return a name for a new run: the time, which makes names sort, and a random part."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}-{uuid.uuid4().hex[:12]}"


def first_reason(old: str, new: str) -> str:
    """Merge the reasons of parallel extractions that ran out of budget into one; "" starts a new run."""
    return (old or new) if new else ""


class GivenDocument(TypedDict):
    """A document given as text."""

    id: Annotated[str, Field(description="what citations name; a document of the same id is replaced")]
    title: NotRequired[Annotated[str, Field(description="its title; left out: its first heading")]]
    text: Annotated[str, Field(description="all of it, as plain text or Markdown")]
    metadata: NotRequired[Annotated[dict[str, str], Field(description="what it says of itself: author, date, any "
                                                                      "other field")]]


class BuildInput(TypedDict, total=False):
    """What a build is given; without documents and paths it goes on with what is stored."""

    knowledge_base: Annotated[str, Field(description="the knowledge base's name; created if there is none")]
    documents: Annotated[list[GivenDocument], Field(description="documents given as text")]
    paths: Annotated[list[str], Field(description=(
        "files and folders to read, on the machine where the build runs; through a server only those below "
        "BANYAN_SERVER_DOCUMENTS"))]
    schema: Annotated[str, Field(description=(
        "`auto` (a model infers it from the documents; the default where a model is set), a seed schema's name (such "
        "as general, the default without a model), `open`, or a file; only for a knowledge base that has none yet"))]
    recorded: Annotated[RecordedFormat | None, Field(description=(
        "read `paths` as recorded triples in this format, instead of asking the reasoner"))]


class BuildReport(TypedDict):
    """What a build did and what the knowledge base holds afterwards."""

    kb: Annotated[str, Field(description="the knowledge base's name")]
    documents: Annotated[int, Field(description="documents it holds")]
    chunks: Annotated[int, Field(description="parts of them, of which facts are extracted one by one")]
    chunks_failed: Annotated[int, Field(description="chunks that failed: build again with retry_failed")]
    files_failed: Annotated[list[str], Field(description="files that could not be read, and why")]
    entities: Annotated[int, Field(description="entities of the graph")]
    triples: Annotated[int, Field(description="facts between entities")]
    attributes: Annotated[int, Field(description="values of entities' attributes")]
    communities: Annotated[int, Field(description="communities of the knowledge tree")]
    schema_version: Annotated[int, Field(description="number of the schema in force")]
    rejected: Annotated[dict[str, int], Field(description="extracted and not admitted, by reason")]
    tokens: Annotated[dict[str, int], Field(description="prompt and completion tokens and calls of this build")]
    cached_tokens: Annotated[int, Field(description="prompt tokens that the endpoint had cached")]
    wasted_tokens: Annotated[int, Field(description="tokens of answers that could not be used")]
    cost: Annotated[float | None, Field(description="in the price file's currency; none: not all prices are known")]
    stopped: Annotated[str, Field(description="why the build stopped before its end; empty: it did not")]
    seconds: Annotated[float, Field(description="how long it took")]


class BuildOutput(TypedDict):
    """The result of a build."""

    report: Annotated[BuildReport, Field(description="what was done, and what the knowledge base holds now")]


class BuildState(BuildInput, BuildOutput, total=False):
    """What passes between the nodes."""

    run: str
    started: float
    files_failed: list[str]
    total: int
    """Chunks that the build has to do."""
    batch: list[str]
    """Chunks that are extracted, or were and have to be decided on."""
    extracted: list[str]
    """Chunks of the batch before, that are to be written."""
    candidates: list[dict[str, Any]]
    undecided: bool
    """Whether the schema has still to be looked at before the build ends."""
    stopped: Annotated[str, first_reason]
    """Why the build stopped before its end; empty while it has not."""
    unanswered: Annotated[list[str], operator.add]
    """Chunks that failed by a failure of the endpoint, not by one of their own."""


class ExtractInput(TypedDict):
    """What one extraction is sent."""

    knowledge_base: str
    run: str
    chunk: str


class WriteInput(TypedDict):
    """What is written while the next batch is extracted."""

    knowledge_base: str
    run: str
    chunks: list[str]
    last: bool
    """Whether nothing is extracted meanwhile."""
