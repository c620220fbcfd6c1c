"""Which lines of a text may state something: not headings, navigation, page numbers and what pages repeat."""

import re
from collections.abc import Iterable, Iterator, Mapping

from ..schemas.naming import content_id

_HEADING = re.compile(r"\s*#{1,6}\s")
_FURNITURE = re.compile(r"\W*(?:(?:page|seite|第)?\W*\d*\W*(?:(?:of|von|/)\W*\d+|页)?|(?:©|\(c\)|copyright\b).*|"
                        r"(?:skip to (?:main )?content|back to top|table of contents|contents|menu|home))\W*",
                        re.IGNORECASE)
_BETWEEN_LINKS = re.compile(r"(?<!\s)\s++[|›»·>/]\s")
_LONGEST_LINK, _FEWEST_LINKS = 3, 2
_REPEATED_IN, _LONGEST_REPEATED = 3, 300
"""Documents that repeat a line of at most so many characters make it boilerplate."""


def statement_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text that may state something; in doubt a line does."""
    for line in text.splitlines():
        if line.strip() and not _HEADING.match(line) and not _FURNITURE.fullmatch(line) and not _is_navigation(line):
            yield line.strip()


def has_statement(text: str, document: str = "", repeated: Mapping[str, str] | None = None) -> bool:
    """Return True if a part of a document may state something that no other document is read for.

    Args:
        text: the part.
        document: the document's id.
        repeated: lines that documents repeat, as `repeated_lines` finds them.
    """
    return any((repeated or {}).get(content_id(line), document) == document for line in statement_lines(text))


def repeated_lines(documents: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the lines that several documents repeat, by hash, each with the one document that is read for it.

    That is the first by id, so the result depends only on the documents, and nothing is lost.

    Args:
        documents: ids and texts.
    """
    seen: dict[str, tuple[int, str]] = {}
    for document, text in documents:
        for line in {line for line in statement_lines(text) if len(line) <= _LONGEST_REPEATED}:
            key = content_id(line)
            count, first = seen.get(key, (0, document))
            seen[key] = count + 1, min(first, document)
    return {key: first for key, (count, first) in seen.items() if count >= _REPEATED_IN}


def _is_navigation(line: str) -> bool:
    """Return True for short links in a row, such as "Home | Tickets | Bar"."""
    links = _BETWEEN_LINKS.split(line.strip())
    return (len(links) >= _FEWEST_LINKS and not line.lstrip().startswith("|")
            and not any(character.isdigit() or character in ":：=" for character in line)
            and all(len(link.split()) <= _LONGEST_LINK for link in links))
