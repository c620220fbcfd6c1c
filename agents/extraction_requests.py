"""Extraction requests: what a reasoner is given for a chunk, and which chunks share a call.

Several small chunks share a call of a model, because each call repeats the instructions.
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
"""The most chunks of a call: more would save little, and a weak model overlooks more."""


def extraction_request(chunk: Chunk, prose: str, metadata: Mapping[str, str],
                       instructions: str = "") -> ExtractionRequest:
    """Return the request for a chunk's extraction; `prose` is its text without the table rows that the rules read."""
    return ExtractionRequest(
        text=prose, title=chunk.title, heading=chunk.heading, opening=chunk.opening,
        document=document_name(chunk.document_id, chunk.title, metadata),
        about=metadata_line(metadata, _ABOUT_TOKENS), instructions=instructions)


def reading_fingerprint(kb: KnowledgeBase, reasoner: Reasoner) -> str:
    """Return a fingerprint of the reasoner and the knowledge base's instructions for extraction.

    Extractions with the same fingerprint were made in the same way, so they need not be made again.
    """
    return add_instructions(reasoner.fingerprint, kb.extraction_instructions.get())


def pack_calls(sizes: Sequence[tuple[str, int]], most_tokens: int) -> list[list[str]]:
    """Fill calls with chunks, given as (id, estimated tokens), in their order, and return the chunk ids of each call.

    A chunk with more than `most_tokens`, the limit of a call, gets a call of its own.
    """
    calls, call_tokens = list[list[str]](), 0
    for chunk, tokens in sizes:
        if not calls or call_tokens + tokens > most_tokens or len(calls[-1]) == MOST_CHUNKS:
            calls.append([])
            call_tokens = 0
        calls[-1].append(chunk)
        call_tokens += tokens
    return calls


def calls_of(kb: KnowledgeBase, chunks: Sequence[Chunk], most_tokens: int, most_calls: int) -> list[list[str]]:
    """Return the next calls, each as the ids of the chunks that share it, and store them.

    A build that was interrupted has stored its last calls. They are made again with the same chunks, so the cached
    responses of calls that were already paid for are used.
    """
    sizes = {chunk.id: estimate_tokens(chunk.text) for chunk in chunks}
    stored_calls = [call for call in kb.database.notes(BUILD).get("shared_calls", ()) if sizes.keys() >= set(call)]
    assigned = {chunk for call in stored_calls for chunk in call}
    new_calls = pack_calls([(chunk, size) for chunk, size in sizes.items() if chunk not in assigned], most_tokens)
    calls = [*stored_calls, *new_calls][:most_calls]
    kb.database.note(BUILD, shared_calls=calls)
    return calls


def split_call(kb: KnowledgeBase, chunks: Sequence[str]) -> None:
    """Replace a failed call in the stored calls by one call for each of its chunks; see `calls_of`."""
    with kb.database.transaction():  # other calls may fail at the same time
        other_calls = [call for call in kb.database.notes(BUILD).get("shared_calls", ()) if call != list(chunks)]
        kb.database.note(BUILD, shared_calls=[*other_calls, *([chunk] for chunk in chunks)])
