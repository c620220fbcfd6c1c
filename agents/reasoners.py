"""The reasoners of this process, one for each knowledge base and choice of models, with the accounts of its calls."""

import threading
from collections.abc import Callable, Mapping, Sequence

from ..graph_store.ledger.token_accounts import Calls
from ..models.reasoner import Reasoner
from .model_choice import AskStep

Models = tuple[tuple[str, str], ...]
"""(step, model) for each step that asks another model than the settings name, sorted."""


class Reasoners:
    """Makes reasoners when they are first needed. Safe to use from several threads."""

    def __init__(self, calls: Callable[[str], Calls], make: Callable[[Calls, Sequence[tuple[str, str]]], Reasoner],
                 ) -> None:
        """Make nothing yet.

        Args:
            calls: opens the accounts of a knowledge base.
            make: makes a reasoner with some accounts and models.
        """
        self._calls = calls
        self._make = make
        self._made: dict[str, dict[Models, tuple[Calls, Reasoner]]] = {}
        # While it is held, neither readers nor runs are asked for anything.
        self._lock = threading.Lock()

    def get(self, name: str, models: Mapping[AskStep, str]) -> Reasoner:
        """Return the reasoner of a knowledge base; another one if the connection to its accounts was lost."""
        chosen = tuple(sorted(models.items()))
        with self._lock:
            made = self._made.get(name, {}).get(chosen)
        if made is None or made[0].gone:
            calls = self._calls(name)
            with self._lock:
                reasoners = self._made.setdefault(name, {})
                # Another thread may have been quicker.
                if (newest := reasoners.get(chosen)) is None or newest is made:
                    newest = reasoners[chosen] = calls, self._make(calls, chosen)
                made = newest
        return made[1]

    def forget(self, name: str) -> None:
        """Let go of the reasoners of a knowledge base, whose accounts' connection is closed."""
        with self._lock:
            self._made.pop(name, None)

    def clear(self) -> None:
        """Let go of all."""
        with self._lock:
            self._made.clear()
