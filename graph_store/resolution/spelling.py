"""Names that differ by a slip of the pen: which entities share a form of their name with one letter less."""

from collections.abc import Mapping

LENGTHS = range(6, 41)
"""Lengths of names that may hide a slip of the pen: shorter ones have too many true neighbours."""


def slip_blocks(names: Mapping[str, str]) -> list[list[str]]:
    """Entities whose names are the same, or become so when a letter is taken out of one of them or of both.

    Args:
        names: by entity; those of other lengths than `LENGTHS` are passed over.

    Returns:
        For each form that two entities or more share, these, in the order of `names`.
    """
    first: dict[str, str] = {}
    blocks: dict[str, list[str]] = {}
    for entity, name in names.items():
        if len(name) in LENGTHS:
            for form in {name, *(name[:at] + name[at + 1:] for at in range(len(name)))}:
                if first.setdefault(form, entity) != entity:  # hardly any form is shared
                    blocks.setdefault(form, [first[form]]).append(entity)
    return list(blocks.values())
