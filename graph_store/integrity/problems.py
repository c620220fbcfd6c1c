"""What a check of a knowledge base finds, and what fixes it."""

from collections.abc import Iterable, Iterator
from itertools import islice

from ...schemas.documents import Frozen

RESTORE = "restore the knowledge base from a backup (`banyan restore FILE --kb NAME --force`), or build it again"
REINDEX = "run `banyan reindex`"
BUILD = "run `banyan build` again"
_SHOWN = 20


class Problem(Frozen):
    """Something that is not as it should be, and what fixes it."""

    what: str
    fix: str


def some(problems: Iterable[Problem]) -> Iterator[Problem]:
    """The first problems of a check, and in a last one how many more there are.

    Otherwise a damage that is everywhere would bury all others.
    """
    remaining = iter(problems)
    last: Problem | None = None
    for last in islice(remaining, _SHOWN):
        yield last
    more = sum(1 for _ in remaining)
    if last is not None and more:
        yield Problem(what=f"... and {more} more like this", fix=last.fix)
