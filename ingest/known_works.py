"""Tell which work of the bibliographies in a folder a document is, by its DOI or title."""

import re
from collections.abc import Iterable, Mapping

from ..schemas.documents import SourceTable
from ..schemas.naming import label_key

_DOI = re.compile(r"\b10\.\d{4,9}/(?:(?!doi:)[^\s\"<>|{}]|(?<=[-/_.])\n(?=[a-z\d])){1,200}")
"""A DOI; behind a mark, it may go on in the next line."""
_FIRST_PAGE = 6_000  # the characters of a document in which its own DOI stands


class Works:
    """The works of the bibliographies in a folder, by DOI and by title."""

    def __init__(self, tables: Iterable[SourceTable]) -> None:
        """Take the tables of bibliographies, as `readers.bibliographies` writes them."""
        self._by_doi: dict[str, Mapping[str, str]] = {}
        self._by_title: dict[str, Mapping[str, str]] = {}
        for row in (dict(zip(table.columns, cells, strict=True)) for table in tables for cells in table.rows):
            self._by_doi.setdefault(find_doi(row.get("doi", "")), row)
            self._by_title.setdefault(label_key(row.get("title", "")), row)

    def fields_of(self, title: str, text: str) -> dict[str, str]:
        """Return author, year and the like of a document, by a DOI on its first page or by its title."""
        found = _DOI.findall(text[:_FIRST_PAGE])
        dois = [find_doi(part) for doi in found for part in (doi, doi.partition("\n")[0])]
        row = next((self._by_doi[doi] for doi in dois if doi and doi in self._by_doi),
                   self._by_title.get(label_key(title), {}) if title else {})
        return {name: row[name] for name in ("author", "year", "venue", "doi") if row.get(name)}


def find_doi(text: str) -> str:
    """Return the first DOI in a text, in lower case as DOIs are compared; "" if it has none."""
    found = _DOI.search(text)
    return found[0].replace("\n", "").rstrip(".,;)").casefold() if found else ""
