"""What a build would cost, before anything is paid: what a reasoner is given, and how small chunks share calls."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from itertools import chain
from pathlib import Path

from pydantic import Field

from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.layout import Layout
from ..graph_store.ledger.extractions import RULES, add_instructions, count_by_reader, find_outdated, reader_of
from ..ingest.chunking import chunk_document
from ..ingest.loaders import load_documents
from ..ingest.metadata import document_name
from ..models.llm.llm_reasoner import extraction_prompt, inference_prompt
from ..models.rules.table_facts import read_rows
from ..runtime.budgets import BATCHED
from ..schemas.documents import Chunk, Frozen
from ..schemas.extraction import ExtractionRequest
from ..schemas.formats.schema_loading import load_schema
from ..schemas.graph_schema import GraphSchema
from ..text.cleaning import has_statement
from ..text.scripts import estimate_tokens
from ..text.section_lines import metadata_line
from .construction.inputs import DEFAULT_SCHEMA, check_model, named_schema
from .resources import Resources
from .schema_proposal import choose_excerpts, core_schema

_PAID_PER_COUNTED = 1 / 1.08  # tokens paid for each of `estimate_tokens`, which counts too many, as a limit should
ANSWER, ANSWER_SHARE = 26.0, 1.66
"""Completion tokens of an extraction call, and those for each token of its text (see `benchmarks/llm_estimate.py`)."""
_LATER_CALLS, _LATER_PROMPT, _LATER_COMPLETION = 4.1e-4, 0.70, 0.13
"""What resolution and summaries take for each token of new text if every fact joins the graph (--schema open)."""
_ADMITTED_SHARE = 0.5  # of the facts, which fit the schema; it may be anything from none to nearly all, so half
_SAMPLE = 100  # the number of stored chunks that an estimate for reading them again is computed from
_PROPOSAL_TOKENS, _PROPOSED_TOKENS = 900, 170
"""The tokens of an answer that proposes a schema, and of what it proposes in each later prompt, in two folders."""
_ABOUT_TOKENS = 40  # of a document's metadata in each request
MOST_CHUNKS = 16  # The most chunks of a call: more would save little, and a weak model overlooks more


class Amount(Frozen):
    """Calls and their tokens."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(calls=self.calls + other.calls, prompt_tokens=self.prompt_tokens + other.prompt_tokens,
                      completion_tokens=self.completion_tokens + other.completion_tokens)

    def times(self, number: float) -> "Amount":
        """Return the amount multiplied by a number, rounded."""
        return Amount(calls=round(number * self.calls), prompt_tokens=round(number * self.prompt_tokens),
                      completion_tokens=round(number * self.completion_tokens))


class BuildEstimate(Amount):
    """Documents and chunks that are new, and the calls and tokens that a build would take in all."""

    documents: int
    chunks: int
    extraction: Amount
    fitting: Amount = Field(description="inferring the schema")
    later: Amount = Field(description="resolution and summaries, which depend on what is found: a guess by size")
    later_at_most: Amount = Field(description="the same if every fact that is found fits the schema")
    cost: float | None = Field(description="in the price file's currency; None: the model's price is not known")
    batch_cost: float | None = Field(description="the same with --batch, which halves the price of extraction")


class ReadingEstimate(Amount):
    """Stored chunks, and about what reading them with the model would take."""

    chunks: int
    read_by: dict[str, int] = Field(description='the chunks by what read them: "rules", or the name of a model')
    model: str = Field(description="the model that is set; empty: none is")
    cost: float | None = Field(description="in the price file's currency; None: the model's price is not known")


