"""The answering side of the rules reasoner: sentences, answers, abstention, reflection, summaries."""

import pytest
from banyan.models.rules.answer_spans import another_time, candidates
from banyan.models.rules.answer_types import analyse
from banyan.models.rules.answering import answer, reflect
from banyan.models.rules.reasoner import RulesReasoner
from banyan.models.rules.summaries import summarise
from banyan.schemas.extraction import Extraction, ExtractionRequest
from banyan.schemas.graph_schema import open_schema
from banyan.schemas.retrieval import CommunityDigest, Passage, SubAnswer
from hypothesis import given, settings
from hypothesis import strategies as st


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
    draft = answer(question, [], passages, "reject", hashed_embedder)
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
    draft = answer(question, [], passages, "reject", hashed_embedder)
    assert not draft.answerable
    assert draft.claims == []
    assert draft.confidence < 0.5
    shown = answer(question, [], passages, "open", hashed_embedder)
    assert not shown.answerable
    assert shown.claims
    assert_verbatim(shown, passages)


def test_a_sentence_about_another_entity_is_not_taken(hashed_embedder):
    passages = [passage("Eve Byron", "She was born in Paris on 2 May 1830 as a daughter of Ada Byron."), ENGLISH[0]]
    draft = answer("In which city was Ada Byron born?", [], passages, "reject", hashed_embedder)
    assert draft.claims[0].quotes[0].passage == 2


def test_each_hop_is_a_claim_the_final_first(hashed_embedder):
    asked = history("Who described the analytical engine?", "In which city was #1 born?", "On which river does #2 lie?")
    draft = answer("On which river ...?", asked, ENGLISH, "reject", hashed_embedder)
    assert draft.answerable
    assert [claim.text.split(":")[0] for claim in draft.claims] == ["Danube", "Ada Byron", "Ulm"]
    assert_verbatim(draft, ENGLISH)


def test_a_chain_that_breaks_is_declined(hashed_embedder):
    asked = history("Who described the analytical engine?", "What is the salary of #1?")
    question = "What is the salary of the person who described the analytical engine?"
    assert not answer(question, asked, ENGLISH, "reject", hashed_embedder).answerable


def test_a_comparison_is_decided_with_both_quotes(hashed_embedder):
    draft = answer("Who was born first, Ada Byron or Carl Berg?", [], ENGLISH, "reject", hashed_embedder)
    assert draft.answerable
    assert draft.claims[0].text == "Carl Berg (Ada Byron: 3 May 1801; Carl Berg: 9 June 1799)"
    assert [quote.passage for quote in draft.claims[0].quotes] == [1, 4]
    missing = answer("Who was born first, Ada Byron or Otto Quist?", [], ENGLISH, "reject", hashed_embedder)
    assert not missing.answerable
    assert missing.claims == []


def test_questions_about_the_whole_quote_several_passages(hashed_embedder):
    draft = answer("Give an overview of these documents.", [], ENGLISH, "reject", hashed_embedder)
    assert len({claim.quotes[0].passage for claim in draft.claims}) > 1
    assert_verbatim(draft, ENGLISH)


def test_without_passages_there_is_no_answer(hashed_embedder):
    for mode in ("reject", "open"):
        draft = answer("Who wrote Emma?", [], [], mode, hashed_embedder)
        assert not draft.answerable
        assert draft.claims == []


def test_reflection_fills_names_and_asks_on(hashed_embedder):
    asked = history("Who described the analytical engine?", "In which city was #1 born?", "On which river does #2 lie?")
    first = reflect("?", asked, [ENGLISH[2]], open_schema(), hashed_embedder)
    assert not first.sufficient
    assert [item.question for item in first.sub_answers] == [item.question for item in asked]
    assert [item.answer for item in first.sub_answers] == ["Ada Byron", "", ""]
    assert [item.question for item in first.sub_queries] == ["In which city was Ada Byron born?"]
    second = reflect("?", [*first.sub_answers, *history("In which city was Ada Byron born?")], ENGLISH, open_schema(),
                     hashed_embedder)
    assert second.sufficient
    assert [item.answer for item in second.sub_answers] == ["Ada Byron", "Ulm", "Danube", "Ulm"]
    assert second.sub_queries == []


