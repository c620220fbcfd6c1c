"""Which documents a scope names."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from rapidfuzz import fuzz, process, utils

from ...schemas.errors import BanyanError
from ...schemas.naming import normalise
from ...schemas.scope import Scope
from ..ledger.document_rows import Documents

_NEAREST = 3
_LEAST_LIKE = 50.0
_LISTED = 12


class ScopeError(BanyanError):
    """A scope that names no documents, or says of them what nobody knows."""


class _Candidate(NamedTuple):
    """A document as a scope names it: by its id, its title and its path, and by its metadata."""

    id: str
    names: frozenset[str]
    metadata: Mapping[str, str]


def documents_in(documents: Documents, scope: Scope) -> list[str]:
    """Return the ids of the documents of a scope, sorted.

    Raises:
        ScopeError: a name fits no document, no document has a metadata key, or none has all that is asked for; the
            message names what comes nearest.
    """
    candidates = [_Candidate(key, frozenset(map(normalise, (key, title, source))) - {""},
                             {normalise(name): value for name, value in metadata.items()})
                  for key, title, source, metadata in documents.about()]
    chosen = candidates
    if scope.documents:
        by_name: dict[str, set[str]] = {}
        for candidate in candidates:
            for name in candidate.names:
                by_name.setdefault(name, set()).add(candidate.id)
        named = {key for name in scope.documents for key in _match_name(by_name, name)}
        chosen = [candidate for candidate in candidates if candidate.id in named]
    for key, value in scope.where:
        chosen = _having(candidates, chosen, key, value)
    return sorted(candidate.id for candidate in chosen)


def _match_name(by_name: Mapping[str, set[str]], name: str) -> set[str]:
    """Return the documents that a name, a pattern or the end of a path fits, the first of these that fits any."""
    wanted = normalise(name)
    fits = (wanted.__eq__, lambda known: known.endswith(f"/{wanted}"), lambda known: fnmatchcase(known, wanted),
            lambda known: fnmatchcase(known, f"*/{wanted}"))
    found = next(filter(None, ({key for known, keys in by_name.items() if fit(known) for key in keys} for fit in fits)),
                 set())
    if not found:
        near = _nearest(name, {key for keys in by_name.values() for key in keys})
        raise ScopeError(f"no document is called {name!r}; " + (
            f"the nearest: {', '.join(near)}" if near else "`banyan documents` lists them"))
    return found


def _having(everything: Sequence[_Candidate], chosen: Sequence[_Candidate], key: str, value: str) -> list[_Candidate]:
    """Return those of the chosen documents whose metadata has a value."""
    name, wanted = normalise(key), normalise(value)
    if not any(name in candidate.metadata for candidate in everything):
        keys = sorted({known for candidate in everything for known in candidate.metadata})
        raise ScopeError(f"no document has the metadata {key!r}; " + (
            f"there are: {_list_names(keys)}" if keys else "none of them has any"))
    found = [candidate for candidate in chosen if name in candidate.metadata
             and _fits(normalise(candidate.metadata[name]), wanted)]
    if not found:
        values = {candidate.metadata[name] for candidate in chosen if name in candidate.metadata}
        near = _nearest(value, values) or sorted(values)
        raise ScopeError(f"none of the {len(chosen)} documents has {key} = {value!r}; " + (
            f"there are: {_list_names(near)}" if near else f"none of them has a {key}"))
    return found


def _fits(value: str, wanted: str) -> bool:
    return value == wanted or fnmatchcase(value, wanted)


def _nearest(name: str, known: Iterable[str]) -> list[str]:
    found = process.extract(name, sorted(set(known)), scorer=fuzz.WRatio, processor=utils.default_process,
                            limit=_NEAREST, score_cutoff=_LEAST_LIKE)
    return [match for match, _, _ in found]


def _list_names(names: Sequence[str]) -> str:
    return ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
