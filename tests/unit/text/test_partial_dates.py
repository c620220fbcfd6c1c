"""Dates in columns of which some cells say a month or a year alone."""

from datetime import date

from banyan.text.column_values import type_column


def test_dates_that_say_a_month_or_a_year_alone_have_a_first_and_a_last_day() -> None:
    column = type_column(["2013/07", "2013-07-19", "2012", "2014/01/02"])
    assert column.kind == "date"
    assert column.values == [date(2013, 7, 1), date(2013, 7, 19), date(2012, 1, 1), date(2014, 1, 2)]
    assert column.lasts == [date(2013, 7, 31), date(2013, 7, 19), date(2012, 12, 31), date(2014, 1, 2)]


def test_years_alone_are_no_dates() -> None:
    assert type_column(["1998", "2004", "around 2010", "2011", "2012"], "Version").kind == "text"
