"""What the rules find: units of passages, their order, and short answers where the passages state one."""

import pytest
from banyan.models.parsing.parser import Parser
from banyan.models.rules.answers import Answers
from banyan.models.rules.finder import Finder
from banyan.models.rules.question import analyse
from banyan.models.rules.units import LONGEST_QUOTE, find_units
from banyan.schemas.retrieval import Passage, Place
from hypothesis import given, settings
from hypothesis import strategies as st

PARSER = Parser()
HUT = """# The hut

Marta has run it since 2017. She lives there all year.

## Repairs

Leonhard signs for repairs. Reto looks after the turbine. He is not paid.

Please bring:

- a sleeping bag
- slippers
- cash
"""
BOATS = """| Boat: Heron | Built: 2021 | Passengers: 420 | Drive: battery | Captain: Jonas Wiebe |
| Boat: Teal | Built: 2009 | Passengers: 60 | Drive: diesel | Captain: Ann Lee |
| Boat: Ottilie | Built: 1924 | Passengers: 90 | Drive: steam | Captain: Bo Karlsen |"""


def passage(text, title="", document="d"):
    return Passage(chunk_id=document, document=document, title=title, text=text, start=0, score=1.0)


def ask(question, *passages):
    return Answers(PARSER).answer(question, list(passages))


def short(question, *texts):
    return ask(question, *(passage(text, document=str(n)) for n, text in enumerate(texts))).short


def quotes_of(text, start):
    return next(text[slice(*unit.quote)] for unit in find_units(1, passage(text)) if unit.text.startswith(start))


def test_a_quote_stays_below_its_heading():
    assert quotes_of(HUT, "Marta") == "Marta has run it since 2017. She lives there all year."


def test_a_list_is_quoted_whole_with_the_sentence_that_opens_it():
    whole = "Please bring:\n\n- a sleeping bag\n- slippers\n- cash"
    assert quotes_of(HUT, "- slippers") == quotes_of(HUT, "Please bring") == whole


def test_a_long_paragraph_is_cut_to_the_sentences_around():
    text = " ".join(f"Sentence number {n} says that the boat left." for n in range(60))
    quote = quotes_of(text, "Sentence number 30")
    assert quote.startswith("Sentence number 30")
    assert len(quote) <= LONGEST_QUOTE


@given(st.lists(st.sampled_from(["# A", "- b", "It is.", "So: ", "\n", "\n\n", " ", "| A: b | C: d |", "**Key** x.",
                                 "他在。", "==="]), max_size=20).map("".join))
@settings(max_examples=200, deadline=None)
def test_units_stand_in_their_passage_and_their_quotes_hold_them(text):
    for unit in find_units(1, passage(text)):
        assert text[unit.start : unit.end] == unit.text
        assert unit.quote[0] <= unit.start < unit.end <= unit.quote[1]


def first(question, *texts):
    finder = Finder([passage(text, document=str(n)) for n, text in enumerate(texts)], PARSER)
    return finder.search(analyse(question))[0].unit.text


def test_similar_words_count():
    assert first("What does it cost?", "Marta paints boats.", "The price is 4 pounds.") == "The price is 4 pounds."


def test_rare_words_count_most():
    assert first("What colour is the lamp in the attic?", "The lamp in the hall is red.",
                 "The lamp in the cellar is blue.", "The attic has a green one.") == "The attic has a green one."


def test_a_sentence_with_the_expected_kind_comes_first():
    assert first("When was the mill sold?", "The mill was sold.", "The mill was sold in 1921.") == (
        "The mill was sold in 1921.")


def test_quotes_do_not_overlap():
    finder = Finder([passage(HUT), passage(HUT)], PARSER)
    chosen = finder.quotes(finder.search(analyse("Who looks after the turbine?")))
    places = [(item.unit.quote, item.unit.passage) for item in chosen]
    assert len(places) == len(set(places))
    assert len({quote for quote, _ in places}) == len(places), "both passages are of one document"


@pytest.mark.parametrize(("question", "text", "expected"), [
    ("When was the mill sold?", "The mill was sold in 1921.", "1921"),
    ("Who designed the bridge?", "The bridge was designed by Anna Lindgren.", "Anna Lindgren"),
    ("Who discovered polonium?", "Polonium was discovered by Marie Curie and Pierre Curie.",
     "Marie Curie and Pierre Curie"),
    ("On which river does Ulm lie?", "Ulm lies on the Danube, in the lowlands of Swabia.", "Danube"),
    ("How many people work at the mill?", "58 people work at the mill.", "58 people"),
    ("Which animal was chosen as the mascot of the club?", "Grey heron is the mascot of the club.", "Grey heron"),
    ("Which tool did the club choose?", "OpenMill, a tool for millers made by Ann Lee Labs, was chosen by the club.",
     "OpenMill"),
    ("林小雨出生在哪个城市？", "林小雨是中国画家，1930年出生于宁波。", "宁波"),
])
def test_the_only_span_of_the_kind_is_the_answer(question, text, expected):
    assert short(question, text) == expected


