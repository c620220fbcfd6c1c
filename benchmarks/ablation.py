"""Measure what each part of the graph changes: the same questions with one part off at a time, without an LLM.

    python benchmarks/ablation.py --home FOLDER --kb musique --folders offices theatre unseen
    python benchmarks/ablation.py --home FOLDER --kb NAME --views attribute:birth_date:century --ask "QUESTION"

The first form asks our own questions: those of `benchmarks/questions` about MuSiQue's passages (`--kb`, imported with
their recorded triples), and those of folders, each built as a base of its name. For each part off it prints the share
of questions whose ranking of 100 passages and whose context differ from those with everything on, and recall@5. The
second form counts how many items of the first call of a question about the whole corpus differ without its view; the
view is built first.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from banyan.agents.resources import Resources
from banyan.agents.retrieval import context, evidence
from banyan.agents.retrieval.chaining import following, searchable
from banyan.agents.retrieval.planning import Caps, distinct, plan_round, with_elements
from banyan.agents.retrieval.survey import report_batches
from banyan.config import Settings
from banyan.evaluation.datasets import Question, load_questions
from banyan.evaluation.recall import gold_rank
from banyan.schemas.retrieval import ROUTES, Evidence, Passage, SubQuery
from banyan.tools import near_facts, statements
from banyan.tools.retriever import Retriever
from banyan.tools.routes import community
from own_questions import FOLDER, MUSIQUE, own_questions, passages
from rich.console import Console
from rich.table import Table

BUDGETS = (500, 1500)
"""Tokens of the compared contexts: a small one, and the default."""
_LIMIT, _K = 100, 5
_CAPS = Caps(rounds=3, sub_queries=5, sub_queries_in_all=20, tool_calls=100)


def nothing(*_: object) -> list[Any]:
    """Stand in for a part that is off."""
    return []


@dataclass(frozen=True)
class Part:
    """A part of the graph, by what is left without it."""

    query: Callable[[SubQuery], SubQuery] = lambda part: part
    evidence: Callable[[Evidence], bool] = lambda _: True
    patches: Sequence[tuple[object, str]] = ()


def without(**fields: Any) -> Part:
    """Return a change that sets fields of a sub-query."""
    return Part(query=lambda part: part.model_copy(update=fields))


def _is_fact_of_the_graph(item: Evidence) -> bool:
    return item.route in {"triple", "dfs"} or (item.route == "community" and not item.community_id
                                               and item.path[0].startswith("community "))


_GROUPS = ((community, "value_groups"), (near_facts, "value_groups"))
PARTS = {
    "everything on": Part(),
    **{f"{route} route": without(routes=tuple(one for one in ROUTES if one != route)) for route in ROUTES},
    "L1 attributes": Part(patches=((near_facts, "_values"), (statements, "_attributes"), *_GROUPS)),
    "L2 triples": Part(evidence=lambda item: not _is_fact_of_the_graph(item),
                       patches=((near_facts, "_triples"), (statements, "_triples"))),
    "L3 keywords": Part(patches=((community, "_facts"),)),
    "L4 communities": Part(evidence=lambda item: not item.community_id, patches=((community, "_facts"),)),
    "groups by a value": Part(patches=_GROUPS),
    "types asked for": without(entity_types=()), "relations asked for": without(relations=()),
    "attributes asked for": without(attributes=()),
    "facts in contexts": Part(patches=((near_facts, "_serving"), (context, "statements"))),
    "reports in contexts": Part(patches=((context, "shown_reports"), (evidence, "shown_reports"),)),
}


@dataclass
class Row:
    """The counts with a part off."""

    rankings: int = 0
    contexts: int = 0
    recalls: list[float] = field(default_factory=list)


def sub_queries(resources: Resources, kb: str, question: str) -> list[SubQuery]:
    """Return the sub-queries that the agent searches first."""
    schema, retriever = resources.knowledge_base(kb).schemas.current(), resources.retriever(kb)
    parts = resources.reasoner(kb).decompose(question, schema, _CAPS.sub_queries)
    first, *others = distinct([with_elements(SubQuery(question=question), schema), *searchable(parts)])
    hop = None if others else retriever.second_hop(first, 0)
    plan = plan_round([first, *others, *([hop] if hop else [])], (), 0, ROUTES, _CAPS)
    return [part for _, part in following(plan, parts).new]


def found(retriever: Retriever, parts: Sequence[SubQuery], off: Part) -> tuple[list[str], list[Passage]]:
    """Return the ids of the ranking and the items of all contexts of a question without a part."""
    with ExitStack() as stack:
        for place, name in off.patches:
            stack.enter_context(mock.patch.object(place, name, nothing))
        queries = retriever.queries([off.query(part) for part in parts])
        items_of = [[item for item in retriever.evidence(query) if off.evidence(item)] for query in queries]
        ranking = retriever.ranking(retriever.rank(queries, items_of), _LIMIT)
        every = [item for some in items_of for item in some]
        items = [item for tokens in BUDGETS for item in (
            *evidence.choose_evidence(retriever, ranking, queries, every, tokens, [], ()),
            *context.build_context(retriever, ranking, queries, every, tokens))]
    return [key for key, _ in ranking], items


def count(resources: Resources, kb: str, questions: Sequence[Question], rows: dict[str, Row]) -> None:
    """Ask questions of a base with each part off."""
    retriever = resources.retriever(kb)
    for question in questions:
        parts = sub_queries(resources, kb, question.question)
        base = found(retriever, parts, PARTS["everything on"])
        for name, row in rows.items():
            ranking, items = found(retriever, parts, PARTS[name])
            row.rankings += ranking != base[0]
            row.contexts += [(i.statement, i.text) for i in items] != [(i.statement, i.text) for i in base[1]]
            chunks = [retriever.index.chunks[retriever.index.chunk_row[key]] for key in ranking]
            ranks = [gold_rank(gold, chunks) for gold in question.gold]
            row.recalls.extend([sum(rank is not None and rank <= _K for rank in ranks) / len(ranks)] if ranks else [])


def question_sets(given: argparse.Namespace) -> Iterator[tuple[str, list[tuple[str, Sequence[Question]]]]]:
    """Yield the columns: a title, and bases with their questions."""
    corpus = passages(MUSIQUE)
    for name in ("multi_hop", "themes"):
        yield f"MuSiQue, {name}", [(given.kb, own_questions(name, corpus)[:given.first])]
    if given.folders:
        files = {path.stem: path for path in (*FOLDER.glob("*.jsonl"), *FOLDER.parent.glob("newcomer/*.jsonl"))}
        yield "folders", [(name, load_questions(files[name], "generic")[:given.first]) for name in given.folders]


def table(resources: Resources, given: argparse.Namespace) -> Table:
    """Ask all questions with each part off."""
    made, cells = Table("off"), {name: [name] for name in PARTS}
    for title, bases in question_sets(given):
        rows, total = {name: Row() for name in PARTS}, sum(len(questions) for _, questions in bases)
        for kb, questions in bases:
            count(resources, kb, questions, rows)
        made.add_column(f"{title} ({total}): rankings / contexts changed, %; recall@{_K}")
        for name, row in rows.items():
            cells[name].append(f"{100 * row.rankings / total:.1f} / {100 * row.contexts / total:.1f}; "
                               f"{100 * sum(row.recalls) / len(row.recalls):.1f}")
    for texts in cells.values():
        made.add_row(*texts)
    return made


def main() -> None:
    """Print the table, or what a view changes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--kb", required=True)
    parser.add_argument("--folders", nargs="+", default=[], help="bases of the folders' names")
    parser.add_argument("--first", type=int, default=None, help="so many questions of each set")
    parser.add_argument("--views", nargs="+", default=[])
    parser.add_argument("--ask", default="")
    given = parser.parse_args()
    with Resources(Settings(home=given.home, llm_base_url=None)) as resources:
        if not given.ask:
            Console(width=200).print(table(resources, given))
            return
        before = _surveyed(resources, given.kb, given.ask)
        for view in given.views:
            resources.build_view(given.kb, view)
        after = _surveyed(resources, given.kb, given.ask)
        new = len(set(after) - set(before))
        Console().print(f"{len(before)} items without views, {len(after)} with, {new} of them new")
        Console().print("\n".join(text for text in after if " | " not in text))


def _surveyed(resources: Resources, kb: str, question: str) -> list[str]:
    retriever = resources.retriever(kb)
    (query,) = retriever.queries([SubQuery(question=question)])
    return [item.statement for batch in report_batches(retriever, query, BUDGETS[-1]) for item in batch]


if __name__ == "__main__":
    main()
