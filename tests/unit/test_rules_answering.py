"""The answering side of the rules reasoner: sentences, answers, abstention, reflection, summaries."""

import pytest
from banyan.models.embedding.word_vectors import word_vectors
from banyan.models.parsing.parser import Parser
from banyan.models.rules.answering.answers import answer, reflect
from banyan.models.rules.answering.evidence import Pools
from banyan.models.rules.answering.sentences import sentences_of
from banyan.models.rules.answering.spans import candidates
from banyan.models.rules.questions.answer_types import analyse
from banyan.models.rules.reasoner import RulesReasoner
from banyan.models.rules.summaries import summarise
from banyan.schemas.extraction import Extraction, ExtractionRequest
from banyan.schemas.graph_schema import open_schema
from banyan.schemas.retrieval import CommunityDigest, Passage, SubAnswer, TypedFact
from banyan.text.dates import Months, months_named, overlap
from hypothesis import given, settings
from hypothesis import strategies as st

PARSER = Parser()


def passage(title: str, text: str, score: float = 1.0) -> Passage:
    return Passage(chunk_id=title, document=title, title=title, text=text, start=0, score=score)


ENGLISH = [
    passage("Ada Byron", "Ada Byron was a mathematician. She was born in Ulm, Germany, on 3 May 1801."),
    passage("Ulm", "Ulm is a city in Germany. Ulm lies on the river Danube. It has a tall minster."),
    passage("Analytical engine", "The analytical engine was described by Ada Byron in 1843."),
    passage("Carl Berg", "Carl Berg was a painter. He was born in Turku on 9 June 1799."),
]
CHINESE = [
    passage("林小雨", "林小雨是化学家，1930年12月30日出生于宁波。她毕业于北京大学。"),
    passage("晨光公司", "晨光公司成立于2005年3月，总部位于杭州。2019年，公司的净利润为5亿元。"),
    passage("青岚素", "青岚素由林小雨发现，用于治疗疟疾。"),
]


def history(*questions: str) -> list[SubAnswer]:
    return [SubAnswer(question=question) for question in questions]


def assert_verbatim(draft, passages) -> None:
    for claim in draft.claims:
        assert claim.quotes
        for quote in claim.quotes:
            assert quote.words
            assert quote.words in passages[quote.passage - 1].text


@pytest.mark.parametrize(("question", "passages", "short", "quoted"), [
    ("In which city was Ada Byron born?", ENGLISH, "Ulm", "She was born in Ulm"),
    ("When was Ada Byron born?", ENGLISH, "3 May 1801", "She was born in Ulm"),
    ("On which river does Ulm lie?", ENGLISH, "Danube", "lies on the river Danube"),
    ("Who described the analytical engine?", ENGLISH, "Ada Byron", "described by Ada Byron"),
    ("林小雨出生在哪座城市？", CHINESE, "宁波", "出生于宁波"),
    ("晨光公司2019年的净利润是多少？", CHINESE, "5亿元", "净利润为5亿元"),
    ("谁发现了青岚素？", CHINESE, "林小雨", "由林小雨发现"),
])
def test_the_answer_leads_and_its_sentence_is_quoted(question, passages, short, quoted, hashed_embedder):
    draft = answer(question, [], passages, Pools(hashed_embedder, PARSER))
    assert draft.answerable
    assert draft.claims[0].text.startswith(short)
    assert quoted in draft.claims[0].quotes[0].words
    assert_verbatim(draft, passages)


@pytest.mark.parametrize(("question", "passages"), [
    ("What is the population of Ulm?", ENGLISH), ("Who is the wife of Carl Berg?", ENGLISH),
    ("When was Otto Quist born?", ENGLISH), ("林小雨的丈夫是谁？", CHINESE), ("晨光公司有多少名员工？", CHINESE),
    ("王大明出生在哪座城市？", CHINESE), ("晨光公司2018年的净利润是多少？", CHINESE),
])
def test_what_the_passages_do_not_say_is_declined(question, passages, hashed_embedder):
    draft = answer(question, [], passages, Pools(hashed_embedder, PARSER))
    assert draft.confidence < 0.5
    assert draft.claims
    assert_verbatim(draft, passages)


