"""Questions without a model about header fields as people write them: partial dates, two forms of a field, deeds."""

import pytest
from banyan.tools.asked_query import ask_tables

from .test_asked_query import made

BOOKS = [
    ("tides", "Tides", "Mia Holt", "fiction", "5", "320", "1998", "kindle", "2018-03-04", "sea; ships"),
    ("salt", "Salt: A History of Trade", "Ivo Brandt", "nonfiction", "2", "88", "2004", "audiobook", "2018-11-30",
     "sea"),
    ("birds", "Northern Birds", "Mia Holt", "nonfiction", "", "260", "2011", "hardcover", "", "birds"),
    ("harbour", "Cold Harbour", "Ada Lind", "fiction", "3", "410", "2004", "hardcover", "2019-02-11", "crime; sea"),
    ("rivers", "Small Rivers", "Ada Lind", "nonfiction", "5", "198", "2019", "audiobook", "2019-10-05", "rivers"),
    ("ash", "Ash", "Eva Frey", "nonfiction", "2", "500", "2015", "kindle", "2020-01-01", "trees")]
BOOK_FIELDS = ("title", "author", "type", "rating", "pages", "publish_year", "format", "date_completed", "genres")
PROPOSALS = [
    ("rfc-1", "MS RFC 1: Label order", "Date: 2013/07/02", "Author: Ada Blum", "Status: Draft", "Version: Maps 1.0"),
    ("rfc-2", "MS RFC 2: Fast tiles", "Date: 2013/07", "Authors: Ada Blum (ada at maps.org), Bo Dietz",
     "Status: Adopted", "Version: Maps 2.0"),
    ("rfc-3", "MS RFC 3: Cache on disk", "Date: 2013-09-30", "Author: Cy Egge", "Status: Adopted", "Version: Maps 2.0"),
    ("rfc-4", "MS RFC 4: New parser", "Date: 2012", "Author: Ada Blum; Cy Egge", "Status: Adopted",
     "Version: Tiles 1.0"),
    ("rfc-5", "MS RFC 5: Old symbols", "Date: 2014-01-15", "Author: Bo Dietz", "Version: Maps 1.0"),
    ("rfc-6", "MS RFC 6: Symbols of roads", "Author: Bo Dietz and Cy Egge", "Status: Withdrawn")]
ABOUT_BOOKS = [
    ("How many books did he finish in 2018?", "2"),
    ("How many did he wrap up in October 2019?", "1"),
    ("How many five-star books are there?", "2"),
    ("Which books did he give only two stars?", "Ash"),
    ("Which books have no star rating?", "Northern Birds"),
    ("How many books did he listen to as audiobooks?", "2"),
    ("Show me the hardcovers that are longer than 300 pages.", "Cold Harbour"),
    ("What's the thickest book here and how many pages does it have?", "Ash, 500"),
    ("Which is the most recently published book on the shelf?", "Small Rivers"),
    ("Whose books show up most often?", "Ada Lind: 2; Mia Holt: 2"),
    ("Who wrote Northern Birds?", "Mia Holt"),
    ("Who wrote A History of Trade?", "Ivo Brandt"),
    ("When was Cold Harbour published?", "2004"),
    ("In which year was Cold Harbour published?", "2004"),
    ("What has Ada Lind written?", "Small Rivers"),
    ("How many books were published in 2004?", "2"),
    ("How many books were published before 2000?", "1"),
    ("Which is the oldest book?", "Tides, 1998"),
    ("Which is the longest audiobook?", "Small Rivers, 198"),
    ("Which book did he finish last?", "Ash, 2020-01-01"),
    ("When was Tides finished?", "2018-03-04"),
    ("How many pages do the hardcovers have in total?", "670")]
ABOUT_PROPOSALS = [
    ("How many RFCs are dated 2013?", "3"),
    ("How many RFCs date from July 2013?", "2"),
    ("How many RFCs give no date?", "1"),
    ("What is the oldest RFC and what date does it bear?", "New parser, 2012"),
    ("Which year saw the most RFCs, and how many were there?", "2013: 3"),
    ("What is the date of RFC 2?", "2013/07"),
    ("What is the status of RFC 3?", "Adopted"),
    ("Who has written the most RFCs?", "Ada Blum: 3; Bo Dietz: 3; Cy Egge: 3"),
    ("What did Bo Dietz write or co-write?", "Fast tiles"),
    ("How many RFCs have more than one author?", "3"),
    ("Who wrote RFC 1 and RFC 3?", "rfc-3.md: MS RFC 3: Cache on disk, Cy Egge"),
    ("List Ada Blum's RFCs that are marked adopted.", "New parser"),
    ("Which RFCs have no status line?", "Old symbols"),
    ("How many RFCs are either Draft or Withdrawn?", "2 (1 without Status)"),
    ("How many RFCs were written in each year?", "2012: 1; 2013: 3; 2014: 1"),
    ("What years do the RFCs span?", "earliest: 2012; latest: 2014"),
    ("Which version is the target of the most RFCs?", "Maps 1.0: 2; Maps 2.0: 2"),
    ("From 2012 to 2013, how many RFCs were written per year on average?", "2")]
