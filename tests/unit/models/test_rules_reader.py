"""Reading without a model: entities with whole names, facts of sure forms and key-value lines, and no junk."""

import pytest
from banyan.ingest.chunking import chunk_document
from banyan.models.parsing.parser import Parser
from banyan.models.rules.reader import RulesReader
from banyan.models.rules.recognition.spans import find_spans
from banyan.models.rules.rules_reasoner import RulesReasoner
from banyan.schemas.documents import Document
from banyan.schemas.extraction import Extraction, ExtractionRequest
from banyan.schemas.formats.schema_loading import load_schema
from banyan.schemas.retrieval import Passage, QuotedDraft
from banyan.text.content_words import content_words


@pytest.fixture(scope="module")
def reader() -> RulesReader:
    return RulesReader()


def read(reader: RulesReader, text: str, title: str = "", heading: str = "",
         schema: str = "encyclopedia") -> Extraction:
    return reader.extract([ExtractionRequest(text=text, title=title, heading=heading)], load_schema(schema))[0]


def entities(extraction: Extraction) -> dict[str, str]:
    return {entity.name: entity.type for entity in extraction.entities}


def facts(extraction: Extraction) -> set[tuple[str, str, str]]:
    return {(t.head, t.relation, t.tail) for t in extraction.triples} | {
        (a.entity, a.attribute, a.value) for a in extraction.attributes}


def test_entities_have_the_types_of_the_schema(reader: RulesReader) -> None:
    found = entities(read(reader, "Marie Curie was born in Warsaw. She was given the Nobel Prize in 1903. "
                                  "\"The Blue Lamp\" is a 1950 film about her."))
    assert found == {"Marie Curie": "Person", "Warsaw": "Location", "Nobel Prize": "Award", "The Blue Lamp": "Work"}


@pytest.mark.parametrize(("text", "name"), [
    ("We met Sir Henry on the moor.", "Sir Henry"), ("They called on Mr. Darcy.", "Mr. Darcy"),
    ("Miss Bennet said nothing.", "Miss Bennet"), ("Then Lady Catherine left.", "Lady Catherine"),
    ("It was Dr. Ada Keller who came.", "Ada Keller"), ("We asked Lydia.", "Lydia"),
    ("王先生昨天到了北京。", "王先生"), ("The music was printed by S. Hutton in London.", "S. Hutton"),
    ("He dedicated it to the Duchess of Pembroke.", "Duchess of Pembroke"),
    ("Bach played for Frederick the Great. Frederick the Great liked it.", "Frederick the Great"),
    ("It was sent to Hans Georg Benda by the court.", "Hans Georg Benda")])
def test_an_address_a_first_name_initials_and_ranks_make_a_person(reader: RulesReader, text: str, name: str) -> None:
    assert entities(read(reader, text, schema="general")).get(name) == "Person"


def test_a_bank_of_a_country_and_a_demonstrative_make_none(reader: RulesReader) -> None:
    found = entities(read(reader, "The U.S. Government paid. This Steering Committee met. They met in Lisbon. "
                                  "She works at Microsoft Research.", schema="general"))
    assert found["U.S. Government"] == found["Microsoft Research"] == "Organization"
    assert "This Steering Committee" not in found
    told = entities(read(reader, "“Mr. Beale I’m off,” said Mrs. Beale. See Dora Beale’s Tale.", schema="general"))
    assert "Mrs. Beale" in told
    assert not [name for name in told if "’" in name]


@pytest.mark.parametrize("text", [
    "This was found by Schofield et al. in the sea.", "It lives in trees (Nylander and Hobbs, 2004).",
    "Cohen SR, Horowitz B (1998) J Nat Prod. Curie M, Blum K, Hagen P (2001) Nature 61: 123.",
    "Faces show it (Essa and\nPentland, 1997; Lanitis et al., 1997;\nHong and Pentland, 2000).",
    "We thank A.B. and P.L. for help.", "The band of ψErv and S7/S11 is shown.", "# 原则\n社区遵循以下原则："])
def test_citations_initials_codes_and_general_headings_are_no_names(reader: RulesReader, text: str) -> None:
    assert entities(read(reader, text, schema="general")) == {}


def test_short_names_stand_for_what_the_document_is_about(reader: RulesReader) -> None:
    found = entities(read(reader, "Keller studied at the University of Oslo.", title="Ada Keller"))
    assert found == {"Ada Keller": "Person", "University of Oslo": "Organization"}


