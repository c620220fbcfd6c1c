"""Import the parts of chromadb in use. The import is slow, so `backend.chroma` loads this module at first use."""

from typing import cast

import chromadb
from chromadb.api import ClientAPI
from chromadb.api.client import Client
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError

__all__ = ["ChromaError", "NotFoundError", "folder_client", "server_client"]

_SETTINGS = Settings(_env_file=None, anonymized_telemetry=False)
"""Copied for each client, because clients change their settings."""


def folder_client(path: str) -> Client:
    """Create a client of the vectors in a folder, inside this process."""
    return cast("Client", chromadb.PersistentClient(path, settings=_SETTINGS.model_copy()))


def server_client(url: str, headers: dict[str, str]) -> ClientAPI:
    """Create a client of a Chroma server."""
    return chromadb.HttpClient(host=url, headers=headers, settings=_SETTINGS.model_copy())
