"""Web pages as browsers save them, without the site's menus; XML files, which read nothing from elsewhere."""

import docx
import pytest
from banyan.ingest.readers.web_pages import read_html
from pptx import Presentation

from ...loading import failure, load, only, write

pytestmark = pytest.mark.usefixtures("shared_reading")

WORDS = "<p>The park opened in 1898 beside the river, and has had eight roller coasters since the year 2019.</p>"
MENU = "<ul><li><a href='/'>Home</a></li><li><a href='/shop'>Shop</a></li></ul>"


def text_of(page: str) -> str:
    return read_html(page.encode()).text


@pytest.mark.parametrize("part", [
    f"<nav>{MENU}</nav>", f"<div role='navigation'>{MENU}</div>", "<form role='search'><label>Search</label></form>",
    "<span class='noprint'>Jump to content</span>", "<div class='hatnote'>For the sprinter, see Ann Lee.</div>",
    "<ul><li><a hreflang='de' href='/de'>Deutsch</a></li></ul>"])
def test_menus_and_links_to_other_languages_are_left_out(part):
    assert text_of(f"<body>{part}{WORDS}</body>") == text_of(f"<body>{WORDS}</body>")


def test_only_the_main_part_of_a_page_is_read_and_a_footer_with_an_address():
    footer = "<footer><p>All rights reserved</p></footer>"
    contact = "<footer><p>Mill Lane 4, <a href='tel:12345'>12345</a></p></footer>"
    page = f"<head><title>Park</title></head><body><div>Sign in</div><div><p>Ad</p><main>{WORDS}</main></div>%s</body>"
    assert text_of(page % footer) == text_of(WORDS)
    assert text_of(page % contact) == f"{text_of(WORDS)}\n\nMill Lane 4, 12345"


@pytest.mark.parametrize("page", [
    f"<body><nav>{MENU}{WORDS}", f"<body><main><p>Loading</p></main>{WORDS}",
    f"<body><main>a</main><main>b</main>{WORDS}"])
def test_parts_that_hold_the_words_of_a_page_stay_whatever_they_are_called(page):
    assert text_of(WORDS) in text_of(page)


def test_places_where_a_line_may_break_marks_of_footnotes_and_hidden_spans_are_no_text():
    assert text_of("<p>40\ufeff /&#8203; 80</p>") == "40 / 80"
    assert "| Name: Nora | Married: 1900 |" in text_of(
        "<h1>Nora</h1><table><tr><th>Married</th><td><div>&#8203;</div><div>1900</div></td></tr>"
        "<tr><th>Left</th><td>1912</td></tr></table>").replace(" | Left: 1912", "")
    assert text_of("<p>May 30, 1898<span style='display: none'> (1898-05-30)</span>"
                   "<sup><a href='#cite_note-1'>[1]</a></sup> at 5 m<sup>2</sup></p>") == "May 30, 1898 at 5 m2"


@pytest.mark.parametrize(("head", "title"), [
    ("<title>Duquesne Incline - Wikipedia</title><h1>Duquesne Incline</h1>", "Duquesne Incline"),
    ("<title>Duquesne Incline - Wikipedia</title>", "Duquesne Incline - Wikipedia"),
    ("<title>Day - Night</title><h1>Day</h1><h1>Night</h1>", "Day - Night")])
def test_a_title_has_no_name_of_a_site(head, title):
    assert read_html(head.encode()).title == title


PICTURE = "<tr><td colspan=2><img src=a.png><div>Location in Pittsburgh</div></td></tr>"
FIELDS = "<tr><th>Opened</th><td>1898</td></tr><tr><th>Owner</th><td>Herschend</td></tr>"


@pytest.mark.parametrize(("table", "name"), [
    (f"<caption>Kennywood</caption>{PICTURE}{FIELDS}", "Kennywood"),
    (f"<tr><th colspan=2>Kennywood</th></tr>{PICTURE}<tr><th colspan=2>History</th></tr>{FIELDS}", "Kennywood"),
    (f"{PICTURE}{FIELDS}", "Parks")])
def test_a_box_of_facts_is_named_by_its_caption_its_first_header_or_the_heading_above(table, name):
    assert f"| Name: {name} | Opened: 1898 | Owner: Herschend |" in text_of(f"<h2>Parks</h2><table>{table}</table>")


def test_slides_are_named_by_the_first_one_and_titles_of_templates_are_no_titles(tmp_path):
    slides = Presentation()
    slides.core_properties.title = "‹Insert your title>"
    slides.slides.add_slide(slides.slide_layouts[5]).shapes.title.text = "Plan of the pilot"
    slides.save(str(tmp_path / "a.pptx"))
    word = docx.Document()
    word.core_properties.title = "Request for Tender"
    word.add_paragraph("The meeting was held on 3 May.")
    word.save(str(tmp_path / "b.docx"))
    assert only(tmp_path / "a.pptx").title == "Plan of the pilot"
    assert only(tmp_path / "b.docx").title == "b"


