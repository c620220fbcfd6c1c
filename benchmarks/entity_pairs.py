"""Measure entity resolution on labelled pairs: precision and recall of merges, and what a reasoner is asked.

    python benchmarks/entity_pairs.py [--wrong] [--merge 0.9] [--ask 0.5]

Each line of entity_pairs.jsonl was written by hand: two names, their type (`second_type` where it differs),
whether they are the same thing, and what is known: `together` in one passage, a passage's `text`, `facts`.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from banyan.graph_store.graph.knowledge_graph import KnowledgeGraph
from banyan.graph_store.ledger.extractions import AdmittedRows, rows_by_table
from banyan.graph_store.ledger.tables import ATTRIBUTE_VALUES, FACTS, MENTIONS
from banyan.graph_store.resolution import same_entities as resolution
from banyan.graph_store.resolution.name_comparison import statements
from banyan.graph_store.resolution.same_entities import Judgements, resolve
from banyan.graph_store.resolution.surroundings import Surroundings
from banyan.schemas.documents import Chunk, Span
from banyan.schemas.extraction import BoundedExtraction, EntityMention, RelationFact
from banyan.schemas.graph_schema import open_schema

PAIRS = Path(__file__).with_name("entity_pairs.jsonl")
_NOWHERE = Span(start=0, end=0, quote="")


def graph_of(pair: dict[str, Any]) -> tuple[KnowledgeGraph, dict[str, str]]:
    """Build the graph of mentions that a line describes, and the texts of its passages."""
    kinds = {pair["second"]: pair.get("second_type", pair["type"])} | {pair["first"]: pair["type"]}
    facts = pair.get("facts", [])
    passages = {"text": ([pair["first"], pair["second"]], [])} if pair.get("text") or pair.get("together") else {
        "one": ([pair["first"]], []), "two": ([pair["second"]], [])}
    for number, (head, relation, tail) in enumerate(facts):
        # Each fact has its own passage, in which a name of the pair may occur.
        passages[f"fact {number}"] = ([head, tail], [(head, relation, tail)])
    admitted = {}
    for chunk, (names, triples) in passages.items():
        together = chunk == "text" or not pair.get("together")
        admitted[chunk] = BoundedExtraction(
            mentions=tuple(EntityMention(name=name, type=kinds.get(name, "Entity"), span=_NOWHERE)
                           for name in names if together or name not in kinds),
            facts=tuple(RelationFact(head=h, head_type=kinds.get(h, "Entity"), relation=r, tail=t,
                                     tail_type=kinds.get(t, "Entity"), span=_NOWHERE) for h, r, t in triples))
    if pair.get("second_type"):
        admitted["other"] = BoundedExtraction(mentions=(EntityMention(
            name=pair["second"], type=pair["second_type"], span=_NOWHERE),))
    by_chunk = [rows_by_table(Chunk.model_construct(id=chunk, document_id=""), bounded)
                for chunk, bounded in admitted.items()]
    rows = ([row for tables in by_chunk for row in tables[table]] for table in (MENTIONS, FACTS, ATTRIBUTE_VALUES))
    return KnowledgeGraph.of_rows(AdmittedRows(*rows)), {chunk: pair.get("text", "") for chunk in passages}


def outcome(pair: dict[str, Any]) -> str:
    """Resolve a pair, and return "merged", "asked" or "apart"."""
    graph, texts = graph_of(pair)
    around = Surroundings(graph, open_schema(), {})
    said = {chunk: statements(text, around.entities_by_name(chunk)) for chunk, text in texts.items()}
    found = resolve(around, said, Judgements())
    both = {one for one in graph.entity_ids() if graph.entity(one).name in {pair["first"], pair["second"]}}
    if len({row.canonical if (row := found.aliases.get(one)) else one for one in both}) == 1:
        return "merged"
    return "asked" if any(set(asked) <= both for asked, _ in found.doubtful) else "apart"


def main() -> None:
    """Print the sweep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", action="store_true", help="list the pairs that are not as labelled")
    parser.add_argument("--merge", type=float, nargs="*", default=[0.6, 0.7, 0.8, 0.85, 0.9, 0.92, 0.95, 0.98])
    parser.add_argument("--ask", type=float, default=resolution.ASK_FROM)
    options = parser.parse_args()
    pairs = [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()]
    same = sum(pair["same"] for pair in pairs)
    print(f"{len(pairs)} pairs, {same} the same")
    resolution.ASK_FROM = options.ask
    for least in options.merge:
        resolution.MERGE_FROM = least
        said = [outcome(pair) for pair in pairs]
        hits = sum(o == "merged" and p["same"] for o, p in zip(said, pairs, strict=True))
        merged, asked = said.count("merged"), said.count("asked")
        reached = hits + sum(o == "asked" and p["same"] for o, p in zip(said, pairs, strict=True))
        print(f"merge {least:.2f}: precision {hits / max(merged, 1):.3f}, recall {hits / same:.3f}; {asked} asked, "
              f"recall with a perfect reasoner {reached / same:.3f}")
        if options.wrong:
            for o, pair in zip(said, pairs, strict=True):
                if (o == "merged") != pair["same"]:
                    print(f"   {o}: {pair['first']} | {pair['second']} ({'same' if pair['same'] else 'different'})")


if __name__ == "__main__":
    main()
