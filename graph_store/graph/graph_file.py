"""The graph's file: node-link JSON that `networkx.node_link_graph` reads, written whole and atomically.

Beside what NetworkX reads, the object has the member `banyan`: the state of the knowledge base that the graph is of.
The file is for others: Banyan only writes it, and `verify` compares it with the rows.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from ...runtime.safe_files import whole_file
from .tree_graph import NodeLink

_FORMAT = "banyan-graph-1"


class GraphFileDamagedError(ValueError):
    """The file is not what was written; it can be rebuilt from the ledger."""


def save(path: Path, state: Sequence[int], graph: NodeLink) -> None:
    """Write the graph of a state: a reader sees the old file or the new one.

    Raises:
        OSError: the disk is full or not writable; the old file is unchanged.
    """
    with whole_file(path) as file:
        file.write(orjson.dumps({"banyan": {"format": _FORMAT, "state": list(state)}})[:-1] + b",\n")
        for part in _body(graph):
            file.write(part)


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
            return _state(path, file.readline()) == list(state)
    except (FileNotFoundError, GraphFileDamagedError):
        return False


def load(path: Path) -> tuple[list[int], dict[str, Any]]:
    """Read the state that the graph is of, and the graph as `networkx.node_link_graph` takes it.

    Raises:
        FileNotFoundError: there is no such file.
        GraphFileDamagedError: it is not what was written.
    """
    with path.open("rb") as file:
        state, body = _state(path, file.readline()), file.read()
    try:
        return state, orjson.loads(b"{" + body)
    except orjson.JSONDecodeError as error:
        raise GraphFileDamagedError(f"{path} is damaged: {error}") from error


def _state(path: Path, header: bytes) -> list[int]:
    try:
        about = orjson.loads(header.rstrip(b"\n").removesuffix(b",") + b"}")["banyan"]
        if about["format"] == _FORMAT:
            return list(about["state"])
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise GraphFileDamagedError(f"{path} is damaged: {error}") from error
    raise GraphFileDamagedError(f"{path} is of another format")
