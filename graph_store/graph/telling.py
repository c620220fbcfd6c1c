"""Which values tell something of an entity that its own name does not."""

import re

from ...schemas.naming import label_key, normalise

_NAMES = frozenset(["alias", "aliases", "title", "name", "标题", "名称"])
_SECTIONS = frozenset(["section", "section name", "section id", "section code", "section number"])
_CODE = re.compile(r"[A-Za-z]{0,2}\d{1,3}(?:\.\d{1,3})*|[A-Z]")
_JOINED = re.compile(r"[\W_]+")


def is_telling(name: str, attribute: str, value: str) -> bool:
    """Return False for a part of an entity's name, and for the code of the section that its row stands in.

    Such values are still found, listed and counted by those who ask for them; they describe nothing.

    Args:
        name: the entity's name, such as "RFC-20: Oslo Pumps".
        attribute: the value's attribute.
        value: a value, such as "Oslo Pumps" as its title or "20" as its rfc.
    """
    key = label_key(attribute)
    said = value if key in _NAMES else f"{key} {value}"
    return f" {_words(said)} " not in f" {_words(name)} " and not (key in _SECTIONS and _CODE.fullmatch(value))


def _words(text: str) -> str:
    return _JOINED.sub(" ", normalise(text)).strip()
