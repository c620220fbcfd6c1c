"""What the cells of a column are: numbers, dates, truth values, lists or texts."""

import random
from collections.abc import Sequence
from datetime import date, datetime
from itertools import cycle, islice
from operator import attrgetter
from time import process_time

import pandas
import pytest
from banyan.graph_store.sql.column_values import type_column, type_columns
from hypothesis import given
from hypothesis import strategies as st


def kinds(*cells: str, header: str = "") -> tuple[str, list[object]]:
    column = type_column(cells, header)
    return column.kind, column.values


@pytest.mark.parametrize(("cells", "values"), [
    (["1.250", "3.000", "12.400", "980"], [1250, 3000, 12400, 980]),
    (["1.250,50", "1.234.567,00", "87,25", "-1.000,00"], [1250.5, 1234567, 87.25, -1000]),
    (["12,5", "9", "31,75", "7,25"], [12.5, 9, 31.75, 7.25]),
    (["430", "310", "1.120", "980"], [430, 310, 1120, 980]), (["1,234.50", "1,234", "7"], [1234.5, 1234, 7]),
    (["1.234", "12.5", "0.125"], [1.234, 12.5, 0.125]), (["1.234", "12,5"], [1234, 12.5]),
    (["1,20,000", "12,34,567.50", "999"], [120_000, 1_234_567.5, 999]),
    (["1 234 567", "98\u00a0000", "2\u202f400\u202f000", "7\u2009100"], [1_234_567, 98_000, 2_400_000, 7_100]),
    (["1 234,5", "1 234,567"], [1234.5, 1234.567]), (["1'400", "1’400.50"], [1400, 1400.5]),
    (["1,200-", "3,400", "9,800-"], [-1200, 3400, -9800]),
    (["(1,200)", "3,400", "(9,800)", "15,000"], [-1200, 3400, -9800, 15000]), (["($1,200)", "$5"], [-1200, 5]),
    (["-5", "−6", "–7", "+8", "- 9"], [-5, -6, -7, 8, -9]), (["-$5", "$-6", "€ −7"], [-5, -6, -7]),
    (["$1.2M", "$900,000", "$45K", "$3.1M", "$2bn"], [1_200_000, 900_000, 45_000, 3_100_000, 2e9]),
    (["3.4k", "2 million", "1.5 bn"], [3_400, 2_000_000, 1.5e9]),
    (["1,5 Mio. €", "2 Mrd. €", "3,25 Tsd. €"], [1_500_000, 2e9, 3_250]),
    (["3.5万", "2亿", "1200"], [35_000, 2e8, 1200]),
    (["10^3", "1e5", "2.5×10³", "3 x 10^-2"], [1000, 100_000, 2500, 0.03]),
    (["12³", "40", "7[1]", "8 [a]", "9*", "10†", "11¹ EUR"], [12, 40, 7, 8, 9, 10, 11]),
    (["12,- €", "1.250,– €", "3,50 €"], [12, 1250, 3.5]), (["٣٫٥", "１２", "1.5"], [3.5, 12, 1.5]),
    (["1.", "2.", "3."], [1, 2, 3]), (["Rs.500", "Rs. 750", "kr. 20"], [500, 750, 20]),
    (["45°", "12.5 °"], [45, 12.5])])
def test_numbers_are_read_as_their_column_writes_them(cells: Sequence[str], values: Sequence[float]) -> None:
    assert kinds(*cells) == ("number", list(values))


@pytest.mark.parametrize("cells", [
    ["01234", "90210", "10001"], ["A12", "B7"], ["12A", "14B", "3C"], ["1.2.3", "1.3.0"],
    ["192.168.100.200", "10.0.0.1"], ["12345678901234567", "22345678901234567"], ["(1)", "(2)", "(3)"],
    ["1/2", "3/4"], ["5–7", "8–9"], ["<5", "~6"], ["10³", "10²"], ["1st", "2nd"], ["3 apples", "5 pears"],
    ["14:30", "09:15"], ["5 ft 11 in", "6 ft 1 in"], ["#1", "#2"], ["1850s", "1990s"], ["1990–", "2005–"],
    ["1990-", "2001-"]])
def test_codes_ranges_and_fractions_are_no_numbers(cells: Sequence[str]) -> None:
    assert kinds(*cells) == ("text", list(cells))


