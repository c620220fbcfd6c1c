"""The embedding models of a process, where each knowledge base has its own."""

import logging
import threading
from collections.abc import Callable, Iterable

from ...config import AUTO_EMBEDDING_MODEL, DEFAULT_EMBEDDING_MODEL, MULTILINGUAL_EMBEDDING_MODEL, Settings
from ...text.languages import are_english
from .embedder import Embedder, is_served
from .multilingual import REQUIREMENT, is_installed

BUNDLED = (DEFAULT_EMBEDDING_MODEL, MULTILINGUAL_EMBEDDING_MODEL)
"""Those that `auto` chooses from."""

_LOG = logging.getLogger("banyan")


class EmbeddingModels:
    """The embedding models of a process by their names. Each is loaded once, when it is first needed."""

    def __init__(self, settings: Settings, load: Callable[[Settings], Embedder]) -> None:
        """Load nothing yet.

        Args:
            settings: say with which prefixes and in which batches to encode.
            load: loads the model that settings name.
        """
        self._settings = settings
        self._load = load
        self._loaded: dict[str, Embedder] = {}
        self._lock = threading.Lock()

    def load(self, name: str) -> Embedder:
        """Return the model of that name.

        Raises:
            EmbeddingError: it is missing, altered, or cannot be prepared.
        """
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = self._load(self._settings.model_copy(update={"embedding_model": name}))
            return self._loaded[name]


def default_name(settings: Settings) -> str:
    """Return the name of the model that encodes what belongs to no knowledge base."""
    return DEFAULT_EMBEDDING_MODEL if chooses(settings) else settings.embedding_model


def chooses(settings: Settings) -> bool:
    """Return True if each knowledge base has the model that fits its documents; an endpoint's has to be named."""
    return settings.embedding_model == AUTO_EMBEDDING_MODEL and not is_served(settings)


def fitting_model(texts: Iterable[str]) -> str:
    """Return the name of the bundled model for texts: MiniLM for English ones, else the multilingual one.

    Where the multilingual one is not installed, MiniLM has to do, and a warning names the fix.

    Args:
        texts: a sample, in any order, which changes nothing.
    """
    if are_english(texts):
        return DEFAULT_EMBEDDING_MODEL
    if is_installed():
        return MULTILINGUAL_EMBEDDING_MODEL
    _LOG.warning("not all of these documents are English: for better search run `pip install %s`, then "
                 "`banyan reindex`", REQUIREMENT)
    return DEFAULT_EMBEDDING_MODEL
