"""Questions without a model: short answers come from sentences that state them, not from those that deny them."""

import re

import pytest
from banyan.models.parsing.parser import Parser
from banyan.models.rules.question import analyse, ask_back, condense
from banyan.schemas.retrieval import Passage
from hypothesis import given
from hypothesis import strategies as st

from .test_finding import ask, short

DENIED = ["{} is not the director of Radio Thun.", "{} is no longer the director of Radio Thun.",
          "Neither {} nor Ben Lund is the director of Radio Thun.", "{} was the director of Radio Thun.",
          "{}, the former director of Radio Thun, plays chess.", "{} is almost the director of Radio Thun.",
          "{} may be the director of Radio Thun.", "{} is said to be the director of Radio Thun.",
          "Ben Lund claims that {} is the director of Radio Thun.", "{} hopes to be the director of Radio Thun.",
          "If {} is the director of Radio Thun, the choir sings.", "{} is the deputy director of Radio Thun.",
          "{} met the director of Radio Thun.", "{}'s sister is the director of Radio Thun.",
          "The rumour that {} is the director of Radio Thun is old.", "Is {} the director of Radio Thun?",
          "Had {} been the director of Radio Thun, the choir would sing.", "{} will be the director of Radio Thun.",
          "Only in fiction is {} the director of Radio Thun.", "Only in fiction is {} the director",
          "In the novel, {} is the director of Radio Thun.",
          "According to the leaflet, {} is the director of Radio Thun.", "{} is the director of Radio Thun Nord."]
STATED = ["{} is the director of Radio Thun.", "The director of Radio Thun is {}.",
          "{}, the director of Radio Thun, plays chess.", "The director of Radio Thun, {}, plays chess."]


@pytest.mark.parametrize("sentence", [*DENIED, *STATED])
def test_only_a_sentence_that_asserts_an_answer_gives_it(sentence):
    answer = "Ida Roth" if sentence in STATED else ""
    assert short("Who is the director of Radio Thun?", sentence.format("Ida Roth")) == answer


