"""How many passages a second the rules read, in pairs against another checkout.

Run `python benchmarks/reading_speed.py $DATA/musique_train100/musique_train_corpus.json --other CHECKOUT`. Every
twelfth passage is read in a process of its own, by turns with this checkout's interpreter and the other's
(`CHECKOUT/.venv/bin/python`). It is processor time, so what else the machine does is hardly in it.
"""

import argparse
import statistics
import subprocess
from pathlib import Path

_CHILD = """
import json, sys, time
from banyan.config import Settings
from banyan.models.embedding.embedder_loading import load_embedder
from banyan.models.rules.rules_reasoner import RulesReasoner
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.formats.schema_loading import load_schema
reasoner, schema = RulesReasoner(None), load_schema("encyclopedia")
passages = json.loads(open(sys.argv[1], encoding="utf-8").read())[::int(sys.argv[2])]
reasoner.extract(ExtractionRequest(text="Ada Blum was born in Oslo.", title="Ada Blum"), schema)
began = time.process_time()
for passage in passages:
    reasoner.extract(ExtractionRequest(text=passage["text"], title=passage["title"]), schema)
print(len(passages) / (time.process_time() - began))
"""


def passages_a_second(checkout: Path, corpus: Path, every: int) -> float:
    """Return how many passages a second a checkout reads."""
    done = subprocess.run([checkout / ".venv" / "bin" / "python", "-c", _CHILD, corpus.resolve(), str(every)],
                          cwd=checkout, check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    """Measure pairs, and print both medians and that of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--other", type=Path, required=True, help="a checkout with its own .venv")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--every", type=int, default=12, help="read one passage in so many")
    given = parser.parse_args()
    here = Path(__file__).parents[1]
    pairs = [(passages_a_second(here, given.corpus, given.every),
              passages_a_second(given.other, given.corpus, given.every)) for _ in range(given.pairs)]
    ours, others = (statistics.median(values) for values in zip(*pairs, strict=True))
    ratio = statistics.median(mine / other for mine, other in pairs)
    print(f"passages a second: {ours:.1f}, the other checkout {others:.1f}; ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
