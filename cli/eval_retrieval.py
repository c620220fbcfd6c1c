"""`banyan eval retrieval`: recall of gold passages, alone or beside ablations and baselines."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich import box
from rich.table import Table

from .console import on_a_line
from .shared import AsJson, CommandError, Kb, err, opened, out, print_json

if TYPE_CHECKING:
    from ..evaluation.report import Group, Interval, Percent, Percentiles, QuestionRecord, RetrievalReport
    from ..schemas.retrieval import Route


def eval_retrieval(  # noqa: PLR0913  (its options)
    kb: Kb,
    questions: Annotated[Path, typer.Option(help="Question file.")],
    form: Annotated[Literal["musique", "hotpotqa", "2wiki", "generic"], typer.Option("--format")],
    k: Annotated[str, typer.Option("--k", help="Cut-offs.")] = "2,5,10,20",
    sub_queries: Annotated[Literal["none", "gold"], typer.Option(help="gold: the dataset's decomposition.")] = "none",
    routes: Annotated[str, typer.Option(help="Routes switched on.")] = "entity,triple,community,dfs",
    records: Annotated[Path | None, typer.Option(
        help="Write a JSON line for each question: ranks of its gold passages, time by stage.")] = None,
    beta: Annotated[float | None, typer.Option(
        min=0, max=1, help="A fixed share of the graph routes against communities; else by the question.")] = None,
    *,
    no_agent: Annotated[bool, typer.Option("--no-agent", help="One round, no decomposition.")] = False,
    no_spreading: Annotated[bool, typer.Option("--no-spreading", help="No walk over the graph.")] = False,
    no_lexical: Annotated[bool, typer.Option("--no-lexical", help="No search of passages by words.")] = False,
    no_dense: Annotated[bool, typer.Option("--no-dense", help="No search of passages by vectors.")] = False,
    baselines: Annotated[bool, typer.Option(
        "--baselines", help="Also BM25, dense passages and HippoRAG 2's PageRank, over the same store.")] = False,
    ablations: Annotated[bool, typer.Option(
        "--ablations", help="Also with each part switched off, and what that changes.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure how much of what questions need is among the first passages.

    Brackets hold 95 % bootstrap intervals over the questions.
    """
    from ..evaluation.comparison import evaluate  # noqa: PLC0415
    from ..evaluation.datasets import load_questions  # noqa: PLC0415
    from ..evaluation.retrieval import Setting  # noqa: PLC0415
    from ..schemas.retrieval import Switches  # noqa: PLC0415
    from .progress import track  # noqa: PLC0415

    ks = _cut_offs(k)
    switches = Switches(routes=_routes(routes), dense=not no_dense, lexical=not no_lexical,
                        spreading=not no_spreading, beta=beta)
    loaded = load_questions(questions, form)
    if records is not None and (records.is_dir() or not records.resolve().parent.is_dir()):
        raise CommandError(f"--records {records} cannot be written: name a file in a folder that is there")
    with opened() as resources:
        report = evaluate(resources, kb, loaded, ks=ks, with_baselines=baselines, with_ablations=ablations,
                          setting=Setting(switches=switches, agent=not no_agent, sub_queries=sub_queries),
                          watch=lambda name: track(err, name))
    if report.gold_absent:
        err.print(f"[yellow]gold passages that are not in the knowledge base:[/yellow] {report.gold_absent}; "
                  "they count as missed", soft_wrap=True)
    if records is not None:
        from ..export.files import write_file  # noqa: PLC0415

        write_file(records, _lines(report.records))
    if as_json:
        print_json(report.model_dump(exclude={"records"}))
    else:
        _print_tables(report)


def _cut_offs(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise CommandError(f"--k takes positive numbers with commas between, as in 2,5,10; not {text!r}")
    return sorted({int(part) for part in parts})


def _routes(text: str) -> "tuple[Route, ...]":
    from ..schemas.retrieval import ROUTES  # noqa: PLC0415

    wanted = {part.strip() for part in text.split(",") if part.strip()}
    unknown = sorted(wanted - set(ROUTES))
    if unknown:
        raise CommandError(f"there is no route {unknown[0]!r}; there are: {', '.join(ROUTES)}")
    return tuple(route for route in ROUTES if route in wanted)


def _lines(records: "Sequence[QuestionRecord]") -> Iterator[str]:
    return (record.model_dump_json() + "\n" for record in records)


def _print_tables(report: "RetrievalReport") -> None:
    """Recall over all questions and by type; recall and change by row if there are several; times."""
    recall, latency = _table("Recall in %", report), Table("ms", "p50", "p95", title="Latency", box=box.SIMPLE)
    groups: dict[str, Group] = {"all": report, **report.by_type}
    for name, group in groups.items():
        recall.add_row(f"{on_a_line(name)} ({group.questions})", *_with_intervals(group.recall, group.interval))
        latency.add_row(on_a_line(name), *_times(group.latency_ms), end_section=name == list(groups)[-1])
    for name, times in report.stages_ms.items():
        latency.add_row(name, *_times(times))
    out.print(recall)
    if report.rows:
        rows, changes = _table("Recall in % by setting", report), _table("Change against the default", report)
        for row in report.rows:
            rows.add_row(row.name, *_with_intervals(row.recall, row.interval))
        for row in report.rows[1:]:
            changes.add_row(row.name, *_with_intervals(row.change, row.change_interval, signed=True))
        out.print(rows, changes)
    out.print(latency)


def _table(title: str, report: "RetrievalReport") -> Table:
    return Table("", *(f"@{cut}" for cut in report.recall), title=title, box=box.SIMPLE)


def _with_intervals(values: "Percent", intervals: "Interval", *, signed: bool = False) -> list[str]:
    """Value and interval; the interval has no space, so that a narrow terminal puts it below whole."""
    sign = "+" if signed else ""
    return [f"{value:{sign}.1f} \\[{intervals[cut][0]:{sign}.1f},{intervals[cut][1]:{sign}.1f}]"
            for cut, value in values.items()]


def _times(times: "Percentiles") -> list[str]:
    return [f"{value:.1f}" for value in times.values()]
