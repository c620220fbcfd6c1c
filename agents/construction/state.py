"""The construction graph's input, state and report."""

import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ...graph_store.evolution.control import Policy
from ...graph_store.knowledge_base import KnowledgeBase
from ...ingest.given import RecordedFormat
from ...runtime.budgets import Prices
from ..nodes import add_or_reset


@dataclass(kw_only=True)
class BuildContext:
    """The options of a build."""

    review: Annotated[bool, Field(description="have a person decide, by interrupts, what may join the schema")] = False
    evolve: Annotated[bool, Field(description="let the schema grow if documents ask for it")] = True
    retry_failed: Annotated[bool, Field(description="extract failed chunks again")] = False
    reread: Annotated[bool, Field(description="let the model extract again what was extracted in another way")] = False
    batch: Annotated[bool, Field(description="extract by the endpoint's batches, for half the price in a day")] = False
    resolve: Annotated[bool, Field(description="merge the several names of an entity into one node")] = True
    max_tokens: Annotated[int | None, Field(description="hard budget of this build, in tokens")] = None
    max_cost: Annotated[float | None, Field(description="the same in the price file's currency")] = None

    @property
    def policy(self) -> Policy:
        """The policy for schema growth."""
        if self.review:
            return "review"
        return "auto" if self.evolve else "off"


