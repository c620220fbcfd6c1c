"""Markdown with metadata between `---` lines at its beginning."""

import yaml

from ..text.cleaning import clean_text
from .content import Content
from .decoding import decode
from .metadata import MOST_FIELDS
from .reading_limits import Limits
from .sections import headings

_LONGEST = 20_000
"""Characters of front matter that are read as metadata."""
_FENCE = "---\n"


def read_markdown(data: bytes, _: Limits) -> Content:
    """Read Markdown without its front matter; the title is that of the front matter, else the first heading."""
    text = clean_text(decode(data))
    metadata: dict[str, object] = {}
    end = text.find(f"\n{_FENCE}") if text.startswith(_FENCE) else -1
    unread = ""
    if end > _LONGEST and ":" in text[len(_FENCE):text.find("\n", len(_FENCE))]:
        unread = (f"its front matter has {end:,} characters, and at most {_LONGEST:,} are read as metadata: it is read "
                  "as text; shorten it")
    if 0 < end <= _LONGEST:
        try:
            # Every scalar stays a string: YAML would turn some into numbers or dates.
            fields = yaml.load(text[len(_FENCE) : end + 1], yaml.BaseLoader)  # noqa: S506
        except (yaml.YAMLError, RecursionError, ValueError):
            fields = None  # a rule between two paragraphs, not front matter
        if isinstance(fields, dict):
            metadata = {str(name): value for name, value in fields.items()}
            text = text[end + 1 + len(_FENCE) :]
    title = metadata.pop("title", "")
    if len(metadata) > MOST_FIELDS:
        unread = f"its front matter has {len(metadata):,} fields beside the title: the first {MOST_FIELDS} are read"
    first = next(headings(text), None)
    title = title if isinstance(title, str) and title else first.title if first else ""
    return Content(text, title, metadata, unread=unread)
