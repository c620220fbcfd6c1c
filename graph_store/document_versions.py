"""Documents that others supersede or amend, or that a person trusts less: how they rank, and what is said of them."""

import re
import weakref
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..ingest.metadata import document_name
from ..schemas.edits import trust_ranks
from ..schemas.naming import canonical_name
from ..text.dates import find_dates, parse_date
from .graph.document_links import AMENDS, SUPERSEDES, YEAR, in_force_since, read_name, version_of

if TYPE_CHECKING:
    from .graph_index import GraphIndex

_COMPARES = re.compile(
    r"\b(?:how (?:has|have|did|do|does)\b[^?\n]{0,80}\bchang|what (?:has |have |was |is )?chang"
    r"|changes? (?:between|from|since|to)|differ(?:s|ed|ences?)?\b|compared?\b|versions\b|over the years"
    r"|(?:previous|former|older|old|earlier) (?:\w{1,20} )?(?:version|edition|polic|rule|regulation|manual|standard))"
    r"|变化|变更|区别|有[何什么哪些]{1,2}不同|对比|旧版|以前的?[版规办]", re.IGNORECASE)
"""Questions that ask for older versions, too."""
_BEHIND = 0.99
"""The weight of the best passage of an older version: this share of that of the newer one's best."""
COMPETES = 0.5
"""A more trusted document is about the same if its best passage weighs this share of a less trusted one's: below half,
it is there because nothing better was found in it."""


