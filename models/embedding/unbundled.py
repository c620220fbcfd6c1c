"""Models that are not bundled, to embed, or to score a question with a passage: on this machine or at endpoints."""

import hashlib
import json
from collections.abc import Callable, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError

from ...config import OPENAI, Settings
from ..local_models import ModelError
from ..reasoner import ReasonerError
from .embedder import EmbeddingError, Vectors, encode_distinct

if TYPE_CHECKING:
    from ..llm.http_client import ServedModel

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


def _load_model(model_class: Callable[..., Any], name: str, repository: str, variables: str) -> tuple[Any, Path]:
    """Load a sentence-transformers model, without downloads or pickles; return it and its folder."""
    from huggingface_hub import snapshot_download  # noqa: PLC0415  (bundled models do without)

    folder = Path(name)
    if not folder.is_dir():
        try:
            folder = Path(snapshot_download(repository, local_files_only=True))
        except (OSError, ValueError) as cause:
            raise ModelError(f"The model {name!r} is not on this machine: there is no such folder, and {repository!r} "
                             "is not in the Hugging Face cache. Banyan downloads nothing: fetch it with "
                             f"`hf download {repository}`, give a local folder, or set {variables}_BASE_URL if an "
                             "endpoint serves it.") from cause
    try:
        return model_class(str(folder), local_files_only=True, model_kwargs={"use_safetensors": True}), folder
    except (OSError, ValueError, AttributeError, KeyError, RuntimeError, SafetensorError) as cause:
        raise ModelError(f"The model {name!r} in {folder} cannot be loaded: {cause}. It must be a "
                         "sentence-transformers model with safetensors weights: store it again, or choose "
                         "another.") from cause


class SentenceTransformerEmbedder:
    """A sentence-transformers model in torch; a name without owner is one of sentence-transformers' own."""

    def __init__(self, name: str, batch: int) -> None:
        """Load the model; `batch` is the most texts encoded at once."""
        import torch  # noqa: PLC0415  (comes with sentence-transformers, seconds)
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415  (seconds)

        self.name, self._batch = name, batch
        repository = name if "/" in name else f"sentence-transformers/{name}"
        self._model, _ = _load_model(SentenceTransformer, name, repository, "BANYAN_EMBEDDING")
        self._lock = Lock()  # its tokenizer's state changes during a call
        self.dimension = len(self._encode([""])[0])
        weights = hashlib.sha256()
        for key, tensor in sorted(self._model.state_dict().items()):
            weights.update(key.encode())
            weights.update(tensor.cpu().contiguous().flatten().view(torch.uint8).numpy())
        self.fingerprint = f"{name}:{weights.hexdigest()[:20]}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts; see `Embedder.encode`."""
        return encode_distinct(texts, self._encode, self.name, self.dimension)

    def _encode(self, texts: list[str]) -> Vectors:
        with self._lock:
            vectors = self._model.encode(texts, batch_size=self._batch, normalize_embeddings=True,
                                         show_progress_bar=False)
        return np.asarray(vectors, np.float32)


class CrossEncoderReranker:
    """A sentence-transformers CrossEncoder in torch."""

    def __init__(self, name: str, batch: int) -> None:
        """Load a model by its folder or name on the Hugging Face hub; `batch` is the most pairs scored at once."""
        from sentence_transformers import CrossEncoder  # noqa: PLC0415  (seconds)

        self._name, self._batch = name, batch
        self._model, folder = _load_model(CrossEncoder, name, name, "BANYAN_RERANKER")
        # A model for single texts would get a final layer of random weights; the name of its class tells it.
        architectures = json.loads((folder / "config.json").read_text("utf-8")).get("architectures") or [""]
        if self._model.num_labels != 1 or architectures[0].endswith(("Model", "ForMaskedLM")):
            raise RerankerError(
                f"The cross-encoder {name!r} ({architectures[0]}) gives {self._model.num_labels} numbers for a pair, "
                "or was not trained to score pairs. Choose another with BANYAN_RERANKER, or leave that empty.")
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


def _serve(settings: Settings, variables: str, operation: str, **own: Any) -> "ServedModel":
    """Return a model at an endpoint; its `own` address, key and name take the place of the chat's in the settings."""
    from ..llm.http_client import ServedModel  # noqa: PLC0415  (a second of imports, only for what makes a call)

    return ServedModel(settings.model_copy(update=own), variables, operation)


