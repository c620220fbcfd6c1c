"""Group all entities of a graph into a view, an alternative to the default communities."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

from ...schemas.documents import Frozen

Key = TypeVar("Key", bound=Hashable)


class Group(Frozen):
    """A group of entities in a view: their sorted ids, and the name of what they share.

    The name is "" if only a summary can provide one. `rest` marks the group of the entities that the
    view does not cover.
    """

    name: str
    members: tuple[str, ...]
    rest: bool = False


class View(Frozen):
    """A named partition: each entity of the graph is in exactly one group, and no group is empty."""

    name: str
    groups: tuple[Group, ...]


def partition(name: str, ids: Iterable[str], keys: Mapping[str, Key], title: Callable[[Key], str],
              order: Callable[[Key], object], rest: str) -> View:
    """Group entities with the same key.

    Args:
        name: the view's name.
        ids: all entities of the graph.
        keys: the key of each entity that has one.
        title: returns a key's name.
        order: returns the value to sort a group by; different for different keys.
        rest: the name of the last group, of the entities without a key.
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
