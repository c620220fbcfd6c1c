"""Learned weights: candidate spans, their features, and the triples read by them."""

import math

import pytest
from banyan.ingest.examples import Example
from banyan.models.parsing.parser import Parser
from banyan.models.rules.learning.training import LEAST_EXAMPLES, learn_schema
from banyan.models.rules.parsed.candidates import find_candidates
from banyan.models.rules.parsed.learned import BIAS, Weights, known_terms
from banyan.models.rules.parsed.mentions import Reading
from banyan.models.rules.reading.cues import compile_schema
from banyan.models.rules.reading.extraction import RulesExtractor
from banyan.prompts.schema_text import schema_block
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.graph_schema import EntityType, GraphSchema, RelationType, RulesHints
from banyan.schemas.naming import normalise
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SCHEMA = GraphSchema(
    name="stage", entity_types=(EntityType(name="human"), EntityType(name="film"), EntityType(name="studio")),
    relation_types=(RelationType(name="made at", domain=("film",), range=("studio",)),
                    RelationType(name="director", domain=("film",), range=("human",))))
EXAMPLES = [
    Example(text=f"{film} is a 1950 drama film that came out of {studio}.", triples=((film, "made at", studio),))
    for film, studio in (("A Walk in the Rain", "Mallow House"), ("The Long Pier", "Tarn Works"),
                         ("Salt", "Mallow House"), ("Night over Cork", "Bray Yard"),
                         ("The Last Ferry", "Tarn Works"))
] + [
    Example(text=f"{film} was directed by {name}.", triples=((film, "director", name),))
    for film, name in (("The Long Pier", "Ruth Bell"), ("Salt", "Peter Marsh"))
]
TITLE = "How to Lose a Coat in Two Days"


@pytest.fixture
def extractor(hashed_embedder):
    return RulesExtractor(hashed_embedder)


@pytest.fixture
def learned(hashed_embedder):
    return learn_schema(SCHEMA, EXAMPLES, hashed_embedder)


def names(text, known=None):
    doc = Parser().parse(text)
    reading = Reading(doc, list(doc.sents), "", compile_schema(SCHEMA))
    return {c.name: c for sentence in reading.sentences for c in find_candidates(reading, sentence, known or {})}


# --- candidates ------------------------------------------------------------------------------------

@pytest.mark.parametrize(("text", "name"), [
    ("It is based on The Hound of the Baskervilles.", "The Hound of the Baskervilles"),
    ("Starring Anna May Wong, it flopped.", "Anna May Wong"),
    (f"{TITLE} was shown in Cork.", TITLE),
    ("At first, Who Saw Her Die? was banned.", "Who Saw Her Die?")])
def test_names_with_words_of_all_kinds_are_candidates(text, name):
    assert name in names(text)


def test_a_known_term_is_a_candidate_wherever_it_stands():
    text = "She plays women's volleyball for Cork."
    assert "women's volleyball" not in names(text)
    assert names(text, {"women's volleyball": ("class",)})["women's volleyball"].known == ("class",)


@given(st.text(max_size=60))
@settings(max_examples=40, deadline=None)
def test_candidates_lie_in_the_text(text):
    for candidate in names(text).values():
        assert "".join(candidate.name.split()) in "".join(text.split())
        assert candidate.start < candidate.end


# --- weights ---------------------------------------------------------------------------------------

def test_a_probability_is_the_logistic_of_the_weights_that_apply():
    weights = Weights([RelationType(name="r", rules=RulesHints(learned={BIAS: -1.0, "lead=by": 3.0, "country": 9.0})),
                       RelationType(name="s")])
    assert weights.probabilities(["lead=by", "unheard"]) == {"r": pytest.approx(1 / (1 + math.exp(-2)))}


def test_terms_are_evidence_only_where_there_are_weights():
    relation = RelationType(name="r", rules=RulesHints(cues={"en": ("=tenor", "by")}))
    assert known_terms(GraphSchema(name="s", relation_types=(relation,))) == {}
    weighed = relation.model_copy(update={"rules": RulesHints(cues=relation.rules.cues, learned={BIAS: -1.0})})
    assert known_terms(GraphSchema(name="s", relation_types=(weighed,))) == {"tenor": ("r",)}


def test_weights_are_learned_only_from_enough_examples(hashed_embedder):
    few, enough = (learn_schema(SCHEMA, EXAMPLES[:count], hashed_embedder)
                   for count in (LEAST_EXAMPLES - 1, LEAST_EXAMPLES))
    assert not any(element.rules.learned for element in (*few.relation_types, *few.entity_types))
    assert enough.relation_type("made at").rules.learned
    assert enough.entity_type("film").rules.learned
    assert not enough.relation_type("director").rules.learned


def test_learning_again_begins_anew(learned, hashed_embedder):
    again = learn_schema(learned, EXAMPLES, hashed_embedder)
    assert again.entity_types == learned.entity_types
    assert {r.name: r.rules.cues for r in again.relation_types} == {
        r.name: r.rules.cues for r in learned.relation_types}


def test_prompts_do_not_show_weights(learned):
    assert schema_block(learned, "en") == schema_block(SCHEMA, "en")


# --- triples ---------------------------------------------------------------------------------------

def test_what_is_read_by_weights_fits_the_schema_and_stands_in_the_text(extractor, learned):
    text = f"{TITLE} is a 1951 drama film that came out of Gorse Hall."
    found = extractor.extract(ExtractionRequest(text=text), learned)
    assert [(t.head, t.relation, t.tail) for t in found.triples] == [(TITLE, "made at", "Gorse Hall")]
    kinds = {entity.name: entity.type for entity in found.entities}
    assert (kinds[TITLE], kinds["Gorse Hall"]) == ("film", "studio")


def test_relations_without_weights_are_still_read_by_cues(extractor, learned):
    found = extractor.extract(ExtractionRequest(text="The film Salt was directed by Blum."), learned)
    assert ("Salt", "director", "Blum") in {(t.head, t.relation, t.tail) for t in found.triples}


def test_a_pronoun_stands_for_what_the_sentence_is_about(extractor, learned):
    text = "Bitter Salt is a 1950 drama film. It came out of Gorse Hall."
    found = extractor.extract(ExtractionRequest(text=text, title="Bitter Salt"), learned)
    assert ("Bitter Salt", "made at", "Gorse Hall") in {(t.head, t.relation, t.tail) for t in found.triples}


WORDS = st.lists(st.sampled_from(["Salt", "Mallow House", "Ada", "film", "is a", "came out of", "directed by", "It",
                                  "the", ",", ".", "1950", "“", "他", "与"]), max_size=14).map(" ".join)


# Neither fixture has state of an example.
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=WORDS)
def test_every_triple_fits_and_is_declared_whatever_the_text(extractor, learned, text):
    found = extractor.extract(ExtractionRequest(text=text), learned)
    kinds = {entity.name: entity.type for entity in found.entities}
    for triple in found.triples:
        assert {triple.head, triple.tail} <= kinds.keys()
        assert normalise(triple.tail) in normalise(text)
        if SCHEMA.relation_type(triple.relation):
            assert SCHEMA.fits(kinds[triple.head], triple.relation, kinds[triple.tail])
