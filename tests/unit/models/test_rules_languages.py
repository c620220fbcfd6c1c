"""Languages other than English and Chinese: names, the kinds of questions, words, and short answers."""

import json
from pathlib import Path

import pytest
from banyan.models.parsing.parser import Parser
from banyan.models.rules.answers import Answers
from banyan.models.rules.question import analyse
from banyan.models.rules.reader import RulesReader
from banyan.models.rules.recognition.spans import cue_language, find_spans
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.formats.schema_loading import load_schema
from banyan.schemas.retrieval import Passage, QuotedDraft
from banyan.text.content_words import content_words

FOLDER = Path(__file__).parents[3] / "benchmarks" / "questions" / "languages"


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


@pytest.mark.parametrize(("text", "expected"), [
    ("La abogada vive en Bogotá y estudió en la Universidad Nacional de Colombia con Mercedes Barcha.",
     [("Bogotá", "location"), ("Universidad Nacional de Colombia", "organization"), ("Mercedes Barcha", "person")]),
    ("El puente cruza el río Ebro y lo proyectó don Julio por encargo de una panadería de Lorcilla.",
     [("río Ebro", "location"), ("Julio", "person"), ("Lorcilla", "location")]),
    (("El Comité Ejecutivo y el Consejo de Pregrado eligen a Nicolás Castro. Art. 6 - Adicionalmente se vota la Cuenta "
      "Pública."), [("Comité Ejecutivo", "organization"), ("Consejo de Pregrado", "organization"),
                  ("Nicolás Castro", "person"), ("6", "number"), ("Cuenta Pública", "name")]),
    ("Le siège est à Séville, et Carlos Ghosn a dirigé le club d'aviron de Port-Mazeray jusqu'en 2019.",
     [("Séville", "location"), ("Carlos Ghosn", "person"), ("club d'aviron de Port-Mazeray", "organization"),
      ("2019", "date")]),
    ("Viele Studenten kommen aus China und werden von Frau Blum unterrichtet, im Sommer auch von Max Weber.",
     [("China", "location"), ("Blum", "person"), ("Max Weber", "person")]),
    (("Im Protokoll steht, dass das Repair Café bei Bedarf in Präsenz oder in Bielefeld tagt und Tim Blum die Technik "
      "Gruppe leitet. Herr Max Weber gibt den Vorsitz ab. Die Werkbank vom Verein 150 € ist in der Stadtbücherei Ulm."),
     [("Bielefeld", "location"), ("Tim Blum", "person"), ("Max Weber", "person"), ("150 €", "number"),
      ("Stadtbücherei Ulm", "organization")]),
    ("Он родился в городе Омске и служил на заводе «Полюс», где его учил инженер Илья Репин.",
     [("Омске", "location"), ("Полюс", "name"), ("Илья Репин", "person")]),
    ("लेख श्रीमती कमला देशवाल ने रामनगर शहर में १४ मई १९९७ को पढ़ा।",
     [("कमला देशवाल", "person"), ("रामनगर", "location"), ("१४ मई १९९७", "date")]),
    ("অধ্যাপক অমিতাভ চক্রবর্তী রূপপুর গ্রামে ৭ মার্চ ১৯৯৬ তারিখে আসেন।",
     [("অমিতাভ চক্রবর্তী", "person"), ("রূপপুর", "location"), ("৭ মার্চ ১৯৯৬", "date")]),
    ("تدير السيدة ليلى الحمداني مكتبة تل الزهور في مدينة حلب منذ ٥ مايو ١٩٩٣.",
     [("ليلى الحمداني", "person"), ("مكتبة تل الزهور", "organization"), ("حلب", "location"),
      ("٥ مايو ١٩٩٣", "date")]),
    ("館長の三枝千代子は鳴沢川を渡り、マリー・キュリーに会った。",
     [("三枝千代子", "person"), ("鳴沢川", "location"), ("マリー・キュリー", "person")]),
    ("館長の三枝千代子は「義務」を説明し、「ポンプ祭」で「ポンプを直します」と言った。",
     [("三枝千代子", "person"), ("ポンプ祭", "name")]),
])
def test_names_are_found_by_the_words_around_them(text: str, expected: list[tuple[str, str]], parser: Parser) -> None:
    assert [(text[span.start : span.end], span.kind) for span in find_spans([text], parser)[0]] == expected


