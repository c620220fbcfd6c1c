"""A view: one way of grouping all entities of a graph, beside the default communities."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

from ...schemas.documents import Frozen

Key = TypeVar("Key", bound=Hashable)


class Group(Frozen):
    """Entities that belong together in a view: their ids, sorted, and the name of what they share.

    The name is empty where only a summary can find one. `rest` marks the group of those that the
    view says nothing of.
    """

    name: str
    members: tuple[str, ...]
    rest: bool = False


class View(Frozen):
    """A named partition: each entity of the graph is in exactly one group; none is empty."""

    name: str
    groups: tuple[Group, ...]


def partition(name: str, ids: Iterable[str], keys: Mapping[str, Key], title: Callable[[Key], str],
              order: Callable[[Key], object], rest: str) -> View:
    """The view that puts entities of one key together.

    Args:
        name: the view's.
        ids: all entities of the graph.
        keys: the key of each entity that has one.
        title: a key's name.
        order: what the groups are sorted by; different for different keys.
        rest: the name of the last group, which holds the entities without a key.
    """
    members: dict[Key, list[str]] = {}
    without = []
    for entity in sorted(ids):
        if entity in keys:
            members.setdefault(keys[entity], []).append(entity)
        else:
            without.append(entity)
    groups = [Group(name=title(key), members=tuple(members[key])) for key in sorted(members, key=order)]  # type: ignore[arg-type]
    if without:
        groups.append(Group(name=rest, members=tuple(without), rest=True))
    return View(name=name, groups=tuple(groups))
