"""A document's metadata as one line."""

from collections.abc import Mapping

from .tokens import estimate_tokens

_FIRST = ("date", "created", "updated", "sent", "author", "authors", "from", "to", "by")
"""Fields that say when a document is of, and whose it is: what its text relies on most."""


UNREAD = "not read"
"""The field that names what Banyan did not read of a document. It is about the reading, so texts do not include it."""


def metadata_line(metadata: Mapping[str, str], most_tokens: int) -> str:
    """Return the fields of a document, dates and authors first, as many as fit; addresses are left out.

    Args:
        metadata: the fields.
        most_tokens: the budget, estimated tokens. A field is shown whole or not at all.
    """
    order = sorted(metadata, key=lambda name: _FIRST.index(name.lower()) if name.lower() in _FIRST else len(_FIRST))
    shown, left = list[str](), most_tokens
    for field in (f"{name}: {metadata[name]}" for name in order
                  if name != UNREAD and "://" not in metadata[name]):
        cost = estimate_tokens(field) + 1
        if cost <= left:
            shown.append(field)
            left -= cost
    return "; ".join(shown)
