"""Languages other than English and Chinese: the kinds of questions, words, dates and short answers."""


import pytest
from banyan.models.parsing.parser import Parser
from banyan.models.rules.question import analyse
from banyan.models.rules.recognition.spans import find_spans
from banyan.models.rules.rules_reasoner import Answers
from banyan.schemas.retrieval import Passage, QuotedDraft
from banyan.text.content_words import content_words


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


@pytest.mark.parametrize("text", [
    "लेख श्रीमती कमला देशवाल ने रामनगर शहर में १४ मई १९९७ को पढ़ा।",
    "館長の三枝千代子は1997年5月14日に鳴沢川を渡り、マリー・キュリーに会った。",
    "تدير السيدة ليلى الحمداني مكتبة تل الزهور في مدينة حلب منذ ٥ مايو ١٩٩٣.",
])
def test_languages_without_a_pipeline_have_dates_and_no_guessed_names(text: str, parser: Parser) -> None:
    assert [span.kind for span in find_spans([text], parser)[0]] == ["date"]


def test_names_in_latin_script_are_found_in_any_language(parser: Parser) -> None:
    text = "La abogada vive en Bogotá y estudió con Mercedes Barcha."
    assert "Mercedes Barcha" in {text[span.start : span.end] for span in find_spans([text], parser)[0]}


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
