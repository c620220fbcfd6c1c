"""The cross-encoder in the settings."""

from ...config import Settings
from .reranker import Reranker


def load_reranker(settings: Settings) -> Reranker | None:
    """Load the cross-encoder in the settings, or return None if they name none. Nothing is downloaded.

    Raises:
        RerankerError: the model is missing, cannot be read, or does not score pairs.
    """
    if not settings.reranker:
        return None
    if settings.reranker_base_url:
        from .endpoint_reranker import EndpointReranker  # noqa: PLC0415  (a twentieth of a second, for endpoints alone)

        return EndpointReranker(settings)
    from .cross_encoder import CrossEncoderReranker  # noqa: PLC0415  (heavy libraries, for this alone)

    return CrossEncoderReranker(settings.reranker, settings.embedding_batch)