@pytest.mark.parametrize(("title", "text", "kind"), [
    ("Radium", "Radium is a metal. Radium was discovered by Marie Curie.", "Substance"),
    ("Polonium", "Polonium is a chemical element. Marie Curie discovered it.", "Substance")])
def test_a_sentence_that_defines_a_title_gives_its_type(reader: RulesReader, title: str, text: str, kind: str) -> None:
    assert entities(read(reader, text, title))[title] == kind


@pytest.mark.parametrize(("text", "found"), [
    ('She wrote two novels: "The Salt Road" (1948), about a journey, and "Harbour Bells".',
     {"The Salt Road": "Work", "Harbour Bells": "Work"}),
    ("“Well, Sir,” he said. “Yes. But,” said they. “The Game and—” See the book “Mr. Salt”.", {"Mr. Salt": "Work"}),
    ('Ronald ("Ron") Owen Keller (born May 31, 1938) was a race walker.', {'Ronald ("Ron") Owen Keller': "Person"}),
    ("Harbour Open Pump Foundation (BPE) \nPump Guidelines\n\nA guide to the pumps.",
     {"Harbour Open Pump Foundation": "Organization", "BPE": "Organization"})])
def test_quoted_titles_nicknames_and_short_forms(reader: RulesReader, text: str, found: dict[str, str]) -> None:
    assert entities(read(reader, text, schema="general")) == found


@pytest.mark.parametrize(("text", "people"), [
    ("Members present: Karen Tom Tayeb Kevin Julia", {"Karen", "Tom", "Kevin", "Julia"}),
    ("* Katie Brian Rebecca", {"Katie", "Brian", "Rebecca"}),
    ("We met Philip Michael Thomas.", {"Philip Michael Thomas"}),
    ("We met Anna Maria Keller.", {"Anna Maria Keller"}),
    ("It was **Karen** **[Tom Berg](t.md)** who came with Anna Keller.", {"Anna Keller"}),
    ("Minutes: Anna Keller Nominated", {"Anna Keller"}),
    ("In Paris I met Old Keller. “Your Majesty’s book, Mr. Keller.”", {"Paris", "Mr. Keller"}),
    ("# Minutes Mill Advisory Council\n\nNew Mill Advisory Council rules. As Mill Advisory Council we vote.",
     {"Mill Advisory Council"})])
def test_first_names_without_commas_are_persons_of_their_own(reader: RulesReader, text: str, people: set[str]) -> None:
    assert entities(read(reader, text, schema="general")).keys() == people


def test_coined_words_are_bodies_or_products_and_terms_are_none(reader: RulesReader) -> None:
    text = "HillLab has a saw. Kevin joined HillLab. PumpWare runs on it. We like PumpWare. Call MillStone once."
    assert entities(read(reader, text, schema="general")) == {
        "HillLab": "Organization", "Kevin": "Person", "PumpWare": "Product"}


@pytest.mark.parametrize(("name", "kind"), [
    ("Keller History Center", "Organization"), ("Ada Keller Memorial", "Location"), ("Congress of Oslo", "Event")])
def test_the_noun_of_a_name_tells_its_type(reader: RulesReader, name: str, kind: str) -> None:
    assert entities(read(reader, f"Visitors saw the {name} in May. The {name} was full.")).get(name) == kind


def test_lines_of_keys_and_values_describe_what_the_heading_names(reader: RulesReader) -> None:
    text = "Capacity: 40 people\nFloor: 3\n\n### Contact\nPhone: 0123 456\nFax: 0123 457\n"
    found = read(reader, text, title="House guide", heading="House guide > Meeting Room Borodin", schema="general")
    assert facts(found) == {("Meeting Room Borodin", "Capacity", "40 people"), ("Meeting Room Borodin", "Floor", "3"),
                            ("Meeting Room Borodin", "Phone", "0123 456"), ("Meeting Room Borodin", "Fax", "0123 457")}


@pytest.mark.parametrize("text", ["微波炉是1945年由珀西·勒巴朗·斯宾塞发明的。",
                                  "微波炉是 1945 年由 [珀西·勒巴朗·斯宾塞](https://a.example/Spencer) 发明的。"])
