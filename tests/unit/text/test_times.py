"""When facts hold: the words of a text, and the dates of a fact."""

import pytest
from banyan.text.times import Validity, later_values, read_day, read_time
from hypothesis import given
from hypothesis import strategies as st

READ = {
    "2019": ("at", "2019", "2019"),
    "in March 2019": ("at", "2019-03", "2019-03"),
    "As of 31 Dec 2023": ("at", "2023-12-31", "2023-12-31"),
    "Q3 2024": ("at", "2024-07", "2024-09"),
    "in the 1990s": ("at", "1990", "1999"),
    "截至2020年": ("at", "2020", "2020"),
    "2024年第三季度": ("at", "2024-07", "2024-09"),
    "since 2019": ("from", "2019", ""),
    "since Q3 2024": ("from", "2024-07", ""),
    "2019–present": ("from", "2019", ""),
    "自2019年3月起": ("from", "2019-03", ""),
    "until 2021": ("until", "", "2021"),
    "to the end of 2021": ("until", "", "2021"),
    "contract ended in 2022": ("until", "", "2022"),
    "直到2021年3月": ("until", "", "2021-03"),
    "2015–19": ("during", "2015", "2019"),
    "from March 2019 to June 2021": ("during", "2019-03", "2021-06"),
    "between 2015 and 2019": ("during", "2015", "2019"),
    "Valid from: 2019 | Valid until: 2021-05": ("during", "2019", "2021-05"),
    "2019年至2021年": ("during", "2019", "2021"),
    "planned": ("planned", "", ""),
    "will open in 2027": ("planned", "2027", "2027"),
    "planned to open in 2027": ("planned", "2027", "2027"),
    "计划于2027年": ("planned", "2027", "2027"),
    "former": ("former", "", ""),
    "former, until 2021": ("former", "", "2021"),
    "前": ("former", "", ""),
}


@pytest.mark.parametrize("words", READ)
def test_words_are_read(words):
    time = read_time(words)
    assert time is not None
    assert time[1:4] == READ[words]


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
    """The years in which a fact with some times holds."""
    return [year for year in years if Validity.of(words, later).holds(*read_day(str(year)))]


def test_each_kind_of_time_holds_when_it_says():
    assert holds_in([]) == list(range(2014, 2024))
    assert holds_in(["since 2019"]) == list(range(2019, 2024))
    assert holds_in(["in 2019"]) == list(range(2019, 2024))
    assert holds_in(["until 2019"]) == list(range(2014, 2020))
    assert holds_in(["2016–2018"]) == [2016, 2017, 2018]
    assert holds_in(["planned for 2019"]) == holds_in(["former"]) == []
    assert holds_in(["former, 2016 to 2018"]) == [2016, 2017, 2018]


def test_times_of_several_sources_are_taken_together():
    assert holds_in(["since 2016", "until 2018"]) == [2016, 2017, 2018]
    assert holds_in(["2014–2015", "2018–2019"]) == [2014, 2015, 2018, 2019]
    assert holds_in(["planned for 2019", "since 2020"]) == [2020, 2021, 2022, 2023]
    assert holds_in(["2016", "2015 to 2018"]) == [2015, 2016, 2017, 2018]


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
