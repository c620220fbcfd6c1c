"""What a build would cost, before anything is paid."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import Field

from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.layout import Layout
from ..graph_store.ledger.readings import RULES, count_by_reader, find_outdated, is_same_reading, reader_of
from ..ingest.chunking import chunk_document
from ..ingest.fetching import Address
from ..ingest.loaders import load_documents
from ..models.llm.inferring import inference_prompt
from ..models.llm.llm_reasoner import extraction_prompt, summary_batches, summary_prompt
from ..models.rules.table_facts import read_rows
from ..schemas.documents import Chunk, Document, Frozen
from ..schemas.extraction import ExtractionRequest
from ..schemas.formats.schema_loading import load_schema
from ..schemas.graph_schema import GraphSchema
from ..schemas.prices import batched
from ..schemas.retrieval import CommunityDigest
from ..text.markup import has_statement
from ..text.tokens import estimate_tokens
from .construction.inputs import DEFAULT_SCHEMA, check_model, is_inferred, named_schema
from .extraction_requests import extraction_request, pack_calls, reading_fingerprint
from .resources import Resources
from .schema_proposal import choose_excerpts, core_schema

# `estimate_tokens` errs upwards, being a limit elsewhere: more against some tokenizers than against others. This is
# between them for English prompts. For Chinese texts they differ so much that only what was paid tells.
_COUNTED = 1 / 1.08

# An extraction's answer, fitted by least squares to recorded extractions (gpt-3.5-turbo, passages 400 to 1,889 of
# MuSiQue's) as they go over the wire, alone and several to a call: `benchmarks/llm_estimate.py` prints the fit. A model
# that says more or less is known by what it was paid for in the same knowledge base.
ANSWER, ANSWER_SHARE = 26.0, 1.66

# What resolution and summaries take for each token of new text, where every fact joins the graph (--schema open; builds
# of 400 and 890 of those passages), and where only those of a schema do, which may be none or nearly all: half.
_LATER_CALLS, _LATER_PROMPT, _LATER_COMPLETION = 4.1e-4, 0.70, 0.13
_CLOSED = 0.5

_FEWEST, _MOST = 10, 200
"""Chunks that say how an endpoint counts and how much a model says: fewer may mislead, more say nothing new."""

_SAMPLED = 40
"""Chunks whose prompts an estimate at a glance is made from."""

# Of an inferred schema: what writing it takes, and what it adds to each prompt beside the core; and of grouping labels,
# what a call reads and writes. Counted with two folders of benchmarks/newcomer.
_PROPOSAL_TOKENS, _PROPOSED_TOKENS, _GROUPING_TOKENS = 900, 170, (1200, 60)

# A name and one to three sentences, as the prompt asks for.
_SUMMARY_TOKENS = 90


class Amount(Frozen):
    """Calls and their tokens."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def times(self, number: float) -> "Amount":
        """Return so many times as much."""
        return Amount(calls=round(number * self.calls), prompt_tokens=round(number * self.prompt_tokens),
                      completion_tokens=round(number * self.completion_tokens))


class SummaryEstimate(Amount):
    """Communities, or groups of a survey, and the calls and tokens that describing them would take."""

    communities: int


def estimate_summaries(resources: Resources, told: Sequence[CommunityDigest]) -> SummaryEstimate:
    """Estimate what describing communities would cost with an LLM; nothing is asked."""
    batches = summary_batches(told)
    communities = sum(map(len, batches))
    return SummaryEstimate(
        communities=communities, calls=len(batches), completion_tokens=communities * _SUMMARY_TOKENS,
        prompt_tokens=sum(summary_prompt(batch, resources.settings).tokens for batch in batches))


class BuildEstimate(Amount):
    """Documents and chunks that are new, and the calls and tokens that a build would take in all."""

    documents: int
    chunks: int
    extraction: Amount
    fitting: Amount = Field(description="inferring the schema, and grouping labels that mean the same")
    later: Amount = Field(description="resolution and summaries, which depend on what is found: a guess by size")
    later_at_most: Amount = Field(description="the same if every fact that is found fits the schema")
    learnt_from: int = Field(description="paid chunks of the knowledge base that the estimate is scaled by")
    cost: float | None = Field(description="in the price file's currency; None: the model's price is not known")
    batch_cost: float | None = Field(description="the same with --batch, which halves the price of extraction")