@pytest.mark.parametrize(("question", "text", "expected"), [
    ("Who built Ulm?", "Ulm Airport was built by Ida Roth.", ""),
    ("Who founded Bern?", "The University of Bern was founded by Ida Roth.", ""),
    ("What was the name of the wife of Ida Roth?", "Ida Roth and Ben Lund discovered the cave.", ""),
    ("When was Ulm founded?", "The mayor of Ulm founded the choir in 1931.", ""),
    ("Who is the owner of the mill?", "The owner of the mill is not Ida Roth but Ben Lund.", ""),
    ("Who owned the mill?", "Instead of Ida Roth, Ben Lund owned the mill.", ""),
    ("Who sold the mill?", "The mill was sold by Ida Roth, who had built it in 1931.", "Ida Roth"),
    ("Who sold the mill?", "In May 1931 the mill was sold by Ida Roth.", "Ida Roth"),
    ("Who founded the choir?", "Ida Roth was on the point of founding the choir when her backer withdrew.", ""),
    ("Who is the treasurer of the guild?", "They voted against making Ida Roth treasurer of the guild.", ""),
    ("In which gulf is the island of Ro?", "Early maps misplaced the island of Ro in the Gulf of Thun.", ""),
    ("Who is the editor of the Bote?", "Under its previous editor, Ida Roth, the Bote appeared twice a year.", ""),
    ("Who was the architect of the hall?", "A guidebook error makes Ida Roth the architect of the hall.", ""),
    ("When was the siege of Ulm?", "The error that put the siege of Ulm in 1544 crept in later.", ""),
    ("When was Ida Roth born?", "A family tradition gives 2 February 1790 as the birthday of Ida Roth.", ""),
    ("Who won the cup?", "The scoreboard, faulty all day, proclaimed Ida Roth the winner of the cup.", ""),
    ("On which date is the fair held?", "The fair was formerly held on 6 September.", ""),
    ("谁赢得了沙洲马拉松？", "由于记者听错了名次，多家媒体报道李明赢得了沙洲马拉松。", ""),
    ("Who did Ida Roth marry?", "Ida Roth married Ben Lund.", "Ben Lund"),
    ("Where was Ida Roth born?", "Ida Roth knew Ben Lund, who was born in Thun.", ""),
    ("How many members does the choir have?", "The choir lost 40 members.", ""),
    ("How many members does the choir have?", "The board has 40 members.", ""),
    ("How many members does the choir have?", "The choir has about 40 members.", "about 40"),
    ("When was the mill sold?", "The mill was sold before 1931.", ""),
    ("Who won the physics prize?", "Ida Roth won the medicine prize.", ""),
    ("Who won the physics prize?", "Ida Roth won the physics prize.", "Ida Roth"),
    ("Who won the physics prize?", "Ida Roth won the physics prize for a play.", "Ida Roth"),
    ("谁获得了诺贝尔物理学奖？", "2015年，屠呦呦获得了诺贝尔生理学或医学奖。", ""),
    ("谁获得了诺贝尔物理学奖？", "1957年，杨振宁获得了诺贝尔物理学奖。", "杨振宁"),
    ("谁创立了清河公司？", "李明否认自己创立了清河公司。", ""),
    ("谁创立了清河公司？", "据说李明创立了清河公司。", ""),
    ("谁创立了清河公司？", "如果李明创立了清河公司，王芳会加入。", ""),
    ("谁创立了清河公司？", "李明从未创立清河公司。", ""),
    ("清河公司总经理是谁？", "清河公司前总经理李明住在杭州。", ""),
    ("清河公司总经理是谁？", "清河公司副总经理李明住在杭州。", ""),
    ("清河公司总经理是谁？", "清河公司总经理李明住在杭州。", "李明"),
    ("谁设计了清河镇？", "清河镇机场由李明设计。", ""),
    ("谁发现了青蒿素？", "# 青蒿素\n\n书的作者葛洪写道：“青蒿一握，以水二升渍，绞取汁，尽服之。”", ""),
    ("清河大桥由谁设计？", "清河大桥不是由李明设计的，而是由王芳设计的。", "王芳"),
    ("How many employees did Nordwind have in 2019?",
     "In 2019, Nordwind's corporate structure consisted of 540 employees.", "540 employees"),
    ("How many employees does Nordwind have?", "Nordwind's entire workforce consists of 9 employees.", "9 employees"),
    ("How many employees does Nordwind have?", "Nordwind's sales staff consists of 40 employees.", ""),
    ("How many employees does Nordwind have?", "Nordwind's European workforce consists of 40 employees.", ""),
    ("How many employees does Nordwind have?", "Nordwind's team consists of 12 employees.", ""),
    ("How many employees does Nordwind have?", "Nordwind's headcount will be 500 employees.", ""),
    ("Which RFC defines the checksum of frames?", "The checksum of frames is defined in RFC 3385.", "RFC 3385"),
    ("Which section describes the exit of the hall?", "Section 4.2 describes the exit of the hall.", "Section 4.2"),
    ("Which annex documents the wiring of the pump?", "Annex 3 documents the wiring of the pump.", "Annex 3"),
    ("Which RFC defines the checksum of frames?", "The checksum of frames is not defined in RFC 3385.", ""),
    ("Which RFC defines the checksum of frames?", "The checksum of frames was discussed beside RFC 3385.", ""),
    ("Which RFC obsoletes RFC 20?", "RFC 20 is listed in RFC 3385.", ""),
    ("青石公司是什么时候正式决定采用龙芯 Linux 系统的？", "2019 年 5 月，青石公司正式决定采用龙芯的 Linux 系统。",
     "2019 年 5 月"),
    ("谁开发了云帆操作系统？", "2012年，李明开发了云帆的操作系统。", "李明"),
    ("清河市何时引进华源 ERP 软件？", "2021年3月，清河市计划引进华源的 ERP 软件。", ""),
    ("谁设计了清河图书馆大楼？", "清河图书馆的老大楼由王芳设计。", ""),
    ("When was the Falk Museum opened?", "The Falk Museum opened its shop in 1931.", ""),
    ("When was the Falk Museum opened?", "The Falk Museum was opened by the painter Ida Roth in 1931.", "1931"),
    ("Who built the mill?", "The mill was to be built by Ida Roth.", ""),
    ("Where was Ida Roth born?", "Ida Roth was born to a baker of Thun.", ""),
    ("Where was Ida Roth born?", "Ida Roth, a painter, was born in Thun.", "Thun"),
    ("清河公司总经理是谁？", "李明采访了清河公司的总经理。", ""),
    ("清河公司总经理是谁？", "李明是清河公司总经理的妹妹。", ""),
    ("谁设计了清河大桥？", "李明设计了清河大桥的模型。", ""),
    ("清河公司总经理是谁？", "李明拒绝担任清河公司的总经理。", ""),
    ("谁设计了清河图书馆大楼？", "清河图书馆的大楼花园由王芳设计。", ""),
])
def test_an_answer_plays_the_part_that_is_asked_for_of_the_thing_that_is_asked_for(question, text, expected):
    assert short(question, text) == expected


