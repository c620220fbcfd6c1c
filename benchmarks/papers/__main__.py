"""Run from a checkout: `python -m benchmarks.papers measure DATASET` and `python -m benchmarks.papers anonymise PATHS`.

`measure` asks a published dataset's questions with several arms and writes the papers' tables. `anonymise` replaces
names in texts by ids, and back.
"""

import json
import os
from pathlib import Path
from typing import Annotated, Literal

import typer
from banyan.agents.resources import Resources
from banyan.api.progress import track
from banyan.cli.console import (
    CommandError,
    err,
    explain_errors,
    on_a_line,
    out,
    print_json,
    print_table,
    write_file,
)
from banyan.cli.session import AsJson, MaxTokens, open_resources
from banyan.config import Settings
from banyan.schemas.formats.small_files import json_records, parse_json, validate_record
from banyan.schemas.retrieval import Mode
from rich.markup import escape

from .anonymising import AnonymityKey, Corpus, Task, anonymise, revert
from .arm_answers import ARMS, DEFAULT_ARMS, chosen_arms
from .bench_report import BenchReport, make_report
from .bench_tables import headline, tables, to_markdown
from .dataset_files import Dataset, DatasetName
from .published_datasets import load_dataset
from .results import Results
from .running import Plan, identity, run

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, help="The papers' benchmarks.")

Data = Annotated[Path, typer.Option("--data", help="Folder with the dataset's files, as published.")]
Output = Annotated[Path, typer.Option("-o", "--output", help="Folder of the report; what is in it is not measured "
                                                             "again.")]
_ENDINGS = (".txt", ".md")


@app.command("measure")
def measure_dataset(  # noqa: PLR0913, PLR0917  (its options)
    dataset: Annotated[DatasetName, typer.Argument(help="The dataset.")],
    data: Data,
    output: Output,
    limit: Annotated[int | None, typer.Option(min=1, help="Ask only this many questions, spread evenly.")] = None,
    mode: Mode = "reject",
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
    as_json: AsJson = False,
) -> None:
    """Measure a published dataset with several arms, and write the papers' tables.

    Arms are Banyan (full), Banyan without a part (no-...), naive RAG (naive-...), the model alone (zero-shot), and a
    plain agent that searches and reads text without the graph (agentic-text).

    It builds, asks, judges, and writes report.json and report.md. If it is interrupted, run the same command again to
    resume; no call is paid for twice.
    """
    questions = load_dataset(dataset, data, limit)
    if recorded is not None and not recorded.is_file():
        raise CommandError(f"there is no file {recorded}: name recorded triples in HippoRAG's format (--recorded)")
    with open_resources() as resources:
        settings = resources.settings
        plan = Plan(arms=chosen_arms(arms, with_llm=settings.uses_llm, recorded=recorded is not None), mode=mode,
                    schema=schema, recorded=recorded, max_tokens=max_tokens, answers=not retrieval_only,
                    passages=int(top_k),
                    judge=None if retrieval_only else judge_of(judge, settings))
        report = measure(resources, questions, plan, output)
    finish(report, output, as_json=as_json)


def judge_of(named: str, settings: Settings) -> str | None:
    """Return the model that judges answers: the named one, or by default the model that answers.

    None means that nothing judges, because `named` is "none", or no model is set and none is named.

    Raises:
        CommandError: a judge is named, but no model is set.
    """
    if not settings.uses_llm and named not in ("", "none"):
        raise CommandError("judging needs a model: set BANYAN_LLM_BASE_URL, or omit --judge")
    if named == "none" or not settings.uses_llm:
        return None
    return named or settings.llm_model


def measure(resources: Resources, dataset: Dataset, plan: Plan, output: Path) -> BenchReport:
    """Run a benchmark, and write its report as JSON and as Markdown."""
    this_run = identity(resources, dataset, plan)
    with Results(output, this_run) as results:
        done = run(resources, dataset, plan, results, watch=lambda name: track(err, name))
        report = make_report(dataset, this_run, results, plan.rows,
                             judge=plan.judge or "", bases=done.bases, failures=done.failures, stopped=done.stopped)
    write_file(output / "report.json", [report.model_dump_json(indent=1) + "\n"])
    write_file(output / "report.md", [to_markdown(report)])
    return report


def finish(report: BenchReport, output: Path, *, as_json: bool) -> None:
    """Print a report and what failed; exit with 1 if the report is not complete."""
    if as_json:
        print_json(report.model_dump())
    else:
        out.print(escape(headline(report)), soft_wrap=True)
        for table in tables(report):
            print_table(table.head, table.rows, title=table.title)
        out.print(f"written: {escape(str(output))}/report.md, report.json", soft_wrap=True)
    if report.failures:
        err.print(f"[red]{len(report.failures)} failed[/red], the first: {on_a_line(report.failures[0])}; run the same "
                  "command again to try them again", soft_wrap=True)
    if report.stopped:
        err.print(f"[red]stopped:[/red] {escape(report.stopped)}", soft_wrap=True)
    if not report.complete:
        raise typer.Exit(1)


