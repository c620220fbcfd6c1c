"""Questions in words about tables and header fields without a model: those that are read as queries, and the others."""

import banyan
import pytest
from banyan.graph_store.graph_index import GraphIndex
from banyan.ingest.loaders import load_documents
from banyan.tools.asked_query import ask_tables

from ... import small_base
from .asked_collections import COLLECTIONS

ANSWERED = {
    "stations": """
        What is the IATA code of Cork South? -> ORK
        How high above sea level is the Birr station? -> 72
        How many Icelandic stations are no longer active? -> 2
        How many different time zones do the Irish stations use? -> 1
        Which is the southernmost station? -> Cork South
        Which Icelandic station lies highest above sea level? -> Hella, 20""",
    "artworks": """
        How many artworks are in this folder? -> 5
        How many paintings were acquired in 1957? -> 1
        How many subjects does a sculpture have on average? -> 4
        Which artwork has the most subjects? -> Reef, 7
        In which year were the fewest artworks acquired? -> 1957: 1
        Which artist has the largest number of works here, and how many? -> Ann Bell: 3
        Which artists have works that are linked to 1957? -> Douglas Gale
        How many different artists made the works acquired in 1960? -> 1""",
    "episodes": """
        How many episodes of The Dawn were sponsored by Acme? -> 2
        How many Night Extras episodes came out in 2020? -> 2
        How many episodes did Acme sponsor? -> 3
        How many episodes were paid for by both Acme and Zeta as sponsors? -> 2
        How many of the episodes that Mia Holt co-hosted are from 2019? -> 2
        What are the titles of the episodes in which Cyd appeared as a guest? -> Talk 4; Talk 5
        Which episodes of The Dawn had Bob among the hosts? -> Talk 1; show/03.md: Talk 3
        How many episodes do not have a single sponsor? -> 2
        For how many episodes is nobody entered as host? -> 1
        What is the most recent episode of The Dawn that had a guest? -> Talk 2
        On how many episodes is Cyd named as a guest, alone or together with somebody else? -> 2
        How many podcast guests are there? -> 2
        Who hosted the most episodes? -> mia-holt: 3""",
    "tables": """
        What is the total sample size? -> 93
        What is the average growth of Porites? -> 0.8633
        How many studies are there? -> 3
        How many studies measured Porites? -> 3
        Which species has the highest average growth? -> Acropora
        What is the average salary in Oslo by department? -> Research: 55,000; Sales: 41,000
        Who has the highest salary? -> Cleo Dietz
        When did Eva Frey start? -> 2019-05-20
        What is the total salary of those not in Oslo? -> 136,000
        How many people earn more than 50000? -> 3
        Which is the deepest lake? -> Mjøsa
        How many entries does the list of lakes have for Finland? -> 2
        Which country has the most lakes? -> Finland: 2; Sweden: 2
        Which lake in Sweden is the deepest? -> Vättern
        How many lakes are deeper than 0.1 km? -> 3
        How many lakes are shallower than ten kilometres? -> 5
        How deep is Saimaa? -> 82 m
        How many orders have no shipped date? -> 2
        How many orders were shipped in January 2024? -> 2
        Which customer has the most orders? -> Alder Ltd
        What share of orders is for bolts? -> 50%
        What is the total revenue by region? -> North: 20,000; South: 16,000
        How many female patients are in ward B? -> 1
        How many patients have asthma or pneumonia? -> 4
        What is the average age for each ward? -> A: 45.3333; B: 54
        Who is the oldest patient? -> P5
        How many patients have no sex recorded? -> 1
        How many boats have a cabin? -> 2
        How many boats have no cabin? -> 3
        What share of the boats in Spiez have a cabin? -> 33.3%
        How many boats are insured? -> 4
        Of the films released in 2019, how many are dramas? -> 2
        What are the top 2 genres by number of films? -> Drama: 3; Comedy: 2
        Top 2 genres by total budget -> Drama: 12,000,000; Comedy: 7,000,000
        What are the top 2 films by budget? -> Urn: 9,000,000; Vale: 4,000,000
        How many films are longer than 35 km? -> 1 (2 without Distance_km)
        Which film has the longest running time? -> Tide: 150
        What is the highest budget film? -> Urn: 9,000,000
        How many films are older than 2020? -> 3
        In which year was the last drama released? -> 2020-01-15
        Split the films by genre: which two are the most common, and how many films has each? -> Drama: 3; Comedy: 2
        2019年之后上映的电影有多少部？ -> 3
        浙江有多少个城市？ -> 3
        人口最多的城市是哪个？ -> 苏州
        浙江人口超过700万的城市有哪些？ -> 杭州
        哪个省份的城市最多？ -> 浙江""",
    "decisions": """
        Which ADR was created first of all, and in which year? -> Shared cache, 2018-11-05
        How many ADRs are still proposed? -> 1
        How many ADRs have the status "accepted"? -> 3
        How many ADRs owned by Team Web are accepted? -> 2
        Break the ADRs created in 2019 down by status. -> accepted: 1; proposed: 1; rejected: 1
        For 2018 and 2020: how many ADRs were created in each year? -> 2018: 1; 2020: 1
        For 2018, 2019 and 2020: how many ADRs were created in each year? -> 2018: 1; 2019: 3; 2020: 1
        How many new ADRs did the year 2019 bring? -> 3
        How many more ADRs were created in 2019 than in 2018? -> 2019: 3; 2018: 1; difference: 2
        Who wrote more ADRs, ann or cyd? -> @ann: 3; @cyd: 1; difference: 2
        Give me the numbers of the ADRs whose status is "accepted". -> Shared cache
        What is the oldest ADR, going by the date of creation? -> Shared cache
        What is the status of the "one queue" ADR? -> proposed
        How many accepted ADRs of Team Web were created in 2019? -> 1
        In how many ADRs does Team Store participate? -> 2
        How many ADRs has ann written, alone or with others? -> 3
        How many ADRs come from exactly two authors? -> 1
        How many ADRs did ann and bob write together? -> 2
        How many ADRs were created from January 2019 to March 2019? -> 2
        How many ADRs were last updated in 2020? -> 3
        How many ADRs name no participating teams? -> 2
        How many ADRs have a participating team? -> 3
        Which ADRs of Team Web are accepted? Titles please. -> Single login
        Who is named as a reviewer most often? -> @cyd: 3
        How many ADRs were created in each year? -> 2018: 1; 2019: 3; 2020: 1
        Which ADR has the most authors? -> Lock leases
        On which day was the newest of the ADRs created? -> 2020-06-30
        How many typing ADRs are there? -> 2
        How many authors does an ADR of Team Store have on average? -> 1.5
        Which team owns the most ADRs? -> team-store: 2; team-web: 2
        What percentage of the ADRs is accepted? -> 60%
        In which year were the most ADRs created? -> 2019: 3""",
    "books": """
        How many books did he finish in 2018? -> 2
        How many did he wrap up in October 2019? -> 1
        How many five-star books are there? -> 2
        Which books did he give only two stars? -> Ash
        How many books did he listen to as audiobooks? -> 2
        Show me the hardcovers that are longer than 300 pages. -> Cold Harbour
        What's the thickest book here and how many pages does it have? -> Ash, 500
        What percentage of all the books is nonfiction? -> 66.7%
        Whose books show up most often? -> Ada Lind: 2; Mia Holt: 2
        Who wrote A History of Trade? -> Ivo Brandt
        In which year was Cold Harbour published? -> 2004
        What has Ada Lind written? -> Small Rivers
        How many books were published before 2000? -> 1
        Which is the oldest book? -> Tides, 1998
        Which is the longest audiobook? -> Small Rivers, 198
        How many pages do the hardcovers have in total? -> 670""",
    "rfcs": """
        How many RFCs date from July 2013? -> 2
        How many RFCs give no date? -> 1
        What is the oldest RFC and what date does it bear? -> New parser, 2012
        Which year saw the most RFCs, and how many were there? -> 2013: 3
        What is the date of RFC 2? -> 2013/07
        Who wrote the new parser? -> Ada Blum; Cy Egge
        What is the status of the symbols of roads RFC? -> Withdrawn
        Which RFCs are only drafts? -> Label order
        Who has written the most RFCs? -> Ada Blum: 3; Bo Dietz: 3; Cy Egge: 3
        What did Bo Dietz write or co-write? -> Fast tiles
        How many RFCs have more than one author? -> 3
        List Ada Blum's RFCs that are marked adopted. -> New parser
        How many RFCs are either Draft or Withdrawn? -> 2 (1 without Status)
        Which version is the target of the most RFCs? -> Maps 1.0: 2; Maps 2.0: 2""",
    "meps": """
        How many MEPs require MEP-1? -> 2
        How many MEPs name MEP-1 in their requires field? -> 2
        How many MEPs do not require MEP-1? -> 2
        Which MEPs require MEP 2? -> 3: Rent
        Who wrote MEP 2019? -> Ann Bell; Bo Ek; Cy Fox
        What is the status of MEP 2? -> Draft
        Which MEP depends on the most others? -> 3: Rent, 2
        What is the newest MEP? -> Gas
        有多少个MEP的状态是Draft？ -> 2""",
    "notes": """
        What is the title of note 31? -> On tides
        Who wrote the most notes? -> lea: 3
        How many notes are in the category sea? -> 3""",
    "tours": """
        How many tours are already full? -> 4
        How many free tours were posted in 2022? -> 2
        How many tours from 2020 are open? -> 2
        What is the newest tour that is full? -> Cave tour
        Which month saw the most tours? -> 2020-02: 2
        For how many tours was the price left unknown? -> 2
        Which organizer has placed the most free tours? -> Port Club: 3""",
    "proposals": """
        How many proposals are there? -> 26
        Who has written the most proposals? -> Dee Fox: 20
        Who managed the review of XP-0004? -> Ann McRae
        How many proposals by Ann McRae were reviewed by Bo Ek? -> 2
        How many proposals were implemented in Version 5.5? -> 2
        How many proposals were implemented? -> 4
        How many of the proposals by Cy Holm were not implemented? -> 2
        Who wrote the proposal on node names? -> Ann McRae; Cy Holm
        Of the proposals that Bo Ek reviewed as review manager, how many were implemented? -> 1
        How many people have acted as review manager? -> 4
        How many people wrote proposals? -> 4
        How many of these Example Evolution proposals were implemented? -> 4""",
    "folders": """
        How many recipes are there? -> 2
        Which recipes name no author? -> recipes/stew.md: stew
        How many files are there? -> 8
        How many notes were created in 2019? -> 2""",
    "ships": """When was the Tern built? -> 1882
        Which ship was captured last? -> Tern""",
    "talks": """Which documents last longer than two hours? Name the guests. -> t2.md: Part 2, Bo; t4.md: Part 4, Dee
        For which documents is there no publication date? -> t5.md
        How many documents last longer than two hours? Numbers are enough. -> 2""",
    "started": "In which year were the fewest plans started? -> 2019: 3",
    "moved tours": "How many tours were posted in 2019? -> 2",
    "old books": "How many books were published in 2010? -> 1 (1 without publish_year)",
    "sponsored": """
        How many MEPs did Ann Bell write? -> 3
        How many MEPs did Ann Bell and Bo Ek write together? -> 1
        How many MEPs did Ann Bell and Cy Fox sponsor? -> 2""",
    "40 cars": "How many autos have 4 cylinders? -> 20",
    "120 cars": "How many autos have 4 cylinders? -> 60",
    "released": """When was document 1 released? -> 2020-06-01
        In which calendar year were the most documents released? -> 2020: 2
        How many released documents are there? -> 1""",
    "teams": """How many fellows are from the north region? -> 2
        How many fellows do we have in the class of 2020? -> 2
        Which year has the most fellows? -> 2020: 2
        Who are the 2020 fellows from the north region? -> Ann Bell
        How many points has the Old Mill at Harbour? -> 200 pts
        How many points do the Harbour 2019 documents have in total? -> 300 pts
        How many points does document 7 have? -> 200 pts
        How many documents of Lagoon have no region? -> 2""",
    "stages": """How many RFCs are accepted? -> 2
        What percentage of the RFCs are accepted? -> 50%""", "apart": "How many RFCs are accepted? -> 2",
}
DECLINED = {
    "stations": """How high is Cork?; How many are in Northern Ireland?; How many stations have Icelandic names?
        Which station is furthest north of Birr?; How many stations no longer have an IATA code?""",
    "artworks": """How many works by Doug Gale are there?; How many different artists are there?
        Which artists are linked to Ann Bell?; How many works are on paper?; How many smiths are there?
        How many artworks are listed under hall?; Which artwork has the most classifications?""",
    "episodes": """Which episodes last longer than two hours?
        How many episodes is Bob in?; How old is Mia Holt?; How much did Acme pay for each episode?
        How many episodes did Mia Holt review?; How many acme episodes are there?""",
    "tables": """?; the; than; how many; How many corals bleached?; How many people work in Research?
        Who is Research?; What is Ben Cole's phone number?; How many lakes in Finland have no outlet?
        How many orders did Alder Ltd place?; How many orders were not shipped?; What is the total revenue of orders?
        How many kettles were sold in the South?; What is the profit in the North?; 苏州的市长是谁？; 浙江有多少人？
        What is the average salary of full time staff?; Who was hired first?; Which lake is the highest?
        How many orders from Birch & Co were returned?; What is the average length of stay?; 苏州的大学有多少所？
        How many patients have asthma and how many have pneumonia in ward A?; Which director released the most films?
        How many films without a rating of 5 are there?; How many films are longer than 2019?
        Which film has the highest budget in each genre?; How many of the 6 films are dramas?
        Which film has the longest production?; How many more dramas than comedies are there?""",
    "decisions": """How many ADRs did dee review alone?; How many teams are accepted?; How many ADRs mention Kafka?
        How many ADRs of ann are accepted by cyd?; What is the latest accepted ADR?; Whose ADRs are rejected?
        How many ADRs did Team Store reject?; How many ADRs are from 2019?; How many ADRs were accepted in 2019?
        Which ADR was rejected first?; Which ADRs have “proposed” in the title?; How many stores does Team Store own?
        How many ADRs does Team Store?; How many ADRs were created in November?
        How many typing ADRs are in this collection?""",
    "books": """How many books did he read in 2018?; How many books did he read?; How many books did he buy?
        How many books did he give up in 2018?; How many books is he currently reading?; Who published Northern Birds?
        Who narrates Tides?; How many books were finished by Mia Holt?; Which book is the best?; When was Tides sold?
        How many hardcovers did he lend in 2019?; How many books did Mia Holt finish in 2018?
        Which finisher has the most books?""",
    "rfcs": """How many RFCs were adopted in 2013?; Who adopted the most RFCs?; How many RFCs were rejected?
        When was RFC 3 adopted?; How many RFCs are dated after 2012 or 2013?
        How many RFCs does RFC 2 replace?; How many RFCs were not dated in 2013?
        Who wrote RFC 77?; How many RFCs of Ada Blum did Cy Egge adopt?; Which RFCs target Maps 9.0?
        How many RFCs are about Tiles?; How many RFCs were dated on 5 July 2013?; What is the latest version targeted?
        How many RFCs are dated after 10 July 2013?; How many RFCs were made into Maps 2.0?""",
    "meps": """Which MEPs require MEPs by Ann Bell?; Which MEP requires the fewest?; Does MEP-3 require MEP-1?
        How many MEPs did Ann Bell and Bo Ek write?; What is the status of the MEPs that MEP-2 requires?
        How many MEPs does MEP-3 require?; Who wrote both MEP-1 and MEP-3?; Which MEPs are required by MEP-3?
        How many MEPs were there in MEP 2019?; How many authors does MEP 999 have?; 2019年以后创建了多少个MEP？""",
    "notes": "How many authors are there?",
    "catalogue": """How many collections were published in 2017?; Which collection holds the most tweets?
        In what month were the first tales published?""",
    "tours": "How many people applied for the Cave tour?; How many different prices does the Cave tour have?",
    "proposals": """How many proposals mention blocks?; How many stars does XP-0001 have?
        How many proposals are for a seal?; What share of the proposals are on fees?
        In which year was XP-0001 accepted?; How many proposals has Ann McRae managed and written?
        Which proposals are linked to XP-0004?""",
    "unsure": "In which year were the fewest plans started?",
    "folders": "How many recipes and notes are there?; How many tools are there?",
    "moved tours": "How many tours from 2019?",
    "apart": "What percentage of the RFCs are accepted?; How many RFCs have no stage?",
    "old books": "Which is the oldest book?; How many books were published before 2010?",
}