@pytest.mark.parametrize(("question", "text"), [
    ("Who runs the mill?", "Ann Lee and Bob Ray argued when Carl Berg ran the mill."),  # which of them?
    ("When was the mill sold?", "The mill was not sold in 1921."),  # negated
    ("Who was the director before Ann Lee?", "Ann Lee is the director of the mill."),  # the limit is not said
    ("When did the mill first open?", "The second opening of the mill was in 1957."),
    ("How many people work at the mill?", "23 metres above the people the mill works."),  # another measure
    ("How much does the mill cost?", "The mill cost 12% more."),
    ("Who is the warden?", "Leonhard Abegg is the warden's first contact."),  # an owner only
    ("Who could deliver sooner, Linnert or Vasteel?", "Linnert could deliver sooner, says Ann Lee."),  # a choice
    ("Which animal ate the mascot of the club?", "Grey heron is the mascot of the club."),
    ("Which boats sail to Ulm?", "The Heron Line is the firm whose boats sail to Ulm."),  # one name for several
    ("Did Ann Lee open the mill?", "Ann Lee opened the mill in 1921."),  # no verdicts
    ("青屿大学成立于哪一年？", "青屿研究所成立于1952年，隶属于青屿大学。"),  # another subject
])
def test_what_is_not_stated_is_not_answered(question, text):
    said = ask(question, passage(text))
    assert said.short == ""
    assert said.claims[0].quotes[0].words == text


@pytest.mark.parametrize(("question", "expected", "line"), [
    ("How many passengers can the Heron take?", "420", "Passengers of Heron: 420"),
    ("When was the Teal built?", "2009", "Built of Teal: 2009"),
    ("Who is the captain of the Teal?", "Ann Lee", "Captain of Teal: Ann Lee"),
    ("Which boat has a battery drive?", "Heron", "Boat: Heron – Drive: battery"),
])
def test_a_cell_is_found_by_its_row_and_header_and_shown_readable(question, expected, line):
    said = ask(question, passage(BOATS, "The fleet"))
    assert (said.short, said.claims[0].text) == (expected, line)
    assert said.claims[0].quotes[0].words in BOATS


def test_a_row_that_the_question_does_not_name_answers_nothing():
    assert short("How many passengers can the Heron 2 take?", BOATS) == ""
    assert short("How many passengers does a boat take?", BOATS) == ""


@pytest.mark.parametrize(("question", "expected"), [
    ("Which boat takes the most passengers?", "Heron"), ("Which boat takes the fewest passengers?", "Teal"),
    ("What is the oldest boat?", "Ottilie"), ("Which was built earlier, the Teal or the Heron?", "Teal"),
])
def test_superlatives_and_comparisons_over_one_column(question, expected):
    said = ask(question, passage(BOATS, "The fleet"))
    assert said.short == expected
    assert all(quote.words in BOATS for claim in said.claims for quote in claim.quotes)


@pytest.mark.parametrize("question", ["Which boat is the most beautiful?", "What do I pay if I am a member?"])
def test_what_no_column_measures_is_not_compared(question):
    assert short(question, BOATS) == ""


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


def test_an_answer_is_quoted_with_its_question():
    assert quotes_of(FAQ, "It closes") == "**Is the hut open in winter?**\n\nNo. It closes in October."


@pytest.mark.parametrize(("question", "text", "expected"), [
    ("Does the club lend skis?", "The club does not lend skis.", "No"),
    ("Does the club lend skis?", "The club lends skis.", ""),
    ("Does the club lend skis?", "The club does not lend skis before May.", ""),
    ("Does the club lend skis?", "The club does not own the hut where it lends skis.", ""),
    ("访客可以携带宠物吗？", "访客不得携带宠物。", "不得携带宠物"),
    ("访客可以携带宠物吗？", "访客可以携带宠物。", ""),
    ("访客可以携带宠物吗？", "访客不得携带食品，宠物除外。", ""),
])
def test_no_is_said_where_a_sentence_denies_what_is_asked(question, text, expected):
    assert short(question, text) == expected


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
    ("What are the four stages of a visit?", ""),
    ("Who attended the mill?", "Ann Lee; Bo Karlsen"),
    ("Which machines does the mill have?", ""),
])
def test_several_things_are_the_items_of_the_list_below_what_is_asked(question, expected):
    assert ask(question, passage(STEPS, "Mill")).short == expected


def test_several_things_are_the_cells_of_a_column_if_no_row_is_meant():
    assert short("Which captains are there?", BOATS) == "Jonas Wiebe; Ann Lee; Bo Karlsen"
    assert short("Which captains are on the Teal?", BOATS) == "Ann Lee"


