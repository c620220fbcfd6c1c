"""The forms and patterns of sentences that state facts: each gives the facts of its examples, and nothing else."""

import pytest
from banyan.models.parsing.parser import Parser
from banyan.models.rules.clauses import roles
from banyan.models.rules.prose_facts import ProseFacts, ProsePattern, load_patterns
from banyan.models.rules.recognition.spans import find_spans, name_of
from banyan.models.rules.stated_facts import FactForms, Mention, Pattern, Stated, load_forms
from banyan.schemas.formats.schema_loading import load_schema

PROSE = [(pattern, *example) for pattern in load_patterns() for example in pattern.examples]
EXAMPLES = [(pattern, *example) for pattern in load_forms() for example in pattern.examples]


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


def facts(text: str, parser: Parser, patterns: tuple[Pattern, ...]) -> list[tuple[str, str, str]]:
    mentions = [Mention(span.start, span.end, span.kind, name_of(text, span)) for span in find_spans([text], parser)[0]]
    found = FactForms(load_schema("open"), patterns).find(text, mentions, [(0, len(text))], None)
    return [(fact.head, fact.label, fact.tail) for fact in found]


@pytest.mark.parametrize(("pattern", "sentence", "head", "tail"), EXAMPLES, ids=[e[1] for e in EXAMPLES])
def test_a_form_gives_the_fact_of_its_example(pattern: Pattern, sentence: str, head: str, tail: str,
                                              parser: Parser) -> None:
    assert facts(sentence, parser, (pattern,)) == [(head, pattern.says[0], tail)]


@pytest.mark.parametrize("sentence", [
    "In Norway, Sweden, and Denmark the ferries run all year.",
    "She travelled in Norway, Sweden and Denmark.",
    "Oslo is the capital of the US state of Minnesota in the novel.",
    "Was Ada Blum born in Oslo?",
    "Karl Blum, the father of Ada Blum, received no prize.",
    "The ferry from Oslo flows over with tourists into Germany.",
    "北方泵业公司在2020年的治理方面取得了进展。",
    "如果北方泵业公司收购南方阀门公司，价格将上涨。",
    "北方泵业公司未收购南方阀门公司。",
    "北方泵业公司计划收购南方阀门公司。",
    "北方泵业公司的竞争对手收购了南方阀门公司。",
    "赵倩否认出任东海银行行长。",
    "许多人误以为林溪出生于苏州。",
    "林溪自称毕业于复旦大学。",
    "该部门由专人负责。",
    "研究院创建了良好的环境。",
    "东海银行的前身南山银行成立于1990年。",
    "王芳曾任职的东海银行已经关闭。",
    "他入职某科技公司。",
    "Richard Stallman 发表了 GNU 宣言。",
    "接替市长周强出任东海银行行长的是孙丽。",
    "公司任命总经理赵倩为董事。",
    "各部门负责本部门的安全工作。",
    "全部负责人员到场。",
    "成为中国足球协会的会员是他的梦想。",
    "李娜带领研发团队的成员出席会议。",
    "华星科技有限公司为客户提供支持。",
    "1991 年，Anna Berg 发布最初版本。",
    "用人单位违反规定的，责令改正，并可以按每人三百至五百元处以罚款。",
    "按照受害职工每人1000元以上5000元以下的标准计算。",
])
def test_sentences_that_are_near_a_form_state_nothing(sentence: str, parser: Parser) -> None:
    assert facts(sentence, parser, load_forms()) == []


def test_a_rule_that_ends_is_of_who_issued_it_and_announces_nothing(parser: Parser) -> None:
    assert [fact[:3] for fact in zh("2001年3月5日国务院发布的《车辆管理规定》同时废止。", parser)] == [
        ("车辆管理规定", "produced_by", "国务院")]


def zh(text: str, parser: Parser, subject: Mention | None = None) -> list[Stated]:
    found = FactForms(load_schema("open"), load_forms())
    return list(found.find(text, mentions_of(text, parser), [(0, len(text))], subject))


def test_a_chinese_date_before_the_first_comma_is_of_the_clauses_after_it(parser: Parser) -> None:
    found = zh("2019年5月，王芳加入东海银行，担任财务总监，2021年出任行长。", parser)
    assert [(fact.label, fact.tail, fact.time) for fact in found] == [
        ("works_for", "东海银行", "2019年5月"), ("role", "财务总监", "2019年5月"), ("role", "行长", "2021年")]


