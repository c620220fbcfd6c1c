"""Rows as lines: which documents are named behind their members."""

import pytest
from banyan.schemas.graph_schema import GraphSchema
from banyan.schemas.lookups import EntityLookup, TripleLookup
from banyan.tools.langchain_tools import look_up
from banyan.tools.retriever import Retriever

from ... import small_base as base

SCHEMA = GraphSchema.model_validate({
    "name": "proposals", "entity_types": [{"name": "Proposal"}],
    "attribute_types": [{"name": "status", "owners": ["Proposal"], "kind": "text"},
                        {"name": "stage", "owners": ["Proposal"], "kind": "text"},
                        {"name": "votes", "owners": ["Proposal"], "kind": "text"},
                        {"name": "old_votes", "owners": ["Proposal"], "kind": "text"}]})


def status(*proposals):
    return {"text": " ".join(f"{name} is Final." for name in proposals),
            "entities": dict.fromkeys(proposals, "Proposal"),
            "attributes": [(name, "status", "Final") for name in proposals]}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory, hashed_embedder):
    with base.create(tmp_path_factory.mktemp("home"), "kb", hashed_embedder, SCHEMA) as kb, kb.writing():
        base.put(kb, "proposals/eip-20.md", **status("EIP-20: Token"))
        base.put(kb, "proposals/eip-721.md", **status("EIP-721: Deed", "EIP-900: Stake"))
        base.put(kb, "reviews/meeting.md", **status("EIP-55: Checksum", "EIP-1155: Batch"))
        base.put(kb, "proposals/eip-1155.md", **status("EIP-1155: Batch"))
        base.put(kb, "proposals/eip-2.md", **status("EIP-2000: Vote"))
        base.put(kb, "single.md", "EIP-20: Token is at Last Call. EIP-721: Deed is at Last Call.",
                 attributes=[("EIP-20: Token", "stage", "Last Call"), ("EIP-721: Deed", "stage", "Last Call")])
        base.put(kb, "votes.md", "Old halls: EIP-7: Pump has 3, EIP-8: Lamp 4. New halls: EIP-7: Pump has 5 and 8.",
                 entities=dict.fromkeys(("EIP-7: Pump", "EIP-8: Lamp"), "Proposal"),
                 attributes=[("EIP-8: Lamp", "old_votes", "4", "under: Old halls"),
                             ("EIP-7: Pump", "votes", "3", "under: Old halls"),
                             ("EIP-7: Pump", "votes", "5", "under: New halls"),
                             ("EIP-7: Pump", "votes", "8", "under: New halls")])
        base.finish(kb)
        yield Retriever(kb)


def members(retriever, relation, lead):
    (block,) = look_up(retriever, TripleLookup(relation=relation))
    (line,) = block.items
    assert line.statement.startswith(lead)
    return line.statement.removeprefix(lead).split("; ")


def test_a_row_names_its_document_unless_it_is_its_subject(retriever):
    said = members(retriever, "status", "Final <- ")
    assert "EIP-20: Token" in said
    assert "EIP-721: Deed" in said
    assert "EIP-900: Stake (proposals/eip-721.md)" in said
    assert "EIP-55: Checksum (reviews/meeting.md)" in said
    assert "EIP-2000: Vote (proposals/eip-2.md)" in said


def test_qualifiers_that_differ_stand_with_their_rows_once(retriever):
    assert members(retriever, "votes", "EIP-7: Pump -> ") == [
        "3 (under: Old halls)", "5", "8 (all under: New halls) (votes.md)"]
    (card,) = look_up(retriever, EntityLookup(entity="EIP-8: Lamp"))
    assert [item.statement for item in card.items] == ["old votes: 4 (under: Old halls) (votes.md)"]
