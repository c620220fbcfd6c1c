"""Forms of questions that people put to any table: several counts, differences, the top few, parts of years."""

import pytest
from banyan.tools.asked_query import ask_tables

from .test_asked_query import made

FILMS = """\
Title,Studio,Director,Genre,Released,Running Time min,Budget,Rating,Distance_km
Reef,Alba,Ann Bell,Drama,2019-02-03,95,1000000,6.1,12
Salt,Alba,Ann Bell,Comedy,2019-05-10,130,3000000,7.4,
Tide,Bora,Cy Fox,Drama,2019-08-21,150,2000000,,30
Urn,Alba,Ann Bell,Drama,2020-01-15,121,9000000,8.2,41
Vale,Bora,Dee Goa,Comedy,2020-07-30,88,4000000,5.0,
Wren,Cala,Dee Goa,Horror,2021-11-11,105,500000,,7
"""
WINES = """\
name,region,vintage,litres
Alto,North,1998,700
Bruno,North,2003,1200
Corvo,South,2003,400
"""
HIKES = "hike,distance\nRidge,11\nShore,7\n"
BIRDS = "species,mass_g,sex\nSwift,40,f\nSwift,38,m\nCrane,5000,f\n"
VICTIMS = "victim,sex,death_date,kind\nAda,f,2020-01-02,Death\nBo,m,2020-03-04,Death\nMade,f,2021-05-06,Crash\n"
MEPS = [(7, "Fees", "Ann, Bo", "Cy", "Final", "alpha", "2018-05-01", "node"),
        (12, "Names", "Bo", "Cy, Dee", "Draft", "", "2019-02-01", "node"),
        (2019, "Rent", "Ann", "Dee", "Draft", "", "2019-03-01", "cli"),
        (31, "Gas", "Cy, Bo, Ann", "Eli", "Final", "beta", "2020-09-01", "auth"),
        (40, "Clocks", "Cy", "Ann", "Withdrawn", "beta", "2020-10-01", "node", "7, 31")]
OF_RECORDS = [
    ("How many films are dramas, and how many comedies?", "dramas: 3; comedies: 2"),
    ("How many films were released in 2019 and how many in 2020?", "2019: 3; 2020: 2"),
    ("How many more dramas than horrors are there?", "difference: 2; dramas: 3; horrors: 1"),
    ("How many fewer films were released in 2021 than in 2019?", "difference: 2; 2021: 1; 2019: 3"),
    ("Of the films released in 2019, how many are dramas?", "2"),
    ("What are the top 2 genres by number of films?", "Drama: 3; Comedy: 2"),
    ("Top 2 genres by total budget", "Drama: 12,000,000; Comedy: 7,000,000"),
    ("What are the top 2 films by budget?", "Urn: 9,000,000; Vale: 4,000,000"),
    ("Which studio released the most films?", "Alba: 3"),
    ("How many films were released in the first half of 2019?", "2"),
    ("How many films were released in Q3 of 2019?", "1"), ("How many films were released by the end of 2019?", "3"),
    ("How many films have no known rating?", "2"), ("How many comedies with a budget have no known rating?", None),
    ("How many films are longer than 120 minutes?", "3"), ("How many films are longer than two hours?", "3"),
    ("How many films are longer than 35 km?", "1 (2 without Distance_km)"),
    ("Which film has the longest running time?", "Tide: 150"),
    ("What is the longest running time?", "150"),
    ("What is the highest budget for each genre?", "Comedy: 4,000,000; Drama: 9,000,000; Horror: 500,000"),
    ("What is the highest rating by genre?", "Comedy: 7.4; Drama: 8.2; Horror"),
    ("What is the highest budget film?", "Urn: 9,000,000"), ("Which genres are there?", "Comedy; Drama; Horror"),
    ("What is the average number of films per studio?", "2"),
    ("What percentage of the films is from Alba, in percent?", "50%"),
    ("How many films are older than 2020?", "3"), ("How many films are newer than 2020?", "1"),
    ("2019年之后上映的电影有多少部？", "3"), ("类型是Drama的电影有多少部？", "3"),
    ("Which year had the most wines?", "2003: 2"),
    ("Which genre has the highest share of films from Alba?", "Drama: 66.6667%"),
    ("What percentage of the films of each genre is from Alba?", "Comedy: 50%; Drama: 66.6667%; Horror: 0%"),
    ("What is the ratio of dramas to comedies?", "ratio: 1.5; dramas: 3; comedies: 2"),
    ("What is the difference between the highest and the lowest rating?", "difference: 3.2; highest: 8.2; lowest: 5"),
    ("What are the minimum, maximum and mean rating?", "lowest: 5; highest: 8.2; average: 6.675"),
    ("Which genre has the highest average budget?", "Drama: 4,000,000"),
    ("How many films did each studio release?", "Alba: 3; Bora: 2; Cala: 1"),
    ("Films by genre", "Comedy: 2; Drama: 3; Horror: 1"),
    ("How many films have both a rating and a distance?", "2"),
    ("In which year was the last drama released?", "2020"),
    ("Which species is the lightest bird of all and how many grams does it weigh?", "Swift: 38 g"),
    ("What is the sum of the miles of all hikes?", "18"),
    ("In what year was the first wine made?", "Alto: 1998"),
    ("By which studio was the film with the longest running time?", "Bora: 150"),
    ("For how many films are both the rating and the distance known?", "2"),
    ("Split the films by genre: which two genres are the most common, and how many films has each?",
     "Drama: 3; Comedy: 2"),
    ("Split the films by genre: which genre is the most common?", "Drama: 3"),
    ("How many more dramas than comedies are there, and how many horrors?", None),
    ("How many women died in 2020?", "1"), ("How many died in 2020?", None),
    ("How many studios made at least two films?", "2")]
