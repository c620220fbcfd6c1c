"""Banyan: schema-bounded knowledge graphs from documents, and answers with checked citations.

    import banyan

    kb = banyan.open("papers")
    kb.add("~/papers")
    answer = kb.ask("Who discovered polonium?")
    print(answer, answer.citations)

Loaded when first asked for:

- `open(name)`: a `KnowledgeBase`, of several names `JoinedBases`; `list()`, `rename(old, new)` and `drop(name)`: those
  there are;
- `Answer`, `Entity`, `Fact`, `Community`, `Step`: what it gives;
- `Document`, `BuildContext`, `AskContext`: what it takes;
- `as_tool(kb)`: a LangChain tool; `as_subagent(kb)`: a subagent for deepagents, supervisors and graphs of one's own;
- `CitationMiddleware()`: checked quotes for agents of `create_agent` and deepagents;
- `BanyanRetriever(kb=...)`: passages for chains of one's own;
- `Settings`, `Resources`: what the environment sets, and what is opened, where a program has its own;
- `BanyanError`: the base of all errors that a caller can fix.
"""

from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agents.construction.state import BuildContext
    from .agents.resources import Resources
    from .agents.retrieval.state import AskContext
    from .api.joined_bases import JoinedBases
    from .api.python_base import KnowledgeBase
    from .api.python_base import drop_base as drop
    from .api.python_base import list_bases as list  # noqa: A004  (read as banyan.list)
    from .api.python_base import open_base as open  # noqa: A004  (read as banyan.open)
    from .api.python_base import rename_base as rename
    from .api.python_results import Answer, Community, Entity, Fact, Step
    from .config import Settings
    from .schemas.documents import Document
    from .schemas.errors import BanyanError
    from .subagent.citation_middleware import CitationMiddleware
    from .subagent.tool import BanyanRetriever, as_subagent, as_tool

__all__ = [
    "Answer", "AskContext", "BanyanError", "BanyanRetriever", "BuildContext", "CitationMiddleware", "Community",
    "Document", "Entity", "Fact", "JoinedBases", "KnowledgeBase", "Resources", "Settings", "Step", "as_subagent",
    "as_tool", "drop", "list", "open", "rename"]
_MODULES = {
    "agents.construction.state": "BuildContext", "agents.resources": "Resources",
    "agents.retrieval.state": "AskContext", "api.joined_bases": "JoinedBases",
    "api.python_base": "KnowledgeBase drop list open rename", "config": "Settings",
    "api.python_results": "Answer Community Entity Fact Step", "schemas.documents": "Document",
    "schemas.errors": "BanyanError", "subagent.citation_middleware": "CitationMiddleware",
    "subagent.tool": "BanyanRetriever as_subagent as_tool"}
"""The public names of each module."""
_CALLED = {"drop": "drop_base", "list": "list_bases", "open": "open_base", "rename": "rename_base"}
"""What would hide a builtin in its own module has another name there."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: importing all of them takes seconds."""
    if name == "__version__":
        return version("banyan-graphrag")
    for module, names in _MODULES.items():
        if name in names.split():
            return getattr(import_module(f".{module}", __name__), _CALLED.get(name, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> Iterable[str]:
    """Return the names in this module, with the public ones that are not imported yet."""
    return sorted({*globals(), *__all__})
