"""Choose, record and load the embedding model of a knowledge base."""

from collections.abc import Sequence

from ...models.embedding.embedder import Embedder, Vectors, as_queries
from ...models.embedding.embedding_models import EmbeddingModels, fitting_model
from ...models.local_models import ModelError
from ..ledger.database import Database
from ..ledger.document_rows import Documents

_SAMPLE = 512
"""The number of chunks by which the model is chosen. A share of 10% is then measured to within 3%."""


def model_for(documents: Documents) -> str:
    """Return the name of the model that fits the languages of documents, judged by a sample of their chunks.

    The sample does not depend on the order of the documents.
    """
    return fitting_model(chunk.text for chunk in documents.sample(_SAMPLE))


def recorded_model(database: Database) -> tuple[str, str]:
    """Return the name and fingerprint of the model recorded in a ledger; both "" if none is recorded yet."""
    name, _, fingerprint = str(database.notes("settings").get("embedding", "")).partition("\n")
    return name, fingerprint


def record_model(database: Database, embedder: Embedder) -> None:
    """Record in the ledger which model its vectors come from."""
    database.note("settings", embedding=f"{embedder.name}\n{embedder.fingerprint}")


class LedgerEmbedder:
    """The `Embedder` of one knowledge base, loaded at first use; before one is chosen, the default model."""

    def __init__(self, models: EmbeddingModels, database: Database, name: str = "",
                 passages: "LedgerEmbedder | None" = None) -> None:
        """Prepare to load the model, without looking it up yet.

        `name` is given if it is not the recorded one, as during a reindex; with `passages`, this embedder encodes
        questions with the same model.
        """
        self._models = models
        self._db = database
        self._name = name
        self._passages = passages

    def choose(self, documents: Documents) -> bool:
        """Choose the model that fits the documents and record it, unless one is recorded; return True if it did so."""
        if recorded_model(self._db)[0]:
            return False
        self._name = ""
        record_model(self._db, self._models.load(self._models.chosen or model_for(documents)))
        return True

    def reread(self) -> None:
        """Read the model's name from the ledger at the next use, because another process may have reindexed."""
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
        """The loaded model: the one given by name, else the one for what is recorded."""
        if self._passages is not None:
            return as_queries(self._passages._model)  # noqa: SLF001  (of its own kind)
        self._name = self._name or recorded_model(self._db)[0]
        try:
            return self._models.load(self._models.name_for(self._name))
        except ModelError as error:
            raise ModelError(f"{error} Or run `banyan reindex` to embed the knowledge base with another model."
                                 ) from error
