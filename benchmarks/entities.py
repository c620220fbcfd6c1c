"""Compare the names that the rules find with those an LLM recorded: recall and precision.

Run `python benchmarks/entities.py $DATA/musique_train100/openie_*.json [--schema NAME] [--every 9] [--missed N]`. Every
ninth passage is read by the rules alone. Names are compared passage by passage without case, articles and punctuation.
Dates and numbers are nodes of an LLM's triples and values of attributes here, so a second row counts these as well.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from banyan.models.rules.rules_reasoner import RulesReasoner
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.formats.schema_loading import load_schema
from banyan.text.quantities import find_values
from rich.console import Console
from rich.progress import track
from rich.table import Table


def key(name: str) -> str:
    """Return a name without case, articles and punctuation."""
    return " ".join(word for word in re.findall(r"\w+", name.lower()) if word not in {"a", "an", "the"})


def keys(names: Iterable[str]) -> set[str]:
    """Return names in the form that is compared."""
    return {folded for folded in map(key, names) if folded}


def main() -> None:
    """Read the passages, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recorded", type=Path)
    parser.add_argument("--schema", default="encyclopedia")
    parser.add_argument("--every", type=int, default=9, help="read one passage in so many")
    parser.add_argument("--missed", type=int, default=0, help="print as many of the missed, and of those not recorded")
    given = parser.parse_args()
    schema = load_schema(given.schema)
    reasoner = RulesReasoner()
    console = Console()
    counts: dict[str, Counter[str]] = {"entities": Counter(), "entities and values": Counter()}
    missed: list[tuple[str, str]] = []
    more: list[tuple[str, str]] = []
    for passage in track(json.loads(given.recorded.read_text("utf-8"))["docs"][::given.every],
                         console=Console(stderr=True)):
        (extraction,) = reasoner.extract_together(
            [ExtractionRequest(text=passage["text"], title=passage["title"])], schema)
        recorded = keys(passage["extracted_entities"])
        entities = keys([*(entity.name for entity in extraction.entities),
                         *(name for triple in extraction.triples for name in (triple.head, triple.tail))])
        values = keys(attribute.value for attribute in extraction.attributes)
        for row, found in (("entities", entities), ("entities and values", entities | values)):
            counts[row].update(recorded=len(recorded), found=len(found), right=len(recorded & found))
        missed += ((passage["title"], name) for name in sorted(recorded - entities - values))
        more += ((passage["title"], name) for name in sorted((entities | values) - recorded))
    table = Table("of the passages' names", "recorded", "found", "recall", "precision")
    for row, count in counts.items():
        table.add_row(row, str(count["recorded"]), str(count["found"]), f"{count['right'] / count['recorded']:.3f}",
                      f"{count['right'] / count['found']:.3f}")
    console.print(table)
    dated = sum(bool(find_values(name)) for _, name in missed)
    console.print(f"{len(missed)} missed in both rows, {dated} with a date or number in them")
    for title, pairs in (("missed", missed), ("not recorded", more)):
        step = max(1, len(pairs) // given.missed) if given.missed else 0
        for passage_title, name in pairs[::step][:given.missed] if step else []:
            console.print(f"{title}: {name}  ({passage_title})", highlight=False, markup=False)


if __name__ == "__main__":
    main()
