"""Views outlive builds, and answer questions about the whole that speak of their dimension."""

import pytest
from banyan.graph_store.tree.view_spec import parse_view
from banyan.schemas.graph_schema import AttributeType, EntityType, GraphSchema, RelationType
from banyan.schemas.lookups import CommunityLookup
from banyan.tools.reports import look_up_reports
from banyan.tools.retriever import Retriever
from banyan.tools.view_groups import spoken_groups

from ... import small_base as base

SCHEMA = GraphSchema(
    name="firms", entity_types=(EntityType(name="Firm"), EntityType(name="Region", labels={"zh": "地区"})),
    relation_types=(RelationType(name="based_in", domain=("Firm",), range=("Region",)),),
    attribute_types=(AttributeType(name="founded", owners=("Firm",), kind="date"),
                     AttributeType(name="sector", labels={"zh": "行业"}, owners=("Firm",))))
FIRMS = (("Arco", "1987", "steel", "Norland"), ("Belo", "1991", "glass", "Norland"), ("Cira", "1998", "steel", "Suden"))


def put(kb, firms):
    for name, year, sector, region in firms:
        base.put(kb, name, f"{name} of {region} makes {sector} since {year}.",
                 entities={name: "Firm", region: "Region"},
                 triples=[(name, "based_in", region)],
                 attributes=[(name, "founded", year), (name, "sector", sector)])
    base.finish(kb)


def firms(tmp_path, embedder, *views):
    kb = base.create(tmp_path, "firms", embedder, SCHEMA)
    with kb.writing():
        put(kb, FIRMS[:2])
        for view in views:
            kb.tree.build_view(parse_view(view, SCHEMA, kb.graph))
        put(kb, FIRMS[2:])
    return kb


def test_views_are_kept_up_with_the_graph(tmp_path, hashed_embedder):
    with firms(tmp_path, hashed_embedder, "attribute:founded:decade") as kb:
        assert kb.communities.views() == ["attribute:founded:decade"]
        groups = {group.label: len(group.members) for group in kb.communities.all("attribute:founded:decade")}
        assert groups == {"1980–1989": 1, "1990–1999": 2, "without founded": 2}
        with kb.writing():
            for name, *_ in FIRMS:
                base.delete(kb, name)
            base.finish(kb)
        assert kb.communities.all("attribute:founded:decade") == []


@pytest.mark.parametrize(("question", "labels"), [
    ("What do the firms founded in the 1990s make?", ["1990–1999"]),
    ("What do firms make, by decade?", ["1980–1989", "1990–1999"]),
    ("What do firms make in 1991?", []),
    ("Give an overview per sector.", ["glass", "steel"]),
    ("What is said of glass?", ["glass"]),
    ("各行业的概况如何？", ["glass", "steel"]),
    ("Summarise the firms by region.", ["Norland", "Suden"]),
    ("按地区总结。", ["Norland", "Suden"]),
    ("What are the main themes?", [])])
def test_a_question_speaks_of_a_views_dimension_or_of_a_group(tmp_path, hashed_embedder, question, labels):
    with firms(tmp_path, hashed_embedder, "attribute:founded:decade", "attribute:sector", "relation:based_in") as kb:
        retriever = Retriever(kb)
        assert sorted(group.label for group in spoken_groups(retriever.index, question)) == labels
        blocks = look_up_reports(retriever, CommunityLookup(), question, 500)
        heads = [item.statement.partition(". ")[0] for block in blocks for item in block.items]
        if labels:
            assert sorted(heads) == labels
        assert labels or "1990–1999" not in heads


def test_without_a_view_the_tree_answers(tmp_path, hashed_embedder):
    with firms(tmp_path, hashed_embedder) as kb:
        assert spoken_groups(Retriever(kb).index, "What do firms make, by decade?") == []