def test_all_parts_of_a_chinese_name_with_dots_are_of_it(reader: RulesReader, text: str) -> None:
    assert "珀西·勒巴朗·斯宾塞" in entities(read(reader, text, schema="general"))


def test_lines_of_a_form_below_no_name_are_fields_of_its_document(reader: RulesReader) -> None:
    form = "*Sponsor / advisor*: Ann Lee <ann@x.org>, Bo Karl\n\n*Level*: two\n*Licence*: BSD\n*Seen by*: ____\n"
    links = "Pump: https://x.org/p\nHoist: https://x.org/h\nDock: https://x.org/d\n"
    talks = "Talk: pumps\nTalk: docks\nTalk: hoists\n"
    boards = ("Until now:\n\n- Chair: Ann Lee\n- Clerk: Bo Karl\n- Cashier: Cy Dorn\n\nFrom now on, by a vote:\n\n"
              "- Chair: Bo Karl\n- Clerk: Ann Lee\n- Cashier: Cy Dorn\n")

    def of_document(text: str) -> set[tuple[str, str, str]]:
        request = ExtractionRequest(text=text, title="alder-proposal", heading="", document="in/alder-proposal.adoc")
        return facts(reader.extract([request], load_schema("general"))[0])

    document = "in/alder-proposal.adoc"
    assert of_document(form) == {(document, "Sponsor / advisor", "Ann Lee"), (document, "Sponsor / advisor", "Bo Karl"),
                                 ("Ann Lee", "alias", "ann@x.org"), (document, "Level", "two"),
                                 (document, "Licence", "BSD")}
    assert not of_document(links) | of_document(talks) | of_document(boards) | of_document("Level: two\nLicence: BSD\n")
    assert of_document("A soup.\n\nRating: ★★☆\n\nEnergy: 309 kcal\n") == {
        (document, "Rating", "★★☆"), (document, "Energy", "309 kcal")}
    assert not of_document("Rating: ---\n\nEnergy: 309 kcal\n")


def test_fields_under_a_title_that_is_its_first_heading_and_no_name_are_of_the_document(reader: RulesReader) -> None:
    title, document = "All services returned an error in May", "PM-7 - all services.md"
    request = ExtractionRequest(text="- Category: Kubernetes\n- Time to detection: 4 minutes\n- Cost: 7 EUR\n",
                                title=title, heading=f"{title} > Stats", document=document)
    assert {fact[1:] for fact in facts(reader.extract([request], load_schema("general"))[0])} == {
        ("Category", "Kubernetes"), ("Time to detection", "4 minutes"), ("Cost", "7 EUR")}


@pytest.mark.parametrize(("text", "people"), [
    ("## Present\n\n* **Ann Lee** @alee (chair)\n* Bo van Karl - guest\n",
     {("present", "Ann Lee"), ("present", "Bo van Karl")}),
    ("Attendees:\n- Ann Lee, Alder\n- [Bo Karl](https://x.org/b)\n",
     {("attendees", "Ann Lee"), ("attendees", "Bo Karl")}),
    ("**Attendees:**\n\n- Ann Lee\n- Bo Karl\n", {("attendees", "Ann Lee"), ("attendees", "Bo Karl")}),
    ("# 出席\n- 王芳\n- 李小明（主席）\n", {("出席", "王芳"), ("出席", "李小明")}),
    ("Present: Ann Lee, Bo van Karl and Cy Dee.\n\nRegrets: not logged, sorry\n",
     {("present", "Ann Lee"), ("present", "Bo van Karl"), ("present", "Cy Dee")}),
    ("* **Present:** Ann Lee, Bo\n  Karl, Cy Dee\n* Next: May\n",
     {("present", "Ann Lee"), ("present", "Bo Karl"), ("present", "Cy Dee")}),
    ("出席：王芳、李小明\n", {("出席", "王芳"), ("出席", "李小明")}),
    ("Present: unfortunately, this was not logged.\nFrom: Ann Lee, Bo Karl\nPresent: Ann Lee\n", set()),
    ("## Present\n\n- Buy new pumps\n- Ann Lee\n", set()),
    ("## Present\n\n- Ann Lee\n", set()),
    ("## Docks\n\n- Ann Lee\n- Bo Karl\n", set()),
])
def test_a_list_of_people_says_what_they_are_to_the_document(reader: RulesReader, text: str,
                                                             people: set[tuple[str, str]]) -> None:
    request = ExtractionRequest(text=text, title="Minutes", heading="", document="minutes/may.md")
    found = reader.extract([request], load_schema("general"))[0].triples
    assert {(t.relation.lower(), t.tail) for t in found if t.head == "minutes/may.md"} == people


