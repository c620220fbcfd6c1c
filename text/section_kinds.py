"""Sections that are no content of their document, told by their headings: references, contents, indexes, thanks."""

import re
from collections.abc import Iterable

from .section_lines import BETWEEN

_NUMBER = re.compile(r"\A(?:\d{1,2}(?:\.\d{1,2})*|[ivx]{1,5}|[a-z]|[一二三四五六七八九十]{1,3})(?:[.)、][ ]*+|[ ]++)")
_REFERENCES = frozenset((
    "references", "reference list", "references cited", "references and notes", "notes and references", "bibliography",
    "works cited", "literature cited", "literature", "literatur", "literaturverzeichnis", "références", "bibliographie",
    "referencias", "bibliografía", "referências", "bibliografia", "参考文献", "引用文献"))
_NAMES = _REFERENCES | frozenset((
    "acknowledgements", "acknowledgments", "acknowledgement", "acknowledgment", "contents", "table of contents",
    "list of figures", "list of tables", "index", "project gutenberg license", "danksagung", "inhaltsverzeichnis",
    "remerciements", "table des matières", "agradecimientos", "índice", "agradecimentos", "致谢", "目录", "索引"))


def is_back_matter(heading: str) -> bool:
    """Return True if one of the headings above a text, joined by `BETWEEN`, is that of references or the like.

    Such a text stays searchable, but no entities and facts are read from it: the names in a list of references are
    those of other works.
    """
    return any(_name_of(part) in _NAMES for part in heading.split(BETWEEN))


def is_reference_list(headings: Iterable[str]) -> bool:
    """Return True if one of some headings is that of a list of references."""
    return any(_name_of(heading) in _REFERENCES for heading in headings)


def _name_of(heading: str) -> str:
    return _NUMBER.sub("", heading.strip().casefold()).strip(" .:：")
