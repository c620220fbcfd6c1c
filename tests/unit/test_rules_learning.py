"""Learning cues from examples, and cues for schemas that have none."""

import json
from pathlib import Path

import pytest
from banyan.ingest.examples import Example, load_examples
from banyan.ingest.failures import IngestError
from banyan.models.rules.learning.training import learn_schema
from banyan.models.rules.reading import furnishing
from banyan.models.rules.reading.extraction import RulesExtractor
from banyan.models.rules.reading.furnishing import furnish, kind_of
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.formats.loading import load_schema, seed_names
from banyan.schemas.graph_schema import AttributeType, EntityType, GraphSchema, RelationType

BARE = GraphSchema(
    name="stage", entity_types=tuple(EntityType(name=n) for n in ("human", "film", "voice", "studio")),
    relation_types=(RelationType(name="director", domain=("film",), range=("human",)),
                    RelationType(name="voice type", domain=("human",), range=("voice",)),
                    RelationType(name="made at", domain=("film",), range=("studio",))))
EXAMPLES = [
    Example(text=f"{name} is an Irish operatic {voice} from Cork.", triples=((name, "voice type", voice),))
    for name, voice in (("Anna Quill", "contralto"), ("Peter Marsh", "basso"), ("Ruth Bell", "contralto"))
] + [
    Example(text=f"{film} is a 1950 drama film that came out of {studio}.", triples=((film, "made at", studio),))
    for film, studio in (("A Walk in the Rain", "Mallow House"), ("The Long Pier", "Tarn Works"),
                         ("Salt", "Mallow House"), ("Night over Cork", "Bray Yard"),
                         ("The Last Ferry", "Tarn Works"))
]


@pytest.fixture
def extractor(hashed_embedder):
    return RulesExtractor(hashed_embedder)


def triples(extractor, text, schema):
    return {(t.head, t.relation, t.tail) for t in extractor.extract(ExtractionRequest(text=text), schema).triples}


# --- schemas without cues --------------------------------------------------------------------------

@pytest.mark.parametrize(("name", "kind"), [
    ("human", "Person"), ("sportsperson", "Person"), ("film production company", "Organization"),
    ("written work", "Work"), ("country", "Location"), ("football team", "SportsTeam"), ("zorb", "")])
def test_the_kind_of_a_type_is_that_of_its_head_noun(name, kind):
    assert kind_of(EntityType(name=name)) == kind



def test_a_bare_attribute_is_said_as_the_seeds_say_one_of_its_name_and_kind():
    bare = GraphSchema(name="bare", entity_types=(EntityType(name="Person"),), attribute_types=(
        AttributeType(name="birth_date", owners=("Person",), kind="date"),
        AttributeType(name="death date", owners=("Person",), kind="number"),))
    furnished = furnish(bare)
    assert "born" in furnished.attribute_type("birth_date").rules.all_cues()
    assert furnished.attribute_type("death date").rules.cues == {}


def test_an_agent_noun_is_also_said_by_its_verb():
    schema = GraphSchema(name="s", relation_types=(RelationType(name="organizer"), RelationType(name="writer")))
    organizer, writer = furnish(schema).relation_types
    assert "<organized" in organizer.rules.all_cues()
    assert {"<wrote", "written by"} <= set(writer.rules.all_cues())


@pytest.mark.parametrize("label", ["cast member", "starring", "castMember"])
def test_a_common_property_is_said_as_english_says_it_whatever_name_it_goes_by(extractor, label):
    relations = (*BARE.relation_types, RelationType(name=label, domain=("film",), range=("human",)))
    schema = BARE.model_copy(update={"relation_types": relations})
    text = "A Walk in the Rain is a 1950 drama film directed by Ada Blum and starring Otto Kern and Ruth Bell."
    assert {("A Walk in the Rain", label, "Otto Kern"), ("A Walk in the Rain", label, "Ruth Bell"),
            ("A Walk in the Rain", "director", "Ada Blum")} <= triples(extractor, text, schema)


def test_no_name_is_that_of_two_properties():
    properties = json.loads(Path(furnishing.__file__).with_name("properties.json").read_bytes())
    names = [frozenset(name.split()) for known, entry in properties.items() for name in (known, *entry["also"])]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", seed_names())
def test_elements_with_cues_stay_as_they_are(name):
    seed = load_schema(name)
    furnished = furnish(seed)
    for before, after in zip(seed.entity_types + seed.relation_types,
                             furnished.entity_types + furnished.relation_types, strict=True):
        assert not before.rules.cues or before == after


