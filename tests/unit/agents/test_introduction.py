"""What a knowledge base is about, at a glance, and what to ask."""

import pytest
from banyan.agents import introduction
from banyan.agents.construction.graph import build_graph
from banyan.agents.construction.state import BuildContext
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.graph_store.graph_index import GraphIndex

from ...hashed_embedding import HashedEmbedder
from ...small_base import create, finish, put


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "notes"
    for name, text in {"letters/2021-03-04-elm.md": "# Elm Street\n\nElm Street is in Radom. It was paved with stone.",
                       "letters/oak.md": "---\ndate: 2019-11-02\n---\n# Oak Street\n\nOak Street is in Radom, too.",
                       "plans/all.txt": "The plans of Radom are kept in the town hall.",
                       "plans/broken.docx": "this is no archive"}.items():
        file = made / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return made


def test_an_introduction_says_what_there_is_and_what_was_not_read(tmp_path, folder):
    settings = Settings(_env_file=None, home=tmp_path / "home")
    with Resources(settings, HashedEmbedder()) as resources:
        def build(*paths):
            build_graph(resources).invoke({"knowledge_base": "kb", "paths": [str(path) for path in paths]},
                                          context=BuildContext())
            return introduction.introduce(resources, "kb")

        found = build(folder)
        assert found.documents == 3
        assert found.kinds == {"Markdown": 2, "text": 1}
        assert found.dates == ("2019-11-02", "2021-03-04")
        assert found.titles == ("Elm Street", "all", "Oak Street"), "of each folder in turn"
        assert [line.partition(":")[0] for line in found.unread] == ["plans/broken.docx"], "by its path in the folder"
        assert dict(found.lines())["not read"] == "1 file"
        assert dict(found.lines())["kinds"] == "2 Markdown, 1 text, from 2019-11-02 to 2021-03-04"
        assert found.examples[0] == "What are these documents about?"
        (folder / "plans" / "broken.docx").unlink()
        assert build(folder).unread == (), "the latest build read all"


@pytest.fixture
def kb(tmp_path):
    with create(tmp_path, "kb", HashedEmbedder()) as made, made.writing():
        put(made, "one", "Carl Berg was born in Radom. Zofia Nowak was his teacher.",
            triples=[("Carl Berg", "born_in", "Radom")], entities={"Zofia Nowak": "Person"})
        put(made, "two", "Zofia Nowak was born in Radom.", triples=[("Zofia Nowak", "born_in", "Radom")])
        put(made, "zh", "林小雨出生于宁波。", triples=[("林小雨", "born_in", "宁波")])
        finish(made)
        yield made


def test_questions_are_about_what_documents_name_each_about_other_entities(tmp_path):
    names = {"Elm Board": "Organization", "Oak Trust": "Organization", "Zofia Nowak": "Person", "Radom": "Location"}
    with create(tmp_path, "kb", HashedEmbedder()) as made, made.writing():
        for number in range(2):
            put(made, f"d{number}", f"The Elm Board meets with Oak Trust. It is number {number}. We met Zofia Nowak. "
                                    "The town is called Radom.", entities=names)
        finish(made)
        index = GraphIndex(made)
        rows = [row for name in ("Zofia Nowak", "Elm Board", "Oak Trust", "Radom")
                for row in index.find_named(name).tolist()]
        asked = introduction.suggest_questions(index, rows)
    assert asked == ["What is said about Zofia Nowak?", "How is Elm Board connected to Oak Trust?"]


def test_questions_are_in_the_language_of_the_name(kb):
    index = GraphIndex(kb)
    assert introduction.suggest_questions(index, index.find_named("林小雨").tolist()) == ["关于林小雨有哪些内容？"]
    assert introduction.suggest_questions(index, []) == []
