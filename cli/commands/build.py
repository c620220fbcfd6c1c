"""`banyan build`, `import` and `sync`: documents, recorded triples or a whole folder into a knowledge base."""

import shlex
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from watchfiles import DefaultFilter
from watchfiles import watch as watch_files

from ...agents.cluster import resources_on
from ...agents.construction.graph import build_graph
from ...agents.construction.inputs import named_sources
from ...agents.construction.state import BuildContext, BuildInput, BuildReport
from ...agents.estimate import estimate_build
from ...agents.introduction import introduce
from ...agents.resources import Resources
from ...api.progress import build_progress
from ...api.python_base import KnowledgeBase
from ...graph_store.layout import Layout
from ...ingest.reading import LEFT_OUT
from ...runtime.threads import run
from ...text.quantities import format_count
from ..console import CommandError, err, money, out, print_json, print_pairs, print_table
from ..session import AsJson, MaxCost, MaxTokens, NewKb, open_resources

app = typer.Typer()
_SHOWN = 10  # new, deleted or partly read documents that are listed; their number is printed, too
# Milliseconds that a changed folder must rest before it is read, as editors and copies write in several steps; and
# after which it is read although it does not rest.
_REST, _LONGEST_WAIT = 1000, 2000
_COLUMNS = ("documents", "chunks", "entities", "triples", "attributes", "communities", "seconds")


@app.command()
def build(  # noqa: PLR0913  (its options)
    kb: NewKb, paths: Annotated[list[str] | None, typer.Argument(show_default=False)] = None, schema: str = "", *,
    dry_run: bool = False, max_tokens: MaxTokens = None, max_cost: MaxCost = None, retry_failed: bool = False,
    reread: bool = False, batch: bool = False, review: bool = False, no_evolve: bool = False, no_resolve: bool = False,
    strict: bool = False, ray: Annotated[str, typer.Option(metavar="ADDRESS")] = "", as_json: AsJson = False,
) -> None:
    """Read documents into a knowledge base; unchanged documents cost nothing."""
    if not (paths or retry_failed or reread):
        raise typer.BadParameter("name files or folders to read", param_hint="PATHS")
    paths = paths or []
    build_input: BuildInput = {"knowledge_base": kb, "paths": paths, "schema": schema}
    with open_resources() as resources:
        if not paths:
            Layout.by(resources.settings, kb).require()  # a build would create a missing one
        if dry_run:
            _print_estimate(resources, kb, named_sources(paths), schema, reread=reread, as_json=as_json)
        else:
            context = BuildContext(review=review, evolve=not no_evolve, resolve=not no_resolve, reread=reread,
                                   retry_failed=retry_failed, batch=batch, max_tokens=max_tokens, max_cost=max_cost)
            with resources_on(resources, ray) as build_resources:  # those of a Ray cluster if `ray` names one
                report = run_build(build_resources, build_input, context)
            show_report(report, as_json=as_json)
            if report["schema_version"] and not as_json:  # else nothing is read yet, and the report below says why
                print_pairs(introduce(resources, kb).lines())
            if report["chunks_outdated"] and not report["stopped"] and not as_json:
                command = shlex.join(["banyan", "build", *paths, "--kb", kb, "--reread"])
                chunks = format_count(report["chunks_outdated"], "chunk")
                err.say("{} read by the rules, another model, or with other instructions; to have the model read "
                        "them: {} (add --dry-run to see the cost first)", chunks, command)
            report_failures(report, reread=reread, strict=strict)


@app.command(name="import")
def import_triples(file: Path, form: Annotated[Literal["hipporag", "triples"], typer.Option("--format")], kb: NewKb,
                   schema: str = "", *, no_resolve: bool = False, as_json: AsJson = False) -> None:
    """Import triples that an LLM extracted earlier, with their passages; no LLM is asked."""
    build_input: BuildInput = {"knowledge_base": kb, "paths": [str(file)], "schema": schema, "recorded": form}
    with open_resources() as resources:
        report = run_build(resources, build_input, BuildContext(resolve=not no_resolve))
        show_report(report, as_json=as_json)
        report_failures(report, strict=True)  # the file is all there is: any unreadable record is an error


