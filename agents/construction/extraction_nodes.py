"""The steps of a build that ask the reasoner for extractions; the rules read the rows of tables."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from ...graph_store.knowledge_base import KnowledgeBase
from ...graph_store.ledger.extractions import is_same_reading
from ...graph_store.ledger.notes import BUILD, OPEN_BATCHES, split_call
from ...ingest.metadata import document_name
from ...models.llm.endpoint import EndpointDown, EndpointFailed
from ...models.reasoner import Reasoner, ReasonerError
from ...models.rules.table_facts import read_rows
from ...runtime.budgets import BATCHED, Budget, BudgetExceeded, charge_calls
from ...runtime.threads import in_parallel, in_thread
from ...schemas.documents import Chunk
from ...schemas.extraction import Extraction, ExtractionRequest
from ...schemas.graph_schema import GraphSchema
from ...text.cleaning import has_statement
from ...text.section_lines import is_back_matter
from ...text.table_rows import numbered_columns
from ..estimate import estimate_completion, extraction_request, reading_fingerprint
from ..resources import Resources, default_resources
from .inputs import show_progress
from .state import BuildState, ChunksInput, build_options

_ROWS_AT_ONCE = 10_000  # chunks of numbered rows in a transaction, each of which reads the whole document


class _Reading(NamedTuple):
    """A chunk, what the rules extracted from its table rows, and the request for its other text, or None."""

    chunk: Chunk
    rows: Extraction
    request: ExtractionRequest | None


class _Work(NamedTuple):
    """The chunks that one call extracts, and what it extracts them with."""

    state: ChunksInput
    readings: Sequence[_Reading]
    schema: GraphSchema
    budget: Budget | None
    reasoner: Reasoner
    fingerprint: str


class BuildNodes:
    """Nodes of a build, over the resources of a process."""

    def __init__(self, resources: Resources | None) -> None:
        self._given = resources

    @property
    def _resources(self) -> Resources:
        return self._given or default_resources()

    def _step(self, state: BuildState | ChunksInput, *, create: bool = False) -> AbstractContextManager[KnowledgeBase]:
        return self._resources.writers.step(state["knowledge_base"], state["run"], create=create)

    def _budget(self, state: BuildState | ChunksInput) -> Budget | None:
        """Return the budget of a state's run less what the run has spent; None means no limit."""
        context = build_options(state)
        return self._resources.spending.budget(state["run"], context.max_tokens, context.max_cost,
                                               lambda: self._resources.accounts(state["knowledge_base"]))


