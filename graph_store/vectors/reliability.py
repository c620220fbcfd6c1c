"""Measure how reliable the embedding model is for the texts of a knowledge base.

An English model understands little of Chinese text, and its scores do not show that. So it is measured how often a
sentence of a chunk finds its chunk, for each script: this share is the weight of all vector-based scores.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...models.embedding.embedder import Embedder, Vectors, as_queries, dot_products
from ...schemas.documents import Chunk
from ...text.scripts import script_of
from ...text.sentences import split_sentences
from ...text.table_rows import numbered_columns
from ..ledger.database import Database
from ..ledger.document_rows import Documents
from ..ledger.version import ledger_state, note_state
from .vector_store import VectorStore

# 128 samples put the standard error of a share below 0.045.
SAMPLE = 128


@dataclass(frozen=True)
class Reliability:
    """The share of known items found by vectors, 0 to 1, for each sampled script."""

    by_script: Mapping[str, float] = field(default_factory=dict)

    def of(self, text: str) -> float:
        """Return the reliability for a text's script, or 1 if the script was not sampled."""
        return self.by_script.get(script_of(text), 1.0)


def sample_sentences(chunks: Sequence[Chunk]) -> list[tuple[int, str]]:
    """Return the row and the middle sentence of up to `SAMPLE` chunks that have several, by id, so as if random."""
    chosen: list[tuple[int, str]] = []
    for row in sorted(range(len(chunks)), key=lambda r: chunks[r].id):
        sentences = split_sentences(chunks[row].text)
        if len(sentences) > 1:
            start, end = sentences[len(sentences) // 2]
            chosen.append((row, chunks[row].text[start:end]))
            if len(chosen) == SAMPLE:
                break
    return chosen


def measure_by_script(chunks: Sequence[Chunk], vectors: Vectors, encode: Callable[[Sequence[str]], Vectors],
                      ) -> Reliability:
    """Measure for each script how often the chunk nearest to a sentence is the one that it is from, or equal to it."""
    sampled = sample_sentences(chunks)
    if not sampled or len({chunk.text for chunk in chunks}) == 1:
        return Reliability()
    nearest = np.argmax(dot_products(encode([sentence for _, sentence in sampled]), vectors), axis=1)
    is_found: dict[str, list[bool]] = {}
    for (row, sentence), best in zip(sampled, nearest, strict=True):
        if script := script_of(sentence):  # "" for a sentence of digits and signs
            is_found.setdefault(script, []).append(chunks[int(best)].text == chunks[row].text)
    return Reliability({script: round(sum(results) / len(results), 4) for script, results in sorted(is_found.items())})


class ReliabilityRecord:
    """Measures and stores the reliability of one knowledge base's vectors."""

    def __init__(self, database: Database, documents: Documents, vectors: VectorStore, embedder: Embedder) -> None:
        self._db = database
        self._documents = documents
        self._vectors = vectors
        self._embedder = as_queries(embedder)

    def current(self) -> Reliability:
        """Return the last measured reliability."""
        return Reliability(ledger_state(self._db).reliability)

    def measure(self) -> None:
        """Measure the reliability and store it for retrieval."""
        # The vectors of numbered rows are those of their table's columns: no sentence of a row finds its chunk.
        all_chunks = [chunk for chunk in self._documents.chunks() if not numbered_columns(chunk.text)]
        without_vector = set(self._vectors.missing("chunks", [chunk.id for chunk in all_chunks]))
        chunks = [chunk for chunk in all_chunks if chunk.id not in without_vector]
        vectors = self._vectors.get("chunks", [chunk.id for chunk in chunks])
        measured = measure_by_script(chunks, vectors, self._embedder.encode)
        note_state(self._db, reliability=dict(measured.by_script))
