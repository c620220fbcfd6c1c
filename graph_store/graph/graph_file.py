"""The graph's file: node-link JSON that `networkx.node_link_graph` reads, written whole and atomically.

Beside what NetworkX reads, the object has the member `banyan`: the state of the knowledge base that the graph is of,
and a checksum. It is for others: Banyan only writes and checks it.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from ...runtime.whole_file import whole_file
from .tree_graph import NodeLink

_FORMAT = "banyan-graph-1"


class GraphFileDamagedError(ValueError):
    """The file is not what was written; it can be rebuilt from the ledger."""


def save(path: Path, state: Sequence[int], graph: NodeLink) -> None:
    """Write the graph of a state: a reader sees the old file or the new one.

    Raises:
        OSError: the disk is full or not writable; the old file is unchanged.
    """
    checksum = _checksum(state)
    with whole_file(path) as file:
        file.write(_header(state, checksum.hexdigest()))  # as long as the one that replaces it
        for part in _body(graph):
            checksum.update(part)
            file.write(part)
        file.seek(0)
        file.write(_header(state, checksum.hexdigest()))


def _header(state: Sequence[int], checksum: str) -> bytes:
    return orjson.dumps({"banyan": {"format": _FORMAT, "state": list(state), "sha256": checksum}})[:-1] + b",\n"


def _body(graph: NodeLink) -> Iterator[bytes]:
    """Yield what follows the header, a node or an edge at a time: as a whole it would take several times the graph."""
    yield orjson.dumps({"directed": True, "multigraph": True, "graph": graph.about})[1:-1]
    for name, members in (("nodes", graph.nodes), ("edges", graph.edges)):
        before = b',"%s":[' % name.encode()
        for member in members:
            yield before + orjson.dumps(member)
            before = b","
        yield b"]" if before == b"," else before + b"]"
    yield b"}\n"


def is_of(path: Path, state: Sequence[int]) -> bool:
    """Return True if the file says that it is of a state; only its first line is read."""
    try:
        with path.open("rb") as file:
            return bool(_about(path, file.readline()).get("state") == list(state))
    except (FileNotFoundError, GraphFileDamagedError):
        return False


def load(path: Path) -> tuple[list[int], dict[str, Any]]:
    """Read the state that the graph is of, and the graph as `networkx.node_link_graph` takes it.

    Raises:
        FileNotFoundError: there is no such file.
        GraphFileDamagedError: it is not what was written.
    """
    with path.open("rb") as file:
        about, body = _about(path, file.readline()), file.read()
    try:
        checksum = _checksum(about["state"])
        checksum.update(body)
        if about["sha256"] != checksum.hexdigest():
            raise GraphFileDamagedError(f"{path} is damaged or of another format")
        return list(about["state"]), orjson.loads(b"{" + body)
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise GraphFileDamagedError(f"{path} is damaged: {error}") from error


def _about(path: Path, header: bytes) -> dict[str, Any]:
    try:
        about = orjson.loads(header.rstrip(b"\n").removesuffix(b",") + b"}")["banyan"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise GraphFileDamagedError(f"{path} is damaged: {error}") from error
    if not isinstance(about, dict) or about.get("format") != _FORMAT:
        raise GraphFileDamagedError(f"{path} is damaged or of another format")
    return about


def _checksum(state: Sequence[int]) -> "hashlib._Hash":
    """Return the checksum of a state, to be updated with the body."""
    return hashlib.sha256(f"{list(state)}\n".encode())