def test_a_bare_ontology_reads_what_its_labels_say(extractor):
    text = "A Walk in the Rain is a 1950 drama film directed by Ada Blum."
    assert ("A Walk in the Rain", "director", "Ada Blum") in triples(extractor, text, BARE)


def test_every_triple_of_a_bare_ontology_fits_it(extractor):
    found = extractor.extract(ExtractionRequest(
        text="The Long Pier was directed by Ada Blum. Ruth Bell is a Welsh singer."), BARE)
    kinds = {entity.name: entity.type for entity in found.entities}
    for triple in found.triples:
        if BARE.relation_type(triple.relation):
            assert BARE.fits(kinds[triple.head], triple.relation, kinds[triple.tail])


# --- learning --------------------------------------------------------------------------------------

def test_words_that_lead_to_tails_are_learned(extractor, hashed_embedder):
    text = "Dust and Bone is a 1951 drama film that came out of Gorse Hall."
    fact = ("Dust and Bone", "made at", "Gorse Hall")
    assert fact not in triples(extractor, text, BARE)
    assert fact in triples(extractor, text, learn_schema(BARE, EXAMPLES, hashed_embedder))


def test_terms_in_small_letters_are_learned_and_written_into_the_schema(extractor, hashed_embedder):
    learned = learn_schema(BARE, EXAMPLES, hashed_embedder)
    assert "=contralto" in learned.relation_type("voice type").rules.all_cues()
    text = "Nora Finch is a Welsh contralto."
    assert ("Nora Finch", "voice type", "contralto") in triples(extractor, text, learned)


def test_examples_in_any_order_teach_the_same(hashed_embedder):
    forth, back = (learn_schema(BARE, order, hashed_embedder) for order in (EXAMPLES, EXAMPLES[::-1]))
    assert forth == back


def test_words_that_lead_to_several_relations_alike_are_not_learned(hashed_embedder):
    schema = GraphSchema(name="s", entity_types=(EntityType(name="human"), EntityType(name="city")),
                         relation_types=tuple(RelationType(name=f"r{i}", domain=("human",), range=("city",))
                                              for i in range(4)))
    places = ("Cork", "Ulm", "Bray", "Linz", "Graz", "Bonn", "Kiel", "Bern")
    examples = [Example(text=f"Ada Blum often thinks of {place}.", triples=(("Ada Blum", f"r{i % 4}", place),))
                for i, place in enumerate(places)]
    learned = learn_schema(schema, examples, hashed_embedder)
    assert not any("thinks of" in cue for relation in learned.relation_types for cue in relation.rules.all_cues())


def test_what_was_learned_survives_being_written_and_read(hashed_embedder):
    learned = learn_schema(BARE, EXAMPLES, hashed_embedder)
    assert GraphSchema.model_validate_json(learned.model_dump_json()) == learned


# --- files of examples -----------------------------------------------------------------------------

def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_both_forms_are_read_and_triples_of_one_text_joined(tmp_path):
    nested = {"id": 1, "sent": "A.", "triples": [{"sub": "a", "rel": "Director", "obj": "b"}]}
    flat = {"sent": "A.", "sub_label": "a", "rel_label": "voice_type", "obj_label": "c"}
    path = write(tmp_path / "e.jsonl", json.dumps(nested), "", json.dumps(flat))
    assert load_examples(path, BARE) == [Example(text="A.", triples=(("a", "director", "b"), ("a", "voice type", "c")))]


@pytest.mark.parametrize(("line", "said"), [
    ("{", "not JSON"), ("[]", "line 2"), ('{"text": "A."}', "triples"), ('{"triples": []}', "text"),
    ('{"text": "A.", "triples": [{"sub": "a", "rel": "maker", "obj": "b"}]}', "no relation 'maker'")])
def test_a_line_that_cannot_be_used_is_named(tmp_path, line, said):
    path = write(tmp_path / "e.jsonl", '{"text": "A.", "triples": []}', line)
    with pytest.raises(IngestError, match="line 2") as error:
        load_examples(path, BARE)
    assert said in str(error.value)


def test_a_missing_or_empty_file_is_an_error(tmp_path):
    with pytest.raises(IngestError, match="there is no file"):
        load_examples(tmp_path / "none.jsonl", BARE)
    with pytest.raises(IngestError, match="no example"):
        load_examples(write(tmp_path / "empty.jsonl", ""), BARE)