def test_a_document_has_headings_paragraphs_lists_and_code(tmp_path):
    document = only(write(tmp_path / "a.xml", (
        '<?xml version="1.0"?><!DOCTYPE book SYSTEM "x.dtd" [<!ENTITY who "Ida Lang">]><!-- hidden -->'
        '<book xmlns="urn:d" version="5"><info><title>The Alder site</title><year>2011</year></info>'
        '<chapter id="c1"><title>Bells &mdash; all</title><para>They <b class="x">ring</b>\n twice &amp; stop.</para>'
        "<section><title>Doors</title><list><listitem><para>red</para></listitem><listitem>by &who;</listitem></list>"
        "<programlisting>open\n  shut</programlisting></section></chapter></book>")))
    assert document.title == "The Alder site"
    assert document.metadata == {"year": "2011"}
    assert document.text.partition("|\n\n")[2].strip() == (
        "# Bells — all\n\nThey ring twice & stop.\n\n## Doors\n\n"
        "red\n\nby Ida Lang\n\nprogramlisting: open shut")


def test_an_xml_document_has_fields_tables_and_sections(tmp_path):
    person = "<author><firstname>{}</firstname><surname>{}</surname><email>{}</email></author>"
    (document,), failures = load(write(tmp_path / "x-7.xml", (
        "<?xml version='1.0'?><!DOCTYPE x SYSTEM 'x.dtd' [<!ENTITY % all SYSTEM 'x.ent'> %all;"
        "<!ENTITY tower '<em>the tower</em>'>]><x><header><title>Bells"
        "</title>&LEGAL;<status>Draft</status><supersedes/><dependencies><spec>RFC 1</spec><spec>RFC 2</spec>"
        f"</dependencies>{person.format('Ida', 'Lang', 'i@a.example')}{person.format('Bo', 'Ek', 'b@a.example')}&eve;"
        "<revision><version>0.2</version><date>2031-02-01</date><remark><p>Of two:</p><ul><li>Emma</li><li>Ida</li>"
        "</ul></remark></revision><revision><version>0.1</version><date>2030-05-03</date><remark>New.</remark></revision>"
        "</header><section topic='Sound' anchor='s1'><p>They <b>ring</b> in &tower;."
        "</p><code>ring()</code><table/><table><tr><th>bell</th><th>tone</th></tr><tr><td>Emma</td><td>c</td></tr>"
        "</table></section></x>")))
    assert (failures, document.title, document.metadata) == ([], "Bells", {
        "status": "Draft", "dependencies": "RFC 1; RFC 2", "author": "Ida Lang; Bo Ek",
        "not read": "2 parts that are in other files"})
    authors, revisions, bells = document.tables
    assert authors.rows == (("Ida Lang", "i@a.example"), ("Bo Ek", "b@a.example"))
    assert (revisions.title, revisions.rows) == ("revision", (
        ("0.2", "2031-02-01", "Of two:; Emma; Ida"), ("0.1", "2030-05-03", "New.")))
    assert bells.rows == (("Emma", "c"),)
    text = document.text[document.text.index("# Sound"):]
    assert text.startswith("# Sound\n\nThey ring in the tower.\n\nring()\n\n"), "no anchor, and no field `code`"


@pytest.mark.parametrize(("content", "title", "text"), [
    (("<stock><site id='1'><place>Alder</place><tag>bells</tag><tag>doors</tag><head><name>Ida</name></head></site>"
     "<server host='a' port='80'/><open unit='h' from='9'>8</open></stock>"), "a",
     "place: Alder\ntag: bells\ntag: doors\nname: Ida\nserver: host a, port 80\nopen: 8, unit h, from 9"),
    (("<rss version='2.0'><channel><link>https://alder.example</link><title>News of Alder</title><item><title>Bells"
     "</title><description>&lt;p&gt;It rings.&lt;/p&gt;&lt;p&gt;2 &amp;lt; 3&lt;/p&gt;</description></item><item>"
     "<title>Doors</title><description><![CDATA[<b>Shut</b>.]]></description></item></channel></rss>"), "News of Alder",
     "# News of Alder\n\nlink: https://alder.example\n\n## Bells\n\nIt rings.\n\n2 < 3\n\n## Doors\n\nShut.")])
def test_other_elements_are_lines_and_feeds_have_no_html(tmp_path, content, title, text):
    document = only(write(tmp_path / "a.xml", content))
    assert (document.title, document.text) == (title, text)


@pytest.mark.parametrize(("steps", "times"), [(8, 20), (1, 400_000)])
def test_entities_do_not_multiply_and_deep_nesting_is_refused(tmp_path, steps, times):
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * times}">' for n in range(1, steps + 1))
    text = f'<!DOCTYPE a [<!ENTITY a0 "{"ha" * 500}">{entities}]><a>&a{steps};</a>'
    assert "amplification factor" in failure(write(tmp_path / "b.xml", text))
    assert "RecursionError" in failure(write(tmp_path / "a.xml", "<a>" * 30_000 + "x" + "</a>" * 30_000))