def test_reflection_never_repeats_a_question(hashed_embedder):
    asked = [SubAnswer(question="Who described the analytical engine?", answer="Ada Byron"),
             *history("What is the salary of #1?", "what is the salary of  Ada Byron?")]
    assert reflect("?", asked, ENGLISH, open_schema(), hashed_embedder).sub_queries == []


def test_reflection_works_in_chinese(hashed_embedder):
    found = reflect("发现青岚素的人出生在哪座城市？", history("谁发现了青岚素？", "#1出生在哪座城市？"), CHINESE,
                    open_schema(), hashed_embedder)
    assert found.sufficient
    assert [item.answer for item in found.sub_answers] == ["林小雨", "宁波"]


def test_spans_prefer_the_expected_kind():
    question = analyse("Who wrote Emma?")
    sentence = "Emma was written by the English novelist Jane Austen in London in 1815."
    assert candidates(question, sentence, "")[0].words == "Jane Austen"
    country = analyse("In which country was Ada born?")
    assert candidates(country, "She was born in Ulm, Germany.", "Ada")[0].words == "Germany"
    assert candidates(analyse("Why did it sink?"), "It sank because of a storm in 1628.", "") == []


def test_times_must_agree():
    assert another_time("What happened in 2017年12月?", "2017年3月，公司成立。")
    assert not another_time("What happened in 2017?", "2017年3月，公司成立。")
    assert not another_time("What happened?", "2017年3月，公司成立。")


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


def test_the_reasoner_joins_all_steps(hashed_embedder):
    reasoner = RulesReasoner(hashed_embedder)
    assert reasoner.fingerprint == "rules-2"
    question = "In which city was the person who described the analytical engine born?"
    asked = history(*(item.question for item in reasoner.decompose(question, open_schema(), 5)))
    reflection = reasoner.reflect(question, asked, ENGLISH, open_schema())
    assert reflection.sufficient
    assert reasoner.answer(question, reflection.sub_answers, ENGLISH, "reject").claims[0].text.startswith("Ulm")
    assert isinstance(reasoner.extract(ExtractionRequest(text=ENGLISH[0].text), open_schema()), Extraction)
    assert reasoner.condense("And when did she die?", [("user", "Who was Ada Byron?")]) == "When did Ada Byron die?"
    assert reasoner.summarise([]) == []


PIECES = ("the who was born in Ulm Ada Byron 1801 #1 #2 river . ? 的 谁 发现 宁波 公司 2019年 。 ？ 《 》 or first , "
          "5亿元 She")
WORDS = st.sampled_from(["\n", *sorted(set(PIECES.split()))])
ANY = st.text(max_size=60) | st.lists(WORDS, max_size=14).map(" ".join) | st.lists(WORDS, max_size=14).map("".join)
PASSAGES = st.lists(st.builds(passage, ANY, ANY, st.floats(-1, 10)), max_size=4)
HISTORY = st.lists(st.builds(SubAnswer, question=ANY, answer=st.just("") | ANY), max_size=4)


@given(ANY, HISTORY, PASSAGES, st.sampled_from(["reject", "open"]))
@settings(deadline=None, max_examples=150)
def test_any_text_is_answered_with_verbatim_quotes(hashed_embedder, question, asked, passages, mode):
    draft = answer(question, asked, passages, mode, hashed_embedder)
    assert_verbatim(draft, passages)
    assert draft.answerable is False or draft.claims
    if mode == "reject" and not draft.answerable:
        assert draft.claims == []


@given(ANY, HISTORY, PASSAGES)
@settings(deadline=None, max_examples=150)
def test_any_text_is_reflected_on_in_order(hashed_embedder, question, asked, passages):
    found = reflect(question, asked, passages, open_schema(), hashed_embedder)
    assert [item.question for item in found.sub_answers] == [item.question for item in asked]
    assert not {item.question for item in found.sub_queries} & {item.question for item in asked}
