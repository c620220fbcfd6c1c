"""Reading by the parse: constructions, roles, headings, what is not said to be so, coreference, growth of time."""

import time

import pytest
from banyan.models.parsing.parser import Parser
from banyan.models.parsing.languages import language_of
from banyan.models.rules.reading.extraction import RulesExtractor
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.formats.loading import load_schema
from banyan.schemas.graph_schema import EntityType, GraphSchema, RelationType, open_schema


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
    ("Graz is located on the Mur River.", ("Graz", "located_in", "Mur River")),
    ("Radio Kern is a station licensed to Graz.", ("Radio Kern", "located_in", "Graz")),
    ("Kern Holdings owns the Graz Press.", ("Graz Press", "part_of", "Kern Holdings")),
])
def test_constructions(read, text, triple):
    assert triple in triples(read(text))


@pytest.mark.parametrize(("text", "triple"), [
    ("Mouse and Garden (Danish: Mus og Have) is a 1960 cartoon directed by Otto Kern.",
     ("Mouse and Garden", "directed_by", "Otto Kern")),
    ("The Long Way Home was directed by Otto Kern.", ("The Long Way Home", "directed_by", "Otto Kern")),
    ("I Love to Sing is a 1936 Warner Bros. cartoon directed by Otto Kern.",
     ("I Love to Sing", "directed_by", "Otto Kern")),
    ("Rain Song is the second album by Ada Blum, released in May 2001 through Kern Records.",
     ("Rain Song", "produced_by", "Kern Records")),
    ("Rain Song is a film directed by Ada Blum, written by Otto Kern.", ("Rain Song", "created_by", "Otto Kern")),
    ("Rain Song is a film written and directed by Ada Blum.", ("Rain Song", "created_by", "Ada Blum")),
    ("The Kern Institute was founded by Otto Kern, born in Graz.", ("Otto Kern", "born_in", "Graz")),
    ("Ada Blum (born 26 June 1984) is the wife of Otto Kern.", ("Ada Blum", "spouse", "Otto Kern")),
    ("Ada Blum (13 May 1740, Paris - 18 May 1802, Lyon) was the wife of Otto Kern.",
     ("Ada Blum", "spouse", "Otto Kern")),
    ('"Into the Rain" is a film directed by Ada Blum.', ("Into the Rain", "directed_by", "Ada Blum")),
    ("Otto Kern won several prizes, including the Silver Rose Award.",
     ("Otto Kern", "received_award", "Silver Rose Award")),
    ("Rain Road is a film published by Kern Records.", ("Rain Road", "produced_by", "Kern Records")),
    ("Rain Song is a drama film starring Tom Oak and produced and directed by Ada Blum.",
     ("Rain Song", "directed_by", "Ada Blum")),
])
def test_titles_asides_and_shared_agents(extractor, text, triple):
    assert triple in triples(extractor.extract(ExtractionRequest(text=text), load_schema("encyclopedia")))


FILMS = GraphSchema(
    name="films",
    entity_types=(EntityType(name="human"), EntityType(name="film"), EntityType(name="country"),
                  EntityType(name="film genre"), EntityType(name="film production company")),
    relation_types=(RelationType(name="country of origin", domain=("film",), range=("country",)),
                    RelationType(name="cast member", domain=("film",), range=("human",)),
                    RelationType(name="director", domain=("film",), range=("human",)),
                    RelationType(name="genre", domain=("film",), range=("film genre",)),
                    RelationType(name="production company", domain=("film",), range=("film production company",))))

MUSIC = GraphSchema(
    name="music",
    entity_types=(EntityType(name="human"), EntityType(name="musical work"), EntityType(name="instrument")),
    relation_types=(RelationType(name="composer", domain=("musical work",), range=("human",)),
                    RelationType(name="lyrics by", domain=("musical work",), range=("human",)),
                    RelationType(name="instrumentation", domain=("musical work",), range=("instrument",))))