def run_build(resources: Resources, build_input: BuildInput, context: BuildContext) -> BuildReport:
    """Run the construction graph with progress bars, and return its report; reviews are left for later.

    Where the graph asks for a review, it goes on without decisions, so all candidates remain pending.
    """
    # In memory, as only an interrupt needs checkpoints, and it is answered here; what is paid for is in the ledger.
    graph, config = build_graph(resources, InMemorySaver()), RunnableConfig(configurable={"thread_id": "build"})

    async def build(step: Any) -> Any:
        """Run the graph from its input, or from where it asked, and return its state."""
        with build_progress(err) as show:
            async for event in graph.astream(step, config, context=context, stream_mode="custom", durability="exit"):
                show(cast("dict[str, Any]", event))
        return await graph.aget_state(config)

    state = run(build, build_input)
    while state.interrupts:
        state = run(build, Command(resume={"decisions": [], "who": "auto"}))
    if state.values["total"] == 0:
        err.print("Nothing new: no document that can be read has changed since it was last read.")
    return cast("BuildReport", state.values["report"])


def show_report(report: BuildReport, *, as_json: bool) -> None:
    """Print what a build stored and what it cost."""
    if as_json:
        print_json(report)
        return
    # Triples are called facts, as in `banyan status` and on the page.
    headings = ["facts" if name == "triples" else name for name in _COLUMNS]
    print_table(headings, [[dict(report)[name] for name in _COLUMNS]], title=f"Knowledge base {report['kb']}")
    tokens = report["tokens"]
    if tokens["calls"]:
        out.print(f"{tokens['calls']} calls, {tokens['prompt']} prompt ({report['cached_tokens']} cached) and "
                  f"{tokens['completion']} completion tokens ({report['wasted_tokens']} in unusable answers), "
                  f"cost {money(report['cost'])}")


def report_failures(report: BuildReport, *, reread: bool = False, strict: bool = False) -> None:
    """Print what was not read or failed, and exit with 1 if the build failed.

    It failed if chunks failed, it was stopped, or no file could be read; if `strict`, one unreadable file is enough.
    """
    kb, partly_read = report["kb"], report["files_partly_read"]
    for label, lines in (("not read", report["files_failed"]), ("moved", report["files_moved"]),
                         ("no longer in their files, so deleted", report["records_gone"][:_SHOWN]),
                         ("partly read", partly_read[:_SHOWN])):
        for line in lines:
            err.say(f"[yellow]{label}:[/yellow] {{}}", line)
    if report["files_moved"]:
        old_ids = [line.partition(" -> ")[0] for line in report["files_moved"]]
        command = shlex.join(["banyan", "delete", *old_ids, "--kb", kb])
        err.say("The knowledge base has both; delete the old: {}", command)
    if len(partly_read) > _SHOWN:
        err.say("{} more partly read; `banyan status --kb {} --json` lists all", len(partly_read) - _SHOWN, kb)
    if report["chunks_failed"]:
        options = "--reread --retry-failed" if reread else "--retry-failed"
        err.say("[red]{} chunks failed[/red]; see `banyan status --kb {}`, then build again with {}",
                report["chunks_failed"], kb, options)
    if report["stopped"]:
        err.say("[red]stopped:[/red] {}", report["stopped"])
    # Files that are no documents, such as pictures without text, do not count as unreadable.
    has_unreadable_file = any(f": {LEFT_OUT}" not in line for line in report["files_failed"])
    files_failed = has_unreadable_file and (strict or not report["documents_read"])
    if report["chunks_failed"] or report["stopped"] or files_failed:
        raise typer.Exit(1)


