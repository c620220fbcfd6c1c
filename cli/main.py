"""The command line. Each command opens what it needs, runs a graph or reads a store, and prints."""

import atexit
import gc
import getpass
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer
from rich.table import Table

from ..schemas.delta import Candidate
from .backup import backup, restore
from .console import escape, on_a_line
from .entities import entities_app
from .errors import explained
from .evaluation import evaluation_app
from .export import export
from .mcp import mcp
from .schema import ask_decisions, schema_app
from .serve import api_key, serve
from .shared import AsJson, Kb, MaxCost, MaxTokens, err, opened, out, print_json
from .spending import money, spending
from .tree import tree

if TYPE_CHECKING:
    from ..agents.construction.state import BuildContext, BuildInput, BuildReport
    from ..agents.estimate import BuildEstimate
    from ..agents.resources import Resources

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
                  help="Knowledge graphs from documents, and answers with checked citations.")
app.add_typer(schema_app, name="schema")
app.add_typer(entities_app, name="entities")
app.command()(tree)
app.add_typer(evaluation_app, name="eval")
app.command()(export)
app.command()(backup)
app.command()(restore)
app.command()(serve)
app.command("key")(api_key)
app.command()(mcp)

AnswerMode = Annotated[Literal["reject", "open"], typer.Option(help="open: own knowledge allowed, and marked.")]

NoResolve = Annotated[bool, typer.Option("--no-resolve", help="Keep every name an entity of its own.")]


@app.command()
def build(  # noqa: PLR0913  (its options)
    paths: Annotated[list[Path], typer.Argument(help="Files and folders to read.")],
    kb: Kb,
    schema: Annotated[str, typer.Option(help="Seed schema, `open`, or a file; only at the first build.")] = "",
    examples: Annotated[Path | None, typer.Option(help="Sentences with their triples (JSON lines), which teach the "
                                                       "rules the schema's words; only at the first build.")] = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Estimate calls and tokens; build nothing.")] = False,
    max_tokens: MaxTokens = None, max_cost: MaxCost = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Extract failed chunks again.")] = False,
    review: Annotated[bool, typer.Option("--review", help="Decide on schema candidates yourself.")] = False,
    no_evolve: Annotated[bool, typer.Option("--no-evolve", help="Leave the schema as it is.")] = False,
    no_resolve: NoResolve = False,
    as_json: AsJson = False,
) -> None:
    """Read documents into a knowledge base; what is already there and unchanged costs nothing."""
    from ..agents.construction.state import BuildContext  # noqa: PLC0415

    given: BuildInput = {"knowledge_base": kb, "paths": [str(path) for path in paths], "schema": schema,
                         "examples": str(examples or "")}
    with opened() as resources:
        if dry_run:
            _dry_run(resources, kb, paths, schema, as_json=as_json)
        else:
            context = BuildContext(review=review, evolve=not no_evolve, resolve=not no_resolve,
                                   retry_failed=retry_failed, max_tokens=max_tokens, max_cost=max_cost)
            _finish_build(_run_build(resources, given, context), as_json=as_json)


@app.command(name="import")
def import_triples(
    file: Annotated[Path, typer.Argument(help="File with recorded triples.")],
    form: Annotated[Literal["hipporag", "triples"], typer.Option("--format", help="How the file is written.")],
    kb: Kb,
    schema: Annotated[str, typer.Option(help="Seed schema, `open`, or a file; only at the first build.")] = "",
    *, no_resolve: NoResolve = False, as_json: AsJson = False,
) -> None:
    """Read triples that an LLM extracted earlier, with their passages; no LLM is asked."""
    from ..agents.construction.state import BuildContext  # noqa: PLC0415

    given: BuildInput = {"knowledge_base": kb, "paths": [str(file)], "schema": schema, "recorded": form}
    with opened() as resources:
        _finish_build(_run_build(resources, given, BuildContext(resolve=not no_resolve)), as_json=as_json)


def _run_build(resources: "Resources", given: "BuildInput", context: "BuildContext") -> "BuildReport":
    """Run the construction graph, with progress, asking the person where it interrupts."""
    from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: PLC0415
    from langgraph.types import Command  # noqa: PLC0415

    from ..agents.concurrency import build_concurrency  # noqa: PLC0415
    from ..agents.construction.graph import build_graph  # noqa: PLC0415
    from .progress import BuildProgress  # noqa: PLC0415

    # Checkpoints serve only interrupts of this process: what was paid for is in the ledger.
    with SqliteSaver.from_conn_string(":memory:") as saver:
        graph = build_graph(resources, saver)
        config: Any = {"configurable": {"thread_id": "build"}, "max_concurrency": build_concurrency(resources.settings)}
        step: Any = given
        while True:
            with BuildProgress(err) as progress:
                for event in graph.stream(step, config, context=context, stream_mode="custom"):
                    progress.show(cast("dict[str, Any]", event))
            state = graph.get_state(config)
            if not state.interrupts:
                return cast("BuildReport", state.values["report"])
            step = Command(resume=_review(state.interrupts[0].value))


