"""The steps of a build, in their order; `graph` says how they follow each other."""

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

from langgraph.types import Command, Send

from ...graph_store.derive import derive, refresh_graph_and_vectors, support_in, thresholds_in
from ...graph_store.knowledge_base import KnowledgeBase
from ...graph_store.layout import check_name
from ...graph_store.ledger.notes import BATCHES, BUILD, OPEN_BATCHES, UNREAD_COUNT, UNREAD_FILES, Calls, keep_chunks
from ...graph_store.store_errors import UnknownKnowledgeBaseError
from ...ingest.chunking import chunk_document
from ...ingest.given import RecordedPassage, given_documents, load_recorded
from ...models.reasoner import ReasonerError
from ...runtime import audit
from ...runtime.budgets import BudgetExceeded, charge_calls
from ...schemas.delta import Candidate, Decision
from ...schemas.documents import Document
from ...schemas.formats.schema_loading import load_schema
from ...schemas.graph_schema import GraphSchema, SchemaError
from ...text.scripts import estimate_tokens
from ...text.section_lines import UNREAD
from ..estimate import MOST_CHUNKS, find_outdated_readings, pack_calls, reading_fingerprint
from ..nodes import check_context, check_readable, is_seen_by_client, is_served, resumed_run, served_client
from ..schema_proposal import REVIEWED_AT_ONCE, ask_person, fit_schema, group_labels
from . import inputs
from .extraction_nodes import BuildNodes, write_numbered_rows
from .state import BuildContext, BuildState, ChunksInput, build_options, new_run, report_of

_DOCUMENTS_AT_ONCE = 16  # between two commits: a commit after each document would rewrite the same pages
_MOST_NAMED = 100  # the most deleted documents that the report and the audit log name one by one