def test_chinese_lists_of_names_give_a_fact_for_each(parser: Parser) -> None:
    found = zh("东海银行由刘波和张勇于2008年创办。", parser)
    assert {(fact.tail, fact.time) for fact in found if fact.label == "founded_by"} == {
        ("刘波", "2008年"), ("张勇", "2008年")}


def test_the_subject_of_a_chinese_clause_is_not_who_is_succeeded(parser: Parser) -> None:
    assert {fact.head for fact in zh("孙丽接替周强担任远航物流集团总经理。", parser)} == {"孙丽"}


def test_a_chinese_pronoun_refers_to_the_subject_of_the_text_if_the_kind_fits(parser: Parser) -> None:
    statute = Mention(0, 0, "work", "采购条例")
    assert [fact[:3] for fact in zh("第一百零七条 本条例自2020年5月1日起施行。", parser, statute)] == [
        ("采购条例", "effective_from", "2020年5月1日")]
    assert {fact[:3] for fact in zh("2019年8月1日 国务院令第514号公布", parser, statute)} == {
        ("采购条例", "produced_by", "国务院"), ("采购条例", "release_date", "2019年8月1日")}
    assert zh("他毕业于复旦大学。", parser, statute) == []


def test_latin_names_are_whole_in_chinese_sentences(parser: Parser) -> None:
    assert [fact[:3] for fact in zh("Linus Torvalds 任职于 Linux 基金会。", parser)] == [
        ("Linus Torvalds", "works_for", "Linux 基金会")]


@pytest.mark.parametrize(("sentence", "names"), [
    ("他入职某科技公司。", []),
    ("日本定都于东京。", ["日本", "东京"]),
    ("宁波在浙江省东部。", ["宁波", "浙江省"]),
    ("每项变更由 SIG组内成员讨论确定。", []),
    ("SIG的治理实现特定的目标。", ["SIG"]),
    ("企业“走出去”步伐加快。", []),
    ("沿运河修建道路。", []),
    ("国务院能源主管部门制定规划。", ["国务院"]),
    ("瑞达包装位于苏州。", ["瑞达包装", "苏州"]),
    ("“小满食堂”由张敏创办。", ["小满食堂", "张敏"]),
    ("仲裁庭应当先行调解。", ["仲裁庭"]),
    ("**党/团组织**的材料交到教务处，所在的周**为第一周。", []),
    ("学生传媒中心活动加的是尽美。", []),
    ("学院获批四川省教育厅高等学校课程立项。", ["四川省教育厅"]),
    ("上海市劳动和社会保障局报经市人民政府批准后实施。", []),
])
def test_pieces_of_words_and_sentences_are_no_chinese_names(sentence: str, names: list[str], parser: Parser) -> None:
    assert [mention.name for mention in mentions_of(sentence, parser)] == names


def mentions_of(text: str, parser: Parser) -> list[Mention]:
    return [Mention(span.start, span.end, span.kind, name_of(text, span))
            for span in find_spans([text], parser, languages=[""])[0]]


def prose(text: str, parser: Parser, patterns: tuple[ProsePattern, ...],
          subject: Mention | None = None) -> list[Stated]:
    found = ProseFacts(load_schema("open"), patterns)
    return list(found.find(parser, text, [(0, len(text))], mentions_of(text, parser), subject))


@pytest.mark.parametrize(("pattern", "sentence", "head", "tail"), PROSE, ids=[e[1] for e in PROSE])
def test_a_pattern_gives_the_fact_of_its_example(pattern: ProsePattern, sentence: str, head: str, tail: str,
                                                 parser: Parser) -> None:
    assert [fact[:3] for fact in prose(sentence, parser, (pattern,))] == [(head, pattern.says[0], tail)]


@pytest.mark.parametrize("sentence", [
    "Acme Corporation acquired Delta Bank.",
    "Delta Bank was acquired by Acme Corporation.",
    "In 2001 Acme Corporation, a maker of pumps, acquired Delta Bank for 3 million euros.",
    "Delta Bank, which Acme Corporation acquired in 2001, makes valves.",
    "Delta Bank, acquired by Acme Corporation, makes valves.",
    "Acme Corporation sold its pumps and acquired Delta Bank.",
])
def test_a_pattern_reads_every_form_of_its_verb(sentence: str, parser: Parser) -> None:
    found = [fact for fact in prose(sentence, parser, load_patterns()) if fact.label == "acquired"]
    assert [(fact.head, fact.tail) for fact in found] == [("Acme Corporation", "Delta Bank")]