def estimate_build(resources: Resources, name: str, paths: Sequence[Path], schema: str, *,
                   reread: bool = False) -> BuildEstimate:
    """Estimate the calls, tokens and cost of a build, without storing anything or making a call.

    Files that cannot be read and chunks that are extracted already are left out, unless a build with `reread` would
    extract them again. `schema` is used if the knowledge base has none yet. Raises NoModelError and PricesError.
    """
    settings = resources.settings
    check_model(reread=reread, uses_llm=settings.uses_llm)
    is_stored = Layout.by(settings, name).exists()
    with resources.snapshot(name) if is_stored else nullcontext() as snapshot:
        stored = snapshot.kb if snapshot else None
        length_of, chunks = _chunks_to_read(resources, stored, paths, reread=reread)
        instructions = stored.extraction_instructions.get() if stored else ""
        graph_schema = stored.schemas.current() if stored and stored.schemas.version() else None
        infers_schema = graph_schema is None and settings.uses_llm and named_schema(schema) is None
        if graph_schema is None:  # what the model proposes is added to the core, as `_PROPOSED_TOKENS`
            graph_schema = core_schema() if infers_schema else named_schema(schema) or load_schema(DEFAULT_SCHEMA)
    extraction, fitting, later_at_most = Amount(), Amount(), Amount()
    if settings.uses_llm and chunks:
        extraction = _estimate_extraction(resources, chunks, graph_schema, instructions)
        later_at_most = _estimate_later_steps(chunks)
    if infers_schema and chunks:
        extraction += Amount(prompt_tokens=extraction.calls * _PROPOSED_TOKENS)
        prompts = [inference_prompt(excerpts, graph_schema, settings)
                   for excerpts in choose_excerpts(chunks, sum(length_of.values()))]
        fitting = Amount(calls=len(prompts), completion_tokens=len(prompts) * _PROPOSAL_TOKENS,
                         prompt_tokens=round(_PAID_PER_COUNTED * sum(prompt.tokens for prompt in prompts)))
    later = later_at_most if graph_schema.open else later_at_most.times(_ADMITTED_SHARE)
    return BuildEstimate(
        **(extraction + fitting + later).model_dump(), documents=len(length_of), chunks=len(chunks),
        extraction=extraction, fitting=fitting, later=later, later_at_most=later_at_most,
        cost=_total_cost(resources, extraction, fitting, later),
        batch_cost=_total_cost(resources, extraction, fitting, later, suffix=BATCHED))


def _chunks_to_read(resources: Resources, stored: KnowledgeBase | None, paths: Sequence[Path], *,
                    reread: bool) -> tuple[dict[str, int], list[Chunk]]:
    """Return the lengths of the documents in some files by their ids, and all chunks that a build would extract."""
    settings = resources.settings
    reread_ids, extracted_ids = list[str](), set[str]()
    if stored:
        reread_ids = [*stored.documents.to_reread(find_outdated_readings(resources, stored))] if reread else []
        extracted_ids = stored.documents.extracted_ids() - set(reread_ids)
    length_of, chunks = dict[str, int](), list[Chunk]()
    for document in load_documents(paths, on_failure=lambda _: None, limits=resources.limits):
        length_of[document.id] = len(document.text)
        document_chunks = chunk_document(document, max_tokens=settings.chunk_tokens,
                                         overlap_tokens=settings.chunk_overlap)
        chunks += [chunk for chunk in document_chunks if chunk.id not in extracted_ids]
    if stored and reread_ids:
        # The chunks of a document in the files are counted already, from its present text.
        chunks += [chunk for chunk in stored.documents.chunks(reread_ids) if chunk.document_id not in length_of]
    return length_of, chunks


def estimate_reread(resources: Resources, stored: KnowledgeBase) -> ReadingEstimate:
    """Estimate a build with `reread` and no new documents: the chunks that the model would read otherwise now."""
    return _estimate_stored(resources, stored, find_outdated_readings(resources, stored))


def estimate_reading(resources: Resources, stored: KnowledgeBase) -> ReadingEstimate | None:
    """Estimate what a model would take to read what the rules have read; None if they read none."""
    by_rules = [fingerprint for fingerprint in stored.extractions.count_fingerprints()
                if reader_of(fingerprint) == RULES]
    estimate = _estimate_stored(resources, stored, by_rules)
    return estimate if estimate.chunks else None


def _estimate_stored(resources: Resources, stored: KnowledgeBase, fingerprints: Sequence[str]) -> ReadingEstimate:
    """Estimate, from a sample, what reading the chunks with some fingerprints again would take."""
    fingerprint_of = stored.documents.to_reread(fingerprints)
    ids = list(fingerprint_of)
    step = math.ceil(len(ids) / _SAMPLE) or 1  # every so many, so that the sample is spread over all documents
    sample = stored.documents.chunks(ids[::step])
    extraction = _estimate_extraction(resources, sample, stored.schemas.current(), stored.extraction_instructions.get())
    later = _estimate_later_steps(sample).times(_ADMITTED_SHARE)
    scale = len(ids) / len(sample) if sample else 0.0
    sample_cost = _total_cost(resources, extraction, Amount(), later)
    return ReadingEstimate(
        chunks=len(ids), read_by=count_by_reader(Counter(fingerprint_of.values())),
        model=resources.settings.model_of("extract") if resources.settings.uses_llm else "",
        **(extraction + later).times(scale).model_dump(), cost=None if sample_cost is None else scale * sample_cost)