@pytest.mark.parametrize("text", [
    "Note: the room is closed.\nWarning: wet floor.\n", "From: Ada Blum\nTo: Karl Blum\nSubject: the pump\n",
    "Capacity: 40 people\n",
    "Saturday, January 10th: home game, 3:30 PM\nMonday, January 12th: away game, 7:00 PM\n",
    "Reason: the pump leaked. It was repaired. Nobody was hurt.\nResult: it works. We are glad.\n"])
def test_lines_that_are_no_keys_and_values(reader: RulesReader, text: str) -> None:
    assert read(reader, text, heading="Meeting Room Borodin", schema="general").attributes == ()


@pytest.mark.parametrize(("text", "junk"), [
    ("HARBOUR STATION LOG\n\nThe pump was checked by Anna Keller.\n", "HARBOUR STATION LOG"),
    ("The pump was checked by Anna Keller.\n\nThanks again and Best Regards,\nTeam Harbour Prize\n", "Best Regards"),
    ("<ul><li><a href='#'>Home</a></li><li>Products</li></ul>\n\nThe pump was checked by Anna Keller.\n", "Products"),
    ("Home | Pump Catalogue | Harbour News | Contact\n\nThe pump was checked by Anna Keller.\n", "Pump Catalogue"),
    ("| Pump: Nile Queen | Price: 40 |\n\nThe pump was checked by Anna Keller.\n", "Nile Queen"),
    ("The pumps were checked by Anna Keller. Delivered on Monday: two Valves.\n", "Valves"),
    ("The Executive Director met Anna Keller. The Executive Director spoke.", "Executive Director"),
    ("The Platinum Representatives of the fund met Anna Keller.", "Platinum Representatives"),
    ("CHALLENGES:\nThe pump was checked by Anna Keller.", "CHALLENGES")])
def test_headings_closings_posts_and_markup_give_no_entities(reader: RulesReader, text: str, junk: str) -> None:
    found = entities(read(reader, text, schema="general"))
    assert "Anna Keller" in found
    assert not [name for name in found if junk in name or "\n" in name or "|" in name or "<" in name]


def test_the_title_after_a_key_is_the_documents_and_its_lines_describe_the_document(reader: RulesReader) -> None:
    text = "- Codename: Old Harbour\n- Aliases: The Big One\n\nHard Pumps are made here. The Hard Pumps last long.\n"
    found, other = reader.extract(
        [ExtractionRequest(text=text, title=title, document=document) for title, document in (
            ("Hard Pumps", "RFC-20: Hard Pumps"),
            ("How to make hard pumps last", "RFC-21: How to make hard pumps last"))], load_schema("general"))
    assert facts(found) == {("RFC-20: Hard Pumps", "Codename", "Old Harbour"),
                            ("RFC-20: Hard Pumps", "Aliases", "The Big One")}
    assert entities(found) == {"RFC-20: Hard Pumps": "Work", "Hard Pumps": "Work"}
    assert facts(other) == set(), "no name: the lines may be of anything in it"


def test_a_chunk_is_read_alike_whatever_is_read_with_it(reader: RulesReader) -> None:
    requests = [ExtractionRequest(text=text, title=title) for text, title in (
        ("Ada Blum was born in Oslo in 1901. She founded Delta Valves with Karl Hagen.", "Ada Blum"),
        ("# Pumps\n\nThe pumps of Delta Valves are made in Bergen.\n\n- Owner: Karl Hagen\n- Site: Bergen", "Pumps"),
        ("La biblioteca de Valdearroyo abrió sus puertas en 1931 y es de la ciudad desde entonces.", ""),
        ("图书馆由李明于1931年创办。", ""), ("no names here", ""), ("We asked Ada Blum of Delta Valves.", "Notes"))]
    schema = load_schema("general")
    alone = [reader.extract([request], schema)[0] for request in requests]
    assert sum(bool(one.entities) for one in alone) > 2
    for together in (requests, requests[::-1], requests * 3):
        expected = [alone[requests.index(request)] for request in together]
        assert RulesReader().extract(together, schema) == expected


