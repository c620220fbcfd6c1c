"""What tests of the loaders share: files written, documents loaded, and the one reason why a file failed."""

from pathlib import Path

from banyan.ingest.loaders import load_documents
from banyan.ingest.reading import DEFAULT_LIMITS, Limits, LoadFailure
from banyan.schemas.documents import Document


def load(*paths: Path, limits: Limits = DEFAULT_LIMITS) -> tuple[list[Document], list[LoadFailure]]:
    failures: list[LoadFailure] = []
    return list(load_documents(paths, on_failure=failures.append, limits=limits)), failures


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def only(path: Path, limits: Limits = DEFAULT_LIMITS) -> Document:
    (document,), failures = load(path, limits=limits)
    assert failures == []
    return document


def failure(path: Path, limits: Limits = DEFAULT_LIMITS) -> str:
    documents, failures = load(path, limits=limits)
    assert documents == []
    assert [found.path for found in failures] == [str(path)]
    return failures[0].reason
