"""Measure how often a model's context has the gold answer, by token budget, without an LLM.

    python benchmarks/answer_in_context.py --home FOLDER --kb musique --questions musique_train.json

Yes/no questions are left out. Two rows: passages alone, and passages with facts of the graph and reports.
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

from banyan.agents.resources import Resources
from banyan.agents.retrieval.citing import within_budget
from banyan.agents.retrieval.context import build_context
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.config import Settings
from banyan.schemas.naming import normalise
from banyan.schemas.retrieval import Passage
from rich.console import Console
from rich.table import Table

BUDGETS = (500, 1000, 2000, 3000)
_WORD = re.compile(r"\w+")


def words(text: str) -> str:
    """Return a text's normalised words, each with a space on either side."""
    return f" {' '.join(_WORD.findall(normalise(text)))} "


def holds(items: list[Passage], answers: list[str]) -> bool:
    """Return True if one of the answers occurs in what the items show."""
    shown = words("\n".join(item.statement or f"{item.title}\n{item.text}" for item in items))
    return any(answer in shown for answer in answers)


def states(resources: Resources, name: str, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run the retrieval graph up to each question's answer, and return its states."""
    graph = build_graph(resources)
    context = AskContext(knowledge_base=name)
    found = []
    for question in questions:
        # The stream has the values of every step; the last are those before the answer.
        *_, state = graph.stream({"question": question["question"]}, context=context, stream_mode="values",
                                 interrupt_before=["answer"])
        found.append(state)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--kb", required=True)
    parser.add_argument("--questions", type=Path, required=True, help="MuSiQue's or HotpotQA's own records")
    given = parser.parse_args()
    resources = Resources(Settings(home=given.home))
    questions = [q for q in json.loads(given.questions.read_text()) if normalise(q["answer"]) not in {"yes", "no"}]
    retriever = resources.retriever(given.kb)
    rows: dict[str, list[int]] = {"passages alone": [0] * len(BUDGETS), "with facts and reports": [0] * len(BUDGETS)}
    for question, state in zip(questions, states(resources, given.kb, questions), strict=True):
        answers = [words(text) for text in (question["answer"], *question.get("answer_aliases", ()))]
        queries = retriever.queries(state["asked"])
        evidence = [item for found in state["found"] for item in found.evidence]
        passages = [retriever.passage(*item) for item in state["ranking"]]
        for column, budget in enumerate(BUDGETS):
            context = build_context(retriever, state["ranking"], queries, evidence, budget)
            rows["passages alone"][column] += holds(within_budget(passages, budget), answers)
            rows["with facts and reports"][column] += holds(context, answers)
    table = Table("context", *(f"{budget:,}" for budget in BUDGETS), title=f"{given.kb}: answers in context, %")
    for name, counts in rows.items():
        table.add_row(name, *(f"{100 * count / len(questions):.1f}" for count in counts))
    Console().print(table)


if __name__ == "__main__":
    main()
