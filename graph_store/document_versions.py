"""Documents that others supersede or amend, or that a person trusts less: how they rank, and what is said of them."""

import re
import weakref
from collections.abc import Iterable
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..ingest.metadata import document_name
from ..schemas.edits import trust_ranks
from ..schemas.naming import canonical_name
from ..text.dates import find_dates, parse_date
from ..text.lexicon import read_patterns
from .graph.links import AMENDS, SUPERSEDES, YEAR, in_force_since, read_name, version_of
from .ledger.document_rows import DocumentSummary

if TYPE_CHECKING:
    from .graph_index import GraphIndex

_COMPARES = re.compile(read_patterns("document_versions.toml")["comparing"], re.IGNORECASE)
_BEHIND = 0.99  # an older version's best passage gets this share of the weight of the newer one's: just behind it
COMPETES = 0.5
"""A more trusted document is about the same if its best passage weighs this share of a less trusted one's: below half,
it is there because nothing better was found in it."""


class Versions:
    """The documents of an index that supersede and amend one another; documents are given by id."""

    def __init__(self, index: "GraphIndex") -> None:
        # The index holds this object: a cycle would keep its files open until the collector runs.
        self._index: GraphIndex = weakref.proxy(index)
        self._dates: dict[str, str] = {}
        self.superseded, self.amended = self._find_newer(SUPERSEDES), self._find_newer(AMENDS)
        """For each superseded document those that take its place; for each amended one those that amend it."""
        self._family_of: dict[str, set[str]] = {}
        """For each document that supersedes or is superseded all versions of it."""
        for older, newer in self.superseded.items():
            direct = {older, *newer}  # they may join families that were separate so far
            family = direct.union(*(self._family_of.get(document, ()) for document in direct))
            self._family_of |= dict.fromkeys(family, family)

    @cached_property
    def _summaries(self) -> dict[str, DocumentSummary]:
        """All documents without their texts, by id."""
        return {summary.id: summary for summary in self._index.store.documents.about()}

    def _find_newer(self, relation: str) -> dict[str, list[str]]:
        """Return for each older document of a relation the newer ones."""
        rows = self._index.of_relation(relation).tolist()
        documents = {canonical_name(document_name(one.id, one.title, one.metadata)): one.id
                     for one in (self._summaries.values() if rows else ())}
        newer_of: dict[str, list[str]] = {}
        for row in rows:
            names = [map(canonical_name, self._index.names_of(entity)) for entity in self._index.ends_of(row)]
            newer, older = (next((documents[name] for name in of_end if name in documents), "") for of_end in names)
            if newer and older and newer != older:  # other ends are no documents of this base
                newer_of.setdefault(older, []).append(newer)
        return newer_of

    @cached_property
    def trust(self) -> dict[str, int]:
        """The rank of each document; empty if all are trusted alike."""
        ranks = trust_ranks(self._index.store.edits.in_force(), self._index.document_ids)
        return ranks if any(ranks.values()) else {}

    def trusted_less(self, document: str, others: Iterable[str]) -> str:
        """Return "trusted less than X", the most trusted of `others` that are no versions of the document, or "".

        Only for documents with ranks: `trust` must not be empty.
        """
        family = self._family_of.get(document, ())  # among versions of a document the newest counts, not the rank
        higher = [other for other in others if self.trust[other] > self.trust[document] and other not in family]
        return f"trusted less than {self._describe(max(higher, key=self.trust.__getitem__))}" if higher else ""

    def status(self, document: str, *, is_later: bool = False) -> str:
        """Return what became of a document ("superseded by X"), or ""; `is_later`: it came after a question's time."""
        if document in self.superseded:
            others = self._in_force(self._family_of[document], "", ()) - {document}
            return f"superseded by {self._describe(max(others, key=self._age))}"
        if is_later:
            return f"in force only since {self._in_force_since(document) or 'later'}"
        amending = sorted(self.amended.get(document, ()), key=self._in_force_since)
        return f"amended by {', '.join(map(self._describe, amending))}" if amending else ""

    def _age(self, document: str) -> tuple[str, bool, str]:
        """Return a sort key of documents: by the day from which they are in force, superseded ones of a day first."""
        return self._in_force_since(document), document not in self.superseded, document

    def _describe(self, document: str) -> str:
        """Return a document's title, with its id if others have the same title, else with its year if it lacks one."""
        title, since = self._summaries[document].title, self._in_force_since(document)
        if sum(other.title == title for other in self._summaries.values()) > 1:
            return f"{title or document} ({document})"
        title = title or document
        return f"{title} of {since[:4]}" if since and not YEAR.search(title) else title

    def _in_force_since(self, document: str) -> str:
        """Return the date from which a document is in force; "" if it is not known."""
        if document not in self._dates:
            _, title, _, metadata = self._summaries[document]
            text = self._index.store.documents.text(document)
            self._dates[document] = in_force_since(document, title, metadata, text)
        return self._dates[document]

    def outdated(self, question: str) -> frozenset[str]:
        """Return the documents that are not in force: now, or at the time or in the version that a question names."""
        if not (self.superseded or self.amended):
            return frozenset()
        dates = {parse_date(question[start:end]) for start, end in find_dates(question)}
        dates = {date for date in dates if re.match(r"\d{4}", date)}  # without "in May", whose year is unknown
        if _COMPARES.search(question) or len(dates) > 1:  # a comparison, also of several dates, needs all versions
            return frozenset()
        date, version = min(dates, default=""), version_of(question)
        # Amendments do not end what they amend, so only those that came after the date are left out.
        amending = chain.from_iterable(self.amended.values()) if date else ()
        later = {document for document in amending if self._in_force_since(document)[:len(date)] > date}
        return frozenset(later).union(document for document, family in self._family_of.items()
                                      if document not in self._in_force(family, date, version))

    def _in_force(self, family: set[str], date: str, version: tuple[int, ...]) -> set[str]:
        """Return those of a document's versions that are of a `version`, or else in force at a date; "" means now."""
        named = {one for one in family if version and read_name(one, self._summaries[one].title).version == version}
        if named:
            return named
        # Dates are compared as far as the question's goes: "2021" has all of that year. An unknown one is the earliest.
        begun = [one for one in family if date and self._in_force_since(one)[:len(date)] <= date]
        if begun:
            return {max(begun, key=self._age)}
        return family - self.superseded.keys() or family  # all, if they supersede one another in a circle

    def rank(self, scores: NDArray[np.float32], question: str) -> NDArray[np.float32]:
        """Return the weights of chunks, shape (chunks,), with outdated and less trusted documents behind the others."""
        outdated = self.outdated(question)
        row = self._index.document_row
        _, document_of = self._index.documents  # the row of each chunk's document
        best = np.zeros(len(row), np.float32)  # the highest weight of each document's chunks
        np.maximum.at(best, document_of, scores)
        share = self._trust_shares(best, outdated) if self.trust else np.ones(len(row), np.float32)
        best *= share
        # The documents that each one has to be behind.
        newer_of = {older: family - outdated for older, family in self._family_of.items() if older in outdated}
        newer_of |= {older: {*newer} - outdated for older, newer in self.amended.items() if older not in outdated}
        for older, newer in sorted(newer_of.items()):
            limit = max((best[row[one]] for one in newer if one in row), default=0) * np.float32(_BEHIND)
            if older in row and 0 < limit < best[row[older]]:  # without a weight, the newer one does not answer at all
                share[row[older]] *= limit / best[row[older]]
                best[row[older]] = limit
        return scores * share[document_of]

    def _trust_shares(self, best: NDArray[np.float32], outdated: frozenset[str]) -> NDArray[np.float32]:
        """Return the share of its weight that each document keeps, to be behind more trusted ones about the same."""
        ids = self._index.document_ids
        ranks = np.array([self.trust[one] for one in ids])
        is_current = np.array([one not in outdated for one in ids])
        share = np.ones(len(ids), np.float32)
        ahead = np.float32(0)  # the best weight of the documents of higher ranks
        for rank in sorted({*ranks.tolist()}, reverse=True):
            of_rank = ranks == rank
            highest = np.max(best, where=of_rank & is_current, initial=0)
            # The rank would come first, and not by so much that the more trusted ones are about something else.
            if COMPETES * highest <= ahead < highest:
                share[of_rank] = ahead * np.float32(_BEHIND) / highest
            else:
                ahead = max(ahead, highest)
        return share