class Versions:
    """The documents of an index that supersede and amend one another."""

    def __init__(self, index: "GraphIndex") -> None:
        """Read the relations when they are first asked for."""
        # The index holds this object: a cycle would keep its files open until the collector runs.
        self._index: GraphIndex = weakref.proxy(index)
        self._dates: dict[str, str] = {}

    @cached_property
    def _about(self) -> dict[str, tuple[str, Mapping[str, str]]]:
        return {document: (title, metadata) for document, title, _, metadata in self._index.store.documents.about()}

    def _links(self, relation: str) -> dict[str, list[str]]:
        index, links = self._index, dict[str, list[str]]()
        rows = index.of_relation(relation).tolist()
        ids = {canonical_name(document_name(document, title, metadata)): document
               for document, (title, metadata) in self._about.items()} if rows else {}
        for row in rows:
            newer, older = (next((ids[key] for key in map(canonical_name, index.names_of(entity)) if key in ids), "")
                            for entity in index.ends_of(row))
            if newer and older and newer != older:
                links.setdefault(older, []).append(newer)
        return links

    @cached_property
    def superseded(self) -> dict[str, list[str]]:
        """For each superseded document those that take its place."""
        return self._links(SUPERSEDES)

    @cached_property
    def amended(self) -> dict[str, list[str]]:
        """For each amended document those that amend it."""
        return self._links(AMENDS)

    @cached_property
    def trust(self) -> dict[str, int]:
        """The rank of each document; empty if all are trusted alike."""
        ranks = trust_ranks(self._index.store.edits.in_force(), self._index.document_ids)
        return ranks if any(ranks.values()) else {}

    def trusted_less(self, document: str, others: Iterable[str]) -> str:
        """Return "trusted less than X" for the most trusted of other documents with higher ranks, the first if equal.

        "" if there is none. Of documents that supersede one another, the ranks decide nothing.
        """
        family = next((family for family in self._families if document in family), set[str]())
        higher = [one for one in others if self.trust[one] > self.trust[document] and one not in family]
        return f"trusted less than {self._called(max(higher, key=self.trust.__getitem__))}" if higher else ""

    def status(self, document: str, *, is_later: bool = False) -> str:
        """Return what became of a document: "superseded by Travel policy 2023"; "" if nothing is known.

        `is_later`: it is not in force because it came later than the time of a question.
        """
        if document in self.superseded:
            newest, seen = document, {document}
            while newer := sorted({*self.superseded.get(newest, ())} - seen, key=lambda one: (self._since(one), one)):
                newest = newer[-1]
                seen.add(newest)
            return f"superseded by {self._called(newest)}"
        if is_later:
            return f"in force only since {self._since(document) or 'later'}"
        amending = sorted(self.amended.get(document, ()), key=self._since)
        return f"amended by {', '.join(map(self._called, amending))}" if amending else ""

    def _called(self, document: str) -> str:
        named, since = self._about[document][0], self._since(document)
        title = named or document
        if sum(other == named for other, _ in self._about.values()) > 1:
            return f"{title} ({document})"
        return f"{title} of {since[:4]}" if since and not YEAR.search(title) else title

    def _since(self, document: str) -> str:
        if document not in self._dates:
            text = self._index.store.documents.text(document)
            self._dates[document] = in_force_since(document, *self._about[document], text)
        return self._dates[document]

    @cached_property
    def _families(self) -> list[set[str]]:
        """The documents that are versions of one another."""
        families: list[set[str]] = []
        for older, newer in sorted(self.superseded.items()):
            joined = {older, *newer}.union(*(family for family in families if not family.isdisjoint({older, *newer})))
            families = [family for family in families if family.isdisjoint(joined)] + [joined]
        return families

    def outdated(self, question: str) -> frozenset[str]:
        """Return the documents that are not in force: now, or at the time or in the version that a question names.

        It is none if the question compares versions.
        """
        if not (self.superseded or self.amended):
            return frozenset()
        dates = {normal for start, end in find_dates(question)
                 if re.match(r"\d{4}", normal := parse_date(question[start:end]))}
        if _COMPARES.search(question) or len(dates) > 1:
            return frozenset()
        at, version = min(dates, default=""), version_of(question)
        out = {later for amending in self.amended.values() for later in amending
               if at and self._since(later)[:len(at)] > at}
        for family in self._families:
            out |= family - self._in_force(family, at, version)
        return frozenset(out)

    def _in_force(self, family: set[str], at: str, version: tuple[int, ...]) -> set[str]:
        current = family - self.superseded.keys() or family
        named = {one for one in family if version and read_name(one, self._about[one][0]).version == version}
        if named or not at:
            return named or current
        begun = [one for one in family if self._since(one)[:len(at)] <= at]
        return {max(begun, key=lambda one: (self._since(one), one not in self.superseded, one))} if begun else current

    def rank(self, scores: NDArray[np.float32], question: str) -> NDArray[np.float32]:
        """Return the weights of chunks with those of older versions behind the best of the newer ones.

        Those of less trusted documents are behind the best of more trusted ones that are about the same.
        """
        outdated, behind = self.outdated(question), dict[str, set[str]]()
        scores = self._rank_by_trust(scores, outdated) if self.trust else scores
        for family in self._families:
            behind |= dict.fromkeys(family & outdated, family - outdated)
        behind |= {older: {*newer} - outdated for older, newer in self.amended.items() if older not in outdated}
        if not behind:
            return scores
        row, document_of = self._index.document_row, self._index.documents[1]
        best, share = np.zeros(len(row), np.float32), np.ones(len(row), np.float32)
        np.maximum.at(best, document_of, scores)
        for older, newer in sorted(behind.items()):
            most = max((best[row[one]] for one in newer if one in row), default=0) * np.float32(_BEHIND)
            if older in row and 0 < most < best[row[older]]:
                share[row[older]] = most / best[row[older]]
                best[row[older]] = most
        return scores * share[document_of]

    def _rank_by_trust(self, scores: NDArray[np.float32], outdated: frozenset[str]) -> NDArray[np.float32]:
        ids, document_of = self._index.document_ids, self._index.documents[1]
        ranks, current = np.array([[self.trust[one], one not in outdated] for one in ids]).T
        best, share = np.zeros(len(ids), np.float32), np.ones(len(ids), np.float32)
        np.maximum.at(best, document_of, scores)
        ahead = np.float32(0)
        for rank in sorted({*ranks.tolist()}, reverse=True):
            most = np.max(best, where=(ranks == rank) & (current == 1), initial=0)
            if COMPETES * most <= ahead < most:
                share[ranks == rank] = ahead * np.float32(_BEHIND) / most
            ahead = max(ahead, most * share[ranks == rank][0])
        return scores * share[document_of]