class ReadingEstimate(Amount):
    """The chunks that the rules read, and about what reading them with a model would take."""

    chunks: int
    model: str = Field(description="the model that is set; empty: none is")
    cost: float | None = Field(description="in the price file's currency; None: the model's price is not known")


class RereadEstimate(ReadingEstimate):
    """The chunks that are not read as the model would read them now, and about what reading them again would take."""

    read_by: dict[str, int] = Field(description='the chunks by what read them: "rules", or the name of a model')


def estimate_build(resources: Resources, name: str, paths: Sequence[Path | Address], schema: str, *,
                   reread: bool = False) -> BuildEstimate:
    """Estimate a build; nothing is stored and nothing is asked.

    Where the knowledge base has paid for chunks before, what they took says how the endpoint counts tokens and how
    much the model answers; else tokens are counted by `text/tokens.py`, and answers taken as in `ANSWER`.

    Args:
        resources: settings and, where it exists, the knowledge base.
        name: the knowledge base; chunks that it has extracted are not counted.
        paths: what would be read; what cannot be read is left out.
        schema: the seed schema, where the knowledge base has none yet.
        reread: count the stored chunks that a build with `reread` would read again as well.

    Raises:
        NoModelError: no model is set, to read anything again.
        PricesError: the price file cannot be used.
    """
    check_model(reread=reread, uses_llm=resources.settings.uses_llm)
    return estimate_documents(resources, name, load_documents(paths, on_failure=lambda _: None,
                                                              limits=resources.limits), schema, reread=reread)


def estimate_documents(resources: Resources, name: str, given: Iterable[Document], schema: str, *,
                       reread: bool = False) -> BuildEstimate:
    """Estimate as `estimate_build` does, for documents."""
    if not Layout.by(resources.settings, name).exists():
        return _estimate_documents(resources, None, given, schema, reread=reread)
    with resources.snapshot(name) as snapshot:
        return _estimate_documents(resources, snapshot.kb, given, schema, reread=reread)


def _estimate_documents(resources: Resources, stored: KnowledgeBase | None, given: Iterable[Document], schema: str, *,
                        reread: bool) -> BuildEstimate:
    settings = resources.settings
    again = stored.documents.to_reread(_outdated(resources, stored)) if stored and reread else []
    known = stored.documents.extracted_ids() - set(again) if stored else set[str]()
    has_schema = stored is not None and stored.schemas.version() > 0
    inferred = not has_schema and is_inferred(schema, None, uses_llm=settings.uses_llm)
    graph_schema = (stored.schemas.current() if stored is not None and has_schema else core_schema() if inferred
                    else named_schema(schema) or load_schema(DEFAULT_SCHEMA))
    documents, characters, chunks = set[str](), 0, list[Chunk]()
    for document in given:
        documents.add(document.id)
        characters += len(document.text)
        chunks += [chunk for chunk in chunk_document(document, max_tokens=settings.chunk_tokens,
                                                     overlap_tokens=settings.chunk_overlap) if chunk.id not in known]
    if stored and again:
        # The stored chunks of a document that was given are among those counted, unless it has changed.
        chunks += [chunk for chunk in stored.documents.chunks(again) if chunk.document_id not in documents]
    return _estimate_chunks(resources, stored, chunks, characters, graph_schema, documents=len(documents),
                            inferred=inferred)


def estimate_reread(resources: Resources, stored: KnowledgeBase) -> RereadEstimate:
    """Estimate what reading again would take, from a sample of the chunks concerned."""
    outdated = _outdated(resources, stored)
    again = stored.documents.to_reread(outdated)
    if not again:
        return RereadEstimate(model="", chunks=0, read_by={}, cost=0.0)
    sample = stored.documents.chunks(again[::math.ceil(len(again) / _MOST)])
    estimate = _estimate_chunks(resources, stored, sample, 0, stored.schemas.current(), documents=0, inferred=False)
    times = len(again) / len(sample)
    return RereadEstimate(
        model=resources.settings.model_of("extract"), chunks=len(again),
        read_by=count_by_reader(stored.documents.count_to_reread(outdated)), **estimate.times(times).model_dump(),
        cost=None if estimate.cost is None else times * estimate.cost)


