"""XML by its text, without its markup and without what it names elsewhere; records without a text as rows."""

import json

import pytest

from ...loading import failure, only, write

pytestmark = pytest.mark.usefixtures("shared_reading")


def test_a_document_has_headings_paragraphs_lists_and_code(tmp_path):
    document = only(write(tmp_path / "a.xml", (
        '<?xml version="1.0"?><!DOCTYPE book SYSTEM "x.dtd" [<!ENTITY who "Ida Lang">]><!-- hidden -->'
        '<book xmlns="urn:d" version="5"><info><title>The Alder site</title><year>2011</year></info>'
        '<chapter id="c1"><title>Bells &mdash; all</title><para>They <b class="x">ring</b>\n twice &amp; stop.</para>'
        "<section><title>Doors</title><list><listitem><para>red</para></listitem><listitem>by &who;</listitem></list>"
        "<programlisting>open\n  shut</programlisting></section></chapter></book>")))
    assert document.title == "The Alder site"
    assert document.text == (
        "# The Alder site\n\nyear: 2011\n\n# Bells — all\n\nThey ring twice & stop.\n\n## Doors\n\n"
        "red\n\nby Ida Lang\n\nprogramlisting: open shut")


def test_other_elements_are_lines(tmp_path):
    document = only(write(tmp_path / "stock.xml", (
        "<stock><site id='1'><place>Alder</place><tag>bells</tag><tag>doors</tag><head><name>Ida</name></head></site>"
        "<server host='a' port='80'/><open unit='h' from='9'>8</open></stock>")))
    assert document.title == "stock"
    assert document.text == ("place: Alder\ntag: bells\ntag: doors\nname: Ida\nserver: host a, port 80\n"
                             "open: 8, unit h, from 9")


def test_a_feed_has_its_title_and_no_html(tmp_path):
    long = "<description>&lt;p&gt;It rings.&lt;/p&gt;&lt;p&gt;2 &amp;lt; 3&lt;/p&gt;</description>"
    document = only(write(tmp_path / "feed.xml", (
        "<rss version='2.0'><channel><link>https://alder.example</link><title>News of Alder</title>"
        f"<item><title>Bells</title>{long}</item><item><title>Doors</title><description><![CDATA[<b>Shut</b>.]]>"
        "</description></item></channel></rss>")))
    assert document.title == "News of Alder"
    assert document.text == ("# News of Alder\n\nlink: https://alder.example\n\n## Bells\n\nIt rings.\n\n2 < 3\n\n"
                             "## Doors\n\nShut.")


@pytest.mark.parametrize(("steps", "times"), [(8, 20), (1, 400_000)])
def test_entities_do_not_multiply(tmp_path, steps, times):
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * times}">' for n in range(1, steps + 1))
    text = f'<!DOCTYPE a [<!ENTITY a0 "{"ha" * 500}">{entities}]><a>&a{steps};</a>'
    assert "amplification factor" in failure(write(tmp_path / "b.xml", text))


def test_deep_nesting_is_refused(tmp_path):
    assert "RecursionError" in failure(write(tmp_path / "a.xml", "<a>" * 30_000 + "x" + "</a>" * 30_000))


STAFF = [{"name": "Ida Lang", "site": {"city": "Alder", "floor": 2}, "tags": ["bells", "doors"], "active": True},
         {"name": "Eva Roth", "site": {"city": "Birch"}, "left": None, "since": "2014"}]
ROWS = ("| Name: Ida Lang | Site city: Alder | Site floor: 2 | Tags: bells; doors | Active: true |\n"
        "| Name: Eva Roth | Site city: Birch | Since: 2014 |")


@pytest.mark.parametrize("name", ["staff.ndjson", "staff.jsonl", "staff.json"])
def test_a_list_of_records_is_a_table(tmp_path, name):
    content = json.dumps(STAFF) if name.endswith(".json") else "\n".join(map(json.dumps, STAFF))
    document = only(write(tmp_path / name, content))
    assert (document.id, document.title) == (name, "staff")
    assert document.text.lower() == ROWS.lower()


def test_an_object_is_a_row_and_its_lists_of_objects_are_tables(tmp_path):
    document = only(write(tmp_path / "site.json", json.dumps(
        {"name": "Alder", "doors": 4, "rooms": [{"room": "Hall", "size": 30}, {"room": "Loft", "size": 9}]})))
    assert document.text == ("| name: Alder | doors: 4 |\n\n## rooms\n\n"
                             "| room: Hall | size: 30 |\n| room: Loft | size: 9 |")