@pytest.mark.parametrize(("question", "text", "expected"), [
    ("王芳什么时候加入研究所？", "2019年5月，王芳加入研究所。", "2019年5月"),
    ("王芳什么时候加入研究所？", "王芳加入研究所：2019年5月", "2019年5月"),
    ("合作社什么时候决定迁址？", "合作社2001年成立，2017年11月，社员大会决定到2020年前迁址。", "2017年11月"),
    ("试用期最长几个月？", "试用期最长不得超过六个月。", "六个月"),
    ("合同期限是多少个月？", "合同期限为18个月。", "18个月"),
    ("合作社有几名副主任？", "合作社设副主任3人，秘书1人。", "3人"),
    ("加班应当支付多少工资？", "加班的，支付不低于百分之二百的工资。", "百分之二百"),
    ("哪些情形不予退票？", "有下列情形之一的，不予退票：\n（一）演出已经开始的；\n（二）票面损毁的。",
     "演出已经开始的；票面损毁的"),
    ("规范初稿是什么时候写的？", "规范初稿写于2022-8-24。", "2022-8-24"),
    ("谁发表了宣言？", "Rita Solberg 发表了宣言。", "Rita Solberg"),
])
def test_chinese_questions_are_answered_by_tables_of_words(question, text, expected):
    assert short(question, text) == expected


LAWS = [passage("本法自2011年6月1日起施行。渔船登记的期限为十日。", "中华人民共和国渔船法(2010-12-01)", "a"),
        passage("本条例自2015年3月1日起施行。渔船登记的期限为三十日。", "渔船法实施条例", "b")]


@pytest.mark.parametrize(("question", "expected"), [
    ("《渔船法》从什么时候开始施行？", "2011年6月1日"), ("《渔船法实施条例》什么时候施行？", "2015年3月1日"),
    ("渔船登记的期限，《渔船法》和《渔船法实施条例》分别规定多少日？", "十日；三十日"),
])
def test_a_title_in_brackets_means_one_document(question, expected):
    assert ask(question, *LAWS).short == expected


def test_each_document_that_a_question_names_is_quoted():
    mills = [passage(f"The {name} mill grinds rye. It has two stones.", f"The {name} mill", name)
             for name in ("Aster", "Birch", "Cedar")]
    said = ask("How do the stones of the Birch mill and of the Cedar mill differ?", *mills)
    assert {2, 3} <= {quote.item for claim in said.claims for quote in claim.quotes}


def test_one_quote_says_what_the_best_one_lacks_about_a_name_that_it_brings():
    texts = ["Corvel & Sons advised the Aster mill to grind rye.", "The Aster mill grinds rye.",
             "Rye is ground at the mill.", "The mill stands in a valley.", "Bea Lind is the director at Corvel & Sons."]
    said = ask("Who is the director of the firm that advised the Aster mill to grind rye?", *(
        passage(text, document=str(number)) for number, text in enumerate(texts)))
    assert {1, 5} <= {quote.item for claim in said.claims for quote in claim.quotes}


def test_rows_of_metadata_are_quoted_only_for_a_field_that_is_asked_for():
    text = "| Document: Otter | Title: Otter | Status: Draft |\n\nOtter is a proposal about mills."
    assert ask("What is the status of Otter?", passage(text, "Otter")).short == "Draft"
    assert [claim.text for claim in ask("What is Otter about?", passage(text, "Otter")).claims] == [
        "Otter is a proposal about mills."]


def test_nothing_is_quoted_twice():
    said = ask("How many stones has the mill?", *(passage("It has stones.", "Mill", name) for name in "ab"))
    assert len(said.claims) == 1


def test_a_heading_with_a_figure_can_answer():
    said = short("When were the minutes approved?", "# Minutes (approved on 3 May 2021)\n\n- Roof\n- Fees")
    assert said == "3 May 2021"


def overview_item(kind, statement, *places):
    return Passage(chunk_id="", document="d", title="Our story", text=places[0].text, start=0, score=0, kind=kind,
                   statement=statement, places=places)


def test_reports_are_told_by_the_facts_that_they_rest_on_and_rows_as_facts():
    ada, town = (Place(document="d", start=0, text=text, member=told) for text, told in (
        ("Ada wrote notes.", "Ada Notes"), ("| Name: Ada | Town: Ulm |", "Ada Ulm")))
    said = ask("What is this about?", overview_item("report", "Notes. On Ada.", ada, ada, town),
               overview_item("report", "笔记. 关于", ada), passage("Other."))
    assert [claim.text for claim in said.claims] == ["Notes: Ada wrote notes; Ada Ulm.", "笔记：Ada wrote notes。"]
    assert [quote.item for claim in said.claims for quote in claim.quotes] == [1, 2]


def test_of_a_few_documents_an_overview_tells_what_each_opens_with():
    ale = Place(document="d", start=0, text="We brew ale.")
    said = ask("What is this about?", overview_item("opening", "Our story: We brew ale.", ale),
               overview_item("report", "Ale. Brewing.", ale))
    assert [claim.text for claim in said.claims] == ["Our story: We brew ale."]


def test_nothing_is_answered_from_nothing():
    said = ask("Who wrote Emma?")
    assert not said.answerable
    assert said.claims == []
    assert ask("？", passage(HUT)).short == ""
