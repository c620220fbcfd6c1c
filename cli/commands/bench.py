"""`banyan bench`: run the papers' datasets and arms, and write their tables, with one command."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich import box

from ...agents.resources import Resources
from ...api.progress import track
from ...config import Settings
from ...evaluation.bench.arms import ARMS, DEFAULT_ARMS, chosen_arms
from ...evaluation.bench.bench_report import BenchReport, make_report
from ...evaluation.bench.bench_tables import headline, tables, to_markdown, to_page
from ...evaluation.bench.dataset_files import Dataset, DatasetName
from ...evaluation.bench.published_datasets import load_dataset
from ...evaluation.bench.results import Results
from ...evaluation.bench.running import BenchEstimate, Plan, estimate, identity, run
from ...export.export_file import write_file
from ..console import err, escape, on_a_line, out, print_json, table_of
from ..error_messages import CommandError
from ..session import AnswerMode, AsJson, MaxTokens, open_resources

app = typer.Typer()

Data = Annotated[Path, typer.Option("--data", help="Folder with the dataset's files, as published.")]
Output = Annotated[Path, typer.Option("-o", "--output", help="Folder of the report; what is in it is not measured "
                                                             "again.")]


@app.command()
def bench(  # noqa: PLR0913, PLR0917  (its options)
    dataset: Annotated[DatasetName, typer.Argument(help="The dataset.")],
    data: Data,
    output: Output,
    limit: Annotated[int | None, typer.Option(min=1, help="Ask only this many questions, spread evenly.")] = None,
    mode: AnswerMode = "reject",
    top_k: Annotated[Literal["10", "20"], typer.Option(help="Passages that naive RAG reads.")] = "20",
    arms: Annotated[str, typer.Option(help=f"Arms, or all: {', '.join(arm.name for arm in ARMS)}.")] = DEFAULT_ARMS,
    judge: Annotated[str, typer.Option(help="Model that judges answers; none: no judging. [default: the "
                                            "model that answers]")] = "",
    schema: Annotated[str, typer.Option(help="Seed schema, or a file.")] = "general",
    recorded: Annotated[Path | None, typer.Option(help="Triples that a model extracted earlier, in HippoRAG's format: "
                                                       "imported instead of building.")] = None,
    *,
    max_tokens: MaxTokens = None,
    retrieval_only: Annotated[bool, typer.Option("--retrieval-only", help="Rank passages without answering.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Estimate calls and tokens without paying.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure a published dataset with several arms, and write the papers' tables.

    Arms are Banyan (full), Banyan without a part (no-...), naive RAG (naive-...), the model alone (zero-shot), and a
    plain agent that searches and reads text without the graph (agentic-text).

    It builds, asks, judges, and writes report.json, report.md and report.html. If it is interrupted, run the
    same command again to resume; no call is paid for twice.
    """
    questions = load_dataset(dataset, data, limit)
    settings = settings_for(int(top_k))
    if recorded is not None and not recorded.is_file():
        raise CommandError(f"there is no file {recorded}: name recorded triples in HippoRAG's format (--recorded)")
    with open_resources(settings=settings) as resources:
        plan = Plan(arms=chosen_arms(arms, with_llm=settings.uses_llm, recorded=recorded is not None), mode=mode,
                    schema=schema, recorded=recorded, max_tokens=max_tokens, answers=not retrieval_only,
                    judge=None if retrieval_only else judge_of(judge, settings))
        if dry_run:
            _print_estimate(estimate(resources, questions, plan), as_json=as_json)
            return
        report = measure(resources, questions, plan, output)
    finish(report, output, as_json=as_json)


def settings_for(top_k: int) -> Settings:
    """Return the environment's settings, with `top_k` passages for naive RAG."""
    settings = Settings()
    return settings.model_copy(update={"context_passages": top_k, "top_k": max(settings.top_k, top_k)})


def judge_of(named: str, settings: Settings) -> str | None:
    """Return the judge's model: the named one, else the model that answers; None for "none" or without a model.

    Raises:
        CommandError: a judge is named, and no model is set.
    """
    if not settings.uses_llm and named not in ("", "none"):
        raise CommandError("judging needs a model: set BANYAN_LLM_BASE_URL, or omit --judge")
    return None if named == "none" or not settings.uses_llm else named or settings.llm_model


def measure(resources: Resources, dataset: Dataset, plan: Plan, output: Path) -> BenchReport:
    """Run a benchmark, and write its report in three forms."""
    this_run = identity(resources, dataset, plan)
    with Results(output, this_run) as results:
        done = run(resources, dataset, plan, results, watch=lambda name: track(err, name))
        report = make_report(dataset, this_run, results, plan.rows,
                             judge=plan.judge or "", bases=done.bases, failures=done.failures, stopped=done.stopped)
    write_file(output / "report.json", [report.model_dump_json(indent=1) + "\n"])
    write_file(output / "report.md", [to_markdown(report)])
    write_file(output / "report.html", [to_page(report)])
    return report


def finish(report: BenchReport, output: Path, *, as_json: bool) -> None:
    """Print a report; exit with 1 if it is not complete."""
    if as_json:
        print_json(report.model_dump())
    else:
        out.print(escape(headline(report)), soft_wrap=True)
        for made in tables(report):
            out.print(table_of(made.head, made.rows, title=escape(made.title), box=box.SIMPLE))
        out.print(f"written: {escape(str(output))}/report.html, report.md, report.json", soft_wrap=True)
    if report.failures:
        err.print(f"[red]{len(report.failures)} failed[/red], the first: {on_a_line(report.failures[0])}; run the same "
                  "command again to try them again", soft_wrap=True)
    if report.stopped:
        err.print(f"[red]stopped:[/red] {escape(report.stopped)}", soft_wrap=True)
    if not report.complete:
        raise typer.Exit(1)


def _print_estimate(amount: BenchEstimate, *, as_json: bool) -> None:
    if as_json:
        print_json(amount.model_dump())
        return
    out.print(f"{amount.questions} questions over {amount.documents} documents: at most about {amount.calls} calls and "
              f"{amount.tokens} tokens, without what an earlier run has paid")
    for what, tokens in (*((f"building ({schema})", count) for schema, count in amount.building.items()),
                         *amount.asking.items(), ("judging", amount.judging)):
        out.print(f"  {escape(what)}: {tokens} tokens")
