"""Time SQL over large knowledge bases: a filter with a group, the first time and again.

    python benchmarks/table_speed.py --home FOLDER [--sizes 96000 1000000]

The indexes are MuSiQue's recorded triples laid out several times (tiled_index.py). The relation with the most rows is
grouped by its tails where its heads have another relation; the first time, the file of the tables is opened.
"""

import argparse
import statistics
import time
from pathlib import Path

from adding import RECORDED
from banyan.agents.resources import Resources
from banyan.config import Settings
from retrieval_latency import private
from rich.console import Console
from rich.table import Table
from tiled_index import tiled

_AGAIN = 20


def main() -> None:
    """Make the indexes and print the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--recorded", type=Path, default=RECORDED)
    parser.add_argument("--sizes", type=int, nargs="+", default=[96_000, 1_000_000])
    given = parser.parse_args()
    table = Table("triples", "rows of the relation", "rows that fit", "first, ms", "again, ms", "of the processor",
                  "MB that tables add")
    for size in given.sizes:
        name = tiled(given.home, given.recorded, size, [])
        with Resources(Settings(home=given.home, llm_base_url=None)) as resources:
            with resources.snapshot(name) as snapshot:
                index = snapshot.index
            counts = sorted(index.relation_counts.items(), key=lambda item: -item[1])
            relation, other = counts[0][0], counts[1][0]
            sql = (f"SELECT tail, count(*) AS n FROM facts WHERE relation = '{relation}' AND head IN "
                   f"(SELECT head FROM facts WHERE relation = '{other}') GROUP BY tail ORDER BY n DESC, tail LIMIT 20")
            times, used, found, memory = [], [], 0, private()
            for _ in range(_AGAIN + 1):
                started, before = time.perf_counter(), time.process_time()
                found = index.sql.run(sql, most_cited=0).records or 0  # there are no documents to cite
                times.append(1000 * (time.perf_counter() - started))
                used.append(1000 * (time.process_time() - before))
            table.add_row(f"{len(index.triples):,}", f"{counts[0][1]:,}", f"{found:,}", f"{times[0]:.0f}",
                          f"{statistics.median(times[1:]):.0f}", f"{used[0]:.0f}, {statistics.median(used[1:]):.0f}",
                          f"{private() - memory:.0f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