class EndpointEmbedder:
    """A model behind `/embeddings`, called with several batches at once within the limits of the process."""

    def __init__(self, settings: Settings) -> None:
        self.name, self._batch = settings.embedding_model, settings.embedding_batch
        self._served = _serve(settings, "BANYAN_EMBEDDING", "embeddings", llm_base_url=settings.embedding_base_url,
                              llm_api_key=settings.embedding_api_key, llm_model=self.name)
        # The prefix says that the model is OpenAI's, if there is no address; the endpoint does not know it.
        self._sent_name = self.name if settings.embedding_base_url else self.name.removeprefix(OPENAI)
        self.dimension = len(self._encode(["dimension"])[0])
        # The fingerprint has no address: an endpoint that moves serves the same vectors.
        self.fingerprint = f"endpoint:{self._sent_name}:{self.dimension}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode texts; see `Embedder.encode`."""
        return encode_distinct(texts, self._encode, dimension=self.dimension)

    def _encode(self, texts: list[str]) -> Vectors:
        filled_texts = [text or " " for text in texts]  # some endpoints refuse an empty text
        batches = [filled_texts[start:start + self._batch] for start in range(0, len(texts), self._batch)]
        try:
            answers = self._served.post("/embeddings", [  # each body with the texts to count
                ({"model": self._sent_name, "input": batch, "encoding_format": "float"}, batch) for batch in batches])
        except ReasonerError as error:
            raise EmbeddingError(
                f"The embeddings failed: {error}. BANYAN_EMBEDDING_BATCH is {self._batch}: lower it if the endpoint "
                f"takes fewer texts at once; the longest text begins {max(texts, key=len)[:60]!r}") from error
        try:
            rows = [[row["embedding"] for row in sorted(answer["data"], key=itemgetter("index"))] for answer in answers]
            vectors = np.array([*chain.from_iterable(rows)], np.float32)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            has_all_rows = [*map(len, rows)] == [*map(len, batches)] and vectors.ndim == 2  # noqa: PLR2004
            # A vector of length 0 or with infinite numbers has no direction, so no cosine.
            is_usable = has_all_rows and np.isfinite(lengths).all() and lengths.all()
        except (KeyError, TypeError, ValueError):  # ValueError: vectors of different lengths, or no numbers
            is_usable = False
        if not is_usable:
            raise EmbeddingError(f"The embedding model {self.name!r} sent no vector for each text: check "
                                 "BANYAN_EMBEDDING_BASE_URL, and that BANYAN_EMBEDDING_MODEL is an embedding model")
        return np.asarray(vectors / lengths, np.float32)


class EndpointReranker:
    """A model behind `/rerank`, as Jina, Cohere, vLLM and llama.cpp have it, within the limits of the process."""

    def __init__(self, settings: Settings) -> None:
        self._model = settings.reranker
        self._served = _serve(settings, "BANYAN_RERANKER", "rerank", llm_base_url=settings.reranker_base_url,
                              llm_api_key=settings.reranker_api_key, llm_model=settings.reranker)

    def scores(self, question: str, texts: Sequence[str]) -> Scores:
        """Score texts for a question; see `Reranker.scores`."""
        if not texts:
            return np.zeros(0, np.float32)
        body = {"model": self._model, "query": question, "documents": list(texts), "top_n": len(texts)}
        try:
            (answer,) = self._served.post("/rerank", [(body, [question, *texts])])
        except ReasonerError as error:
            raise RerankerError(f"The reranker failed: {error}") from error
        try:
            score_at = {result["index"]: result["relevance_score"] for result in answer["results"]}
            scores = np.array([score_at[index] for index in range(len(texts))], np.float32)
        except (KeyError, TypeError, ValueError):
            scores = np.full(1, np.nan)  # fails the check below
        if not np.isfinite(scores).all():
            raise RerankerError(f"The reranker {self._model!r} did not send a score for each passage: check "
                                "BANYAN_RERANKER_BASE_URL and BANYAN_RERANKER, or leave the latter empty")
        return np.asarray(scores, np.float32)
