"""spaCy's pipelines and parses, which take linear time, and typed spans: whole names, none in what is no sentence."""

import shutil
from itertools import pairwise

import pytest
from banyan.models.local_models import ModelError
from banyan.models.parsing import parser as pipelines
from banyan.models.parsing.parser import Parser
from banyan.models.rules.recognition.name_kinds import Span, name_of
from banyan.models.rules.recognition.spans import find_spans
from banyan.text.sentences import split_sentences

TEXT = "Anna Brandt joined in 2011. She runs the plant in Lyon.\n# Our people\nPaul Weiss left."


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


def test_a_document_has_our_sentences_and_the_texts_offsets(parser):
    (doc,) = parser.entities([TEXT])
    assert all(TEXT[token.idx : token.idx + len(token)] == token.text for token in doc)
    first_words = {sentence[0].idx for sentence in doc.sents}
    assert {start for start, _ in split_sentences(TEXT)} <= first_words
    assert ("Anna Brandt", "PERSON") in {(entity.text, entity.label_) for entity in doc.ents}


@pytest.mark.parametrize("pattern", [") ", "a. ", "a", "(", " ", "和", "[", "\n", "the cat "])
def test_the_work_grows_with_the_text(parser, pattern):
    """Tokens of one sentence are bounded, and so are the characters of one token."""
    (doc,) = parser.entities([(pattern * 4000)[:4000]])
    assert max(len(sentence) for sentence in doc.sents) <= 151
    assert all(len(token) < 100 or token.is_space for token in doc)


def test_an_altered_file_is_not_loaded(tmp_path, monkeypatch):
    source = pipelines.load_pipeline(pipelines.PACKAGE).path
    package = tmp_path / pipelines.PACKAGE
    shutil.copytree(source, package / pipelines.FOLDER)
    (package / "__init__.py").write_text("raise SystemExit('the package runs')")
    (package / pipelines.FOLDER / "ner" / "model").write_bytes(b"altered")
    monkeypatch.syspath_prepend(tmp_path)
    pipelines._load.cache_clear()

    with pytest.raises(ModelError, match="pip install --force-reinstall"):
        pipelines.load_pipeline(pipelines.PACKAGE)
    monkeypatch.undo()
    pipelines._load.cache_clear()


def test_a_missing_pipeline_is_named_with_the_fix():
    with pytest.raises(ModelError, match=r"en_none.*BANYAN_SPACY_PIPELINES"):
        Parser("xx_core_news_sm, en_none").entities(["text"])


def spans(text: str, parser: Parser) -> list[tuple[str, str]]:
    return [(name_of(text, span), span.kind) for span in find_spans([text], parser)[0]]


def names(text: str, parser: Parser) -> list[str]:
    return [name for name, kind in spans(text, parser) if kind not in {"date", "number"}]


@pytest.mark.parametrize(("text", "expected"), [
    ("Steven Spielberg directed it in New York's John F. Kennedy Airport.",
     [("Steven Spielberg", "person"), ("New York", "location"), ("John F. Kennedy Airport", "location")]),
    ("Elia Hernández Núñez (born 20 June 1962) is a Mexican politician.",
     [("Elia Hernández Núñez", "person"), ("20 June 1962", "date")]),
    ("Wenne is a river of Germany.", [("Wenne", "location"), ("Germany", "location")]),
    ("She wrote the novel \"The Rivers of Oslo\" and was paid 300 kg.",
     [("The Rivers of Oslo", "work"), ("300 kg", "number")]),
    ("爱康医疗集团于2019年1月收购了华瑞生物医药有限公司。",
     [("爱康医疗集团", "organization"), ("2019年1月", "date"), ("华瑞生物医药有限公司", "organization")]),
    ("鲁迅写了小说《狂人日记》。", [("鲁迅", "person"), ("狂人日记", "work")]),
    ("The Bergen Pump Exchange (BPE) bought a CPU. The BPE needs the CPU, and the CPU is slow.",
     [("Bergen Pump Exchange", "organization"), ("BPE", "organization"), ("CPU", "name"), ("BPE", "organization"),
      ("CPU", "name"), ("CPU", "name")]),
    ("Contributed by Ada Keller\nHarbour Safety Academy", [("Ada Keller", "person"),
                                                           ("Harbour Safety Academy", "organization")]),
    ("It applies to:\n\n- OpenPump Safety Work Group\n- OpenPump Training Work Group",
     [("OpenPump Safety Work Group", "organization"), ("OpenPump Training Work Group", "organization")]),
    ("This is the FAQ of the Pump ISO/IEC 5230:2020 for all.", [("Pump ISO/IEC 5230:2020", "work")]),
    ("Seats go to Bronze, Copper, and Zinc member firms in Oslo.\n\nSafety Work Group, which met Ada Keller, writes.",
     [("Bronze", "name"), ("Oslo", "location"), ("Safety Work Group", "organization"), ("Ada Keller", "person")]),
    ("Anna Keller read the novel \"Quiet Harbour\" in Oslo.", [("Anna Keller", "person"), ("Quiet Harbour", "work"),
                                                             ("Oslo", "location")]),
    ("Word marks (the \"Quiet Marks\") belong to Anna Keller.", [("Quiet Marks", "name"), ("Anna Keller", "person")]),
    ("It is sold by Anna Keller under Section IV.", [("Anna Keller", "person")]),
    ("Anna Keller reads Pump Standard ISO 9001:2015 in Oslo.", [
        ("Anna Keller", "person"), ("Pump Standard ISO 9001:2015", "work"), ("Oslo", "location")]),
    ("The **Nobel Foundation**'s office and the University of Oslo's library are in Sweden.",
     [("Nobel Foundation", "organization"), ("University of Oslo", "organization"), ("Sweden", "location")]),
    ("Our governor is Elizabeth Dowdeswell Since 2014.", [("Elizabeth Dowdeswell", "person"), ("2014", "date")]),
])
def test_names_have_whole_boundaries_and_kinds(text: str, expected: list[tuple[str, str]], parser: Parser) -> None:
    assert spans(text, parser) == expected


