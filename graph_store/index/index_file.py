"""The index of a knowledge base on disk: named arrays in one file, mapped into memory and shared by processes.

It is made again for another state of the ledger, or when it is damaged; processes that have mapped a replaced file can
still read it. The length of the header comes first, then the header in JSON with the type, shape and offset of each
array, then the arrays. Lists, texts and look-ups are stored in such arrays, too.
"""

import logging
import math
import mmap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import orjson
import xxhash
from numpy.typing import NDArray

from ...models.embedding.embedder import Embedder, Vectors
from ...runtime.safe_files import whole_file
from ..graph.graph_columns import Lists
from ..ledger.notes import Version
from ..vectors.vector_store import Kind

Arrays = Mapping[str, NDArray[Any]]

_LOG = logging.getLogger("banyan")
_FORMAT = "banyan-index-32"
"""Another number when the arrays change: an index of other arrays than the code reads is an error."""
_LENGTH_BYTES = 8  # in which the length of the header is written
_ALIGNED = 64  # each array takes a multiple of so many bytes, as numpy likes it


class IndexDamagedError(ValueError):
    """The file is damaged; it can be rebuilt from the ledger."""


def write(path: Path, about: Mapping[str, Any], arrays: Arrays) -> None:
    """Replace a file atomically by one with arrays, made of what `about` says; an OSError leaves the old one."""
    entries: dict[str, tuple[str, tuple[int, ...], int]] = {}  # the type, the shape and the start of each array
    end = 0
    for name, array in arrays.items():
        entries[name] = array.dtype.str, array.shape, end
        end += array.nbytes + -array.nbytes % _ALIGNED
    header = orjson.dumps({"format": _FORMAT, "about": dict(about), "arrays": entries, "size": end})
    header += b" " * (-(_LENGTH_BYTES + len(header)) % _ALIGNED)
    with whole_file(path) as file:
        file.write(len(header).to_bytes(_LENGTH_BYTES, "little") + header)
        for array in arrays.values():
            file.write(np.ascontiguousarray(array).tobytes())
            file.write(bytes(-array.nbytes % _ALIGNED))


