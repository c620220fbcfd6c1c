"""The knowledge bases of a benchmark: one with the seed schema, and one with an open schema if an arm needs it."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ...agents.construction.graph import build_graph
from ...agents.construction.state import BuildContext, BuildInput, BuildReport
from ...agents.resources import Resources
from ...config import Settings
from ...graph_store.layout import knowledge_bases
from ...runtime.budgets import Budget, BudgetExceeded
from ...runtime.event_loop import run
from ...schemas.errors import BanyanError
from ...schemas.naming import content_id
from .dataset_records import BenchDocument, Dataset
from .results import Base, Results

OPEN = "open"
_LATER = frozenset({"extract", "resolve", "summarise"})
"""The steps of a build; a knowledge base's other calls belong to questions."""


class BenchError(BanyanError):
    """A benchmark that cannot continue; the message names the cause and the fix."""


def corpus_hash(documents: Sequence[BenchDocument]) -> str:
    """Return a hash of a corpus that does not depend on the order of its documents."""
    return content_id(*sorted(document.model_dump_json() for document in documents))[:12]


def base_name(settings: Settings, dataset: Dataset, schema: str, recorded: Path | None) -> str:
    """Return the knowledge base's name for a corpus and a schema, read by a model or from recorded triples."""
    reader = recorded.name if recorded else settings.model_of("extract") if settings.uses_llm else ""
    made = content_id(corpus_hash(dataset.documents), schema, reader)[:10]
    return f"bench-{dataset.name}-{made}"


def build(resources: Resources, dataset: Dataset, schema: str, results: Results, *, recorded: Path | None = None,
          budget: Budget | None = None) -> Base:
    """Build a knowledge base, or return the existing one.

    Args:
        resources: settings, models and knowledge bases.
        dataset: the dataset with the documents.
        schema: a seed schema's name, `open` or a file.
        results: records that the knowledge base is complete.
        recorded: a file of triples in HippoRAG's form, which are imported instead of calling a model.
        budget: the budget, which is reduced by the tokens spent.

    Raises:
        BenchError: some chunks failed; the others are stored.
        BudgetExceeded: the budget is reached; paid replies are stored.
    """
    name = base_name(resources.settings, dataset, schema, recorded)
    if name in results.bases and name in knowledge_bases(resources.settings):
        return results.bases[name]
    given: BuildInput = {"knowledge_base": name, "schema": schema}
    if recorded:
        given |= {"paths": [str(recorded)], "recorded": "hipporag"}
    else:
        given["documents"] = [{"id": document.id, "title": document.title, "text": document.text,
                               "metadata": document.metadata} for document in dataset.documents]
    context = BuildContext(max_tokens=budget.tokens_left if budget else None, retry_failed=True)
    report: BuildReport = run(partial(build_graph(resources).ainvoke, given, context=context))["report"]
    if budget:
        budget.add("", report["tokens"]["prompt"], report["tokens"]["completion"])
    if report["stopped"]:
        raise BudgetExceeded(f"building {name}: {report['stopped']}")
    if report["files_failed"] or report["chunks_failed"]:
        raise BenchError(f"building {name}: {report['chunks_failed']} chunks failed"
                         f"{''.join(f'; {line}' for line in report['files_failed'][:3])}; see `banyan status --kb "
                         f"{name}`, then run the command again to resume")
    base = _base(resources, name, report)
    results.add(base=base)
    return base


def _base(resources: Resources, name: str, report: BuildReport) -> Base:
    calls, prices = resources.knowledge_base(name).calls, resources.spending.prices
    tokens = {step.name: step.prompt + step.completion for step in calls.spent("step", prices) if step.name in _LATER}
    by_document = tuple(spent.prompt + spent.completion for spent in calls.spent("document", prices) if spent.name)
    return Base(name=name, documents=report["documents"], entities=report["entities"], triples=report["triples"],
                communities=report["communities"], seconds=round(report["seconds"], 1), tokens=tokens,
                by_document=by_document)
