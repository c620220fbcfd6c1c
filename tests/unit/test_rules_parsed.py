"""Reading by the parse: constructions, roles, headings, what is not said to be so, coreference, growth of time."""

import time

import pytest
from banyan.models.parsing.parser import Parser
from banyan.models.rules.parsed.languages import language_of
from banyan.models.rules.reading.extraction import RulesExtractor
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.formats.loading import load_schema
from banyan.schemas.graph_schema import open_schema


@pytest.fixture(scope="module")
def extractor(hashed_embedder):
    return RulesExtractor(hashed_embedder, Parser())


@pytest.fixture(scope="module")
def read(extractor):
    def extract(text, title=""):
        return extractor.extract(ExtractionRequest(text=text, title=title), load_schema("general"))

    return extract


def triples(found):
    return {(t.head, t.relation, t.tail) for t in found.triples}


@pytest.mark.parametrize(("text", "triple"), [
    ("Otto Kern founded the Kern Institute.", ("Kern Institute", "founded_by", "Otto Kern")),
    ("The Kern Institute was founded by Otto Kern.", ("Kern Institute", "founded_by", "Otto Kern")),
    ("The Kern Institute, which Otto Kern founded in 1911, is small.", ("Kern Institute", "founded_by", "Otto Kern")),
    ("The Kern Institute, which was founded by Otto Kern, is small.", ("Kern Institute", "founded_by", "Otto Kern")),
    ("Otto Kern, who founded the Kern Institute, is old.", ("Kern Institute", "founded_by", "Otto Kern")),
    ("Otto Kern moved to Graz and founded the Kern Institute.", ("Kern Institute", "founded_by", "Otto Kern")),
    ("Otto Kern is the founder of the Kern Institute.", ("Kern Institute", "founded_by", "Otto Kern")),
    ("Born in Graz, Otto Kern studied at the University of Vienna.", ("Otto Kern", "born_in", "Graz")),
    ("Anna Brandt, the president of the Kern Institute, spoke.", ("Anna Brandt", "works_for", "Kern Institute")),
    ("Anna Brandt's daughter Ada Blum spoke.", ("Ada Blum", "child_of", "Anna Brandt")),
    ("Anna Brandt visited Otto Kern in Graz.", ("Anna Brandt", "visit", "Otto Kern")),
    ("Otto Kern was visited by Anna Brandt.", ("Anna Brandt", "visit", "Otto Kern")),
    ("Paul Weiss is the manager of the Lyon plant.", ("Paul Weiss", "works_for", "Lyon plant")),
])
def test_constructions(read, text, triple):
    assert triple in triples(read(text))


@pytest.mark.parametrize("text", [
    "Otto Kern did not found the Kern Institute.", "Otto Kern never founded the Kern Institute.",
    "Otto Kern wanted to found the Kern Institute.", "Otto Kern might have founded the Kern Institute.",
    "If Otto Kern founded the Kern Institute, nobody knew it.", "Did Otto Kern found the Kern Institute?",
    "Nobody says that Otto Kern founded the Kern Institute."])
def test_what_is_denied_supposed_planned_or_asked_is_no_fact(read, text):
    assert not triples(read(text))


def test_lists_of_roles_are_facts(read):
    found = triples(read("# Acme Corporation\n\nAcme Corporation makes bells.\n\n- CEO: Anna Brandt\n"
                         "- **Plant manager, Lyon**: Paul Weiss\n", "Acme Corporation"))
    assert ("Anna Brandt", "works_for", "Acme Corporation") in found
    assert any(head == "Paul Weiss" and tail == "Lyon" for head, _, tail in found)


def test_a_role_is_also_told_as_an_occupation(read):
    found = read("Anna Brandt is the CEO of Acme Corporation.")
    assert ("Anna Brandt", "occupation", "CEO of Acme Corporation") in {
        (a.entity, a.attribute, a.value) for a in found.attributes}


@pytest.mark.parametrize("title", ["Our people", "Opening hours", "Terms and conditions", "How we got here"])
def test_a_heading_of_common_words_is_no_entity_and_has_no_facts(read, title):
    found = read(f"# {title}\n\nShe was born in Vienna and won the Nobel Prize in Physics.", title)
    assert title not in {e.name for e in found.entities}
    assert not [t for t in found.triples if t.head == title]


@pytest.mark.parametrize(("text", "title", "triple"), [
    ("Ada Blum met Tom Hale. She was born in Vienna.", "", ("Ada Blum", "born_in", "Vienna")),
    ("His father, Karl Kern, was a baker. He was born in Graz.", "Otto Kern", ("Otto Kern", "born_in", "Graz")),
    ("Ada Blum met Otto Kern, a quiet man. Otto Kern smiled. She was born in Graz.", "",
     ("Ada Blum", "born_in", "Graz")),
    ("Acme Corporation is a company. Tom Hale likes it. The company was founded by Ada Blum.", "",
     ("Acme Corporation", "founded_by", "Ada Blum"))])
def test_what_stands_for_a_name(read, text, title, triple):
    assert triple in triples(read(text, title))


def test_the_company_is_no_town(read):
    found = read("Graz is a town in Austria. The company was founded by Ada Blum.", "Graz")
    assert not [t for t in found.triples if t.relation == "founded_by"]


def test_an_open_schema_has_triples_between_names_alone(extractor):
    found = extractor.extract(ExtractionRequest(text="Otto Kern defeated the old army near Tom Hale's house. "
                                                     "Ada Blum works with Tom Hale."), open_schema())
    assert ("Ada Blum", "work_with", "Tom Hale") in triples(found)
    assert {name for t in found.triples for name in (t.head, t.tail)} <= {"Otto Kern", "Tom Hale", "Ada Blum"}


def test_a_type_that_was_guessed_is_corrected_by_what_is_said(read):
    found = read("Warsaw is a city. It lies on the Vistula.", "Warsaw")
    assert ("Warsaw", "located_in", "Vistula") in triples(found)


@pytest.mark.parametrize(("text", "language"), [
    ("The man who was here has gone to the town.", "en"), ("Der Mann, der hier war, ist in die Stadt gegangen.", "de"),
    ("L'homme qui était ici est allé dans la ville avec elle.", "fr"), ("", "en")])
def test_the_language_is_the_one_whose_words_stand_there(text, language):
    assert language_of(text, ["de", "en", "fr"]) == language


@pytest.mark.parametrize("piece", [
    "a", " ", "\n", "(", '"', "“", "*", "- ", "Ada ", "Ada Blum, ", "and ", "1 ", "of ", "his ", "x: ", "| ",
    "Ada's ", "(1900 ", "is a "])
def test_time_grows_with_the_text_and_not_faster(read, piece):
    def seconds(text):
        begun = time.process_time()
        read(text, "Ada Blum")
        return time.process_time() - begun

    text = piece * (6_000 // len(piece))
    small, large = seconds(text[:1500]), seconds(text)
    assert large < 1 + 8 * small
