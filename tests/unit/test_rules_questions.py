"""The question side of the rules reasoner: unfolding, comparison, schema elements, follow-ups."""

import time

import pytest
from banyan.models.parsing.parser import Parser
from banyan.models.rules.answering.measures import amount, comparable
from banyan.models.rules.content_words import content_words
from banyan.models.rules.questions.answer_types import Expected, analyse
from banyan.models.rules.questions.comparisons import comparison
from banyan.models.rules.questions.decomposition import decompose, fill
from banyan.models.rules.questions.follow_ups import condense
from banyan.models.rules.questions.names import mentions, names_in
from banyan.schemas.graph_schema import (
    AttributeType,
    EntityType,
    GraphSchema,
    RelationType,
    RulesHints,
    open_schema,
)
from banyan.schemas.retrieval import ROUTES
from hypothesis import example, given, settings
from hypothesis import strategies as st

PARSER = Parser()
SCHEMA = GraphSchema(
    name="test",
    entity_types=(EntityType(name="Person"), EntityType(name="Place", labels={"zh": "地点"})),
    relation_types=(
        RelationType(name="born_in", rules=RulesHints(cues={"en": ("born in", "birthplace"),
                                                           "zh": ("出生于", "出生")})),
        RelationType(name="discovered", rules=RulesHints(cues={"en": ("discovered",), "zh": ("发现",)})),
    ),
    attribute_types=(AttributeType(name="population", labels={"zh": "人口"}),),
)


def steps(question: str, limit: int = 5) -> list[str]:
    return [item.question for item in decompose(question, open_schema(), limit, PARSER)]


@pytest.mark.parametrize(("question", "expected"), [
    ("On which river does the birthplace of the discoverer of polonium lie?",
     ["Who is the discoverer of polonium?", "What is the birthplace of {answer 1}?",
      "On which river does {answer 2} lie?"]),
    ("Who was the first president of the association which published Journal of Botany?",
     ["Which association published Journal of Botany?", "Who was the first president of {answer 1}?"]),
    ("What is the capital of the country where Frida Kahlo was born?",
     ["In which country was Frida Kahlo born?", "What is the capital of {answer 1}?"]),
    ("Who is the spouse of the director of Jaws?",
     ["Who is the director of Jaws?", "Who is the spouse of {answer 1}?"]),
    ("Where was Marie Curie's husband born?", ["Who is Marie Curie's husband?", "Where was {answer 1} born?"]),
    ("Who composed the music for the film directed by Agnes Varda?",
     ["Which film was directed by Agnes Varda?", "Who composed the music for {answer 1}?"]),
    ("When was the author of the book that won the Golden Leaf in 1981 born?",
     ["Which book won the Golden Leaf in 1981?", "Who is the author of {answer 1}?", "When was {answer 2} born?"]),
    ("On which river does the town lie in which the woman who painted Dawn was born?",
     ["Who painted Dawn?", "In which town was {answer 1} born?", "On which river does {answer 2} lie?"]),
    ("When did the country where Chopin was born join the European Union?",
     ["In which country was Chopin born?", "When did {answer 1} join the European Union?"]),
    ("What position did the keeper of the Silver Lamp hold?",
     ["What is the keeper of the Silver Lamp?", "What position did {answer 1} hold?"]),
    ("The Grey Ferry was built by a yard that was closed when?",
     ["The Grey Ferry was built by which yard?", "{answer 1} was closed when?"]),
    ("Ann Lee played for a club based in what city?",
     ["Ann Lee played for which club?", "{answer 1} is based in what city?"]),
    ("Who is the spouse of the Silver Lamp performer?",
     ["Who is the Silver Lamp performer?", "Who is the spouse of {answer 1}?"]),
    ("发现青蒿素的人出生在哪个省？", ["谁发现了青蒿素？", "{answer 1}出生在哪个省？"]),
    ("法国的首都有多少人口？", ["法国的首都是什么？", "{answer 1}有多少人口？"]),
    ("《红楼梦》的作者的故乡在哪个省？", ["《红楼梦》的作者是谁？", "{answer 1}的故乡是什么？",
                                          "{answer 2}在哪个省？"]),
    ("鲁迅出生的城市在哪个省，这个省的省会是哪座城市？",
     ["鲁迅出生在哪座城市？", "{answer 1}在哪个省？", "{answer 2}的省会是哪座城市？"]),
])
def test_nested_questions_are_unfolded_innermost_first(question, expected):
    assert steps(question) == expected


