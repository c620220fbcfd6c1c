"""The knowledge bases that a client may see."""

from typing import NamedTuple


class Bases(NamedTuple):
    """A set of knowledge bases by name. For a client, other knowledge bases do not exist."""

    names: frozenset[str] | None = None
    """None means all knowledge bases, including future ones."""

    @property
    def every(self) -> bool:
        """Whether it contains all knowledge bases."""
        return self.names is None

    def hold(self, name: object) -> bool:
        """Return True if the set contains a knowledge base, whether or not it exists."""
        return self.names is None or name in self.names


NONE = Bases(frozenset())