def new_run() -> str:
    """Return a name for a new run: the time, so names sort by it, and a random part."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}-{uuid.uuid4().hex[:12]}"


def first_reason(old: str, new: str) -> str:
    """Reduce a state field: keep the first reason why one of the parallel extractions stopped; "" resets the field."""
    return (old or new) if new else ""


class GivenDocument(TypedDict):
    """A document given as text."""

    id: Annotated[str, Field(description="the id in citations; a document of the same id is replaced")]
    title: NotRequired[Annotated[str, Field(description="its title; by default its first heading")]]
    text: Annotated[str, Field(description="all of it, as plain text or Markdown")]
    metadata: NotRequired[Annotated[dict[str, str], Field(description="author, date and any other field")]]
    tables: NotRequired[Annotated[list[dict[str, Any]], Field(description="of a stored text: its `Document.tables`")]]


class BuildInput(TypedDict, total=False):
    """The input of a build; without documents and paths it continues with what is stored."""

    knowledge_base: Annotated[str, Field(description="the knowledge base's name; created if there is none")]
    documents: Annotated[list[GivenDocument], Field(description="documents given as text")]
    paths: Annotated[list[str], Field(description=(
        "files and folders where the build runs; through a server only those below BANYAN_SERVER_DOCUMENTS"))]
    schema: Annotated[str, Field(description=(
        "`auto` (a model infers it from the documents; the default where a model is set), a seed schema's name (such "
        "as general, the default without a model), `open`, or a file; only for a knowledge base that has none yet"))]
    recorded: Annotated[RecordedFormat | None, Field(description="read `paths` as recorded triples in this format")]


class BuildReport(TypedDict):
    """The result of a build and the contents of the knowledge base afterwards."""

    kb: Annotated[str, Field(description="the knowledge base's name")]
    documents: Annotated[int, Field(description="documents it holds")]
    chunks: Annotated[int, Field(description="parts of them, of which facts are extracted one by one")]
    chunks_failed: Annotated[int, Field(description="chunks that failed: build again with retry_failed")]
    chunks_outdated: Annotated[int, Field(description=(
        "chunks that a model would extract in another way now: build again with reread; 0 without a model"))]
    documents_read: Annotated[int, Field(description="documents that were read now, unchanged ones too")]
    files_failed: Annotated[list[str], Field(description="files that could not be read, and why")]
    files_partly_read: Annotated[list[str], Field(description="documents of which a part was not read, and which part")]
    files_moved: Annotated[list[str], Field(description=(
        "documents whose file is gone and that another file now has, as \"OLD -> NEW\": delete the old ones"))]
    records_gone: NotRequired[Annotated[list[str], Field(description=(  # reports that a server has stored may lack it
        "documents that were deleted because their file, which was read, has their record or its text no more"))]]
    entities: Annotated[int, Field(description="entities of the graph")]
    triples: Annotated[int, Field(description="facts between entities")]
    attributes: Annotated[int, Field(description="values of entities' attributes")]
    communities: Annotated[int, Field(description="communities of the knowledge tree")]
    schema_version: Annotated[int, Field(description="number of the schema in force")]
    rejected: Annotated[dict[str, int], Field(description="extracted and not admitted, by reason")]
    tokens: Annotated[dict[str, int], Field(description="prompt and completion tokens and calls of this build")]
    cached_tokens: Annotated[int, Field(description="prompt tokens that the endpoint had cached")]
    wasted_tokens: Annotated[int, Field(description="tokens of answers that could not be used")]
    cost: Annotated[float | None, Field(description="in the price file's currency; none if a price is unknown")]
    stopped: Annotated[str, Field(description="why the build stopped before its end; empty: it did not")]
    seconds: Annotated[float, Field(description="how long it took")]


class BuildOutput(TypedDict):
    """The result of a build."""

    report: Annotated[BuildReport, Field(description="what was done, and what the knowledge base holds now")]


class BuildState(BuildInput, total=False):
    """The state between the nodes, each of which returns the part that it changes."""

    report: BuildReport
    run: str
    options: dict[str, Any]  # the fields of the `BuildContext` that it began with: a run that resumes it needs none
    started: float
    documents_read: int
    files_failed: list[str]
    files_partly_read: list[str]
    files_moved: list[str]
    records_gone: list[str]
    total: int  # the number of chunks that the build has to extract
    batch: list[str]  # chunks that are being extracted, or were extracted and await decisions
    candidates: list[dict[str, Any]]  # for the schema, that a person is asked about, as `Candidate` data
    undecided: bool  # True if the schema must still be reviewed before the build ends
    stopped: Annotated[str, first_reason]  # why the build stopped before its end, or ""
    unanswered: Annotated[list[str], add_or_reset]  # chunks that failed because the endpoint did


class ChunksInput(TypedDict):
    """The input of a parallel task: the chunks of a batch, to write, or of one or more calls, to extract."""

    knowledge_base: str
    run: str
    options: dict[str, Any]
    chunks: list[str]
    calls: list[list[str]]
    in_batches: bool  # True if the endpoint's batches answer the calls, which are all of the build's then
    is_last: bool  # True for a write while no chunks are extracted, so that the index is next


def build_options(state: BuildState | ChunksInput) -> BuildContext:
    """Return the options that a build began with."""
    return BuildContext(**state["options"])


def report_of(kb: KnowledgeBase, state: BuildState, outdated: int, stopped: str, prices: Prices) -> BuildReport:
    """Return the report of a build; `outdated` is the number of chunks that `reread` would extract again."""
    spent = kb.calls.total(state["run"])
    costs = [account.cost for account in kb.calls.spent("build", prices, state["run"])]  # one; none without calls
    return BuildReport(
        kb=kb.layout.name, documents=kb.documents.count_documents(), chunks=kb.documents.count(),
        chunks_failed=len(kb.documents.failures()), chunks_outdated=outdated,
        files_failed=state["files_failed"], files_partly_read=state["files_partly_read"],
        files_moved=state["files_moved"], records_gone=state["records_gone"], documents_read=state["documents_read"],
        entities=kb.graph.count_entities(), triples=kb.graph.count_triples(),
        attributes=kb.graph.count_attributes(), communities=kb.communities.count(),
        schema_version=kb.schemas.version(), rejected=kb.extractions.count_rejections(),
        tokens={"prompt": spent.prompt, "completion": spent.completion, "calls": spent.calls},
        cached_tokens=spent.cached, wasted_tokens=spent.wasted, cost=costs[0] if costs else 0.0,
        stopped=stopped, seconds=round(max(0.0, time.time() - state["started"]), 3))  # the clock may be set back