def test_headers_of_codes_and_versions_make_texts() -> None:
    for header in ("Version", "Python version", "Phone", "Zip code", "PLZ", "电话"):
        assert type_column(["1.1", "1.10"], header).kind == "text", header
    assert type_column(["1998", "2004", "around 2010", "2011", "2012"], "Version").kind == "text"


@pytest.mark.parametrize(("cells", "values", "says"), [
    (["1.234", "5.678", "12.345"], [1.234, 5.678, 12.345], "could also be 1234"),
    (["1.125", "430", "310", "980"], [1125, 430, 310, 980], "could also be 1.125"),
    (["1250", "3.125"], [1250, 3.125], "could also be 3125"),
    (["1,259 €", "1,309 €"], [1259, 1309], "could also be 1.259"),
    (["135.125", "120", "99.875"], [135.125, 120, 99.875], "could also be 135125")])
def test_what_is_decided_without_proof_is_noted(cells: Sequence[str], values: Sequence[float], says: str) -> None:
    column = type_column(cells)
    assert column.values == list(values)
    assert says in column.note


@pytest.mark.parametrize("cells", [["$1,259", "$1,309"], ["1,250", "3,400"], ["1,259", "980", "2,310"]])
def test_commas_are_groups_where_the_column_shows_it(cells: Sequence[str]) -> None:
    column = type_column(cells)
    assert (column.kind, column.note) == ("number", "")
    assert min(value for value in column.values if isinstance(value, float)) > 900


def test_contradicting_marks_are_left_out() -> None:
    column = type_column([*["1,234.5"] * 9, *["5.678,5"] * 9, "1.234", "1,234"])
    assert column.values == [*[1234.5] * 9, *[5678.5] * 9, None, None]
    assert column.untyped == 2
    assert "mixed" in column.note
    assert type_column(["1,234", "5.678"]).kind == "text"


def test_other_columns_decide_what_a_mark_means() -> None:
    typed = type_columns([["12,5", "9"], ["1.125", "3.455"], ["1,125", "3,455"]], ["Length", "Height", "Width"])
    assert [column.values for column in typed[1:]] == [[1125, 3455], [1.125, 3.455]]
    typed = type_columns([["12.5", "9"], ["1.125", "3.455"], ["1,125", "3,455"]], ["Length", "Height", "Width"])
    assert [column.values for column in typed[1:]] == [[1.125, 3.455], [1125, 3455]]
    assert not any(column.note for column in typed)


def test_whole_numbers_and_years_are_told_from_decimals() -> None:
    assert type_column(["1999", "2003", ""], "Year").integers
    assert type_column(["1.0", "2.00"]).integers
    assert not type_column(["1.0", "2.5"]).integers


@pytest.mark.parametrize(("cells", "header", "unit"), [
    (["3700", "4200"], "Body Mass (g)", "g"), (["12", "13"], "Preis in €", "EUR"), (["5", "6"], "height_ft", "ft"),
    (["5", "6"], "Weight_in_lbs", "lb"), (["5", "6"], "Amount EUR", "EUR"), (["5", "6"], "amount_usd", "USD"),
    (["5", "6"], "Speed [km/h]", "km/h"), (["5", "6"], "Density (g/cm³)", "g/cm3"),
    (["5", "6"], "面积（平方公里）", "km2"), (["5", "6"], "Revenue (USD million)", "million USD"),
    (["5", "6"], "Umsatz in Mio. EUR", "million EUR"), (["5", "6"], "Population (thousands)", "thousand"),
    (["5", "6"], "Born in", ""), (["5", "6"], "Temp min", ""), (["5", "6"], "price per kg", ""),
    (["5", "6"], "Total (2019)", ""), (["5", "6"], "Group M", ""), (["5", "6"], "Nth try", ""),
    (["12.5 %", "3%"], "", "%"), (["5 kg", "7 kg", "0"], "", "kg"), (["$1,200", "900", "3,000"], "", "USD"),
    (["€3/kg", "€4/kg"], "", "EUR/kg"), (["$5 CAD", "$6 CAD"], "", "CAD"), (["12 km²", "9 km²"], "", "km2"),
    (["12 guests", "1 guest"], "", "guests"), (["12.400 Einwohner", "980 Einwohner"], "", "Einwohner"),
    (["5", "6 kg"], "(kg)", "kg"), (["12万人", "3万人"], "", "人"), (["1.2亿元", "3,500万元"], "", "CNY"),
    (["5V", "12 V"], "", "V"), (["3.5", "20 °C"], "T (°C)", "°C")])
