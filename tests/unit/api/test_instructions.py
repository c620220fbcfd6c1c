"""Instructions for the wording of answers and for extraction."""

import banyan
import pytest
from banyan.graph_store.bounding import admission
from banyan.runtime import audit
from banyan.schemas.documents import Chunk
from banyan.schemas.extraction import Extraction, ExtractionRequest
from banyan.schemas.graph_schema import AttributeType, EntityType, GraphSchema
from banyan.schemas.inquiry import Inquiry

from ... import asking
from ...scripted_endpoint import FOUND, REQUEST, SCHEMA, ScriptedEndpoint, reasoner

ANSWERED = {"thought": "", "claims": [], "answerable": False, "short": "", "confidence": 0.0}
WISH = "Two sentences,\n  in Latin."


def sent(endpoint: ScriptedEndpoint) -> list[str]:
    return ["\n".join(text for _, text in messages) for messages in endpoint.sent]


@pytest.mark.parametrize("question", ["Where was she born?", "她出生在哪里？"])
def test_they_are_in_the_prompts_that_word_answers_and_in_no_other(question):
    endpoint = ScriptedEndpoint([ANSWERED, ANSWERED, FOUND, ANSWERED])
    plain = reasoner(endpoint)
    wishing = plain.with_instructions(WISH)
    wishing.judge(Inquiry(question=question))
    wishing.judge(Inquiry(question=question, mode="open", is_last=True))
    wishing.extract(REQUEST, SCHEMA)
    plain.judge(Inquiry(question=question))
    assert ["Two sentences, in Latin." in prompt for prompt in sent(endpoint)] == [True, True, False, False]


def test_those_of_the_knowledge_base_and_of_the_question_reach_the_model_together(resources):
    asking.ask(resources)
    assert resources.fake.instructions == ""
    resources.instruct("kb", "Be brief.")
    asking.ask(resources, instructions="In French.")
    assert resources.fake.instructions == "Be brief.\nIn French."


def test_they_are_stored_before_the_first_document_changed_removed_and_audited(tmp_path):
    with banyan.open("kb", home=tmp_path, llm_base_url=None) as kb:
        kb.extraction_instructions = f"  {GLOSSARY} "
        (tmp_path / "a.txt").write_text("Ada Byron was born in London.")
        assert kb.add(tmp_path / "a.txt", schema="general")["documents"] == 1
        kb.instructions = "  Answer in German. "
    with banyan.open("kb", home=tmp_path, llm_base_url=None) as kb:
        assert (kb.extraction_instructions, kb.instructions) == (GLOSSARY, "Answer in German.")
        assert not kb.ask("Where was Ada Byron born?", instructions="Rhyme.").abstained  # quotes are not worded
        kb.extraction_instructions = kb.instructions = ""
        assert (kb.extraction_instructions, kb.instructions) == ("", "")
    found = [one.what for one in audit.entries(tmp_path) if one.action == "instructions"]
    assert found.count("extraction") == 2


GLOSSARY = "Read no facts about competitors.\n'The box' means Vex 3000."
PRODUCTS = GraphSchema(name="products", entity_types=(EntityType(name="Product"),),
                       attribute_types=(AttributeType(name="weight"),))
TEXT = "The box weighs 4 kg."


@pytest.mark.parametrize("text", ["Marie Curie was born in Warsaw.", "玛丽·居里出生于华沙。"])
def test_they_are_in_the_prompts_of_extraction_and_in_no_other(text):
    endpoint = ScriptedEndpoint([FOUND, FOUND, ANSWERED])
    asked = reasoner(endpoint)
    asked.extract(ExtractionRequest(text=text, instructions=GLOSSARY), SCHEMA)
    asked.extract(ExtractionRequest(text=text), SCHEMA)
    asked.judge(Inquiry(question=text))
    system = [messages[0][1] for messages in endpoint.sent]
    assert [GLOSSARY.replace("\n", "\n  ") in prompt for prompt in system] == [True, False, False]


def extract(instructions: str) -> Extraction:
    reply = {"entities": [["Product", "Vex 3000"]], "triples": [], "new": [],
             "attributes": [["1", "Vex 3000", "weight", "4 kg"]]}
    return reasoner(ScriptedEndpoint([reply])).extract(
        ExtractionRequest(text=TEXT, instructions=instructions), PRODUCTS)


def test_a_name_of_the_glossary_is_admitted_where_the_text_uses_a_term_for_it():
    chunk = Chunk(id="c", document_id="d", title="", ordinal=0, text=TEXT, start=0, end=len(TEXT))
    bounds = admission.Bounds(PRODUCTS)
    (value,) = admission.bound(extract(GLOSSARY), chunk, bounds).attributes
    assert (value.entity, value.value, value.span.quote) == ("Vex 3000", "4 kg", TEXT)
    assert not admission.bound(extract(""), chunk, bounds).attributes, "without it the text has no such name"
