"""Loads and searches all indexes in a folder of Chroma's: run in a separate process, which a damaged one may end."""

import sys
from contextlib import closing
from typing import cast

import chromadb
import numpy as np
from chromadb.api.client import Client
from chromadb.config import Settings

_PAGE, _SEARCHED = 1000, 100
_LENGTH_ERROR = 1e-3


def main() -> None:
    """Read every vector in the folder that is named, and search for some of them.

    Raises:
        ValueError: one is not of length 1, as all of ours are.
        ChromaError: something cannot be read.
    """
    for name in _names(sys.argv[1]):
        _read(sys.argv[1], name)


def _client(path: str) -> Client:
    return cast("Client", chromadb.PersistentClient(
        path, settings=Settings(_env_file=None, anonymized_telemetry=False)))


def _names(path: str) -> list[str]:
    with closing(_client(path)) as client:
        return [collection.name for collection in client.list_collections()]


def _read(path: str, name: str) -> None:
    """Read a collection by a client of its own: its index stays in memory until that is closed."""
    with closing(_client(path)) as client:
        collection = client.get_collection(name, embedding_function=None)
        ids = collection.get(include=[])["ids"]
        for start in range(0, len(ids), _PAGE):
            vectors = np.asarray(collection.get(ids=ids[start:start + _PAGE], include=["embeddings"])["embeddings"])
            # Compared so what is no number at all counts as wrong, too.
            if not (np.abs(np.linalg.norm(vectors, axis=1) - 1) < _LENGTH_ERROR).all():
                raise ValueError(f"vectors in {name} are not of length 1")
            collection.query(query_embeddings=vectors[:_SEARCHED], n_results=1)


if __name__ == "__main__":
    main()