def test_english_and_chinese_are_read_as_before(parser: Parser) -> None:
    assert cue_language("The library was opened by the mayor of the town in the spring.", parser) == ""
    assert cue_language("图书馆于1931年开放。", parser) == ""
    assert cue_language("La biblioteca abrió sus puertas en 1931 y es de la ciudad.", parser) == "es"
    assert cue_language("La biblioteca de la ciudad", parser) == "", "a few words may be a name in an English text"


def test_a_list_of_names_is_in_the_language_of_the_titles_above_it(parser: Parser) -> None:
    names = "Felix Blum, Karin Weber, Repair Café"
    assert cue_language(names, parser) == ""
    assert cue_language(names, parser, "Protokoll der Sitzung des Vereins\nAnwesende") == "de"
    assert cue_language(names, parser, "Minutes of the meeting of the board\nPresent") == ""


def test_addresses_are_in_no_language(parser: Parser) -> None:
    text = "- [Kisten](https://www.blum.com/de/de/) und die Umfrage, die bis zum 3. Mai für alle Mitglieder offen ist"
    assert cue_language(text, parser) == "de"


def test_what_is_found_of_the_listed_names_does_not_fall() -> None:
    reader, schema = RulesReader(), load_schema("general")
    listed = {record["id"]: {name.casefold() for kind in ("person", "location", "other") for name in record[kind]}
              for record in map(json.loads, (FOLDER / "names.jsonl").read_text("utf-8").splitlines())}
    found = right = 0
    for line in (FOLDER / "more_documents.jsonl").read_text("utf-8").splitlines():
        document = json.loads(line)
        request = ExtractionRequest(text=document["text"], title=document["title"])
        entities = reader.extract([request], schema)[0].entities
        found += len({entity.name.casefold() for entity in entities})
        right += len({entity.name.casefold() for entity in entities} & listed[document["id"]])
    assert right >= 90
    assert right / found > 0.9


@pytest.mark.parametrize(("question", "language", "expected"), [
    ("¿Quién dirige la biblioteca de Valdearroyo?", "es", "person"),
    ("¿Con quién aprendió el fundador?", "es", "text"),
    ("Em que ano foi fundada a escola?", "pt", "date"),
    ("Quantos sócios tem o clube?", "pt", "number"),
    ("Pourquoi la verrerie a-t-elle fermé ?", "fr", "reason"),
    ("Wo steht die Brauerei?", "de", "location"),
    ("Сколько стоит билет?", "ru", "number"),
    ("झरिया नदी का पुल किसने बनाया?", "hi", "person"),
    ("সে কবে আসে?", "bn", "date"),
    ("كم يبلغ طول جسر الوردة؟", "ar", "number"),
    ("من تدير المكتبة؟", "ar", "person"),
    ("館長は誰ですか。", "ja", "person"),
    ("Who runs the library?", "en", "person"),
    ("谁管理图书馆？", "zh", "person"),
])
def test_questions_say_what_they_ask_for(question: str, language: str, expected: str) -> None:
    analysed = analyse(question)
    assert (analysed.language, analysed.expected) == (language, expected)


def test_words_keep_their_vowel_signs_and_lose_their_endings() -> None:
    assert content_words("पुस्तकालय में", "hi") == content_words("पुस्तकालय", "hi")
    assert len(content_words("पुस्तकालय", "hi")) == 1
    assert content_words("গ্রন্থাগারের", "bn") == content_words("গ্রন্থাগার", "bn")
    assert content_words("affiliated associated") == content_words("affiliation association")
    assert content_words("las bibliotecas", "es") == content_words("biblioteca", "es")


@pytest.mark.parametrize(("text", "question", "short"), [
    ("मिठास हलवाई की दुकान बाबूलाल अग्रवाल ने 1936 में शुरू की थी। यहाँ का पेड़ा प्रसिद्ध है।",
     "मिठास हलवाई की दुकान कब शुरू हुई?", "1936"),
    ("A ponte foi projetada pela engenheira Otília Brandão. Mede 92 metros e é a primeira da região.",
     "Quem projetou a ponte?", "Otília Brandão"),
    ("A ponte não foi projetada pela engenheira Otília Brandão. É a primeira da região.",
     "Quem projetou a ponte?", ""),
])
def test_a_short_answer_is_marked_only_where_it_is_stated(text: str, question: str, short: str, parser: Parser) -> None:
    draft = Answers(parser).find(question, [Passage(
        chunk_id="c", document="d", title="", text=text, start=0, score=1.0)])
    assert isinstance(draft, QuotedDraft)
    assert draft.short == short