class ExtractionNodes(BuildNodes):
    """The nodes that ask the reasoner for extractions."""

    async def extract(self, state: ChunksInput) -> BuildState:
        """Extract the chunks of one call of the reasoner, or of all calls of a build with batches.

        A spent budget or `EndpointDown` stops the build, so that the next one extracts them. Any other `ReasonerError`
        marks them as failed, once each chunk of a shared call had a call of its own.
        """
        works = await in_thread(lambda: [self._prepare(state, chunks) for chunks in state["calls"]])
        try:
            if state["in_batches"]:
                works = await self._fetch_batches(state, works)
            failed = await in_parallel(self._extract_call, works, self._resources.settings.llm_concurrency)
            if state["in_batches"]:  # all are fetched, and what they answered is stored
                await self._in_step(state, lambda kb: kb.database.note(BUILD, **{OPEN_BATCHES: []}))
        except (BudgetExceeded, ReasonerError) as error:
            return {"stopped": str(error)}
        unanswered = [chunk for chunks in failed for chunk in chunks]
        return {"unanswered": unanswered} if unanswered else {}

    def _prepare(self, state: ChunksInput, chunk_ids: Sequence[str]) -> _Work:
        """Read the table rows of some chunks by the rules, and prepare the requests for the rest of their text."""
        name, uses_llm = state["knowledge_base"], self._resources.settings.uses_llm
        with self._step(state) as kb:
            rules_schema = kb.schemas.base()  # so what the rules read does not depend on how the schema has grown
            schema = kb.schema_control.schema_for_prompts() if uses_llm else rules_schema
            reasoner, instructions = self._resources.reasoner(name), kb.extraction_instructions.get()
            fingerprint = reading_fingerprint(self._resources, kb)
            chunks = [chunk for chunk in kb.documents.chunks(chunk_ids) if _is_to_extract(kb, chunk.id, fingerprint)]
            document_ids = {chunk.document_id for chunk in chunks}
            metadata_of = {document_id: kb.documents.metadata(document_id) for document_id in document_ids}
            budget = self._budget(state)
        readings = list[_Reading]()
        for chunk in chunks:
            metadata = metadata_of[chunk.document_id]
            rows, prose = Extraction(), ""
            if not is_back_matter(chunk.heading):  # the names in a list of references are those of other works
                document = document_name(chunk.document_id, chunk.title, metadata)
                rows, prose = read_rows(chunk.text, chunk.title, chunk.heading, rules_schema, document)
            # A model is not asked about headings and navigation; the rules read them at no cost.
            is_asked = has_statement(prose) if uses_llm else bool(prose.strip())
            request = extraction_request(chunk, prose, metadata, instructions) if is_asked else None
            readings.append(_Reading(chunk, rows, request))
        return _Work(state, readings, schema, budget, reasoner, fingerprint)

    async def _fetch_batches(self, state: ChunksInput, works: Sequence[_Work]) -> list[_Work]:
        """Have the endpoint answer calls in batches, and return the calls with the reasoner that has the replies."""
        reasoner = await in_thread(self._resources.batched_reasoner, state["knowledge_base"])
        calls = [([reading.request for reading in work.readings if reading.request], work.schema) for work in works]

        def permit(submitted: Sequence[tuple[Sequence[ExtractionRequest], GraphSchema]], prompt_tokens: int) -> None:
            """Raise BudgetExceeded if the run's budget, which all works share, does not suffice for these calls."""
            if works[0].budget:
                works[0].budget.check_ahead(self._resources.settings.model_of("extract") + BATCHED, prompt_tokens,
                                            estimate_completion([requests for requests, _ in submitted]))

        async def note_open(batches: Any) -> None:
            await self._in_step(state, lambda kb: kb.database.note(BUILD, **{OPEN_BATCHES: batches}))

        show_progress("batch", 0, len(calls))
        open_batches = await self._in_step(state, lambda kb: kb.database.notes(BUILD).get(OPEN_BATCHES, []))
        # Without the option `batch` none is submitted: those of an earlier build are fetched, or else cancelled.
        await reasoner.fetch(calls, open_batches, note_open, permit if build_options(state).batch else None)
        show_progress("batch", len(calls), len(calls))
        return [work._replace(reasoner=reasoner) for work in works]

    async def _extract_call(self, work: _Work) -> list[str]:
        """Extract the chunks of a call, each alone if that fails; return those that failed because the endpoint did."""
        chunk_ids, errors = [reading.chunk.id for reading in work.readings], dict[str, ReasonerError]()
        error = await self._extract_together(work, work.readings)
        if error and len(chunk_ids) == 1:
            errors[chunk_ids[0]] = error
        elif error:  # perhaps one chunk alone is the cause, so each is tried; a resumed build splits the call, too
            await self._in_step(work.state, lambda kb: split_call(kb.database, chunk_ids))
            for reading in work.readings:
                if error := await self._extract_together(work, [reading]):
                    errors[reading.chunk.id] = error

        def store_failures(kb: KnowledgeBase) -> None:
            for chunk, error in errors.items():
                kb.extractions.fail(chunk, str(error))

        if errors:
            await self._in_step(work.state, store_failures)
        return [chunk for chunk, error in errors.items() if isinstance(error, EndpointFailed)]

    async def _extract_together(self, work: _Work, readings: Sequence[_Reading]) -> ReasonerError | None:
        """Extract some chunks with one call and store the extractions; return the error if the call failed."""
        extraction_of = {reading.chunk.id: reading.rows for reading in readings}
        requests = {reading.chunk.id: reading.request for reading in readings if reading.request}
        characters = Counter[str]()  # the call's tokens are charged to the documents by the characters that it reads
        for reading in readings:
            if reading.request:
                characters[reading.chunk.document_id] += len(reading.request.text)
        try:
            with charge_calls(build=work.state["run"], documents=characters, budget=work.budget):
                extractions = await work.reasoner.extract([*requests.values()], work.schema) if requests else []
        except EndpointDown:  # it stops the build
            raise
        except ReasonerError as error:
            return error
        for chunk, extraction in zip(requests, extractions, strict=True):
            extraction_of[chunk] = extraction_of[chunk].combine(extraction)

        def store(kb: KnowledgeBase) -> None:
            with kb.database.transaction():
                for chunk, extraction in extraction_of.items():
                    is_read_again = kb.documents.status(chunk) == "done"
                    save = kb.schema_control.replace if is_read_again else kb.extractions.save
                    save(chunk, work.fingerprint, extraction)

        if extraction_of:
            await self._in_step(work.state, store)
        return None

    async def _in_step(self, state: ChunksInput, do: Callable[[KnowledgeBase], Any]) -> Any:
        """Call a function with the knowledge base in a thread, as a step of a run, and return its result."""
        def step() -> Any:
            with self._step(state) as kb:
                return do(kb)

        return await in_thread(step)


def _is_to_extract(kb: KnowledgeBase, chunk: str, fingerprint: str) -> bool:
    """Return True if a chunk has no extraction, or one that failed or was made in another way."""
    earlier, status = kb.extractions.fingerprint(chunk), kb.documents.status(chunk)
    is_up_to_date = earlier is not None and status == "done" and is_same_reading(earlier, fingerprint)
    waits_to_be_written = earlier is not None and status == "extracted"
    return not is_up_to_date and not waits_to_be_written


def write_numbered_rows(kb: KnowledgeBase, reader: str) -> None:
    """Write pending chunks of rows that no column names, thousands in a large table: they hold nothing to extract."""
    for chunk_ids in kb.documents.pending_in_tables():
        numbered = [chunk.id for chunk in kb.documents.chunks(chunk_ids) if numbered_columns(chunk.text)]
        for start in range(0, len(numbered), _ROWS_AT_ONCE):
            part = numbered[start:start + _ROWS_AT_ONCE]
            with kb.database.transaction():
                for chunk_id in part:
                    kb.extractions.save(chunk_id, reader, Extraction())
                kb.schema_control.write(part)
