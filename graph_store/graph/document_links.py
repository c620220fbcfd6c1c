"""Facts that documents state of one another as wholes: one cites, supersedes or amends another.

Like links by keys (`key_links`), they are a function of all documents and never stored. Their quote is the words that
say so. A reference of a list cites a document if it has its DOI or title.
"""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from ...ingest.metadata import document_name
from ...ingest.reference_lists import COLUMNS, find_doi
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


class DocumentLink(NamedTuple):
    """A relation between two documents, by id, and the document with the words that state it, `start` to `end`.

    Words that are in none of its chunks, such as a name or heading, are quoted by its first line.
    """

    head: str
    relation: str
    tail: str
    stated_in: str
    start: int
    end: int


def with_document_links(rows: AdmittedRows, links: Iterable[DocumentLink], documents: Documents,
                        extractions: Extractions, schemas: SchemaHistory) -> AdmittedRows:
    """Return the rows of all documents with links between them as facts, and their mentions."""
    distinct = list(dict.fromkeys(links))
    if not distinct or not schemas.version():
        return rows
    linked = {document for link in distinct for document in (link.head, link.tail)}
    names = {document: document_name(document, title, metadata) for document, title, _, metadata in documents.about()
             if document in linked}
    types, default = extractions.types_of(list(names.values())), document_type(schemas.current())
    chunks: dict[str, list[Chunk]] = {}
    for chunk in documents.chunks_of({link.stated_in for link in distinct}):
        chunks.setdefault(chunk.document_id, []).append(chunk)
    mentions: list[tuple[object, ...]] = []
    facts: list[tuple[object, ...]] = []
    for link in distinct:
        own = sorted(chunks.get(link.stated_in, ()), key=lambda chunk: chunk.ordinal)
        holders = [chunk for chunk in own if chunk.start <= link.start < chunk.end]
        for chunk in (holders or own)[:1]:
            ends = [(names[document], types.get(names[document], default)) for document in (link.head, link.tail)]
            place = ((link.start - chunk.start, min(link.end, chunk.end) - chunk.start) if holders
                     else (0, len(chunk.text.partition("\n")[0])))
            mentions += [(chunk.id, 0, *name_and_type, *place) for name_and_type in ends]
            facts.append((chunk.id, 0, *ends[0], link.relation, *ends[1], "", *place, 1.0))
    return rows._replace(mentions=chain(rows.mentions, mentions), facts=chain(rows.facts, facts))


def find_citations(documents: Documents) -> Iterator[DocumentLink]:
    """Yield which document cites which, with the reference that says so."""
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
            yield from (DocumentLink(document, CITES, other, document, *span)
                        for other in chain(known.get(doi, ()), named, within) if other != document)