def estimate_reading(resources: Resources, stored: KnowledgeBase) -> ReadingEstimate | None:
    """Estimate what a model would take to read what the rules read, whether one is set or not; None for nothing."""
    fingerprints = stored.extractions.count_fingerprints()
    ids = stored.documents.to_reread([one for one in fingerprints if reader_of(one) == RULES])
    if not ids:
        return None
    sample = stored.documents.chunks(ids[::math.ceil(len(ids) / _SAMPLED)])
    extraction = _extraction(resources, sample, stored.schemas.current())
    later = _later(sum(estimate_tokens(chunk.text) for chunk in sample)).times(_CLOSED)
    times, cost = len(ids) / len(sample), _cost(resources, extraction, Amount(), later)
    return ReadingEstimate(
        chunks=len(ids), model=resources.settings.model_of("extract") if resources.settings.uses_llm else "",
        **_sum(extraction, later).times(times).model_dump(), cost=None if cost is None else times * cost)


def _outdated(resources: Resources, stored: KnowledgeBase) -> list[str]:
    """Return the fingerprints of the extractions that a build with `reread` would make again; none without a model."""
    return find_outdated(stored.extractions.count_fingerprints(),
                         reading_fingerprint(stored, resources.reasoner(stored.layout.name)))


def _estimate_chunks(resources: Resources, stored: KnowledgeBase | None, chunks: Sequence[Chunk],
                     characters: int, graph_schema: GraphSchema, *, documents: int, inferred: bool) -> BuildEstimate:
    """Estimate the extraction of chunks of documents with so many characters, and what follows from it."""
    extraction, fitting, later, most, learnt_from = Amount(), Amount(), Amount(), Amount(), 0
    if resources.settings.uses_llm and chunks:
        instructions = stored.extraction_instructions.get() if stored else ""
        extraction = _extraction(resources, chunks, graph_schema, instructions)
        if inferred:
            extraction = extraction.model_copy(update={
                "prompt_tokens": extraction.prompt_tokens + extraction.calls * _PROPOSED_TOKENS})
        excerpts = choose_excerpts(chunks, characters) if inferred else []
        fitting = _fitting(resources, excerpts, len(chunks), graph_schema)
        most = _later(sum(estimate_tokens(chunk.text) for chunk in chunks))
        if stored:
            paid, guessed, learnt_from = _paid(resources, stored)
            if learnt_from:
                extraction, most = (_scale(amount, paid, guessed) for amount in (extraction, most))
        later = most if graph_schema.open else most.times(_CLOSED)
    total = _sum(extraction, fitting, later)
    return BuildEstimate(
        **total.model_dump(), documents=documents, chunks=len(chunks), extraction=extraction, fitting=fitting,
        later=later, later_at_most=most, learnt_from=learnt_from, cost=_cost(resources, extraction, fitting, later),
        batch_cost=_cost(resources, extraction, fitting, later, by_batch=True))


def _cost(resources: Resources, extraction: Amount, fitting: Amount, later: Amount, *, by_batch: bool = False,
          ) -> float | None:
    """Return the cost of all steps, with those after extraction priced by the dearer of their two models."""
    model_of, prices = resources.settings.model_of, resources.spending.prices
    model = model_of("extract")
    *first, resolve, summarise = (
        prices.cost(model, amount.prompt_tokens, amount.completion_tokens) for model, amount in (
            (batched(model) if by_batch else model, extraction), (model, fitting),
            (model_of("resolve"), later), (model_of("summarise"), later)))
    if resolve is None or summarise is None or None in first:
        return None
    return sum(cost or 0.0 for cost in first) + max(resolve, summarise)


def _extraction(resources: Resources, chunks: Iterable[Chunk], schema: GraphSchema, instructions: str = "") -> Amount:
    """Estimate the calls and tokens of extracting chunks, from their prompts and answers of the usual length."""
    requests, sizes = dict[str, ExtractionRequest](), list[tuple[str, int]]()
    for chunk in sorted(chunks, key=lambda chunk: (chunk.document_id, chunk.ordinal)):
        _, prose = read_rows(chunk.text, chunk.title, chunk.heading, schema)  # rows of tables are read without a call
        sizes.append((chunk.id, estimate_tokens(chunk.text)))
        if has_statement(prose):
            requests[chunk.id] = extraction_request(chunk, prose, {}, instructions)
    packed = pack_calls(sizes, resources.settings.extract_tokens)
    calls = [[requests[chunk] for chunk in asked]
             for call in packed if (asked := [chunk for chunk in call if chunk in requests])]
    prompt, completion = estimate_extraction(
        sum(extraction_prompt(call, schema, resources.settings).tokens for call in calls), calls)
    return Amount(calls=len(calls), prompt_tokens=prompt, completion_tokens=completion)


