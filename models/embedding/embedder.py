"""Embedding models: what turns texts into vectors."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...config import DEFAULT_EMBEDDING_MODEL, OPENAI, Settings
from ...runtime.telemetry import span
from ...text.scripts import script_of
from ..local_models import ModelError

Vectors = NDArray[np.float32]

_MOST_WITHOUT_BLAS = 1 << 20  # dot products that are computed without BLAS, see `dot_products`
_TRUST = 0.6
"""How far vectors count beside words, from 0 to 1: a usual share of sentences whose vectors find their own passage."""


class EmbeddingError(ModelError):
    """The embedding model cannot be used: it is missing, or cannot be prepared or asked."""


class Embedder(Protocol):
    """Turns texts into unit vectors. Safe to call from several threads.

    A model that encodes questions differently from passages has the embedder of questions as `queries`.
    """

    @property
    def name(self) -> str:
        """The model's name, as set by the user."""

    @property
    def dimension(self) -> int:
        """The length d of a vector."""

    @property
    def fingerprint(self) -> str:
        """Identifies the weights: a store made with another fingerprint holds other vectors."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of n texts: float32 of shape (n, d), rows of unit length.

        A vector depends on its text alone, up to rounding; equal texts are encoded once.
        """


class InstructedEmbedder:
    """An `Embedder` of a model that was trained with an instruction before each text, as E5 and BGE were."""

    def __init__(self, embedder: Embedder, passages: str, queries: str | None = None) -> None:
        """Put `passages` before each text, and `queries`, if given, before the texts of `self.queries`."""
        self.name, self.dimension, self.fingerprint = embedder.name, embedder.dimension, embedder.fingerprint
        if passages:  # another instruction makes other vectors; without one they are the model's own
            self.fingerprint += f":{passages}"
        self.queries: Embedder = self if queries is None else InstructedEmbedder(embedder, queries)
        self._embedder, self._instruction = embedder, passages

    def encode(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.encode`."""
        return self._embedder.encode([self._instruction + text for text in texts])


def as_queries(embedder: Embedder) -> Embedder:
    """Return the embedder for questions: `embedder` itself unless its model encodes questions differently."""
    queries: Embedder = getattr(embedder, "queries", embedder)
    return queries


def dot_products(vectors: Vectors, others: Vectors) -> Vectors:
    """Return the dot product of each vector with each other one; for unit vectors these are the cosines."""
    # BLAS is for many products only: its threads keep spinning after a call and occupy the cores.
    if len(vectors) * len(others) > _MOST_WITHOUT_BLAS:
        return np.asarray(vectors @ others.T, np.float32)
    return np.asarray(np.vecdot(others, vectors[:, None]), np.float32)


def trust_in(model: str, text: str) -> float:
    """Return how far a model's vectors of a text count, 0 to 1: not at all in a script that the model does not know."""
    # The default model is for English; a text without letters ("") has no script that it could not know.
    is_unknown_script = model == DEFAULT_EMBEDDING_MODEL and script_of(text) not in {"", "latin"}
    return 0.0 if is_unknown_script else _TRUST


def is_served(settings: Settings) -> bool:
    """Return True if the settings' embedding model is behind an endpoint."""
    return bool(settings.embedding_base_url) or settings.embedding_model.startswith(OPENAI)


def encode_distinct(texts: Sequence[str], encode: Callable[[list[str]], Vectors], model: str = "",
                    dimension: int = 0) -> Vectors:
    """Return the vector of every text, in order, and call `encode` only once, with the different texts.

    With the name of a `model`, which runs in this process, the call is recorded as a telemetry span; calls to endpoints
    have their own. With `dimension`, the length of a vector, `encode` is not called without texts.
    """
    if not texts and dimension:
        return np.zeros((0, dimension), np.float32)
    # Broken JSON may contain half a surrogate pair, which is no character and which tokenizers refuse.
    valid_texts = [text.encode(errors="replace").decode() for text in texts]
    row_of = {text: row for row, text in enumerate(dict.fromkeys(valid_texts))}
    attributes: dict[str, str | int] = {
        "gen_ai.operation.name": "embeddings", "gen_ai.request.model": model, "banyan.texts": len(row_of)}
    with span(f"embeddings {model}", attributes) if model else nullcontext():
        vectors = encode(list(row_of))
    return vectors[[row_of[text] for text in valid_texts]]
