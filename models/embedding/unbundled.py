"""Embedding models that are not bundled: any OpenAI-compatible endpoint's, and any sentence-transformers model here."""

import hashlib
from collections.abc import Sequence
from threading import Lock

import numpy as np
from safetensors import SafetensorError

from ...config import OPENAI, Settings
from ..llm.served import ServedModel
from ..local_models import local_model
from ..reasoner import ReasonerError
from .embedder import EmbeddingError, Vectors, encode_distinct


class SentenceTransformerEmbedder:
    """A sentence-transformers model in torch, by its folder or its name on the Hugging Face hub.

    A name without owner is one of sentence-transformers. Nothing is downloaded and no pickled weights are read.
    """

    def __init__(self, name: str, batch: int) -> None:
        try:
            folder = local_model(name, name if "/" in name else f"sentence-transformers/{name}")
        except FileNotFoundError as error:
            raise EmbeddingError(f"The embedding model {name!r} is not on this machine: {error}, give a local folder "
                                 "in BANYAN_EMBEDDING_MODEL, or leave that unset for the bundled model. If an endpoint "
                                 "serves it, set BANYAN_EMBEDDING_BASE_URL and BANYAN_EMBEDDING_MODEL.") from error
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415  (seconds, and there may be no model)

        try:
            self._model = SentenceTransformer(
                str(folder), local_files_only=True, model_kwargs={"use_safetensors": True}
            )
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            raise EmbeddingError(
                f"The embedding model {name!r} in {folder} cannot be loaded: {error}. It must be a "
                "sentence-transformers model with safetensors weights; store it again or choose another "
                "with BANYAN_EMBEDDING_MODEL."
            ) from error
        self.name = name
        self._batch = batch
        self._lock = Lock()  # its tokenizer's state changes during a call
        self.dimension = len(self._encode([""])[0])
        import torch  # noqa: PLC0415  (comes with sentence-transformers, seconds)

        digest = hashlib.sha256()
        for key, tensor in sorted(self._model.state_dict().items()):
            digest.update(key.encode())
            digest.update(tensor.cpu().contiguous().flatten().view(torch.uint8).numpy())
        self.fingerprint = f"{name}:{digest.hexdigest()[:20]}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts; see `Embedder.encode`."""
        return encode_distinct(texts, self._encode, self.name, self.dimension)

    def _encode(self, texts: list[str]) -> Vectors:
        """Return the unit vectors of texts; one call at a time."""
        with self._lock:
            vectors = self._model.encode(
                texts, batch_size=self._batch, normalize_embeddings=True, show_progress_bar=False
            )
        return np.asarray(vectors, np.float32)


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
            raise EmbeddingError(
                f"The embeddings failed: {error}. BANYAN_EMBEDDING_BATCH is {self._batch}: lower it if the endpoint "
                f"takes fewer texts at once; the longest text begins {max(texts, key=len)[:60]!r}") from error
        try:
            rows = [[row["embedding"] for row in sorted(answer["data"], key=lambda row: row["index"])]
                    for answer in answers]
            vectors = np.array([vector for batch in rows for vector in batch], np.float32)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        except (KeyError, TypeError, ValueError) as error:
            raise self._unreadable_reply() from error
        is_complete = [len(batch) for batch in rows] == [len(batch) for batch in batches]
        is_matrix = vectors.shape == (len(texts), vectors.shape[-1])
        if not (is_complete and is_matrix and np.isfinite(lengths).all() and lengths.all()):
            raise self._unreadable_reply()
        return np.asarray(vectors / lengths, np.float32)

    def _unreadable_reply(self) -> EmbeddingError:
        return EmbeddingError(f"The embedding model {self.name!r} sent no vector for each text: check "
                              "BANYAN_EMBEDDING_BASE_URL, and that BANYAN_EMBEDDING_MODEL is an embedding model")
