"""Shared parts of the commands: common options (their help is in `commands.toml`), and the resources that they open."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer

from ..agents.resources import Resources
from ..config import Settings
from ..graph_store.layout import knowledge_bases
from .console import CommandError, note_missing_model, set_up_logs


def default_kb() -> str:
    """Return the knowledge base for a command without --kb: that in BANYAN_KB, or else the only one that exists."""
    settings = Settings()
    known = [settings.kb] if settings.kb else knowledge_bases(settings)
    if not known:
        raise CommandError(f"there is no knowledge base in {settings.home} yet: make one with `banyan build PATH --kb "
                           "NAME`")
    if len(known) > 1:
        raise CommandError(f"which knowledge base? There are {', '.join(known)}: name one with --kb, or set BANYAN_KB")
    return known[0]


def configured_kb() -> str:
    """Return the knowledge base in BANYAN_KB, for a command that adds documents or creates a knowledge base.

    The only existing one is not taken instead, as documents could end up in the wrong one.
    """
    name = Settings().kb
    if not name:
        raise CommandError("which knowledge base? Name it with --kb; it is created if it does not exist")
    return name


_DEFAULT = "BANYAN_KB, or the only one"
Kb = Annotated[str, typer.Option("--kb", default_factory=default_kb, show_default=_DEFAULT)]
Kbs = Annotated[list[str], typer.Option("--kb", default_factory=lambda: [default_kb()], show_default=_DEFAULT)]
NewKb = Annotated[str, typer.Option("--kb", default_factory=configured_kb, show_default="BANYAN_KB")]
AsJson = Annotated[bool, typer.Option("--json")]
MaxTokens = Annotated[int | None, typer.Option(min=0)]
MaxCost = Annotated[float | None, typer.Option(min=0)]
Limit = Annotated[int | None, typer.Option(min=1)]
Documents = Annotated[list[str] | None, typer.Option("--in", metavar="DOCUMENT")]
Where = Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE")]


def where_of(conditions: Sequence[str] | None) -> dict[str, str]:
    """Return the values of `--where`, each of the form KEY=VALUE, as a dict."""
    metadata: dict[str, str] = {}
    for condition in conditions or ():
        key, _, value = condition.partition("=")
        if not key.strip() or not value.strip():
            raise CommandError(f"--where {condition!r} is not KEY=VALUE: write for example --where author='Ana Ruiz'")
        metadata[key.strip()] = value.strip()
    return metadata


@contextmanager
def open_resources(*, uses_model: bool = True) -> Iterator[Resources]:
    """Set up logging, and open a command's resources for the block; print a note if it `uses_model` and none is set."""
    settings = Settings()
    set_up_logs(settings)
    with Resources(settings) as resources:
        if uses_model:
            note_missing_model(settings)
        yield resources
