"""The files of Chroma's nearest-neighbour index (hnswlib), checked before they are loaded.

The library believes what it reads: one link that leads out of the array ends the whole process by a
segmentation fault, with no word to the user. So what it would follow is followed here first.

Layout, from hnswlib's `saveIndex` as Chroma 1.x splits it over four files. header.bin: the fields of
`_HEADER`. data_level0.bin: one record for each element: number of links, links, vector, label.
length.bin: one float for each element. link_lists.bin: for each element the bytes of its upper levels,
then for each level the number of links and the links.
"""

import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_HEADER = struct.Struct("<iQQQQQQiIQQQdQ")
_FILES = ("header.bin", "data_level0.bin", "length.bin", "link_lists.bin")
_WORD = 4
_NOWHERE = 0xFFFFFFFF
# The upper half of the number of links carries a mark of deletion.
_COUNT = 0xFFFF
# The library draws levels with probability 1/M each: 16 levels would take 16^16 elements.
_MOST_LEVELS = 64

_LEAST_M = 2
# hnswlib's advice ends at some hundreds.
_MOST_EF = 10_000

_LENGTH_ERROR = 1e-3

_Words = npt.NDArray[np.uint32]


class _Header(NamedTuple):
    version: int
    offset_level0: int
    room: int
    elements: int
    record: int
    label_at: int
    vector_at: int
    top_level: int
    entry: int
    links: int
    links_level0: int
    m: int
    level_factor: float
    ef: int


def damages(folder: Path) -> list[str]:
    """What is wrong with the index files under a folder of Chroma's.

    Args:
        folder: the folder that has `chroma.sqlite3`; each index is a folder in it.

    Returns:
        A line for each damaged index, which names the file; empty when all can be loaded.
    """
    found: list[str] = []
    for index in sorted(entry for entry in folder.iterdir() if entry.is_dir()):
        try:
            problem = next(_problems(index), None)
        except OSError as error:
            problem = str(error)
        if problem:
            found.append(f"{index.name}/{problem}")
    return found


def _problems(index: Path) -> Iterator[str]:
    there = [name for name in _FILES if (index / name).is_file()]
    if not there:
        return  # Chroma has not written this index yet: what is in it stands in its own SQLite file
    yield from (f"{name} is missing" for name in _FILES if name not in there)
    raw = (index / "header.bin").read_bytes()
    if len(raw) != _HEADER.size:
        yield f"header.bin has {len(raw)} bytes instead of {_HEADER.size}"
    header = _Header(*_HEADER.unpack(raw))
    yield from (f"header.bin: {line}" for line in _header(header))
    if header.elements and not (index / "index_metadata.pickle").is_file():
        yield "index_metadata.pickle is missing"
    for name, least in (("data_level0.bin", header.record), ("length.bin", _WORD)):
        size = (index / name).stat().st_size
        if size < least * header.elements:
            yield f"{name} is cut short: {size} bytes of {least * header.elements}"
    if header.elements:
        lengths = np.fromfile(index / "length.bin", np.float32, header.elements)
        # Ours are unit vectors. Compared so that what is no number counts as wrong, too.
        with np.errstate(invalid="ignore"):
            sound = bool((np.abs(lengths - 1) < _LENGTH_ERROR).all())
        if not sound:
            yield "length.bin: lengths that no vector of ours has"
        yield from _links(index, header)


def _header(header: _Header) -> Iterator[str]:
    vector = header.label_at - header.vector_at
    level0 = _WORD * (1 + header.links_level0)
    if (header.elements > header.room or header.offset_level0 != 0 or header.vector_at != level0
            or vector <= 0 or vector % _WORD or header.record != header.label_at + 8
            or header.links_level0 != 2 * header.links or header.m != header.links or header.m < _LEAST_M
            or not math.isclose(header.level_factor, 1 / math.log(header.m)) or not 0 < header.ef <= _MOST_EF):
        yield "its numbers contradict each other"
    if header.elements and not (header.entry < header.elements and 0 <= header.top_level < _MOST_LEVELS):
        yield "it enters where there is nothing"


def _links(index: Path, header: _Header) -> Iterator[str]:
    records: _Words = np.memmap(index / "data_level0.bin", np.uint32, "r", 0,
                                (header.elements, header.record // _WORD))
    counts, links = records[:, 0] & np.uint32(_COUNT), records[:, 1:1 + header.links_level0]
    if _lead_out(counts, links, np.full(header.elements, True)):
        yield "data_level0.bin: links lead out of it"
    upper = np.fromfile(index / "link_lists.bin", np.uint32)
    levels = _levels(upper, header)
    if levels is None:
        yield "link_lists.bin is not what was written"
        return
    if levels[header.entry] != header.top_level or levels.max() != header.top_level:
        yield "link_lists.bin does not reach the level that header.bin tells"
    at = 0
    for element in range(header.elements):
        at += 1
        for level in range(1, int(levels[element]) + 1):
            count = int(upper[at]) & _COUNT
            row = upper[at + 1:at + 1 + header.links]
            if _lead_out(np.array([count], np.uint32), row[None, :], levels >= level):
                yield "link_lists.bin: links lead out of it"
                return
            at += 1 + header.links


def _levels(upper: _Words, header: _Header) -> npt.NDArray[np.int64] | None:
    """How many levels each element has above the lowest; None if the file's parts do not add up."""
    levels, at, size = np.zeros(header.elements, np.int64), 0, _WORD * (1 + header.links)
    for element in range(header.elements):
        if at >= len(upper) or int(upper[at]) % size or int(upper[at]) // size >= _MOST_LEVELS:
            return None
        levels[element] = int(upper[at]) // size
        at += 1 + int(upper[at]) // _WORD
    return levels if at == len(upper) else None


def _lead_out(counts: _Words, links: _Words, there: npt.NDArray[np.bool_]) -> bool:
    """Whether some of the first `counts` links of each row lead to no element that is there."""
    width = links.shape[1]
    if int(counts.max(initial=0)) > width:
        return True
    followed = links[np.arange(width)[None, :] < counts[:, None]]
    return bool(len(followed)) and (int(followed.max()) >= len(there) or not there[followed].all())
