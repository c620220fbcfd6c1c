"""What the rules propose that a schema lacks: attributes and relations, under labels that recur."""

from collections.abc import Callable

import pytest
from banyan.models.rules.parsed.labels import attribute_label
from banyan.models.rules.reading.extraction import RulesExtractor
from banyan.schemas.extraction import Extraction, ExtractionRequest
from banyan.schemas.formats.loading import load_schema
from banyan.schemas.graph_schema import AttributeType, EntityType, GraphSchema, open_schema
from hypothesis import given, settings
from hypothesis import strategies as st

Read = Callable[..., Extraction]
REPORT = "蓝天科技有限公司 财务报告"
FIRM = "蓝天科技有限公司"


@pytest.fixture(scope="module")
def extractor(hashed_embedder) -> RulesExtractor:
    return RulesExtractor(hashed_embedder)


@pytest.fixture(scope="module")
def read(extractor) -> Read:
    def extract(text: str, title: str = "", seed: str = "general") -> Extraction:
        return extractor.extract(ExtractionRequest(text=text, title=title), load_schema(seed))

    return extract


def proposed(extraction: Extraction, seed: str = "general") -> set[tuple[str, str, str]]:
    known = {a.name for a in load_schema(seed).attribute_types}
    return {(a.entity, a.attribute, a.value) for a in extraction.attributes if a.attribute not in known}


def related(extraction: Extraction) -> set[tuple[str, str, str]]:
    return {(t.head, t.relation, t.tail) for t in extraction.triples}


# --- attributes ------------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "title", "expected"), [
    ("Acme Corporation had revenues of $5.2 billion in 2019.", "", ("Acme Corporation", "revenue", "$5.2 billion")),
    ("Its market capitalisation reached $3 billion.", "Acme Corporation",
     ("Acme Corporation", "market capitalisation", "$3 billion")),
    ("Acme Corporation's annual net profit was about 3.1 million euros.", "",
     ("Acme Corporation", "net profit", "3.1 million euros")),
    ("The share price of Acme Corporation is $40.", "", ("Acme Corporation", "share price", "$40")),
    ("Net profit: 3.1 million euros", "Acme Corporation", ("Acme Corporation", "net profit", "3.1 million euros")),
    ("| Net profit | 3.1 million euros |", "Acme Corporation",
     ("Acme Corporation", "net profit", "3.1 million euros")),
    ("The net profits in 2019 were $4 million.", "Acme Corporation", ("Acme Corporation", "net profit", "$4 million")),
    ("Acme Corporation reported $7 million in sales.", "", ("Acme Corporation", "sales", "$7 million")),
    ("Acme Corporation operates about 1,200 stores.", "", ("Acme Corporation", "number of stores", "1,200")),
    ("Radio Graz has a transmitter power of 20,000 watts.", "",
     ("Radio Graz", "transmitter power", "20,000 watts")),
    ("公司的净利润为1.2亿元。", REPORT, (FIRM, "净利润", "1.2亿元")),
    ("2021年度，资产负债率下降至45%。", REPORT, (FIRM, "资产负债率", "45%")),
    ("公司注册资本5000万元。", REPORT, (FIRM, "注册资本", "5000万元")),
    ("营业收入：12亿元", REPORT, (FIRM, "营业收入", "12亿元")),
    ("- **营业收入**：12亿元", REPORT, (FIRM, "营业收入", "12亿元")),
    ("公司在2019年的营业收入达到了12亿元。", REPORT, (FIRM, "营业收入", "12亿元")),
    ("员工满意度在2017年达到了75%。", REPORT, (FIRM, "员工满意度", "75%")),
    ("公司的二氧化碳排放量为100吨。", REPORT, (FIRM, "二氧化碳排放量", "100吨")),
    ("能源消耗降低到了200,000吉瓦时。", REPORT, (FIRM, "能源消耗", "200,000吉瓦时")),
    ("公司的净利润同比增长了12%。", REPORT, (FIRM, "净利润增长率", "12%")),
])
def test_a_noun_beside_a_value_is_proposed(read, text, title, expected):
    assert expected in proposed(read(text, title))


@pytest.mark.parametrize(("text", "title"), [
    ("Acme Corporation's net profit grew by 12%.", ""),
    ("Acme Corporation had an increase of 12%.", ""),
    ("Acme Corporation bought a lot of 40 trucks.", ""),
    ("The mountain range is 25 kilometres to the south.", "Graz"),
    ("His best finish was 19th.", "Otto Kern"),
    ("Otto Kern played in a team of 11.", ""),
    ("公司的净利润下降了5%。", REPORT),
    ("总资产和总负债分别为2亿元和1亿元。", REPORT),
    ("公司计划投资500万元。", REPORT),
    ("公司投资了500万元。", REPORT),
    ("总额为500万元。", REPORT),
])
def test_what_names_no_attribute_is_not_proposed(read, text, title):
    assert not proposed(read(text, title))


def test_a_growth_rate_is_not_the_figure_itself(read):
    found = proposed(read("净利润同比增长12%，达到了1.2亿元。营业收入增长了8%。", REPORT))
    assert (FIRM, "净利润", "12%") not in found
    assert (FIRM, "营业收入", "8%") not in found