def test_unit_is_that_of_the_cells_or_of_the_header(cells: Sequence[str], header: str, unit: str) -> None:
    column = type_column(cells, header)
    assert (column.kind, column.unit, column.units) == ("number", unit, None)


@pytest.mark.parametrize(("cells", "values", "units"), [
    (["$1,250", "€980.50", "£2,000", "CHF 1'400"], [1250, 980.5, 2000, 1400], ["USD", "EUR", "GBP", "CHF"]),
    (["5 kg", "300 g", ""], [5, 300, None], ["kg", "g", None]), (["12%", "5"], [12, 5], ["%", ""]),
    (["100元", "¥200", "JPY 300"], [100, 200, 300], ["CNY", "¥", "JPY"])])
def test_mixed_units_are_told_apart(cells: Sequence[str], values: list[float], units: list[str]) -> None:
    column = type_column(cells)
    assert (column.values, column.unit, column.units) == (values, "", units)


def test_empty_and_untyped_cells_are_counted() -> None:
    column = type_column([*map(str, range(1, 20)), "", " ", "-", "n/a", "NA", "None", "NaN", "?", "...", "see note"])
    assert (column.kind, column.empty, column.untyped) == ("number", 9, 1)
    assert column.values == [*range(1, 20), *[None] * 10]
    assert kinds("NA", "EU", "None", "-", "") == ("text", ["NA", "EU", "None", None, None]), "some are names elsewhere"


@pytest.mark.parametrize(("cells", "kind"), [
    (["1", "2", "3", "x"], "text"), (["1", "2", "3", "4", "x"], "number"), ([*"123456789", "x", "y"], "text"),
    ([*"123456789" * 2, "x", "y"], "number"), (["", "-", ""], "text"), ([], "text")])
def test_nearly_all_cells_decide_the_kind(cells: Sequence[str], kind: str) -> None:
    assert type_column(cells).kind == kind


DAY = date(2031, 4, 3)
moment = datetime.fromisoformat


@pytest.mark.parametrize("cell", [
    "2031-04-03", "2031/04/03", "2031.4.3", "3.4.2031", "03.04.2031", "3 Apr 2031", "3. April 2031", "Apr 3, 2031",
    "April 3rd, 2031", "3rd of April, 2031", "3 avril 2031", "3 de abril de 2031", "2031年4月3日",
    "Thursday, 3 April 2031", "3-Apr-2031", "20310403", "٢٠٣١/٠٤/٠٣"])
def test_forms_of_dates(cell: str) -> None:
    column = type_column([cell])
    assert (column.kind, column.values, column.precision, column.note) == ("date", [DAY], "day", "")


@pytest.mark.parametrize(("cells", "values"), [
    (["03/04/2031", "25/12/2031"], [DAY, date(2031, 12, 25)]),
    (["04/03/2031", "12/25/2031"], [DAY, date(2031, 12, 25)]),
    (["03.04.2031", "1. Mai 2029", "2030-02-01"], [DAY, date(2029, 5, 1), date(2030, 2, 1)]),
    (["4/3/2031 2:30 PM"], [moment("2031-04-03 14:30")]),
    (["5/5/2031"], [date(2031, 5, 5)]),
])
def test_order_of_day_and_month_is_that_of_the_column(cells: Sequence[str], values: list[date]) -> None:
    column = type_column(cells)
    assert (column.kind, column.values, column.note) == ("date", values, "")


def test_order_of_day_and_month_without_proof_is_noted() -> None:
    column = type_column(["03/04/2031", "05/06/2031"])
    assert column.values == [DAY, date(2031, 6, 5)]
    assert "day/month" in column.note
    typed = type_columns([["04/03/2031", "05/06/2031"], ["12/25/2031", "01/02/2031"]], ["start", "end"])
    assert (typed[0].values, typed[0].note) == ([DAY, date(2031, 5, 6)], "")