DECLINED_BOOKS = [
    "How many books did he recommend in 2018?", "How many books did he read in 2018?", "How many books did he buy?",
    "How many books did he read?", "How many books did he give up in 2018?", "How many books did he almost finish?",
    "How many books is he currently reading?", "How many fiction books is he reading?",
    "Who published Northern Birds?", "Who narrates Tides?",
    "How many books were finished by Mia Holt?", "Which book is the best?", "How many books did she finish twice?",
    "How many stars has the sea?", "When was Tides sold?", "What did Ada Lind review?", "Who wrote Southern Birds?",
    "How many hardcovers did he lend in 2019?", "How many books did Mia Holt finish in 2018?"]
DECLINED_PROPOSALS = [
    "How many RFCs were adopted in 2013?", "Who adopted the most RFCs?", "How many RFCs were rejected?",
    "What did Ada Blum reject?", "When was RFC 3 adopted?", "How many RFCs does RFC 2 replace?",
    "Which RFC is the largest?",
    "How many RFCs are dated 2013 or so?", "How many RFCs were not dated in 2013?", "Who wrote RFC 77?",
    "How many RFCs of Ada Blum did Cy Egge adopt?", "Which RFCs target Maps 9.0?",
    "How many RFCs were translated into Spanish?", "Who dated the most RFCs?", "How many RFCs are about Tiles?",
    "How many RFCs were dated on 5 July 2013?", "How many RFCs were made into Maps 2.0?",
    "What is the latest version targeted?", "Who funded the most RFCs?"]


def _front_matter(*lines):
    return "\n".join(["---", *lines, "---", "", "Text."])


@pytest.fixture(scope="module")
def books(tmp_path_factory, hashed_embedder):
    files = {f"{name}.md": _front_matter("layout: book", *(
        f'{field}: "{value}"' if value else f"{field}:" for field, value in zip(BOOK_FIELDS, values, strict=True)))
        for name, *values in BOOKS}
    return made(tmp_path_factory.mktemp("books"), files, hashed_embedder)


@pytest.fixture(scope="module")
def proposals(tmp_path_factory, hashed_embedder):
    files = {f"{name}.md": _front_matter(f'title: "{title}"', *fields) for name, title, *fields in PROPOSALS}
    return made(tmp_path_factory.mktemp("proposals"), files, hashed_embedder)


@pytest.mark.parametrize(("question", "answer"), ABOUT_BOOKS)
def test_what_a_reader_did_with_books_is_asked_in_ordinary_words(books, question, answer):
    asked = ask_tables(books, question)
    assert asked is not None
    assert answer in asked.short


@pytest.mark.parametrize(("question", "answer"), ABOUT_PROPOSALS)
def test_fields_are_read_as_people_write_them(proposals, question, answer):
    asked = ask_tables(proposals, question)
    assert asked is not None
    assert answer in asked.short


@pytest.mark.parametrize("question", DECLINED_BOOKS)
def test_a_deed_that_no_field_records_is_no_query(books, question):
    assert ask_tables(books, question) is None


@pytest.mark.parametrize("question", DECLINED_PROPOSALS)
def test_a_deed_of_others_than_authors_is_no_query(proposals, question):
    assert ask_tables(proposals, question) is None


def test_a_date_that_says_too_little_is_left_out_and_the_answer_says_so(proposals):
    asked = ask_tables(proposals, "How many RFCs are dated after 10 July 2013?")
    assert asked is not None
    assert (asked.short, asked.understood.partition("; ")[2]) == (
        "2 (1 without Date)", "without records whose date says too little")


def test_years_that_are_no_numbers_leave_the_oldest_open(tmp_path, hashed_embedder):
    years = ["700 BC", *map(str, range(2001, 2021))]
    files = {f"{number}.md": _front_matter("layout: book", f"title: Book {chr(65 + number)}", f"publish_year: {year}",
                                           "last_edited: 2020-05-01") for number, year in enumerate(years)}
    index = made(tmp_path, files, hashed_embedder)
    for question in ("Which is the oldest book?", "How many books were published before 2010?",
                     "How many books were edited in 2020?"):
        assert ask_tables(index, question) is None
    asked = ask_tables(index, "How many books were published in 2010?")
    assert asked is not None
    assert asked.short == "1 (1 without publish_year)"


def test_fields_of_one_word_in_two_forms_are_one_column(proposals):
    (table,) = (one for one in proposals.sql.tables() if one.kind == "documents")
    assert [(one.title, one.kind) for one in table.columns if one.name.startswith("author")] == [("Author", "list")]