def _print_estimate(resources: Resources, kb: str, paths: Sequence[Path], schema: str, *, reread: bool,
                    as_json: bool) -> None:
    estimate = estimate_build(resources, kb, paths, schema, reread=reread)
    if as_json:
        print_json(estimate.model_dump())
        return
    out.print(f"{estimate.documents} documents, {estimate.chunks} chunks, {format_count(estimate.calls, 'call')}, "
              f"about {estimate.prompt_tokens} prompt and {estimate.completion_tokens} completion tokens, cost "
              f"{money(estimate.cost)}")
    if estimate.calls:
        most = estimate.later_at_most
        out.print(f"Resolving names and describing communities depends on what is found: at most {most.calls} calls, "
                  f"{most.prompt_tokens} and {most.completion_tokens} tokens. With --batch, extraction costs half "
                  f"(in all {money(estimate.batch_cost)}), where the endpoint has batches.")


@app.command()
def sync(folder: str, kb: NewKb, schema: str = "", *, dry_run: bool = False,  # noqa: PLR0913  (its options)
         yes: bool = False, watch: bool = False, max_tokens: MaxTokens = None, max_cost: MaxCost = None,
         as_json: AsJson = False) -> None:
    """Let a knowledge base follow a folder: add new files, read changed ones again, delete what is gone."""
    if watch and dry_run:
        raise CommandError("--watch goes without --dry-run: leave one of them out")
    context = BuildContext(max_tokens=max_tokens, max_cost=max_cost)
    with open_resources() as resources:
        local_folder = Path(folder).expanduser()
        build_input: BuildInput = {"knowledge_base": kb, "paths": [str(local_folder)], "schema": schema}
        if not watch:
            _sync(resources, local_folder, build_input, context, dry_run=dry_run, yes=yes, as_json=as_json)
            return
        for number, _ in enumerate(_changes_in(local_folder, resources.settings.home)):
            _sync(resources, local_folder, build_input, context, dry_run=False, yes=True, as_json=as_json)
            build_input["schema"] = ""  # only the first build takes a schema
            if number == 0:
                err.say("Watching {}; Ctrl-C ends it.", folder)


def _changes_in(folder: Path, home: Path) -> Iterator[Collection[object]]:
    """Yield each time a folder is to be synchronised: once as soon as it is watched, and then after each change."""
    if not folder.is_dir():
        raise CommandError(f"{folder} is not a folder: name one that is there")
    is_no_temporary_file = DefaultFilter()

    def is_source(change: Any, path: str) -> bool:
        is_stored = Path(path).is_relative_to(home.absolute())  # the knowledge bases may be in the folder
        return is_no_temporary_file(change, path) and not is_stored

    # The first set of changes, empty or not, means that watching has begun; later empty ones come after each timeout.
    changes = watch_files(folder, yield_on_timeout=True, rust_timeout=_REST, step=_REST, debounce=_LONGEST_WAIT,
                          watch_filter=is_source)
    yield next(changes)
    yield from filter(None, changes)


def _sync(resources: Resources, folder: Path, build_input: BuildInput, context: BuildContext, *, dry_run: bool,
          yes: bool, as_json: bool) -> None:
    """Print how a folder and a knowledge base differ, and unless `dry_run`, make the knowledge base follow."""
    kb = build_input["knowledge_base"]
    changes, _ = KnowledgeBase(kb, resources).sync(folder, dry_run=True)
    if not as_json:
        new, gone = (", ".join(names[:_SHOWN]) or "none" for names in (changes.new, changes.gone))
        err.say("{}: {}", format_count(len(changes.new), "new file"), new)
        err.print(f"{format_count(changes.known, 'known file')}, read again where changed")
        err.say("{} gone: {}", format_count(len(changes.gone), "document"), gone)
    if changes.gone and not (yes or dry_run):
        typer.confirm(f"Delete {format_count(len(changes.gone), 'document')} from {kb}?", abort=True)
    has_files = changes.new or changes.known
    report = run_build(resources, build_input, context) if has_files and not dry_run else None
    if not dry_run and changes.gone:
        resources.delete_documents(kb, changes.gone, missing_ok=True)
    if as_json:
        print_json({"kb": kb, **changes._asdict(), "report": report})
    elif report:
        show_report(report, as_json=False)
    if report:
        report_failures({**report, "files_moved": []})  # no advice on moved files: their old documents are deleted
