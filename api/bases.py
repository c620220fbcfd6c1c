"""The knowledge bases of a home folder: open one, list, rename and drop them."""

from difflib import get_close_matches
from typing import Any

from ..agents.resources import Resources, default_resources
from ..config import Settings, SettingsError
from ..graph_store.layout import knowledge_bases
from ..subagent.asking import resources_for
from .knowledge_base import KnowledgeBase


def open_base(name: str, *, resources: Resources | None = None, **settings: Any) -> KnowledgeBase:
    """Open a knowledge base, or name a new one, which comes into being with its first document.

    Args:
        name: its name: letters, digits, `-` and `_`.
        resources: those that your own code has opened, such as with an embedding model of its own.
        settings: any setting by its name, instead of what the environment has: `home`, `llm_base_url`, `llm_model`,
            `embedding_model` and all others of `banyan.Settings`. None: what the process shares, by its environment.

    Returns:
        The knowledge base; in a `with` block it is closed at the end.

    Raises:
        KnowledgeBaseNameError: it cannot be a knowledge base's name.
        SettingsError: there is no such setting, or settings cannot be used together.
    """
    if resources is not None and settings:
        raise SettingsError("give `resources` or settings, not both: resources have theirs")
    return KnowledgeBase(name, resources or _resources(settings), owned=bool(settings))


def list_bases(**settings: Any) -> list[str]:
    """The names of the knowledge bases there are, sorted; `settings` as for `open`."""
    return knowledge_bases(_resources(settings).settings)


def drop_base(name: str, **settings: Any) -> None:
    """Delete a knowledge base with all that was stored of it; `settings` as for `open`.

    Raises:
        UnknownKnowledgeBaseError: there is none of that name.
        WriterBusyError: something is writing to it.
    """
    _resources(settings).drop(name)


def rename_base(old: str, new: str, **settings: Any) -> None:
    """Give a knowledge base another name; `settings` as for `open`.

    Raises:
        UnknownKnowledgeBaseError: there is none of the old name.
        KnowledgeBaseNameError: the new name is taken, or cannot be one.
        WriterBusyError: something is writing to it.
    """
    _resources(settings).rename(old, new)


def _resources(settings: dict[str, Any]) -> Resources:
    """What the process shares; with settings, resources of their own, of which nothing is open yet."""
    for name in settings:
        if name not in Settings.model_fields:
            near = get_close_matches(name, Settings.model_fields, n=1)
            raise SettingsError(f"there is no setting {name!r}" + (f": is {near[0]!r} meant?" if near else
                                                                    "; docs/settings.md lists all"))
    return resources_for(Settings(**settings)) if settings else default_resources()
