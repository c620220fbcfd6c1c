"""Commands on knowledge bases as wholes: list, rename, drop, status, and who changed what."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Annotated, Any

import typer

from ...config import Settings
from ...graph_store import moving
from ...graph_store.integrity.status import Status, status_of
from ...graph_store.layout import Layout, knowledge_bases
from ...graph_store.ledger.database import Database
from ...graph_store.ledger.document_rows import Documents
from ...graph_store.ledger.extractions import IMPORTED, RULES
from ...graph_store.ledger.token_accounts import Spent
from ...graph_store.store_errors import StoreError
from ...runtime.audit import entries
from ...text.quantities import format_count
from ..console import CommandError, err, money, out, print_json, print_pairs, print_table
from ..session import AsJson, Kb, open_resources

app = typer.Typer()

_SHOWN_BUILDS, _SHOWN = 5, 10
_READERS = {RULES: "the rules", IMPORTED: "imported triples"}
# How facts were repaired, and why facts are not admitted, as text for people.
_REPAIRS = {"swapped": "with subject and object exchanged", "mapped_label": "with the schema's label for the same",
            "inferred_type": "without a type, inferred from the text",
            "normalised_value": "values in one form", "dropped_time": "without a time that the text does not state"}
_REASONS = {"unknown_entity_type": "of a type that the schema does not have",
            "unknown_relation": "by a relation that the schema does not have",
            "unknown_attribute": "of an attribute that the schema does not have",
            "domain_range": "between other types than the schema has it",
            "ungrounded": "with a name or value that is not in the text",
            "undeclared_entity": "of something without a type", "self_loop": "of a thing with itself",
            "malformed": "not complete", "type_as_name": "with a type as a name",
            "wrong_kind": "with a value of another kind"}


@app.command(name="list")
def list_bases(*, as_json: AsJson = False) -> None:
    """List all knowledge bases and where they are stored."""
    settings = Settings()
    listed = list[dict[str, Any]]()
    for name in knowledge_bases(settings):
        entry: dict[str, Any] = {"kb": name, "documents": 0, "chunks": 0, "problem": ""}
        try:
            with closing(Database(Layout.by(settings, name).require().ledger, create=False)) as database:
                documents = Documents(database)
                entry |= {"documents": documents.count_documents(), "chunks": documents.count()}
        except StoreError as error:  # such as a damaged file: the others are listed all the same
            entry["problem"] = str(error)
        listed.append(entry)
    if as_json:
        print_json(listed)
    elif not listed:
        err.say("there is no knowledge base in {} yet: make one with `banyan build PATH --kb NAME`", settings.home)
    else:
        print_table(("knowledge base", "documents", "chunks", "problem"), [tuple(entry.values()) for entry in listed])
        out.say("[dim]in {}[/dim]", settings.home.absolute())


@app.command()
def rename(old: str, new: str) -> None:
    """Give a knowledge base another name."""
    settings = Settings()
    moving.rename(Layout.by(settings, old), new)
    _move_conversations(settings, old, new)
    out.say("renamed {} to {}", old, new)


@app.command()
def drop(name: str, *, yes: Annotated[bool, typer.Option("--yes", "-y")] = False) -> None:
    """Delete a knowledge base and everything stored in it; asks first."""
    settings = Settings()
    layout = Layout.by(settings, name)
    if not yes:
        if not sys.stdin.isatty():
            raise CommandError(f"deleting {name!r} needs your confirmation, and no terminal is attached: add --yes")
        typer.confirm(f"Delete {name} and everything stored in it? Your files stay.", abort=True)
    moving.drop(layout)
    _move_conversations(settings, name, new="")  # deletes them
    out.say("dropped {}", name)


@app.command()
def audit(kb: str = "", *, as_json: AsJson = False) -> None:
    """List who changed which knowledge base, and who created and revoked keys."""
    home = Settings().home
    listed = [entry for entry in (entries(home) if home.is_dir() else ()) if kb in {"", entry.knowledge_base}]
    if as_json:
        print_json([entry.model_dump() for entry in listed])
        return
    print_table(("time", "who", "action", "knowledge base", "what"), [
        (entry.time, entry.who, entry.action, entry.knowledge_base, entry.what) for entry in listed])


def _move_conversations(settings: Settings, old: str, new: str) -> None:
    """Move a server's conversations about a renamed knowledge base; delete them if `new` is empty."""
    # Importing this takes half a second, and only two commands need it.
    from ...server.runs.conversations import move_conversations  # noqa: PLC0415

    move_conversations(settings, old, new)


