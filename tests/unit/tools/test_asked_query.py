"""Questions about tables without a model: those that are read as queries, and those that are not."""

import pytest
from banyan.graph_store.graph_index import GraphIndex
from banyan.ingest.chunking import chunk_document
from banyan.ingest.loaders import load_documents
from banyan.tools.asked_query import ask_tables

from ... import small_base

TABLES = {
    "tides.csv": """\
pier,hour,surge
Pier,6,0.8
Pier,12,
Quay,12,1.1
Quay,18,
""",
    "corals.csv": """\
study,species,growth,sample_size
S1,Porites,0.91,12
S1,Acropora,1.72,12
S2,Porites,0.85,30
S2,Acropora,1.95,21
S3,Porites,0.83,18
""",
    "staff.csv": """\
Name,Department,City,Salary,Start date,Full time
Ada Blum,Research,Oslo,52000,2015-03-01,yes
Ben Cole,Sales,Oslo,41000,2018-07-15,no
Cleo Dietz,Research,Bergen,61000,2011-01-10,yes
Dan Egge,Sales,Bergen,39000,2020-09-01,yes
Eva Frey,Research,Oslo,58000,2019-05-20,no
Finn Gad,Support,Tromsø,36000,2021-02-01,yes
""",
    "lakes.csv": """\
Lake,Country,Area_km2,Max depth (m),Elevation (m)
Vänern,Sweden,5655,106,44
Vättern,Sweden,1912,128,88
Mjøsa,Norway,365,453,123
Saimaa,Finland,4377,82,76
Inari,Finland,1040,92,118
""",
    "orders.csv": """\
order,customer,product,quantity,unit price,shipped
1001,Alder Ltd,bolt,200,0.15,2024-01-05
1002,Birch & Co,nut,500,0.05,2024-01-09
1003,Alder Ltd,washer,1000,0.02,
1004,Cedar GmbH,bolt,150,0.16,2024-02-11
1005,Birch & Co,bolt,300,0.15,2024-03-02
1006,Alder Ltd,nut,250,0.06,
""",
    "matches.csv": """\
date,home,away,home_goals,away_goals,attendance
2023-08-12,Rovers,United,2,1,14200
2023-08-19,United,City,0,0,18100
2023-08-26,City,Rovers,3,2,22050
2023-09-02,Rovers,City,1,1,15010
2023-09-09,United,Rovers,2,0,17500
""",
    "books.csv": """\
title,author,year,genre,pages,copies
The Long Shore,Mia Holt,1998,novel,320,3
Salt,Ivo Brandt,2004,poetry,88,1
Northern Birds,Mia Holt,2011,nature,260,2
Cold Harbour,Ada Lind,2004,crime,410,5
Ash and Oak,Ivo Brandt,2015,novel,290,2
Small Rivers,Ada Lind,2019,nature,198,1
""",
    "sales.csv": """\
region,quarter,product,revenue,units
North,2023-Q1,kettle,12000,300
North,2023-Q2,kettle,15000,360
South,2023-Q1,kettle,9000,220
South,2023-Q2,toaster,7000,280
North,2023-Q2,toaster,8000,310
""",
    "patients.csv": """\
patient,sex,age,ward,diagnosis,days
P1,F,34,A,asthma,3
P2,M,61,B,pneumonia,9
P3,F,47,A,fracture,5
P4,M,29,B,asthma,2
P5,F,72,B,pneumonia,11
P6,,55,A,fracture,6
""",
    "wines.csv": """\
wine;country;vintage;price_eur;alcohol
Rioja Alta;Spain;2015;18,50;13,5
Barolo Serra;Italy;2013;42,00;14,0
Chianti Vecchio;Italy;2016;15,90;13,0
Douro Velho;Portugal;2015;22,00;14,5
""",
    "beans.csv": """\
country,variety,points
Ethiopia,Ethiopian Heirlooms,83
Ethiopia,Gesha,90
Kenya,Ruiru,86
Kenya,Gesha,85
""",
    "boats.csv": """boat,harbour,cabin,insured
Heron,Thun,yes,no
Merlin,Thun,no,yes
Otter,Spiez,yes,yes
Plover,Spiez,,yes
Robin,Spiez,no,yes
Tern,Thun,no,no
""",
    "cities.csv": """\
城市,省份,人口,面积
杭州,浙江,12204000,16850
宁波,浙江,9404283,9816
南京,江苏,9314685,6587
苏州,江苏,12748262,8657
温州,浙江,9572903,12103
""",
}
ANSWERED = [
    ("In how many rows of the noon tides is the surge missing?", "1"),
    ("What is the total sample size?", "93"),
    ("What is the average growth of Porites?", "0.8633"),
    ("How many studies are there?", "3"),
    ("How many points do the Ethiopian beans have on average?", "86.5"),
    ("How many boats have a cabin?", "2"),
    ("How many boats have no cabin?", "3"),
    ("What share of the boats in Spiez have a cabin?", "33.3333%"),
    ("What share of the boats with a cabin are in Spiez?", "50%"),
    ("How many boats are insured?", "4"),
    ("Which species has the highest average growth?", "Acropora"),
    ("What is the average salary in Oslo by department?", "Research: 55,000; Sales: 41,000"),
    ("Who has the highest salary?", "Cleo Dietz"),
    ("When did Eva Frey start?", "2019-05-20"),
    ("What is the total salary of those not in Oslo?", "136,000"),
    ("Which is the deepest lake?", "Mjøsa"),
    ("Which country has the most lakes?", "Finland: 2; Sweden: 2"),
    ("What is the longest book?", "Cold Harbour: 410"),
    ("Which lake in Sweden is the deepest?", "Vättern"),
    ("How many lakes are deeper than 100 m?", "3"),
    ("How many lakes are deeper than 0.1 km?", "3"),
    ("How deep is Saimaa?", "82 m"),
    ("How many orders have no shipped date?", "2"),
    ("How many orders were shipped in January 2024?", "2"),
    ("Which customer has the most orders?", "Alder Ltd"),
    ("What share of orders is for bolts?", "50%"),
    ("What is the average attendance in August 2023?", "18,116.6667"),
    ("Which books are from 2004?", "Cold Harbour"),
    ("Who is the author of Salt?", "Ivo Brandt"),
    ("What is the total revenue by region?", "North: 35,000; South: 16,000"),
    ("How many female patients are in ward B?", "1"),
    ("How many patients have asthma or pneumonia?", "4"),
    ("What is the average age for each ward?", "A: 45.3333; B: 54"),
    ("Who is the oldest patient?", "P5"),
    ("How many patients have no sex recorded?", "1"),
    ("Who is older on average, women or men?", "women"),
    ("Wie viele Zeilen sind aus Italien?", "2"),
    ("Who wrote Salt?", "Ivo Brandt"),
    ("What is the cheapest wine?", "Chianti Vecchio"),
    ("What is the average price of wines from Italy?", "28.95"),
    ("浙江有多少个城市？", "3"),
    ("人口最多的城市是哪个？", "苏州"),
    ("浙江人口超过700万的城市有哪些？", "杭州"),
    ("How many studies measured Porites?", "3"),
    ("How many people earn more than 50000?", "3"),
    ("How many wines cost more than 20 euros?", "2"),
    ("哪个省份的城市最多？", "浙江"),
]
DECLINED = [
    "? ", "the", "than", "how many",
    "How many corals bleached?",
    "How many corals were measured?",
    "How many staff have offices in the city of Oslo?",
    "How many people work in Research?",
    "Who is Research?",
    "Who is Ivo Brandt?",
    "What is Ben Cole's phone number?",
    "How many lakes in Finland have no outlet?",
    "How many orders did Alder Ltd place?",
    "How many orders were not shipped?",
    "What is the total revenue of orders?",
    "How many matches did Rovers win?",
    "How many kettles were sold in the South?",
    "What is the profit in the North?",
    "Was ist der durchschnittliche Preis?",
    "苏州的市长是谁？",
    "浙江有多少人？",
    "What is the average salary of full time staff?",
    "Who was hired first?",
    "Which lake is the highest?",
    "What did Alder Ltd pay in total?",
    "How many orders from Birch & Co were returned?",
    "How many matches ended in a draw?",
    "When was the match with the highest attendance?",
    "What is the average length of stay?",
    "苏州的大学有多少所？",
]
RECIPES = [
    ("rec-1", "Lentil soup", "soup", "Ana Ruiz, Bo Li", "2021-03-02", "published"),
    ("rec-2", "Rye bread", "bread", "Bo Li", "2021-11-20", "draft"),
    ("rec-3", "Fish pie", "main", "Cy Holm, Ana Ruiz, Bo Li", "2022-01-15", "published"),
    ("rec-4", "Plum cake", "cake", "Ana Ruiz", "2022-06-30", "published"),
    ("rec-5", "Oat bread", "bread", "Ana Ruiz, Cy Holm", "2023-02-11", "withdrawn")]
