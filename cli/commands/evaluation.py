"""`banyan eval`: measure recall of gold passages, answers, and extraction under a schema."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ...api.progress import track
from ...evaluation import agent_answers, recall
from ...evaluation import extraction_answers as extraction
from ...graph_store.bounding.labels import Bounds
from ...models.rules.rules_reasoner import RulesReasoner
from ...schemas.formats.schema_loading import load_schema
from ...schemas.graph_schema import GraphSchema
from ...schemas.retrieval import Mode
from ..console import CommandError, check_writable, err, out, print_json, print_table, write_file
from ..session import AsJson, Kb, Limit, MaxTokens, open_resources

app = typer.Typer()
evaluation_app = typer.Typer(no_args_is_help=True, help="Measure a knowledge base, or the extraction of facts.")
app.add_typer(evaluation_app, name="eval")
Questions = Annotated[Path, typer.Option()]
Form = Annotated[recall.QuestionFormat, typer.Option("--format")]


@evaluation_app.command("retrieval")
def eval_retrieval(kb: Kb, questions: Questions, form: Form = "generic",
                   k: Annotated[str, typer.Option("--k")] = "2,5,10,20", records: Path | None = None,
                   *, as_json: AsJson = False) -> None:
    """Measure the recall of gold passages among the first passages."""
    cuts = [cut.strip() for cut in k.split(",")]
    if not all(cut.isdecimal() and int(cut) > 0 for cut in cuts):
        raise CommandError(f"--k takes positive numbers with commas between, as in 2,5,10; not {k!r}")
    loaded = recall.load_questions(questions, form)
    if records is not None:  # checked before anything is measured, which may take hours
        check_writable(records)
    with open_resources() as resources, track(err, "questions") as progress:
        report = recall.evaluate(resources, kb, loaded, ks=sorted(set(map(int, cuts))), progress=progress)
    if report.gold_absent:
        err.say("[yellow]gold passages that are not in the knowledge base:[/yellow] {}; they count as missed",
                report.gold_absent)
    _write_output(report, records, as_json=as_json)
    if as_json:
        return
    groups: dict[str, recall.Group] = {"all": report, **report.by_type}
    print_table(("", *(f"@{cut}" for cut in report.recall), "ms, p50", "p95"), [
        (f"{name} ({group.questions})",
         *(f"{value:.1f} [{group.interval[cut][0]:.1f},{group.interval[cut][1]:.1f}]"
           for cut, value in group.recall.items()),
         *(f"{value:.1f}" for value in group.latency_ms.values())) for name, group in groups.items()],
        title="Recall in %")


@evaluation_app.command("qa")
def eval_qa(kb: Kb, questions: Questions, form: Form = "generic", mode: Mode = "reject",  # noqa: PLR0913  (its options)
            limit: Limit = None, records: Path | None = None, *, no_agent: bool = False, no_decompose: bool = False,
            as_json: AsJson = False) -> None:
    """Measure answers: exact match, F1, citations, and abstention."""
    loaded = recall.pick_evenly(recall.load_answered_questions(questions, form), limit)
    if records is not None:  # checked before anything is measured, which may take hours
        check_writable(records)
    with open_resources() as resources, track(err, "questions") as progress:
        report = agent_answers.evaluate(resources, kb, loaded, mode=mode, agent=not no_agent,
                                        decompose=not no_decompose, progress=progress)
    _write_output(report, records, as_json=as_json)
    if as_json:
        return
    print_table(("questions", "unanswerable", "answered", "exact match", "F1", "correct", "citation recall",
                 "citation precision", "all gold cited"), [(
                     report.questions, report.unanswerable, report.answered,
                     *(f"{value:.1f}" for value in (*report.answers.values(), *report.citations.values())))])
    out.print(f"declined of the unanswerable: {report.abstention['declined']:.1f} %, "
              f"answered of the others: {report.abstention['answered']:.1f} %")


def _write_output(report: recall.RetrievalReport | agent_answers.AnswerReport, records: Path | None, *,
                  as_json: bool) -> None:
    """Write the records to their file, if one is named, and print the report if JSON is wanted."""
    if records is not None:
        write_file(records, (record.model_dump_json() + "\n" for record in report.records))
    if as_json:
        print_json(report.model_dump(exclude={"records"}))


@evaluation_app.command("extraction")
def eval_extraction(ontology: Annotated[Path, typer.Option()], gold: Annotated[Path, typer.Option()],
                    recorded: Path | None = None, max_tokens: MaxTokens = None, *, as_json: AsJson = False) -> None:
    """Score extraction under a schema, as Text2KGBench does: facts found, conformance, hallucination."""
    schema, cases = load_schema(str(ontology)), extraction.load_gold(gold)
    if recorded is None:
        answers = {"": _read_sentences(schema, cases, max_tokens)}
    else:
        from_file = extraction.load_recorded(recorded)
        gold_ids, answered = {case.id for case in cases}, set(from_file)
        if not gold_ids & answered:
            raise CommandError(f"{recorded} has no answer to any of the gold sentences: name the files of one ontology")
        if answered != gold_ids:
            err.say("[yellow]not both:[/yellow] {} recorded answers to no gold sentence are ignored, {} gold sentences "
                    "without a recorded answer score 0", len(answered - gold_ids), len(gold_ids - answered))
        answers = {"recorded": from_file, "bounded": extraction.bounded_answers(Bounds(schema), cases, from_file)}
    scores = {name: extraction.score_answers(schema, cases, given) for name, given in answers.items()}
    if as_json:
        dumped = {name: values.model_dump() for name, values in scores.items()}
        print_json(dumped.get("", dumped))  # the scores of a model alone have no name
        return
    print_table(("", "P", "R", "F1", "conformance", "subject hallucinated", "relation", "object"), [
        (name, *(f"{value:.2f}" for value in (
            values.precision, values.recall, values.f1, values.conformance, values.hallucination.subject,
            values.hallucination.relation, values.hallucination.object))) for name, values in scores.items()])


def _read_sentences(schema: GraphSchema, cases: Sequence[extraction.GoldCase],
                    max_tokens: int | None) -> extraction.Answers:
    """Let the configured model extract from the gold sentences; those that fail score 0."""
    failed: list[str] = []
    with open_resources() as resources, resources.standalone_calls(max_tokens) as calls:
        reasoner = resources.reasoner("", calls=calls)
        if type(reasoner) is RulesReasoner:  # which reads no facts in sentences, unlike a subclass of a program's own
            raise CommandError("no model is configured to read the sentences: set BANYAN_LLM_BASE_URL and "
                               "BANYAN_LLM_MODEL, or score recorded answers with --recorded FILE")
        with track(err, "sentences") as progress:
            read = extraction.reasoner_answers(reasoner, Bounds(schema), cases, on_failure=failed.append,
                                               concurrency=resources.settings.llm_concurrency, progress=progress)
    if failed:
        err.say("[red]{} sentences failed[/red] and score 0; the first: {}", len(failed), failed[0])
    return read
