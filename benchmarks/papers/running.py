"""Run a whole benchmark: build, ask every arm, judge. Finished steps are not repeated."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from banyan.agents.construction.graph import build_graph
from banyan.agents.construction.state import BuildContext, BuildInput, BuildReport
from banyan.agents.resources import Resources
from banyan.benchmarks.usage import Usage
from banyan.config import Settings
from banyan.evaluation.extraction_answers import for_each
from banyan.evaluation.recall import Progress
from banyan.graph_store.layout import knowledge_bases
from banyan.runtime import threads
from banyan.runtime.budgets import Budget, BudgetExceeded, charge_calls
from banyan.schemas.errors import BanyanError
from banyan.schemas.naming import content_id
from banyan.schemas.retrieval import Mode

from .arm_answers import Arm, ArmAsker
from .dataset_files import BenchDocument, BenchQuestion, Dataset
from .judging import Judge
from .results import ArmOutcome, Base, JudgedOutcome, Results, Run
from .scoring import JUDGED

OPEN = "open"
_BUILD_STEPS = frozenset({"extract", "resolve", "summarise"})
"""The steps of a build; a knowledge base's other calls belong to questions."""


Watch = Callable[[str], AbstractContextManager[Progress]]
"""A function that opens a progress bar with the given name."""


class BenchError(BanyanError):
    """A benchmark that cannot continue; the message names the cause and the fix."""


def corpus_hash(documents: Sequence[BenchDocument]) -> str:
    """Return a hash of a corpus that does not depend on the order of its documents."""
    return content_id(*sorted(document.model_dump_json() for document in documents))[:12]


def base_name(settings: Settings, dataset: Dataset, schema: str, recorded: Path | None) -> str:
    """Return the knowledge base's name for a dataset: it has a hash of the documents, the schema and what reads them.

    Args:
        settings: name the model that extracts, if there is one.
        dataset: the dataset.
        schema: the schema.
        recorded: a file of recorded triples, which are imported instead of extracting; None if there is none.
    """
    reader = settings.model_of("extract") if settings.uses_llm else ""
    if recorded:
        reader = recorded.name
    content_hash = content_id(corpus_hash(dataset.documents), schema, reader)[:10]
    return f"bench-{dataset.name}-{content_hash}"


def build(resources: Resources, dataset: Dataset, schema: str, results: Results, *, recorded: Path | None = None,
          budget: Budget | None = None) -> Base:
    """Build the knowledge base of a dataset, unless it exists, and return its sizes and costs.

    Args:
        resources: settings, models and knowledge bases.
        dataset: the dataset with the documents.
        schema: a seed schema's name, `open` or a file.
        results: has the knowledge bases that are complete; the new one is added.
        recorded: a file of triples in HippoRAG's form, which are imported instead of calling a model.
        budget: the budget; the tokens that are spent count against it.

    Raises:
        BenchError: files or chunks failed; the others are stored.
        BudgetExceeded: the budget is reached; paid responses are stored.
    """
    name = base_name(resources.settings, dataset, schema, recorded)
    if name in results.bases and name in knowledge_bases(resources.settings):
        return results.bases[name]
    build_input: BuildInput = {"knowledge_base": name, "schema": schema}
    if recorded:
        build_input |= {"paths": [str(recorded)], "recorded": "hipporag"}
    else:
        build_input["documents"] = [{"id": document.id, "title": document.title, "text": document.text,
                                     "metadata": document.metadata} for document in dataset.documents]
    context = BuildContext(max_tokens=budget.tokens_left if budget else None, retry_failed=True)
    invoke = partial(build_graph(resources).ainvoke, build_input, context=context)
    report: BuildReport = threads.run(invoke)["report"]
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
    """Return the sizes of a knowledge base from its build's report, with the tokens that its builds took by step."""
    prices = resources.spending.prices
    with resources.snapshot(name) as snapshot:
        by_step = snapshot.kb.calls.spent("step", prices)
    tokens = {step.name: step.prompt + step.completion for step in by_step if step.name in _BUILD_STEPS}
    return Base(name=name, documents=report["documents"], entities=report["entities"], triples=report["triples"],
                communities=report["communities"], seconds=round(report["seconds"], 1), tokens=tokens)


class Peer(Protocol):
    """Another system that answers the same questions; its name and description are those of its row."""

    name: str
    about: str

    def ask(self, resources: Resources, dataset: Dataset, plan: "Plan", results: Results, done: "Progressed", *,
            budget: Budget | None, watch: Watch) -> None:
        """Answer the questions that have no outcome yet."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a benchmark is run.

    `judge`: the judge's model; None means that answers are not judged. `recorded`: a file of triples in HippoRAG's
    form, which are imported instead of calling a model. `answers`: whether questions are answered; otherwise passages
    are only ranked. `passages`: the passages that naive RAG reads. `peers`: other systems to compare with.
    """

    arms: Sequence[Arm]
    mode: Mode = "reject"
    schema: str = "general"
    judge: str | None = None
    recorded: Path | None = None
    max_tokens: int | None = None
    answers: bool = True
    passages: int = 20
    peers: Sequence[Peer] = ()

    @property
    def rows(self) -> Mapping[str, str]:
        """The description of each arm and peer, by its name, in the table's order."""
        return {arm.name: arm.about for arm in self.arms} | {peer.name: peer.about for peer in self.peers}

    def schema_of(self, arm: Arm) -> str:
        """Return the schema of the knowledge base that an arm is asked from."""
        return self.schema if arm.schema else OPEN


