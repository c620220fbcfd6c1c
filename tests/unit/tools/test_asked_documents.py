"""Questions without a model about documents with header fields: whose, when, how many, and what is left out."""

import pytest
from banyan.tools.asked_query import ask_tables

from .test_asked_query import made

FIELDS = ("title", "authors", "owning-team", "participating-teams", "reviewers", "approvers", "creation-date",
          "last-updated", "status", "topics")
SINGLE = {"title", "owning-team", "creation-date", "last-updated", "status"}
RECORDS = [
    ("cache", "Shared cache", "@ann; @bob", "team-store", "team-web; team-ops", "@cyd", "@cyd", "2018-11-05",
     "2019-02-01", "accepted", "Typing"),
    ("queue", "One queue", "@bob", "team-store", "", "@cyd; @dee", "@ann", "2019-01-10", "2020-03-04", "proposed",
     "Typing; Speed"),
    ("login", "Single login", "@ann", "team-web", "team-store", "@ann; @bob", "@bob", "2019-03-20", "2019-03-20",
     "accepted", "Access"),
    ("lease", "Lock leases", "@dee; @ann; @bob", "team-ops", "team-store", "@cyd", "@dee", "2019-11-02", "2020-01-01",
     "rejected", "Speed"),
    ("trace", "Traces", "@cyd", "team-web", "", "@dee", "@dee; @cyd", "2020-06-30", "2020-07-01", "accepted", "")]
ANSWERED = [
    ("How many ADRs are accepted?", "3"),
    ("How many ADRs are still proposed?", "1"),
    ('How many ADRs have the status "accepted"?', "3"),
    ('How many accepted ADRs have the title "Traces"?', "1"),
    ("How many decision records does Team Store own?", "2"),
    ("How many ADRs owned by Team Web are accepted?", "2"),
    ("How many accepted ADRs of Team Web were created in 2019?", "1"),
    ("How many of the Web Team's ADRs are not accepted?", "0"),
    ("In how many ADRs does Team Store participate?", "2"),
    ("How many ADRs has ann written, alone or with others?", "3"),
    ("How many ADRs come from exactly two authors?", "1"),
    ("How many ADRs were created from January to the end of March 2019?", "2"),
    ("How many ADRs were created in November, whatever the year?", "2"),
    ("How many ADRs were last updated in 2020?", "3"),
    ("How many ADRs name no participating teams?", "2"),
    ("Which ADRs of Team Web are accepted? Titles please.", "Single login"),
    ("Who is named as a reviewer most often?", "@cyd: 3"),
    ("How many ADRs were created in each year?", "2019: 3"),
    ("What is the title of the ADR that was created first?", "Shared cache"),
    ("On which day was the newest of the ADRs created?", "2020-06-30"),
    ("An welchem Tag wurde das neueste der ADRs erstellt?", "2020-06-30"),
    ("How many typing ADRs are there?", "2"),
    ("Are there more ADRs on typing or on access? Both figures, please.", "Typing: 2; Access: 1"),
    ("How many authors does an ADR of Team Store have on average?", "1.5"),
    ("Which team owns the most ADRs?", "team-store: 2; team-web: 2"),
    ("Which teams own exactly two ADRs?", "team-store: 2; team-web: 2"),
    ("How many authors have written more than one ADR?", "2"),
    ("In which year were the most ADRs created?", "2019: 3"),
    ("What is the oldest accepted ADR?", "Shared cache"),
    ("What is the average number of authors per ADR?", "1.6"),
    ("How many ADRs have a participating team?", "3"),
    ("How do the ADRs spread over the statuses? Give the number for each.", "accepted: 3; proposed: 1; rejected: 1"),
    ("Wie viele ADRs von Team Web sind im Jahr 2019 entstanden?", "1")]
DECLINED = [
    "How many ADRs have cyd both as a reviewer and as an approver?", "How many ADRs did dee review alone?",
    "How many teams are accepted?", "How many ADRs mention Kafka?", "How many ADRs of ann are accepted by cyd?",
    "What is the latest accepted ADR?", "How many ADRs did Team Store reject?",
    "How many ADRs are from 2019?", "When was the newest ADR?", "Whose ADRs are rejected?", "Whose ADR is the newest?",
    "How many ADRs were accepted in 2019?", "When was the last ADR rejected?", "Which ADR was rejected first?",
    "Which ADRs have “proposed” in the title?",
    "Which accepted ADRs name lease as a topic?",
    "In which month did the access create the most, and how many ADRs were that?",
    "How many ADRs does the average author have?", "How many stores does Team Store own?",
    "How many ADRs does Team Store?", "How many people wrote to ann?"]


def decision_files():
    """Return the files of decisions by name: their fields as front matter, and a line of text."""
    files = {}
    for name, *values in RECORDS:
        lines = [f"{field}: {value}" if field in SINGLE else
                 f"{field}:" + "".join(f'\n  - "{member}"' for member in value.split("; ") if member)
                 for field, value in zip(FIELDS, values, strict=True)]
        files[f"{name}.md"] = "\n".join(["---", *lines, "---", "", "# Context", "", "This ADR is about how we work."])
    return files


@pytest.fixture(scope="module")
def decisions(tmp_path_factory, hashed_embedder):
    return made(tmp_path_factory.mktemp("decisions"), decision_files(), hashed_embedder)


@pytest.mark.parametrize(("question", "answer"), ANSWERED)
def test_a_field_is_asked_for_in_other_words(decisions, question, answer):
    asked = ask_tables(decisions, question)
    assert asked is not None
    assert answer in asked.short


def test_the_oldest_is_said_to_have_the_earliest_date(decisions):
    asked = ask_tables(decisions, "On which day was the oldest of the ADRs created?")
    assert asked is not None
    assert (asked.short, asked.understood) == ("2018-11-05", "earliest creation-date")


@pytest.mark.parametrize("question", DECLINED)
def test_a_question_that_names_no_field_is_no_query(decisions, question):
    assert ask_tables(decisions, question) is None


def test_a_value_that_all_documents_have_says_what_they_are(tmp_path, hashed_embedder):
    head = "---\nlayout: book\ntitle: {}\ntype: {}\npublisher: {}\n---\nText.\n"
    books = {f"{name}.md": head.format(name.title(), kind, publisher)
             for name, kind, publisher in (("ash", "nonfiction", "Ace Books"), ("birch", "fiction", "Ace Books"),
                                           ("cedar", "nonfiction", "Knopf"), ("dorn", "nonfiction", "Viking Books"),
                                           ("elm", "fiction", "Tor"))}
    index = made(tmp_path, books, hashed_embedder)
    answers = [ask_tables(index, question) for question in (
        "What percentage of all the books is nonfiction?", "How many books are fiction?")]
    assert [answer.short if answer else "" for answer in answers] == ["60%", "2"]