@pytest.mark.parametrize(("cells", "values", "note"), [
    (["2031-04-03 10:00", "2031-06-09 08:30:12", "2030-01-15"],
     [moment("2031-04-03 10:00"), moment("2031-06-09 08:30:12"), moment("2030-01-15 00:00")], ""),
    (["2031-04-03T10:00:00Z", "2031-06-09T08:30:00Z"], [moment("2031-04-03 10:00"), moment("2031-06-09 08:30")],
     "in UTC"),
    (["2031-04-03T10:00:00+02:00", "2031-04-03T10:00:00Z"], [moment("2031-04-03 08:00"), moment("2031-04-03 10:00")],
     "in UTC"),
    (["Thu, 3 Apr 2031 10:00:00 +0200"], [moment("2031-04-03 10:00")], "UTC+02:00"),
    (["2020-01-01 00:00:00", "2020-02-01 00:00:00"], [date(2020, 1, 1), date(2020, 2, 1)], ""),
    (["2020年3月5日 14:30"], [moment("2020-03-05 14:30")], ""),
])
def test_times_and_their_zones(cells: Sequence[str], values: list[date], note: str) -> None:
    column = type_column(cells)
    assert (column.kind, column.values) == ("date", values)
    assert note in column.note if note else not column.note


@pytest.mark.parametrize("cells", [["2031-04", "2031-05"], ["April, 2031", "May 2031"], ["2031年4月", "2031年5月"],
    ["4/2031", "05/2031"], ["04.2031", "05.2031"]])
def test_months_are_their_first_days(cells: Sequence[str]) -> None:
    column = type_column(cells)
    assert (column.kind, column.values, column.precision) == ("date", [date(2031, 4, 1), date(2031, 5, 1)], "month")
    assert "months" in column.note


@pytest.mark.parametrize(("cells", "years"), [
    (["03.04.98", "03.04.99", "03.04.01"], [1998, 1999, 2001]), (["3-Apr-31"], [2031])])
def test_years_of_two_figures_are_of_1969_to_2068_and_noted(cells: Sequence[str], years: list[int]) -> None:
    column = type_column(cells)
    assert [value.year for value in column.values if isinstance(value, date)] == years
    assert "two figures" in column.note


@pytest.mark.parametrize("cells", [
    ["Q2 2031", "Q3 2031"], ["2019–2020", "2020–2021"], ["since 3 April 2020", "2020-01-01"], ["31/04/2031"],
    ["May", "June"], ["c. 1850", "1850s"], ["2031-W14"], ["yes", "no", "partly"], ["N", "N"], ["x", "-", ""],
    ["x", "x"]])
def test_what_is_no_single_day_or_more_than_a_truth_value_is_text(cells: Sequence[str]) -> None:
    assert type_column(cells).kind == "text"


def test_an_impossible_day_is_untyped_and_a_month_or_year_has_a_first_and_a_last_day() -> None:
    column = type_column(["31/04/2031", *(f"{day}/03/2031" for day in range(10, 20))])
    assert (column.kind, column.values[0], column.untyped) == ("date", None, 1)
    column = type_column(["2013/07", "2013-07-19", "2012", "2014/01/02"])
    assert column.kind == "date"
    assert column.values == [date(2013, 7, 1), date(2013, 7, 19), date(2012, 1, 1), date(2014, 1, 2)]
    assert column.lasts == [date(2013, 7, 31), date(2013, 7, 19), date(2012, 12, 31), date(2014, 1, 2)]


@pytest.mark.parametrize(("cells", "values"), [
    (["yes", "No", "n/a", "YES"], [True, False, None, True]), (["true", "FALSE"], [True, False]),
    (["ja", "nein", ""], [True, False, None]), (["是", "否"], [True, False]), (["有", "无"], [True, False]),
    (["✓", "✗"], [True, False]), (["Y", "N"], [True, False]), (["x", "", "X"], [True, False, True]),
    (["✓", ""], [True, False])])
def test_truth_values(cells: Sequence[str], values: list[bool]) -> None:
    assert kinds(*cells) == ("boolean", values)


