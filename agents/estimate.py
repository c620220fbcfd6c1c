"""What a build would cost, before anything is paid."""

from collections.abc import Sequence
from pathlib import Path

from ..graph_store.layout import Layout
from ..graph_store.tree import digests
from ..ingest.chunking import chunk_document
from ..ingest.loaders import load_documents
from ..ingest.tokens import estimate_tokens
from ..models.llm.reasoner import extraction_prompt, prompt_language, summary_batches, summary_prompt
from ..schemas.documents import Frozen
from ..schemas.extraction import ExtractionRequest
from ..schemas.loading import load_schema
from .construction import DEFAULT_SCHEMA
from .resources import Resources

# Recorded extractions (gpt-3.5-turbo on 1,890 MuSiQue passages) take 1.6 tokens a token of text.
_COMPLETION_SHARE = 1.6


# A name and one to three sentences, as the prompt asks for.
_SUMMARY_TOKENS = 90


class SummaryEstimate(Frozen):
    """All communities, and the calls and tokens that describing them would take."""

    communities: int
    calls: int
    prompt_tokens: int
    completion_tokens: int


def estimate_summaries(resources: Resources, name: str) -> SummaryEstimate:
    """Estimate what describing all communities of a knowledge base would cost with an LLM; nothing is asked."""
    stored = resources.knowledge_base(name)
    batches = summary_batches(digests(stored.graph, stored.communities.all(level=None)))
    prompts = [summary_prompt(batch, resources.settings)[0] for batch in batches]
    communities = sum(map(len, batches))
    return SummaryEstimate(
        communities=communities, calls=len(batches), completion_tokens=communities * _SUMMARY_TOKENS,
        prompt_tokens=sum(estimate_tokens(part) for prompt in prompts for part in prompt))


class BuildEstimate(Frozen):
    """Documents and chunks that are new, and the extraction calls and tokens they would take.

    The descriptions of communities come on top: their number is known only from the graph.
    """

    documents: int
    chunks: int
    calls: int
    prompt_tokens: int
    completion_tokens: int


def estimate_build(resources: Resources, name: str, paths: Sequence[Path], schema: str) -> BuildEstimate:
    """Estimate a build; nothing is stored and nothing is asked.

    Args:
        resources: settings and, where it exists, the knowledge base.
        name: the knowledge base; chunks that it has extracted are not counted.
        paths: what would be read; what cannot be read is left out.
        schema: the seed schema, where the knowledge base has none yet.
    """
    settings = resources.settings
    known: set[str] = set()
    graph_schema = load_schema(schema or DEFAULT_SCHEMA)
    if Layout.of(settings.home, name).ledger.is_file():
        stored = resources.knowledge_base(name)
        known = stored.documents.extracted()
        graph_schema = stored.schemas.base()
    documents, requests = 0, []
    for document in load_documents(paths, on_failure=lambda _: None, limits=resources.limits):
        documents += 1
        requests += [ExtractionRequest(text=chunk.text, title=chunk.title, heading=chunk.heading)
                     for chunk in chunk_document(document, max_tokens=settings.chunk_tokens,
                                                 overlap_tokens=settings.chunk_overlap) if chunk.id not in known]
    if not settings.llm_base_url:
        return BuildEstimate(documents=documents, chunks=len(requests), calls=0, prompt_tokens=0, completion_tokens=0)
    return BuildEstimate(
        documents=documents, chunks=len(requests), calls=len(requests),
        prompt_tokens=sum(
            estimate_tokens(part) for request in requests
            for part in extraction_prompt(request, graph_schema, prompt_language(settings, request.text))),
        completion_tokens=round(_COMPLETION_SHARE * sum(estimate_tokens(request.text) for request in requests)))
