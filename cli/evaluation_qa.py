"""`banyan eval qa`: how well questions are answered, cited and declined."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table

from .shared import AsJson, Kb, err, opened, out, print_json

if TYPE_CHECKING:
    from ..evaluation.answers import AnswerReport

_SHOWN = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def eval_qa(
    kb: Kb,
    questions: Annotated[Path, typer.Option(help="Question file.")],
    form: Annotated[Literal["musique", "hotpotqa", "2wiki", "generic"], typer.Option("--format")],
    mode: Annotated[Literal["reject", "open"], typer.Option(help="open: own knowledge allowed.")] = "reject",
    limit: Annotated[int | None, typer.Option(min=1, help="Ask only so many questions, spread evenly.")] = None,
    records: Annotated[Path | None, typer.Option(help="Write a JSON line for each question.")] = None,
    *,
    no_agent: Annotated[bool, typer.Option("--no-agent", help="One round, no decomposition.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure answers: exact match, F1, citations, and abstention as a curve over the confidence."""
    from ..evaluation.answers import evaluate  # noqa: PLC0415
    from ..evaluation.datasets import load_answered_questions  # noqa: PLC0415
    from .progress import track  # noqa: PLC0415

    loaded = load_answered_questions(questions, form)
    if limit is not None and limit < len(loaded):
        loaded = [loaded[place * len(loaded) // limit] for place in range(limit)]
    with opened() as resources, track(err, "questions") as progress:
        report = evaluate(resources, kb, loaded, mode=mode, agent=not no_agent, progress=progress)
    if records is not None:
        records.write_text("".join(record.model_dump_json() + "\n" for record in report.records), "utf-8")
    if as_json:
        print_json(report.model_dump(exclude={"records"}))
    else:
        _print(report)


def _print(report: "AnswerReport") -> None:
    table = Table("questions", "unanswerable", "answered", "exact match", "F1", "correct", "citation recall",
                  "citation precision", "all gold cited")
    table.add_row(*map(str, (report.questions, report.unanswerable, report.answered)),
                  *(f"{value:.1f}" for value in (*report.answers.values(), *report.citations.values())))
    out.print(table)
    found = report.abstention
    area = f"area {found.area.answered:.3f}, correct {found.area.correct:.3f}" if found.area else None
    curve = Table("abstain below", "unanswerable declined %", "answerable answered %", "answered correctly %",
                  "answered with all gold cited %", caption=area)
    for point in found.curve:
        if point.threshold in _SHOWN:
            chosen = " *" if point.threshold == found.at_threshold.threshold else ""
            curve.add_row(f"{point.threshold:.1f}{chosen}", *(f"{value:.1f}" for value in (
                point.declined, point.answered, point.correct, point.grounded)))
    out.print(curve)