@dataclass
class Progressed:
    """The progress of a run: the knowledge bases by schema, the failures, and why it stopped, if it did."""

    bases: dict[str, Base] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    stopped: str = ""


def identity(resources: Resources, dataset: Dataset, plan: Plan) -> Run:
    """Return the identity of the run that results belong to."""
    settings = resources.settings
    steps = ("extract", "decompose", "reflect", "answer")
    models = "+".join(dict.fromkeys(settings.model_of(step) for step in steps)) if settings.uses_llm else "rules"  # type: ignore[arg-type]  # the steps are named above
    return Run(dataset=dataset.name, corpus=corpus_hash(dataset.documents), mode=plan.mode, model=models,
               top_k=plan.passages, schema_name=plan.schema,
               embedding=resources.embedder.fingerprint, recorded=plan.recorded.name if plan.recorded else "",
               answers=plan.answers)


def run(resources: Resources, dataset: Dataset, plan: Plan, results: Results,
        watch: Watch = lambda _: nullcontext(lambda *_: None)) -> Progressed:
    """Build, ask and judge everything that is not among the results yet.

    If single questions fail, the failures are returned, and the next run retries the questions. If the budget is
    reached, the run ends, and the reason is returned.

    Args:
        resources: models and knowledge bases; the settings limit the passages of an answer.
        dataset: documents and questions.
        plan: the arms and the mode.
        results: earlier results, and the store of new ones.
        watch: opens a progress bar for a step.

    Raises:
        BenchError: a knowledge base could not be built.
    """
    done = Progressed()
    budget = None if plan.max_tokens is None else Budget(plan.max_tokens)
    try:
        for schema in dict.fromkeys(map(plan.schema_of, plan.arms)):
            with watch(f"building ({schema})"):
                recorded = plan.recorded if schema == plan.schema else None
                done.bases[schema] = build(resources, dataset, schema, results, recorded=recorded, budget=budget)
        for arm in plan.arms:
            with resources.snapshot(done.bases[plan.schema_of(arm)].name) as snapshot:
                asker = ArmAsker(resources, snapshot, plan.mode, passages=plan.passages, answers=plan.answers)
                _ask_all(resources, arm, asker, dataset, results, done, budget, watch)
        for peer in plan.peers:
            peer.ask(resources, dataset, plan, results, done, budget=budget, watch=watch)
        if plan.judge:
            _judge_all(resources, dataset, plan, plan.judge, results, done, budget, watch)
    except BudgetExceeded as error:
        done.stopped = str(error)
    return done


def _ask_all(resources: Resources, arm: Arm, asker: ArmAsker, dataset: Dataset, results: Results, done: Progressed,
             budget: Budget | None, watch: Watch) -> None:
    """Ask an arm the questions that it has not answered yet; record outcomes in `results`, failures in `done`."""
    unanswered = [question for question in dataset.questions if (arm.name, question.id) not in results.outcomes]
    if not unanswered:
        return
    asker.prepare(arm)

    async def ask(question: BenchQuestion) -> None:
        results.add(outcome=await asker.ask(arm, question, budget))

    with watch(arm.name) as progress:
        for_each(ask, unanswered, _at_once(resources), progress=progress, on_failure=lambda question, error: (
            done.failures.append(f"{arm.name}, question {question.id}: {error}")))


def _judge_all(resources: Resources, dataset: Dataset, plan: Plan, model: str, results: Results, done: Progressed,
               budget: Budget | None, watch: Watch) -> None:
    """Let a model judge the answers that have no verdict of it yet; record verdicts and failures."""
    judged_questions = {question.id: question for question in dataset.questions
                        if question.kind in JUDGED and not question.unanswerable}
    unjudged = [outcome for (arm, question_id), outcome in sorted(results.outcomes.items())
                if arm in plan.rows and question_id in judged_questions and not outcome.declined
                and (model, arm, question_id) not in results.verdicts]
    with resources.standalone_calls() as calls, watch("judging") as progress:
        judge = Judge(resources.settings.model_copy(update={"llm_model": model}), calls)

        async def judge_outcome(outcome: ArmOutcome) -> None:
            """Judge one answer, and record the verdict with the tokens that it took."""
            question, usage = judged_questions[outcome.id], Usage()
            with charge_calls(build="bench judge", budget=budget, on_call=usage.add):
                verdict = await judge.judge(question.question, question.answers, prediction(outcome))
            results.add(judged=JudgedOutcome(arm=outcome.arm, id=outcome.id, judge=model, correct=verdict.correct,
                                             reason=verdict.reason, coverage=verdict.coverage,
                                             tokens=usage.prompt + usage.completion))

        for_each(judge_outcome, unjudged, _at_once(resources), progress=progress, on_failure=lambda outcome, error: (
            done.failures.append(f"judging {outcome.arm}, question {outcome.id}: {error}")))


def prediction(outcome: ArmOutcome) -> str:
    """Return the text that is judged: the answer, preceded by its short form if the answer does not contain it."""
    if outcome.short and outcome.short not in outcome.answer:
        return f"{outcome.short}\n{outcome.answer}"
    return outcome.answer or outcome.short


def _at_once(resources: Resources) -> int:
    return resources.settings.llm_concurrency if resources.settings.uses_llm else 1
