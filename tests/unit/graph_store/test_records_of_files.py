"""Records from files to SQL: as many as the files have rows, and every number equal to that of pandas over the rows."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas
import pytest
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.sql.engine import SqlEngine
from banyan.ingest.loaders import load_documents

from ...small_base import create, put_document
from ..ingest.test_source_tables import Cells, as_csv, as_html, as_jsonl, as_markdown, as_tsv, as_xlsx

HEADER = ("Batch", "Site", "Yield", "Loss (kg)", "Day", "Sold")
Rows = Sequence[Cells]


class Style:
    def __init__(self, chance: random.Random) -> None:
        self.decimal, self.group = chance.choice([(".", ","), (".", ""), (",", "."), (",", " "), (",", ""), (".", "'")])
        self.places = chance.choice([0, 1, 2, 3])
        self.around = chance.choice(
            ["{}", "${}", "{} €", "CHF {}", "{} %", "{} kg", "{}k", "{} Mio. €", "{}万", "{} [1]"])
        self.minus = chance.choice(["-{}", "−{}", "({})"])
        self.day = chance.choice(["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d %B %Y", "%B %d, %Y", "%d-%b-%Y"])
        self.truth = chance.choice([("yes", "no"), ("true", "false"), ("ja", "nein"), ("✓", "✗"), ("是", "否")])
        self.empty = chance.choice(["", "-", "n/a", "NA"])

    @property
    def scale(self) -> int:
        return {"{}k": 10**3, "{} Mio. €": 10**6, "{}万": 10**4}.get(self.around, 1)

    def number(self, value: float | None, around: str = "{}") -> str:
        if value is None:
            return self.empty
        figures = f"{abs(value):,.{self.places}f}".translate({44: self.group, 46: self.decimal})
        return (self.minus if value < 0 else "{}").format(around.format(figures))


def rows_of(chance: random.Random, style: Style) -> tuple[Rows, pandas.DataFrame]:
    written, meant = [], []
    for _ in range(chance.randrange(12, 40)):
        amounts = [None if chance.random() < .15 else round(chance.uniform(-5_000, 5_000_000), style.places)
                   for _ in range(2)]
        day = pandas.Timestamp(2019, 1, 1) + pandas.Timedelta(days=chance.randrange(2000))
        is_sold = chance.random() < .5
        names = f"B{chance.randrange(30)}", chance.choice(["Oak Hill", "Lake, north", "Mill"])
        row = (*names, style.number(amounts[0], style.around), style.number(amounts[1]), f"{day:{style.day}}",
               style.truth[0 if is_sold else 1])
        for _ in range(chance.choice([1, 1, 1, 3])):
            written.append(row)
            meant.append((*names, *amounts, day, is_sold))
    frame = pandas.DataFrame(meant, columns=["batch", "site", "yield", "loss", "day", "sold"])
    frame = frame.astype({"yield": float, "loss": float})
    return written, frame.assign(**{"yield": frame["yield"] * style.scale})


WRITERS: Mapping[str, Callable[[Cells, Rows, Path], None]] = {
    "a.csv": as_csv, "b.csv": partial(as_csv, delimiter=";"), "c.tsv": as_tsv, "d.jsonl": as_jsonl,
    "e.md": as_markdown, "f.html": as_html, "g.xlsx": as_xlsx}


def store(kb: KnowledgeBase, *paths: Path) -> None:
    failures: list[str] = []
    for document in load_documents(paths, on_failure=lambda failure: failures.append(str(failure))):
        put_document(kb, document)
    assert failures == []
    kb.refresh()


def check(engine: SqlEngine, truth: pandas.DataFrame) -> None:
    """Compare counts, sums, means, medians, extremes and groups, all together and by document, site and month."""
    table = next(info for info in engine.tables() if info.kind == "records")
    assert (table.rows, table.documents) == (len(truth), truth.document.nunique())
    columns = {column.title: column for column in table.columns}
    assert [columns[name].kind for name in HEADER[2:]] == ["number", "number", "date", "boolean"]
    assert [columns[name].empty for name in HEADER[2:4]] == [truth[name].isna().sum() for name in ("yield", "loss")]
    for name, column in (("yield", columns["Yield"].name), ("loss", columns["Loss (kg)"].name)):
        for groups, key in (("document", "document"), ("site", "site"), ("sold", "sold"),
                            (truth.day.dt.to_period("M"), "date_trunc('month', day)"), (truth.batch != "", "true")):
            found = engine.run(f"SELECT {key}, count(*), count({column}), sum({column}), avg({column}), "
                               f"median({column}), min({column}), max({column}) FROM {table.name} "
                               "GROUP BY 1 ORDER BY 1")
            expected = truth.groupby(groups)[name].agg(
                ["size", "count", lambda cells: cells.sum(min_count=1), "mean", "median", "min", "max"])
            wanted = expected.astype(object).where(expected.notna(), None).to_numpy().tolist()
            assert [list(row[1:]) for row in found.rows] == [
                [None if cell is None else pytest.approx(cell) for cell in row] for row in wanted]
            assert found.records == len(truth)
    many = engine.run(f"SELECT batch, count(*) FROM {table.name} WHERE {columns['Loss (kg)'].name} > 1000 GROUP BY 1")
    assert dict(many.rows) == truth[truth.loss > 1000].groupby("batch").size().to_dict()


def truth_of(meant: Mapping[str, pandas.DataFrame]) -> pandas.DataFrame:
    return pandas.concat([frame.assign(document=name) for name, frame in meant.items()], ignore_index=True)


@pytest.fixture
def kb(tmp_path: Path, hashed_embedder) -> Iterator[KnowledgeBase]:
    with create(tmp_path / "home", "harvest", hashed_embedder) as kb, kb.writing():
        yield kb


@pytest.mark.usefixtures("shared_reading")
@pytest.mark.parametrize("seed", range(2))
def test_numbers_over_records_equal_those_over_the_files(kb: KnowledgeBase, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    style = Style(chance)
    meant = {}
    for name, write in WRITERS.items():
        rows, meant[name] = rows_of(chance, style)
        write(HEADER, rows, tmp_path / name)
    first, later = chance.sample(list(WRITERS), 2)
    store(kb, *(tmp_path / name for name in WRITERS if name != later))
    check(kb.open_tables(kb.graph), truth_of({name: meant[name] for name in WRITERS if name != later}))

    rows, meant[first] = rows_of(chance, style)
    WRITERS[first](HEADER, rows, tmp_path / first)
    store(kb, tmp_path / first, tmp_path / later)
    check(kb.open_tables(kb.graph), truth_of(meant))

    for gone in chance.sample(list(WRITERS), 3):
        kb.documents.delete(gone)
        del meant[gone]
    kb.refresh()
    check(kb.open_tables(kb.graph), truth_of(meant))
