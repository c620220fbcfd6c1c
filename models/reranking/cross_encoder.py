"""A reranker with any local sentence-transformers CrossEncoder, by name or folder."""

import json
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import numpy as np
from safetensors import SafetensorError

from ..local_models import local_model
from .reranker import RerankerError, Scores

_CONFIG = "config.json"


class CrossEncoderReranker:
    """A sentence-transformers CrossEncoder in torch, without downloads and without pickled weights."""

    def __init__(self, name: str, batch: int) -> None:
        """Load the model.

        Args:
            name: its folder, or its name on the Hugging Face hub if it is in the local cache.
            batch: the most pairs scored at once.

        Raises:
            RerankerError: it is missing, cannot be read, or does not give one score for a pair.
        """
        try:
            folder = local_model(name, name)
        except FileNotFoundError as error:
            raise RerankerError(f"The cross-encoder {name!r} is not on this machine: {error}, give a local folder in "
                                "BANYAN_RERANKER, or leave that empty.") from error
        _check_scores_pairs(name, folder)
        from sentence_transformers import CrossEncoder  # noqa: PLC0415  (seconds, and there may be no model)

        try:
            self._model = CrossEncoder(str(folder), local_files_only=True, model_kwargs={"use_safetensors": True})
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            raise RerankerError(
                f"The cross-encoder {name!r} in {folder} cannot be loaded: {error}. It must be a sentence-transformers "
                "CrossEncoder with safetensors weights; store it again, choose another with BANYAN_RERANKER, or "
                "leave that empty."
            ) from error
        if self._model.num_labels != 1:
            raise RerankerError(
                f"The cross-encoder {name!r} gives {self._model.num_labels} numbers for a pair, as a classifier does; "
                "for ranking it must give one. Choose another with BANYAN_RERANKER, or leave that empty.")
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


def _check_scores_pairs(name: str, folder: Path) -> None:
    """Make sure that a model was trained to score pairs."""
    try:
        config = json.loads((folder / _CONFIG).read_text("utf-8"))
        architectures = [str(architecture) for architecture in config.get("architectures") or ()]
    except (OSError, ValueError, AttributeError) as error:
        raise RerankerError(f"The cross-encoder {name!r} in {folder} has no readable {_CONFIG}: {error}. Store it "
                            "again, choose another with BANYAN_RERANKER, or leave that empty.") from error
    heads = ("ForSequenceClassification", "ForCausalLM")
    if architectures and not any(architecture.endswith(heads) for architecture in architectures):
        raise RerankerError(
            f"{name!r} is {architectures[0]}, which encodes single texts and scores no pairs. Give a cross-encoder "
            "(…ForSequenceClassification) in BANYAN_RERANKER, or leave that empty; the model for single texts is "
            "BANYAN_EMBEDDING_MODEL.")
