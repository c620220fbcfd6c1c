"""The graph's file: JSON, written whole and atomically, with the ledger position it reflects.

It is derived from the ledger: a file that is missing, cut short or altered is made again.
"""

import hashlib
import os
import tempfile
from pathlib import Path

import orjson

from .knowledge_graph import KnowledgeGraph

_FORMAT = "banyan-graph-1"


class SnapshotDamagedError(ValueError):
    """The file is not what was written; the ledger has all that is needed to make it again."""


def save(path: Path, graph: KnowledgeGraph, position: int) -> None:
    """Write the graph to a temporary file and move it to `path`: a reader sees the old file or the new one.

    Raises:
        OSError: the disk is full or not writable; the old file is unchanged.
    """
    body = orjson.dumps(graph.dump())
    header = orjson.dumps({"format": _FORMAT, "position": position, "sha256": _checksum(position, body)})
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(header + b"\n" + body)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def load(path: Path) -> tuple[KnowledgeGraph, int]:
    """The graph and the ledger position that it reflects.

    Raises:
        FileNotFoundError: there is no such file.
        SnapshotDamagedError: it is not what was written.
    """
    header, _, body = path.read_bytes().partition(b"\n")
    try:
        about = orjson.loads(header)
        if about["format"] != _FORMAT or about["sha256"] != _checksum(about["position"], body):
            raise SnapshotDamagedError(f"{path} is damaged or of another format")
        return KnowledgeGraph.load(orjson.loads(body)), int(about["position"])
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise SnapshotDamagedError(f"{path} is damaged: {error}") from error


def _checksum(position: int, body: bytes) -> str:
    # The position is part of it: a wrong one would leave changes out.
    return hashlib.sha256(f"{position}\n".encode() + body).hexdigest()
