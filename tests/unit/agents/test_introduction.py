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
        assert dict(found.lines())["not read"] == "1 file: plans/broken.docx"
        assert dict(found.lines())["kinds"] == "2 Markdown, 1 text, from 2019-11-02 to 2021-03-04"
        assert found.examples[0] == "What are these documents about?"
        assert next(one.said for one in found.openings) == "Elm Street is in Radom."
        (folder / "plans" / "broken.docx").unlink()
        assert build(folder).unread == (), "the latest build read all"


def test_a_table_without_entities_is_offered_for_questions(tmp_path):
    file = tmp_path / "readings.csv"
    file.write_text("load,heat\n1.5,20.1\n1.5,20.4\n1.7,20.4\n", "utf-8")
    with Resources(Settings(_env_file=None, home=tmp_path / "home"), HashedEmbedder()) as resources:
        build_graph(resources).invoke({"knowledge_base": "kb", "paths": [str(file)]}, context=BuildContext())
        lines = dict(introduction.introduce(resources, "kb").lines())
    assert lines["named most"] == "no entities yet"
    assert lines["try"].startswith("questions about the tables")


@pytest.fixture
def kb(tmp_path):
    with create(tmp_path, "kb", HashedEmbedder()) as made, made.writing():
        put(made, "one", "Carl Berg was born in Radom. Zofia Nowak was his teacher.",
            triples=[("Carl Berg", "born_in", "Radom")], entities={"Zofia Nowak": "Person"})
        put(made, "two", "Zofia Nowak was born in Radom.", triples=[("Zofia Nowak", "born_in", "Radom")])
        put(made, "zh", "林小雨出生于宁波。", triples=[("林小雨", "born_in", "宁波")])
        finish(made)
        yield made


def test_a_novel_in_one_document_is_introduced_by_its_persons_and_its_first_sentence(tmp_path):
    licence = ("This eBook is for the use of anyone under the terms of the License.\n\n"
               "*** START OF THE PROJECT GUTENBERG EBOOK THE MILL ***\n\n")
    chapter = "\n\n".join(f"## Chapter {number}\n\nAsk Mr. Blum about the mill. {'The mill stood. ' * 40}Then "
                          f"Lydia asked Mr. Blum." for number in range(5))
    (tmp_path / "novel.txt").write_text(f"{licence}The mill was sold in spring.\n\n{chapter}", "utf-8")
    with Resources(Settings(_env_file=None, home=tmp_path / "home"), HashedEmbedder()) as resources:
        build_graph(resources).invoke({"knowledge_base": "kb", "paths": [str(tmp_path / "novel.txt")]},
                                      context=BuildContext())
        found = introduction.introduce(resources, "kb")
    assert [one.said for one in found.openings] == ["The mill was sold in spring."]
    assert [(one.name, one.type) for one in found.entities][:2] == [("Lydia", "Person"), ("Mr. Blum", "Person")]
    assert min(one.passages for one in found.entities) > 1
    assert len(found.examples) == 2


def test_minutes_say_who_was_there_and_tables_what_they_hold(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for day in ("2024-03-01", "2024-04-05"):
        (folder / f"{day}.md").write_text(f"# Meeting {day}\n\n## Members attending\n\n"
                                          "* AL: Ann Lee (Mill Trust) - chair\n"
                                          "* Bo Karl\n\n## Agenda\n\n"
                                          "We talked about the _mill_.\n", "utf-8")
    (folder / "mills.csv").write_text("Mill,Stones\nAster,2\nBirch,3\nCedar,2\n", "utf-8")
    (folder / "tunes.md").write_text("| Hear this tune, click here. | x |\n|---|---|\n| Ash | 1 |\n| Elm | 2 |\n"
                                      "| Oak | 1 |\n")
    with Resources(Settings(_env_file=None, home=tmp_path / "home"), HashedEmbedder()) as resources:
        build_graph(resources).invoke({"knowledge_base": "kb", "paths": [str(folder)]}, context=BuildContext())
        found = introduction.introduce(resources, "kb")
    assert found.people == ("members attending: Ann Lee (2), Bo Karl (2)",)
    assert found.tables == ("mills: 3 × Mill, Stones",)
    assert found.dates == ("2024-03-01", "2024-04-05")
    assert found.titles == ("Meeting 2024-03-01", "Meeting 2024-04-05", "mills", "tunes")
    assert {one.said for one in found.openings} == {"We talked about the mill."}, "not who was there"


def test_the_title_of_the_only_document_is_not_what_it_mentions_most(tmp_path):
    with create(tmp_path, "kb", HashedEmbedder()) as made, made.writing():
        put(made, "one", "The Mill Sonata is by Carl Berg. Carl Berg wrote The Mill Sonata in Radom.",
            title="The Mill Sonata",
            entities={"The Mill Sonata": "Work", "Carl Berg": "Person"})
        finish(made)
        examples = introduction.suggest_questions(index := GraphIndex(made), introduction._main_rows(index))
    assert [question for question in examples if "Sonata" in question] == []


def test_a_relation_is_no_field_of_people(tmp_path):
    with create(tmp_path, "kb", HashedEmbedder()) as made, made.writing():
        put(made, "one", "Ada Berg wrote to Bo Karl.", triples=[("Ada Berg", "belongs to", "Bo Karl"),
                                                               ("Ada Berg", "editor_of", "Bo Karl"),
                                                               ("Ada Berg", "to", "Bo Karl")])
        finish(made)
        assert list(introduction._describe_people(GraphIndex(made))) == ["to: Bo Karl (1)"]


def test_questions_are_in_the_language_of_the_name(kb):
    index = GraphIndex(kb)
    rows = [index.find_named(name).tolist()[0] for name in ("林小雨", "Radom")]
    assert introduction.suggest_questions(index, rows) == ["关于林小雨有哪些内容？", "Which documents mention Radom?"]
    assert introduction.suggest_questions(index, []) == []
