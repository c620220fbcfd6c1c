"""What the rules find: units of passages, their order, and short answers where the passages state one."""

import pytest
from banyan.models.parsing.parser import Parser
from banyan.models.rules.finder import Finder
from banyan.models.rules.question import analyse
from banyan.models.rules.rules_reasoner import RulesReasoner
from banyan.models.rules.units import find_units
from banyan.schemas.retrieval import Passage
from hypothesis import given
from hypothesis import strategies as st

PARSER = Parser()
BOATS = """| Boat: Heron | Built: 2021 | Passengers: 420 | Drive: battery | Captain: Jonas Wiebe |
| Boat: Teal | Built: 2009 | Passengers: 60 | Drive: diesel | Captain: Ann Lee |
| Boat: Ottilie | Built: 1924 | Passengers: 90 | Drive: steam | Captain: Bo Karlsen |"""


def passage(text, title="", document="d"):
    return Passage(chunk_id=document, document=document, title=title, text=text, start=0, score=1.0)


def ask(question, *passages):
    return RulesReasoner(PARSER).answer(question, list(passages))


def short(question, *texts):
    return ask(question, *(passage(text, document=str(n)) for n, text in enumerate(texts))).short


@given(st.lists(st.sampled_from(["# A", "- b", "It is.", "So: ", "\n", "\n\n", " ", "| A: b | C: d |", "**Key** x.",
                                 "他在。", "==="]), max_size=20).map("".join))
def test_units_stand_in_their_passage_and_their_quotes_hold_them(text):
    for unit in find_units(1, passage(text)):
        assert text[unit.start : unit.end] == unit.text
        start, end = unit.quote()
        assert start <= unit.start < unit.end <= end


def first(question, *texts):
    finder = Finder([passage(text, document=str(n)) for n, text in enumerate(texts)], PARSER)
    return finder.search(analyse(question))[0].unit.text


@pytest.mark.parametrize(("question", "expected"), [
    ("Who was present at the meeting of 5 June?", "Ann Lee; Bo Karl; Cy Dee"),
    ("Who did they say was present at the meeting of 5 June?", ""), ("Who paints at the meeting of 5 June?", "Bo Karl"),
])
def test_a_list_answers_as_a_whole_or_not_at_all(question, expected):
    minutes = "## Present\n\n* Ann Lee\n* Bo Karl\n* Cy Dee\n\n## Agenda\n\nBo Karl paints.\n"
    assert ask(question, passage(minutes, title="Meeting of 5 June")).short == expected


def test_the_ending_of_a_possessive_is_no_word_of_the_question():
    ended = "The term of Bo ended, which the board regretted."
    assert first("Why did Bo's term end?", "Bo's term was good.", ended, "The board's end. The boards of Bo.") == ended


HARDING = "Harding died in August 1923. Ann Lee had known President Harding for long."
EPISODE = "| Document: Bunk beds (9.md) | Title: Bunk beds | Episode: 9 | Description: The longest ever outtake. |"
SCHUMANNS = "# The Schumanns\n\nRobert Schumann lived in Bonn. He composed two sonatas."


