"""What a reasoner is given of a chunk, what its extraction is stored as read by, and which chunks share a call.

Several small chunks share a call of a model, as each call repeats its instructions.
"""

from collections.abc import Mapping, Sequence

from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.ledger.notes import BUILD
from ..graph_store.ledger.readings import add_instructions
from ..ingest.metadata import document_name
from ..models.reasoner import Reasoner
from ..schemas.documents import Chunk
from ..schemas.extraction import ExtractionRequest
from ..text.titles import metadata_line
from ..text.tokens import estimate_tokens

_ABOUT_TOKENS = 40
MOST_CHUNKS = 16
"""Chunks of a call: more would save little, and a weak model overlooks more."""


def extraction_request(chunk: Chunk, prose: str, metadata: Mapping[str, str],
                       instructions: str = "") -> ExtractionRequest:
    """Return the request for a chunk's extraction.

    Args:
        chunk: the chunk.
        prose: its text without the rows that the rules read.
        metadata: what its document says of itself.
        instructions: the knowledge base's instructions for extraction.
    """
    return ExtractionRequest(
        text=prose, title=chunk.title, heading=chunk.heading, opening=chunk.opening,
        document=document_name(chunk.document_id, chunk.title, metadata),
        about=metadata_line(metadata, _ABOUT_TOKENS), instructions=instructions)


def reading_fingerprint(kb: KnowledgeBase, reasoner: Reasoner) -> str:
    """Return the fingerprint of what a reasoner extracts now, with the knowledge base's instructions."""
    return add_instructions(reasoner.fingerprint, kb.extraction_instructions.get())


def pack_calls(sizes: Sequence[tuple[str, int]], most_tokens: int) -> list[list[str]]:
    """Return the chunks of each call, in order.

    Args:
        sizes: the chunks' ids with their estimated tokens.
        most_tokens: how many tokens of text a call reads; a longer chunk has a call of its own.
    """
    calls, filled = list[list[str]](), 0
    for chunk, tokens in sizes:
        if not calls or filled + tokens > most_tokens or len(calls[-1]) == MOST_CHUNKS:
            calls.append([])
            filled = 0
        calls[-1].append(chunk)
        filled += tokens
    return calls


def calls_of(kb: KnowledgeBase, chunks: Sequence[Chunk], most_tokens: int, most_calls: int) -> list[list[str]]:
    """Return the next calls over some chunks, at most so many.

    A build that resumes makes the calls that were in work when it stopped, so what was paid for is not paid again.
    """
    waiting = {chunk.id: estimate_tokens(chunk.text) for chunk in chunks}
    before = [call for call in kb.database.notes(BUILD).get("shared_calls", ()) if waiting.keys() >= set(call)]
    known = {chunk for call in before for chunk in call}
    fresh = pack_calls([(chunk, size) for chunk, size in waiting.items() if chunk not in known], most_tokens)
    calls = [*before, *fresh][:most_calls]
    kb.database.note(BUILD, shared_calls=calls)
    return calls


def split_call(kb: KnowledgeBase, chunks: Sequence[str]) -> None:
    """Note that the chunks of a call that failed are asked one by one."""
    with kb.database.transaction():  # others may fail at the same time
        calls = [call for call in kb.database.notes(BUILD).get("shared_calls", ()) if call != list(chunks)]
        kb.database.note(BUILD, shared_calls=[*calls, *([chunk] for chunk in chunks)])