SPORT = GraphSchema(
    name="sport",
    entity_types=(EntityType(name="human"), EntityType(name="athlete"), EntityType(name="sports club"),
                  EntityType(name="sports league"), EntityType(name="sports competition"), EntityType(name="sport")),
    relation_types=(RelationType(name="league", domain=("human",), range=("sports league",)),
                    RelationType(name="member of sports team", domain=("human",), range=("sports club",)),
                    RelationType(name="occupation", domain=("human",), range=("athlete",)),
                    RelationType(name="sport", domain=("sports competition",), range=("sport",))))


@pytest.mark.parametrize(("schema", "text", "triple"), [
    (FILMS, "Rain Song is a 1995 Japanese drama film.", ("Rain Song", "country of origin", "Japan")),
    (FILMS, "Rain Song is a South Korean film.", ("Rain Song", "country of origin", "South Korea")),
    (FILMS, "The Harbour stars Tom Oak.", ("The Harbour", "cast member", "Tom Oak")),
    (FILMS, "Rain Song is a Danish action and crime film.", ("Rain Song", "country of origin", "Denmark")),
    (FILMS, "Harbour University was directed by Ada Blum.", ("Harbour University", "director", "Ada Blum")),
    (FILMS, "Rain Song was produced by Kern Movies.", ("Rain Song", "production company", "Kern Movies")),
    (MUSIC, "Rain Song is a song written by Ada Blum.", ("Rain Song", "composer", "Ada Blum")),
    (MUSIC, "Rain Song is a song written by Ada Blum.", ("Rain Song", "lyrics by", "Ada Blum")),
    (MUSIC, "Rain Song is a composition for cello and piano.", ("Rain Song", "instrumentation", "cello")),
    (SPORT, "Tom Oak plays for Kern League club Harbour United.", ("Tom Oak", "league", "Kern League")),
    (SPORT, "Tom Oak plays for Kern League club Harbour United.",
     ("Tom Oak", "member of sports team", "Harbour United")),
    (SPORT, "Tom Oak moved to Serie A club Roma.", ("Tom Oak", "member of sports team", "Roma")),
    (SPORT, "The 1990 Harbour rugby league season was short.",
     ("1990 Harbour rugby league season", "sport", "rugby league")),
    (SPORT, "Tom Oak is a Danish long-distance runner.", ("Tom Oak", "occupation", "long-distance runner")),
])
def test_bare_ontologies(extractor, schema, text, triple):
    assert triple in triples(extractor.extract(ExtractionRequest(text=text), schema))


@pytest.mark.parametrize(("schema", "text", "relation"), [
    (SPORT, "The Harbour Masters was the third edition of the Kern Cup.", "occupation"),
    (FILMS, "Rain Song is a Danish director's film.", "country of origin"),
    (SPORT, "Tom Oak is a member of Harbour United.", "occupation"),
    (FILMS, "Rain Song is a drama film.", "production company"),
])
def test_what_bare_ontologies_do_not_say(extractor, schema, text, relation):
    assert relation not in {r for _, r, _ in triples(extractor.extract(ExtractionRequest(text=text), schema))}


def test_an_agent_is_not_shared_by_a_verb_that_says_more(extractor):
    request = ExtractionRequest(text="Ada Blum was born in Graz and raised by Otto Kern.")
    found = extractor.extract(request, open_schema())
    assert not {t for t in triples(found) if t[1] in {"bear", "bear_by"}}
    assert ("Otto Kern", "raise", "Ada Blum") in triples(found)


@pytest.mark.parametrize("text", ["The film was directed by Otto Kern.", "It is a remake of Rain Song.",
                                  "In Oslo, the film is a drama.", "This song is a single by Ada Blum."])
def test_what_stands_for_a_title_is_none(extractor, text):
    found = extractor.extract(ExtractionRequest(text=text), load_schema("encyclopedia"))
    assert not {"The film", "It", "In Oslo", "This song"} & {entity.name for entity in found.entities}


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


def test_a_name_holds_no_opening_bracket(read):
    found = {entity.name for entity in read("Ada Blum joined the Party for Democracy (PPD) in 1999.").entities}
    assert {"Party for Democracy", "PPD"} <= found