@pytest.mark.parametrize(("line", "expected"), [
    ("ANNA BERGER, NORDWIND ENERGY, HEAD OF LEGAL AFFAIRS\nPHONE: +47 22 11 00 11", "ANNA BERGER"),
    ("Anna Berger, Head of Legal Affairs, Nordwind Energy", "Anna Berger"),
    ("ANNA BERGER, NORDWIND ENERGY, HEAD OF SALES", ""), ("ANNA BERGER, BRIGHTLINE FOODS, HEAD OF LEGAL AFFAIRS", ""),
    ("ANNA BERGER, NORDWIND ENERGY, DEPUTY HEAD OF LEGAL AFFAIRS", ""),
    ("ANNA BERGER, NORDWIND ENERGY, FORMER HEAD OF LEGAL AFFAIRS", ""),
    ("ANNA BERGER, ASSISTANT TO THE HEAD OF LEGAL AFFAIRS, NORDWIND ENERGY", ""),
    ("ANNA BERGER REPORTS TO THE HEAD OF LEGAL AFFAIRS AT NORDWIND ENERGY", "")])
def test_a_line_with_a_name_and_a_role_answers_who_has_the_role(line, expected):
    assert short("Who is the Head of Legal Affairs at Nordwind Energy?", line) == expected


@pytest.mark.parametrize(("cell", "expected"), [
    ("27: Typed Envelope", ""), ("31: Signed Envelope", "31: Signed Envelope")])
def test_rows_of_what_a_question_names_are_no_answer_to_it(cell, expected):
    row = Passage(chunk_id="c", document="d", title="", text=cell, start=0, score=1, kind="row", statement=cell,
                  cells=(cell,))
    said = ask("Which final proposals have P-27 in their requires field?", row)
    assert (said.short, said.confidence > 0.8) == (expected, bool(expected))


def test_a_number_of_months_is_never_without_its_unit_and_that_of_a_heading_is_no_answer():
    assert short("加班后的调休须在几个月内用完？", "加班后的调休须在三个月内用完。") in {"", "三个月"}
    text = "# Minutes\n\n## 3. Canteen subsidy\n\nAll were in favour of it.\n"
    assert short("How much is the canteen subsidy?", text) == ""


PARSER = Parser()


@pytest.mark.parametrize(("question", "expected"), [
    ("Who wrote Emma?", "person"), ("When did she die?", "date"), ("What year was it?", "date"),
    ("Where is Ulm?", "location"), ("On which river does Ulm lie?", "location"),
    ("How many people live in Ulm?", "number"), ("What is the population of Ulm?", "number"),
    ("Which company makes it?", "organization"), ("Was it sunk?", "polar"), ("Why did it sink?", "reason"),
    ("What does the boat weigh?", "number"), ("Who is Ada Byron?", "text"), ("Which gemstone is blue?", "name"),
    ("Where does a diver go who has missed a stop?", "location"), ("What happened in 2021?", "text"),
    ("谁写了它？", "person"), ("哪一年成立？", "date"), ("人口是多少？", "number"), ("在哪座城市？", "location"),
    ("哪家公司收购了它？", "organization"), ("如何提升业绩？", "text"), ("谁管理图书馆？", "person"),
    ("¿Quién dirige la biblioteca de Valdearroyo?", "es person"), ("¿Con quién aprendió el fundador?", "es text"),
    ("Em que ano foi fundada a escola?", "pt date"), ("Quantos sócios tem o clube?", "pt number"),
    ("Pourquoi la verrerie a-t-elle fermé ?", "fr reason"), ("Wo steht die Brauerei?", "de location"),
    ("Сколько стоит билет?", "ru number"), ("झरिया नदी का पुल किसने बनाया?", "hi person"),
    ("সে কবে আসে?", "bn date"), ("كم يبلغ طول جسر الوردة؟", "ar number"), ("من تدير المكتبة؟", "ar person"),
    ("館長は誰ですか。", "ja person"), ("Who runs the library?", "en person")])
def test_the_expected_kind_of_answer(question, expected):
    analysed = analyse(question)
    assert f"{analysed.language} {analysed.expected}".endswith(expected)


