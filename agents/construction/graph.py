"""The construction graph: documents in, knowledge base out.

    ingest -> [extract x n -> propose_schema_delta -> accept_or_reject -> write] per batch -> index

While a batch is written, the next one is extracted, and a thread embeds those before: the first waits for an endpoint,
the others keep the processor busy. What the reasoner is shown is fixed before: the schema as it was decided on after
the batch before.

The state carries ids and counts; texts and facts live in the ledger, where every step commits what it
has done, so that a run that ends anywhere is taken up by the next one. Read from top to bottom.
"""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from ...graph_store.knowledge_base import KnowledgeBase
from ...graph_store.layout import check_name
from ...ingest.examples import load_examples
from ...ingest.given import given_documents
from ...ingest.loaders import LoadFailure, load_documents
from ...ingest.recorded import RecordedPassage, load_recorded
from ...models.llm.breaker import EndpointDown, EndpointFailed
from ...models.reasoner import ReasonerError
from ...runtime.budgets import Budget, BudgetExceeded, charged
from ...schemas.delta import Candidate
from ...schemas.documents import Chunk, Document
from ...schemas.extraction import Extraction, ExtractionRequest
from ...schemas.formats.loading import load_schema
from ...schemas.graph_schema import GraphSchema, SchemaError
from ...schemas.prices import Prices
from ..cancelling import cancellable_node
from ..contexts import check_context
from ..resources import Resources, default_resources
from ..serving import check_readable, is_served
from .inputs import check_input, grouped, require_any
from .review import ask_person
from .state import BuildContext, BuildInput, BuildOutput, BuildReport, BuildState, ExtractInput, new_run

_Said = Extraction | ReasonerError | BudgetExceeded

DEFAULT_SCHEMA = "general"
_EXTRACTED_TOGETHER = 32
"""Chunks that one node extracts where that costs nothing: one after the other, stored in one commit. An asynchronous
run, a server's, has a thread for six nodes at most on two cores: with the one that writes they fit. Also the least that
batches begin and end with, where the settings allow as many: as many calls as an endpoint is usually sent at once."""
REVIEWED_AT_ONCE = 20
"""Candidates that a person is shown in one go."""


