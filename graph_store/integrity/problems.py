"""Problems that a check of a knowledge base finds, with their fixes."""

from collections.abc import Iterable, Iterator
from itertools import islice

from ...schemas.documents import Frozen

RESTORE = "restore the knowledge base from a backup (`banyan restore FILE --kb NAME --force`), or build it again"
REINDEX = "run `banyan reindex`"
BUILD = "run `banyan build` again"
_SHOWN = 20


class Problem(Frozen):
    """A problem and its fix."""

    what: str
    fix: str


def some(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield the first problems of a check, then one that says how many more there are.

    Otherwise one kind of damage could hide all others.
    """
    remaining = iter(problems)
    last: Problem | None = None
    for last in islice(remaining, _SHOWN):
        yield last
    more = sum(1 for _ in remaining)
    if last is not None and more:
        yield Problem(what=f"... and {more} more like this", fix=last.fix)
