"""OpenDocument texts and presentations."""

import io
import zipfile

import pytest

from ...loading import only, write

pytestmark = pytest.mark.usefixtures("shared_reading")

NAMES = " ".join(f'xmlns:{name}="urn:{name}"' for name in (
    "office", "text", "table", "draw", "presentation", "dc", "meta", "style"))


def packed(body, meta="", manifest="", styles=""):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("content.xml", f"<office:document-content {NAMES}><office:body>{body}</office:body>"
                         "</office:document-content>")
        archive.writestr("styles.xml", f"<office:document-styles {NAMES}>{styles}</office:document-styles>")
        archive.writestr("meta.xml", f"<office:document-meta {NAMES}><office:meta>{meta}</office:meta>"
                         "</office:document-meta>")
        archive.writestr("META-INF/manifest.xml", manifest)
    return file.getvalue()


def test_a_text_has_its_headings_lists_tables_and_notes(tmp_path):
    row = "<table:table-row>{}</table:table-row>".format
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>".format
    path = write(tmp_path / "a.odt", packed(
        "<office:text><text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        '<text:h text:outline-level="1">Alder <text:span>site</text:span></text:h>'
        "<text:p>It opened<text:s/>in 2011<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>On 1 May.</text:p></text:note-body></text:note>.<office:annotation><text:p>Sure?</text:p>"
        '</office:annotation></text:p><text:h text:outline-level="2">Staff</text:h>'
        "<text:list><text:list-item><text:p>bells</text:p><text:list><text:list-item><text:p>big</text:p></text:list-item>"
        "</text:list></text:list-item></text:list>"
        f"<table:table>{row(cell('', 'Name') + cell('', 'Role') + cell('', 'Year'))}"
        f"{row(cell('', 'Ida Lang') + cell(' table:number-columns-spanned=' + chr(34) + '2' + chr(34), 'none'))}"
        "</table:table></office:text>",
        "<dc:title>The Alder site</dc:title><meta:initial-creator>Eva Roth</meta:initial-creator>"
        "<dc:date>2024-05-02T10:00:00</dc:date>"))
    document = only(path)
    assert document.title == "The Alder site"
    assert document.metadata == {"author": "Eva Roth", "date": "2024-05-02", "not read": "1 comment"}
    assert document.text.endswith("# Alder site\n\nIt opened in 2011 [On 1 May.].\n\n## Staff\n\n- bells\n  - big\n\n"
                                  "| Name: Ida Lang | Role: none | Year: none |")


def test_slides_are_sections_under_their_titles(tmp_path):
    box = "<draw:frame{}><draw:text-box>{}</draw:text-box></draw:frame>".format
    title, words = box(' presentation:class="title"', "<text:p>Bells</text:p>"), box("", "<text:p>They ring.</text:p>")
    notes = f"<presentation:notes>{box('', '<text:p>Smile.</text:p>')}</presentation:notes>"
    path = write(tmp_path / "a.odp", packed(f"<office:presentation><draw:page>{words}{title}{notes}</draw:page>"
                                            f'<draw:page draw:name="page2">{words}</draw:page></office:presentation>'))
    document = only(path)
    assert document.title == "Bells"
    assert document.text == "# Bells\n\nThey ring.\n\nSmile.\n\n# page2\n\nThey ring."
