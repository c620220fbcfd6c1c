"""Instructions for the wording of answers and for extraction."""

from pathlib import Path

import banyan
import pytest
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.graph_store.bounding import admission
from banyan.graph_store.ledger.extractions import add_instructions, find_outdated, is_same_reading, reader_of
from banyan.runtime import audit
from banyan.schemas.documents import Chunk
from banyan.schemas.extraction import Extraction, ExtractionRequest
from banyan.schemas.graph_schema import AttributeType, EntityType, GraphSchema
from banyan.schemas.inquiry import Inquiry

from ... import asking
from ...scripted_endpoint import FOUND, REQUEST, SCHEMA, ScriptedEndpoint, reasoner

opened, resources = asking.opened, asking.resources

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


def test_they_are_stored_changed_and_removed(tmp_path, hashed_embedder):
    document = tmp_path / "a.txt"
    document.write_text("Ada Byron was born in London.")
    with banyan.open("kb", home=tmp_path / "home", llm_base_url=None) as kb:
        kb.add(document)
        assert kb.instructions == ""
        kb.instructions = "  Answer in German. "
    with banyan.open("kb", home=tmp_path / "home", llm_base_url=None) as kb:
        assert kb.instructions == "Answer in German."
        assert not kb.ask("Where was Ada Byron born?", instructions="Rhyme.").abstained  # quotes are not worded
        kb.instructions = ""
        assert kb.instructions == ""


GLOSSARY = "Read no facts about competitors.\n'The box' means Vex 3000."
PRODUCTS = GraphSchema(name="products", entity_types=(EntityType(name="Product"),),
                       attribute_types=(AttributeType(name="weight"),))
TEXT = "The box weighs 4 kg."


def open_resources(home: Path, embedder, **changes) -> Resources:
    settings = {"llm_base_url": "http://127.0.0.1:9/v1", "llm_model": "m", **changes}
    return Resources(Settings(_env_file=None, home=home, **settings), embedder)


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


def test_they_are_part_of_what_read_a_chunk():
    plain, told = "llm:qwen3:8b+m", add_instructions("llm:qwen3:8b+m", GLOSSARY)
    assert add_instructions(plain, "") == plain
    assert add_instructions("rules-7", GLOSSARY) == "rules-7"
    assert reader_of(told) == reader_of(plain) == "qwen3:8b"
    assert is_same_reading(told, add_instructions("llm:qwen3:8b", GLOSSARY)), "who resolves entities reads no chunk"
    stored = dict.fromkeys([plain, told, "recorded", "rules-7"], 1)
    assert find_outdated(stored, plain) == [told, "rules-7"]
    assert find_outdated(stored, told) == [plain, "rules-7"]
    assert find_outdated(stored, add_instructions(plain, "Other.")) == [told, plain, "rules-7"]
    assert find_outdated(stored, "rules-7") == []


def test_they_are_stored_before_the_first_document_changed_removed_and_audited(tmp_path, hashed_embedder):
    with banyan.open("kb", home=tmp_path, llm_base_url=None) as kb:
        kb.extraction_instructions = f"  {GLOSSARY} "
        (tmp_path / "a.txt").write_text("Ada Byron was born in London.")
        assert kb.add(tmp_path / "a.txt", schema="general")["documents"] == 1
    with banyan.open("kb", home=tmp_path, llm_base_url=None) as kb:
        assert (kb.extraction_instructions, kb.instructions) == (GLOSSARY, "")
        kb.extraction_instructions = ""
        assert kb.extraction_instructions == ""
    with open_resources(tmp_path, hashed_embedder) as resources:
        found = [one.what for one in audit.entries(resources.settings.home) if one.action == "instructions"]
    assert found == ["extraction", "extraction"]
