"""Identify the reader of a chunk: the rules, a model, or whoever extracted the triples that were imported.

An extraction is stored with the fingerprint of the reasoner that made it. A model's fingerprint also identifies its
instructions for extraction: it is "llm:NAME" without instructions, and "llm-DIGEST:NAME" with some.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping

_BESIDE_DELETED = "beside"  # in place of the digest of instructions
RULES = "rules"
IMPORTED = "recorded"
"""The fingerprint of imported triples."""


def reader_of(fingerprint: str) -> str:
    """Return the reader of an extraction by its fingerprint: `RULES`, `IMPORTED`, or the name of a model."""
    kind, _, models = fingerprint.partition(":")
    # "+" separates the model that extracts from the one that resolves entities, which reads no chunk.
    return models.partition("+")[0] if models else kind.partition("-")[0]


def add_instructions(fingerprint: str, instructions: str) -> str:
    """Return a model's fingerprint with a digest of its instructions; the rules follow none."""
    kind, colon, models = fingerprint.partition(":")
    if not colon or not instructions:
        return fingerprint
    return f"{kind}-{hashlib.sha256(instructions.encode()).hexdigest()[:12]}:{models}"


def read_beside_deleted(fingerprint: str) -> str:
    """Return the new fingerprint of an extraction whose call also read a document that is deleted now.

    The deleted text may have influenced the model, so it counts as made with other instructions, and `build --reread`
    makes it again. Rules and imports, which make no calls, keep their fingerprint.
    """
    kind, colon, models = fingerprint.partition(":")  # without a colon: the rules, or an import
    return f"{kind.partition('-')[0]}-{_BESIDE_DELETED}:{models}" if colon else fingerprint


def is_same_reading(first: str, second: str) -> bool:
    """Return True if two fingerprints are of the same reader with the same instructions for extraction."""
    return _reading_of(first) == _reading_of(second)


def _reading_of(fingerprint: str) -> tuple[str, str]:
    """Return the reader of a fingerprint, and the digest of its instructions, or "" without any."""
    kind, colon, _ = fingerprint.partition(":")
    return reader_of(fingerprint), kind.partition("-")[2] if colon else ""


def count_by_reader(fingerprints: Mapping[str, int]) -> dict[str, int]:
    """Sum up numbers of chunks by fingerprint to numbers by reader, sorted by the reader's name."""
    counts = Counter[str]()
    for fingerprint, number in fingerprints.items():
        counts[reader_of(fingerprint)] += number
    return dict(sorted(counts.items()))


def find_outdated(fingerprints: Mapping[str, int], current: str) -> list[str]:
    """Return the fingerprints of extractions that `build --reread` would make again with the current reader.

    A model makes again what the rules, another model, or itself with other instructions made, but not imported triples.
    The rules replace nothing, because this would undo what a model was paid for.
    """
    if reader_of(current) == RULES:
        return []
    return sorted(fingerprint for fingerprint in fingerprints
                  if reader_of(fingerprint) != IMPORTED and not is_same_reading(fingerprint, current))