@pytest.mark.parametrize("sentence", [
    "Acme Corporation did not acquire Delta Bank.",
    "Acme Corporation may acquire Delta Bank.",
    "Acme Corporation plans to acquire Delta Bank.",
    "If Acme Corporation acquired Delta Bank, prices would rise.",
    "Karl Blum denied that Acme Corporation acquired Delta Bank.",
    "It is a mistake to think that Acme Corporation acquired Delta Bank.",
    "The paper withdrew its claim that Ada Blum had died in Oslo.",
    "Some believe that Ada Blum was born in Oslo.",
    "Neither Ada Blum nor Karl Blum studied at the University of Oslo.",
    "Nobody at Delta Bank works for Acme Corporation.",
    "Ada Blum was offered the post of director of Acme Corporation.",
    "The proposed acquisition of Delta Bank by Acme Corporation was debated.",
    "Acme Corporation, Delta Bank",
    "The Executive Director of the Board",
    "Members of the Committee are Gold Members of the Board.",
    "Managers report directly to the Chief Commercial Officer.",
    "Ada Blum sits on the Harbour Bench every morning.",
    "Karl Blum wrote the script for Acme Corporation.",
    "The merger of Acme Corporation and Delta Bank was blocked.",
    "Ada Blum, a critic of the council which works for Acme Corporation, slept.",
    "Acme Corporation provides complete transparency to its supply chain.",
    "Acme Corporation provides various tools to its clients.",
    "This helps Acme Corporation projects provide clean water.",
    "This helps Acme and Delta Bank projects maintain a transparent record of project leadership.",
])
def test_what_is_denied_possible_or_no_sentence_is_no_fact(sentence: str, parser: Parser) -> None:
    assert prose(sentence, parser, load_patterns()) == []


def test_who_manages_what_a_department_does_is_nobodys_manager(parser: Parser) -> None:
    sentence = "The board elected Karl Blum, Division Manager of Planning, Policy and Sustainability for Oslo."
    assert "reports_to" not in {fact.label for fact in prose(sentence, parser, load_patterns())}


def test_an_office_that_says_nothing_alone_is_no_occupation(parser: Parser) -> None:
    said = prose("Ada Blum is the head of the Physics Department in Oslo.", parser, load_patterns())
    assert not any(fact.tail.lower() in {"head", "leader"} for fact in said)


def test_a_pronoun_refers_to_the_only_person_before_it_or_to_the_subject_of_the_text(parser: Parser) -> None:
    subject = Mention(0, 0, "person", "Ada Blum")
    assert {fact[:3] for fact in prose("She was born in Oslo.", parser, load_patterns(), subject)} == {
        ("Ada Blum", "born_in", "Oslo")}
    assert prose("She was born in Oslo.", parser, load_patterns()) == []
    two = "Karl Blum met Paul Weiss in Cairo before he joined Acme Corporation."
    assert [fact for fact in prose(two, parser, load_patterns(), subject) if fact.label == "works_for"] == []


def test_a_list_of_names_gives_a_fact_for_each(parser: Parser) -> None:
    found = prose("Acme Corporation was founded in 1970 by Karl Blum and Paul Weiss.", parser, load_patterns())
    assert {(fact.tail, fact.time) for fact in found if fact.label == "founded_by"} == {
        ("Karl Blum", "in 1970"), ("Paul Weiss", "in 1970")}


def test_marks_and_line_breaks_are_no_part_of_a_sentence(parser: Parser) -> None:
    text = "- c) **Acme Corporation**\n  provides [training](https://x.org/a)\n  for engineers."
    assert [fact[:3] for fact in prose(text, parser, load_patterns())] == [
        ("Acme Corporation", "provides", "training for engineers")]


def test_the_subject_of_a_participle_is_what_it_describes(parser: Parser) -> None:
    [parsed] = parser.parse_sentences(["Acme, founded by Blum, makes pumps."], most_words=90)
    founded = next(token for token in parsed or [] if token.lemma_ == "found")
    assert {role: [token.text for token in tokens] for role, tokens in roles(founded).items() if tokens} == {
        "obj": ["Acme"], "subj": ["Blum"], "by": ["Blum"]}