OF_DOCUMENTS = [
    ("How many recs are published?", "3"), ("How many recs of kind bread are drafts?", "1"),
    ("Which recs were created in 2022?", "Fish pie"), ("Which author has the most recs?", "Ana Ruiz"),
    ("How many recs has Bo Li as an author?", "3"), ("How many documents are there by status?", "published: 3"),
    ("How many recs were created per year?", "2021: 2"), ("Which rec has the most authors?", "Fish pie"),
    ("How many recs are not published?", "2"), ("How many articles have two or more authors?", "3"),
    ("Who authored the most recs?", "Ana Ruiz: 4"), ("How many recs did Ana Ruiz and Bo Li write together?", "2"),
    ("Did Bo Li or Cy Holm author more recs?", "Bo Li: 3; Cy Holm: 2"), ("How many recs are there under Bread?", "2"),
    ("How many recs were created between 1 March and 30 November 2021?", "2"),
    ("How many authors does a rec have on average?", "1.8"),
    ("Who are the authors of “Oat bread”?", "Ana Ruiz; Cy Holm"),
    ("Among the published recs, which one has the latest created date?", "rec-4")]


def put(kb, document):
    """Store a document of which nothing is said but its tables and metadata."""
    chunks = chunk_document(document, max_tokens=400, overlap_tokens=0)
    kb.documents.put(document, chunks)
    for chunk in chunks:
        kb.extractions.save(chunk.id, "test", small_base.said())
    kb.schema_control.put_revisions_in_service()
    kb.schema_control.write([chunk.id for chunk in chunks])


