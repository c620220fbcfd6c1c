"""What a reasoner is given of a chunk."""

from collections.abc import Mapping

from ..ingest.metadata import document_name
from ..schemas.documents import Chunk
from ..schemas.extraction import ExtractionRequest
from ..text.metadata_line import metadata_line

_ABOUT_TOKENS = 40


def extraction_request(chunk: Chunk, prose: str, metadata: Mapping[str, str]) -> ExtractionRequest:
    """Return the request for a chunk's extraction.

    Args:
        chunk: the chunk.
        prose: its text without the rows that the rules read.
        metadata: what its document says of itself.
    """
    return ExtractionRequest(
        text=prose, title=chunk.title, heading=chunk.heading, opening=chunk.opening,
        document=document_name(chunk.document_id, chunk.title, metadata),
        about=metadata_line(metadata, _ABOUT_TOKENS))