def estimate_extraction(prompt_tokens: int, calls: Iterable[Sequence[ExtractionRequest]]) -> tuple[int, int]:
    """Return about how many prompt and completion tokens some extraction calls take.

    Args:
        prompt_tokens: of all prompts, as `Prompt.tokens` has them.
        calls: what each call reads.
    """
    completion = sum(ANSWER + ANSWER_SHARE * sum(estimate_tokens(request.text) for request in call) for call in calls)
    return round(_COUNTED * prompt_tokens), round(completion)


def _fitting(resources: Resources, excerpts: Sequence[Sequence[str]], chunks: int, known: GraphSchema) -> Amount:
    """Estimate the calls that propose a schema, and those that group labels, each time the corpus has doubled."""
    tokens = sum(inference_prompt(call, known, resources.settings).tokens for call in excerpts)
    batches = math.ceil(chunks / resources.settings.batch_size)
    groupings = 0 if known.open else min(batches, batches.bit_length() + 1)
    return Amount(calls=len(excerpts) + groupings,
                  prompt_tokens=round(_COUNTED * tokens) + groupings * _GROUPING_TOKENS[0],
                  completion_tokens=len(excerpts) * _PROPOSAL_TOKENS + groupings * _GROUPING_TOKENS[1])


def _sum(*amounts: Amount) -> Amount:
    return Amount(calls=sum(a.calls for a in amounts), prompt_tokens=sum(a.prompt_tokens for a in amounts),
                  completion_tokens=sum(a.completion_tokens for a in amounts))


def _later(text_tokens: int) -> Amount:
    return Amount(calls=round(_LATER_CALLS * text_tokens), prompt_tokens=round(_LATER_PROMPT * text_tokens),
                  completion_tokens=round(_LATER_COMPLETION * text_tokens))


def _scale(amount: Amount, paid: Amount, guessed: Amount) -> Amount:
    """Return an estimate multiplied by the ratio of what was paid so far to what was estimated for it."""
    return Amount(calls=amount.calls,
                  prompt_tokens=round(amount.prompt_tokens * paid.prompt_tokens / guessed.prompt_tokens),
                  completion_tokens=round(amount.completion_tokens * paid.completion_tokens
                                          / guessed.completion_tokens))


def _paid(resources: Resources, stored: KnowledgeBase) -> tuple[Amount, Amount, int]:
    """Return the paid and the estimated amount of a sample of extracted chunks, and their number; 0 for too few."""
    most_tokens = resources.settings.extract_tokens

    def is_whole(calls: int, chunks: Sequence[str]) -> bool:
        if not most_tokens:
            return calls == len(chunks)
        sizes = [(chunk.id, estimate_tokens(chunk.text)) for chunk in stored.documents.chunks(chunks)]
        # The first and last call may be shared with the documents beside it.
        return sum(size for _, size in sizes) // most_tokens <= calls <= len(pack_calls(sizes, most_tokens)) + 1

    spent, ids = stored.calls.extractions(resources.settings.model_of("extract"), _MOST, is_whole)
    if len(ids) < _FEWEST:
        return Amount(), Amount(), 0
    paid = Amount(calls=spent.calls, prompt_tokens=spent.prompt, completion_tokens=spent.completion)
    # Which other instructions a chunk was read with is not stored; an estimate without them errs upwards.
    current = reading_fingerprint(stored, resources.reasoner(stored.layout.name))
    is_current = is_same_reading(stored.extractions.fingerprint(ids[0]) or "", current)
    instructions = stored.extraction_instructions.get() if is_current else ""
    return paid, _extraction(resources, stored.documents.chunks(ids), stored.schemas.base(),
                             instructions=instructions), len(ids)
