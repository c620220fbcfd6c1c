"""Measure what each part of the graph changes: the same questions with one part off at a time, without an LLM.

    python benchmarks/ablation.py --home FOLDER --kb hotpot --questions hotpotqa_train.json
    python benchmarks/ablation.py --home FOLDER --kb NAME --views attribute:birth_date:century --ask "QUESTION"

The first table has, for each part off, the share of questions whose ranking and whose context differ from those with
everything on, and how often the context has the gold answer. The second form counts how many items of the first call
of a question about the whole corpus differ without its view; the view is built first.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from answer_in_context import holds, words
from banyan.agents.resources import Resources
from banyan.agents.retrieval import context
from banyan.agents.retrieval.survey import report_batches
from banyan.config import Settings
from banyan.schemas.naming import normalise
from banyan.schemas.retrieval import ROUTES, Passage, SubQuery
from banyan.tools.retriever import Retriever
from rich.console import Console
from rich.table import Table

BUDGET = 1000
_LIMIT = 100

Change = Callable[[SubQuery], SubQuery]


def without(**fields: Any) -> Change:
    """Return a change that sets fields of a sub-query."""
    return lambda part: part.model_copy(update=fields)


PARTS: dict[str, Change] = {
    "everything on": lambda part: part, "types off": without(entity_types=()), "relations off": without(relations=()),
    "attributes off": without(attributes=()), "facts off": lambda part: part, "reports off": lambda part: part,
    **{f"{route} off": without(routes=tuple(one for one in ROUTES if one != route)) for route in ROUTES}}


def found(retriever: Retriever, parts: Sequence[SubQuery], name: str) -> tuple[list[str], list[Passage]]:
    """Return the ranking's ids and the context of a question with one part off."""
    queries = retriever.queries([PARTS[name](part) for part in parts])
    evidence = [retriever.evidence(query) for query in queries]
    ranking = retriever.ranking(retriever.rank(queries, evidence), _LIMIT)
    off = {"reports off": ("_reports", lambda *_: []), "facts off": ("statements", lambda *_: [])}
    with mock.patch.object(context, *off.get(name, ("MARK_TOKENS", context.MARK_TOKENS))):
        items = context.build_context(retriever, ranking, queries, [e for some in evidence for e in some], BUDGET)
    return [key for key, _ in ranking], items


def table(resources: Resources, kb: str, questions: list[dict[str, Any]]) -> Table:
    """Ask all questions with each part off in turn, and tabulate what changed."""
    retriever, schema = resources.retriever(kb), resources.knowledge_base(kb).schemas.current()
    counts = {name: [0, 0, 0] for name in PARTS}
    for question in questions:
        whole = SubQuery(question=question["question"])
        parts = [whole, *resources.reasoner(kb).decompose(whole.question, schema, 5)]
        parts = list({part.question: part for part in parts}.values())
        answers = [words(text) for text in (question["answer"], *question.get("answer_aliases", ()))]
        base = found(retriever, parts, "everything on")
        for name, row in counts.items():
            ranking, items = found(retriever, parts, name)
            row[0] += ranking != base[0]
            row[1] += [item.statement or item.text for item in items] != [i.statement or i.text for i in base[1]]
            row[2] += holds(items, answers)
    made = Table("", "ranking differs, %", "context differs, %", "answer in context, %",
                 title=f"{kb}: {len(questions)} questions, {BUDGET} tokens")
    for name, row in counts.items():
        made.add_row(name, *(f"{100 * count / len(questions):.1f}" for count in row))
    return made


def main() -> None:
    """Print the table, or the changes by a view."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--kb", required=True)
    parser.add_argument("--questions", type=Path, help="MuSiQue's or HotpotQA's own records")
    parser.add_argument("--first", type=int, default=None, help="so many questions")
    parser.add_argument("--views", nargs="+", default=[])
    parser.add_argument("--ask", default="")
    given = parser.parse_args()
    with Resources(Settings(home=given.home)) as resources:
        if given.questions:
            records = json.loads(given.questions.read_text())
            asked = [q for q in records if normalise(q["answer"]) not in {"yes", "no"}][:given.first]
            Console().print(table(resources, given.kb, asked))
        if given.ask:
            before = _survey(resources, given.kb, given.ask)
            for view in given.views:
                resources.build_view(given.kb, view)
            after = _survey(resources, given.kb, given.ask)
            new = len(set(after) - set(before))
            Console().print(f"{len(before)} items without views, {len(after)} with, {new} of them new")
            Console().print("\n".join(text for text in after if " | " not in text))


def _survey(resources: Resources, kb: str, question: str) -> list[str]:
    retriever = resources.retriever(kb)
    (query,) = retriever.queries([SubQuery(question=question)])
    return [item.statement for batch in report_batches(retriever, query, BUDGET) for item in batch]


if __name__ == "__main__":
    main()
