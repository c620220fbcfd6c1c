"""Measure what each part changes: the same questions with one part off at a time, without an LLM.

    python benchmarks/ablation.py --home FOLDER --kb musique --folders offices theatre unseen

It asks our own questions: those of `benchmarks/questions` about MuSiQue's passages (`--kb`, imported with
their recorded triples), and those of folders, each built as a base of its name. The parts are those of the arms of
`benchmarks/papers`. For each part off it prints the share of questions whose first look differs from that with
everything on, the share whose lookups show other items, and the recall of gold documents in both together. The lookups
are the same for every part: the question as passages and as a theme, the entities that it names, a chain from the
first one, and the relations that it asks for.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from banyan.agents.resources import Resources
from banyan.agents.retrieval.state import AskContext
from banyan.benchmarks.papers.arm_answers import ARMS, by_document, chunks_of
from banyan.config import Settings
from banyan.evaluation.recall import DatasetQuestion, is_gold, load_questions
from banyan.schemas.lookups import CommunityLookup, EntityLookup, Lookup, PassageLookup, PathLookup, TripleLookup
from banyan.schemas.retrieval import Passage
from banyan.tools.first_look import first_look
from banyan.tools.graph_names import LabelledTerms
from banyan.tools.langchain_tools import look_up
from banyan.tools.retriever import Retriever
from own_questions import FOLDER, MUSIQUE, own_questions, passages
from rich.console import Console
from rich.table import Table

TOKENS = 1000
"""Estimated tokens of the first look, and of each lookup: what the default settings give to a round."""
_MOST_NAMED = 2

EVERYTHING = AskContext()
PARTS = {"everything on": EVERYTHING} | {
    arm.name: arm.context for arm in ARMS
    if arm.schema and (arm.context.tools, arm.context.switches) != (EVERYTHING.tools, EVERYTHING.switches)}


@dataclass
class Row:
    """The counts with a part off."""

    first_looks: int = 0
    lookups: int = 0
    recalls: list[float] = field(default_factory=list)


def lookups_of(retriever: Retriever, question: str) -> list[Lookup]:
    """Return the lookups that are made for a question."""
    index = retriever.index
    names = list(dict.fromkeys(named.name for named in index.name_trie.find(question)))[:_MOST_NAMED]
    relations = LabelledTerms(index, index.store.schemas.current()).named(question)[:_MOST_NAMED]
    return [PassageLookup(query=question), CommunityLookup(theme=question), *(EntityLookup(entity=n) for n in names),
            *(PathLookup(start=name) for name in names[:1]), *(TripleLookup(relation=name) for name in relations)]


def shown(retriever: Retriever, question: str, context: AskContext) -> tuple[list[Passage], list[Passage]]:
    """Return the items of the first look, and those of the lookups, as far as they are switched on."""
    schema = retriever.index.store.schemas.current()
    first = first_look(retriever, schema, question, TOKENS, context.tools, context.switches)
    further = [block for lookup in lookups_of(retriever, question) if lookup.tool in context.tools
               for block in look_up(retriever, lookup, tokens=TOKENS, question=question, switches=context.switches)]
    return [item for block in first for item in block.items], [item for block in further for item in block.items]


def recall(retriever: Retriever, question: DatasetQuestion, items: Sequence[Passage]) -> float:
    """Return the share of a question's gold passages that some items are from."""
    index = retriever.index
    chunks = [index.chunks[index.chunk_row[key]] for key in chunks_of(items, by_document(index.chunks))]
    return sum(any(is_gold(gold, chunk) for chunk in chunks) for gold in question.gold) / len(question.gold)


def count(resources: Resources, kb: str, questions: Sequence[DatasetQuestion], rows: dict[str, Row]) -> None:
    """Ask questions of a base with each part off."""
    with resources.snapshot(kb) as snapshot:
        retriever = snapshot.retriever
    for question in questions:
        base = shown(retriever, question.question, EVERYTHING)
        for name, row in rows.items():
            first, further = shown(retriever, question.question, PARTS[name])
            row.first_looks += [item.key for item in first] != [item.key for item in base[0]]
            row.lookups += {item.key for item in further} != {item.key for item in base[1]}
            row.recalls.extend([recall(retriever, question, [*first, *further])] if question.gold else [])


def question_sets(given: argparse.Namespace) -> Iterator[tuple[str, list[tuple[str, Sequence[DatasetQuestion]]]]]:
    """Yield the columns: a title, and bases with their questions."""
    if given.kb:
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
        made.add_column(f"{title} ({total}): first looks / lookups changed, %; recall")
        for name, row in rows.items():
            cells[name].append(f"{100 * row.first_looks / total:.1f} / {100 * row.lookups / total:.1f}; "
                               f"{100 * sum(row.recalls) / max(1, len(row.recalls)):.1f}")
    for texts in cells.values():
        made.add_row(*texts)
    return made


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--kb", default="", help="the base with MuSiQue's passages")
    parser.add_argument("--folders", nargs="+", default=[], help="bases of the folders' names")
    parser.add_argument("--first", type=int, default=None, help="so many questions of each set")
    given = parser.parse_args()
    with Resources(Settings(home=given.home, llm_base_url=None)) as resources:
        Console(width=200).print(table(resources, given))


if __name__ == "__main__":
    main()
