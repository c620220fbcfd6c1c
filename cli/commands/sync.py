"""`banyan sync`: a knowledge base follows a folder, whose new files are added and whose deleted ones deleted."""

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from watchfiles import Change, DefaultFilter
from watchfiles import watch as watch_files

from ...agents.construction.document_files import FolderChanges
from ...agents.construction.state import BuildContext, BuildInput, BuildReport
from ...agents.resources import Resources
from ...api.python_base import KnowledgeBase
from ...ingest.remote_folders import is_remote, mirror_folder
from ..console import err, format_count, on_a_line, print_json
from ..error_messages import CommandError
from ..session import AsJson, MaxCost, MaxTokens, NewKb, open_resources
from .build import Schema, report_failures, run_build, show_report

app = typer.Typer()

_SHOWN = 10
"""The most files of a kind that are named before a sync; of more, their number is."""
_QUIET_MILLISECONDS = 2000
"""How long a watched folder must rest before it is read: editors and copies write in several steps."""
_LOOK_MILLISECONDS = _QUIET_MILLISECONDS // 2
"""Time between two looks for changes."""


@app.command()
def sync(  # noqa: PLR0913  (its options)
    folder: Annotated[str, typer.Argument(help="The folder; also s3://, gs://, github:// and other stores of fsspec.")],
    kb: NewKb,
    schema: Schema = "",
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be added and deleted; change "
                                                            "nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Delete documents whose files are gone without asking.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Go on until Ctrl-C: sync whenever a file changes; implies "
                                                        "--yes.")] = False,
    max_tokens: MaxTokens = None, max_cost: MaxCost = None, as_json: AsJson = False,
) -> None:
    """Let a knowledge base follow a folder: add new files, read changed ones again, delete what is gone."""
    if watch and (dry_run or is_remote(folder)):
        raise CommandError("--watch is for folders of this machine, without --dry-run")
    context = BuildContext(max_tokens=max_tokens, max_cost=max_cost)
    with open_resources() as resources:
        place = mirror_folder(resources.settings.home, folder) if is_remote(folder) else Path(folder).expanduser()
        for number, _ in enumerate(_changes_in(place, resources.settings.home) if watch else [()]):
            build_input: BuildInput = {"knowledge_base": kb, "paths": [str(place)], "schema": "" if number else schema}
            _sync(resources, place, build_input, context, dry_run=dry_run, yes=yes or watch, as_json=as_json)
            if watch and not number:
                err.print(f"Watching {on_a_line(folder)}; Ctrl-C ends it.")


def _changes_in(folder: Path, home: Path) -> Iterator[Collection[object]]:
    """Yield once the folder is watched, then whenever its files changed.

    So the first sync misses nothing that happens meanwhile.

    Args:
        folder: the folder.
        home: where knowledge bases are, whose files change with each sync.
    """
    if not folder.is_dir():
        raise CommandError(f"{folder} is not a folder: name one that is there")
    # Without changes the watch yields an empty set after each timeout: the first one tells that it has begun.
    changes = watch_files(folder, watch_filter=_outside(home), yield_on_timeout=True, rust_timeout=_LOOK_MILLISECONDS,
                          debounce=_QUIET_MILLISECONDS, step=_LOOK_MILLISECONDS)
    yield next(changes)
    yield from filter(None, changes)


def _outside(home: Path) -> Callable[[Change, str], bool]:
    """Return a filter of the changes that count: not those of temporary files, nor of files in the home folder."""
    is_watched, own = DefaultFilter(), home.absolute()
    return lambda kind, path: is_watched(kind, path) and not Path(path).is_relative_to(own)


def _sync(resources: Resources, folder: Path, given: BuildInput, context: BuildContext, *, dry_run: bool, yes: bool,
          as_json: bool) -> None:
    kb = given["knowledge_base"]
    changes, _ = KnowledgeBase(kb, resources).sync(folder, dry_run=True)
    if not as_json:
        _show_changes(changes)
    if changes.gone and not (yes or dry_run) and not typer.confirm(
            f"Delete {format_count(len(changes.gone), 'document')} from {kb}?"):
        raise typer.Abort
    report = None if dry_run else _carry_out(resources, given, context, changes)
    if as_json:
        print_json({"kb": kb, **changes._asdict(), "report": report})
    elif report:
        show_report(report, as_json=False)
    if report:
        report_failures({**report, "files_moved": []})


def _carry_out(resources: Resources, given: BuildInput, context: BuildContext, changes: FolderChanges,
               ) -> BuildReport | None:
    """Read the folder, then delete what is gone: a build that fails has deleted nothing."""
    report = run_build(resources, given, context) if changes.new or changes.known else None
    if changes.gone:
        resources.delete_documents(given["knowledge_base"], changes.gone)
    return report


def _show_changes(changes: FolderChanges) -> None:
    err.print(f"{format_count(len(changes.new), 'new file')}{_list_names(changes.new)}")
    err.print(f"{format_count(changes.known, 'known file')}, read again where changed")
    err.print(f"{format_count(len(changes.gone), 'document')} gone{_list_names(changes.gone)}")


def _list_names(names: Sequence[str]) -> str:
    shown = ", ".join(map(on_a_line, names[:_SHOWN]))
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f": {shown}{more}" if names else ""
