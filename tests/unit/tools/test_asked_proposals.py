"""Questions without a model about documents whose heads people wrote by hand, each a little different."""

import pytest
from banyan.tools.asked_query import ask_tables

from .test_asked_query import made

HEADS = {
    "0001-fees": ("Fees for blocks", "Author: Ann McRae", "Review Manager: Bo Ek", "Status: Implemented (Version 5.5)"),
    "0002-nodes": ("Node names", "Authors: Ann McRae, Cy Holm", "Review Manager: Bo Ek", "Status: Rejected"),
    "0003-renodes": ("Renaming of nodes", "Author: Bo Ek", "Review Manager: Cy Holm",
                     "Status: Implemented (Version 5.5)", "Amendment: Implemented (Version 6)"),
    "0004-clock": ("A clock", "Author: Cy Holm", "Review Manager: Ann McRae", "Status: Rejected", "Flag: clock"),
    "0005-seal": ("A seal for blocks", "Authors: Bo Ek, Ann McRae", "Review Manager: Cy Holm", "Status: Implemented"),
    "0006-lock": ("A lock", "Author: Cy Holm", "Review Manager: Eli Goa", "Status: Implemented (Version 6)")} | {
    f"01{number:02}-later": (f"Part {number}", "Author: Dee Fox", "Review Manager: Eli Goa", "Status: Deferred")
    for number in range(20)}
TABLE = "\n\n| Author | Status |\n|---|---|\n| Dee | Final |\n| Dee | Final |\n"
ANSWERED = [
    ("How many proposals are there?", "26"), ("Who has written the most proposals?", "Dee Fox: 20"),
    ("How many proposals did Bo Ek manage the review of?", "2"), ("Who managed the review of XP-0004?", "Ann McRae"),
    ("How many proposals by Ann McRae were reviewed by Bo Ek?", "2"),
    ("Which proposal has the most authors?", "XP-0002: Node names, 2; XP-0005: A seal for blocks, 2"),
    ("How many proposals were implemented in Version 5.5?", "2"), ("How many proposals were implemented?", "4"),
    ("How many of the proposals by Cy Holm were not implemented?", "2"),
    ('How many proposals have the word "blocks" in their title?', "2"),
    ("How many proposals mention blocks in their title?", "2"),
    ("Which proposals have the word seal in their name?", "XP-0005"),
    ("How many authors have written only two proposals?", "1"),
    ("How many different people have been review managers?", "4"),
    ("Which author had the most different review managers?", "Cy Holm: 3"),
    ("Which proposals by Bo Ek were implemented?", "XP-0003: Renaming of nodes; XP-0005: A seal for blocks"),
    ("Who wrote the proposal on node names?", "Ann McRae; Cy Holm"), ("How many proposals have a flag?", "1"),
    ("How many more proposals did Bo Ek review than Ann McRae?", "difference: 1; Bo Ek: 2; Ann McRae: 1")]
SPELLINGS = [
    ("What is the title of note 31?", "On tides"), ("Who wrote the most notes?", "lea: 3"),
    ("Which authors wrote only one note?", "Kim: 1"), ("How many notes have shipped?", "2"),
    ("How many notes are in the category sea?", "3"), ("How many authors are there?", None),
    ('How many authors wrote notes with the word "on" in their title?', None)]
REFERENCES = [
    ("How many MEPs require MEP-1?", "2"), ("How many MEPs name MEP-1 in their requires field?", "2"),
    ("How many MEPs do not require MEP-1?", "2"),
    ("How many MEPs are not required by MEP-3?", "2"), ("How many MEPs are not required by MEP-1?", "4"),
    ("Which MEPs require MEPs by Ann Bell?", None), ("Which MEP requires the fewest?", None),
    ("Which MEPs require MEP 2?", "3: Rent"),
    ("Which MEP is required by the most other MEPs?", "1: 2"),
    ("Which MEPs are required by MEP-3?", "1: Fees; 2: Names"),
    ("Who wrote the MEPs required by MEP-2?", "Ann Bell; Bo Ek"),
    ("Which MEP depends on the most others?", "3: Rent, 2"),
    ("What does MEP-2 require?", "1"), ("How many MEPs did Ann Bell write with Bo Ek?", "1"),
    ("How many MEPs did Ann Bell and Bo Ek write?", None), ("Does MEP-3 require MEP-1?", None),
    ("What is the status of the MEPs that MEP-2 requires?", None), ("How many MEPs does MEP-3 require?", None),
    ("Who wrote both MEP-1 and MEP-3?", None)]