@pytest.mark.parametrize(("text", "junk"), [
    ("Hereupon David rushed at the giant. David won.", "Hereupon David"),
    ("We heard the Allegro Finale, and the Allegro Finale again.", "Allegro Finale"),
    ("He studied under Loreto Vittori in Rome.", "Loreto Vittori"),  # which a recogniser takes for a body
    ("The Chocolate Chip Cookies are done. Eat the Chocolate Chip Cookies.", "Chocolate Chip Cookies"),
    ("We met at PumpCon US.", "PumpCon US"), ("The CoC helps. See the CoC.", "CoC"),
    ("Ask the Department of Physics, University of Oslo.", "Department of Physics"), ("We read Pump 6 code.", "Pump 6"),
    ('He wrote "Six Sonatas for the Harpsichord" in 1763, a book.', "Six Sonatas"),
    ("Becker C.F. Hausmusik, 12.\nBennett S. Sonatas, 33, 35.\nArne T.A. 7.\nKuhnau J. 3, 9-11.", "Bennett S. Sonatas"),
])
def test_what_nothing_confirms_is_no_entity(reader: RulesReader, text: str, junk: str) -> None:
    assert junk not in entities(read(reader, text, schema="general"))


def test_fields_of_a_numbered_part_say_of_which(reader: RulesReader) -> None:
    text = "Motion 3\nPresenter: Ann Lee\nDecided: 2024-05-02\nResolution: Postponed.\nDetails: ???\n"
    (found,) = reader.extract([ExtractionRequest(text=text, title="Minutes", document="m/minutes.md")],
                              load_schema("general"))
    (resolution,) = [fact for fact in found.attributes if fact.attribute == "Resolution"]
    assert (resolution.value, resolution.time) == ("Postponed", "under: Motion 3")
    assert "Details" not in {fact.attribute for fact in found.attributes}


def test_a_title_that_nothing_confirms_has_the_most_general_type_and_a_file_name_is_no_subject(
        reader: RulesReader) -> None:
    bread, pump = reader.extract([
        ExtractionRequest(text="Mix the flour and bake it.", title="Keto Coconut Bread", document="recipes/keto.md"),
        ExtractionRequest(text="Anna Keller checked the pump.", title="Pump-Guidelines",
                          document="a/Pump-Guidelines.pdf")], load_schema("general"))
    assert entities(bread).get("Keto Coconut Bread", "Concept") == "Concept"
    assert entities(pump).keys() == {"Anna Keller"}


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


@pytest.mark.parametrize("text", [
    "लेख श्रीमती कमला देशवाल ने रामनगर शहर में १४ मई १९९७ को पढ़ा।",
    "館長の三枝千代子は1997年5月14日に鳴沢川を渡り、マリー・キュリーに会った。",
    "تدير السيدة ليلى الحمداني مكتبة تل الزهور في مدينة حلب منذ ٥ مايو ١٩٩٣."])
def test_languages_without_a_pipeline_have_dates_and_no_guessed_names(text: str, parser: Parser) -> None:
    assert [span.kind for span in find_spans([text], parser)[0]] == ["date"]
    latin = "La abogada vive en Bogotá y estudió con Mercedes Barcha."
    assert "Mercedes Barcha" in {latin[span.start : span.end] for span in find_spans([latin], parser)[0]}


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
    draft = RulesReasoner(parser).find(question, [Passage(
        chunk_id="c", document="d", title="", text=text, start=0, score=1.0)])
    assert isinstance(draft, QuotedDraft)
    assert draft.short == short


def test_code_that_a_chunk_goes_on_with_states_nothing(reader: RulesReader) -> None:
    code = "".join(f"key{number}: {number}\n" for number in range(40))
    text = f"# Pump\n\nIt is set up so:\n\n```yaml\n{code}```\n\n- Range: 8 km\n- Built: 2009\n- Weight: 12 kg\n"
    chunks = chunk_document(Document(id="d", title="Nile Pump", text=text, source=""), max_tokens=90, overlap_tokens=0)
    requests = [ExtractionRequest(text=one.text, title=one.title, opening=one.opening, document="d") for one in chunks]
    assert len(chunks) > 2
    assert {fact.attribute for one in reader.extract(requests, load_schema("general")) for fact in one.attributes} == {
        "Range", "Built", "Weight"}
