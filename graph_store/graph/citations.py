"""Facts that the documents' lists of references state together: one document cites another.

A reference cites a document if it has its DOI or title. Like links by keys (`key_links`), these facts are a function of
all documents and never stored. Their quote is the reference.
"""

import json
import re
from collections.abc import Iterator
from itertools import chain

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


def with_citations(rows: AdmittedRows, documents: Documents, extractions: Extractions,
                   schemas: SchemaHistory) -> AdmittedRows:
    """Return the rows of all documents with the facts that a document cites another one, and their mentions."""
    citations = list(dict.fromkeys(_find_citations(documents)))
    if not citations or not schemas.version():
        return rows
    linked = {document for citing, cited, _, _ in citations for document in (citing, cited)}
    names = {document: document_name(document, title, metadata) for document, title, _, metadata in documents.about()
             if document in linked}
    types, default = extractions.types_of(list(names.values())), document_type(schemas.current())
    chunks: dict[str, list[Chunk]] = {}
    for chunk in documents.chunks_of({citing for citing, _, _, _ in citations}):
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


def _find_citations(documents: Documents) -> Iterator[tuple[str, str, int, int]]:
    """Yield the document that cites, the one that is cited, and where the reference begins and ends in the first."""
    lists = [(document, table) for document, table in documents.tables(_STORED) if table.columns == COLUMNS]
    known: dict[object, list[str]] = {}  # documents by DOI, by the letters of their title, and by its first words
    titles: dict[str, list[str]] = {}
    for document, title, _, metadata in documents.about() if lists else ():
        words = titles[document] = _WORD.findall(normalise(title))
        keys = (find_doi(metadata.get("doi", "")), "".join(words) if len(words) >= _FEWEST_WORDS else "",
                tuple(words[:_FEWEST_CERTAIN]) if len(words) >= _FEWEST_CERTAIN else ())
        for key in filter(None, keys):
            known.setdefault(key, []).append(document)
    for document, table in lists:
        for (reference, _, _, title, _, doi), span in zip(table.rows, table.spans, strict=True):
            words = [] if title else _WORD.findall(normalise(reference))
            places = ((at, tuple(words[at:at + _FEWEST_CERTAIN])) for at in range(len(words)))
            within = (other for at, opening in places for other in known.get(opening, ())
                      if words[at:at + len(titles[other])] == titles[other])
            named = known.get("".join(_WORD.findall(normalise(title))), ())
            yield from ((document, other, *span) for other in chain(known.get(doi, ()), named, within)
                        if other != document)