def _review(question: dict[str, Any]) -> dict[str, Any]:
    """Ask on the terminal what is to become of each candidate: the value that the interrupted build goes on with."""
    if "error" in question:
        err.print(f"[red]{escape(question['error'])}[/red]")
    candidates = [Candidate(**data) for data in question["delta"]["candidates"]]
    decisions = [decision.model_dump() for decision in ask_decisions(candidates) if decision is not None]
    return {"decisions": decisions, "who": getpass.getuser()}


def _finish_build(report: "BuildReport", *, as_json: bool) -> None:
    if as_json:
        print_json(report)
    else:
        table = Table("documents", "chunks", "entities", "triples", "attributes", "communities", "seconds",
                      title=f"Knowledge base {escape(report['kb'])}")
        table.add_row(*(str(value) for value in (
            report["documents"], report["chunks"], report["entities"], report["triples"], report["attributes"],
            report["communities"], report["seconds"])))
        out.print(table)
        tokens = report["tokens"]
        if tokens["calls"]:
            out.print(f"{tokens['calls']} calls, {tokens['prompt']} prompt ({report['cached_tokens']} cached) and "
                      f"{tokens['completion']} completion tokens ({report['wasted_tokens']} in answers of no use), "
                      f"cost {money(report['cost'])}")
    for line in report["files_failed"]:
        err.print(f"[yellow]not read:[/yellow] {on_a_line(line)}")
    if report["chunks_failed"]:
        err.print(f"[red]{report['chunks_failed']} chunks failed[/red]; see `banyan status --kb {report['kb']}`, "
                   "then build again with --retry-failed")
    if report["stopped"]:
        err.print(f"[red]stopped:[/red] {escape(report['stopped'])}")
    if report["files_failed"] or report["chunks_failed"] or report["stopped"]:
        raise typer.Exit(1)


def _how_sure(estimate: "BuildEstimate") -> str:
    later, most, learnt = estimate.later, estimate.later_at_most, estimate.learnt_from
    known = (f"scaled by what {learnt} chunks of this knowledge base took" if learnt
             else "a guess at the model's tokens and answers, until it has been paid for some chunks here")
    return (f"Of these, resolving names and describing communities: {later.calls} calls, {later.prompt_tokens} and "
            f"{later.completion_tokens} tokens, at most {most.calls}, {most.prompt_tokens} and "
            f"{most.completion_tokens}, as it depends on what is found. This is {known}.")


