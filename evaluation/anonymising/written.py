"""A model's contributions to an anonymised corpus: written tasks, and a check which tasks it solves from memory."""

from collections.abc import Collection, Sequence
from itertools import islice

from ...models.llm.retelling import Reteller
from ...models.reasoner import Reasoner
from ...runtime.event_loop import in_parallel, run
from ...schemas.inquiry import Inquiry
from ...schemas.retrieval import DraftAnswer
from ..bench.readers.anony_rag import bench_question
from ..bench.scoring import score
from .leaks import leaks
from .replacing import MARK, Key
from .tasks import Anonymised, Fact, Task, by_head, reversion

_FACTS = 12
_FEWEST_IDS = 2
_KNOWN = 0.5
"""The score above which a model knows the source: half of the names, or the right option."""


def written_tasks(reteller: Reteller, facts: Sequence[Fact], key: Key, anonymised: Anonymised,
                  most: int) -> list[Task]:
    """Create tasks of Anonymity Reversion over passages that a model writes, each from the facts around one entity.

    Entities with the most facts come first. A passage with fewer than two ids, or with a leaked name, is dropped.

    Args:
        reteller: the model.
        facts: the facts of the graph, by ids.
        key: the names of the ids.
        anonymised: replaces the names in a text.
        most: the number of passages to write.

    Raises:
        ReasonerError: the endpoint failed, or wrote nothing usable.
        BudgetExceeded: a call would exceed the budget.
    """
    names, around = key.usual_names, by_head(facts)
    first = sorted(around, key=lambda identifier: (-len(around[identifier]), identifier))[:most]
    groups = []
    for identifier in first:
        near = [*around[identifier], *(fact for *_, tail in around[identifier] for fact in around.get(tail, ()))]
        groups.append([f"{names[head]} | {relation} | {names[tail]}"
                       for head, relation, tail in islice(dict.fromkeys(near), _FACTS)])
    tasks = []
    for passage in map(anonymised, run(reteller.retell, groups)):
        ids = [mark for mark in dict.fromkeys(MARK.findall(passage)) if mark in names]
        if len(ids) >= _FEWEST_IDS and not leaks(passage, key):
            tasks.append(reversion(passage, ids, names))
    return tasks


def not_from_memory(tasks: Collection[Task], reasoner: Reasoner, workers: int) -> list[Task]:
    """Return the tasks that a model does not solve without the texts (AnonyRAG's zero-shot filter).

    Args:
        tasks: tasks of reversion and multiple choice.
        reasoner: answers from its own knowledge.
        workers: the number of tasks asked at once.

    Raises:
        ReasonerError: the endpoint failed, or gave no usable answer.
        BudgetExceeded: a call would exceed the budget.
    """
    async def knows(task: Task) -> bool:
        asked = Inquiry(question=task.question, mode="open", is_last=True)
        draft = (await reasoner.judge(asked)).draft or DraftAnswer(answerable=False)
        question = bench_question("", task.question, task.answer)
        answer = "\n".join(claim.text for claim in draft.claims)
        right = score(question, draft.short, answer, declined=not draft.answerable).right if question else None
        return (right or 0) > _KNOWN

    return [task for task, known in zip(tasks, run(in_parallel, knows, [*tasks], workers), strict=True) if not known]
