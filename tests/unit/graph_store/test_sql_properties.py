"""Counts, sums, means, medians and groups over records are those of pandas over the same cells."""

import math
import random
from collections.abc import Callable

import pandas as pd
import pytest

from ...sql_tables import document_of, engine_of

KINDS = ("reef", "fore reef", "lagoon", "O'Neil's", "中礁")
FORMATS: dict[str, Callable[[float], str]] = {
    "plain": lambda number: f"{number:.2f}",
    "grouped": lambda number: f"{number:,.2f}",
    "decimal comma": lambda number: f"{number:,.2f}".translate(str.maketrans(",.", ".,")),
    "currency": lambda number: f"€{number:,.2f}" if number >= 0 else f"-€{-number:,.2f}",
    "brackets": lambda number: f"{number:.2f}" if number >= 0 else f"({-number:.2f})",
}


def random_rows(chance: random.Random, write: Callable[[float], str]) -> tuple[list[tuple[str, ...]], pd.DataFrame]:
    """Rows as cells, with empty ones and repeated rows, and the same as numbers."""
    kept: list[tuple[str, float, float]] = [
        (chance.choice(KINDS), math.nan if chance.random() < 0.1 else chance.randint(-5, 40),
         math.nan if chance.random() < 0.1 else round(chance.uniform(-2000, 90000), 2))
        for _ in range(chance.randint(30, 90))]
    kept += chance.choices(kept, k=20)
    cells = [(kind, "" if math.isnan(size) else str(int(size)), "" if math.isnan(price) else write(price))
             for kind, size, price in kept]
    return cells, pd.DataFrame(kept, columns=["kind", "size", "price"])


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("seed", range(4))
def test_results_are_those_of_pandas(form, seed):
    chance = random.Random(f"{form} {seed}")
    cells, frame = random_rows(chance, FORMATS[form])
    halves = [cells[:len(cells) // 2], cells[len(cells) // 2:]]
    engine = engine_of(*(document_of(f"part{number}.csv", ("Kind", "Size", "Price"), half)
                         for number, half in enumerate(halves)))
    least, kind = chance.randint(0, 30), chance.choice(KINDS)
    quoted = kind.replace("'", "''")
    of_kind = frame["kind"] == kind
    conditions = {"": frame, f"WHERE size >= {least}": frame[frame["size"] >= least],
                  f"WHERE kind = '{quoted}'": frame[of_kind],
                  f"WHERE kind <> '{quoted}' AND price < 40000": frame[~of_kind & (frame["price"] < 40000)]}
    for where, chosen in conditions.items():
        found = engine.run(f"SELECT count(*), count(price), sum(size), sum(price), avg(price), median(price), "
                           f"max(price), count(DISTINCT price) FROM part {where}")
        prices = chosen["price"]
        expected = (len(chosen), prices.count(), chosen["size"].sum(min_count=1), prices.sum(min_count=1),
                    prices.mean(), prices.median(), prices.max(), prices.nunique())
        assert found.rows[0] == pytest.approx(expected, rel=1e-12, nan_ok=True)
        assert found.records == len(chosen)
        assert {one.column: one.empty for one in found.left_out} == {
            name: int(chosen[name].isna().sum()) for name in ("size", "price") if chosen[name].isna().any()}
    groups = engine.run("SELECT kind, count(*), sum(price) FROM part GROUP BY kind ORDER BY kind").rows
    by_kind = frame.groupby("kind")["price"]
    assert {row[0]: row[1:] for row in groups} == {
        name: pytest.approx((len(part), part.sum()), rel=1e-12) for name, part in by_kind}