DECLINED = [
    'How many proposals have "node" in their title?', "How many proposals mention blocks?",
    "How many stars does XP-0001 have?",
    'How many proposals have "Bo" in their colour?', "In which year was XP-0001 accepted?",
    "How many proposals are for a seal?", "How many renaming proposals were implemented?",
    "What share of the proposals are on fees?", "Which proposals are on fees?", "How many proposals are on clocks?"]


@pytest.fixture(scope="module")
def proposals(tmp_path_factory, hashed_embedder):
    files = {}
    for name, (title, *fields) in HEADS.items():
        number = f"Proposal: [XP-{name[:4]}]({name}.md)"
        lines = [f"* {field}" for field in (number, *fields)]
        files[f"{name}.md"] = f"# {title}\n\n" + "\n".join(lines) + "\n\n## Why\n\nIt helps.\n"
    files["0006-lock.md"] += TABLE
    return made(tmp_path_factory.mktemp("proposals"), files, hashed_embedder)


@pytest.mark.parametrize(("question", "answer"), ANSWERED)
def test_a_field_is_asked_for_in_the_words_of_its_readers(proposals, question, answer):
    asked = ask_tables(proposals, question)
    assert asked is not None
    assert answer in asked.short


@pytest.mark.parametrize("question", DECLINED)
def test_what_may_be_meant_in_two_ways_or_in_none_is_no_query(proposals, question):
    assert ask_tables(proposals, question) is None


@pytest.fixture(scope="module")
def notes(tmp_path_factory, hashed_embedder):
    rows = [("On tides", "31", "Lea", "category: sea", "shipped"), ("On sand", "7", "lea", "categories: [sea]", "open"),
            ("On wind", "12", "LEA", "category: air", "shipped"), ("On salt", "3", "Kim", "categories: [sea]", "open")]
    rows += [(f"Part {number}", str(number), "Max" if number % 2 else "Eve", "category: land", "open")
             for number in range(100, 104)]
    files = {f"{title.replace(' ', '-')}.md": f"---\ntitle: {title}\nnumber: {number}\nauthor: {author}\n{field}\n"
             f"status: {status}\n---\n\nIt helps.\n" for title, number, author, field, status in rows}
    return made(tmp_path_factory.mktemp("notes"), files, hashed_embedder)


@pytest.mark.parametrize(("question", "answer"), SPELLINGS)
def test_names_that_differ_in_capitals_are_one(notes, question, answer):
    asked = ask_tables(notes, question)
    assert (asked.short if asked else None) == answer


@pytest.fixture(scope="module")
def linked(tmp_path_factory, hashed_embedder):
    rows = [(1, "Fees", "Ann Bell, Bo Ek", "Final", ""), (2, "Names", "Bo Ek", "Draft", "1"),
            (3, "Rent", "Ann Bell", "Draft", "1, 2"), (4, "Gas", "Cy Fox, Bo Ek", "Final", "")]
    files = {f"mep-{number}.md": f"---\nmep: {number}\ntitle: {title}\nauthor: {author}\nstatus: {status}\n"
             f"{f'requires: {others}' * bool(others)}\n---\n\nIt helps.\n"
             for number, title, author, status, others in rows}
    return made(tmp_path_factory.mktemp("linked"), files, hashed_embedder)


@pytest.mark.parametrize(("question", "answer"), REFERENCES)
def test_a_list_of_other_documents_is_read_in_both_directions(linked, question, answer):
    asked = ask_tables(linked, question)
    assert (asked.short if asked else None) == answer


