"""Times as texts write them, and relative dates: what they mean by the date on which they were said."""

import pytest
from banyan.text.dates import parse_date
from banyan.text.relative_dates import document_date, relative_dates, with_meant_dates
from banyan.text.times import Validity, later_values, read_day, read_time
from hypothesis import given
from hypothesis import strategies as st

TUESDAY = "2024-03-05"


def meant(text: str, said_on: str = TUESDAY) -> list[str]:
    return [one.meant for one in relative_dates(text, said_on)]


@pytest.mark.parametrize(("text", "dates"), [
    ("We met yesterday and go on tomorrow.", ["2024-03-04", "2024-03-06"]),
    ("The day before yesterday was bad, the day after tomorrow is free.", ["2024-03-03", "2024-03-07"]),
    ("Last week, this week and next week", ["2024-02-26/2024-03-03", "2024-03-04/2024-03-10", "2024-03-11/2024-03-17"]),
    ("last month, next year, last quarter", ["2024-02", "2025", "2023-10/2023-12"]),
    ("three days ago, half a year ago, a year and a half ago", ["2024-03-02", "2023-09", "2022-09"]),
    ("two weeks ago; a week ago today; three weeks from now",
     ["2024-02-19/2024-02-25", "2024-02-27", "2024-03-25/2024-03-31"]),
    ("The lease ends in two months.", ["2024-05"]),
    ("in a week's time, in two weeks’ time", ["2024-03-11/2024-03-17", "2024-03-18/2024-03-24"]),
    ("at the end of last month, at the start of next month", ["2024-02-29", "2024-04-01"]),
    ("the week before last; the year after next", ["2024-02-19/2024-02-25", "2026"]),
    ("last summer, last Christmas, spring last year; 去年夏天",
     ["2023-06/2023-08", "2023-12-25", "2023-03/2023-05", "2023-06/2023-08"]),
    ("We met at the weekend; it fell in the last quarter.", ["2024-03-02/2024-03-03", "2023-10/2023-12"]),
    ("a fortnight ago; by the end of the year", ["2024-02-20", "2024-12-31"]),
    ("in March last year; Q3 last year; the first half of this year",
     ["2023-03", "2023-07/2023-09", "2024-01/2024-06"]),
    ("I left last Friday; next Monday I am back.", ["2024-03-01", "2024-03-11"]),
    ("We met on Friday. We will meet again on Friday.", ["2024-03-01", "2024-03-08"]),
    ("He came on the 1st. The review will be on 12 March.", ["2024-03-01", "2024-03-12"]),
    ("昨天签了，前天开会，大后天出发", ["2024-03-04", "2024-03-03", "2024-03-08"]),
    ("上周，上周五，本周三，下周末", ["2024-02-26/2024-03-03", "2024-03-01", "2024-03-06", "2024-03-16/2024-03-17"]),
    ("上个月，下个月5号，本月底，上月中旬", ["2024-02", "2024-04-05", "2024-03-31", "2024-02-11/2024-02-20"]),
    ("去年，明年三月，去年下半年，上季度", ["2023", "2025-03", "2023-07/2023-12", "2023-10/2023-12"]),
    ("他三天前提交了；半年前入职；我们将在三个月后搬家", ["2024-03-02", "2023-09", "2024-06"]),
    ("我们周五将去；我们周五去了", ["2024-03-08", "2024-03-01"]),
    ("A meeting takes place in one week's time on Tuesday 17 January 2012.", []),
    ("It was adjourned until next week (7pm on 15th January at the hall).", []),
    ("We met on Tues 12 November. We met on Tues 14 November.", ["2023-11-14"]),
])
def test_what_is_meant(text: str, dates: list[str]) -> None:
    assert meant(text) == dates


@pytest.mark.parametrize("text", [
    "a few days ago, about two years ago, two or three weeks ago", "next Friday", "last Monday", "Friday is fine.",
    "The call was moved to Friday. We agreed to meet on Thursday.", "Every Friday we met; a week from Friday",
    "We built it in two months. It can be done in three weeks.", "two days later; two days before the launch",
    "the last week of March; over the next year", "This may change.", "Reviewed on the 3rd Thursday of October.",
    "USA Today; today's world; “Yesterday”", "next spring, soon",
    "几天前，约三年前，三个多月前，以前天气好，后天性",
    "系统上线两周后回访。三天后，他离开了。", "周五开会。周一至周五上班。"])
def test_what_has_several_readings_is_left_alone(text: str) -> None:
    assert meant(text) == []


@pytest.mark.parametrize(("said_on", "dates"), [("", []), ("2024-03", ["2024-02", "2023"]), ("2024", ["2023"])])
def test_without_a_date_nothing_is_guessed(said_on: str, dates: list[str]) -> None:
    assert meant("yesterday, last month, last year", said_on) == dates


