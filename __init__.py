"""Banyan: schema-bounded knowledge graphs from documents, and answers with checked citations.

What other programs use, loaded when first asked for:

- `as_tool(kb)`: a LangChain tool; `as_subagent(kb)`: a subagent for deepagents, supervisors and graphs of one's own;
- `BanyanRetriever(kb=...)`: passages for chains of one's own;
- `Remote(url, kb)`: the same of a server that runs elsewhere;
- `Settings`, `Resources`: what the environment sets, and what is opened, where a program has its own;
- `BanyanError`: the base of all errors that a caller can fix.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agents.resources import Resources
    from .config import Settings
    from .schemas.errors import BanyanError
    from .subagent.compiled import as_subagent
    from .subagent.remote import Remote
    from .subagent.retriever import BanyanRetriever
    from .subagent.tool import as_tool

__all__ = ["BanyanError", "BanyanRetriever", "Remote", "Resources", "Settings", "as_subagent", "as_tool"]

_MODULES = {"BanyanError": "schemas.errors", "BanyanRetriever": "subagent.retriever", "Remote": "subagent.remote",
            "Resources": "agents.resources", "Settings": "config", "as_subagent": "subagent.compiled",
            "as_tool": "subagent.tool"}


def __getattr__(name: str) -> Any:
    """A name of the public interface, from the module that has it: importing all of them takes seconds."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
