"""Which embedding model the settings name."""

from ...config import DEFAULT_EMBEDDING_MODEL, Settings
from .embedder import Embedder, InstructedEmbedder, is_served
from .multilingual import MultilingualEmbedder


def load_embedder(settings: Settings) -> Embedder:
    """The embedding model the settings name, with their instructions. Nothing is downloaded.

    The default model is bundled; the first load on a machine exports it to ONNX (about 10 s).

    Raises:
        EmbeddingError: the model is missing, altered, or its export cannot be stored.
    """
    queries, passages = settings.embedding_query_prefix, settings.embedding_passage_prefix
    embedder = _load(settings)
    return InstructedEmbedder(embedder, passages, queries) if queries or passages else embedder


def _load(settings: Settings) -> Embedder:
    name, batch = settings.embedding_model, settings.embedding_batch
    if is_served(settings):
        from .endpoint_embedder import EndpointEmbedder  # noqa: PLC0415  (a twentieth of a second, for endpoints alone)

        return EndpointEmbedder(settings)
    if name == "use-multilingual":
        return MultilingualEmbedder()
    if name in {DEFAULT_EMBEDDING_MODEL, f"sentence-transformers/{DEFAULT_EMBEDDING_MODEL}"}:
        from .onnx_embedder import load_bundled  # noqa: PLC0415  (onnxruntime takes half a second)

        return load_bundled(batch)
    from .torch_embedder import SentenceTransformerEmbedder  # noqa: PLC0415  (only models that are not bundled)

    return SentenceTransformerEmbedder(name, batch)
