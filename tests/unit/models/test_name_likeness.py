"""Names are told from words for things by what their words are used like."""

import pytest
from banyan.models.rules.reader import RulesReader
from banyan.models.rules.recognition.name_likeness import may_be
from banyan.schemas.extraction import ExtractionRequest
from banyan.schemas.formats.schema_loading import load_schema


@pytest.fixture(scope="module")
def reader() -> RulesReader:
    return RulesReader()


@pytest.mark.parametrize(("kind", "name"), [
    ("person", "Ada Blum"), ("person", "Sundar Pichai"), ("person", "J. J. Thomson"), ("person", "Lise Meitner"),
    ("location", "Nairobi"), ("location", "U.S."),
    ("organization", "Oracle"), ("organization", "OpenChain"), ("organization", "3M"),
])
def test_words_that_are_used_like_names_may_be_one(kind: str, name: str) -> None:
    assert may_be(kind, name)


@pytest.mark.parametrize(("kind", "name"), [
    ("person", "Hard Copy"), ("person", "Purchase Order"), ("person", "Standards Project"), ("location", "Trademarks"),
    ("location", "Software Projects"), ("organization", "Public Comments"), ("organization", "Related Companies"),
])
def test_words_for_things_are_no_names(kind: str, name: str) -> None:
    assert not may_be(kind, name)


@pytest.mark.parametrize(("text", "junk"), [
    ("The Executive Director met Anna Keller. The Executive Director spoke.", "Executive Director"),
    ("The Platinum Representatives of the fund met Anna Keller.", "Platinum Representatives"),
    ("CHALLENGES:\nThe pump was checked by Anna Keller.", "CHALLENGES"),
])
def test_posts_defined_terms_and_headings_are_no_entities(reader: RulesReader, text: str, junk: str) -> None:
    (read,) = reader.extract([ExtractionRequest(text=text)], load_schema("general"))
    found = {entity.name for entity in read.entities}
    assert "Anna Keller" in found
    assert junk not in found


def test_a_file_name_is_not_the_subject_of_its_document(reader: RulesReader) -> None:
    request = ExtractionRequest(text="Anna Keller checked the pump.", title="Pump-Guidelines",
                                document="a/Pump-Guidelines.pdf")
    assert {entity.name for entity in reader.extract([request], load_schema("general"))[0].entities} == {"Anna Keller"}