def test_a_line_of_a_name_and_a_post_states_them_without_a_verb(parser: Parser) -> None:
    found = {fact[:3] for fact in prose("Ada Blum, CTO of Acme Corporation", parser, load_patterns())}
    assert found == {("Ada Blum", "works_for", "Acme Corporation"), ("Ada Blum", "role", "CTO")}


def test_what_a_body_says_of_itself_is_of_the_body(parser: Parser) -> None:
    found = prose("Acme Corporation is pleased to announce that it has acquired Delta Bank.", parser, load_patterns())
    assert [fact[:3] for fact in found] == [("Acme Corporation", "acquired", "Delta Bank")]


def test_a_date_without_a_year_is_a_date(parser: Parser) -> None:
    found = prose("The revised parking tariff takes effect on Monday 1 October.", parser, load_patterns())
    assert [fact[:3] for fact in found] == [("revised parking tariff", "effective_from", "1 October")]


def test_the_team_of_a_body_is_not_the_body(parser: Parser) -> None:
    found = {fact[1:3] for fact in prose("The Acme team was led by Karl Blum.", parser, load_patterns())}
    assert found == {("responsible_for", "Acme team")}


def test_a_title_belongs_to_its_own_name_alone(parser: Parser) -> None:
    text = "She met President Ada Blum and the painter Paul Weiss."
    found = [fact[:3] for fact in prose(text, parser, load_patterns())]
    assert ("Paul Weiss", "role", "President") not in found
    assert ("Paul Weiss", "occupation", "painter") in found


def test_a_name_that_no_recogniser_finds_is_read_where_a_pattern_shows_it(parser: Parser) -> None:
    text = "The Nilequeen 200 was developed by Orbitlabs."
    found = ProseFacts(load_schema("open"), load_patterns()).find(parser, text, [(0, len(text))], [], None)
    assert [(fact[:3], fact.head_kind) for fact in found] == [
        (("Nilequeen 200", "created_by", "Orbitlabs"), "product")]


def test_what_is_said_of_the_document_is_no_goods_of_it(parser: Parser) -> None:
    subject = Mention(0, 0, "work", "Pump Handbook")
    assert prose("It has many interactions with Oslo.", parser, load_patterns(), subject) == []


def test_a_river_in_a_country_is_no_tributary_of_the_country(parser: Parser) -> None:
    text = "Blum River is a river in Perm, Russia, a right tributary of the Akerselva River."
    assert not [fact for fact in prose(text, parser, load_patterns()) if fact.head == "Russia"]


def test_several_people_have_no_occupation_in_the_plural(parser: Parser) -> None:
    assert not [fact for fact in prose("The painters Ada Blum and Karl Blum met.", parser, load_patterns())
                if fact.label == "occupation"]


@pytest.mark.parametrize(("sentence", "fact"), [
    ("The mayor of Oslo is Ada Blum (Karl Blum was her deputy).", ("Karl Blum", "role", "mayor")),
    ("Quiet Harbour is a hotel in Bergen, Norway that opened in 1911.", ("Norway", "founding_date", "1911")),
    ("Blum Hall is a museum run by Acme Corporation, located in Cairo.", ("Acme Corporation", "located_in", "Cairo")),
    ("\"Quiet Harbour\" was published by Paul Weiss.", ("Quiet Harbour", "written_by", "Paul Weiss")),
    ("Oslo was founded in 1048, and today is served by Karl Blum.", ("Oslo", "founded_by", "Karl Blum")),
    ("The village of Brimbleton is located on the Blum River.", ("Brimbleton", "located_in", "Blum River")),
    ("Delta Bank intends to provide steel pumps.", ("Delta Bank", "provides", "steel pumps")),
])
def test_what_is_near_a_name_is_not_said_of_it(sentence: str, fact: tuple[str, str, str], parser: Parser) -> None:
    assert fact not in [found[:3] for found in prose(sentence, parser, load_patterns())]


def test_a_participle_in_brackets_is_of_the_name_before_them(parser: Parser) -> None:
    text = "Acme Corporation succeeded Delta Bank (founded in 1970) and sold pumps."
    found = [fact[:3] for fact in prose(text, parser, load_patterns()) if fact.label == "founding_date"]
    assert found == [("Delta Bank", "founding_date", "1970")]


def test_an_honour_after_a_name_is_no_part_of_it(parser: Parser) -> None:
    text = "Donald Mackay CBE was an explorer."
    assert [fact[:3] for fact in prose(text, parser, load_patterns())] == [("Donald Mackay", "occupation", "explorer")]