def test_a_sentence_about_another_entity_is_not_taken(hashed_embedder):
    passages = [passage("Eve Byron", "She was born in Paris on 2 May 1830 as a daughter of Ada Byron."), ENGLISH[0]]
    draft = answer("In which city was Ada Byron born?", [], passages, Pools(hashed_embedder, PARSER))
    assert draft.claims[0].quotes[0].passage == 2


def test_each_hop_is_a_claim_the_final_first(hashed_embedder):
    asked = history("Who described the analytical engine?", "In which city was {answer 1} born?",
                    "On which river does {answer 2} lie?")
    draft = answer("On which river ...?", asked, ENGLISH, Pools(hashed_embedder, PARSER))
    assert draft.answerable
    assert [claim.text.split(":")[0] for claim in draft.claims] == ["Danube", "Ada Byron", "Ulm"]
    assert_verbatim(draft, ENGLISH)


def test_a_chain_that_breaks_is_declined(hashed_embedder):
    asked = history("Who described the analytical engine?", "What is the salary of {answer 1}?")
    question = "What is the salary of the person who described the analytical engine?"
    assert answer(question, asked, ENGLISH, Pools(hashed_embedder, PARSER)).confidence < 0.5


def test_a_comparison_is_decided_with_both_quotes(hashed_embedder):
    draft = answer("Who was born first, Ada Byron or Carl Berg?", [], ENGLISH, Pools(hashed_embedder, PARSER))
    assert draft.answerable
    assert draft.claims[0].text == "Carl Berg (Ada Byron: 3 May 1801; Carl Berg: 9 June 1799)"
    assert [quote.passage for quote in draft.claims[0].quotes] == [1, 4]
    missing = answer("Who was born first, Ada Byron or Otto Quist?", [], ENGLISH, Pools(hashed_embedder, PARSER))
    assert not missing.answerable
    assert missing.confidence == 0


@pytest.mark.parametrize(("question", "said"), [
    ("Was Ada Byron born before Carl Berg?", "No (Ada Byron: 3 May 1801; Carl Berg: 9 June 1799)"),
    ("Was Ada Byron born after Carl Berg?", "Yes (Ada Byron: 3 May 1801; Carl Berg: 9 June 1799)"),
])
def test_an_order_in_time_is_confirmed_or_denied(question, said, hashed_embedder):
    draft = answer(question, [], ENGLISH, Pools(hashed_embedder, PARSER))
    assert (draft.claims[0].text, draft.short) == (said, said.partition(" ")[0])


RIVERS = [passage("Elm", "The Elm is a river. The Elm is 900 metres long."),
          passage("Oak", "The Oak is a river. The Oak is 12 km long."),
          passage("Ash", "The Ash is a river. The Ash is 12 reeds long.")]


def test_numbers_are_compared_in_one_unit_or_not_at_all(hashed_embedder):
    assert answer("Which is longer, the Elm or the Oak?", [], RIVERS, Pools(hashed_embedder, PARSER)).short == "the Oak"
    assert not answer("Which is longer, the Elm or the Ash?", [], RIVERS, Pools(hashed_embedder, PARSER)).answerable


def test_a_year_and_a_day_of_it_are_in_no_order(hashed_embedder):
    passages = [passage("Ann Lee", "Ann Lee was born in 1801."), passage("Bob Ray", "Bob Ray was born on 3 May 1801.")]
    draft = answer("Who was born first, Ann Lee or Bob Ray?", [], passages, Pools(hashed_embedder, PARSER))
    assert not draft.answerable


