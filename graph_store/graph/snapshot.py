"""The graph's file: node-link JSON that `networkx.node_link_graph` reads, written whole and atomically.

It is one JSON object on three lines, of which NetworkX takes the last. The first says which position of the ledger it
reflects, with a checksum of all that follows. The second has the graph of mentions, from which Banyan itself goes on:
the resolved entities of the third cannot be taken apart again. The file is derived from the ledger, so one that is
missing, cut short or altered is made again.
"""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple, cast

import orjson

from ...runtime.whole_file import whole_file
from .knowledge_graph import KnowledgeGraph
from .tree_graph import TreeGraph

_FORMAT = "banyan-graph-1"


class SnapshotDamagedError(ValueError):
    """The file is not what was written; the ledger has all that is needed to make it again."""


class Snapshot(NamedTuple):
    """What Banyan reads of the file."""

    mentions: KnowledgeGraph
    position: int
    """The ledger position that the graph reflects."""
    state: list[int]
    """The state of the knowledge base, by which it is known whether the file is up to date."""


def save(path: Path, held: Snapshot, network: TreeGraph) -> None:
    """Write the graph: a reader sees the old file or the new one.

    Raises:
        OSError: the disk is full or not writable; the old file is unchanged.
    """
    import networkx as nx  # noqa: PLC0415  (see `KnowledgeGraph`)

    # Each line but the last leaves its object open, and each but the first goes on with it.
    body = b"".join([_opened({"mentions": held.mentions.dump()}), b"\n",
                     orjson.dumps(nx.node_link_data(network, edges="edges"))[1:], b"\n"])
    header = _opened({"banyan": {"format": _FORMAT, "position": held.position, "state": held.state,
                                 "sha256": _checksum(held.position, held.state, body)}})
    with whole_file(path) as file:
        file.write(b"{" + header + b"\n" + body)


def _opened(value: object) -> bytes:
    """An object's members, with others to follow."""
    return orjson.dumps(value)[1:-1] + b","


def load(path: Path) -> Snapshot:
    """What was saved, without the part that is for others.

    Raises:
        FileNotFoundError: there is no such file.
        SnapshotDamagedError: it is not what was written.
    """
    header, _, body = path.read_bytes().partition(b"\n")
    try:
        about = _closed(header.removeprefix(b"{"))["banyan"]
        position, state = about["position"], about["state"]
        if about["format"] != _FORMAT or about["sha256"] != _checksum(position, state, body):
            raise SnapshotDamagedError(f"{path} is damaged or of another format")
        mentions = _closed(body.partition(b"\n")[0])["mentions"]
        return Snapshot(KnowledgeGraph.load(mentions), int(position), state)
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise SnapshotDamagedError(f"{path} is damaged: {error}") from error


def _closed(members: bytes) -> dict[str, Any]:
    return cast("dict[str, Any]", orjson.loads(b"{" + members.removesuffix(b",") + b"}"))


def _checksum(position: int, state: list[int], body: bytes) -> str:
    # The position is part of it: a wrong one would leave changes out.
    return hashlib.sha256(f"{position} {state}\n".encode() + body).hexdigest()