@pytest.mark.parametrize("question", [
    "What is the capital of France?", "Who is the president of the United Nations?",
    "Who was the man who wrote Emma?",
    "What is the University of Vienna?", "Who founded the city of Rome?",
    "Where is the company that Ada Byron founded?",
    "What is Marie Curie's nationality?", "What is the name of the film directed by Agnes Varda?",
    "法国的首都是哪里？", "《红楼梦》的作者是谁？", "阳光公司2019年的净利润是多少？",
])
def test_a_simple_or_unclear_question_stays_as_it_is(question):
    assert steps(question) == [question]


def test_what_needs_more_steps_than_allowed_is_not_cut():
    question = "On which river does the birthplace of the discoverer of polonium lie?"
    assert steps(question, 2) == [question]
    assert steps("Who was born first, Ann Lee or Bob Ray?", 1) == ["Who was born first, Ann Lee or Bob Ray?"]


@pytest.mark.parametrize(("question", "expected"), [
    ("Who was born first, Lise Meitner or Ernest Rutherford?",
     ["When was Lise Meitner born?", "When was Ernest Rutherford born?"]),
    ("Which is longer, the Nile or the Amazon?", ["How long is the Nile?", "How long is the Amazon?"]),
    ("Are Marie Curie and Chopin of the same nationality?",
     ["What is the nationality of Marie Curie?", "What is the nationality of Chopin?"]),
    ("Which has more inhabitants, Ulm or Rome?", ["How many inhabitants does Ulm have?",
                                                  "How many inhabitants does Rome have?"]),
    ("Was Ada Byron born before Carl Berg?", ["When was Ada Byron born?", "When was Carl Berg born?"]),
    ("Did Ada Byron die after Carl Berg?", ["When did Ada Byron die?", "When did Carl Berg die?"]),
    ("晨光公司比星河公司成立得早吗？", ["晨光公司成立于哪一年？", "星河公司成立于哪一年？"]),
    ("长江和黄河哪条更长？", ["长江有多长？", "黄河有多长？"]),
    ("谁出生得更早，屠呦呦还是葛洪？", ["屠呦呦出生于哪一年？", "葛洪出生于哪一年？"]),
])
def test_comparisons_ask_for_each_side(question, expected):
    assert steps(question) == expected


def test_a_choice_that_compares_nothing_known_is_left():
    assert comparison("Which is nicer, tea or coffee?", PARSER) is None


def test_schema_elements_are_found_by_name_label_and_cue():
    english, = decompose("What is the population of the place where polonium was discovered?", SCHEMA, 1, PARSER)
    assert english.relations == ("discovered",)
    assert english.attributes == ("population",)
    chinese, = decompose("屠呦呦出生在哪座城市？", SCHEMA, 5, PARSER)
    assert chinese.relations == ("born_in",)
    assert chinese.entity_types == ("Place",)
    who, = decompose("Who discovered polonium?", SCHEMA, 5, PARSER)
    assert who.entity_types == ("Person",)


def test_routes_follow_the_kind_of_question():
    assert decompose("Who discovered polonium?", SCHEMA, 5, PARSER)[0].routes == ROUTES
    assert decompose("谁发现了钋？", SCHEMA, 5, PARSER)[0].routes == ROUTES
    assert decompose("What are the main themes of these reports?", SCHEMA, 5, PARSER)[0].routes == ("community",)
    assert decompose("请总结这些报告的主要内容", SCHEMA, 5, PARSER)[0].routes == ("community",)
    chain = decompose("What is the capital of the country where Frida Kahlo was born?", SCHEMA, 5, PARSER)
    assert len(chain) > 1
    assert all(item.routes == ("entity", "triple", "dfs") for item in chain), "a step asks for one thing, not a theme"