PERSON = [("user", "Who discovered polonium?"), ("assistant", "Marie Curie discovered polonium in 1898.")]
COUNTRY = [("user", "What is the capital of Poland?"), ("assistant", "Warsaw is the capital of Poland.")]
ZH_PERSON = [("user", "谁发现了青蒿素？"), ("assistant", "屠呦呦发现了青蒿素。")]
ZH_COUNTRY = [("user", "波兰的人口是多少？"), ("assistant", "波兰人口约3800万。")]


@pytest.mark.parametrize(("messages", "question", "expected"), [
    (PERSON, "And when did she die?", "When did Marie Curie die?"),
    ([PERSON[0], ("assistant", "Found: Marie Curie and Pierre Curie\n“It was discovered.” — Polonium [1]")],
     "Where was she born?", "Where was Marie Curie born?"),
    (COUNTRY, "How large is it?", "How large is Poland?"),
    (COUNTRY, "What about France?", "What is the capital of France?"),
    (COUNTRY, "How many people live there?", "How many people live in Warsaw?"),
    (COUNTRY, "And the population?", "What is the population of Poland?"),
    (ZH_COUNTRY, "法国呢？", "法国的人口是多少？"), (ZH_COUNTRY, "它的首都呢？", "波兰的首都是什么？"),
    (ZH_COUNTRY, "那里有多少大学？", "波兰有多少大学？"), (ZH_PERSON, "她出生在哪里？", "屠呦呦出生在哪里？")])
def test_follow_ups_are_made_to_stand_alone(messages, question, expected):
    assert condense(question, messages, PARSER) == expected


@pytest.mark.parametrize("question", [
    "When was radium discovered?", "When did Ada Byron win her first prize?", "Is there a museum?", "屠呦呦是谁？"])
def test_a_question_that_stands_alone_is_unchanged(question):
    assert condense(question, COUNTRY, PARSER) == question
    assert condense(question, [], PARSER) == question


@pytest.mark.parametrize(("earlier", "question", "expected"), [
    ("Who was Marie Curie? Who was Pierre Curie?", "Where was she born?", "Where was Marie Curie born?"),
    ("Who was Marie Curie? Who was Pierre Curie?", "Where was he born?", "Where was Pierre Curie born?"),
    ("Who was Karl Williams? Who was Marie Curie?", "When did he die?", "When did Karl Williams die?"),
    ("Who was Mrs. Keller? Who is Mr. Blum?", "When did she die?", "When did Mrs. Keller die?"),
    ("Who was Karl Blum? Where is Warsaw?", "When did he die?", "When did Karl Blum die?"),
    ("Where is Warsaw? Who was Karl Blum?", "How large is it?", "How large is Warsaw?"),
    ("居里夫人是谁？王先生是谁？", "她出生在哪里？", "居里夫人出生在哪里？")])
def test_a_pronoun_means_the_last_subject_of_its_kind(earlier, question, expected):
    messages = [("user", text) for text in re.findall(r"[^?？]+[?？]", earlier)]
    assert condense(question, messages, PARSER) == expected


@pytest.mark.parametrize(("question", "asked"), [
    ("Where does he work?", "Who is meant by 'he'?"), ("In which year was she born?", "Who is meant by 'she'?"),
    ("Who is his wife?", "Who is meant by 'his'?"), ("Where is it?", "What is meant by 'it'?"),
    ("When did Ada Byron win her first prize?", ""), ("When the mayor resigned, where did he go?", ""),
    ("What does it say about pay?", ""), ("Who lost his life?", ""), ("Is it possible to leave early?", ""),
    ("What happens to a block when it is orphaned?", ""), ("Where is Ulm?", ""),
    ("他在哪里工作？", "“他”指的是谁？"), ("它的总部在哪里？", "“它”指的是什么？"), ("屠呦呦和她的丈夫住在哪里？", "")])
def test_a_pronoun_that_nothing_explains_is_asked_back(question, asked):
    assert ask_back(analyse(question)) == asked


PIECES = ("the of who which that where whose in was born does lie Marie Curie 's author city # #1 , ? first or and "
          "的 谁 发现 出生 城市 哪个 首都 ， ？ 他 1898 《 》 呢 说 it her")
WORDS = st.sampled_from(sorted({"{answer 1}", *PIECES.split()}))
ANY = st.text(max_size=80) | st.lists(WORDS, max_size=14).map(" ".join) | st.lists(WORDS, max_size=14).map("".join)


@given(ANY, st.lists(st.tuples(st.sampled_from(["user", "assistant"]), ANY), max_size=4))
def test_condense_never_fails(question, messages):
    assert isinstance(condense(question, messages, PARSER), str)
    assert condense(question, [], PARSER) == question
