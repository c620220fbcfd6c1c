"""`banyan backup` and `banyan restore`: a knowledge base in one file, and back."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import on_a_line
from .shared import AsJson, Kb, err, opened, out, print_json

if TYPE_CHECKING:
    from ..agents.resources import Resources

_Output = Annotated[Path, typer.Option("--output", "-o", help="The file to write.")]


def backup(kb: Kb, output: _Output, *, force: Annotated[bool, typer.Option(
        "--force", help="Replace a file that is there.")] = False, as_json: AsJson = False) -> None:
    """Write a knowledge base to one file, also while a build runs.

    The file is a zip of ledger.sqlite (documents, chunks, all that was said of them, schema versions and decisions,
    communities with their summaries, LLM responses, accounts) as it was at the moment of the command, and
    manifest.json with its size and SHA-256. Graph and vectors are not in it: restoring makes them again from the
    ledger, without a call to an LLM. Neither are your source files and settings.
    """
    from ..config import Settings  # noqa: PLC0415
    from ..graph_store.integrity.backup import back_up  # noqa: PLC0415
    from ..graph_store.layout import Layout  # noqa: PLC0415
    from .progress import track  # noqa: PLC0415

    layout = Layout.of(Settings().home, kb).require()
    with track(err, "copying") as progress:
        manifest = back_up(layout, output, progress, force=force)
    size = output.stat().st_size
    if as_json:
        print_json({"kb": kb, "file": str(output), "bytes": size, **manifest.model_dump(exclude={"name"})})
        return
    out.print(f"{manifest.documents} documents, {manifest.chunks} chunks and {manifest.extractions} extractions "
              f"written to {on_a_line(str(output))}, {size:,} bytes", soft_wrap=True)


def restore(file: Annotated[Path, typer.Argument(help="A file that `banyan backup` wrote.")], kb: Kb, *,
            force: Annotated[bool, typer.Option("--force", help="Replace a knowledge base of that name.")] = False,
            as_json: AsJson = False) -> None:
    """Make a knowledge base from a backup, under any name; graph and vectors are made from it without a call.

    Form, sizes, checksum and every table of the file are checked before anything is changed. Ended in the middle, the
    old knowledge base stands or the new one.
    """
    from ..graph_store.integrity.restore import restore as put_back  # noqa: PLC0415
    from ..graph_store.layout import Layout  # noqa: PLC0415
    from .progress import track  # noqa: PLC0415

    with opened(reasons=False) as resources:
        layout = Layout.of(resources.settings.home, kb)
        with track(err, "restoring") as progress:
            manifest = put_back(file, layout, progress, force=force)
        fix = _derive(resources, kb)
    if as_json:
        print_json({"kb": kb, **manifest.model_dump(exclude={"name"}), "derived": not fix})
    else:
        out.print(f"{manifest.documents} documents, {manifest.chunks} chunks and {manifest.extractions} extractions "
                  f"restored to {kb}, as they were on {manifest.created}", soft_wrap=True)
    if fix:
        err.print(f"[yellow]the vectors are still to be made:[/yellow] {on_a_line(fix)}", soft_wrap=True)


def _derive(resources: "Resources", kb: str) -> str:
    """Make graph and vectors; returns why that is still to be done, if it is."""
    from ..graph_store.errors import EmbeddingMismatchError  # noqa: PLC0415

    try:
        with err.status("embedding"):
            resources.knowledge_base(kb)
    except EmbeddingMismatchError as error:
        return str(error)
    return ""
