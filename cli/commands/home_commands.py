"""Commands on knowledge bases as wholes: list, rename, drop, status, who changed what, and whether all is in order.

`banyan doctor` checks the installation, the folders and every configured endpoint, and names the fix for each.
"""

import platform
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Annotated, Any, Literal, NamedTuple

import typer

from ...agents.resources import Resources
from ...config import LLM_STEPS, LlmStep, Settings
from ...graph_store.integrity.status import Status, status_of
from ...graph_store.knowledge_base import drop_base, rename_base
from ...graph_store.layout import Layout, knowledge_bases
from ...graph_store.ledger.database import Database
from ...graph_store.ledger.document_rows import Documents
from ...graph_store.ledger.extractions import IMPORTED, RULES
from ...graph_store.store_errors import StoreError
from ...models.llm.endpoint import name_of
from ...models.llm.model_calls import try_out
from ...runtime.audit import entries
from ...runtime.budgets import load_prices
from ...schemas.errors import BanyanError
from ...text.quantities import format_count
from ..console import CommandError, err, money, out, print_json, print_pairs, print_table
from ..session import AsJson, Kb, open_resources

app = typer.Typer()
_SHOWN_BUILDS, _SHOWN = 5, 10  # last builds in the table of spending, and documents in each list of `status`
State = Literal["ok", "warning", "failed"]
_COLOURS: dict[State, str] = {"ok": "green", "warning": "yellow", "failed": "red"}
_PACKAGE = "banyan-graphrag"
_LEAST_FREE = 1.0  # gigabytes of free space below which a build may end early
_READERS = {RULES: "the rules", IMPORTED: "imported triples"}


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
    rename_base(Layout.by(settings, old), new)
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
    drop_base(layout)
    _move_conversations(settings, name, new="")  # deletes them
    out.say("dropped {}", name)


@app.command()
def audit(kb: str = "", *, as_json: AsJson = False) -> None:
    """List who changed which knowledge base, and who created and revoked keys."""
    home = Settings().home
    all_entries = entries(home) if home.is_dir() else ()  # without the folder, nothing is logged yet
    listed = [entry for entry in all_entries if kb in {"", entry.knowledge_base}]
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
    with open_resources(uses_model=False) as resources:
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
        accounts_of = {"step": report.spent_by_step, "build": report.spent_by_build[-_SHOWN_BUILDS:],
                       "document": report.dearest_documents}
        # Spending without a name belongs to none of the kind, as a question belongs to no build.
        named = [(f"{kind} {spent.name}" if spent.name else f"no {kind}", spent)
                 for kind, accounts in accounts_of.items() for spent in accounts]
        print_table(("spent on", "calls", "prompt", "cached", "completion", "wasted", "cost"), [
            (name, spent.calls, spent.prompt, spent.cached, spent.completion, spent.wasted, money(spent.cost))
            for name, spent in [*named, ("all", report.spent)]], title="Spent")


def _status_lines(report: Status) -> Iterator[tuple[str, str]]:
    unread = {"chunks waiting": report.chunks_waiting, "chunks failed": report.chunks_failed,
              "documents read in part": len(report.partly_read)}
    yield "documents", ", ".join((f"{report.documents:,}, in {format_count(report.chunks, 'chunk')}",
                                  *(f"{number:,} {state}" for state, number in unread.items() if number)))
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
        yield "not admitted", f"{total}: {_counts_text(report.facts_not_admitted)}"
    if report.repaired:
        yield "repaired", _counts_text(report.repaired)
    yield "embedding", report.embedding_model


def _counts_text(counts: Mapping[str, int]) -> str:
    """Return counts by reason as a line of text, largest first: "3 unknown relation, 1 ungrounded"."""
    largest_first = sorted(counts.items(), key=lambda count: (-count[1], count[0]))
    return ", ".join(f"{number:,} {reason.replace('_', ' ')}" for reason, number in largest_first)


class Check(NamedTuple):
    """A part that was checked: what was found, and what to do if it is not as it should be."""

    part: str
    state: State
    found: str
    fix: str = ""


@app.command()
def doctor(*, as_json: AsJson = False) -> None:
    """Check the installation and everything that the settings name; exits 1 if something needed is broken."""
    with open_resources(uses_model=False) as resources, err.status("checking"):
        checks = [_run_check(part, check) for part, check in _list_checks(resources)]
    is_sound = all(check.state != "failed" for check in checks)
    if as_json:
        print_json({"ok": is_sound, "checks": [check._asdict() for check in checks]})
    else:
        for check in checks:
            colour = _COLOURS[check.state]
            out.say(f"[{colour}]{check.state:>7}[/{colour}]  [bold]{{}}[/bold]: {{}}", check.part, check.found)
            if check.fix:
                out.say("         [dim]fix:[/dim] {}", check.fix)
    if not is_sound:
        raise typer.Exit(1)