@pytest.mark.parametrize(("question", "text", "expected"), [
    ("When was the mill sold?", "The mill was sold in 1921.", "1921"),
    ("Who designed the bridge?", "The bridge was designed by Anna Lindgren.", "Anna Lindgren"),
    ("Who discovered polonium?", "Polonium was discovered by Marie Curie and Pierre Curie.",
     "Marie Curie and Pierre Curie"),
    ("On which river does Ulm lie?", "Ulm lies on the Danube, in the lowlands of Swabia.", "Danube"),
    ("How many people work at the mill?", "58 people work at the mill.", "58 people"),
    ("Which animal was chosen as the mascot of the club?", "Grey heron is the mascot of the club.", "Grey heron"),
    ("林小雨出生在哪个城市？", "林小雨是中国画家，1930年出生于宁波。", "宁波"),
    ("教务处的电话是多少？", "教务处电话：028-87825027", "028-87825027"),
    ("What is the phone number of the mill?", "The phone number of the mill is +49 7311 4455.", "+49 7311 4455"),
    ("商学院有几个本科专业？", "商学院拥有7个本科专业和3个专科专业。计算机学院有6个本科专业。", "7个"),
    ("Wie hoch waren die Einnahmen im Jahr 2024?", "Die Einnahmen im Jahr 2024 waren 8.447,24 €.", "8.447,24 €"),
    # A sentence that begins with another name is not about its heading, and a namesake is another person.
    ("When did Ann Lee die?", f"# Ann Lee\n\n{HARDING}", ""), ("When did Harding die?", f"# Ann Lee\n\n{HARDING}",
                                                             "August 1923"),
    ("When did Ann Lee die?", "# Ann Lee\n\nShe died in August 1923.", "August 1923"),
    ("How many sonatas did Robert Schumann compose?", SCHUMANNS, "two sonatas"),
    ("How many sonatas did Clara Schumann compose?", SCHUMANNS, ""),
    ("How many sonatas did Clara Schumann compose?",
     "# Schumann and Brahms\n\nNow that was not the way in which he composed his two sonatas.", ""),
    # A numbered row is one of many that nothing names: its cell would answer for all of them.
    ("What percentage of the biopics subjects are female?",
     "| row: biopics row 7 | Title: The Countess | Subjects: 1 | Subject: Ada Byron | Sex of subject: Female |", ""),
    ("What is the longest episode?", EPISODE, ""), ("What is the episode of Bunk beds?", EPISODE, "9"),
    ("What is the highest point of Radom?", "| Document: Radom (radom.md) | Highest point: Bald Hill |", "Bald Hill"),
    ("Does the club lend skis?", "The club does not lend skis.", "No"),
    ("Does the club lend skis?", "The club lends skis.", ""),
    ("Does the club lend skis?", "The club does not lend skis before May.", ""),
    ("Does the club lend skis?", "The club does not own the hut where it lends skis.", ""),
    ("访客可以携带宠物吗？", "访客不得携带宠物。", "不得携带宠物"), ("访客可以携带宠物吗？", "访客可以携带宠物。", ""),
    ("访客可以携带宠物吗？", "访客不得携带食品，宠物除外。", ""),
])
def test_the_only_span_of_the_kind_is_the_answer(question, text, expected):
    assert short(question, text) == expected


@pytest.mark.parametrize(("question", "text"), [
    ("Who runs the mill?", "Ann Lee and Bob Ray argued when Carl Berg ran the mill."),
    ("When was the mill sold?", "The mill was not sold in 1921."),
    ("When did the mill first open?", "The second opening of the mill was in 1957."),
    ("How many people work at the mill?", "23 metres above the people the mill works."),
    ("How much does the mill cost?", "The mill costs 12 days of work."),
    ("Who is the warden?", "Leonhard Abegg is the warden's first contact."),
    ("Who could deliver sooner, Linnert or Vasteel?", "Linnert could deliver sooner, says Ann Lee."),
    ("Which version of the engine drives the mill?", "A version of the engine made by Ann Lee drives the mill."),
    ("Which boats sail to Ulm?", "The Heron Line is the firm whose boats sail to Ulm."),
    ("Did Ann Lee open the mill?", "Ann Lee opened the mill in 1921.")])
def test_what_is_not_stated_is_not_answered(question, text):
    said = ask(question, passage(text))
    assert (said.short, said.claims[0].quotes[0].words) == ("", text)


@pytest.mark.parametrize(("question", "expected"), [
    ("How many passengers can the Heron take?", "420"), ("When was the Teal built?", "2009"),
    ("Who is the captain of the Teal?", "Ann Lee"), ("Which boat has a battery drive?", "Heron")])
def test_a_cell_is_found_by_its_row_and_header_and_shown_readable(question, expected):
    said = ask(question, passage(BOATS, "The fleet"))
    assert said.short == expected
    assert said.claims[0].text.partition(" – ")[0] in {"Heron", "Teal"}
    assert said.claims[0].quotes[0].words in BOATS