def test_what_the_schema_has_is_not_proposed_beside_it(read):
    text = "公司的营业收入为4500万美元，净利润为800万美元。"
    found = read(text, REPORT, "finance")
    assert not proposed(found, "finance")
    assert {"revenue", "net_profit"} <= {a.attribute for a in found.attributes}


def test_a_known_name_far_from_its_owner_is_read_as_the_known_attribute(read):
    found = read("The population was 6,765 at the 2010 census.", "Graz, a town")
    assert not proposed(found)
    found = read("Graz is a town in Austria. The population was 6,765.", "Graz")
    assert ("population", "6,765") in {(a.attribute, a.value) for a in found.attributes}


def test_only_a_few_are_proposed_in_a_sentence(read):
    nouns = ["总资产", "净利润", "营业收入", "股东权益", "现金流量", "负债比率", "净资产收益率", "毛利润", "注册资本"]
    text = "公司的" + "，".join(f"{noun}为{i + 2}亿元" for i, noun in enumerate(nouns)) + "。"
    assert 3 <= len(proposed(read(text, REPORT))) <= 6


@pytest.mark.parametrize(("said", "label"), [
    ("annual net profits", "net profit"), ("total assets", "total assets"), ("former companies", "company"),
    ("total", ""), ("number", ""), ("estimated share prices", "share price")])
def test_english_attribute_labels(said, label):
    assert attribute_label(said.split()) == label


# --- relations -------------------------------------------------------------------------------------

@pytest.mark.parametrize("text", [
    "Otto Kern defeated Tom Hale.", "Otto Kern defeats Tom Hale.", "Tom Hale was defeated by Otto Kern.",
    "Otto Kern later defeated Tom Hale in a match."])
def test_however_it_is_said_the_label_and_direction_are_the_same(read, text):
    assert related(read(text)) == {("Otto Kern", "defeat", "Tom Hale")}


@pytest.mark.parametrize("text", [
    "公司完成了对绿野电影有限公司的股权收购。", "绿野电影有限公司被公司收购。", "公司对绿野电影有限公司进行了收购。"])
def test_chinese_objects_before_their_verb(read, text):
    assert (FIRM, "收购", "绿野电影有限公司") in related(read(text, REPORT))


@pytest.mark.parametrize(("text", "title"), [
    ("Otto Kern defeated Ada Blum's team.", ""),
    ("Otto Kern never defeated Tom Hale.", ""),
    ("Otto Kern would have defeated Tom Hale.", ""),
    ("If Otto Kern defeated Tom Hale, nobody saw it.", ""),
    ("Otto Kern failed to defeat Tom Hale.", ""),
    ("The army of Otto Kern defeated Tom Hale.", ""),
    ("Otto Kern said Tom Hale.", ""),
    ("公司和绿野电影有限公司的收购获得了批准。", REPORT),
    ("公司表示绿野电影有限公司。", REPORT),
])
def test_no_relation_is_read_into_other_words(read, text, title):
    assert not related(read(text, title))


# --- evolution -------------------------------------------------------------------------------------

def test_types_stay_those_of_the_schema(extractor):
    schema = GraphSchema(name="two", entity_types=(EntityType(name="Thing", last_resort=True),),
                         attribute_types=(AttributeType(name="height", kind="number"),))
    found = extractor.extract(ExtractionRequest(text="Acme is a chipmaker. Acme had sales of $4 million."), schema)
    assert {e.type for e in found.entities} == {"Thing"}
    assert ("sales", "$4 million") in {(a.attribute, a.value) for a in found.attributes}


def test_an_open_schema_names_what_general_knows_and_proposes_the_rest(extractor):
    text = "Otto Kern was born in Vienna. Otto Kern defeated Tom Hale. Otto Kern had sales of $4 million."
    found = extractor.extract(ExtractionRequest(text=text, title="Otto Kern"), open_schema())
    assert {("Otto Kern", "born_in", "Vienna"), ("Otto Kern", "defeat", "Tom Hale")} <= related(found)
    assert ("sales", "$4 million") in {(a.attribute, a.value) for a in found.attributes}
    assert {e.name: e.type for e in found.entities}["Vienna"] == "Location"


PIECES = st.sampled_from([
    "Acme", "its", "Otto Kern's", "net profit", "had", "revenues of", "was", "$5 million", "in", "sales", ":", "|",
    "\n", ". ", "公司", "的", "净利润", "为", "达到了", "12%", "同比增长", "5000万元", "2019年", "在", "，", "。",
    "对", "被", "收购", "蓝天科技有限公司", "年" * 40, "的" * 40, "7"])


@given(st.lists(PIECES, max_size=30), st.sampled_from(["", "Acme", REPORT]), st.sampled_from(["general", "open"]))
@settings(max_examples=40, deadline=None)
def test_values_stand_in_their_evidence_and_owners_are_declared(extractor, pieces, title, seed):
    for joint in (" ", ""):
        text = joint.join(pieces)
        found = extractor.extract(ExtractionRequest(text=text, title=title), load_schema(seed))
        names = {e.name for e in found.entities}
        for attribute in found.attributes:
            assert attribute.value in attribute.evidence
            assert attribute.evidence in text
            assert attribute.entity in names
            assert attribute.attribute == attribute.attribute.strip()