class _Nodes:
    """The nodes, over the resources of a process."""

    def __init__(self, resources: Resources | None) -> None:
        self._given = resources

    @property
    def _resources(self) -> Resources:
        return self._given or default_resources()

    def ingest(self, state: BuildState, runtime: Runtime[BuildContext]) -> dict[str, Any]:
        """Read documents into the ledger; unchanged ones cost nothing."""
        # Read before anything is made: a wrong name or path leaves no empty knowledge base behind.
        name, run = check_name(state.get("knowledge_base", "")), new_run()
        check_input(state)
        check_context(runtime.context or BuildContext())
        if is_served():
            check_readable([*(state.get("paths") or ()), *filter(None, [state.get("examples")])],
                           state.get("schema", ""), self._resources.settings.server_documents)
        self._resources.check_prices((runtime.context or BuildContext()).max_cost)
        wanted = self._wanted_schema(state.get("schema", ""), state.get("examples", ""))
        failures: list[LoadFailure] = []
        paths = [Path(path) for path in state.get("paths") or ()]
        recorded = state.get("recorded")
        documents: Iterator[Document] = iter(())
        records: Iterator[RecordedPassage] = iter(())
        limits = self._resources.limits
        given = given_documents(state.get("documents") or [], limits)
        if recorded is None:
            documents = require_any(load_documents(paths, on_failure=failures.append, limits=limits), paths, failures)
        else:
            records = require_any(load_recorded(paths, recorded, on_failure=failures.append, limits=limits), paths,
                                  failures)
        with self._resources.writer(name, run) as kb:
            _set_schema(kb, wanted)
            kb.schema_control.set_policy((runtime.context or BuildContext()).policy)
            resolve = (runtime.context or BuildContext()).resolve and self._resources.settings.resolve
            kb.entities.set_active(active=resolve)
            self._store_documents(kb, chain(given, documents))
            self._store_recorded(kb, records)
            if (runtime.context or BuildContext()).retry_failed:
                kb.documents.retry_failed()
            total = kb.documents.count("pending") + kb.documents.count("extracted")
            chosen = self._choose(kb, self._batch_size(0, total), [], [], runtime)
        # "undecided": a build that ended before it decided on what its last batch brought is taken up as well.
        return {"run": run, "started": time.time(), "batch": chosen["next_batch"], "next_batch": [],
                "ahead": chosen["ahead"], "total": total, "stopped": "",
                "undecided": True, "documents": [], "files_failed": [f"{f.path}: {f.reason}" for f in failures]}

    def _budget(self, state: BuildState | ExtractInput, runtime: Runtime[BuildContext]) -> Budget | None:
        context = runtime.context or BuildContext()
        return self._resources.budget(state["knowledge_base"], state["run"], context.max_tokens, context.max_cost)

    def _wanted_schema(self, schema: str, examples: str) -> GraphSchema | None:
        """The schema that the caller names, with what the caller's examples teach; None: neither is named."""
        if not (schema or examples):
            return None
        loaded = load_schema(schema or DEFAULT_SCHEMA)
        if not examples:
            return loaded
        from ...models.rules.learning.training import learn_schema  # noqa: PLC0415  (a second of imports for this alone)

        return learn_schema(loaded, load_examples(Path(examples), loaded), self._resources.embedder)

    def _store_documents(self, kb: KnowledgeBase, documents: Iterator[Document]) -> None:
        settings = self._resources.settings
        count = 0
        for some in grouped(documents):
            # Reading files may take long, and waits for no transaction.
            with kb.database.transaction():
                for document in some:
                    kb.put_document(document, settings.chunk_tokens, settings.chunk_overlap)
            count += len(some)
            _progress("read", count, None)

    def _store_recorded(self, kb: KnowledgeBase, records: Iterator[RecordedPassage]) -> None:
        with kb.database.transaction():
            for count, record in enumerate(records, 1):
                kb.documents.put(record.document, [record.chunk])
                if kb.extractions.get(record.chunk.id) != record.extraction:
                    kb.extractions.save(record.chunk.id, "recorded", record.extraction)
                _progress("read", count, None)

    def begin(self, state: BuildState) -> list[Send] | str:
        """The extractions of the first batch; if there is none, the schema has still to be looked at."""
        return self._extractions(state, state["batch"]) or "propose_schema_delta"

    def write_and_extract(self, state: BuildState) -> list[Send | str]:
        """What was extracted is written, and beside it the next batch is extracted."""
        return ["write", *self._extractions(state, state["next_batch"])]

    def go_on(self, state: BuildState) -> Literal["propose_schema_delta", "index"]:
        """To the batch that was extracted beside; when no chunk is left, to the schema's growth, then to the end."""
        done = state["stopped"] or not (state["batch"] or state["undecided"])
        return "index" if done else "propose_schema_delta"

    def _extractions(self, state: BuildState, chunks: list[str]) -> list[Send]:
        free = self._resources.reasoner(state["knowledge_base"]).free
        size = _EXTRACTED_TOGETHER if free else max(1, len(chunks))
        return [Send("extract", ExtractInput(knowledge_base=state["knowledge_base"], run=state["run"],
                                             chunks=chunks[start:start + size], ahead=state["ahead"]))
                for start in range(0, len(chunks), size)]

    def extract(self, state: ExtractInput, runtime: Runtime[BuildContext]) -> dict[str, Any]:
        """Ask the reasoner for some chunks' extractions; what was extracted before is not asked again.

        What is said is stored in one commit, but where it was paid for: that is stored as it comes.
        """
        with self._resources.writer(state["knowledge_base"], state["run"]) as kb:
            reasoner, budget = self._resources.reasoner(state["knowledge_base"]), self._budget(state, runtime)
            schema = kb.schemas.base()

            def ask(chunk: Chunk) -> _Said:
                request = ExtractionRequest(text=chunk.text, title=chunk.title, heading=chunk.heading)
                said: _Said
                try:
                    with charged(build=state["run"], document=chunk.document_id, budget=budget):
                        said = reasoner.extract(request, schema)
                except (BudgetExceeded, ReasonerError) as error:
                    said = error
                if not reasoner.free:
                    _store(kb, reasoner.fingerprint, [(chunk.id, said)])
                return said

            wanted = [chunk for chunk in kb.documents.chunks([*state["chunks"], *state["ahead"]])
                      if kb.documents.status(chunk.id) != "extracted" or kb.extractions.get(chunk.id) is None]
            if reasoner.free:
                said = [(chunk.id, ask(chunk)) for chunk in wanted]
                _store(kb, reasoner.fingerprint, said)
            else:
                asked = self._resources.asked_ahead(state["run"])
                for chunk in wanted:
                    asked.begin(chunk.id, partial(ask, chunk))
                said = asked.answers(state["chunks"])
        stopped = next((str(one) for _, one in said if isinstance(one, BudgetExceeded | EndpointDown)), "")
        return {"stopped": stopped, "extracted": 0 if stopped else len(state["chunks"]),
                "unanswered": _unanswered(said)}

    def propose_schema_delta(self, state: BuildState, runtime: Runtime[BuildContext]) -> dict[str, Any]:
        """Collect what did not fit the schema, in this batch and before; a person is shown the strongest of it."""
        policy = (runtime.context or BuildContext()).policy
        with self._resources.writer(state["knowledge_base"], state["run"]) as kb:
            _progress("extract", state["extracted"], state["total"])
            # Before the schema is decided on: what the old content asked for counts no more.
            kb.put_revisions_in_service()
            last = not set(kb.documents.next_batch(len(state["batch"]) + 1)) - set(state["batch"])
            found: list[Candidate] = []
            if last or policy == "review":
                kb.schema_control.note(kb.documents.in_service(state["batch"]))
            if policy == "review":
                found = kb.schema_control.waiting(self._resources.settings.schema_support, REVIEWED_AT_ONCE)
            return {"undecided": not last, "candidates": [candidate.model_dump(mode="json") for candidate in found]}

    def accept_or_reject(self, state: BuildState, runtime: Runtime[BuildContext]) -> dict[str, Any]:
        """Decide on the candidates: by the thresholds, or by a person (the interrupt's resume value).

        A person is asked after each batch. The thresholds are applied once all chunks were read:
        decided batch by batch, the schema would depend on how the chunks fell into batches.
        """
        policy = (runtime.context or BuildContext()).policy
        candidates = [Candidate(**data) for data in state["candidates"]]
        with self._resources.writer(state["knowledge_base"], state["run"]) as kb:
            if policy == "review" and candidates:
                # Leaving the block by the interrupt's exception ends the run's hold on the lock.
                support = self._resources.settings.schema_support
                ask_person(state["knowledge_base"], candidates, lambda said, who: kb.decide(said, who, support))
            elif policy == "auto" and not state["undecided"]:
                kb.grow_schema(self._resources.thresholds)
            chosen: dict[str, Any] = {"next_batch": []}
            if not state["stopped"]:
                size = self._batch_size(state["extracted"], state["total"] - state["extracted"])
                chosen = self._choose(kb, size, state["batch"], state["ahead"], runtime)
        return {"candidates": [], **chosen}

    def _batch_size(self, extracted: int, left: int) -> int:
        """Chunks of a batch, with so many extracted before it and so many left.

        The first ones are small, each as large as those before it together: until something is extracted there is
        nothing to write, and until it is written nothing to embed. So are the last: little is then left to do after the
        last answer.
        """
        return min(self._resources.settings.batch_chunks, max(_EXTRACTED_TOGETHER, min(extracted, left // 3)))

    def _choose(self, kb: KnowledgeBase, size: int, begun: Sequence[str], before: Sequence[str],
                runtime: Runtime[BuildContext]) -> dict[str, Any]:
        """The next batch to extract, which begins with what was asked ahead, and some chunks after it."""
        settings = self._resources.settings
        batch = [*before, *kb.documents.next_batch(max(0, size - len(before)), after=[*begun, *before])]
        ahead: list[str] = []
        # What a person decides changes what is asked after it.
        if not ((runtime.context or BuildContext()).review or self._resources.reasoner(kb.layout.name).free):
            ahead = kb.documents.next_batch(min(size, settings.llm_concurrency), after=[*begun, *batch])
        return {"next_batch": batch, "ahead": ahead}

    def write(self, state: BuildState) -> dict[str, Any]:
        """Make what was admitted part of the knowledge base, in one transaction."""
        with self._resources.writer(state["knowledge_base"], state["run"]) as kb:
            kb.write_chunks(state["batch"])
            if state["next_batch"] or self._resources.reasoner(state["knowledge_base"]).resolves:
                # The last one's are else made by `index`, when it is known what stays; a reasoner is asked with them.
                kb.sync_vectors()
            _progress("write", kb.documents.count("done"), kb.documents.count())
        return {"batch": state["next_batch"]}

    def index(self, state: BuildState, runtime: Runtime[BuildContext]) -> dict[str, Any]:
        """Find and describe the communities, save the graph, and report."""
        name, stopped = state["knowledge_base"], state["stopped"]
        with self._resources.writer(name, state["run"]) as kb:
            _progress("index", 0, None)
            if stopped:
                # The endpoint's failures, not theirs: whoever goes on with the build asks for them again.
                under_way = self._resources.asked_ahead(state["run"]).end()
                kb.documents.retry_failed([*state["unanswered"], *_unanswered(under_way)])
                kb.sync_vectors()
            else:
                with charged(build=state["run"], budget=self._budget(state, runtime)):
                    stopped = self._resolve_and_group(name, kb)
            kb.save_graph()
            if not stopped:
                kb.settle()
            report = _report(kb, state, stopped, self._resources.prices)
        self._resources.finish(name, state["run"])
        return {"report": report}

    def _resolve_and_group(self, name: str, kb: KnowledgeBase) -> str:
        """Find the entities that are one thing, then the communities of what is left; returns why it stopped, or ""."""
        doing, asks = "not all doubtful entities were compared", self._resources.reasoner(name).resolves
        try:
            # A reasoner is asked about names that mean much the same, so their vectors are needed first. Else names
            # that go are never embedded.
            if not asks:
                self._resources.resolve_entities(kb)
            kb.sync_vectors()
            if kb.tree_behind():
                kb.measure_reliability()
            if asks:
                self._resources.resolve_entities(kb)
            doing = "not all communities were described"
            if kb.tree_behind() or kb.communities.undescribed():
                kb.update_tree(self._resources.reasoner(name).summarise)
        except (BudgetExceeded, ReasonerError) as error:
            return f"{doing}: {error}"
        return ""


def _store(kb: KnowledgeBase, reasoner: str, said: Sequence[tuple[str, _Said]]) -> None:
    """Store what was said of some chunks, and which failed; those that nobody was asked about stay as they are."""
    # Without waiting for the disk: what was paid for is in the ledger already, as the call's answer, and found there.
    with kb.database.unsynced_transaction():
        for chunk_id, one in said:
            if isinstance(one, Extraction):
                kb.extractions.save(chunk_id, reasoner, one)
            elif not isinstance(one, BudgetExceeded | EndpointDown):
                kb.extractions.fail(chunk_id, str(one))


def _unanswered(said: Sequence[tuple[str, _Said]]) -> list[str]:
    """The chunks that failed by a failure of the endpoint."""
    return [chunk_id for chunk_id, one in said if isinstance(one, EndpointFailed)]


def _set_schema(kb: KnowledgeBase, wanted: GraphSchema | None) -> None:
    if kb.schemas.version() == 0:
        kb.schemas.append(wanted or load_schema(DEFAULT_SCHEMA), (), "seed")
    elif wanted is not None and wanted != kb.schemas.seed():
        raise SchemaError(f"{kb.layout.name!r} was begun with the schema {kb.schemas.seed().name!r}; leave --schema "
                         "out to go on with it, or build another knowledge base")


def _progress(step: Literal["read", "extract", "write", "index"], done: int, total: int | None) -> None:
    get_stream_writer()({"step": step, "done": done, "total": total})


def _report(kb: KnowledgeBase, state: BuildState, stopped: str, prices: Prices) -> BuildReport:
    spent = kb.calls.total(state["run"])
    costs = [one.cost for one in kb.calls.spent("build", prices, state["run"])]
    return BuildReport(
        kb=kb.layout.name, documents=kb.documents.count_documents(), chunks=kb.documents.count(),
        chunks_failed=kb.documents.count("failed"), files_failed=state["files_failed"],
        entities=kb.graph.network.number_of_nodes(), triples=kb.graph.network.number_of_edges(),
        attributes=kb.graph.count_attributes(), communities=kb.communities.count(),
        schema_version=kb.schemas.version(), rejected=kb.extractions.rejected(),
        tokens={"prompt": spent.prompt, "completion": spent.completion, "calls": spent.calls},
        cached_tokens=spent.cached, wasted_tokens=spent.wasted, cost=costs[0] if costs else 0.0,
        stopped=stopped, seconds=round(time.time() - state["started"], 3))


def build_graph(resources: Resources | None = None, checkpointer: BaseCheckpointSaver[str] | None = None,
                ) -> CompiledStateGraph[BuildState, BuildContext, BuildInput, BuildOutput]:
    """The construction graph.

    Args:
        resources: models and open knowledge bases; none: those of this process's environment.
        checkpointer: needed for `review`, unless the graph runs in a server that brings its own.
    """
    nodes = _Nodes(resources)
    graph = StateGraph(BuildState, context_schema=BuildContext, input_schema=BuildInput, output_schema=BuildOutput)
    graph.add_node("ingest", cancellable_node(nodes.ingest))
    graph.add_node("extract", cancellable_node(nodes.extract), input_schema=ExtractInput)
    graph.add_node("propose_schema_delta", cancellable_node(nodes.propose_schema_delta))
    graph.add_node("accept_or_reject", cancellable_node(nodes.accept_or_reject))
    graph.add_node("write", cancellable_node(nodes.write))
    graph.add_node("index", cancellable_node(nodes.index))
    graph.add_edge(START, "ingest")
    graph.add_conditional_edges("ingest", nodes.begin, ["extract", "propose_schema_delta"])
    graph.add_edge("extract", "propose_schema_delta")
    graph.add_edge("propose_schema_delta", "accept_or_reject")
    graph.add_conditional_edges("accept_or_reject", nodes.write_and_extract, ["write", "extract"])
    graph.add_conditional_edges("write", nodes.go_on, ["propose_schema_delta", "index"])
    graph.add_edge("index", END)
    compiled = graph.compile(checkpointer=checkpointer, name="construction")
    # Two rounds of LangGraph's limit would end a build after a few hundred chunks; a build ends by itself.
    return compiled.with_config(recursion_limit=10_000_000)


graph = build_graph()
