"""Names that the reading of a chunk missed, and short names of persons."""

import pytest

from ...hashed_embedding import HashedEmbedder
from ...small_base import create, finish, put

PERSONS = {"Ben Sternthal": "Person", "Ben": "Person"}


@pytest.fixture
def documents_of(tmp_path):
    """Return the documents of each entity of documents, which are given as (text, entities)."""
    def read(*documents):
        with create(tmp_path, "kb", HashedEmbedder()) as kb, kb.writing():
            for number, (text, entities) in enumerate(documents):
                put(kb, f"d{number}", text, entities=entities)
            finish(kb)
            of_chunk = kb.documents.of_chunks()
            return {kb.graph.name(entity): {of_chunk[chunk] for chunk in kb.graph.entity_support(entity)}
                    for entity in kb.graph.entity_ids()}
    return read


def test_a_name_of_one_chunk_is_counted_in_all_that_have_it(documents_of):
    assert documents_of(("The Mill Trust met.", {"Mill Trust": "Organization"}), ("It is the Mill\nTrust.", {}),
                        ("The Mill Trusts are many; see https://x.org/Mill Trust/.", {}),
                        ) == {"Mill Trust": {"d0", "d1"}}


def test_a_short_name_is_the_only_person_of_its_document_who_has_it(documents_of):
    both = {**PERSONS, "Ben Karl": "Person"}
    assert documents_of(("Ben Sternthal came. Ben spoke.", PERSONS), ("Ben wrote.", {"Ben": "Person"}),
                        ("Ben Sternthal met Ben Karl, and Ben left.", both),
                        ) == {"Ben Sternthal": {"d0", "d2"}, "Ben Karl": {"d2"}}


def test_a_form_of_address_tells_which_of_a_family_is_meant(documents_of):
    family = {"Mary Fairlie": "Person", "John Fairlie": "Person", "Miss Fairlie": "Person",
              "Mrs. Fairlie": "Person"}
    assert set(documents_of(("Mary Fairlie and John Fairlie. Miss Fairlie and Mrs. Fairlie spoke.", family),
                            )) == {"Mary Fairlie", "John Fairlie", "Mrs. Fairlie"}


def test_what_is_mostly_written_small_is_no_name(documents_of):
    assert documents_of(("Hush! He left for Radom.", {"Hush": "Person", "Radom": "City"}),
                        *((f"We hush {word}.", {}) for word in ("one", "two", "three"))) == {"Radom": {"d0"}}
