"""The knowledge bases of a home folder: open one, list, rename and drop them."""

from difflib import get_close_matches
from typing import Any

from ..agents.resources import Resources, default_resources
from ..config import Settings, SettingsError
from ..graph_store.layout import knowledge_bases
from ..subagent.tool import resources_for
from .python_base import KnowledgeBase


def open_base(name: str, *, resources: Resources | None = None, **settings: Any) -> KnowledgeBase:
    """Open a knowledge base by name; a new one is created when you add the first document.

    Args:
        name: the knowledge base's name: letters, digits, `-` and `_`.
        resources: resources that your own code has opened, for example with your own embedding model.
        settings: any setting of `banyan.Settings` by its name, instead of the environment's: `home`, `llm_base_url`,
            `llm_model`, `embedding_model` and so on. Without any, the process's shared resources are used.

    Returns:
        The knowledge base; a `with` block closes it at the end.

    Raises:
        KnowledgeBaseNameError: `name` cannot be a knowledge base's name.
        SettingsError: a setting does not exist, or settings cannot be combined.
    """
    if resources is not None and settings:
        raise SettingsError("give `resources` or settings, not both: resources have theirs")
    return KnowledgeBase(name, resources or _resources(settings), owned=bool(settings))


def list_bases(**settings: Any) -> list[str]:
    """Return the sorted names of all knowledge bases; `settings` as for `open`."""
    return knowledge_bases(_resources(settings).settings)


def drop_base(name: str, **settings: Any) -> None:
    """Delete a knowledge base and everything stored in it; `settings` and errors as for `open` and `rename`."""
    _resources(settings).drop(name)


def rename_base(old: str, new: str, **settings: Any) -> None:
    """Rename a knowledge base; `settings` as for `open`.

    Raises:
        UnknownKnowledgeBaseError: no knowledge base has the old name.
        KnowledgeBaseNameError: the new name is taken, or is not allowed.
        WriterBusyError: another process is writing to it.
    """
    _resources(settings).rename(old, new)


def _resources(settings: dict[str, Any]) -> Resources:
    for name in settings:
        if name not in Settings.model_fields:
            similar = get_close_matches(name, Settings.model_fields, n=1)
            hint = f"did you mean {similar[0]!r}?" if similar else "docs/settings.md lists all"
            raise SettingsError(f"there is no setting {name!r}; {hint}")
    return resources_for(Settings(**settings)) if settings else default_resources()