OF_DOCUMENTS = [
    ("What is the status of MEP 2019?", "Draft"), ("Who wrote MEP 31?", "Ann; Bo; Cy"),
    ("How many MEPs were created in 2019?", "2"), ("How many MEPs of 2019 are drafts?", "2"),
    ("How many people have written MEPs in total?", "3"), ("How many authors wrote at least one MEP?", "3"),
    ("What is the maximum number of authors of a MEP?", "3"), ("Which SIG owns at most one MEP?", "auth: 1; cli: 1"),
    ("How many MEPs have neither a stage nor a status?", "0"), ("What is the newest MEP?", "Clocks"),
    ("What is the average number of MEPs per author?", "2.6667"), ("有多少个MEP的状态是Draft？", "2"),
    ("最新的MEP是哪一个？", "Clocks"), ("2018年之后创建了多少个MEP？", "4"), ("2020年下半年创建了多少个MEP？", "2"),
    ("How many MEPs are drafts, and how many are final?", "drafts: 2; final: 2"),
    ("Which SIG created the most MEPs?", "node: 3"), ("How many alpha or beta MEPs were created before 2020?", "1"),
    ("Which status has the highest average number of authors?", "Final: 2.5"),
    ("How many MEPs are written by more than one person?", "2"),
    ("What was the last MEP created in 2019?", "2019-rent.md: Rent"),
    ("In which year was the first beta MEP created?", "2020")]
DECLINED = [
    "How many films without a rating of 5 are there?", "How many films without a rating above 5 are there?",
    "How many dramas were released in 2019, and how many comedies?", "Which director released the most films?",
    "How many films are longer than 2019?", "How many wines have more than 3 kg?",
    "How many wines are larger than 5 ha?", "Which film has the highest budget in each genre?",
    "How many hours does the longest film run?", "How many of the 6 films are dramas?",
    "What is the average number of films per month per studio?", "What is the longest budget?",
    "Which film has the longest production?", "Which genre has the highest share of good films?", "Films by country",
    "What is the difference between dramas and comedies?", "What is the highest average budget?",
    "How many films from Alba are dramas, and how many films are comedies?"]
DECLINED_OF_DOCUMENTS = [
    "Which reviewer created the most MEPs?", "How many MEPs were there in MEP 2020?", "What is the status of MEP 2018?",
    "How many MEPs does MEP 12 replace?", "How many MEPs were reviewed before 2020?", "2019年以后创建了多少个MEP？",
    "How many of the 5 MEPs are drafts?", "How many authors does MEP 999 have?",
    "How many people are there?", "What is the ratio of authors to reviewers?",
    "How many more authors wrote alpha MEPs than beta MEPs?", "In which year was the first MEP rejected?",
    "Which SIG has the maximum number of authors?"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory, hashed_embedder):
    return made(tmp_path_factory.mktemp("films"), {
        "films.csv": FILMS, "wines.csv": WINES, "birds.csv": BIRDS, "victims.csv": VICTIMS, "hikes.csv": HIKES},
        hashed_embedder)


@pytest.fixture(scope="module")
def documents(tmp_path_factory, hashed_embedder):
    fields = ("mep-number", "title", "authors", "reviewers", "status", "stage", "created", "owning-sig", "replaces")
    files = {f"{number}-{title.lower()}.md": "---\n" + "".join(
        f"{name}: {value}\n" for name, value in zip(fields, (number, title, *others, ""), strict=False) if value)
        + "---\n\nThis MEP helps.\n" for number, title, *others in MEPS}
    return made(tmp_path_factory.mktemp("meps"), files, hashed_embedder)


def short(index, question):
    asked = ask_tables(index, question)
    return asked.short if asked else None


@pytest.mark.parametrize(("question", "answer"), OF_RECORDS)
def test_a_form_of_question_is_read_in_any_table(tables, question, answer):
    assert short(tables, question) == answer


@pytest.mark.parametrize(("question", "answer"), OF_DOCUMENTS)
def test_a_form_of_question_is_read_in_the_fields_of_documents(documents, question, answer):
    assert answer in (short(documents, question) or "")


@pytest.mark.parametrize("question", DECLINED)
def test_a_form_with_a_part_that_may_be_meant_otherwise_is_no_query(tables, question):
    assert short(tables, question) is None


@pytest.mark.parametrize("question", DECLINED_OF_DOCUMENTS)
def test_a_form_that_no_field_answers_is_no_query(documents, question):
    assert short(documents, question) is None
