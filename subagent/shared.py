"""What the tools, subagents and retrievers of one process work with."""

import threading

from ..agents.resources import Resources, default_resources
from ..config import Settings

_made: list[Resources] = []
_lock = threading.Lock()


def shared_resources(settings: Settings | None = None) -> Resources:
    """The resources of this process for some settings: models and knowledge bases are opened once for all who ask.

    Args:
        settings: with which; none: those of the environment.

    Returns:
        The same object for equal settings. Nothing is opened yet.
    """
    default = default_resources()
    if settings is None:
        return default
    wanted = _at_a_fixed_place(settings)
    with _lock:
        for resources in (default, *_made):
            if _at_a_fixed_place(resources.settings) == wanted:
                return resources
        _made.append(Resources(wanted))
        return _made[-1]


def _at_a_fixed_place(settings: Settings) -> Settings:
    """The settings with an absolute home, which stays where it is when the working folder changes."""
    return settings.model_copy(update={"home": settings.home.expanduser().absolute()})
