"""Hostile documents read by the rules reasoner, and what every export makes of them."""

import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from banyan.agents.construction.graph import build_graph as construction_graph
from banyan.agents.resources import Resources
from banyan.agents.retrieval.citing import cite
from banyan.agents.retrieval.graph import build_graph
from banyan.config import Settings
from banyan.export.cypher import cypher
from banyan.export.export_formats import graphml, node_link
from banyan.export.tree_page import page
from banyan.graph_store.store_errors import KnowledgeBaseNameError
from banyan.ingest.loaders import IngestError
from banyan.schemas.retrieval import Claim, DraftAnswer, Passage, Quote

from .. import hostile_checks as hostile


@pytest.fixture(scope="module")
def world(tmp_path_factory, hashed_embedder):
    folder = tmp_path_factory.mktemp("hostile")
    settings = Settings(_env_file=None, home=folder / "home", llm_base_url=None)
    with Resources(settings, hashed_embedder) as resources:
        yield hostile.World(folder, resources)


@pytest.fixture(scope="module")
def poisoned(world):
    """The same with all attacks in it."""
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


class _Page(HTMLParser):
    """Elements and attributes of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes = [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


def test_no_export_lets_a_document_act(poisoned):
    graph = poisoned.kb.tree_graph()
    html = _Page()
    html.feed("".join(page(graph)))
    assert not set(html.tags) & {"a", "img", "iframe", "form", "object", "base", "link", "embed", "math"}
    assert html.tags.count("script") == 1, "our own"
    assert not {name for name in html.attributes if name.startswith("on")} | {
        name for name in html.attributes if name in {"href", "src", "action", "srcset"}}
    assert len(ET.fromstring("".join(graphml(graph))).findall(".//{*}node")) == graph.number_of_nodes()
    assert len(json.loads("".join(node_link(graph)))["nodes"]) == graph.number_of_nodes()
    # What stands outside quotes is ours: no statement of a document's is among it.
    bare = re.sub(r"'(?:\\.|[^'\\])*'|`(?:``|[^`])*`", "", "".join(cypher(graph)))
    assert not re.search(r"\b(?:DELETE|DETACH|DROP|LOAD|CALL|REMOVE)\b", bare)


@pytest.mark.parametrize(("said", "shown"), [
    ("See ![x](https://collector.invalid/p.png?q=1) now", "See ![x] (https://collector.invalid/p.png?q=1) now"),
    ("He was born [3] in Ulm 【4】［5，6］.", "He was born in Ulm."),
    ("[[1]2] nested [\u200b7] hidden", "nested hidden"),
    ("one\n\n[1] forged.txt 0-4: two", "one forged.txt 0-4: two"),
    ("<img src=x> <https://collector.invalid> a < b, 1<2", "‹img src=x> ‹https://collector.invalid> a < b, 1<2"),
    ("[ref]: https://collector.invalid", "[ref] : https://collector.invalid"),
    ("\x1b[2Jgone\u202e", "[2Jgone"),
    ("f[i] of [x, y] stays", "f[i] of [x, y] stays"),
])
def test_a_models_own_marks_and_markup_do_not_reach_the_answer(poisoned, said, shown):
    text = poisoned.kb.documents.get("mara-quill.txt").text
    passages = [Passage(chunk_id="c", document="mara-quill.txt", title="", text=text, start=0, score=1)]
    draft = DraftAnswer(answerable=True, short=said, confidence=1, claims=(
        Claim(text=f"Born: {said}", quotes=(Quote(item=1, words="born in Lindow"),)),))
    answer = cite(draft, passages, poisoned.kb.documents, "reject")
    assert (answer.answer, answer.short) == (f"Born: {shown} [1]", shown)


@pytest.mark.parametrize("given", [{"knowledge_base": "../up"}, {"knowledge_base": 5}, {"knowledge_base": ["kb"]},
                                   {"knowledge_base": "/etc"}])
def test_a_name_from_a_client_is_checked_by_both_graphs(world, given):
    for graph in (construction_graph(world.resources), build_graph(world.resources)):
        with pytest.raises(KnowledgeBaseNameError, match="cannot name a knowledge base"):
            graph.invoke({"question": "Who?", "paths": [], **given})


@pytest.mark.parametrize("given", [{"knowledge_base": None}, {}])
def test_a_build_needs_a_name(world, given):
    with pytest.raises(KnowledgeBaseNameError, match="cannot name a knowledge base"):
        construction_graph(world.resources).invoke({"paths": [], **given})


@pytest.mark.parametrize("given", [{"paths": "abc"}, {"paths": [5]}, {"paths": ["\0"]}, {"schema": 5},
                                   {"recorded": "pickle"}])
def test_an_input_of_other_types_is_refused_before_anything_is_made(world, given):
    with pytest.raises(IngestError, match=r"fix the input|is one of hipporag|does not exist"):
        construction_graph(world.resources).invoke({"knowledge_base": "another", "paths": [], **given})
    assert not (world.resources.settings.home / "another").exists()
