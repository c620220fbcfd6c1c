"""The graph's file: node-link JSON that `networkx.node_link_graph` reads, written whole and atomically.

Beside what NetworkX reads, the object has the member `banyan`: the state of the knowledge base that the graph is of,
and a checksum. A file that is missing, cut short or altered is rebuilt from the ledger.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import orjson

from ...runtime.whole_file import whole_file
from .tree_graph import NodeLink, TreeGraph

_FORMAT = "banyan-graph-1"


class GraphFileDamagedError(ValueError):
    """The file is not what was written; it can be rebuilt from the ledger."""


def save(path: Path, state: Sequence[int], graph: NodeLink) -> None:
    """Write the graph of a state: a reader sees the old file or the new one.

    Raises:
        OSError: the disk is full or not writable; the old file is unchanged.
    """
    about = orjson.dumps({"directed": True, "multigraph": True, "graph": graph.about})[1:-1]
    nodes, edges = b",".join(map(orjson.dumps, graph.nodes)), b",".join(map(orjson.dumps, graph.edges))
    body = b'%s,"nodes":[%s],"edges":[%s]}\n' % (about, nodes, edges)
    header = orjson.dumps({"banyan": {"format": _FORMAT, "state": list(state), "sha256": _checksum(state, body)}})
    with whole_file(path) as file:
        file.write(header[:-1] + b",\n" + body)


def is_of(path: Path, state: Sequence[int]) -> bool:
    """Return True if the file says that it is of a state; only its first line is read."""
    try:
        with path.open("rb") as file:
            return bool(_about(path, file.readline()).get("state") == list(state))
    except (FileNotFoundError, GraphFileDamagedError):
        return False


def load(path: Path) -> tuple[list[int], TreeGraph]:
    """Read the graph, and the state that it is of.

    Raises:
        FileNotFoundError: there is no such file.
        GraphFileDamagedError: it is not what was written.
    """
    import networkx as nx  # noqa: PLC0415  (see `KnowledgeGraph`)

    header, _, body = path.read_bytes().partition(b"\n")
    about = _about(path, header)
    try:
        if about["sha256"] != _checksum(about["state"], body):
            raise GraphFileDamagedError(f"{path} is damaged or of another format")
        network = cast("TreeGraph", nx.node_link_graph(orjson.loads(b"{" + body), edges="edges"))
        return list(about["state"]), network
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


def _checksum(state: Sequence[int], body: bytes) -> str:
    return hashlib.sha256(f"{list(state)}\n".encode() + body).hexdigest()
