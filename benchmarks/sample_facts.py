"""Sample what the rules read, for a person to judge: typed facts, or entities, each with the words that support it.

Run `python benchmarks/sample_facts.py musique DATA --seed 1 --facts 100 -o facts.jsonl` and judge each line: "right" is
true where the quote states the fact, or where an entity's name is whole, is a name, and has the right type. `--tally`
counts judged files; those of the published figures are in benchmarks/results.
"""

import argparse
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

from banyan.models.rules.reader import RulesReader
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.formats.schema_loading import load_schema

SCHEMAS = {"musique": "encyclopedia", "reports": "finance"}
AROUND = 80
"""Characters shown on each side of an entity."""


def passages(corpus: str, data: Path) -> Iterator[tuple[str, str]]:
    """Yield the (title, text) of each passage of MuSiQue or of the Chinese reports."""
    if corpus == "musique":
        found = json.loads((data / "musique_train100" / "musique_train_corpus.json").read_text("utf-8"))
    else:
        lines = (data / "dragonball_zh_finance" / "corpus.jsonl").read_text("utf-8").splitlines()
        found = [json.loads(line) for line in lines]
    yield from ((passage["title"], passage["text"]) for passage in found)


def read(corpus: str, data: Path, *, entities: bool) -> Iterator[dict[str, str]]:
    """Yield each fact, or each entity, with its quote and its document's title."""
    reader, schema = RulesReader(), load_schema(SCHEMAS[corpus])
    for title, text in passages(corpus, data):
        (found,) = reader.extract([ExtractionRequest(text=text, title=title)], schema)
        if entities:
            for entity in found.entities:
                at = max(0, text.find(entity.name))
                yield {"name": entity.name, "type": entity.type, "title": title,
                       "quote": text[max(0, at - AROUND) : at + len(entity.name) + AROUND]}
            continue
        for triple in found.triples:
            yield {"head": triple.head, "label": triple.relation, "tail": triple.tail, "quote": triple.evidence,
                   "title": title}
        for value in found.attributes:
            yield {"head": value.entity, "label": value.attribute, "tail": value.value, "quote": value.evidence,
                   "title": title}


def tally(files: Iterable[Path]) -> None:
    """Print how many lines of each judged file are right."""
    for file in files:
        judged = [json.loads(line)["right"] for line in file.read_text("utf-8").splitlines()]
        print(f"{file.name}: {sum(judged)} of {len(judged)} right")


def main() -> None:
    """Write a sample, or count the verdicts of samples."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", nargs="?", choices=SCHEMAS)
    parser.add_argument("data", nargs="?", type=Path, help="the folder of measuring data")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--facts", type=int, default=0)
    parser.add_argument("--entities", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--tally", type=Path, nargs="+", metavar="FILE")
    given = parser.parse_args()
    if given.tally:
        tally(given.tally)
        return
    everything = list(read(given.corpus, given.data, entities=bool(given.entities)))
    chosen = random.Random(given.seed).sample(everything, min(given.facts or given.entities, len(everything)))
    given.output.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in chosen), "utf-8")
    print(f"{len(chosen)} of {len(everything)} written to {given.output}")


if __name__ == "__main__":
    main()