def test_of_two_values_the_one_of_the_graph_is_taken(hashed_embedder):
    text = "Ulm Works, whose hall was built in 1955, was founded by Ada Byron, who left in 1960, in the spring of 1948."
    bare = passage("Ulm Works", text)
    fact = TypedFact(entities=("Ulm Works",), asked_by=("founding_date", "founded"), value="1948", normal="1948",
                      start=0, end=len(text))
    assert answer("When was Ulm Works founded?", [], [bare], Pools(hashed_embedder, PARSER)).short != "1948"
    known = bare.model_copy(update={"facts": (fact,)})
    assert answer("When was Ulm Works founded?", [], [known], Pools(hashed_embedder, PARSER)).short == "1948"
    assert answer("When was Ulm Works built?", [], [known], Pools(hashed_embedder, PARSER)).short == "1955"


def test_questions_about_the_whole_quote_several_passages(hashed_embedder):
    draft = answer("Give an overview of these documents.", [], ENGLISH, Pools(hashed_embedder, PARSER))
    assert len({claim.quotes[0].passage for claim in draft.claims}) > 1
    assert_verbatim(draft, ENGLISH)


def test_without_passages_there_is_no_answer(hashed_embedder):
    draft = answer("Who wrote Emma?", [], [], Pools(hashed_embedder, PARSER))
    assert not draft.answerable
    assert draft.claims == []


def test_reflection_fills_names_and_asks_on(hashed_embedder):
    asked = history("Who described the analytical engine?", "In which city was {answer 1} born?",
                    "On which river does {answer 2} lie?")
    first = reflect("?", asked, [ENGLISH[2]], open_schema(), Pools(hashed_embedder, PARSER))
    assert not first.sufficient
    assert [item.question for item in first.sub_answers] == [item.question for item in asked]
    assert [item.answer for item in first.sub_answers] == ["Ada Byron", "", ""]
    assert [item.question for item in first.sub_queries] == ["In which city was Ada Byron born?"]
    second = reflect("?", [*first.sub_answers, *history("In which city was Ada Byron born?")], ENGLISH, open_schema(),
                     Pools(hashed_embedder, PARSER))
    assert second.sufficient
    assert [item.answer for item in second.sub_answers] == ["Ada Byron", "Ulm", "Danube", "Ulm"]
    assert second.sub_queries == []


def test_reflection_never_repeats_a_question(hashed_embedder):
    asked = [SubAnswer(question="Who described the analytical engine?", answer="Ada Byron"),
             *history("What is the salary of {answer 1}?", "what is the salary of  Ada Byron?")]
    assert reflect("?", asked, ENGLISH, open_schema(), Pools(hashed_embedder, PARSER)).sub_queries == []


def test_reflection_works_in_chinese(hashed_embedder):
    found = reflect("发现青岚素的人出生在哪座城市？", history("谁发现了青岚素？", "{answer 1}出生在哪座城市？"),
                    CHINESE,
                    open_schema(), Pools(hashed_embedder, PARSER))
    assert found.sufficient
    assert [item.answer for item in found.sub_answers] == ["林小雨", "宁波"]


def test_spans_prefer_the_expected_kind():
    question = analyse("Who wrote Emma?", PARSER)
    sentence = "Emma was written by the English novelist Jane Austen in London in 1815."
    assert candidates(question, sentence, "")[0].words == "Jane Austen"
    country = analyse("In which country was Ada born?", PARSER)
    assert candidates(country, "She was born in Ulm, Germany.", "Ada")[0].words == "Germany"
    assert candidates(analyse("Why did it sink?", PARSER), "It sank because of a storm in 1628.", "") == []


def test_times_must_agree():
    assert not overlap(months_named("What happened in 2017年12月?"), months_named("2017年3月，公司成立。"))
    assert overlap(months_named("What happened in 2017?"), months_named("2017年3月，公司成立。"))