def _total_cost(resources: Resources, extraction: Amount, fitting: Amount, later: Amount, suffix: str = "",
                ) -> float | None:
    """Return the cost of all steps, None if a price is unknown; `suffix` is added to the model that extracts."""
    model_of, cost = resources.settings.model_of, resources.spending.prices.cost
    # `later` is priced as resolution, the longer of its two steps.
    amounts = ((model_of("extract") + suffix, extraction), (model_of("extract"), fitting), (model_of("resolve"), later))
    costs = [cost(model, amount.prompt_tokens, amount.completion_tokens) for model, amount in amounts]
    known_costs = [cost for cost in costs if cost is not None]
    return sum(known_costs) if len(known_costs) == len(costs) else None


def _estimate_extraction(resources: Resources, chunks: Iterable[Chunk], schema: GraphSchema,
                         instructions: str) -> Amount:
    """Estimate the calls and tokens of extracting chunks, from the prompts and the usual length of answers."""
    requests, sizes = dict[str, ExtractionRequest](), list[tuple[str, int]]()
    for chunk in sorted(chunks, key=lambda chunk: (chunk.document_id, chunk.ordinal)):
        _, prose = read_rows(chunk.text, chunk.title, chunk.heading, schema)  # the rules read rows of tables
        sizes.append((chunk.id, estimate_tokens(chunk.text)))
        if has_statement(prose):  # a build asks a model about no other text
            requests[chunk.id] = extraction_request(chunk, prose, {}, instructions)
    groups = pack_calls(sizes, resources.settings.extract_tokens)
    requests_by_call = ([requests[chunk] for chunk in group if chunk in requests] for group in groups)
    calls = [*filter(None, requests_by_call)]  # a group without any request needs no call
    prompt = sum(extraction_prompt(call, schema, resources.settings).tokens for call in calls)
    return Amount(calls=len(calls), prompt_tokens=round(_PAID_PER_COUNTED * prompt),
                  completion_tokens=estimate_completion(calls))


def estimate_completion(calls: Sequence[Sequence[ExtractionRequest]]) -> int:
    """Estimate the completion tokens of extraction calls, each given by its requests."""
    text_tokens = sum(estimate_tokens(request.text) for request in chain.from_iterable(calls))
    return round(ANSWER * len(calls) + ANSWER_SHARE * text_tokens)


def _estimate_later_steps(chunks: Iterable[Chunk]) -> Amount:
    """Estimate what resolution and summaries take for new chunks, if every fact joins the graph."""
    tokens = sum(estimate_tokens(chunk.text) for chunk in chunks)
    return Amount(calls=round(_LATER_CALLS * tokens), prompt_tokens=round(_LATER_PROMPT * tokens),
                  completion_tokens=round(_LATER_COMPLETION * tokens))


def extraction_request(chunk: Chunk, prose: str, metadata: Mapping[str, str],
                       instructions: str = "") -> ExtractionRequest:
    """Return the request for a chunk's extraction; `prose` is its text without the table rows that the rules read."""
    return ExtractionRequest(
        text=prose, title=chunk.title, heading=chunk.heading, opening=chunk.opening, said_on=chunk.said_on,
        document=document_name(chunk.document_id, chunk.title, metadata),
        about=metadata_line(metadata, _ABOUT_TOKENS), instructions=instructions)


def reading_fingerprint(resources: Resources, kb: KnowledgeBase) -> str:
    """Return a fingerprint of the reasoner and the instructions for extraction: equal ones extract in the same way."""
    return add_instructions(resources.reasoner(kb.layout.name).fingerprint, kb.extraction_instructions.get())


def find_outdated_readings(resources: Resources, kb: KnowledgeBase) -> list[str]:
    """Return the fingerprints of the extractions that a build with `reread` would make again."""
    return find_outdated(kb.extractions.count_fingerprints(), reading_fingerprint(resources, kb))


def pack_calls(sizes: Sequence[tuple[str, int]], most_tokens: int) -> list[list[str]]:
    """Fill calls with chunks, given as (id, estimated tokens), in their order; one over the limit gets its own call."""
    calls, call_tokens = list[list[str]](), 0
    for chunk, tokens in sizes:
        if not calls or call_tokens + tokens > most_tokens or len(calls[-1]) == MOST_CHUNKS:
            calls.append([])
            call_tokens = 0
        calls[-1].append(chunk)
        call_tokens += tokens
    return calls