def _dry_run(resources: "Resources", kb: str, paths: list[Path], schema: str, *, as_json: bool) -> None:
    from ..agents.estimate import estimate_build  # noqa: PLC0415

    estimate = estimate_build(resources, kb, paths, schema)
    if as_json:
        print_json(estimate.model_dump())
    else:
        out.print(f"{estimate.documents} documents, {estimate.chunks} chunks, {estimate.calls} calls, about "
                  f"{estimate.prompt_tokens} prompt and {estimate.completion_tokens} completion tokens, cost "
                  f"{money(estimate.cost)}")
        if estimate.calls:
            out.print(_how_sure(estimate))


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    kb: Kb,
    mode: AnswerMode = "reject",
    *,
    no_agent: Annotated[bool, typer.Option("--no-agent", help="One round, no decomposition.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show every step: sub-queries, what each route found and "
                                                        "how, the ranking, and what was missing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Answer a question from a knowledge base, with citations, or abstain."""
    with opened() as resources:
        answer = _ask(resources, kb, mode, [("user", question)], agent=not no_agent, trace=trace)
        if as_json:
            print_json(answer)
            return
        if trace:
            from .trace import print_trace  # noqa: PLC0415

            print_trace(out, answer["trace"])
        _print_answer(answer)


@app.command()
def chat(kb: Kb, mode: AnswerMode = "reject") -> None:
    """Ask one question after another; follow-ups are understood. Ends with an empty line or Ctrl-D."""
    messages: list[tuple[str, str]] = []
    with opened() as resources:
        while True:
            try:
                question = out.input("[bold]> [/bold]").strip()
            except EOFError:
                return
            if not question:
                return
            answer = _ask(resources, kb, mode, [*messages, ("user", question)], agent=True)
            messages += [("user", question), ("assistant", answer["answer"])]
            _print_answer(answer)


def _ask(resources: "Resources", kb: str, mode: Literal["reject", "open"], messages: list[tuple[str, str]], *,
         agent: bool, trace: bool = False) -> dict[str, Any]:
    from ..agents.retrieval.graph import build_graph  # noqa: PLC0415
    from ..agents.retrieval.state import AskContext  # noqa: PLC0415

    answer: dict[str, Any] = {}
    with err.status("thinking") as status:
        events = build_graph(resources).stream(
            cast("Any", {"knowledge_base": kb, "messages": messages}),
            context=AskContext(mode=mode, agent=agent, trace=trace), stream_mode=["custom", "values"],
            output_keys=["answer", "abstained", "confidence", "citations", "sub_queries", "iterations",
                         *(["trace"] if trace else [])])
        for kind, event in events:
            if kind == "custom":
                progress = cast("dict[str, Any]", event)
                status.update(on_a_line(f"{progress['step']}: {'; '.join(progress['found'])}"[:err.width - 4]))
            else:
                answer = cast("dict[str, Any]", event)
    return answer


def _print_answer(answer: dict[str, Any]) -> None:
    out.print(escape(answer["answer"]), style="dim" if answer["abstained"] else "")
    for citation in answer["citations"]:
        out.print(f"  [dim]\\[{citation['id']}] {on_a_line(citation['document'])} "
                   f"{citation['start']}-{citation['end']}:[/dim] {on_a_line(citation['quote'])}")


@app.command()
def documents(kb: Kb, *, as_json: AsJson = False) -> None:
    """List the documents of a knowledge base."""
    with opened(reasons=False) as resources:
        entries = resources.knowledge_base(kb).documents.entries()
    if as_json:
        print_json([entry.model_dump() for entry in entries])
        return
    table = Table("document", "title", "characters", "chunks", "failed", "added")
    for entry in entries:
        table.add_row(on_a_line(entry.id), on_a_line(entry.title), str(entry.characters), str(entry.chunks),
                      str(entry.failed), entry.added_at)
    out.print(table)


@app.command()
def status(kb: Kb, *, as_json: AsJson = False) -> None:
    """Show what a knowledge base holds, what failed, and what was spent."""
    from ..graph_store.integrity.status import status_of  # noqa: PLC0415

    with opened(reasons=False) as resources:
        found = status_of(resources.knowledge_base(kb), resources.prices)
    if as_json:
        print_json(found.model_dump())
        return
    table = Table(show_header=False, title=f"Knowledge base {escape(kb)}")
    spent = ("tokens", "spent", "spent_by_step", "spent_by_build", "dearest_documents")
    for field, value in found.model_dump(exclude=set(spent)).items():
        shown = value if not isinstance(value, dict | list | tuple) else json.dumps(value, ensure_ascii=False)
        table.add_row(field.replace("_", " "), escape(str(shown)))
    out.print(table)
    if found.spent.calls:
        out.print(spending(found))


@app.command()
def verify(kb: Kb, *, as_json: AsJson = False) -> None:
    """Check a knowledge base against its invariants; exits 1 if something is wrong."""
    from ..graph_store.integrity.verify import damages_on_disk  # noqa: PLC0415
    from ..graph_store.integrity.verify import verify as find_problems  # noqa: PLC0415
    from ..graph_store.layout import Layout  # noqa: PLC0415

    with opened(reasons=False) as resources:
        damages = damages_on_disk(Layout.of(resources.settings.home, kb, resources.settings.chroma_server).require())
        problems = [*damages, *find_problems(resources.knowledge_base(kb))]
    if as_json:
        print_json({"kb": kb, "problems": [problem.model_dump() for problem in problems]})
    else:
        for problem in problems:
            out.print(f"[red]{on_a_line(problem.what)}[/red]: {on_a_line(problem.fix)}")
        out.print("all is well" if not problems else f"{len(problems)} problems")
    if problems:
        raise typer.Exit(1)


@app.command()
def delete(document: Annotated[str, typer.Argument(help="The document's id.")], kb: Kb) -> None:
    """Delete a document with all that only it supports."""
    with opened() as resources:
        resources.delete_document(kb, document)
    out.print(f"deleted {on_a_line(document)}")


@app.command()
def reindex(kb: Kb) -> None:
    """Make graph, vectors and tree anew from the ledger, with the embedding model in use."""
    with opened() as resources, err.status("reindexing"):
        resources.reindex(kb)
    out.print("done")


def main() -> None:
    """The entry point: errors that the user can fix are shown in a sentence, without a traceback."""
    # Imports make a million objects, and all stay: looking for garbage among them took a tenth of `ask`.
    gc.set_threshold(100_000)
    # The interpreter looks again as it ends, for more than a second: all that matters is closed by then.
    atexit.register(gc.freeze)
    with explained(err):
        app()
