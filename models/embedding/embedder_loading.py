"""Load the embedding model that the settings name."""

from ...config import AUTO_EMBEDDING_MODEL, DEFAULT_EMBEDDING_MODEL, MULTILINGUAL_EMBEDDING_MODEL, Settings
from .embedder import Embedder, EmbeddingError, InstructedEmbedder, is_served
from .embedding_models import default_name
from .multilingual import MultilingualEmbedder


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