def test_a_field_in_the_singular_and_in_the_plural_is_one_column(proposals):
    (documents,) = (table for table in proposals.sql.tables() if table.kind == "documents")
    authors = [column for column in documents.columns if "author" in column.name]
    assert [(column.name, column.kind, column.empty) for column in authors] == [("author", "list", 0)]


@pytest.mark.parametrize(("question", "answer"), [
    ("How many MEPs did Ann Bell write?", "3"), ("How many MEPs did Ann Bell and Bo Ek write together?", "1"),
    ("How many MEPs did Ann Bell and Cy Fox sponsor?", "2")])
def test_a_person_is_one_with_and_without_an_address(tmp_path, hashed_embedder, question, answer):
    rows = [("Ann Bell", "Bo Ek"), ("Ann Bell <a@x.org>, Bo Ek", "Ann Bell"), ("Bo Ek, Cy Fox", "Cy Fox <c@x.org>"),
            ("Cy Fox, Ann Bell <ann@y.org>, Dee Oak", "Bo Ek"), ("Dee Oak", "Bo Ek")]
    files = {f"mep-{number}.md": f"---\nmep: {number}\ntitle: Part {number}\nauthor: {author}\nsponsor: {sponsor}\n"
             "---\n\nIt helps.\n" for number, (author, sponsor) in enumerate(rows, 1)}
    asked = ask_tables(made(tmp_path, files, hashed_embedder), question)
    assert (asked.short if asked else None) == answer


def test_a_table_within_one_document_does_not_answer_for_all(proposals):
    asked = ask_tables(proposals, "What is the most common status?")
    assert asked is not None
    assert asked.table == "documents"


def test_what_all_documents_are_called_is_not_the_one_with_this_title(tmp_path, hashed_embedder):
    titles = ("RFC (Request for Comments) process", "Better errors", "Faster builds", "Smaller files")
    stages = ("recommended", "accepted", "accepted", "released")
    files = {f"{number:04}-one.md": f"---\nstage: {stage}\n---\n\n# {title}\n\nThis RFC helps.\n"
             for number, (title, stage) in enumerate(zip(titles, stages, strict=True))}
    index = made(tmp_path, files, hashed_embedder)
    asked = ask_tables(index, "How many RFCs are accepted?")
    assert asked is not None
    assert asked.short == "2"


@pytest.mark.parametrize("most", [40, 120])
def test_brackets_behind_names_are_no_value(tmp_path, hashed_embedder, most):
    rows = [f"{'opel' if number % 2 else 'ford'} {number}{' (auto)' * (number > most - 3)},{4 + 4 * (number % 2)}"
            for number in range(most)]
    index = made(tmp_path, {"cars.csv": "\n".join(["name,cylinders", *rows])}, hashed_embedder)
    asked = ask_tables(index, "How many autos have 4 cylinders?")
    assert asked is not None
    assert asked.short == str(most // 2)


@pytest.mark.parametrize(("question", "answer"), [
    ("How many recipes are there?", "2"), ("Which recipes name no author?", "recipes/stew.md: stew"),
    ("How many notes are there?", "2"), ("How many files are there?", "4"),
    ("How many recipes and notes are there?", None),
    ("How many notes were created in 2019?", "2")])
def test_what_documents_are_called_may_be_their_folder(tmp_path, hashed_embedder, question, answer):
    files = {"recipes/soup.md": "author: Ann\n", "recipes/stew.md": "tag: hot\n",
             "notes/2019/one.md": "created: 2019-05-01\n",
             "notes/2020/two.md": "created: 2019-07-01\n"}
    for name in files:
        (tmp_path / "files" / name).parent.mkdir(parents=True, exist_ok=True)
    index = made(tmp_path, {name: f"---\n{field}---\n\nIt helps.\n" for name, field in files.items()}, hashed_embedder)
    asked = ask_tables(index, question)
    assert (asked.short if asked else None) == answer
