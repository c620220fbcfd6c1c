"""What a knowledge base is about, at a glance, and what to ask."""

import banyan
from banyan.agents import introduction
from banyan.agents.construction.graph import build_graph
from banyan.agents.construction.state import BuildContext
from banyan.agents.resources import Resources
from banyan.config import Settings
from banyan.graph_store.graph_index import GraphIndex

from ...hashed_embedding import HashedEmbedder
from ...small_base import create, finish, put


def introduce(tmp_path, files):
    for name, text in files.items():
        file = tmp_path / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    with Resources(Settings(_env_file=None, home=tmp_path / "home"), HashedEmbedder()) as resources:
        build_graph(resources).invoke({"knowledge_base": "kb", "paths": [str(tmp_path / "docs")]},
                                      context=BuildContext())
        return introduction.introduce(resources, "kb")


STREETS = {
    "letters/2021-03-04-elm.md": "# Elm Street\n\nElm Street is in Radom. It was paved with stone.",
    "letters/oak.md": "---\ndate: 2 November 2019\n---\n# Oak Street\n\nOak Street is in Radom.",
    "plans/all.txt": "The plans of Radom are kept in the town hall."}


def test_an_introduction_says_what_there_is_and_what_was_not_read(tmp_path):
    found = introduce(tmp_path, STREETS | {"plans/broken.docx": "this is no archive"})
    assert found.documents == 3
    assert found.kinds == {"Markdown": 2, "text": 1}
    assert found.dates == ("2019-11-02", "2021-03-04")
    assert found.titles == ("Elm Street", "all", "Oak Street"), "of each folder in turn"
    assert [line.partition(":")[0] for line in found.unread] == ["plans/broken.docx"], "by its path in the folder"
    assert dict(found.lines())["not read"] == "plans/broken.docx"
    assert dict(found.lines())["kinds"] == "2 Markdown, 1 text, from 2019-11-02 to 2021-03-04"
    assert found.examples[0] == "What are these documents about?"
    assert next(one.said for one in found.openings) == "Elm Street is in Radom."
    (tmp_path / "docs" / "plans" / "broken.docx").unlink()
    assert introduce(tmp_path, {}).unread == (), "the latest build read all"


def test_a_table_without_entities_is_offered_for_questions(tmp_path):
    found = introduce(tmp_path, {"readings.csv": "load,heat\n1.5,20.1\n1.5,20.4\n1.7,20.4\n"})
    lines = dict(found.lines())
    assert "mentioned most" not in lines
    assert lines["try"].startswith("What is this document about?")


def test_a_novel_is_introduced_by_its_chapters_its_persons_and_its_first_sentence(tmp_path):
    licence = ("This eBook is for the use of anyone under the terms of the License.\n\n"
               "*** START OF THE PROJECT GUTENBERG EBOOK THE MILL ***\n\n")
    chapter = "\n\n".join(f"## Chapter {number}\n\nAsk Mr. Blum about the mill. {'The mill stood. ' * 40}Then "
                          f"Lydia asked Mr. Blum." for number in range(5))
    found = introduce(tmp_path, {"novel.txt": f"{licence}The mill was sold in spring.\n\n{chapter}"})
    assert [one.said for one in found.openings] == ["The mill was sold in spring."]
    assert [(one.name, one.type, one.times) for one in found.entities] == [("Mr. Blum", "Person", 5),
                                                                          ("Lydia", "Person", 5)]
    assert found.chapters == tuple(f"Chapter {number}" for number in range(5))
    assert found.examples == ("What is this document about?", "What is said about Mr. Blum?",
                              "What is said about Lydia?")
    assert dict(found.lines())["mentioned most"] == "Mr. Blum (Person, 5 passages), Lydia (Person, 5 passages)"
    assert "titles" not in dict(found.lines()), "there is one"


def test_chapters_are_named_by_what_stands_below_their_numbers(tmp_path):
    chapters = "".join(f"<h2>CHAPTER {number}</h2><h3>{name}</h3><p>We walk to the mill.</p>"
                       for number, name in (("I", "THE MILL"), ("II", "ASH AND ELM"), ("III", "THE END")))
    frame = "<pre>The Project Gutenberg EBook\n*** START OF THIS PROJECT GUTENBERG EBOOK WALKS ***\n</pre>"
    page = f"<html><body>{frame}<h2>BY</h2><h2>A. BERG</h2>{chapters}</body></html>"
    found = introduce(tmp_path, {"walks.html": page})
    assert found.chapters == ("The Mill", "Ash And Elm", "The End"), "the frame's block of code ends with the frame"


