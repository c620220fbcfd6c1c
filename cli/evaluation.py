"""`banyan eval`: the commands that measure."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from .console import escape
from .eval_retrieval import eval_retrieval
from .evaluation_qa import eval_qa
from .shared import AsJson, CommandError, MaxTokens, err, opened, out, print_json

if TYPE_CHECKING:
    from ..evaluation.extraction import ExtractionScores
    from ..evaluation.extraction_files import Answers, GoldCase
    from ..schemas.graph_schema import GraphSchema

evaluation_app = typer.Typer(no_args_is_help=True, help="Measure a knowledge base, or the extraction of facts.")
evaluation_app.command("retrieval")(eval_retrieval)
evaluation_app.command("qa")(eval_qa)


@evaluation_app.command("extraction")
def eval_extraction(
    ontology: Annotated[Path, typer.Option(help="The schema, in any form that `build --schema` reads.")],
    gold: Annotated[Path, typer.Option(help="JSON lines {id, sent, triples: [{sub, rel, obj}]}.")],
    recorded: Annotated[Path | None, typer.Option(
        help="A model's answers, JSON lines {id, triples}, each triple a list of head, relation and tail: scored "
             "before and after bounding. Without it the reasoner reads the sentences.")] = None,
    examples: Annotated[Path | None, typer.Option(
        help="Sentences with their triples, JSON lines as of --gold, from which the rules learn the schema "
             "first.")] = None,
    max_tokens: MaxTokens = None,
    *, as_json: AsJson = False,
) -> None:
    """Score extraction under a schema, as Text2KGBench does: facts found, conformance, hallucination."""
    from ..evaluation.extraction import score  # noqa: PLC0415
    from ..evaluation.extraction_answers import bounded_answers  # noqa: PLC0415
    from ..evaluation.extraction_files import load_gold, load_recorded  # noqa: PLC0415
    from ..schemas.formats.loading import load_schema  # noqa: PLC0415

    schema, cases = load_schema(str(ontology)), load_gold(gold)
    _note_unknown_relations(schema, cases)
    if recorded is None:
        found = _read_sentences(schema, cases, examples, max_tokens)
        _print_scores({"": score(schema, cases, found)}, as_json=as_json)
        return
    if examples is not None:
        raise CommandError("--examples teach the reasoner: leave them out, or leave out --recorded")
    said = load_recorded(recorded)
    _note_other_sentences(cases, said, recorded)
    with opened(reasons=False) as resources:
        bounded = bounded_answers(resources.bounds(schema), cases, said)
    _print_scores({"recorded": score(schema, cases, said), "bounded": score(schema, cases, bounded)}, as_json=as_json)


def _read_sentences(schema: "GraphSchema", cases: "Sequence[GoldCase]", examples: Path | None,
                    max_tokens: int | None) -> "Answers":
    from ..evaluation.extraction_answers import reasoner_answers  # noqa: PLC0415
    from ..ingest.examples import load_examples  # noqa: PLC0415
    from ..models.rules.learning.training import learn_schema  # noqa: PLC0415
    from .progress import track  # noqa: PLC0415

    failed: list[str] = []
    with opened() as resources, resources.standalone_reasoner(max_tokens) as (reasoner, _):
        if examples is not None:
            with err.status("learning"):
                schema = learn_schema(schema, load_examples(examples, schema), resources.embedder)
        at_once = resources.settings.llm_concurrency if resources.settings.llm_base_url else 1
        with track(err, "sentences") as progress:
            answers = reasoner_answers(reasoner, resources.bounds(schema), cases, on_failure=failed.append,
                                       concurrency=at_once, progress=progress)
    if failed:
        err.print(f"[red]{len(failed)} sentences failed[/red] and score 0; the first: {escape(failed[0])}")
    return answers


def _note_unknown_relations(schema: "GraphSchema", cases: "Sequence[GoldCase]") -> None:
    from ..evaluation.extraction import unknown_relations  # noqa: PLC0415

    unknown = unknown_relations(schema, cases)
    if unknown:
        err.print(f"[yellow]the gold triples have relations that the ontology has not:[/yellow] "
                  f"{escape(', '.join(unknown))}; they cannot be found, and count as missed", soft_wrap=True)


def _note_other_sentences(cases: "Sequence[GoldCase]", said: "Answers", recorded: Path) -> None:
    known = {case.id for case in cases}
    if not known & set(said):
        raise CommandError(f"{recorded} has no answer to any of the gold sentences: name the files of one ontology")
    if set(said) - known:
        err.print(f"[yellow]recorded answers to no gold sentence:[/yellow] {len(set(said) - known)}; they do not count")
    if known - set(said):
        err.print(f"[yellow]gold sentences without a recorded answer:[/yellow] {len(known - set(said))}; they score 0")


def _print_scores(scores: "Mapping[str, ExtractionScores]", *, as_json: bool) -> None:
    """A row for each name; scores under the empty name stand alone."""
    if as_json:
        found = {name: one.model_dump() for name, one in scores.items()}
        print_json(found.get("", found))
        return
    table = Table("", "P", "R", "F1", "conformance", "subject", "relation", "object",
                  caption="subject, relation, object: hallucinated")
    for name, one in scores.items():
        made_up = one.hallucination
        table.add_row(name, *(f"{value:.2f}" for value in (
            one.precision, one.recall, one.f1, one.conformance, made_up.subject, made_up.relation, made_up.object)))
    out.print(table)
