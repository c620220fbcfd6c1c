"""Cost estimates of a benchmark before anything is paid."""

from pydantic import Field

from ...agents.estimate import estimate_documents
from ...agents.resources import Resources
from ...ingest.given import given_documents
from ...prompts import Step, render
from ...schemas.documents import Frozen
from ...text.tokens import estimate_tokens
from .arms import Arm
from .bench_bases import base_name
from .dataset_records import Dataset
from .results import Results
from .running import Plan
from .scoring import JUDGED

_REPLY = 150
"""The completion tokens of a step: a thought, and an answer with its quotes."""


class BenchEstimate(Frozen):
    """Calls and tokens still to pay; tokens are prompt and completion together."""

    questions: int
    documents: int
    building: dict[str, int] = Field(description="tokens by schema")
    asking: dict[str, int] = Field(description="tokens by arm, where every question takes all rounds")
    judging: int
    calls: int
    tokens: int


def estimate(resources: Resources, dataset: Dataset, plan: Plan, results: Results | None = None) -> BenchEstimate:
    """Estimate a benchmark without calling a model or building anything.

    Args:
        resources: settings and models.
        dataset: documents and questions.
        plan: the run to estimate.
        results: earlier results, which cost nothing.
    """
    building, calls = dict[str, int](), 0
    for schema in dict.fromkeys(map(plan.schema_of, plan.arms)):
        name = base_name(resources.settings, dataset, schema, plan.recorded)
        if plan.recorded or (results and name in results.bases):
            building[schema] = 0
            continue
        documents = given_documents([document.model_dump() for document in dataset.documents], resources.limits)
        amount = estimate_documents(resources, name, documents, schema)
        building[schema], calls = amount.prompt_tokens + amount.completion_tokens, calls + amount.calls
    asking, judging = dict[str, int](), 0
    for arm in plan.arms if resources.settings.uses_llm else ():
        left = [question for question in dataset.questions
                if not (results and (arm.name, question.id) in results.outcomes)]
        each_calls, each_tokens = _question(resources, arm, plan)
        asking[arm.name] = sum(each_tokens + each_calls * estimate_tokens(question.question) for question in left)
        calls += each_calls * len(left)
        if plan.judge:
            judged = [question for question in left if question.kind in JUDGED]
            judging += sum(2 * estimate_tokens(question.question) + _prompt_tokens("judge") + 2 * _REPLY
                           for question in judged)
            calls += len(judged)
    return BenchEstimate(questions=len(dataset.questions), documents=len(dataset.documents), building=building,
                         asking=asking, judging=judging, calls=calls,
                         tokens=sum(building.values()) + sum(asking.values()) + judging)


def _question(resources: Resources, arm: Arm, plan: Plan) -> tuple[int, int]:
    """Return the most calls of a question, and their tokens without those of the question itself."""
    settings = resources.settings
    answer: Step = "answer_open" if plan.mode == "open" or arm.method == "zero-shot" else "answer_reject"
    shown = 0 if arm.method == "zero-shot" else settings.context_tokens
    last = _prompt_tokens(answer) + shown + _REPLY
    if arm.method != "graph":
        return 1, last
    # Nothing is reflected after the last round.
    reflections = settings.max_rounds - 1 if arm.setting.agent else 0
    first = _prompt_tokens("decompose") + _REPLY if arm.setting.decompose else 0
    return bool(first) + reflections + 1, first + reflections * (_prompt_tokens("reflect") + shown + _REPLY) + last


def _prompt_tokens(step: Step) -> int:
    """Estimate the tokens of a prompt without its inputs."""
    empty = dict.fromkeys(("question", "gold", "prediction", "passages", "history", "schema", "limit", "instructions"),
                          "")
    return render(step, "en", None, **empty).tokens
