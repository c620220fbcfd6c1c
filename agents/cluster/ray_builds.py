"""Where a build on Ray begins and ends; Ray is imported only within."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager

from ..resources import Resources
from .joining import LOCAL, join_cluster


@contextmanager
def resources_on(resources: Resources, ray: str | bool) -> Iterator[Resources]:
    """Yield resources for builds on a Ray cluster, which this process leaves at the end of the block.

    Args:
        resources: those of this process; what is open of them stays as it is, and sees what is written.
        ray: the cluster's address, `auto` or HOST:PORT (see `join_cluster`); True starts a Ray of this machine; with
            "" or False the same resources are yielded.

    Raises:
        ClusterError: Ray is not installed, no cluster answers, or its workers do not fit this process.
    """
    if not ray:
        yield resources
        return
    with join_cluster(LOCAL if ray is True else ray):
        # It imports Ray, an optional package.
        from .ray_resources import ClusterResources  # noqa: PLC0415

        with ClusterResources(resources) as on_cluster:
            yield on_cluster


@asynccontextmanager
async def aresources_on(resources: Resources, ray: str | bool) -> AsyncIterator[Resources]:
    """Open as `resources_on` does, for an event loop: workers start and end in a thread."""
    stack = ExitStack()
    entering = asyncio.ensure_future(asyncio.to_thread(stack.enter_context, resources_on(resources, ray)))
    try:
        yield await asyncio.shield(entering)
    finally:
        await asyncio.wait([entering])  # a cancellation may come while workers start
        await asyncio.shield(asyncio.to_thread(stack.close))
