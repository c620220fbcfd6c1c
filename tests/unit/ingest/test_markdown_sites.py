"""Markdown as site generators read it, without its markup, and its pictures, which are counted."""

import pytest
from banyan.ingest.markdown_files import clean_markdown, count_in_markdown

from ...loading import only, write

pytestmark = pytest.mark.usefixtures("shared_reading")


def read(tmp_path, text, name="a.md"):
    return only(write(tmp_path / name, text))


def test_a_head_in_json_is_metadata(tmp_path):
    document = read(tmp_path, '{\n  "title": "Alder",\n  "draft": false,\n  "hosts": ["ida", "bo"],\n  "length": 7,\n'
                              '  "guest": null,\n  "file": {"bytes": 25}\n}\n\nIt opened in 2011.\n')
    assert document.title == "Alder"
    assert document.metadata == {"draft": "false", "hosts": "ida; bo", "length": "7", "file bytes": "25"}
    assert document.text.endswith("It opened in 2011.\n")


@pytest.mark.parametrize("text", ['{"a": 1} is JSON.', '{% raw %}', '{"a": 1', '[1]\n\nText.', "{" * 5000])
def test_what_only_looks_like_a_head_in_json_is_text(tmp_path, text):
    assert read(tmp_path, text).text.strip() == text


def test_the_title_of_front_matter_may_begin_with_a_capital(tmp_path):
    document = read(tmp_path, '---\nTitle: "On bells"\nAuthor:\n  - name: Ida Lang\n    affiliation: 1\n---\n\n# One\n')
    assert document.title == "On bells"
    assert document.metadata == {"Author": "Ida Lang", "Author affiliation": "1"}


def test_underlined_headings_are_headings(tmp_path):
    document = read(tmp_path, "Alder site\n==========\n\nStaff\n-----\n\nName | Role\n--- | ---\nPaul | chief\n\n"
                    "A paragraph\nof two lines\n---\n\n- item\n---\n\n```\nNo heading\n===\n```\n\n    code\n---\n")
    assert document.title == "Alder site"
    assert document.text == (
        "# Alder site\n\n## Staff\n\n| Name: Paul | Role: chief |\n\nA paragraph\nof two lines\n---\n\n"
        "- item\n---\n\n```\nNo heading\n===\n```\n\n    code\n---\n")


@pytest.mark.parametrize(("source", "stored"), [
    (":::note\nMind the bell.\n:::", ":::note\nMind the bell.\n:::"), ("> [!NOTE]\n> Words.", "> Note:\n> Words."),
    ("> [!note]- Owner\n> Ida", "> Owner:\n> Ida")])
def test_notes_begin_with_their_kind_or_title(source, stored):
    assert clean_markdown(source) == stored


@pytest.mark.parametrize(("source", "stored"), [
    ("A<!-- secret --> b <!-- two\n\nlines --> c", "A b  c"), ("<!-- never ends\nwords", "<!-- never ends\nwords"),
    ('The <b>bell</b> of <span class="x">Alder</span><br/>rings.', "The bell of Alder rings."),
    ("<table><tr><td>a</td><td>b</td></tr></table>", "   a  b"),
    ("<table><!DOCTYPE x [<tr><td>1<td>2<tr><td>3<td>4</table>", " <!DOCTYPE x [  1 2  3 4"),
    ("Use `<b>` and List<String> or <name> of <https://a.example>.",
     "Use `<b>` and List<String> or <name> of <https://a.example>."),
    ("See [the staff](#staff) and [Birch](../birch.md 'B') or [a page](https://a.example/x).",
     "See the staff and Birch or [a page](https://a.example/x)."),
    ("- Ann Lee\\\n- Bob Ray", "- Ann Lee\n- Bob Ray"), ("a \\\\", "a \\\\"),
    ("2 < 3 and a <= b; x<y>z", "2 < 3 and a <= b; x<y>z")])
def test_comments_tags_and_links_within_the_site(source, stored):
    assert clean_markdown(source) == stored


def test_tables_of_html_are_rows(tmp_path):
    document = read(tmp_path, """# Staff

<table class="x">
<thead><tr><th>Name</th><th>Site</th><th>Years</th></tr></thead>
<TR><td><b>Ida</b> Lang<td rowspan="2">Alder | A</TD><td>2011<br>2014</td></tr>
<tr><td>Eva Roth</td><td>9 &lt; 10</td></tr>
</table>
After.

<table><tr><td><table><tr><td>a</td><td>b</td></tr></table></td></tr></table>
""")
    assert document.text.startswith("# Staff\n\n\n\n| Name: Ida Lang | Site: Alder / A | Years: 2011 2014 |\n"
                                    "| Name: Eva Roth | Site: Alder / A | Years: 9 < 10 |\n\n\nAfter.\n")
    assert document.text.endswith("a  b\n")


EMBEDDED = "data:image/png;base64," + "iVBORw0KGgo" * 200


@pytest.mark.parametrize(("text", "counted"), [
    ("![Plan](plan.png)\n\n![](img/door%20a.jpg 'Door') and ![Plan](<plan.png>)", "2 pictures"),
    ("[![Build](https://ci.example.org/b.svg)](https://ci.example.org) ![x](//cdn.example.org/a.png)", ""),
    ("![[Bell tower.png|300]] and ![[Notes on bells]]", "1 picture"), (f"![Bell]({EMBEDDED})", "1 picture"),
    ("`![Plan](plan.png)`\n\n```\n![Plan](plan.png)\n```\n\n<!-- ![Plan](plan.png) -->", ""), ("No picture!", "")])
def test_pictures_of_markdown(text, counted):
    assert count_in_markdown(text) == counted


@pytest.mark.parametrize(("text", "title"), [
    ("PMC 例会 2023-11-16\n\n## 参会人员\n\n任革林\n", "PMC 例会 2023-11-16"),
    ("### Attending\n\n* Ida Lang\n\n# Plan of the doors\n", "Plan of the doors"),
    ("### Attending\n\n* Ida Lang\n\n### Actions\n", "a"),
    ("** Protokoll des  Vereins e.V. **\n\nBeginn um acht.\n\n# 1. Begrüßung\n", "Protokoll des Vereins e.V."),
    ("本文介绍报名。\n\n## 报名条件\n", "a"), ("Badges\n\n# Pumps\n", "Pumps"),
    ("Pumps\nand more\n\n## Parts\n", "Parts"),
    ("---\ntitle: '_felling_: a `kit` of **my_code**'\n---\nText.\n", "felling: a kit of my_code")])
def test_a_line_above_the_first_section_is_the_title(tmp_path, text, title):
    assert read(tmp_path, text).title == title
