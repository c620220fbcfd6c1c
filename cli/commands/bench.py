"""`banyan bench`: the papers' datasets, arms and tables; `banyan anonymise`: names of texts as ids, and back."""

import json
import os
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich import box

from ...agents.resources import Resources
from ...api.progress import track
from ...config import Settings
from ...evaluation.bench.anonymising import AnonymityKey, Corpus, Task, anonymise, revert
from ...evaluation.bench.arm_answers import ARMS, DEFAULT_ARMS, chosen_arms
from ...evaluation.bench.bench_report import BenchReport, make_report
from ...evaluation.bench.bench_tables import headline, tables, to_markdown
from ...evaluation.bench.dataset_files import Dataset, DatasetName
from ...evaluation.bench.published_datasets import load_dataset
from ...evaluation.bench.results import Results
from ...evaluation.bench.running import BenchEstimate, Plan, estimate, identity, run
from ...schemas.formats.small_files import json_records, parse_json, validate_record
from ..console import CommandError, err, escape, on_a_line, out, print_json, table_of, write_file
from ..session import AnswerMode, AsJson, MaxTokens, open_resources

app = typer.Typer()

Data = Annotated[Path, typer.Option("--data", help="Folder with the dataset's files, as published.")]
Output = Annotated[Path, typer.Option("-o", "--output", help="Folder of the report; what is in it is not measured "
                                                             "again.")]
_ENDINGS = (".txt", ".md")


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

    It builds, asks, judges, and writes report.json and report.md. If it is interrupted, run the same command again to
    resume; no call is paid for twice.
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
    """Print a report; exit with 1 if it is not complete."""
    if as_json:
        print_json(report.model_dump())
    else:
        out.print(escape(headline(report)), soft_wrap=True)
        for made in tables(report):
            out.print(table_of(made.head, made.rows, title=escape(made.title), box=box.SIMPLE))
        out.print(f"written: {escape(str(output))}/report.md, report.json", soft_wrap=True)
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
    `banyan bench anonyrag` reads, and of the texts themselves.
    """
    texts = _read(paths)
    if back:
        _revert(texts, output, key)
        return
    if key.resolve().is_relative_to(output.resolve()):
        raise CommandError(f"the key {key} would be in {output}, which is to be handed on: name another place (--key)")
    own = [validate_record(where, row, Task, CommandError) for where, row in json_records(questions, CommandError)
           ] if questions else []
    with open_resources() as resources:
        corpus = anonymise(resources, texts, _names(types), schema=schema, questions=own, max_tokens=max_tokens)
    _write(corpus, output, key)
    said = {"texts": len(corpus.texts), "ids": len(corpus.key.entities),
            "places": sum(map(len, corpus.key.places.values())), "tasks": len(corpus.tasks), "leaks": len(corpus.leaks)}
    if as_json:
        print_json(said)
    else:
        out.print(", ".join(f"{count} {what}" for what, count in said.items()))
    if corpus.leaks:
        err.print(f"[red]names are left[/red], the first: {on_a_line(corpus.leaks[0])}", soft_wrap=True)
        raise typer.Exit(1)


def _names(types: str) -> frozenset[str]:
    return frozenset(name for part in types.split(",") if (name := part.strip()))


def _read(paths: list[Path]) -> dict[str, str]:
    """Return the texts by name: the path within the given folder, or the file's name."""
    texts: dict[str, str] = {}
    for path in paths:
        files = sorted(file for file in path.rglob("*") if file.suffix in _ENDINGS) if path.is_dir() else [path]
        for file in files:
            name = file.relative_to(path).as_posix() if path.is_dir() else file.name
            if name in texts:
                raise CommandError(f"two texts are named {name}: rename one, or anonymise them separately")
            try:
                texts[name] = file.read_bytes().decode()  # line ends stay as they are, so reverting is exact
            except UnicodeDecodeError as error:
                raise CommandError(f"{file} is not UTF-8 text ({error}): save it as UTF-8") from error
    if not texts:
        raise CommandError(f"there is no text in {', '.join(map(str, paths))}: name files that end in .txt or .md")
    return texts


def _write(corpus: Corpus, output: Path, key: Path) -> None:
    for name, text in corpus.texts.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        write_file(output / name, [text])
    rows = [{"title": name, "text": text} for name, text in corpus.texts.items()]  # as AnonyRAG's chunks
    write_file(output / "texts.json", [_json(rows)])
    write_file(output / "questions.json", [_json([task.model_dump() for task in (*corpus.questions, *corpus.tasks)])])
    write_file(key, [_json(corpus.key.model_dump())])
    os.chmod(key, 0o600)  # noqa: PTH101  (the key identifies people)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _revert(texts: dict[str, str], output: Path, key: Path) -> None:
    try:
        known = validate_record(str(key), parse_json(key.read_text("utf-8")), AnonymityKey, CommandError)
    except ValueError as error:
        raise CommandError(f"{key} is not a key file: {error}") from error
    for name, text in texts.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        write_file(output / name, [revert(name, text, known)])
    out.print(f"{len(texts)} texts written to {on_a_line(str(output))}")