@pytest.mark.parametrize(("text", "dates"), [
    ("# Chat\n\n[2024-03-05 10:12] Ann: it broke yesterday\n[2024-03-09 09:00] Bo: fixed yesterday\n",
     ["2024-03-04", "2024-03-08"]),
    ("张三 2024-03-10 10:12:33\n昨天到的\n\n李四 2024-03-12 09:00:00\n昨天走的\n", ["2024-03-09", "2024-03-11"]),
    ("--- Tuesday, 12 March 2024 ---\nCy: see you tomorrow\n", ["2024-03-13"]),
    ("## 12 March 2024\n\nsee you tomorrow\n\n# Earlier mail: Ann wrote\n\nI come tomorrow.", ["2024-03-13"]),
    ("| row: chat row 1 | timestamp: 2024-05-05 | text: today |\n", ["2024-05-05"]),
    ("- 2024-02-01: kick-off, planned yesterday\n", ["2024-01-31"])])
def test_the_nearest_date_above_counts(text: str, dates: list[str]) -> None:
    assert meant(text, "") == dates


@pytest.mark.parametrize("text", [
    "We met.\n\n* Tuesday 2019-11-12\n\n## Next meeting: 19 November 2019\n\n19 November 2019 19:00\n\nCall {} again.",
    "We met.\n\nNext meeting\nDate: 19 November 2019\n\nCall {} again."])
def test_the_date_of_another_meeting_is_not_that_of_the_text(text: str) -> None:
    assert meant(text.format("tomorrow"), TUESDAY) == ["2024-03-06"]
    assert meant(text.format("tomorrow"), "") == []


@pytest.mark.parametrize(("document", "title", "metadata", "date"), [
    ("a.md", "Minutes of 5 March 2024", {}, TUESDAY), ("2024-03-05-call.md", "Call", {}, TUESDAY),
    ("a.eml", "Hello", {"date": "2024-03-05"}, TUESDAY), ("a", "", {"created_at": "2024-03-05T10:12:00Z"}, TUESDAY),
    ("a", "2024年3月5日会议纪要", {}, TUESDAY), ("a", "", {"Date": "2024-03"}, "2024-03"),
    ("a", "Report 2023", {}, ""), ("a", "Plan until 5 March 2024", {}, ""),
    ("a", "5 March 2024 and 6 March 2024", {}, ""),
    ("2024-03-05-call.md", "", {"date": "2024-03-08"}, ""), ("2024-03.md", "", {"date": "2024-03-05"}, TUESDAY),
    ("a.docx", "", {"created": "2024-03-05"}, ""), ("novel.epub", "", {"date": "2024-03-05"}, "")])
def test_the_date_of_a_document(document: str, title: str, metadata: dict[str, str], date: str) -> None:
    assert document_date(document, title, metadata) == date


def test_a_meant_date_is_read_as_a_date_and_a_time() -> None:
    text = "Ann leads it since last week."
    assert with_meant_dates(text, relative_dates(text, TUESDAY)) == (
        "Ann leads it since last week [2024-02-26/2024-03-03].")
    assert parse_date("yesterday [2024-03-04]") == "2024-03-04"
    assert parse_date("two years ago [2022]") == parse_date("in 前年 [2022]") == "2022"
    assert read_time("at the end of last month [2024-02-29]")[1:4] == ("at", "2024-02-29", "2024-02-29")
    assert read_time("since last week [2024-02-26/2024-03-03]")[1:4] == ("from", "2024-02-26", "")
    for bracketed in ("Smith et al. [2020]", "ISO 8601 [2004]", "[2024-03-05] Ann: hello", "[2024-03-05]"):
        assert parse_date(bracketed) == "", "no relative date is before it"


@pytest.mark.parametrize("text", [
    "last year", "two years ago", "The year after next", "in two years", "a year from now", "in a year's time", "去年",
    "三年前", "明年度", "两年以前"])
def test_a_meant_year_is_read_again(text: str) -> None:
    (one,) = relative_dates(text, TUESDAY) or [None]
    assert one is not None
    assert parse_date(with_meant_dates(text, [one])) == one.meant


READ = {
    "2019": ("at", "2019", "2019"), "in March 2019": ("at", "2019-03", "2019-03"),
    "As of 31 Dec 2023": ("at", "2023-12-31", "2023-12-31"), "Q3 2024": ("at", "2024-07", "2024-09"),
    "in the 1990s": ("at", "1990", "1999"), "截至2020年": ("at", "2020", "2020"),
    "2024年第三季度": ("at", "2024-07", "2024-09"), "since 2019": ("from", "2019", ""),
    "since Q3 2024": ("from", "2024-07", ""), "2019–present": ("from", "2019", ""),
    "自2019年3月起": ("from", "2019-03", ""), "until 2021": ("until", "", "2021"),
    "to the end of 2021": ("until", "", "2021"), "contract ended in 2022": ("until", "", "2022"),
    "直到2021年3月": ("until", "", "2021-03"), "2015–19": ("during", "2015", "2019"),
    "from March 2019 to June 2021": ("during", "2019-03", "2021-06"),
    "between 2015 and 2019": ("during", "2015", "2019"),
    "Valid from: 2019 | Valid until: 2021-05": ("during", "2019", "2021-05"),
    "2019年至2021年": ("during", "2019", "2021"), "planned": ("planned", "", ""),
    "will open in 2027": ("planned", "2027", "2027"), "planned to open in 2027": ("planned", "2027", "2027"),
    "计划于2027年": ("planned", "2027", "2027"), "former": ("former", "", ""),
    "former, until 2021": ("former", "", "2021"), "前": ("former", "", "")}