@app.command(name="anonymise")
def anonymise_texts(  # noqa: PLR0913  (its options)
    paths: Annotated[list[Path], typer.Argument(help="Texts (.txt, .md), or folders with texts.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the result; created if missing.")],
    key: Annotated[Path, typer.Option(help="File for the key to the ids; outside the result's folder.")],
    *,
    types: Annotated[str, typer.Option(help="Entity types that become ids.")] = "Person,Location",
    schema: Annotated[str, typer.Option(help="Seed schema, or a file.")] = "general",
    questions: Annotated[Path | None, typer.Option(help="Your own questions, JSON with `question` and `answer`; they "
                                                        "are anonymised as well.")] = None,
    max_tokens: MaxTokens = None,
    back: Annotated[bool, typer.Option("--revert", help="The other way: PATHS are anonymised texts.")] = False,
    as_json: AsJson = False,
) -> None:
    """Replace persons and places in texts by ids such as [PERSON#1], in AnonyRAG's form, and back.

    Every name of an entity becomes the same id. The result consists of texts.json and questions.json, which
    `measure anonyrag` reads, and of the texts themselves.
    """
    texts = _read_texts(paths)
    if back:
        _revert_texts(texts, output, key)
        return
    if key.resolve().is_relative_to(output.resolve()):
        raise CommandError(f"the key {key} would be in {output}, which is to be handed on: name another place (--key)")
    records = json_records(questions, CommandError) if questions else ()
    own_questions = [validate_record(place, row, Task, CommandError) for place, row in records]
    with open_resources() as resources:
        corpus = anonymise(resources, texts, _split_names(types), schema=schema, questions=own_questions,
                           max_tokens=max_tokens)
    _write_corpus(corpus, output, key)
    counts = {"texts": len(corpus.texts), "ids": len(corpus.key.entities),
              "places": sum(map(len, corpus.key.places.values())), "tasks": len(corpus.tasks),
              "leaks": len(corpus.leaks)}
    if as_json:
        print_json(counts)
    else:
        out.print(", ".join(f"{count} {what}" for what, count in counts.items()))
    if corpus.leaks:
        err.print(f"[red]names are left[/red], the first: {on_a_line(corpus.leaks[0])}", soft_wrap=True)
        raise typer.Exit(1)


def _split_names(types: str) -> frozenset[str]:
    return frozenset(name for part in types.split(",") if (name := part.strip()))


def _read_texts(paths: list[Path]) -> dict[str, str]:
    """Return the texts of files and folders by name: the path below a given folder, or the name of a given file."""
    texts: dict[str, str] = {}
    for path in paths:
        files = [path]
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.suffix in _ENDINGS)
        for file in files:
            name = file.relative_to(path).as_posix() if path.is_dir() else file.name
            if name in texts:
                raise CommandError(f"two texts are named {name}: rename one, or anonymise them separately")
            try:
                texts[name] = file.read_bytes().decode()  # unlike `read_text`, this keeps line ends as they are
            except UnicodeDecodeError as error:
                raise CommandError(f"{file} is not UTF-8 text ({error}): save it as UTF-8") from error
    if not texts:
        raise CommandError(f"there is no text in {', '.join(map(str, paths))}: name files that end in .txt or .md")
    return texts


def _write_corpus(corpus: Corpus, output: Path, key: Path) -> None:
    """Write anonymised texts and questions to a folder, and the key to a file that only its owner can read."""
    for name, text in corpus.texts.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        write_file(output / name, [text])
    rows = [{"title": name, "text": text} for name, text in corpus.texts.items()]  # the form of AnonyRAG's chunks
    write_file(output / "texts.json", [_json(rows)])
    write_file(output / "questions.json", [_json([task.model_dump() for task in (*corpus.questions, *corpus.tasks)])])
    write_file(key, [_json(corpus.key.model_dump())])
    os.chmod(key, 0o600)  # noqa: PTH101  (the key identifies people)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _revert_texts(texts: dict[str, str], output: Path, key: Path) -> None:
    """Replace the ids in anonymised texts by the names that the key file has for them, and write the texts."""
    try:
        known = validate_record(str(key), parse_json(key.read_text("utf-8")), AnonymityKey, CommandError)
    except ValueError as error:
        raise CommandError(f"{key} is not a key file: {error}") from error
    for name, text in texts.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        write_file(output / name, [revert(name, text, known)])
    out.print(f"{len(texts)} texts written to {on_a_line(str(output))}")


if __name__ == "__main__":
    with explain_errors():
        app()