def made(home, files, embedder):
    """Return the index of a knowledge base of some files."""
    folder = home / "files"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    kb = small_base.create(home, "kb", embedder)
    with kb.writing():
        for document in load_documents([folder], on_failure=pytest.fail):
            put(kb, document)
        kb.refresh()
    return GraphIndex(kb)


@pytest.fixture(scope="module")
def tables(tmp_path_factory, hashed_embedder):
    return made(tmp_path_factory.mktemp("tables"), TABLES, hashed_embedder)


@pytest.fixture(scope="module")
def recipes(tmp_path_factory, hashed_embedder):
    fields = ("kind", "author", "created", "status")
    files = {}
    for name, title, *values in RECIPES:
        lines = [f"title: {title}", *map(": ".join, zip(fields, values, strict=True))]
        files[f"{name}.md"] = "\n".join(["---", *lines, "---", "", "Mix and bake."])
    return made(tmp_path_factory.mktemp("recipes"), files, hashed_embedder)


@pytest.mark.parametrize(("question", "answer"), ANSWERED)
def test_a_question_is_answered_if_each_word_is_accounted_for(tables, question, answer):
    asked = ask_tables(tables, question)
    assert asked is not None
    assert answer in asked.short


@pytest.mark.parametrize("question", DECLINED)
def test_a_question_is_no_query_if_a_word_is_not_accounted_for(tables, question):
    assert ask_tables(tables, question) is None


@pytest.mark.parametrize(("question", "answer"), OF_DOCUMENTS)
def test_documents_are_a_table_of_their_fields(recipes, question, answer):
    asked = ask_tables(recipes, question)
    assert asked is not None
    assert answer in asked.short


def test_an_answer_says_how_the_question_was_understood(tables):
    asked = ask_tables(tables, "What is the average growth of Porites?")
    assert asked is not None
    assert (asked.understood, asked.table) == ("average of growth where species is Porites", "corals")
    assert asked.result.records == 3


def test_two_values_of_one_cell_are_no_query(tables):
    assert ask_tables(tables, "How many patients have asthma and how many have pneumonia in ward A?") is None
