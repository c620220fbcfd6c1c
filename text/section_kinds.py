"""Sections that are no content of their document, told by their headings: references, contents, indexes, thanks."""

import re

from .section_lines import BETWEEN

_NUMBER = re.compile(r"\A(?:\d{1,2}(?:\.\d{1,2})*|[ivx]{1,5}|[a-z]|[一二三四五六七八九十]{1,3})(?:[.)、][ ]*+|[ ]++)")
_NAMES = frozenset((
    "references", "reference list", "references cited", "references and notes", "notes and references", "bibliography",
    "works cited", "literature cited", "literature", "acknowledgements", "acknowledgments", "acknowledgement",
    "acknowledgment", "contents", "table of contents", "list of figures", "list of tables", "index",
    "literatur", "literaturverzeichnis", "danksagung", "inhaltsverzeichnis", "références", "bibliographie",
    "remerciements", "table des matières", "referencias", "bibliografía", "agradecimientos", "índice", "referências",
    "bibliografia", "agradecimentos", "参考文献", "引用文献", "致谢", "目录", "索引"))


def is_back_matter(heading: str) -> bool:
    """Return True if one of the headings above a text, joined by `BETWEEN`, is that of references or the like.

    Such a text stays searchable, but no entities and facts are read from it: the names in a list of references are
    those of other works.
    """
    return any(_NUMBER.sub("", part.strip().casefold()).strip(" .:：") in _NAMES for part in heading.split(BETWEEN))
