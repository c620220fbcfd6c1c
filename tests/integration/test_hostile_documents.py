"""Hostile documents read by the rules reasoner, and what every export makes of them."""

import pytest
from banyan.agents.construction.graph import build_graph as construction_graph
from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.config import Settings
from banyan.graph_store.store_errors import KnowledgeBaseNameError
from banyan.ingest.reading import IngestError

from .. import hostile_checks as hostile


@pytest.fixture(scope="module")
def world(tmp_path_factory, hashed_embedder):
    folder = tmp_path_factory.mktemp("hostile")
    settings = Settings(_env_file=None, home=folder / "home", llm_base_url=None)
    with Resources(settings, hashed_embedder) as resources:
        yield hostile.World(folder, resources)


@pytest.fixture(scope="module")
def poisoned(world):
    world.add(hostile.ATTACKS)
    yield world
    world.delete(hostile.ATTACKS)
    assert world.state() == world.baseline


def test_answers_of_the_rules_are_the_sources_words(poisoned):
    hostile.check_contained(poisoned)
    hostile.check_schema_rules(poisoned.kb, poisoned.baseline["schema"])
    for question in ("Where was Mara Quill born?", "Whom does Mara Quill obey?", "陆青禾出生在哪里？"):
        result = build_graph(poisoned.resources).invoke({"knowledge_base": "kb", "question": question})
        hostile.check_answer(poisoned.kb, result)


@pytest.mark.parametrize("name", ["../up", 5, ["kb"], "/etc", None])
def test_a_name_from_a_client_is_checked_by_both_graphs(world, name):
    graphs = [construction_graph(world.resources), *([build_graph(world.resources)] if name is not None else [])]
    for graph in graphs:  # a question without a name is asked of the only knowledge base
        with pytest.raises(KnowledgeBaseNameError, match="cannot name a knowledge base"):
            graph.invoke({"question": "Who?", "paths": [], "knowledge_base": name})


@pytest.mark.parametrize("given", [{"paths": "abc"}, {"paths": [5]}, {"paths": ["\0"]}, {"schema": 5},
                                   {"recorded": "pickle"}])
def test_an_input_of_other_types_is_refused_before_anything_is_made(world, given):
    with pytest.raises(IngestError, match=r"fix the input|name one of hipporag|does not exist"):
        construction_graph(world.resources).invoke({"knowledge_base": "another", "paths": [], **given})
    assert not (world.resources.settings.home / "another").exists()