def made(home, files, embedder, base="kb"):
    folder = home / "files"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    kb = small_base.create(home, base, embedder)
    with kb.writing():
        for document in load_documents([folder], on_failure=pytest.fail):
            small_base.put_document(kb, document)
        kb.refresh()
    return GraphIndex(kb)


@pytest.fixture(scope="module")
def indexes(tmp_path_factory, hashed_embedder):
    return {name: made(tmp_path_factory.mktemp(name), files, hashed_embedder) for name, files in COLLECTIONS.items()}


@pytest.mark.parametrize(("name", "line"), [
    (name, line.strip()) for name, lines in ANSWERED.items() for line in lines.strip().splitlines()])
def test_a_question_is_answered_if_each_word_is_accounted_for(indexes, name, line):
    question, _, answer = line.partition(" -> ")
    asked = ask_tables(indexes[name], question)
    assert asked is not None
    assert answer in asked.short
    assert not answer.isdigit() or asked.short.partition(" (")[0] == answer


@pytest.mark.parametrize(("name", "question"), [
    (name, question.strip()) for name, lines in DECLINED.items() for line in lines.splitlines()
    for question in line.split(";")])
def test_a_question_is_no_query_if_a_word_means_nothing_or_several_things(indexes, name, question):
    assert ask_tables(indexes[name], question) is None


