"""The graph's file: node-link JSON that `networkx.node_link_graph` reads, written whole and atomically.

Beside what NetworkX reads, the object has the member `banyan`: the state of the knowledge base that the graph is of,
and a checksum. The file is derived from the ledger, so one that is missing, cut short or altered is made again.
"""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import orjson

from ...runtime.whole_file import whole_file
from .tree_graph import NodeLink, TreeGraph

_FORMAT = "banyan-graph-1"
_LARGE = 50_000
"""Triples from which the file may be of an earlier state: about 40 MB."""


class GraphFileDamagedError(ValueError):
    """The file is not what was written; the ledger has all that is needed to make it again."""


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


def state_of(path: Path) -> list[int]:
    """Return the state that the file says it is of; empty where there is none.

    Raises:
        GraphFileDamagedError: it is not what was written.
    """
    try:
        with path.open("rb") as file:
            return list(_about(path, file.readline())["state"])
    except FileNotFoundError:
        return []
    except (KeyError, TypeError) as error:
        raise GraphFileDamagedError(f"{path} is damaged: {error}") from error


def is_due(path: Path, state: Sequence[int], triples: Callable[[], int]) -> bool:
    """Return True if the graph of a state, whose last number is that of its documents, is to be written.

    A large one is written only after a tenth of its documents came or went: the bytes written stay proportional to what
    is added. Its triples are counted only where the file is of another state.
    """
    try:
        then = state_of(path)
    except GraphFileDamagedError:
        return True
    return then != list(state) and (not then or triples() <= _LARGE or 10 * abs(state[-1] - then[-1]) > state[-1])


def read(path: Path, state: Sequence[int]) -> "TreeGraph | None":
    """Return the graph of the file; None where there is none of a state.

    Raises:
        GraphFileDamagedError: it is not what was written.
    """
    try:
        return load(path)[1] if state_of(path) == list(state) else None
    except FileNotFoundError:  # removed in this moment
        return None


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
