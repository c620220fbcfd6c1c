"""How many builds may wait for their turn: of all, of a client, and of a knowledge base."""

from collections.abc import Sequence

from ..errors import StateError, TooManyRequestsError
from .build_records import AT_WORK, BuildOptions, BuildRecord

MOST_QUEUED, MOST_OF_ONE = 100, 25
"""Builds that wait for their turn or run: of all, and of one client or one knowledge base."""
_RETRY = 60


def check_quotas(unfinished: Sequence[BuildRecord], kb: str, options: BuildOptions, client: str) -> None:
    """Check that another build may be started.

    Those that wait for a person need no turn: they keep nobody out, and there is one for each knowledge base.

    Args:
        unfinished: the builds that are not over.
        kb: whose build is to be started.
        options: how it is run.
        client: who starts it.

    Raises:
        TooManyRequestsError: too many wait already.
        StateError: it would be reviewed, and another one of the knowledge base is.
    """
    at_work = [record for record in unfinished if record.build.state in AT_WORK]
    of_client = sum(record.client == client for record in at_work)
    of_base = sum(record.build.kb == kb for record in at_work)
    for number, most, whose in ((len(at_work), MOST_QUEUED, ""), (of_client, MOST_OF_ONE, " of yours"),
                                (of_base, MOST_OF_ONE, f" of {kb!r}")):
        if number >= most:
            raise TooManyRequestsError(f"{number} builds{whose} wait already: start another one later", _RETRY)
    if options.context.policy == "review":
        for record in unfinished:
            if record.build.kb == kb and record.options.context.policy == "review":
                raise StateError(f"the build {record.build.id!r} of {kb!r} is to be reviewed: decide on it or cancel "
                                 "it first")
