"""Any sentence-transformers model on this machine, by name or folder."""

import hashlib
from collections.abc import Sequence
from threading import Lock

import numpy as np
from safetensors import SafetensorError

from ..local_models import local_model
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
                                 "in BANYAN_EMBEDDING_MODEL, or leave that unset for the bundled model.") from error
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
        self.fingerprint = f"{name}:{self._weights_digest()[:20]}"

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

    def _weights_digest(self) -> str:
        """Return a SHA-256 over the names and bytes of all weights."""
        import torch  # noqa: PLC0415  (comes with sentence-transformers, seconds)

        digest = hashlib.sha256()
        for key, tensor in sorted(self._model.state_dict().items()):
            digest.update(key.encode())
            digest.update(tensor.cpu().contiguous().flatten().view(torch.uint8).numpy())
        return digest.hexdigest()
