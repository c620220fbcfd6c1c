"""JSON, YAML and TOML: the fields of an object, its lists of objects as tables, settings of programs as text."""

import json

import pytest

from tests.loading import only, write

pytestmark = pytest.mark.usefixtures("shared_reading")
YAML = ('title: Stone floor\nnumber: 0012\nowners:\n  - "@ida"\n  - bo\ndates:\n  openedOn: 2031-02-01\nreviewers:\n'
        '  - name: Eve Stone\n    team: floors\n')
TOML = ('title = "Stone floor"\nnumber = "0012"\nowners = ["@ida", "bo"]\ndates = {openedOn = 2031-02-01}\n'
        'reviewers = [{name = "Eve Stone", team = "floors"}]\n')
JSON = ('{"title": "Stone floor", "number": "0012", "owners": ["@ida", "bo"], "dates": {"openedOn": "2031-02-01"}, '
        '"closed": null, "note": "", "reviewers": [{"name": "Eve Stone", "team": "floors"}]}')


@pytest.mark.parametrize(("name", "text", "shown"), [
    ("a.yaml", YAML, YAML), ("a.cff", f"---\n{YAML}---\n", f"---\n{YAML}---"), ("a.toml", TOML, TOML), (
    "a.json", JSON, ("| Document: Stone floor (a.json) | Title: Stone floor | Number: 0012 | Owners: @ida; bo | "
    "Dates opened on: 2031-02-01 | Reviewers: Eve Stone |"))])
def test_an_object_is_the_record_of_its_document_and_its_lists_of_objects_are_tables(tmp_path, name, text, shown):
    document = only(write(tmp_path / name, text))
    assert document.title == "Stone floor"
    assert document.metadata == {"number": "0012", "owners": "@ida; bo", "dates openedOn": "2031-02-01",
                                 "reviewers": "Eve Stone"}
    assert document.text.endswith(f"{shown.rstrip()}\n\n## reviewers\n\n| name: Eve Stone | team: floors |")
    assert [(table.title, table.columns, table.rows) for table in document.tables] == [
        ("reviewers", ("name", "team"), (("Eve Stone", "floors"),))]


@pytest.mark.parametrize(("objects", "rows"), [
    ({"subjects": {"id": 1, "name": "subject", "children": [
        {"id": 2, "name": "nature", "children": [{"id": 3, "name": "horse", "children": []}, {"id": 4, "name": "oak"}]},
        {"id": 5, "name": "work"}]}},
     [("2", "nature", ""), ("3", "horse", "nature"), ("4", "oak", "nature"), ("5", "work", "")]),
    ({"subjects": [{"label": "A", "parts": [{"label": "B", "parts": [{"label": "C"}]}]}, {"label": "D"}]},
     [("A", ""), ("B", "A"), ("C", "A; B"), ("D", "")])])
def test_a_tree_is_a_table_with_a_row_for_each_object(tmp_path, objects, rows):
    (table,) = only(write(tmp_path / "a.json", json.dumps({"title": "Barn", **objects}))).tables
    assert (table.title, table.columns[-1], list(table.rows)) == ("subjects", "ancestors", rows)


@pytest.mark.parametrize(("fields", "title", "metadata"), [
    ({"title": "", "name": "Untitled", "site": {"name": "Alder", "city": "Bern"}}, "Untitled",
     {"name": "Untitled", "site": "Alder", "site city": "Bern"}),
    ({"displayName": "Ida", "title": "A door. " * 70 + "End", "nav": [{"Home": "a"}, {"Guide": "b"}]}, "Ida",
     {"displayName": "Ida", "title": "A door. " * 70 + "End", "nav": "Home: a; Guide: b"}),
    ({"id": "3", "name": {"de": "Korb", "en": "Cork"}}, "Cork", {"id": "3", "name de": "Korb", "name en": "Cork"}),
    ({"title": "Barn", "body": "It burnt. " * 2_000}, "Barn", {})])
def test_what_a_file_calls_itself_is_its_title_and_long_texts_are_sections(tmp_path, fields, title, metadata):
    document = only(write(tmp_path / "a.json", json.dumps(fields)))
    assert (document.title, document.metadata) == (title, metadata)
    assert ("## body\n\nIt burnt. It" in document.text) is ("body" in fields)


@pytest.mark.parametrize(("name", "above", "unread"), [
    ("a.ndjson", "", {}), ("a.jsonl", "", {}), ("a.json", "", {}), ("a.yaml", "# All.\n", {"not read": "1 comment"})])
def test_a_list_of_objects_is_a_table(tmp_path, name, above, unread):
    staff = [{"name": "Ida Lang", "site": {"city": "Alder", "floorOf": 2}, "tags": ["bells", "doors"], "in": True},
             {"name": "Eva Roth", "site": {"city": "Birch"}, "left": "", "since": "2014"}]
    content = "\n".join(map(json.dumps, staff)) if name in {"a.ndjson", "a.jsonl"} else json.dumps(staff)
    document = only(write(tmp_path / name, above + content))
    assert (document.title, document.metadata) == ("a", unread)
    assert document.text.lower() == ("| name: ida lang | site city: alder | site floor of: 2 | tags: bells; doors | "
                                     "in: true |\n| name: eva roth | site city: birch | since: 2014 |")
    exported = only(write(tmp_path / "c" / "a.json", "\n".join(map(json.dumps, staff))))  # as databases export rows
    assert exported.text.lower() == document.text.lower()


@pytest.mark.parametrize(("value", "title", "columns", "rows"), [
    ({f"word {at}": f"It means {at}. No more." for at in range(300)}, "", ("name", "value"), 300),
    ({"EGP": {"sign": "£E", "places": 2}, "JPY": {"sign": "¥", "places": 0}, "EUR": {"sign": "€"}}, "",
     ("key", "sign", "places"), 3),
    ({"title": "Lands", "lands": {"NO": {"capital": "Oslo"}, "FI": {"capital": "Helsinki"}, "IS": {"capital": "?"}}},
     "lands", ("key", "capital"), 3)])
def test_an_object_whose_keys_are_names_is_a_table(tmp_path, value, title, columns, rows):
    (table,) = only(write(tmp_path / "a.json", json.dumps(value))).tables
    assert (table.title, table.columns, len(table.rows)) == (title, columns, rows)


@pytest.mark.parametrize("text", [
    "services:\n  web:\n    ports: [1, 2]\nvolumes:\n  all: {of: {it: 1}}\n", "a: &all [1, 2]\nb: *all\n", "a: [1,\n",
    "a: 1\n---\na: 2\n", f"a: {'[' * 70}{']' * 70}\n"], ids=["settings", "reference", "broken", "several", "deep"])
def test_other_files_are_text(tmp_path, text):
    document = only(write(tmp_path / "a.yaml", text))
    assert (document.text, document.metadata, document.tables) == (text, {}, ())