def load(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Map the arrays of a file into memory, and return what it is of, and the arrays by name.

    Raises FileNotFoundError, or IndexDamagedError if it is cut short, not readable or of another format.
    """
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        begin = _LENGTH_BYTES + int.from_bytes(mapped[:_LENGTH_BYTES], "little")
        header = orjson.loads(mapped[_LENGTH_BYTES:begin])
        is_sound = header["format"] == _FORMAT and len(mapped) == begin + header["size"]
        arrays: dict[str, NDArray[Any]] = {}
        for name, (kind, shape, start) in header["arrays"].items() if is_sound else ():
            # `frombuffer` raises for a type of objects: a damaged header must not turn numbers into addresses.
            arrays[name] = np.frombuffer(mapped, kind, math.prod(shape), begin + start).reshape(shape)
    except (KeyError, TypeError, ValueError) as error:
        raise IndexDamagedError(f"{path} is damaged: {error}") from error
    if not is_sound:
        raise IndexDamagedError(f"{path} is of another format, or was cut")
    return dict(header["about"]), arrays


class IndexStore:
    """Writes and maps the index of one knowledge base."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        self._path = path
        self._embedder = embedder

    def load(self, version: Version) -> Arrays | None:
        """Map the index of a state of the ledger; return None if it is missing, damaged or of another state."""
        shown, arrays = self._load_any()
        return arrays if shown == version else None

    def save(self, version: Version, arrays: Arrays) -> None:
        """Write the arrays of a state of the ledger; an OSError leaves the old index unchanged."""
        write(self._path, {"version": list(version), "embedding": self._embedder.fingerprint}, arrays)

    def differs(self, expected: Arrays) -> bool:
        """Return True if the file's arrays differ from those that the ledger's state gives."""
        _, stored = load(self._path)
        return stored.keys() != expected.keys() or any(
            not np.array_equal(stored[name], expected[name]) for name in expected)

    def is_ahead(self, version: Version) -> bool:
        """Return True if the file is of a later state than the ledger's: an older ledger was put back."""
        shown, _ = self._load_any()
        return shown is not None and shown.epoch == version.epoch and (
            shown.position > version.position or shown.resolution > version.resolution)

    def load_earlier(self, version: Version) -> Arrays:
        """Return the file's arrays, of any state whose vectors can be used again; none if its epoch is another."""
        shown, arrays = self._load_any()
        return arrays if shown is not None and shown.epoch == version.epoch else {}

    def _load_any(self) -> tuple[Version | None, Arrays]:
        """Return the state that the file shows, and its arrays; None if it is missing, damaged or of another model."""
        try:
            about, arrays = load(self._path)
        except FileNotFoundError:
            return None, {}
        except IndexDamagedError as error:
            _LOG.warning("%s; it is made again", error)
            return None, {}
        if about["embedding"] != self._embedder.fingerprint:
            return None, {}
        return Version(*about["version"]), arrays


_Item = TypeVar("_Item")


def read_lists(arrays: Arrays, name: str) -> Lists:
    """Read the arrays `<name>.values` and `<name>.starts`, which `build_lists` or `build_inverted` built."""
    return Lists(arrays[f"{name}.values"], arrays[f"{name}.starts"])


def build_lists(name: str, rows: Iterable[Sequence[int] | NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Build the arrays of `Lists`."""
    listed = list(rows)
    lengths = [len(row) for row in listed]
    return {f"{name}.values": np.fromiter(chain.from_iterable(listed), np.int32, sum(lengths)),
            f"{name}.starts": list_starts(lengths)}


def build_inverted(name: str, owners: NDArray[Any], values: NDArray[Any], rows: int) -> dict[str, NDArray[Any]]:
    """Build the arrays of `Lists` of some rows from pairs of a row (its owner) and a number; each list is sorted."""
    order = np.lexsort((values, owners))
    return {f"{name}.values": values[order].astype(np.int32),
            f"{name}.starts": list_starts(np.bincount(owners, minlength=rows))}


def list_starts(lengths: Any) -> NDArray[Any]:
    """Return where lists of the given lengths begin in one array, and where the last one ends."""
    return narrow(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))


def narrow(ascending: NDArray[Any]) -> NDArray[Any]:
    """Return ascending integers in 32 bits if they fit, which halves the file."""
    return ascending.astype(np.int32) if ascending[-1] <= np.iinfo(np.int32).max else ascending


class LazySequence(Sequence[_Item]):
    """A sequence whose items are made when they are asked for; `make` returns the item of an index."""

    def __init__(self, size: int, make: Callable[[int], _Item]) -> None:
        self._size, self._make = size, make

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, row: Any) -> Any:
        chosen = range(self._size)[row]  # counts negative rows from the end, and raises IndexError
        return self._make(chosen) if isinstance(chosen, int) else [self._make(one) for one in chosen]


class Texts(LazySequence[str]):
    """Texts in one array of UTF-8, decoded on access."""

    def __init__(self, arrays: Arrays, name: str) -> None:
        lists = read_lists(arrays, name)
        super().__init__(len(lists), lambda row: lists[row].tobytes().decode("utf-8", "surrogatepass"))


def build_texts(name: str, items: Iterable[str | bytes]) -> dict[str, NDArray[Any]]:
    """Build the arrays of `Texts`."""
    # Copy each item and release it: every result of orjson takes several kilobytes of memory, however short it is.
    joined, lengths = bytearray(), list[int]()
    for item in items:
        part = item if isinstance(item, bytes) else item.encode("utf-8", "surrogatepass")
        joined += part
        lengths.append(len(part))
    return {f"{name}.values": np.frombuffer(joined, np.uint8), f"{name}.starts": list_starts(lengths)}


class Words:
    """The numbers of words, found by a 64-bit hash: of 10^12 unknown words, one is taken for one of ten million."""

    def __init__(self, arrays: Arrays, name: str) -> None:
        self._hashes, self._numbers = arrays[f"{name}.hashes"], arrays[f"{name}.numbers"]

    def get(self, word: str) -> int | None:
        """Return a word's number, or None if it is unknown."""
        wanted = np.uint64(_hash_word(word))
        place = int(self._hashes.searchsorted(wanted))
        if place == len(self._hashes) or self._hashes[place] != wanted:
            return None
        return int(self._numbers[place])


def build_words(name: str, known: Collection[str]) -> dict[str, NDArray[Any]]:
    """Build the arrays of `Words`; words are numbered in the given order."""
    hashes = np.fromiter(map(_hash_word, known), np.uint64, len(known))
    order = np.argsort(hashes, kind="stable")
    return {f"{name}.hashes": hashes[order], f"{name}.numbers": order.astype(np.int32)}


class Ids(Mapping[str, int]):
    """The rows of ids; iterates in the order of the rows."""

    def __init__(self, arrays: Arrays, name: str) -> None:
        self._ids, self._rows = arrays[name], Words(arrays, name)

    def __getitem__(self, key: str) -> int:
        row = self._rows.get(key)
        if row is None or self.at(row) != key:  # an unknown id may share its hash with a known one
            raise KeyError(key)
        return row

    def at(self, row: int) -> str:
        """Return the id of a row."""
        return str(self._ids[row].decode())

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[str]:
        return (key.decode() for key in self._ids)


def build_ids(name: str, keys: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Build the arrays of `Ids`."""
    return {name: np.array([key.encode("ascii") for key in keys], "S"), **build_words(name, keys)}


def _hash_word(word: str) -> int:
    return xxhash.xxh3_64_intdigest(word.encode("utf-8", "surrogatepass"))


def read_vectors(arrays: Arrays, kind: Kind, ids: Iterable[str]) -> dict[str, Vectors]:
    """Return the vectors of those of some ids that have one in an index, each of shape (d,)."""
    if kind not in arrays:
        return {}
    rows, vectors = Ids(arrays, kind), arrays[f"{kind}.vectors"]
    found = {key: rows.get(key) for key in ids}
    return {key: vectors[row] for key, row in found.items() if row is not None}
