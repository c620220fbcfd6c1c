"""Facts that the documents' lists of references state together: one document cites another.

A reference cites a document if it has its DOI or title. Like links by keys (`key_links`), these facts are a function of
all documents and never stored. Their quote is the reference.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from ...ingest.known_works import find_doi
from ...ingest.metadata import document_name
from ...ingest.reference_lists import COLUMNS
from ...models.rules.table_facts import document_type
from ...schemas.documents import Chunk
from ...schemas.naming import normalise
from ..ledger.document_rows import Documents
from ..ledger.extractions import AdmittedRows, Extractions
from ..ledger.schema_rows import SchemaHistory

CITES = "cites"
_FEWEST_WORDS, _FEWEST_CERTAIN = 2, 5
"""The fewest words of a title by which a work is known, and of one in a reference whose own title is not known."""
_WORD = re.compile(r"[^\W_]+")
_STORED = "%{}%".format(json.dumps(COLUMNS, separators=(",", ":")))  # the header of a list of references, in SQL


class _Citation(NamedTuple):
    citing: str
    cited: str
    start: int
    end: int


class _Titles:
    """The titles and DOIs of all documents."""

    def __init__(self, documents: Sequence[tuple[str, str, str, dict[str, str]]]) -> None:
        self._by_key: dict[str, list[str]] = {}
        self._by_opening: dict[tuple[str, ...], list[tuple[list[str], str]]] = {}
        for document, title, _, metadata in documents:
            words = _words_of(title)
            if len(words) >= _FEWEST_WORDS:
                self._by_key.setdefault("".join(words), []).append(document)
            if len(words) >= _FEWEST_CERTAIN:
                self._by_opening.setdefault(tuple(words[:_FEWEST_CERTAIN]), []).append((words, document))
            if doi := find_doi(metadata.get("doi", "")):
                self._by_key.setdefault(doi, []).append(document)

    def find(self, reference: str, title: str, doi: str) -> Iterator[str]:
        """Yield the documents that a reference with these fields names."""
        yield from chain(self._by_key.get(doi, ()), self._by_key.get("".join(_words_of(title)), ()))
        words = [] if title else _words_of(reference)
        for at in range(len(words)):
            for known, document in self._by_opening.get(tuple(words[at:at + _FEWEST_CERTAIN]), ()):
                if words[at:at + len(known)] == known:
                    yield document


def _words_of(text: str) -> list[str]:
    return _WORD.findall(normalise(text))


def with_citations(rows: AdmittedRows, documents: Documents, extractions: Extractions,
                   schemas: SchemaHistory) -> AdmittedRows:
    """Return the rows of all documents with the facts that a document cites another one, and their mentions."""
    citations = _find_citations(documents)
    if not citations or not schemas.version():
        return rows
    linked = {document for citation in citations for document in (citation.citing, citation.cited)}
    names = {document: document_name(document, title, metadata) for document, title, _, metadata in documents.about()
             if document in linked}
    types = extractions.types_of(list(names.values()))
    default = document_type(schemas.current())
    chunks: dict[str, list[Chunk]] = {}
    for chunk in documents.chunks_of({citation.citing for citation in citations}):
        chunks.setdefault(chunk.document_id, []).append(chunk)
    mentions: list[tuple[object, ...]] = []
    facts: list[tuple[object, ...]] = []
    for citing, cited, start, end in citations:
        holders = [chunk for chunk in chunks.get(citing, ()) if chunk.start <= start < chunk.end]
        for chunk in holders[:1]:
            ends = [(names[document], types.get(names[document], default)) for document in (citing, cited)]
            place = start - chunk.start, min(end, chunk.end) - chunk.start
            mentions += [(chunk.id, 0, *name_and_type, *place) for name_and_type in ends]
            facts.append((chunk.id, 0, *ends[0], CITES, *ends[1], "", *place, 1.0))
    return rows._replace(mentions=chain(rows.mentions, mentions), facts=chain(rows.facts, facts))


def _find_citations(documents: Documents) -> list[_Citation]:
    lists = [(document, table) for document, table in documents.tables(_STORED) if table.columns == COLUMNS]
    titles = _Titles(documents.about() if lists else ())
    found = {_Citation(document, cited, *span): None for document, table in lists
             for (reference, _, _, title, _, doi), span in zip(table.rows, table.spans, strict=True)
             for cited in titles.find(reference, title, doi) if cited != document}
    return list(found)
