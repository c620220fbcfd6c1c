"""YAML and TOML files: fields as metadata, lists of objects as tables, settings of programs as text."""

import pytest

from tests.loading import only, write

pytestmark = pytest.mark.usefixtures("shared_reading")
FIELDS = """title: Stone floor
number: 0012
owners:
  - "@ida"
  - bo
dates:
  opened: 2031-02-01
reviewers:
  - name: Eve Stone
    team: floors
"""


@pytest.mark.parametrize(("name", "text"), [("a.yaml", FIELDS), ("a.toml", (
    'title = "Stone floor"\nnumber = "0012"\nowners = ["@ida", "bo"]\ndates = {opened = 2031-02-01}\n'
    'reviewers = [{name = "Eve Stone", team = "floors"}]\n'))])
def test_the_fields_of_a_file_are_those_of_its_document(tmp_path, name, text):
    document = only(write(tmp_path / name, text))
    assert (document.title, document.text.splitlines()[-1]) == ("Stone floor", text.splitlines()[-1])
    assert document.metadata == {"number": "0012", "owners": "@ida; bo", "dates opened": "2031-02-01",
                                 "reviewers": "Eve Stone", "reviewers team": "floors"}


def test_a_list_of_objects_is_a_table(tmp_path):
    text = "# All mills.\n- mill: Aster\n  stones: 2\n- mill: Birch\n  kept: no\n"
    document = only(write(tmp_path / "mills.yml", text))
    assert [(table.columns, table.rows) for table in document.tables] == [
        (("mill", "stones", "kept"), (("Aster", "2", ""), ("Birch", "", "no")))]
    assert document.metadata["not read"] == "1 comment"


@pytest.mark.parametrize("text", [
    "services:\n  web:\n    ports: [1, 2]\nvolumes:\n  all: {of: {it: 1}}\n", "a: &all [1, 2]\nb: *all\n", "a: [1,\n",
    "a: 1\n---\na: 2\n"], ids=["settings", "reference", "broken", "several"])
def test_other_files_are_text(tmp_path, text):
    document = only(write(tmp_path / "a.yaml", text))
    assert (document.text, document.metadata, document.tables) == (text, {}, ())
