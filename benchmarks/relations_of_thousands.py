"""Processor time of a question over a base of few relations and over one of thousands, with as many facts.

    python benchmarks/relations_of_thousands.py [--few 25] [--many 3000] [--questions 12]

Prints the time of a question in milliseconds, without the model's, over each base, and their ratio (at most 1.3).
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskInput
from banyan.config import Settings
from banyan.models.rules.rules_reasoner import RulesReasoner
from banyan.schemas.inquiry import Inquiry, Judgement
from banyan.schemas.lookups import TripleLookup
from banyan.schemas.retrieval import DraftAnswer

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.hashed_embedding import HashedEmbedder
from tests.small_base import create, finish, put

FACTS_OF_A_DOCUMENT = 25
WORDS = ("river", "harbour", "mill", "bridge", "school", "market", "tower", "garden", "chapel", "quarry", "canal")


class SilentReasoner(RulesReasoner):
    """Looks up one relation and then gives up, as a model does, without taking time."""

    can_reason = True

    async def judge(self, inquiry: Inquiry) -> Judgement:
        """Return a lookup in the first round, and no answer in the second one."""
        if len(inquiry.rounds) > 1:
            return Judgement(draft=DraftAnswer(answerable=False, confidence=0.0))
        return Judgement(lookups=[TripleLookup(relation=relation_name(0))])


class SilentResources(Resources):
    """Resources whose reasoner is silent."""

    def reasoner(self, *_: object, **__: object) -> SilentReasoner:
        """Return the silent reasoner."""
        return SilentReasoner()


def relation_name(number: int) -> str:
    """Return the name of a relation: "river_of_mill_17"."""
    return f"{WORDS[number % len(WORDS)]}_of_{WORDS[number // len(WORDS) % len(WORDS)]}_{number}"


def build(home: Path, name: str, relations: int, facts: int) -> None:
    """Build a base with some facts, each of the next relation in turn."""
    with create(home, name, HashedEmbedder()) as kb, kb.writing():
        for start in range(0, facts, FACTS_OF_A_DOCUMENT):
            triples = [(f"Town {fact}", relation_name(fact % relations), f"Village {fact}")
                       for fact in range(start, min(start + FACTS_OF_A_DOCUMENT, facts))]
            text = " ".join(f"{head} has the {relation.replace('_', ' ')} {tail}." for head, relation, tail in triples)
            put(kb, f"d{start:05}", text, triples=triples,
                entities={end: "Place" for head, _, tail in triples for end in (head, tail)})
        finish(kb)


async def measure(resources: Resources, name: str, questions: int) -> float:
    """Return the processor time of a question in milliseconds: the least of three passes over different questions."""
    graph = build_graph(resources)

    async def ask_all(offset: int) -> float:
        started = time.process_time()
        for number in range(questions):
            question = f"Which {WORDS[number % len(WORDS)]} of the mill belongs to Town {offset + number}?"
            await graph.ainvoke(AskInput(knowledge_base=name, question=question))
        return (time.process_time() - started) / questions * 1000

    await ask_all(0)
    return min([await ask_all(number * questions) for number in (1, 2, 3)])


def main() -> None:
    """Build both bases, measure both, and print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--few", type=int, default=25)
    parser.add_argument("--many", type=int, default=3000)
    parser.add_argument("--questions", type=int, default=12)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        home, sizes = Path(place), (arguments.few, arguments.many)
        for size in sizes:
            build(home, f"r{size}", size, arguments.many)
        with SilentResources(Settings(home=home, llm_base_url=None), HashedEmbedder()) as resources:
            few, many = (asyncio.run(measure(resources, f"r{size}", arguments.questions)) for size in sizes)
    print(f"{arguments.few} relations: {few:.1f} ms; {arguments.many} relations: {many:.1f} ms; ratio {many / few:.2f}")


if __name__ == "__main__":
    main()