def test_tables_are_named_by_file_and_folder_and_have_a_header_of_names(tmp_path):
    files = {f"minutes/2024-0{number}-01.md": f"# Meeting {number}\n\n## Members attending\n\n* Ann Lee\n* Bo Karl\n\n"
             f"## Agenda\n\nAs Bo put it:\n* A mill. Sees to its stones by night.\n\n"
             f"We talked about the mill of day {number}.\n" for number in (3, 4)}
    files |= {f"dishes/ash-soup-{number}.md": f"---\ntitle: Soup {number}\ndate: 2024-05-0{number}\n"
              f"tags: [{'hot' if number > 1 else 'cold'}, {'soup' if number < 5 else 'Soup'}]\n"
              f"author: {'bo-karl' if number > 1 else 'ann-lee'}\ncourse: starter\ncreated: 2024-05-0{number}\n---\n\n"
              f"This soup is number {number} of four.\n" for number in range(1, 6)}
    files["mill_stones.csv"] = "Mill,Stones,Note\nAster,2,\nBirch,3,\nCedar,2,old\n"
    files["walks.md"] = "| Start | I |\n|---|---|\n| Ash | II |\n| Elm | III |\n| Oak | IV |\n"
    files["tunes.md"] = "| Hear this tune, click here. | x |\n|---|---|\n| Ash | 1 |\n| Elm | 2 |\n| Oak | 1 |\n"
    found = introduce(tmp_path, files)
    assert found.tables == ("fields of documents: author, course, date, tags (soup 5, hot 4)",
                            "Mill stones, 3 rows: Mill, Stones")
    assert found.titles == ("Soup 1", "Meeting 3", "Soup 2", "tunes", "Meeting 4", "Soup 3")
    assert found.summary == ("10 documents from 2024-03-01 to 2024-05-05. Tags: soup 5, hot 4. "
                             "Most named: bo-karl.")
    assert {one.said for one in found.openings} == {
        "This soup is number 1 of four.", "We talked about the mill of day 3.", "This soup is number 2 of four."}


def test_names_count_documents_and_are_no_titles(tmp_path):
    files = {f"{number}.md": f"# Day {number}\n\nToday the Radom Elm Street Trust met at Oak Street. "
             f"Then Emanuel Berg spoke for the Elm Street Trust. All went with E. Berg to mill {number}."
             for number in range(1, 7)}
    files |= {f"{number}.md": f"# Day {number}\n\nToday all met at Oak Street." for number in range(7, 15)}
    found = introduce(tmp_path, files | {"Radom.md": "# Radom\n\nThis town is Radom."})
    assert introduce(tmp_path / "one", {name: text for name, text in files.items() if "Elm" not in text}).entities == ()
    counted = {one.name: one.documents for one in found.entities}
    assert counted == {"Oak Street": 14, "Elm Street Trust": 6, "E. Berg": 6}, "Radom is a title"
    assert "Elm Street Trust (Organization, in 6 documents)" in dict(found.lines())["mentioned most"]
    assert {"What is said about Elm Street Trust?", "Which documents mention E. Berg?"} <= {*found.examples}
    assert not any("Oak Street" in question for question in found.examples), "most documents have it"


def test_a_sentence_says_what_a_folder_is(tmp_path):
    said = "HillLab met again. Kevin and Karen came to HillLab. Kevin left.\n"
    said += "".join(f"\n## {part}\n\nNone.\n" for part in ("Dues", "Saws", "Doors", "Keys", "Votes"))
    minutes = {f"Board Meeting 2017 0{number} 10.md": f"## Time\n\n{said}" for number in range(1, 8)}
    found = introduce(tmp_path / "minutes", minutes)
    assert found.summary == ("7 documents from 2017-01-10 to 2017-07-10, called “Board Meeting …”. "
                             "Most have the sections Dues, Saws, Doors, Keys, Votes. "
                             "Most named: Kevin, HillLab, Karen.")
    assert dict(found.lines())["about"] == found.summary
    assert found.examples[1] == "What is said about Votes?"
    chapters = {f"{number}.html": f"<h1>{numeral}: The Mill</h1><p>“In year {number} Ann left,” he said. "
                f"She saw the mill.</p>"
                for number, numeral in enumerate(("I", "II", "III"), 1)}
    novel = introduce(tmp_path / "novel", chapters)
    assert novel.summary == "3 documents, from “I: The Mill” to “III: The Mill”. Most named: Ann."
    assert [one.said for one in novel.openings] == [
        f"‘In year {number} Ann left,’ he said." for number in (1, 2, 3)], "not those with the words of titles"
    assert introduce(tmp_path / "one", {"a.md": "# One\n\nIt rained."}).summary == ""


