"""Cost estimates of a benchmark before anything is paid."""

from pydantic import Field

from ...agents.estimate import estimate_documents
from ...agents.resources import Resources
from ...agents.retrieval.caps import Caps, rounds_allowed
from ...agents.retrieval.evidence import ROUND_SHARE
from ...ingest.given import given_documents
from ...prompts import Step, lookups_text, mode_text, render
from ...schemas.documents import Frozen
from ...schemas.lookups import TOOLS
from ...text.tokens import estimate_tokens
from .arms import Arm
from .dataset_records import Dataset
from .running import Plan, base_name
from .scoring import JUDGED
from .text_agent import STEPS

_REPLY = 150
"""The completion tokens of a step: a thought, and an answer with its quotes."""
_TERMS = 200
"""The tokens of the schema's terms in a prompt."""


class BenchEstimate(Frozen):
    """Calls and tokens still to pay; tokens are prompt and completion together."""

    questions: int
    documents: int
    building: dict[str, int] = Field(description="tokens by schema")
    asking: dict[str, int] = Field(description="tokens by arm, where every question takes all rounds")
    judging: int
    calls: int
    tokens: int


def estimate(resources: Resources, dataset: Dataset, plan: Plan) -> BenchEstimate:
    """Estimate a benchmark, without its earlier results, without calling a model or building anything."""
    building, calls = dict[str, int](), 0
    for schema in dict.fromkeys(map(plan.schema_of, plan.arms)):
        if plan.recorded:
            building[schema] = 0
            continue
        name = base_name(resources.settings, dataset, schema, plan.recorded)
        documents = given_documents([document.model_dump() for document in dataset.documents], resources.limits)
        amount = estimate_documents(resources, name, documents, schema)
        building[schema], calls = amount.prompt_tokens + amount.completion_tokens, calls + amount.calls
    asking, judging = dict[str, int](), 0
    for arm in plan.arms if resources.settings.uses_llm else ():
        each_calls, each_tokens = _question(resources, arm)
        asking[arm.name] = sum(each_tokens + each_calls * estimate_tokens(question.question)
                               for question in dataset.questions)
        calls += each_calls * len(dataset.questions)
        if plan.judge:
            judged = [question for question in dataset.questions if question.kind in JUDGED]
            judging += sum(2 * estimate_tokens(question.question) + _prompt_tokens("judge") + 2 * _REPLY
                           for question in judged)
            calls += len(judged)
    return BenchEstimate(questions=len(dataset.questions), documents=len(dataset.documents), building=building,
                         asking=asking, judging=judging, calls=calls,
                         tokens=sum(building.values()) + sum(asking.values()) + judging)


def _question(resources: Resources, arm: Arm) -> tuple[int, int]:
    """Return the most calls of a question, and their tokens without those of the question itself."""
    settings = resources.settings
    one = _prompt_tokens("agent") + _TERMS + _REPLY
    if arm.method == "zero-shot":
        return 1, one
    if arm.method not in {"graph", "text agent"}:
        return 1, one + settings.context_passages * settings.chunk_tokens
    caps = Caps(rounds=settings.max_rounds, tool_calls=settings.max_tool_calls)
    calls = 1 + (STEPS if arm.method == "text agent" else rounds_allowed(arm.context, caps))
    # Each round adds evidence up to the budget, and the lookups that a reply asked for.
    shown = sum(min(1, ROUND_SHARE * number) * settings.context_tokens + _REPLY * (number - 1)
                for number in range(1, calls + 1))
    return calls, calls * one + int(shown)


def _prompt_tokens(step: Step) -> int:
    """Estimate the tokens of a prompt without its inputs."""
    empty = dict.fromkeys(("question", "gold", "prediction", "terms", "rounds", "last", "instructions"), "")
    return render(step, "en", None, lookups=lookups_text(TOOLS, "en"), mode=mode_text("reject", "en"), **empty).tokens