@pytest.mark.parametrize(("text", "found"), [
    ("2019年第三季度", [Months(2019, 7, 9)]), ("2018年上半年和2017年", [Months(2018, 1, 6), Months(2017)]),
    ("2019年3月5日，公司", [Months(2019, 3, 3)]), ("in March 1990", [Months(1990, 3, 3)]),
    ("3 May 1801", [Months(1801, 5, 5)]), ("Q3 2019", [Months(2019, 7, 9)]), ("2019-03-05", [Months(2019, 3, 3)]),
    ("the second half of 2020", [Months(2020, 7, 12)]), ("第一季度", [Months(0, 1, 3)]), ("2019-13", [Months(2019)]),
    ("the 1980s", []), ("1,944 people paid $2000", []), ("2000元", []),
    ("from 2014–2018", [Months(2014), Months(2018)]), ("Ulm (1835-1924)", [Months(1835), Months(1924)]),
    ("5月3日", [Months(0, 5, 5)]), ("44 BC", []), ("5年", []),
])
def test_times_are_read_as_precisely_as_they_are_said(text, found):
    assert months_named(text) == found


def test_quarters_must_agree_even_without_a_year():
    assert not overlap(months_named("第一季度的利润是多少？"), months_named("第三季度的利润为5亿元。"))
    assert overlap(months_named("第一季度的利润是多少？"), months_named("2019年3月的利润为5亿元。"))


REPORT = [passage("海岚航运公司2021年度报告",
                  "2021年，海岚航运公司实现营业收入38亿元。第三季度的净利润为2亿元。公司拥有船舶46艘。")]


@pytest.mark.parametrize(("question", "sure"), [
    ("海岚航运公司2021年的营业收入是多少？", True), ("海岚航运公司第三季度的净利润是多少？", True),
    ("海岚航运公司2020年的营业收入是多少？", False), ("海岚航运公司第一季度的净利润是多少？", False),
    ("海岚航运公司2021年的销售费用是多少？", False), ("滨海港务公司2021年的营业收入是多少？", False),
])
def test_property_period_and_company_must_all_be_said(question, sure, hashed_embedder):
    assert (answer(question, [], REPORT, Pools(hashed_embedder, PARSER)).confidence >= 0.5) is sure


def test_a_university_is_not_a_person_of_its_citys_name(hashed_embedder):
    passages = [passage("Ulm", "Ulm is a city in Germany. The Academy of Ulm was founded in 1739 by Carl Berg.")]
    assert answer("Who founded the University of Ulm?", [], passages, Pools(hashed_embedder, PARSER)).confidence < 0.5
    assert answer("Who founded the Academy of Ulm?", [], passages, Pools(hashed_embedder, PARSER)).confidence >= 0.5


def test_the_short_answer_is_the_span(hashed_embedder):
    assert answer("In which city was Ada Byron born?", [], ENGLISH, Pools(hashed_embedder, PARSER)).short == "Ulm"
    asked = history("Who described the analytical engine?", "In which city was {answer 1} born?")
    assert answer("Where ...?", asked, ENGLISH, Pools(hashed_embedder, PARSER)).short == "Ulm"
    compared = answer("Who was born first, Ada Byron or Carl Berg?", [], ENGLISH, Pools(hashed_embedder, PARSER))
    assert compared.short == "Carl Berg"


def test_summaries_come_from_keywords_and_facts():
    summaries = summarise([
        CommunityDigest(keywords=("radium", "polonium", "radium"), facts=("Marie Curie found radium", "It glows.")),
        CommunityDigest(keywords=("青蒿素",), facts=("屠呦呦发现青蒿素",)),
        CommunityDigest(keywords=(" ",), facts=()),
    ])
    assert summaries[0].name == "radium, polonium"
    assert summaries[0].summary == "Marie Curie found radium. It glows."
    assert summaries[1].summary == "屠呦呦发现青蒿素。"
    assert summaries[2].name


def test_a_community_is_named_by_its_entities_and_their_type():
    english, chinese = summarise([
        CommunityDigest(keywords=("Voltana", "Hikari"), facts=(), kind="ElectricSupplier"),
        CommunityDigest(keywords=("申江车行",), facts=(), kind="Organization"),
    ])
    assert english.name == "Voltana, Hikari (electric supplier)"
    assert chinese.name == "申江车行（机构）"


