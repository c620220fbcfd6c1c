"""Which knowledge bases a client may know of."""

from typing import NamedTuple


class Bases(NamedTuple):
    """Knowledge bases by their names; whoever holds a key of some is told of the others as of what is not there."""

    names: frozenset[str] | None = None
    """None: all, those to come included."""

    @property
    def every(self) -> bool:
        """Whether it is all of them."""
        return self.names is None

    def hold(self, name: object) -> bool:
        """Whether a knowledge base is one of them, be it there or not."""
        return self.names is None or name in self.names


NONE = Bases(frozenset())
