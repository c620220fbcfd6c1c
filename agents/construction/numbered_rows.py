"""Chunks of rows that no column names: no reasoner reads them."""

from ...graph_store.knowledge_base import KnowledgeBase
from ...schemas.extraction import Extraction
from ...text.table_rows import numbered_columns

_AT_ONCE = 1000


def write_numbered_rows(kb: KnowledgeBase, reader: str) -> None:
    """Write the pending chunks that consist of numbered rows alone, from which nothing is extracted.

    A large table has thousands of them: in the batches of a build, each would be stored, written and embedded by
    itself. `reader` is the fingerprint of the reasoner, which their empty extractions are stored with.
    """
    for chunk_ids in kb.documents.pending_in_tables():
        numbered = [chunk.id for chunk in kb.documents.chunks(chunk_ids) if numbered_columns(chunk.text)]
        for start in range(0, len(numbered), _AT_ONCE):
            part = numbered[start:start + _AT_ONCE]
            with kb.database.transaction():
                kb.extractions.save_all(reader, dict.fromkeys(part, Extraction()))
                kb.schema_control.write(part)