def test_no_name_is_shown_where_none_stands_out(tmp_path):
    names = ("Anna Berg", "Carl Moss", "Dora Kern", "Emil Voss", "Fritz Lang", "Greta Wolf")
    found = introduce(tmp_path, {f"{number}.md": f"# Day {number}\n\nYesterday {name} went home."
                                 for number, name in enumerate(names)})
    assert found.entities == ()


def test_a_folder_is_introduced_by_the_page_on_the_whole(tmp_path):
    found = introduce(tmp_path, {
        "a/incident.md": "# Incident\n\nOne window broke in the mill during the storm of March.\n",
        "mission-statement.md": "# Mission Statement\n\nThe Mill Trust (MT) keeps all old mills of Radom in order.\n"})
    assert [one.said for one in found.openings] == ["The Mill Trust (MT) keeps all old mills of Radom in order."]


def test_papers_are_introduced_by_their_texts_before_their_bibliographies(tmp_path):
    names = ("Bells", "Doors", "Quays")
    found = introduce(tmp_path, {f"{name}/refs.bib": "@book{a, title = {Old Works}, year = 1901}" for name in names} | {
        f"{name}/paper.md": f"---\ntags:\n - R\n - mills\n---\n# {name}\n\n{name} are counted here by a program.\n"
        for name in names})
    assert found.titles[:3] == names
    assert [one.said for one in found.openings] == [f"{name} are counted here by a program." for name in names]


def test_titles_are_names_of_records_and_files_in_words(tmp_path):
    found = introduce(tmp_path, {
        "ann-lee.json": '{"name": "Ann Lee", "website": "https://lee.example"}',
        "chapter-10.md": "# X\n\nHe left.", "chapter-2.md": "# II\n\nHe came.", "june-3.md": "# June 3\n\nAll met.",
        "results-2016.md": "Our official was Tim Berg.\n\n## Ranked results\n\nAnn Lee came first.\n",
        "2014-10-08-new_mill.txt": "The mill was opened today by Ann Lee."})
    assert found.titles == ("2014-10-08 new mill", "Chapter 2", "Chapter 10", "June 3", "Results 2016", "Ann Lee")


def test_what_several_documents_are_called_is_no_title_and_sentences_with_main_names_come_first(tmp_path):
    head = "`{{TOC}}`{=mediawiki}\n\n## Time and place\n\n"
    said = ("It rained all day in the hills.", "Nothing to report, this month, thanks.",
            *(f"Dr. Ann Lee and Mr. Kevin Roth were {where}." for where in ("here", "in the hall", "at sea", "away")))
    files = {f"Meeting of {2017 + at} 05 0{at}.md": f"{head}{text}\n" for at, text in enumerate(said)}
    found = introduce(tmp_path, files)
    assert found.titles[0] == "2017 05 00"
    assert [one.said for one in found.openings] == [*said[2:5]]


def test_pictures_alone_do_not_make_a_text_partly_read(tmp_path):
    found = introduce(tmp_path, {"mill.md": "# Mill\n\nThe mill stands here.\n\n![a](a.png)\n\n![b](b.png)\n"})
    assert (dict(found.lines())["not read"], found.partly_read) == ("2 pictures", {})


def test_the_title_of_documents_is_not_what_they_mention_most(tmp_path):
    with create(tmp_path, "kb", HashedEmbedder()) as made, made.writing():
        for document in ("one", "two", "three"):
            put(made, document, f"The Mill Sonata is by Carl Berg, says number {document}.", title="The Mill Sonata",
                entities={"The Mill Sonata": "Work", "Carl Berg": "Person"})
        finish(made)
        assert [one.name for one in introduction.main_entities(GraphIndex(made))] == ["Carl Berg"]


def test_questions_are_in_the_language_of_the_name(tmp_path):
    with create(tmp_path, "kb", HashedEmbedder()) as made, made.writing():
        put(made, "one", "Carl Berg was born in Radom.", triples=[("Carl Berg", "born_in", "Radom")])
        put(made, "zh", "林小雨出生于宁波。", triples=[("林小雨", "born_in", "宁波")])
        finish(made)
        index = GraphIndex(made)
        rows = [index.find_named(name).tolist()[0] for name in ("林小雨", "Radom")]
        assert introduction.suggest_questions(index, rows) == ["关于林小雨有什么？", "Which documents mention Radom?"]
        assert introduction.suggest_questions(index, []) == []


def test_a_base_without_documents_has_no_summary(tmp_path):
    with banyan.open("kb", home=tmp_path, llm_base_url=None) as kb:
        kb.add({"id": "a", "text": "Ann Lee came."})
        kb.delete("a")
        assert (kb.introduce().documents, kb.introduce().summary, kb.introduce().titles) == (0, "", ())
