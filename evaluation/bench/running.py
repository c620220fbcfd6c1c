"""A whole benchmark: build, ask every arm, judge; finished steps are not repeated."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, nullcontext
from typing import TypeVar

from langchain_core.runnables.config import ContextThreadPoolExecutor

from ...agents.resources import Resources
from ...models.llm.judging import Judge
from ...models.reasoner import ReasonerError
from ...runtime.budgets import Budget, BudgetExceeded, Usage, charge_calls
from ...runtime.cancellation import current
from ..retrieval import Progress, Watch
from .arms import Arm
from .asking import Asker
from .building import OPEN, build, corpus_hash
from .peers import ask_peer
from .plan import Plan, Progressed
from .records import BenchQuestion, Dataset
from .results import Base, Judged, Outcome, Results, Run
from .scoring import JUDGED

_T = TypeVar("_T")


def identity(resources: Resources, dataset: Dataset, plan: Plan) -> Run:
    """Return the identity of the run that results belong to."""
    settings = resources.settings
    steps = ("extract", "decompose", "reflect", "answer")
    models = "+".join(dict.fromkeys(settings.model_of(step) for step in steps)) if settings.uses_llm else "rules"  # type: ignore[arg-type]  # the steps are named above
    return Run(dataset=dataset.name, corpus=corpus_hash(dataset.documents), mode=plan.mode, model=models,
               top_k=settings.context_passages or settings.top_k, schema_name=plan.schema,
               embedding=resources.embedder.fingerprint, recorded=plan.recorded.name if plan.recorded else "",
               answers=plan.answers)


def run(resources: Resources, dataset: Dataset, plan: Plan, results: Results,
        watch: Watch = lambda _: nullcontext(lambda *_: None)) -> Progressed:
    """Build, ask and judge everything that is not among the results yet.

    Failures of single questions are recorded, and the next run retries them; reaching the budget ends the run.

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
        for schema in dict.fromkeys(plan.schema if arm.schema else OPEN for arm in plan.arms):
            with watch(f"building ({schema})"):
                done.bases[schema] = _build_base(resources, dataset, plan, results, schema, budget)
        for arm in plan.arms:
            asker = Asker(resources, done.bases[plan.schema if arm.schema else OPEN].name, plan.mode,
                          answers=plan.answers)
            _ask_all(resources, arm, asker, dataset, results, done, budget, watch)
        for peer in plan.peers:
            ask_peer(peer, resources, dataset, plan.mode, results, done, budget=budget, watch=watch)
        if plan.judge:
            _judge_all(resources, dataset, plan, results, done, budget, watch)
    except BudgetExceeded as error:
        done.stopped = str(error)
    return done


def _build_base(resources: Resources, dataset: Dataset, plan: Plan, results: Results, schema: str,
           budget: Budget | None) -> Base:
    recorded = plan.recorded if schema == plan.schema else None
    return build(resources, dataset, schema, results, recorded=recorded, budget=budget)


def _ask_all(resources: Resources, arm: Arm, asker: Asker, dataset: Dataset, results: Results, done: Progressed,
             budget: Budget | None, watch: Watch) -> None:
    left = [question for question in dataset.questions if (arm.name, question.id) not in results.outcomes]
    if not left:
        return
    asker.prepare(arm)

    def ask(question: BenchQuestion) -> None:
        results.add_outcome(asker.ask(arm, question, budget))

    with watch(arm.name) as progress:
        _each(ask, left, _workers(resources), progress, done, lambda question: f"{arm.name}, question {question.id}")


def _judge_all(resources: Resources, dataset: Dataset, plan: Plan, results: Results, done: Progressed,
               budget: Budget | None, watch: Watch) -> None:
    model = plan.judge or ""
    questions = {question.id: question for question in dataset.questions
                 if question.kind in JUDGED and not question.unanswerable}
    left = [outcome for (arm, number), outcome in sorted(results.outcomes.items())
            if arm in plan.rows and number in questions and not outcome.declined
            and (model, arm, number) not in results.verdicts]
    with ExitStack() as stack:
        judge = Judge(resources.settings.model_copy(update={"llm_model": model}),
                      stack.enter_context(resources.standalone_calls()))
        progress = stack.enter_context(watch("judging"))

        def weigh(outcome: Outcome) -> None:
            question, usage = questions[outcome.id], Usage()
            with charge_calls(build="bench judge", budget=budget, usage=usage):
                verdict = judge.judge(question.question, question.answers, prediction(outcome))
            results.add_verdict(Judged(arm=outcome.arm, id=outcome.id, judge=model, correct=verdict.correct,
                                       reason=verdict.reason, coverage=verdict.coverage,
                                       tokens=usage.prompt + usage.completion))

        _each(weigh, left, _workers(resources), progress, done,
              lambda outcome: f"judging {outcome.arm}, question {outcome.id}")


def prediction(outcome: Outcome) -> str:
    """Return the text for the judge: the answer, with its short form if that adds something."""
    if outcome.short and outcome.short not in outcome.answer:
        return f"{outcome.short}\n{outcome.answer}"
    return outcome.answer or outcome.short


def _workers(resources: Resources) -> int:
    return resources.settings.llm_concurrency if resources.settings.uses_llm else 1


def _each(work: Callable[[_T], None], items: Sequence[_T], workers: int, progress: Progress, done: Progressed,
          name: Callable[[_T], str]) -> None:
    """Run the work for all items, `workers` at once; a reasoner's failures are recorded, other errors end it."""
    waiting: dict[Future[None], _T] = {}
    finished = 0
    with ContextThreadPoolExecutor(workers) as pool:
        try:
            for item in items:
                current().check()
                waiting[pool.submit(work, item)] = item
                if len(waiting) == workers:
                    finished += _settle(waiting, wait(waiting, return_when=FIRST_COMPLETED).done, done, name)
                    progress(finished, len(items))
            _settle(waiting, wait(waiting).done, done, name)
            progress(len(items), len(items))
        except BaseException:
            for future in waiting:
                future.cancel()
            raise


def _settle(waiting: dict[Future[None], _T], ended: Iterable[Future[None]], done: Progressed,
            name: Callable[[_T], str]) -> int:
    count = 0
    for future in list(ended):
        item = waiting.pop(future)
        count += 1
        try:
            future.result()
        except ReasonerError as error:
            done.failures.append(f"{name(item)}: {error}")
    return count
