"""Which document cites which, by the lists of references: a reference cites a document if it has its DOI or title."""

import json
import re
from collections.abc import Iterator
from itertools import chain

from ...ingest.known_works import find_doi
from ...ingest.reference_lists import COLUMNS
from ...schemas.naming import normalise
from ..ledger.document_rows import Documents
from .document_links import DocumentLink

CITES = "cites"
_FEWEST_WORDS, _FEWEST_CERTAIN = 2, 5
"""The fewest words of a title by which a work is known, and of one in a reference whose own title is not known."""
_WORD = re.compile(r"[^\W_]+")
_STORED = "%{}%".format(json.dumps(COLUMNS, separators=(",", ":")))  # the header of a list of references, in SQL


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
