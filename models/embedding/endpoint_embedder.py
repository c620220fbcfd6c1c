"""Embeddings from any OpenAI-compatible endpoint."""

from collections.abc import Sequence

import numpy as np

from ...config import OPENAI, Settings
from ..llm.served import ServedModel
from ..reasoner import ReasonerError
from .embedder import EmbeddingError, Vectors, encode_distinct


class EndpointEmbedder:
    """A model behind `/embeddings`, called with several batches at once within the limits of the process."""

    def __init__(self, settings: Settings) -> None:
        """Ask the model once, for its dimension."""
        model = settings.embedding_model
        self._model = model if settings.embedding_base_url else model.removeprefix(OPENAI)
        self._batch = settings.embedding_batch
        self._served = ServedModel(settings.model_copy(update={
            "llm_base_url": settings.embedding_base_url, "llm_api_key": settings.embedding_api_key,
            "llm_model": model}), variables="BANYAN_EMBEDDING", operation="embeddings")
        self.name = model
        self.dimension = len(self._encode(["dimension"])[0])
        # The fingerprint has no address: an endpoint that moves serves the same vectors.
        self.fingerprint = f"endpoint:{self._model}:{self.dimension}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts; see `Embedder.encode`."""
        return encode_distinct(texts, self._encode, dimension=self.dimension)

    def _encode(self, texts: list[str]) -> Vectors:
        """Return a unit vector for each text, requested in batches."""
        # An empty text is refused by some endpoints.
        batches = [[text or " " for text in texts[start:start + self._batch]]
                   for start in range(0, len(texts), self._batch)]
        try:
            answers = self._served.post("/embeddings", [
                ({"model": self._model, "input": batch, "encoding_format": "float"}, batch) for batch in batches])
        except ReasonerError as error:
            raise EmbeddingError(f"The embeddings failed: {error}") from error
        try:
            rows = [[row["embedding"] for row in sorted(answer["data"], key=lambda row: row["index"])]
                    for answer in answers]
            vectors = np.array([vector for batch in rows for vector in batch], np.float32)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        except (KeyError, TypeError, ValueError) as error:
            raise self._unreadable() from error
        is_complete = [len(batch) for batch in rows] == [len(batch) for batch in batches]
        if not is_complete or not np.isfinite(lengths).all() or not lengths.all():
            raise self._unreadable()
        return np.asarray(vectors / lengths, np.float32)

    def _unreadable(self) -> EmbeddingError:
        return EmbeddingError(f"The embedding model {self.name!r} sent no vector for each text: check "
                              "BANYAN_EMBEDDING_BASE_URL, and that BANYAN_EMBEDDING_MODEL is an embedding model")
