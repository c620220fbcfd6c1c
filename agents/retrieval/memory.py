"""What a question's history remembers of each step: findings, the facts they rest on, and what was missing.

Both papers' agents reflect over such a history (H of Youtu-GraphRAG 3.3).
"""

from collections.abc import Sequence

from ...schemas.retrieval import SubAnswer
from .planning import key
from .state import AskState

FACTS = 2
"""Facts remembered of a step: those nearest to it."""


def remembered(history: Sequence[SubAnswer], state: AskState, missing: str) -> list[SubAnswer]:
    """The history with the facts that were found for each step, and what the reflection missed.

    Args:
        history: the steps with their answers.
        state: the question's; its searches found the facts.
        missing: what the reflection says is not there; it goes with the steps that have no answer.
    """
    number_of = {key(part["question"]): number for number, part in enumerate(state["asked"])}
    return [step.model_copy(update={"facts": _facts(state, number_of.get(key(step.question))),
                                    "missing": "" if step.answer else missing}) for step in history]


def _facts(state: AskState, number: int | None) -> tuple[str, ...]:
    """The texts of the best triples that were found for a sub-query."""
    found = [item for entry in state["found"] if entry["number"] == number and entry["route"] in {"triple", "dfs"}
             for item in entry["evidence"]]
    best = sorted(found, key=lambda item: (-item["score"], item["text"]))
    return tuple(dict.fromkeys(item["text"] for item in best))[:FACTS]
