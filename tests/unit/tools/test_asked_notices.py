"""Questions without a model about notices in one folder: two dates of each, categories, and prose in a field."""

import pytest
from banyan.tools.asked_query import ask_tables

from .test_asked_query import made

ROWS = [  # title, organizer, price, status, date_posted, date, how_to_apply
    ("Harbour walk", "Port Club", "free", "open", "2019-03-02", "2019-03-02T09:00:00.000Z", "Call Ada at the pier"),
    ("Tower climb", "Port Club", "charged", "full", "2019-05-01", "2019-05-01T10:30:00.000Z", "Call Ada at the pier"),
    ("Night sky", "Star Circle", "free", "open", "2020-01-15", "2020-01-15T21:00:00.000Z", "https://tours.example/0"),
    ("Old town", "Port Club", "unknown", "full", "2020-02-20", "2020-02-20T08:00:00.000Z", "https://tours.example/1"),
    ("River bank", "Star Circle", "charged", "open", "2020-02-25", "", "https://tours.example/2"),
    ("Salt mine", "Mine Guild", "free", "full", "2018-06-07", "", "https://tours.example/3"),
    ("Glass works", "Mine Guild", "unknown", "open", "2021-08-09", "2021-08-09T12:00:00.000Z", "https://tours.example/4"),
    ("Moor path", "Port Club", "free", "open", "2021-09-10", "2021-09-10T12:00:00.000Z", "https://tours.example/5"),
    ("Cave tour", "Star Circle", "charged", "full", "2022-04-03", "2022-04-03T07:00:00.000Z", "https://tours.example/6"),
    ("Mill day", "Port Club", "free", "open", "2022-05-06", "2022-05-06T07:00:00.000Z", "https://tours.example/7"),
    ("Bird watch", "Mine Guild", "free", "open", "2022-07-08", "2022-07-08T05:00:00.000Z", "https://tours.example/8")]
ANSWERED = [
    ("How many tours were posted in 2022?", "3"),
    ("How many tours are full by now?", "4"),
    ("How many tours are already full?", "4"),
    ("How many tours are still open for anyone?", "7"),
    ("How many free tours were posted in 2022?", "2"),
    ("How many tours from 2020 are open?", "2"),
    ("How many tours from 2019?", "2"),
    ("What is the oldest tour?", "Salt mine"),
    ("What is the newest tour that is full?", "Cave tour"),
    ("Which month saw the most tours?", "2020-02: 2"),
    ("For how many tours was the price left unknown?", "2"),
    ("How many tours have an unknown price?", "2"),
    ("Which organizer has placed the most free tours?", "Port Club: 3"),
    ("How many documents have the layout tours?", "10")]
DECLINED = [
    "How many people applied for the Cave tour?", "How many people applied?", "Who applied for the Cave tour?",
    "How many different prices does the Cave tour have?", "How many people organized the Cave tour?"]


def notices(rows):
    """Return the files of some notices, all of which but the last have the same layout."""
    names = ("title", "organizer", "price", "status", "date_posted", "date", "how_to_apply")
    return {f"tours/n{number}.md": "\n".join([
        "---", f"layout: {'tours' if number < len(rows) else 'page'}",
        *(f"{name}: {value}" for name, value in zip(names, row, strict=True) if value), "---", "", "We like guests."])
        for number, row in enumerate(rows, 1)}


@pytest.fixture(scope="module")
def tours(tmp_path_factory, hashed_embedder):
    return made(tmp_path_factory.mktemp("tours"), notices(ROWS), hashed_embedder)


@pytest.mark.parametrize(("question", "answer"), ANSWERED)
def test_notices_are_called_as_their_folder_and_dated_by_the_field_that_all_have(tours, question, answer):
    asked = ask_tables(tours, question)
    assert asked is not None
    assert answer in asked.short


@pytest.mark.parametrize("question", DECLINED)
def test_a_verb_counts_no_values_of_a_field_of_prose(tours, question):
    assert ask_tables(tours, question) is None


def test_two_dates_that_disagree_leave_open_which_is_meant(tmp_path, hashed_embedder):
    moved = [(*row[:5], row[5].replace("2019", "2017"), row[6]) for row in ROWS]
    index = made(tmp_path, notices(moved), hashed_embedder)
    assert ask_tables(index, "How many tours from 2019?") is None
    posted = ask_tables(index, "How many tours were posted in 2019?")
    assert posted is not None
    assert posted.short == "2"