def test_the_reasoner_joins_all_steps(hashed_embedder):
    reasoner = RulesReasoner(hashed_embedder)
    assert reasoner.fingerprint == "rules-6"
    question = "In which city was the person who described the analytical engine born?"
    asked = history(*(item.question for item in reasoner.decompose(question, open_schema(), 5)))
    reflection = reasoner.reflect(question, asked, ENGLISH, open_schema())
    assert reflection.sufficient
    assert reasoner.answer(question, reflection.sub_answers, ENGLISH, "reject").claims[0].text.startswith("Ulm")
    assert isinstance(reasoner.extract(ExtractionRequest(text=ENGLISH[0].text), open_schema()), Extraction)
    assert reasoner.condense("And when did she die?", [("user", "Who was Ada Byron?")]) == "When did Ada Byron die?"
    assert reasoner.summarise([]) == []


PIECES = ("the who was born in Ulm Ada Byron 1801 #1 river . ? 的 谁 发现 宁波 公司 2019年 。 ？ 《 》 or first , "
          "5亿元 She")
WORDS = st.sampled_from(["\n", "{answer 1}", "{answer 2}", *sorted(set(PIECES.split()))])
ANY = st.text(max_size=60) | st.lists(WORDS, max_size=14).map(" ".join) | st.lists(WORDS, max_size=14).map("".join)
PASSAGES = st.lists(st.builds(passage, ANY, ANY, st.floats(-1, 10)), max_size=4)
HISTORY = st.lists(st.builds(SubAnswer, question=ANY, answer=st.just("") | ANY), max_size=4)


@given(ANY, HISTORY, PASSAGES)
@settings(deadline=None, max_examples=150)
def test_any_text_is_answered_with_verbatim_quotes(hashed_embedder, question, asked, passages):
    draft = answer(question, asked, passages, Pools(hashed_embedder, PARSER))
    assert_verbatim(draft, passages)
    assert draft.answerable is False or draft.claims
    assert draft.confidence == 0 or draft.claims


@given(ANY, HISTORY, PASSAGES)
@settings(deadline=None, max_examples=150)
def test_any_text_is_reflected_on_in_order(hashed_embedder, question, asked, passages):
    found = reflect(question, asked, passages, open_schema(), Pools(hashed_embedder, PARSER))
    assert [item.question for item in found.sub_answers] == [item.question for item in asked]
    assert not {item.question for item in found.sub_queries} & {item.question for item in asked}


def test_another_figure_of_the_same_unit_denies(hashed_embedder):
    carts = [passage("Carts", "The cart Mule is light. The Mule uses the 500 Wh battery.")]
    draft = answer("Does the Mule use the 750 Wh battery?", [], carts, Pools(hashed_embedder, PARSER))
    assert (draft.short, draft.confidence >= 0.5) == ("No", True)


def test_a_body_of_the_same_kind_is_another_one(hashed_embedder):
    founded = [passage("Turku", "The University of Turku was founded in 1503 by Duke Carl II.")]
    asked = "Who founded the University of {}?"
    assert answer(asked.format("Turku"), [], founded, Pools(hashed_embedder, PARSER)).confidence >= 0.5
    assert answer(asked.format("Kalmar"), [], founded, Pools(hashed_embedder, PARSER)).confidence < 0.5


def test_a_column_says_where_whatever_the_verb(hashed_embedder):
    rows = [passage("Makers", "| Maker: Brandt Oy | Country: Finland | Goods: oars |\n"
                              "| Maker: Lund AS | Country: Norway | Goods: sails |")]
    draft = answer("In which country is Brandt Oy based?", [], rows, Pools(hashed_embedder, PARSER))
    assert (draft.short, draft.confidence >= 0.5) == ("Finland", True)


def test_a_span_after_the_asked_preposition_comes_first():
    sentence, asked = "It lies on the Aura, in the lowlands of Savo.", "On which river does Turku lie?"
    spans = candidates(analyse(asked, PARSER), sentence, "Turku", ["Aura", "Turku"], (), PARSER.parse(sentence))
    assert spans[0].words == "Aura"