@pytest.mark.parametrize("text", [
    "Home > Products > Pumps > Model A\n", "Kind regards,\n", "Yours sincerely,\n", "```\nBerlin(Lyon)\n```\n",
    "| Product: Nile Pump | Price: 40 |\n", "    total = Berlin.count(pumps)\n", "if (Oslo == None) {\n",
    "PUSH2 0x1C2B JUMP LONDON PUSH1 0x1F ADD\n", "The value of `Berlin` is stored in `New York`.\n"])
def test_lines_that_are_no_sentences_and_code_hold_no_names(text: str, parser: Parser) -> None:
    assert names(f"{text}\nThe pump was sold to Anna Keller in Oslo.\n", parser) == ["Anna Keller", "Oslo"]


def test_a_wrapped_name_has_no_line_break_and_a_list_is_not_one_name(parser: Parser) -> None:
    wrapped = ("The contract for the new pumping station was finally signed by the mayor of New\n"
               "York and by Anna Keller, who had negotiated it for more than two long years.")
    assert "New York" in names(wrapped, parser)
    assert not [name for name in names("Offices:\n- Berlin\n- Oslo\n- New Delhi\n", parser) if "\n" in name]


def test_a_picture_and_what_stands_behind_a_dash_are_no_part_of_a_name(parser: Parser) -> None:
    text = "The hall was rebuilt by Ethan White 👨‍💻 of Alder. "
    text += "The pairs were Paula Blum - Sarah Lee and Ida Lang - Bo Karl."
    names = {text[span.start : span.end] for span in find_spans([text], parser)[0]}
    assert "Ethan White" in names
    assert not any(" - " in name or name[-1] > "\u2600" for name in names)


def test_spans_ascend_without_overlaps_and_do_not_depend_on_other_texts(parser: Parser) -> None:
    texts = ["Marie Curie was born in Warsaw on 7 November 1867.", "屠呦呦1930年出生于浙江省宁波市。",
             "On 3 May 2021 Acme Corporation paid 4.5 million USD to the City of Oslo."]
    together = find_spans(texts, parser)
    assert together == [find_spans([text], parser)[0] for text in texts]
    for found in together:
        assert all(isinstance(span, Span) for span in found)
        assert all(a.end <= b.start for a, b in pairwise(found))


@pytest.mark.parametrize(("sentence", "expected"), [
    ("他入职某科技公司。", []), ("日本定都于东京。", ["日本", "东京"]),
    ("每项变更由 SIG组内成员讨论确定。", ["SIG"]), ("SIG的治理实现特定的目标。", ["SIG"]),
    ("企业“走出去”步伐加快。", []), ("沿运河修建道路。", []), ("国务院能源主管部门制定规划。", ["国务院"]),
    ("仲裁庭应当先行调解。", ["仲裁庭"]), ("**党/团组织**的材料交到教务处，所在的周**为第一周。", []),
    ("学生传媒中心活动加的是尽美。", []), ("学院获批四川省教育厅高等学校课程立项。", ["四川省教育厅"]),
    ("上海市劳动和社会保障局报经市人民政府批准后实施。", [])])
def test_pieces_of_words_and_sentences_are_no_chinese_names(sentence: str, expected: list[str], parser: Parser) -> None:
    assert names(sentence, parser) == expected
