"""Measure how reliable the embedding model is for the texts of a knowledge base.

An English model understands little of Chinese text, and its scores do not show that. Therefore each
knowledge base measures the model on its own texts: a sentence of a chunk should find that chunk
(known-item search). The share that does, by script, is the weight of all vector-based scores. This
needs no questions and no labels.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...models.embedding.embedder import Embedder, Vectors, as_queries, products
from ...schemas.documents import Chunk
from ...text.scripts import script_of
from ...text.sentences import split_sentences
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


def sample(chunks: Sequence[Chunk]) -> list[tuple[int, str]]:
    """Return up to `SAMPLE` pairs of a row and a middle sentence, of chunks with several sentences.

    Ids are hashes of content, so the first ids in order are a random sample that does not depend on
    the order of chunks and changes little when documents are added.
    """
    chosen: list[tuple[int, str]] = []
    for row in sorted(range(len(chunks)), key=lambda r: chunks[r].id):
        sentences = split_sentences(chunks[row].text)
        if len(sentences) > 1:
            start, end = sentences[len(sentences) // 2]
            chosen.append((row, chunks[row].text[start:end]))
            if len(chosen) == SAMPLE:
                break
    return chosen


def measure(chunks: Sequence[Chunk], vectors: Vectors, encode: Callable[[Sequence[str]], Vectors],
            ) -> Reliability:
    """Measure how often the chunk nearest to a sentence, encoded as a query, is its own; vectors (n, d) are unit.

    A chunk with the same text is as good. Where all texts are the same, any model finds one, so nothing is measured.
    """
    chosen = sample(chunks)
    if not chosen or len({chunk.text for chunk in chunks}) == 1:
        return Reliability()
    nearest = np.argmax(products(encode([text for _, text in chosen]), vectors), axis=1)
    hits: dict[str, list[bool]] = {}
    for (row, text), best in zip(chosen, nearest, strict=True):
        if script := script_of(text):  # a text of digits and signs is of no script
            hits.setdefault(script, []).append(chunks[int(best)].text == chunks[row].text)
    return Reliability({script: round(sum(own) / len(own), 4) for script, own in sorted(hits.items())})


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
        texts = self._documents.chunks()
        absent = set(self._vectors.missing("chunks", [chunk.id for chunk in texts]))
        chunks = [chunk for chunk in texts if chunk.id not in absent]
        measured = measure(chunks, self._vectors.get("chunks", [chunk.id for chunk in chunks]), self._embedder.encode)
        self._vectors.release()
        note_state(self._db, reliability=dict(measured.by_script))