@pytest.mark.parametrize("words", READ)
def test_words_are_read(words):
    assert read_time(words)[1:4] == READ[words]


@pytest.mark.parametrize("words", ["", "since May", "recently", "every year", "the previous quarter", "2019 and 2021",
                                   "until 2019-02-31", "2019, 2020 and 2021", "until 2021 " * 20])
def test_words_that_say_no_time_are_none(words):
    assert read_time(words) is None


@pytest.mark.parametrize(("words", "read"), [
    ("since 2019; votes: 27", ("from", "2019", "", "votes: 27")),
    ("votes: 27; since 2019; seat: 3 of 5", ("from", "2019", "", "votes: 27; seat: 3 of 5")),
    ("planned; cost: 5 million USD", ("planned", "", "", "cost: 5 million USD")),
    ("role: chair", ("with", "", "", "role: chair")),
    ("layer: consensus layer (CL)", ("with", "", "", "layer: consensus layer (CL)"))])
def test_qualifiers_stand_beside_a_time(words, read):
    assert read_time(words)[1:] == read


_SAID = st.lists(st.sampled_from(["since 2016", "in 2019", "until 2018", "2015–2017", "planned for 2020", "former",
                                  "former, until 2015"]), max_size=3)


@given(words=_SAID, beside=st.lists(st.sampled_from(["", "votes: 27", "seat: 3; role: chair"]), min_size=4, max_size=4),
       later=st.sets(st.sampled_from(["2017", "2020"])))
def test_qualifiers_never_change_when_a_fact_holds(words, beside, later):
    qualified = [*map("; ".join, zip(words, beside, strict=False)), *beside[len(words):]]
    plain, full = Validity.of(words, later), Validity.of(qualified, later)
    assert holds_in(qualified, later) == holds_in(words, later)
    assert (full.bounds(), full.successor_date) == (plain.bounds(), plain.successor_date)
    other = Validity.of(["2018"])
    assert later_values({"a": full, "b": other}) == later_values({"a": plain, "b": other})


def holds_in(words, later=(), years=range(2014, 2024)):
    return [year for year in years if Validity.of(words, later).holds(*read_day(str(year)))]


@pytest.mark.parametrize(("words", "years"), [
    ([], range(2014, 2024)), (["since 2019"], range(2019, 2024)), (["in 2019"], range(2019, 2024)),
    (["until 2019"], range(2014, 2020)), (["2016–2018"], range(2016, 2019)), (["planned for 2019"], []),
    (["former"], []), (["former, 2016 to 2018"], range(2016, 2019)),
    # Times of several sources are taken together.
    (["since 2016", "until 2018"], range(2016, 2019)), (["2014–2015", "2018–2019"], [2014, 2015, 2018, 2019]),
    (["planned for 2019", "since 2020"], range(2020, 2024)), (["2016", "2015 to 2018"], range(2015, 2019))])
def test_each_kind_of_time_holds_when_it_says(words, years):
    assert holds_in(words) == list(years)


@pytest.mark.parametrize("text", ["soon", "", "5 March", "Q9 2020", "2019-02-31", "31 April 2019", "29 February 2019"])
def test_a_date_that_cannot_be_read_is_refused(text):
    with pytest.raises(ValueError, match="is not a date: write a year"):
        read_day(text)


def test_a_later_value_ends_those_before():
    values = {name: Validity.of([words]) for name, words in {
        "Ben": "since 2015", "Ana": "since March 2019", "Eva": "planned for 2026", "Tom": "former", "Joe": "until 2015",
        "Zoe": "in 2021"}.items()}
    found = later_values(values)
    assert found == {"Ben": {"2019-03"}, "Ana": {"2021"}}
    assert later_values(dict(reversed(values.items()))) == found
    ben = Validity.of(["since 2015"], found["Ben"])
    assert ben.note() == "since 2015; superseded 2019-03"
    assert ben.bounds() == ("2015", "2019-03")
    assert [ben.holds(*read_day(day)) for day in ("2014", "2015", "2019-02-28", "2019-03-01", "2020")] == [
        False, True, True, False, False]


def test_a_note_says_how_many_times_it_leaves_out():
    days = [f"2031-01-{day:02}" for day in range(1, 8)]
    assert Validity.of(days).note() == "… (+3); 2031-01-04; 2031-01-05; 2031-01-06; 2031-01-07"
    assert Validity.of(days[:4]).note() == "; ".join(days[:4])
