"""Dates, numbers and their normal forms, in English and Chinese, and numbers as people read them."""

import datetime

import pytest
from banyan.graph_store.index.lexical import index_terms
from banyan.text.dates import find_dates, parse_date
from banyan.text.quantities import find_numbers, parse_number, parse_value, show_number, show_value
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize("date", ["1867.11.7", "1867-11-07", "7 November 1867", "Nov 7, 1867", "1867年11月7日"])
def test_a_date_has_the_same_terms_however_it_is_written(date):
    assert {"1867-11-07", "1867-11"} <= {*index_terms(f"vote of {date}")}


@pytest.mark.parametrize(("text", "normal"), [
    ("7 November 1867", "1867-11-07"), ("November 7, 1867", "1867-11-07"), ("7th of Nov. 1867", "1867-11-07"),
    ("1867-11-07", "1867-11-07"), ("1867/11/7", "1867-11-07"), ("1867", "1867"), ("in 1867", "1867"),
    ("March 2019", "2019-03"), ("2019-03", "2019-03"), ("2019年3月5日", "2019-03-05"),
    ("２０１９年３月", "2019-03"), ("二〇一九年十二月三十一日", "2019-12-31"), ("2019年度", "2019"),
    ("3月5日", "XXXX-03-05"), ("5 March", "XXXX-03-05"), ("1990s", "199X"), ("the 1990s", "199X"),
    ("1990年代", "199X"), ("19th century", "18XX"), ("二十世纪", "19XX"), ("1914–1918", "1914/1918"),
    ("1914-18", "1914/1918"), ("c. 1900", "1900~"), ("约1900年", "1900~"), ("44 BC", "-0043"),
    ("公元前221年", "-0220"), ("Q3 2019", "2019-35"), ("2019年第三季度", "2019-35"), ("AD 79", "0079"), ("May", ""),
    ("35 March 2019", ""), ("2019-13-01", ""), ("2019-02-31", ""), ("29 Feb 2020", "2020-02-29"),
    ("29 February", "XXXX-02-29"), ("1,867", ""), ("Apollo 11", ""), ("", ""), ("0 BC", ""), ("born 1867", "")])
def test_dates(text, normal):
    assert parse_date(text) == normal


@pytest.mark.parametrize(("text", "found"), [
    ("on Friday 9 May, or on October 1st", ["9 May", "October 1st"]), ("18 September 53AD", []), ("May 12.5", []),
    ("于2022-8-24发布", ["2022-8-24"]), ("2024.3.5 起", ["2024.3.5"]), ("2024/3/5", ["2024/3/5"]),
    ("v2024.3.5", []), ("1.2024.3.5", []), ("2001-2-3-4", ["2001"]), ("工作满10年的职工", []), ("98年3月", ["98年3月"]),
])
def test_dates_in_a_text(text, found):
    assert [text[start:end] for start, end in find_dates(text)] == found


@pytest.mark.parametrize(("text", "numbers"), [
    ("18个月", {"18个月": "18 mo"}), ("六个月", {"六个月": "6 mo"}), ("二年", {"二年": "2 a"}),
    ("百分之八十", {"百分之八十": "80 %"}), ("十五日", {"十五日": "15 d"}), ("3周", {"3周": "3 wk"}),
    ("48小时", {"48小时": "48 h"}), ("五名", {"五名": "5 名"}), ("6 months", {"6 months": "6 mo"}), ("第二年", {}),
    ("三年级", {}), ("Saldo: 8.447,24 €, Beitrag 9,50 €", {"8.447,24 €": "8447.24 EUR", "9,50 €": "9.5 EUR"}),
    ("电话：028-87838114 或 400-820-8820", {})])
def test_numbers_with_what_they_measure(text, numbers):
    assert {text[start:end]: parse_number(text[start:end]) for start, end in find_numbers(text, counts=True)} == numbers


@given(st.dates(datetime.date(1000, 1, 1), datetime.date(2999, 12, 31)))
def test_every_spelling_of_a_day_is_one_value(day):
    for spelled in (f"{day:%d %B %Y}", f"{day:%B} {day.day}, {day.year}", f"{day.year}年{day.month}月{day.day}日",
                    f"on {day.day} {day:%b} {day.year}", f"{day:%Y/%m/%d}"):
        assert parse_date(spelled) == day.isoformat()


@pytest.mark.parametrize(("text", "normal"), [
    ("1,200 km", "1200 km"), ("1200 kilometres", "1200 km"), ("US$5.2 billion", "5200000000 USD"), ("$5", "5 USD"),
    ("2 million dollars", "2000000 USD"), ("1.2亿元", "120000000 CNY"), ("三千万元", "30000000 CNY"),
    ("一亿二千万元", "120000000 CNY"), ("三万亿元", "3000000000000 CNY"), ("一万万元", "100000000 CNY"),
    ("两万五", "25000"), ("三百五元", "350 CNY"), ("一百零五元", "105 CNY"), ("二十五元", "25 CNY"),
    ("12.5%", "12.5 %"), ("12.50 percent", "12.5 %"), ("１２％", "12 %"),
    ("about 5,000 employees", "5000 employees"), ("约500多家", "500 家"), ("1.2万亿元", "1200000000000 CNY"),
    ("人民币3000万元", "30000000 CNY"), ("3.2 m (10 ft)", "3.2 m"), ("-3.5 %", "-3.5 %"), ("twenty-five", "25"),
    ("two hundred and five people", "205 people"), ("three million", "3000000"), ("5–10 km", "5..10 km"),
    ("5 ft 11 in", ""), ("三百二十一", "321"), ("二十千米", "20 km"), ("40 square kilometres", "40 km2"),
    ("0.10", "0.1"), ("100", "100"), ("Apollo 11", ""), ("3 brothers and 2 sisters", ""), ("film", ""), ("", ""),
    ("7 of those who came to see it", ""), ("one-way", "1 way"), ("oneness", "")])
def test_numbers(text, normal):
    assert parse_number(text) == normal


@given(st.text(max_size=12) | st.text("0123456789,.-–$%年月日元万亿 kmQBC十百二", max_size=12))
def test_anything_can_be_asked(text):
    for kind in ("date", "number"):
        normal = parse_value(text, kind)
        assert normal == parse_value(f" {text} ", kind)
    assert parse_value(text, "text") == ""


@pytest.mark.parametrize(("value", "unit", "shown"), [
    (3750.0, "g", "3750 g"), (2021, "", "2021"), (3507950, "", "3,507,950"), (1610590.5, "EUR", "1,610,590.5 EUR"),
    (12.5, "%", "12.5%"), (-7600, "$", "-$7600"), (17630.1, "€", "€17,630.1"), (0.1 + 0.2, "", "0.3"),
    (2.59 / 3, "", "0.8633"), (4207.0570175, "g", "4207.057 g"), (0.000012345678, "", "0.00001235"), (0.0, "", "0"),
    (1e22, "", "10,000,000,000,000,000,000,000"), (10**20 + 1, "", "100,000,000,000,000,000,001"),
    (-0.00004, "", "-0.00004"), (float("inf"), "", "inf")])
def test_a_number_is_shown_as_people_write_it(value, unit, shown):
    assert show_number(value, unit) == shown


@pytest.mark.parametrize(("value", "shown"), [
    (None, ""), (True, "yes"), (["Ann Lee", "Bo"], "Ann Lee; Bo"), ("2024-05", "2024-05"), (1.50, "1.5")])
def test_a_value_of_any_kind_is_shown(value, shown):
    assert show_value(value) == shown