def test_a_report_is_in_the_language_of_most_of_what_it_says():
    digest = CommunityDigest(keywords=("Ulm", "Turku", "宁波"), facts=("Ada lived in Ulm",))
    (made,) = summarise([digest])
    assert (made.name, made.summary) == ("Ulm, Turku, 宁波", "Ada lived in Ulm.")


THEATRE = [
    passage("Minutes", "1. **Accounts.** Income grew.\n2. **Roof.** Three firms had offered. Work starts on 6 July."),
    passage("Staff", "| Title: The Salt Road | Director: Mira Osk | Nights: 24 |\n"
                     "| Title: The Herring King | Director: Mira Osk | Nights: 9 |\n"
                     "| Title: Lighthouse | Director: Tom Abel | Nights: 30 |"),
    passage("Tour", "| Document: tour.eml | Title: Tour | Author: Tom Abel | Date: 2025-11-18 |\n\nDear all, we go."),
    passage("People", "The executive director, Piet Zander, looks after money. Leif studied music in Leipzig."),
]


def test_a_table_without_the_column_that_is_compared_by_does_not_answer(hashed_embedder):
    table = [passage("League", "| Club: Ulm | Played: 23 | Lost: 4 |\n| Club: Turku | Played: 24 | Lost: 9 |")]
    for question in ("Who is the youngest player?", "How many away matches has Turku lost since October?"):
        assert answer(question, [], table, Pools(hashed_embedder, PARSER)).confidence < 0.5, question


@pytest.mark.parametrize(("question", "said"), [
    ("When does the work on the roof start?", "6 July"),
    ("How many titles does Mira Osk direct?", "2"),
    ("Who sent the e-mail about the tour?", "Tom Abel"),
    ("Where did Leif study?", "Leipzig"),
    ("Who is Piet Zander?", "executive director"),
    ("Which titles does Mira Osk direct?", "The Salt Road, The Herring King"),
    ("How many nights does Lighthouse have?", "30"),
])
def test_what_a_newcomer_asks_is_answered(question, said, hashed_embedder):
    draft = answer(question, [], THEATRE, Pools(hashed_embedder, PARSER))
    assert draft.claims[0].text.find(said) >= 0
    assert_verbatim(draft, THEATRE)


def test_a_label_in_its_line_is_no_answer_but_says_what_its_sentences_are_about():
    text = "Late returns. Twenty pence a day for each item.\n\nStudy room. Hot food is not allowed."
    found = sentences_of(0, passage("Rules", text))
    assert [(sentence.text, sentence.heading) for sentence in found] == [
        ("Twenty pence a day for each item.", "Rules Late returns."),
        ("Hot food is not allowed.", "Rules Study room.")]


def test_a_question_for_yes_or_no_is_answered_by_the_sentence_that_speaks_of_it_in_other_words(hashed_embedder):
    rules = [passage("Rules", "Assistance dogs are welcome in the hall. The bar opens at seven.")]
    draft = answer("Are assistance dogs allowed in the hall?", [], rules, Pools(hashed_embedder, PARSER))
    assert draft.claims[0].text == "Assistance dogs are welcome in the hall."
    assert draft.confidence > 0


def test_words_used_alike_are_nearer_than_others():
    price, cost, winter = word_vectors(["price", "cost", "winter"])
    assert price @ cost > 2 * (winter @ cost)
    assert word_vectors([]).shape == (0, len(price))


def test_sentences_of_one_context_are_read_and_searched_once(hashed_embedder):
    pools = Pools(hashed_embedder, PARSER)
    pool = pools.of(ENGLISH)
    assert pools.of(list(ENGLISH)) is pool
    assert pools.of(ENGLISH[:1]) is not pool
    asked = pool.analyse("In which city was Ada Byron born?")
    assert pool.search(asked) is pool.search(asked)
    assert len(pool.search(asked, 1)) == 1