@pytest.mark.parametrize(("question", "expected"), [
    ("Who wrote Emma?", Expected.PERSON), ("When did she die?", Expected.DATE), ("What year was it?", Expected.DATE),
    ("Where is Ulm?", Expected.PLACE), ("On which river does Ulm lie?", Expected.PLACE),
    ("How many people live in Ulm?", Expected.NUMBER), ("What is the population of Ulm?", Expected.NUMBER),
    ("Which company makes it?", Expected.ORGANISATION), ("Was it sunk?", Expected.POLAR),
    ("What does it weigh?", Expected.NUMBER), ("Name the author of Emma.", Expected.PERSON),
    ("Why did it sink?", Expected.REASON),
    ("What is Ulm's mayor?", Expected.PERSON), ("Which gemstone is blue?", Expected.NAME),
    ("谁写了它？", Expected.PERSON), ("哪一年成立？", Expected.DATE), ("人口是多少？", Expected.NUMBER),
    ("在哪座城市？", Expected.PLACE), ("哪家公司收购了它？", Expected.ORGANISATION), ("如何提升业绩？", Expected.TEXT),
])
def test_the_expected_kind_of_answer(question, expected):
    assert analyse(question, PARSER).expected is expected


def test_names_are_found_in_both_languages():
    assert names_in("Did Marie Curie of Warsaw study at the University of Paris in 1891?") == (
        "Marie Curie of Warsaw", "University of Paris")
    assert names_in("创新科技有限公司收购了《晨报》和玛丽·居里的实验室") == ("创新科技有限公司", "晨报", "玛丽·居里")
    assert names_in("What is the population?") == ()


def test_a_surname_stands_for_its_bearer_only():
    assert mentions("In 1903 Curie won a prize", "Marie Curie")
    assert not mentions("Pierre Curie won a prize", "Marie Curie")
    assert not mentions("a juvenile court", "Nile")


def test_titles_in_the_question_are_names():
    assert analyse("What is the atomic number of polonium?", PARSER, ["Polonium"]).names == ("polonium",)


def test_words_of_one_family_meet():
    assert content_words("discoverer") == content_words("discovered") == content_words("discovery")
    assert set(content_words("birthplace")) == set(content_words("born")) == set(content_words("出生于"))


def test_fill_leaves_what_is_not_found():
    assert fill("Is {answer 1} in {answer 2} or {answer 12}?", ["Ulm", ""]) == "Is Ulm in {answer 2} or {answer 12}?"


@pytest.mark.parametrize(("words", "date", "expected"), [
    ("7 November 1867", True, (1867, 11, 7)), ("November 7, 1867", True, (1867, 11, 7)),
    ("1930年12月30日", True, (1930, 12, 30)), ("公元前221年", True, (-221, 0, 0)), ("some time", True, None),
    ("It opened on 3 May 1801 and closed in 1850.", True, (1801, 5, 3)), ("1914–1918", True, (1914, 0, 0)),
    ("It has 1.2 million books.", False, (1_200_000,)), ("It has 3 floors and 40 rooms.", False, None),
    ("3,800万人", False, (38_000_000,)), ("1.2 million", False, (1_200_000,)), ("none", False, None),
])
def test_quantities(words, date, expected):
    found = amount(words, date=date)
    assert (found and found[1]) == pytest.approx(expected)


@pytest.mark.parametrize(("words", "expected"), [
    ("12 km", ("length", 12_000)), ("900 metres", ("length", 900)), ("二十千米", ("length", 20_000)),
    ("20千米", ("length", 20_000)),
    ("3 square miles", ("area", 7_769_964.33)), ("5亿元", ("CNY", 500_000_000)), ("3,800万人", ("", 38_000_000)),
    ("2 million inhabitants", ("", 2_000_000)), ("5 to 10 km", None), ("5 ft 11 in", None), ("2 days", ("time", 2)),
])
def test_numbers_are_measured_in_the_base_unit(words, expected):
    found = amount(words, date=False)
    assert found == (expected and (expected[0], (pytest.approx(expected[1]),)))


