"""The optional cross-encoder: it reads a question and a passage together, and scores how well they match."""

import json
from collections.abc import Sequence
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..config import Settings
from .local_models import ModelError, local_model
from .reasoner import ReasonerError

Scores = NDArray[np.float32]


class RerankerError(ModelError):
    """The cross-encoder in the settings cannot be used."""


class Reranker(Protocol):
    """A scorer of texts for a question. Safe to call from several threads."""

    def scores(self, question: str, texts: Sequence[str]) -> Scores:
        """Return how well each text matches the question: higher is better, on a scale of the model."""


def load_reranker(settings: Settings) -> Reranker | None:
    """Load the cross-encoder in the settings, or return None if they name none. Nothing is downloaded."""
    if not settings.reranker:
        return None
    if settings.reranker_base_url:
        return EndpointReranker(settings)
    return CrossEncoderReranker(settings.reranker, settings.embedding_batch)


class CrossEncoderReranker:
    """A sentence-transformers CrossEncoder in torch, without downloads and without pickled weights."""

    def __init__(self, name: str, batch: int) -> None:
        """Load a model by its folder or name on the Hugging Face hub; `batch` is the most pairs scored at once."""
        try:
            folder = local_model(name, name)
        except FileNotFoundError as error:
            raise RerankerError(f"The cross-encoder {name!r} is not on this machine: {error}, give a local folder in "
                                "BANYAN_RERANKER, or leave that empty.") from error
        from safetensors import SafetensorError  # noqa: PLC0415
        from sentence_transformers import CrossEncoder  # noqa: PLC0415  (seconds, and there may be no model)

        try:
            architectures = json.loads((folder / "config.json").read_text("utf-8")).get("architectures") or [""]
            self._model = CrossEncoder(str(folder), local_files_only=True, model_kwargs={"use_safetensors": True})
        except (OSError, ValueError, AttributeError, KeyError, RuntimeError, SafetensorError) as error:
            raise RerankerError(
                f"The cross-encoder {name!r} in {folder} cannot be loaded: {error}. It must be a sentence-transformers "
                "CrossEncoder with safetensors weights; store it again, choose another with BANYAN_RERANKER, or "
                "leave that empty.") from error
        # A model for single texts would get a head of random weights.
        if self._model.num_labels != 1 or architectures[0].endswith(("Model", "ForMaskedLM")):
            raise RerankerError(
                f"The cross-encoder {name!r} ({architectures[0]}) gives {self._model.num_labels} numbers for a pair, "
                "or was not trained to score pairs. Choose another with BANYAN_RERANKER, or leave that empty; the "
                "model for single texts is BANYAN_EMBEDDING_MODEL.")
        self._name = name
        self._batch = batch
        self._lock = Lock()  # its tokenizer's state changes during a call

    def scores(self, question: str, texts: Sequence[str]) -> Scores:
        """Score texts for a question; see `Reranker.scores`."""
        if not texts:
            return np.zeros(0, np.float32)
        # Tokenizers reject half a surrogate pair, which broken JSON may contain.
        pairs = [tuple(text.encode(errors="replace").decode() for text in (question, other)) for other in texts]
        with self._lock:
            scores = np.asarray(self._model.predict(pairs, batch_size=self._batch, show_progress_bar=False), np.float64)
        if not np.isfinite(scores).all():
            raise RerankerError(f"The cross-encoder {self._name!r} gave a score that is no number: its weights are "
                                "damaged. Store it again, or leave BANYAN_RERANKER empty.")
        # Batch sizes affect rounding, so scores that differ only by that count as equal.
        return np.round(scores, 5).astype(np.float32)


class EndpointReranker:
    """A model behind `/rerank`, as Jina, Cohere, vLLM and llama.cpp have it, within the limits of the process."""

    def __init__(self, settings: Settings) -> None:
        from .llm.served import ServedModel  # noqa: PLC0415  (a twentieth of a second, for endpoints alone)

        self._model = settings.reranker
        self._served = ServedModel(settings.model_copy(update={
            "llm_base_url": settings.reranker_base_url, "llm_api_key": settings.reranker_api_key,
            "llm_model": settings.reranker}), variables="BANYAN_RERANKER", operation="rerank")

    def scores(self, question: str, texts: Sequence[str]) -> Scores:
        """Score texts for a question; see `Reranker.scores`."""
        if not texts:
            return np.zeros(0, np.float32)
        body = {"model": self._model, "query": question, "documents": list(texts), "top_n": len(texts)}
        try:
            (answer,) = self._served.post("/rerank", [(body, [question, *texts])])
        except ReasonerError as error:
            raise RerankerError(f"The reranker failed: {error}") from error
        scores = np.full(len(texts), np.nan, np.float32)
        try:
            for result in answer["results"]:
                if result["index"] not in range(len(texts)):  # NumPy would count a negative one from the end
                    raise self._unreadable_reply()
                scores[result["index"]] = result["relevance_score"]
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise self._unreadable_reply() from error
        if not np.isfinite(scores).all():
            raise self._unreadable_reply()
        return scores

    def _unreadable_reply(self) -> RerankerError:
        return RerankerError(f"The reranker {self._model!r} did not send a score for each passage: check "
                             "BANYAN_RERANKER_BASE_URL and BANYAN_RERANKER, or leave the latter empty")