def test_documents_are_called_as_their_base_is(tmp_path, hashed_embedder):
    files = {f"{number}.md": f"---\npace: {pace}\nkey: C\n---\nAn air.\n"
             for number, pace in enumerate(("slow", "fast", "slow"))}
    files["mills.csv"] = "Mill,Stones\nAster,2\nBirch,3\nCedar,2\n"
    for number, (base, question) in enumerate((("tunes", "How many tunes are slow?"),
                                               ("tables", "How many mills in the table have 2 stones?"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        asked = ask_tables(made(folder, files, hashed_embedder, base), question)
        assert asked is not None
        assert asked.short.partition(" (")[0] == "2"


def test_an_answer_says_how_the_question_was_understood(indexes):
    asked = ask_tables(indexes["tables"], "What is the average growth of Porites?")
    assert asked is not None
    assert (asked.understood, asked.table) == ("average of growth where species is Porites", "corals")
    assert asked.result.records == 3


def test_numbers_of_several_units_are_neither_added_nor_compared(tmp_path):
    (tmp_path / "prices.csv").write_text("item,price\nDesk,$1250\nLamp,EUR 980\nSofa,GBP 2000\n", "utf-8")
    with banyan.open("kb", home=tmp_path / "home", llm_base_url=None) as kb:
        kb.add(str(tmp_path / "prices.csv"))
        assert kb.ask("What is the total price?").short == ""
