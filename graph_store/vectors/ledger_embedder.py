"""The embedding model of a knowledge base: that which its ledger names."""

from collections.abc import Sequence

from ...config import DEFAULT_EMBEDDING_MODEL
from ...models.embedding.embedder import Embedder, EmbeddingError, Vectors, as_queries
from ...models.embedding.embedding_models import EmbeddingModels, fitting_model
from ..ledger.database import Database
from ..ledger.document_rows import Documents

_SAMPLE = 512
"""Chunks that the model is chosen by: the share of a tenth is sure within three in a hundred then."""


def model_for(documents: Documents) -> str:
    """Return the name of the model that fits documents, by a sample that is a function of them, not of their order."""
    return fitting_model(chunk.text for chunk in documents.sample(_SAMPLE))


def recorded_model(database: Database) -> tuple[str, str]:
    """Return the name and fingerprint of the model that a ledger names; empty: none yet."""
    name, _, fingerprint = str(database.notes("settings").get("embedding", "")).partition("\n")
    return name, fingerprint


def record_model(database: Database, embedder: Embedder) -> None:
    """Write down which model the vectors come from."""
    database.note("settings", embedding=f"{embedder.name}\n{embedder.fingerprint}")


class LedgerEmbedder:
    """The `Embedder` of one knowledge base, loaded when it is first needed.

    Until a model is chosen, for the documents of the first build, there are no vectors, and MiniLM compares labels.
    """

    def __init__(self, models: EmbeddingModels, database: Database, name: str = "",
                 passages: "LedgerEmbedder | None" = None) -> None:
        """Look nothing up yet.

        Args:
            models: those of the process.
            database: the ledger.
            name: of the model, if it is not the one that the ledger names, as while all is embedded again.
            passages: the embedder of passages, to encode questions by its model.
        """
        self._models = models
        self._db = database
        self._name = name
        self._passages = passages

    def choose(self, documents: Documents) -> bool:
        """Choose the model by a sample of documents, and record it, unless one is recorded; returns True if it did."""
        if recorded_model(self._db)[0]:
            return False
        self._name = ""
        record_model(self._db, self._models.load(model_for(documents)))
        return True

    def reread(self) -> None:
        """Go by the ledger again: another process may have embedded everything by another model."""
        self._name = ""

    @property
    def queries(self) -> "LedgerEmbedder":
        """The embedder of questions."""
        return LedgerEmbedder(self._models, self._db, passages=self)

    @property
    def name(self) -> str:
        """See `Embedder.name`."""
        return self._model.name

    @property
    def dimension(self) -> int:
        """See `Embedder.dimension`."""
        return self._model.dimension

    @property
    def fingerprint(self) -> str:
        """See `Embedder.fingerprint`."""
        return self._model.fingerprint

    def encode(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.encode`."""
        return self._model.encode(texts)

    @property
    def _model(self) -> Embedder:
        if self._passages is not None:
            return as_queries(self._passages._model)  # noqa: SLF001  (of its own kind)
        self._name = self._name or recorded_model(self._db)[0]
        try:
            return self._models.load(self._name or DEFAULT_EMBEDDING_MODEL)
        except EmbeddingError as error:
            raise EmbeddingError(f"{error} Or run `banyan reindex` to embed the knowledge base with another model."
                                 ) from error