class ConstructionNodes(BuildNodes):
    """The nodes of a build that do not extract."""

    def abandon(self, state: BuildState) -> None:
        """End a run after one of its steps failed or was cancelled, so other runs may write."""
        if "run" in state:
            self._resources.writers.end(state["knowledge_base"], state["run"])

    def check(self, state: BuildState, context: BuildContext) -> BuildState:
        """Validate the input and the options, before anything is created or paid for; return the first state."""
        name = check_name(state.get("knowledge_base", ""))
        settings, limits = self._resources.settings, self._resources.limits
        inputs.check_input(state)
        check_context(context)
        schema, paths = state.get("schema", ""), state.get("paths") or []
        if not is_seen_by_client(name):
            raise UnknownKnowledgeBaseError(name, settings.home)
        if is_served():
            check_readable(paths, schema, settings.server_documents)
        lacks_batches = context.batch and not settings.for_step("extract").speaks_openai
        inputs.check_model(reread=context.reread, uses_llm=settings.uses_llm, lacks_batches=lacks_batches)
        self._resources.spending.check_prices(context.max_cost)
        inputs.named_sources(paths)  # called for its errors alone, as the next two are; `ingest` reads them again
        inputs.named_schema(schema)
        given_documents(state.get("documents") or [], limits)
        # "undecided" is True at first: an earlier build that ended early may have left schema candidates undecided.
        return {"knowledge_base": name, "run": resumed_run() or new_run(), "started": time.time(), "batch": [],
                "stopped": "", "unanswered": [], "undecided": True, "options": asdict(context)}

    def ingest(self, state: BuildState) -> BuildState:
        """Read the documents of the input, and store them with their chunks; unchanged documents cost nothing."""
        context, settings = build_options(state), self._resources.settings
        paths = inputs.named_sources(state.get("paths") or ())
        notes = inputs.ReadingNotes(self._resources.limits.failures)
        documents, records = self._open_sources(state, paths, notes)
        with self._step(state, create=True) as kb:
            self._resources.writers.exclude_builds(kb, state["run"])
            _set_schema(kb, inputs.named_schema(state.get("schema", "")))
            self._audit("build", kb, f"run {state['run']}")
            kb.schema_control.set_policy(context.policy)
            kb.entities.set_active(active=context.resolve and settings.resolve)
            self._store_documents(kb, documents, notes)
            _store_recorded(kb, records, notes)
            gone = self._delete_gone(kb, notes)
            kb.choose_embedding()  # by the language of the documents, which are all stored now
            if context.retry_failed:
                kb.documents.retry_failed()
            total = kb.documents.count_status("pending", "extracted") + self._count_outdated(kb, state)
            if paths:  # a build that only resumes leaves the list as it is
                kb.database.note(BUILD, **{UNREAD_FILES: notes.failure_lines(paths),
                                           UNREAD_COUNT: notes.count_unread_files()})
        # "documents" is emptied because their texts are stored now, so no checkpoint needs them.
        return {"total": total, "documents": [], "files_failed": notes.failure_lines(),
                "files_partly_read": notes.partly_read_lines(), "files_moved": notes.moved, "records_gone": gone,
                "documents_read": notes.documents}

    def _open_sources(self, state: BuildState, paths: Sequence[Path], notes: inputs.ReadingNotes,
                      ) -> tuple[Iterator[Document], Iterator[RecordedPassage]]:
        """Return iterators over documents and over recorded passages; one item is read at once, to check the input."""
        resources, recorded = self._resources, state.get("recorded")
        given_texts = given_documents(state.get("documents") or [], resources.limits)
        if recorded is None:
            read = resources.read(paths, notes.add_failure, lambda file: notes.add_documents(0, file))
            return inputs.join_documents(given_texts, inputs.require_any(read, paths, notes), notes), iter(())
        records = load_recorded(paths, recorded, on_failure=notes.add_failure, limits=resources.limits)
        return iter(given_texts), inputs.require_any(records, paths, notes)

    def _store_documents(self, kb: KnowledgeBase, documents: Iterator[Document], notes: inputs.ReadingNotes) -> None:
        """Cut documents into chunks and store both; leave out those that would replace the document of another file."""
        settings = self._resources.settings
        accepted = inputs.accept_documents(kb.documents, documents, settings.home, notes)
        while group := list(islice(accepted, _DOCUMENTS_AT_ONCE)):
            chunked = [(document, chunk_document(document, max_tokens=settings.chunk_tokens,
                                                 overlap_tokens=settings.chunk_overlap)) for document in group]
            with kb.database.transaction():  # files are read between the transactions, because reading may take long
                for document, chunks in chunked:
                    kb.documents.put(document, chunks)
                    if UNREAD in document.metadata:
                        notes.partly_read[document.id] = document.metadata[UNREAD]
            for document in group:
                kb.printed.keep(document)  # a copy of its PDF file, which the page shows
            notes.add_documents(len(group))

    def _delete_gone(self, kb: KnowledgeBase, notes: inputs.ReadingNotes) -> list[str]:
        """Delete the documents that their files do not give any more; return the ids of the first ones, as lines."""
        gone = inputs.find_gone(kb.documents, notes)
        named = gone[:_MOST_NAMED]
        if gone:
            self._audit("delete", kb, f"{len(gone)} records that left their files: {', '.join(named)}")
            kb.documents.delete(*gone)
        more = len(gone) - len(named)
        return [*named, f"and {more:,} more"] if more else named

    def _count_outdated(self, kb: KnowledgeBase, state: BuildState) -> int:
        return len(kb.documents.to_reread(self._outdated(kb, state)))

    def _outdated(self, kb: KnowledgeBase, state: BuildState) -> list[str]:
        """Return the fingerprints of the extractions that the build makes again; none without the option `reread`."""
        return find_outdated_readings(self._resources, kb) if build_options(state).reread else []

    def _audit(self, action: audit.Action, kb: KnowledgeBase, what: str) -> None:
        """Record an action in the audit log, as that of the client who started the run."""
        with audit.acting(served_client()):
            audit.record(self._resources.settings.home, action, kb.layout.name, what)

    def _charge_to_run(self, state: BuildState | ChunksInput) -> AbstractContextManager[None]:
        """Return a context whose calls are charged to a state's run, within its budget."""
        return charge_calls(build=state["run"], budget=self._budget(state))

    def fit_schema(self, state: BuildState) -> Command[Literal["extract", "propose_schema_delta", "index"]]:
        """Give a base without a schema its first one, by a model or the default seed, and begin the first batch."""
        with self._step(state) as kb:
            has_schema = kb.schemas.version() or state.get("recorded")  # recorded triples have labels of their own
            writer = None if has_schema else self._resources.schema_writer(state["knowledge_base"])
            try:
                if writer:
                    with self._charge_to_run(state):
                        fit_schema(kb, writer)
            except (BudgetExceeded, ReasonerError) as error:
                stopped = (f"no schema was inferred: {error}. Run the command again to resume, or name a schema with "
                           f"--schema {inputs.DEFAULT_SCHEMA}")
                return Command(update={"stopped": stopped}, goto="index")
            if not kb.schemas.version():
                kb.schemas.append(load_schema(inputs.DEFAULT_SCHEMA), (), "seed")
            write_numbered_rows(kb, reading_fingerprint(self._resources, kb))
            return self._next_batch(kb, state)

    def _next_batch(self, kb: KnowledgeBase, state: BuildState) -> Command[Any]:
        """Extract the next batch, one task for each call, and write the previous one at the same time."""
        # What an earlier build has submitted is fetched, or cancelled, even without `batch`: it is paid for.
        has_open_batches = bool(kb.database.notes(BUILD).get(OPEN_BATCHES))
        in_batches = build_options(state).batch or (
            has_open_batches and self._resources.settings.for_step("extract").speaks_openai)
        calls = [] if state["stopped"] else self._choose_calls(kb, state, in_batches=in_batches)
        shared = {"knowledge_base": state["knowledge_base"], "run": state["run"], "options": state["options"],
                  "in_batches": in_batches, "is_last": not calls}
        # One task submits all calls of a build with the endpoint's batches; otherwise each call has a task of its own.
        tasks = [calls] if in_batches and calls else [[call] for call in calls]
        sends = [Send("extract", {**shared, "calls": task}) for task in tasks]
        # `write` is sent last: its transaction keeps extractions from reading the ledger, and if it began first, the
        # endpoint would be idle meanwhile. Without chunks it only leads to `index`, once all candidates are decided on.
        if state["batch"] or not state["undecided"]:
            sends.append(Send("write", {**shared, "chunks": state["batch"]}))
        # If nothing is left to extract or write, candidates of an earlier build may still be undecided.
        return Command(update={"batch": list(chain.from_iterable(calls)), "candidates": []},
                       goto=sends or "propose_schema_delta")

    def _choose_calls(self, kb: KnowledgeBase, state: BuildState, *, in_batches: bool) -> Calls:
        """Note and return the next calls, as ids of chunks; those that an interrupted build noted come first."""
        outdated, current_chunks = self._outdated(kb, state), set(state["batch"])
        noted: list[Calls] = kb.database.notes(BUILD).get(BATCHES, [])  # in their order
        # The state's batch is being extracted or written. Those in front of it are written.
        numbers = [number for number, calls in enumerate(noted, 1)
                   if not current_chunks.isdisjoint(chain.from_iterable(calls))]
        current = max(numbers, default=0)  # 0: the state has no batch yet, so all noted ones wait
        in_work, waiting = noted[max(0, current - 1):current], noted[current:]
        if waiting:  # some of their chunks may have been extracted or deleted since
            due = frozenset(kb.documents.next_batch(None, state["batch"], outdated))
            waiting = [calls for calls in (keep_chunks(batch, due) for batch in waiting) if calls]
        if not waiting:
            calls = self._group_next_chunks(kb, state["batch"], outdated, in_batches=in_batches)
            waiting = [calls] if calls else []
        # Once none waits, a build that is interrupted groups what is left anew, so nothing has to be noted.
        kb.database.note(BUILD, **{BATCHES: [*in_work, *waiting] if waiting else []})
        return waiting[0] if waiting else []

    def _group_next_chunks(self, kb: KnowledgeBase, before: Sequence[str], outdated: Sequence[str], *, in_batches: bool,
                           ) -> Calls:
        """Group the chunks to extract after those of the batch `before` by call: a batch, or all if `in_batches`."""
        settings = self._resources.settings
        chunks_share_calls = settings.uses_llm and settings.extract_tokens
        most_calls = most_chunks = None if in_batches else settings.batch_size
        # Unless the settings say how many chunks a batch has, there are enough for `batch_size` full calls.
        if most_chunks and chunks_share_calls and settings.batch_chunks is None:
            most_chunks *= MOST_CHUNKS
        chunks = kb.documents.chunks(kb.documents.next_batch(most_chunks, before, outdated))
        if chunks_share_calls:
            sizes = [(chunk.id, estimate_tokens(chunk.text)) for chunk in chunks]
            return pack_calls(sizes, settings.extract_tokens)[:most_calls]
        chunks_per_call = 1 if settings.uses_llm else MOST_CHUNKS
        return [[chunk.id for chunk in chunks[start:start + chunks_per_call]]
                for start in range(0, len(chunks), chunks_per_call)]

    def propose_schema_delta(self, state: BuildState) -> BuildState:
        """Collect the labels that do not fit the schema, of this batch and earlier ones, as candidates to join it.

        They are collected after the last batch, after each batch if a person reviews, and when `_is_decided_now` says
        so; only then a model groups those that mean the same.
        """
        policy, stopped = build_options(state).policy, state["stopped"]
        self._resources.writers.give_turn(state["knowledge_base"], state["run"])
        with self._step(state) as kb:
            chunks_left = kb.documents.count_status("pending") + self._count_outdated(kb, state)
            inputs.show_progress("extract", state["total"] - chunks_left, state["total"])
            # This comes first, so that labels of a document's old content no longer count.
            kb.schema_control.put_revisions_in_service()
            is_last = not kb.documents.next_batch(1, after=state["batch"], reread=self._outdated(kb, state))
            support = support_in(kb, self._resources.settings)
            if is_last or policy == "review" or self._is_decided_now(kb, state):
                kb.schema_control.record_asks(kb.documents.in_service(state["batch"]))
                writer = self._resources.schema_writer(state["knowledge_base"])
                # A build from recorded triples asks no model.
                if writer and policy != "off" and not state.get("recorded") and not stopped:
                    try:
                        with self._charge_to_run(state):
                            group_labels(kb, writer, support)
                    except (BudgetExceeded, ReasonerError) as error:
                        stopped = f"new labels were not compared: {error}"
            candidates = kb.schema_control.list_candidates(support, REVIEWED_AT_ONCE) if policy == "review" else []
            return {"undecided": not is_last, "stopped": stopped,
                    "candidates": [candidate.model_dump(mode="json") for candidate in candidates]}

    def _is_decided_now(self, kb: KnowledgeBase, state: BuildState) -> bool:
        """Return True after 0, 1, 2, 4, 8 ... batches of a model, which sees what joined the schema in the next one."""
        if not self._resources.settings.uses_llm or state.get("recorded"):
            return False
        chunks_read = kb.documents.count_status("done") - self._count_outdated(kb, state)
        batches = chunks_read // self._resources.settings.batch_size
        return batches & (batches - 1) == 0  # a power of two shares no bit with the number before it

    def accept_or_reject(self, state: BuildState) -> Command[Literal["write", "extract"]]:
        """Decide which candidates join the schema, by the thresholds or by a person, and go on with the next batch.

        The thresholds judge all candidates of all documents read. A person is asked after each batch: the interrupt
        ends this node and frees the writer's lock, and the answer runs it again. A stopped build decides nothing.
        """
        policy = "off" if state["stopped"] else build_options(state).policy
        candidates = [Candidate(**data) for data in state["candidates"]]
        with self._step(state) as kb:
            if policy == "review" and candidates:
                # The interrupt is an exception; it leaves this block, and that frees the lock.
                support = support_in(kb, self._resources.settings)

                def decide(decisions: list[Decision], who: str) -> None:
                    kb.schema_control.decide(decisions, who, support)
                    self._audit("decide", kb, f"{len(decisions)} on the schema, run {state['run']}")

                ask_person(state["knowledge_base"], candidates, decide, who=served_client())
            elif policy == "auto" and (not state["undecided"] or self._is_decided_now(kb, state)):
                kb.schema_control.grow(thresholds_in(kb, self._resources.settings))
            return self._next_batch(kb, state)

    def write(self, state: ChunksInput) -> Command[Literal["index"]]:
        """Check the extractions of a batch against the schema, write what fits in one transaction, and embed it."""
        with self._charge_to_run(state), self._step(state) as kb:
            chunks = kb.documents.in_service(state["chunks"])  # some may have been deleted between the batches
            kb.schema_control.write(chunks)
            kb.vector_synchroniser.embed(chunks)
            inputs.show_progress("write", kb.documents.count_status("done"), kb.documents.count())
        return Command(goto="index" if state["is_last"] else ())

    def index(self, state: BuildState) -> BuildState:
        """Derive the rest from the stored rows, after an early stop only graph and vectors; return the report."""
        stopped = state["stopped"]
        with self._step(state) as kb:
            inputs.show_progress("index", 0, None)
            if stopped:
                # These chunks failed because the endpoint did, so the next build extracts them again.
                kb.documents.retry_failed(state["unanswered"])
                refresh_graph_and_vectors(kb)
                kb.save_graph()
            else:
                with self._charge_to_run(state):
                    stopped = self._derive(kb)
            outdated = kb.documents.to_reread(find_outdated_readings(self._resources, kb))
            report = report_of(kb, state, len(outdated), stopped, self._resources.spending.prices)
        self._resources.writers.finish(state["knowledge_base"], state["run"])
        return {"report": report}

    def _derive(self, kb: KnowledgeBase) -> str:
        """Compute the derived state; return why that stopped before its end, or ""."""
        reasoner = self._resources.reasoner(kb.layout.name)
        try:
            derive(kb, reasoner)
        except (BudgetExceeded, ReasonerError) as error:
            # `derive` compares entities before it describes communities, so this tells where it stopped.
            is_resolving = reasoner.resolves and kb.resolution.is_behind(reasoner.fingerprint)
            unfinished = "doubtful entities were compared" if is_resolving else "communities were described"
            return f"not all {unfinished}: {error}"
        return ""


def _set_schema(kb: KnowledgeBase, requested: GraphSchema | None) -> None:
    """Put the requested schema in force; SchemaError: the knowledge base was built with another one, its version 1."""
    if requested is not None and not kb.schemas.version():
        kb.schemas.append(requested, (), "seed")
    elif requested is not None and requested != kb.schemas.get(1):
        raise SchemaError(f"{kb.layout.name!r} was built with the schema {kb.schemas.get(1).name!r}; leave "
                         "--schema out to go on with it, or build another knowledge base")


def _store_recorded(kb: KnowledgeBase, records: Iterator[RecordedPassage], notes: inputs.ReadingNotes) -> None:
    """Store passages with their recorded triples as documents that are extracted already."""
    with kb.database.transaction():
        for record in records:
            kb.documents.put(record.document, [record.chunk])
            if kb.extractions.get(record.chunk.id) != record.extraction:  # an equal one is not written again
                kb.extractions.save(record.chunk.id, "recorded", record.extraction)
            notes.add_documents(1)