@app.command()
def status(kb: Kb, *, as_json: AsJson = False) -> None:
    """Show a knowledge base's contents, failures and spending."""
    with open_resources(reasons=False) as resources:
        with resources.snapshot(kb) as snapshot:
            report = status_of(snapshot.kb, resources.spending.prices)
        if as_json:
            print_json(report.model_dump())
            return
        # Imported here, because the retrieval graph is slow to import. So `--json` stays quick.
        from ...agents.introduction import introduce  # noqa: PLC0415

        introduction = introduce(resources, kb).lines() if report.documents else ()
    out.say("[bold]{}[/bold]", kb)
    print_pairs([*introduction, *_status_lines(report)])
    for document, number, reason in report.failures[:_SHOWN]:
        out.say("  [red]failed:[/red] {}, chunk {}: {}", document, number, reason)
    for document, note in list(report.partly_read.items())[:_SHOWN]:
        out.say("  [yellow]partly read:[/yellow] {}: {}", document, note)
    if len(report.partly_read) > _SHOWN:
        out.say("  and {} more; `banyan status --json` lists all", len(report.partly_read) - _SHOWN)
    if report.chunks_failed:
        out.say("  [yellow]banyan build --kb {} --retry-failed[/yellow] reads what failed", kb)
    if report.spent.calls:
        _print_spending(report)


def _status_lines(report: Status) -> Iterator[tuple[str, str]]:
    """Yield the lines of a status, each as (name, text)."""
    unread = [f"{number:,} {state}" for number, state in (
        (report.chunks_waiting, "waiting"), (report.chunks_failed, "failed")) if number]
    documents = (f"{report.documents:,}, in {format_count(report.chunks, 'chunk')}, "
                 + (f"of which {' and '.join(unread)}" if unread else "all read"))
    if report.partly_read:
        documents += f"; {format_count(len(report.partly_read), 'document')} only in part"
    yield "documents", documents
    if report.read_by:
        yield "read by", ", ".join(f"{_READERS.get(reader, reader)}: {format_count(number, 'chunk')}"
                                   for reader, number in report.read_by.items())
    yield "graph", ", ".join((
        format_count(report.entities, "entity", "entities"), format_count(report.triples, "fact"),
        format_count(report.attributes, "attribute"), format_count(report.communities, "community", "communities")))
    if RULES in report.read_by:
        yield "sentences", ("rules read no facts from sentences, a model does (set one, then: banyan build PATH "
                            "--reread)")
    schema = f"{report.schema_name or 'none yet'}, version {report.schema_version}"
    if report.candidates_waiting:
        schema += (f"; waiting: {format_count(report.candidates_waiting, 'candidate')} (decide: banyan schema review "
                   f"--kb {report.kb}; admit all: the same with --all accept)")
    yield "schema", schema
    if report.facts_not_admitted:
        total = format_count(sum(report.facts_not_admitted.values()), "fact")
        yield "not admitted", f"{total}: {_counts_text(report.facts_not_admitted, _REASONS)}"
    if report.repaired:
        yield "repaired", _counts_text(report.repaired, _REPAIRS)
    yield "embedding", report.embedding_model


def _counts_text(counts: Mapping[str, int], texts: Mapping[str, str]) -> str:
    """Return counts by a name as text, largest first; `texts` has the text for each name."""
    largest_first = sorted(counts.items(), key=lambda count: (-count[1], count[0]))
    return ", ".join(f"{number:,} {texts.get(name, name)}" for name, number in largest_first)


def _print_spending(status: Status) -> None:
    """Print what was spent on each step, on the last builds and on the most expensive documents, and in all."""
    parts: dict[str, Sequence[Spent]] = {"step": status.spent_by_step,
                                         "build": status.spent_by_build[-_SHOWN_BUILDS:],
                                         "document": status.dearest_documents}
    # Spending without a name belongs to none of the kind, such as that of questions to no build.
    named = [(f"{kind} {spent.name}" if spent.name else f"no {kind}", spent)
             for kind, accounts in parts.items() for spent in accounts]
    print_table(("spent on", "calls", "prompt", "cached", "completion", "wasted", "cost"), [
        (name, spent.calls, spent.prompt, spent.cached, spent.completion, spent.wasted, money(spent.cost))
        for name, spent in [*named, ("all", status.spent)]], title="Spent")
