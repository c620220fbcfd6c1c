"""What the cells of a column are: numbers, dates, truth values, lists or texts."""

from collections.abc import Sequence

import pytest
from banyan.text.column_values import type_column, type_columns


@pytest.mark.parametrize(("cells", "values"), [
    (["1.250", "3.000", "12.400", "980"], [1250, 3000, 12400, 980]),
    (["1.250,50", "1.234.567,00", "87,25", "-1.000,00"], [1250.5, 1234567, 87.25, -1000]),
    (["12,5", "9", "31,75", "7,25"], [12.5, 9, 31.75, 7.25]),
    (["1,200-", "3,400", "9,800-"], [-1200, 3400, -9800]),
    (["(1,200)", "3,400", "(9,800)", "15,000"], [-1200, 3400, -9800, 15000]),
    (["$1.2M", "$900,000", "$45K", "$3.1M"], [1_200_000, 900_000, 45_000, 3_100_000]),
    (["1 234 567", "98\u00a0000", "2\u202f400\u202f000", "7 100"], [1_234_567, 98_000, 2_400_000, 7_100]),
])
def test_numbers_are_read_as_their_column_writes_them(cells: Sequence[str], values: Sequence[float]) -> None:
    column = type_column(cells)
    assert (column.kind, column.values) == ("number", list(values))


def test_other_columns_decide_what_a_mark_means() -> None:
    assert type_columns([["12,5", "9"], ["1.125", "3.455"]], ["Length", "Height"])[1].values == [1125, 3455]
