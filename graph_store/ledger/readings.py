"""What read a chunk: the rules, a model, or whoever extracted the triples that were imported.

An extraction is stored with the fingerprint of the reasoner that made it. A model's also tells which instructions for
extraction it had: "llm:NAME" without any, "llm-DIGEST:NAME" with some.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping

_BESIDE_DELETED = "beside"
RULES = "rules"
IMPORTED = "recorded"
"""The fingerprint of imported triples."""


def reader_of(fingerprint: str) -> str:
    """Return what made an extraction: `RULES`, `IMPORTED`, or the name of the model that was asked to extract."""
    kind, _, models = fingerprint.partition(":")
    # A reasoner's fingerprint also names the model that resolves entities, which reads no chunk.
    return models.partition("+")[0] if models else kind.partition("-")[0]


def add_instructions(fingerprint: str, instructions: str) -> str:
    """Return a model's fingerprint with a digest of its instructions for extraction; the rules heed none."""
    kind, colon, models = fingerprint.partition(":")
    if not colon or not instructions:
        return fingerprint
    return f"{kind}-{hashlib.sha256(instructions.encode()).hexdigest()[:12]}:{models}"


def read_beside_deleted(fingerprint: str) -> str:
    """Return the fingerprint of an extraction whose call also read a document that is deleted now.

    Its text may have swayed the model, so the reading is no longer the same as any other. The rules and imports have no
    calls.
    """
    kind, colon, models = fingerprint.partition(":")
    return f"{kind.partition('-')[0]}-{_BESIDE_DELETED}:{models}" if colon else fingerprint


def is_same_reading(first: str, second: str) -> bool:
    """Return True if two fingerprints are of the same reader with the same instructions for extraction."""
    return _reading_of(first) == _reading_of(second)


def _reading_of(fingerprint: str) -> tuple[str, str]:
    kind, colon, _ = fingerprint.partition(":")
    return reader_of(fingerprint), kind.partition("-")[2] if colon else ""


def count_by_reader(fingerprints: Mapping[str, int]) -> dict[str, int]:
    """Return numbers of chunks by what read them, sorted by name, from those by fingerprint."""
    counts = Counter[str]()
    for fingerprint, number in fingerprints.items():
        counts[reader_of(fingerprint)] += number
    return dict(sorted(counts.items()))


def find_outdated(fingerprints: Mapping[str, int], current: str) -> list[str]:
    """Return the fingerprints of extractions that a model would make again; `current` is the fingerprint of its own.

    It does so if the rules, another model, or the same model with other instructions made them, or if it read them
    in one call with a document that is deleted now (`read_beside_deleted`). Imported triples stay
    as they are, and the rules replace nothing: they would undo what a model was paid for.
    """
    if reader_of(current) == RULES:
        return []
    return sorted(one for one in fingerprints if reader_of(one) != IMPORTED and not is_same_reading(one, current))
