"""What a reasoner is given of a chunk, and what its extraction is stored as read by."""

from collections.abc import Mapping

from ..graph_store.knowledge_base import KnowledgeBase
from ..graph_store.ledger.readings import add_instructions
from ..ingest.metadata import document_name
from ..models.reasoner import Reasoner
from ..schemas.documents import Chunk
from ..schemas.extraction import ExtractionRequest
from ..text.titles import metadata_line

_ABOUT_TOKENS = 40


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