@pytest.mark.parametrize(("cells", "values"), [
    (["Alice (@a), Bob <b@x>, Carl (@c)", "Dan (@d)", ""], [["Alice (@a)", "Bob <b@x>", "Carl (@c)"], ["Dan (@d)"],
    None]),
    (["Smith, John; Doe, Jane", "Roe, Rick"], [["Smith, John", "Doe, Jane"], ["Roe, Rick"]]),
    (["Packaging, Typing", "Typing", "Packaging"], [["Packaging", "Typing"], ["Typing"], ["Packaging"]]),
    (["20", "165, 721", "1559"], [["20"], ["165", "721"], ["1559"]]),
    (["2.7, 3.1", "3.2", "3.3", "3.4", "3.5"], [["2.7", "3.1"], ["3.2"], ["3.3"], ["3.4"], ["3.5"]]),
    (["苹果、梨", "梨"], [["苹果", "梨"], ["梨"]]),
    (["Law; Tax", *["Tax"] * 40], [["Law", "Tax"], *[["Tax"]] * 40]),
    (["Law", "Law, Tax", *["Tax"] * 40], [["Law"], ["Law", "Tax"], *[["Tax"]] * 40]),
    (["- one\n- two", "- three"], [["one", "two"], ["three"]]), (["red|green", "blue"], [["red", "green"], ["blue"]]),
    (["Ann Lee (Foo, Inc.); Bo Li", "Cy Day"], [["Ann Lee (Foo, Inc.)", "Bo Li"], ["Cy Day"]]),
    (["Ann Foo, Bob Bar", "Carl Baz", "Dan Doe, Eve Fox, Gil Hay"],
     [["Ann Foo", "Bob Bar"], ["Carl Baz"], ["Dan Doe", "Eve Fox", "Gil Hay"]]),
    (["red, blue", "blue, red", "red, blue, and green", "red and blue", "green"],
     [["red", "blue"], ["blue", "red"], ["red", "blue", "green"], ["red", "blue"], ["green"]]),
])
def test_lists_have_the_separator_of_the_column(cells: Sequence[str], values: list[list[str] | None]) -> None:
    assert kinds(*cells) == ("list", values)


def test_under_a_plural_header_the_first_item_may_be_the_same_in_most_lists() -> None:
    cells = ["concept", "feature, protocol", "feature", "feature, protocol, retired", "concept, trust"]
    assert (type_column(cells, "Tags").kind, type_column(cells, "Tag").kind) == ("list", "text")
    assert type_column(["Ulm, Germany", "Paris, France", "Bern, Switzerland"], "Places").kind == "text"


def test_a_note_behind_a_name_is_no_other_person() -> None:
    cells = ["Ann Lee (guest), Bo Ek", "Ann Lee", "[Bo Ek],[Cy Fox]", "Cy Fox (Acme), Dee Oak (Acme)"]
    assert type_column(cells, "Authors").values == [
        ["Ann Lee", "Bo Ek"], ["Ann Lee"], ["Bo Ek", "Cy Fox"], ["Cy Fox", "Dee Oak (Acme)"]]
    tags = ["Java (island), Go", "Go, Java", "Java", "Go"]
    assert type_column(tags, "Tags").values[0] == ["Java (island)", "Go"]


def test_a_remark_behind_a_date_is_no_part_of_it_unless_it_has_figures() -> None:
    column = type_column(["2018-01-05 (approx, backdated)", "2018-03-01 (was 2017)", *["2019-02-03"] * 9])
    assert (column.kind, column.values[:2], column.untyped) == ("date", [date(2018, 1, 5), None], 1)


def test_a_day_that_is_not_known_leaves_the_month() -> None:
    column = type_column(["2007-12-xx", *["2019-02-03"] * 9])
    assert (column.values[0], column.lasts[0], column.untyped) == (date(2007, 12, 1), date(2007, 12, 31), 0)


def test_a_letter_in_very_few_cells_is_no_tick() -> None:
    assert type_column(["X", *[""] * 40]).kind == "text"


@pytest.mark.parametrize("cells", [
    ["Smith, John", "Doe, Jane", "Roe, Rick"], ["Berlin, Germany", "Paris, France", "Lyon, France", "France"],
    ["12 Main St, Springfield, IL", "4 Oak St, Dover, DE"], ["Acme, Inc.", "Beta, Inc.", "Foo"],
    ["He came, he saw, he won.", "It rained, and we left."], ["他来了。", "苹果、梨很好吃。"],
    ["The first part is here; the second part says what follows from it, in many more words.",
    "No; there is none of that."],
    ["Austin, Texas, USA", "Berlin, Germany", "USA"], ["Packaging, Typing", *["Packaging"] * 40],
])
def test_names_and_sentences_with_commas_stay_whole(cells: Sequence[str]) -> None:
    assert kinds(*cells) == ("text", list(cells))