def test_rows_of_one_box_of_facts_do_not_contradict_each_other():
    box = "| Name: Teal | Owner: Bob Ray | Status: afloat |\nHull\n| Name: Teal | Beam: 4 m | Built: 2009 |\n"
    assert short("Who is the owner of the Teal?", box) == "Bob Ray"
    assert short("Who is the owner of the Teal?", f"{box}Fleet\n| Name: Teal | Owner: Ann Lee | Beam: 5 m |\n") == ""


FAQ = """**Is the hut open in winter?**

No. It closes in October.

**Can I pay by card?**

Yes, at the bar.

## Rooms

Does a dog sleep inside?
"""


@pytest.mark.parametrize(("question", "expected"), [
    ("Is the hut open in winter?", "No"), ("Can I pay by card?", "Yes"), ("Can I pay by cheque in summer?", "")])
def test_a_listed_question_answers_with_its_answer(question, expected):
    said = ask(question, passage(FAQ))
    assert said.short == expected
    assert not said.claims[0].text.rstrip("*").endswith("?"), "a question is not quoted without its answer"


STEPS = """# Mill

## Stages of a visit

A visit has these stages:

- Arrival
- Tour
- Tasting

## Attendees

* [Ann Lee](https://x.example/ann)
* [Bo Karlsen](https://x.example/bo)
"""


@pytest.mark.parametrize(("question", "expected"), [
    ("Which stages does a visit have?", "Arrival; Tour; Tasting"),
    ("What are the three stages of a visit?", "Arrival; Tour; Tasting"),
    ("Who attended the mill?", "Ann Lee; Bo Karlsen"), ("Which machines does the mill have?", "")])
def test_several_things_are_the_items_of_the_list_below_what_is_asked(question, expected):
    assert ask(question, passage(STEPS, "Mill")).short == expected

LAWS = [passage("本法自2011年6月1日起施行。渔船登记的期限为十日。", "中华人民共和国渔船法(2010-12-01)", "a"),
        passage("本条例自2015年3月1日起施行。渔船登记的期限为三十日。", "渔船法实施条例", "b")]


@pytest.mark.parametrize(("question", "expected"), [
    ("《渔船法》从什么时候开始施行？", "2011年6月1日"), ("《渔船法实施条例》什么时候施行？", "2015年3月1日"),
    ("渔船登记的期限，《渔船法》和《渔船法实施条例》分别规定多少日？", "")])
def test_a_title_in_brackets_means_one_document(question, expected):
    assert ask(question, *LAWS).short == expected


def test_each_document_that_a_question_names_is_quoted():
    mills = [passage(f"The {name} mill grinds rye. It has two stones.", f"The {name} mill", name)
             for name in ("Aster", "Birch", "Cedar")]
    said = ask("How do the stones of the Birch mill and of the Cedar mill differ?", *mills)
    assert {2, 3} <= {quote.item for claim in said.claims for quote in claim.quotes}


def test_a_university_is_not_left_out_because_others_are_named():
    others = [passage(f"The University of {town} teaches law.", town, town) for town in ("Ulm", "Graz", "Oslo")]
    park = passage("Skansen was founded in 1891 by Karl Blum.", "Stockholm")
    assert ask("Who founded the University of Stockholm?", park, *others).short == ""


def test_two_values_in_the_same_words_are_no_answer():
    year = "Der Endbestand zum 31.12.2024 ist {} €."
    assert short("Wie hoch war der Endbestand zum 31.12.2024?", year.format("4.125,17")) == "4.125,17 €"
    assert short("Wie hoch war der Endbestand zum 31.12.2024?", *map(year.format, ("4.125,17", "7.143,35"))) == ""


def test_a_list_answers_if_it_says_what_it_lists():
    contacts = passage("## 联系方式\n\n- 邮箱：a@b.cn\n- 电话：028-87825027\n", "航空学院")
    subjects = passage("## 专业\n\n- 飞行器动力工程\n- 飞行器制造工程\n", "航空学院")
    assert ask("航空学院有哪些专业？", contacts).short == ""
    assert ask("航空学院有哪些专业？", subjects).short == "飞行器动力工程；飞行器制造工程"