def _list_checks(resources: Resources) -> Iterator[tuple[str, Callable[[], tuple[str, str]]]]:
    """Yield each part with the function that checks it: it returns what it found, and the fix of what works badly."""
    settings = resources.settings
    yield "installation", _check_installation
    yield "home folder", partial(_check_home, settings)
    place = "the database" if settings.database else str(settings.home)
    yield "knowledge bases", lambda: (f"{len(knowledge_bases(settings))} in {place}", "")
    if find_spec("uvicorn"):
        from ...server.security.keys import Keys  # noqa: PLC0415  (of an optional package)

        yield "API keys", lambda: (f"{len(Keys.of(settings).all())} for the server", "")
    if not settings.uses_llm:
        yield "language model", lambda: ("none: the rules read and answer; a model is set by BANYAN_LLM_BASE_URL", "")
    else:
        steps_of = defaultdict[str, list[LlmStep]](list)  # steps with the same model are checked by one call
        for step in LLM_STEPS:
            steps_of[getattr(settings, f"llm_model_{step}")].append(step)
        for steps in steps_of.values():
            part = "language model" if len(steps_of) == 1 else f"language model for {', '.join(steps)}"
            yield part, partial(_check_model, settings.for_step(steps[0]))
    yield "embedding model", partial(_check_embedder, resources)
    if settings.reranker:
        yield "reranker", partial(_check_reranker, resources)


def _run_check(part: str, check: Callable[[], tuple[str, str]]) -> Check:
    """Run a check, and return its result: a warning if it returns a fix, failed if it raises an error."""
    # An error's message ends with the fix, behind the last semicolon or, without one, the last colon.
    try:
        found, fix = check()
        return Check(part, "warning" if fix else "ok", found, fix)
    except OSError as error:
        return Check(part, "failed", str(error), "correct BANYAN_HOME, or the permissions of its folder")
    except BanyanError as error:
        message = str(error)
        found, _, fix = message.rpartition("; " if "; " in message else ": ")
        return Check(part, "failed", found or message, fix)


def _check_installation() -> tuple[str, str]:
    """Return the versions that are installed, and the fix without the server's packages."""
    installed = (f"banyan {version(_PACKAGE)} on Python {platform.python_version()} with "
                 f"langgraph {version('langgraph')} and chromadb {version('chromadb')}")
    if not find_spec("uvicorn"):
        return f"{installed}; `banyan serve` and `banyan mcp` cannot run", f"pip install '{_PACKAGE}[server]'"
    return installed, ""


def _check_home(settings: Settings) -> tuple[str, str]:
    """Check that files can be written to the home folder, or to the folder in which the first build makes it."""
    home = settings.home.expanduser().absolute()
    existing_folder = next(folder for folder in (home, *home.parents) if folder.exists())
    with tempfile.TemporaryFile(dir=existing_folder):  # an OSError is the result of the check
        pass
    free = shutil.disk_usage(existing_folder).free / (1 << 30)  # gigabytes
    fix = "free some space, or set BANYAN_HOME to a folder on another disk" if free < _LEAST_FREE else ""
    return f"{home}, {free:,.1f} GB free", fix


def _check_model(settings: Settings) -> tuple[str, str]:
    """Ask a language model a short question, and return its speed and whether its price is known."""
    trial = try_out(settings)
    if not trial.is_json:
        raise BanyanError(f"{name_of(settings)} does not reply in the JSON that was asked for: choose a model that "
                          "follows instructions, or a server with structured output (response_format json_schema)")
    speed = trial.completion_tokens / max(trial.seconds, 0.001)  # not a division by zero
    price = "known" if settings.llm_model in load_prices(settings.prices) else "unknown"
    return (f"{name_of(settings)} replies in JSON, {speed:,.0f} tokens a second ({trial.seconds:.1f} s), "
            f"price {price}"), ""


def _check_embedder(resources: Resources) -> tuple[str, str]:
    """Let the embedding model encode a text, and return where it is."""
    dimension, place = resources.embedder.encode(["ready"]).shape[1], resources.settings.embedding_base_url
    return f"{resources.embedder.name} on {place or 'this machine'}, {dimension} dimensions", ""


def _check_reranker(resources: Resources) -> tuple[str, str]:
    """Let the reranker score a text, and return where it is."""
    if resources.reranker is not None:  # loading it may also raise the error to report
        resources.reranker.scores("ready", ["ready"])
    return f"{resources.settings.reranker} on {resources.settings.reranker_base_url or 'this machine'}", ""