FORMATS = st.fixed_dictionaries({
    "decimal": st.sampled_from([".", ","]), "group": st.sampled_from(["", "mark", " ", "\u202f", "'", "indian"]),
    "sign": st.sampled_from(["-", "−", "behind", "brackets"]), "around": st.sampled_from(
        ["{}", "${}", "€ {}", "{} €", "{} %", "{}%", "CHF {}", "{} kg", "{} USD", "{}元", "{} guests", "{}[1]", "{}*"]),
    "places": st.integers(0, 5),
})


def write(value: int, places: int, decimal: str, group: str, sign: str, around: str) -> str:
    """Write value / 10**places in one format."""
    whole, fraction = divmod(abs(value), 10**places)
    mark = {"mark": "," if decimal == "." else ".", "indian": ","}.get(group, group)
    figures = f"{whole:,}".replace(",", mark)
    if group == "indian" and whole >= 1000:
        head, tail = divmod(whole, 1000)
        text = str(head)
        parts = [text[max(end - 2, 0):end] for end in range(len(text), 0, -2)][::-1]
        figures = f"{','.join(parts)},{tail:03d}"
    figures += f"{decimal}{fraction:0{places}d}" if places else ""
    if value < 0 and sign in "-−":
        figures = sign + figures
    written = around.format(figures)
    return written if value >= 0 or sign in "-−" else f"{written}-" if sign == "behind" else f"({written})"


@given(st.lists(st.integers(-10**9, 10**9), min_size=6, max_size=40), FORMATS, st.lists(st.sampled_from(["", "-",
       "n/a"]), max_size=3))
def test_numbers_equal_what_was_written(values: list[int], form: dict[str, str | int], empty: list[str]) -> None:
    if form["group"] == "indian" and form["decimal"] == ",":
        form["decimal"] = "."
    if form["sign"] == "behind" and "{}" not in (form["around"], "${}", "€ {}", "CHF {}"):
        form["sign"] = "-"
    if form["around"] in ("{}[1]", "{}*") and form["sign"] == "brackets":
        form["sign"] = "-"
    column = type_column([*(write(value, **form) for value in values), *empty])  # type: ignore[arg-type]
    truth = pandas.Series([value / 10**int(form["places"]) for value in values])
    if column.note:  # no cell shows what the marks mean
        return
    assert (column.kind, column.empty, column.untyped) == ("number", len(empty), 0)
    read = pandas.Series([value for value in column.values if value is not None])
    assert read.tolist() == pytest.approx(truth.tolist())
    assert (read.sum(), read.mean()) == (pytest.approx(truth.sum()), pytest.approx(truth.mean()))


@given(st.lists(st.dates(date(1900, 1, 1), date(2100, 1, 1)), min_size=1, max_size=30),
       st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d %B %Y", "%B %d, %Y",
       "%d-%b-%Y", "%Y%m%d"]))
def test_dates_equal_what_was_written(days: list[date], form: str) -> None:
    column = type_column([f"{day:{form}}" for day in days])
    assert column.kind == "date"
    assert column.note or column.values == days


@given(st.lists(st.text(max_size=30), max_size=30), st.text(max_size=20))
def test_every_cell_is_typed_empty_or_counted(cells: list[str], header: str) -> None:
    column = type_column(cells, header)
    assert len(column.values) == len(cells)
    missing = sum(value is None for value in column.values)
    assert missing == column.empty + column.untyped


@given(st.lists(st.sampled_from(["1.250", "1,5", "12", "a, b", "a", "2020-01-02", "03/04/2020", "yes", "", "$5",
       "7 kg"]), max_size=20))
def test_order_of_rows_does_not_change_the_kind(cells: list[str]) -> None:
    read = attrgetter("kind", "unit", "empty", "untyped", "integers", "precision")
    assert read(type_column(cells)) == read(type_column(cells[::-1]))


def test_large_columns_take_little_time() -> None:
    """Distinct cells are read once, and columns of texts are given up early."""
    chance = random.Random(1)
    few = [f"${chance.randrange(1000):,}" for _ in range(100_000)]
    texts = list(islice(cycle(f"word {number} and more of it" for number in range(100_000)), 100_000))
    start = process_time()
    assert [column.kind for column in type_columns([few] * 5 + [texts], [""] * 6)] == ["number"] * 5 + ["text"]
    assert process_time() - start < 15
