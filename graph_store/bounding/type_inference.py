"""The type of an entity of which none was said, from what its facts ask for."""

from collections import defaultdict
from collections.abc import Hashable, Iterator

from ...schemas.graph_schema import ANY
from .labels import Bounds


class TypeWishes:
    """What the facts of one chunk ask for of the entities without a type."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._schema = bounds.schema
        self._wishes: dict[str, set[tuple[Hashable, tuple[str, ...]]]] = defaultdict(set)

    def wish(self, entity: str, allowed: tuple[str, ...], fact: Hashable) -> None:
        """Note that a fact asks for one of some types; the same fact counts once."""
        self._wishes[entity].add((fact, allowed))

    def wish_ends(self, head: tuple[str, str | None], relation: str, tail: tuple[str, str | None]) -> None:
        """Note what a triple asks for of those of its ends, given by key and type, that have no type yet.

        Where one end has a type that fits the other side alone, the triple was said backwards.
        """
        element = self._schema.relation_type(relation)
        domain, codomain = (element.domain, element.range) if element else ((ANY,), (ANY,))
        for (key, own), (_, other), mine, theirs in ((head, tail, domain, codomain), (tail, head, codomain, domain)):
            if own is None:
                backwards = (other is not None and not self._schema.is_a(other, theirs)
                             and self._schema.is_a(other, mine))
                self.wish(key, theirs if backwards else mine, (head[0], relation, tail[0]))

    def infer(self) -> Iterator[tuple[str, str]]:
        """Entities with the type that most facts can live with; of equals the first of the schema.

        Where only facts speak that admit any type, it is the type of last resort, if there is one.
        """
        for entity, wishes in self._wishes.items():
            asked = {name for _, allowed in wishes for name in allowed if name != ANY}
            best = min(asked, key=lambda name: (-sum(self._schema.is_a(name, allowed) for _, allowed in wishes),
                                                self._bounds.position(name)), default=self._bounds.last_resort)
            if best is not None:
                yield entity, best