def test_the_normal_form_of_the_graph_is_read_before_the_words():
    assert amount("in the year of the war", date=True, normal="1939-09") == ("date", (1939, 9, 0))
    assert amount("44 BC", date=True, normal="-0043") == ("date", (-44, 0, 0))
    assert amount("1801", date=True, normal="18XX") == ("date", (1801, 0, 0))
    assert amount("五亿元", date=False, normal="500000000 CNY") == ("CNY", (500_000_000,))


def test_dates_are_compared_as_precisely_as_both_are_known():
    assert comparable((1801, 5, 3), (1801, 0, 0)) == ((1801,), (1801,))
    assert comparable((1801, 5, 3), (1799, 0, 0)) == ((1801,), (1799,))
    assert comparable((12.0,), (0.0,)) == ((12.0,), (0.0,))


PERSON = [("user", "Who discovered polonium?"), ("assistant", "Marie Curie discovered polonium in 1898.")]
COUNTRY = [("user", "What is the capital of Poland?"), ("assistant", "Warsaw is the capital of Poland.")]
ZH_PERSON = [("user", "谁发现了青蒿素？"), ("assistant", "屠呦呦发现了青蒿素。")]
ZH_COUNTRY = [("user", "波兰的人口是多少？"), ("assistant", "波兰人口约3800万。")]


@pytest.mark.parametrize(("messages", "question", "expected"), [
    (PERSON, "And when did she die?", "When did Marie Curie die?"),
    (PERSON, "Where was her husband born?", "Where was Marie Curie's husband born?"),
    (COUNTRY, "How large is it?", "How large is Poland?"),
    (COUNTRY, "And its population?", "What is the population of Poland?"),
    (COUNTRY, "What about France?", "What is the capital of France?"),
    (COUNTRY, "How many people live there?", "How many people live in Warsaw?"),
    (ZH_COUNTRY, "那它的首都呢？", "波兰的首都是什么？"),
    (ZH_COUNTRY, "法国呢？", "法国的人口是多少？"),
    (ZH_COUNTRY, "首都呢？", "波兰的首都是什么？"),
    (ZH_PERSON, "她出生在哪里？", "屠呦呦出生在哪里？"),
])
def test_follow_ups_are_made_to_stand_alone(messages, question, expected):
    assert condense(question, messages, PARSER) == expected


@pytest.mark.parametrize("question", [
    "When was radium discovered?", "When did Ada Byron win her first prize?", "Is there a museum?", "屠呦呦是谁？",
])
def test_a_question_that_stands_alone_is_unchanged(question):
    assert condense(question, COUNTRY, PARSER) == question
    assert condense(question, [], PARSER) == question


PIECES = ("the of who which that where whose in was born does lie Marie Curie 's author city # #1 , ? first or and "
          "的 谁 发现 出生 城市 哪个 首都 ， ？ 他 1898 《 》 呢 说 it her")
WORDS = st.sampled_from(sorted({"{answer 1}", *PIECES.split()}))
ANY = st.text(max_size=80) | st.lists(WORDS, max_size=14).map(" ".join) | st.lists(WORDS, max_size=14).map("".join)


@given(ANY.filter(bool), st.integers(1, 6))
@example("   ", 3)
@settings(deadline=None, max_examples=300)
def test_decompose_never_fails_and_stays_in_the_schema(question, limit):
    found = decompose(question, SCHEMA, limit, PARSER)
    assert 1 <= len(found) <= limit
    for item in found:
        assert {*item.entity_types} <= {"Person", "Place"}
        assert {*item.relations} <= {"born_in", "discovered"}
        assert {*item.attributes} <= {"population"}
        assert item.routes


@given(ANY, st.lists(st.tuples(st.sampled_from(["user", "assistant"]), ANY), max_size=4))
@settings(deadline=None, max_examples=200)
def test_condense_never_fails(question, messages):
    assert isinstance(condense(question, messages, PARSER), str)
    assert condense(question, [], PARSER) == question


def test_long_questions_take_linear_time():
    def seconds(repeats: int) -> float:
        text = "the city of the man who was born in the town where the author of " * repeats
        start = time.perf_counter()
        decompose(text + "?", SCHEMA, 5, PARSER)
        return time.perf_counter() - start

    seconds(1)
    assert seconds(40) < 200 * max(seconds(4), 0.002)
