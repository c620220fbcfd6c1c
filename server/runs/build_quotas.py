"""Limits on queued builds: in total, per client, and per knowledge base."""

from collections.abc import Sequence

from ..errors import StateError, TooManyRequestsError
from .build_records import AT_WORK, BuildOptions, BuildRecord

MOST_QUEUED, MOST_OF_ONE = 100, 25
"""The most builds that may be queued or running: in total, and for one client or one knowledge base."""
_RETRY = 60


def check_quotas(unfinished: Sequence[BuildRecord], kb: str, options: BuildOptions, client: str) -> None:
    """Check that another build may start.

    Builds that wait for a person are not counted: they use no slot, and each knowledge base has at most one.

    Args:
        unfinished: the builds that have not ended.
        kb: the knowledge base to build.
        options: the options of the new build.
        client: the client that starts it.

    Raises:
        TooManyRequestsError: too many builds are queued.
        StateError: the build is to be reviewed, and another one of the knowledge base already is.
    """
    at_work = [record for record in unfinished if record.build.state in AT_WORK]
    of_client = sum(record.client == client for record in at_work)
    of_base = sum(record.build.kb == kb for record in at_work)
    for number, most, whose in ((len(at_work), MOST_QUEUED, ""), (of_client, MOST_OF_ONE, " of yours"),
                                (of_base, MOST_OF_ONE, f" of {kb!r}")):
        if number >= most:
            raise TooManyRequestsError(f"{number} builds{whose} are queued or running: start this one later", _RETRY)
    if options.context.policy == "review":
        for record in unfinished:
            if record.build.kb == kb and record.options.context.policy == "review":
                raise StateError(f"the build {record.build.id!r} of {kb!r} is to be reviewed: decide on it or cancel "
                                 "it first")
