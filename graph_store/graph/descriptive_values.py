"""Which values describe an entity, beyond what its own name says."""

import re

from ...schemas.caching import cached_if_short
from ...schemas.naming import label_key, normalise

_NAMES = frozenset(["alias", "aliases", "title", "name", "标题", "名称"])
_SECTIONS = frozenset(["section", "section name", "section id", "section code", "section number"])
_CODE = re.compile(r"[A-Za-z]{0,2}\d{1,3}(?:\.\d{1,3})*|[A-Z]")
_JOINED = re.compile(r"[\W_]+")


def is_descriptive(name: str, attribute: str, value: str) -> bool:
    """Return False for a part of an entity's name, and for the code of the section that its row stands in.

    Such values are still found, listed and counted by those who ask for them.

    Args:
        name: the entity's name, such as "RFC-20: Oslo Pumps".
        attribute: the value's attribute.
        value: a value, such as "Oslo Pumps" as its title or "20" as its rfc.
    """
    key, named = label_key(attribute), _words(name)
    if key in _SECTIONS and _CODE.fullmatch(value):
        return False
    if key in _NAMES:
        return _words(value) not in named
    # Few names have the attribute in them, so that hardly any value is looked at: this runs for each of a graph.
    return _words(key) not in named or _words(f"{key} {value}") not in named


@cached_if_short(4096)
def _words(text: str) -> str:
    """Return the folded words of a text, with a blank before and after each."""
    return f" {_JOINED.sub(' ', normalise(text)).strip()} "
