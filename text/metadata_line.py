"""A document's metadata as one line."""

from collections.abc import Mapping

from .tokens import estimate_tokens

_LEADING_FIELDS = ("date", "created", "updated", "sent", "author", "authors", "from", "to", "by")
"""Fields that say when a document was written and by whom; they come first."""


UNREAD = "not read"
"""The field that names the parts of a document that Banyan could not read; it is not shown with the document's own."""


def metadata_line(metadata: Mapping[str, str], most_tokens: int) -> str:
    """Return the fields of a document's metadata that fit a budget, dates and authors first, as "name: value; ...".

    Fields that hold a web address are left out, and a field that does not fit is skipped as a whole.

    Args:
        metadata: the fields.
        most_tokens: the budget, estimated tokens.
    """
    def rank(name: str) -> int:
        """Return a field's place in `_LEADING_FIELDS`; all other fields come after these."""
        return _LEADING_FIELDS.index(name.lower()) if name.lower() in _LEADING_FIELDS else len(_LEADING_FIELDS)

    shown, tokens_left = list[str](), most_tokens
    for name in sorted(metadata, key=rank):
        if name == UNREAD or "://" in metadata[name]:
            continue
        field = f"{name}: {metadata[name]}"
        cost = estimate_tokens(field) + 1
        if cost <= tokens_left:
            shown.append(field)
            tokens_left -= cost
    return "; ".join(shown)
