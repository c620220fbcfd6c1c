"""Servers that share a PostgreSQL database, each with a home of its own."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from . import serving


@contextmanager
def replicas(folder: Path, database: str, number: int = 2, **settings: str) -> Iterator[list[serving.Served]]:
    """So many servers on one database, ended at the end of the block as far as they still run."""
    with ExitStack() as stack:
        servers = []
        for one in range(number):
            home = folder / f"replica-{one}"
            home.mkdir(parents=True, exist_ok=True)
            servers.append(stack.enter_context(serving.served(home, BANYAN_DATABASE_URL=database, **settings)))
        yield servers


def documents(number: int) -> dict[str, str]:
    """Documents of one chunk each, by their names."""
    return {f"player-{one}.md": f"# Player {one}\n\nPlayer {one} was a chess player. She was born in Warsaw in "
                                f"{1700 + one}.\n" for one in range(number)}
