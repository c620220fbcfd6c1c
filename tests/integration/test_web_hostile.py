"""The web page over documents that try to run code, load from other hosts, or show other words than they have."""

import re

import pytest
from fpdf import FPDF
from pypdf import PdfWriter
from pypdf.actions import JavaScript
from pypdf.generic import RectangleObject

from .. import browsing, command_line, web
from ..browsing import expect

pytestmark = [pytest.mark.integration, web.needs_chromium]

REVERSED, ISOLATED, TAGGED = "\u202e", "\u2066", "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
DOCUMENTS = {
    "links.md": """# Links of Zofia Nowak

Zofia Nowak was born in [Radom](javascript:document.title='owned'). ![pixel](http://collector.invalid/p.png?q=1)
She lives at <http://collector.invalid/auto>, https://collector.invalid/bare, and [there][ref].

Zofia Nowak works for <a href="javascript:document.title='owned'">Vistula Labs</a>.
<iframe src="http://collector.invalid/f"></iframe><svg onload="document.title='owned'"></svg>
<style>@import url(http://collector.invalid/c.css); body { display: none }</style>
<meta http-equiv=refresh content="0;url=http://collector.invalid/">

| Product | Price of the product |
|---|---|
| <img src=http://collector.invalid/i.png onerror="document.title='owned'"> Alpha | [12](javascript:alert(1)) EUR |
| Beta \\| Gamma | `<b>13</b>` EUR |

[ref]: http://collector.invalid/ref "t"
""",
    "order.txt": f"""🧪 The code of Mara {REVERSED}lliuQ is here. Mara Quill was born in Lindow\x1b[31m in 1950.

Mara Quill works for {ISOLATED}Lindow Works Ltd. The amount due to Lindow Works Ltd is {REVERSED}00001 EUR.{TAGGED}
""",
    "markup[bold]<b>x.md": f"""# <script>document.title='owned'</script> {REVERSED}Title

Ivo Brand was born in Graz.
""",
    "page.html": """<html><head><title><b>Page</b> of Olaf Pell</title><base href=http://collector.invalid/>
<script>document.title='owned'</script></head><body onload="document.title='owned'">
<p>Olaf Pell was born in Malmo in 1950.</p><img src=http://collector.invalid/x.png>
<form action=http://collector.invalid><input name=a></form></body></html>""",
}
ACTING = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
ACTIVE = "iframe, object, embed, base, form[action], body style, meta[http-equiv], img:not(.brand img)"
FOREIGN = """() => [...document.querySelectorAll("a[href]")].map((one) => one.href).filter(
    (address) => new URL(address).host !== location.host)"""


@pytest.fixture(scope="module")
def hostile(web_folder, web_server, tmp_path_factory):
    """A knowledge base of the documents above and of a PDF file with code, links, and a page of 140 metres."""
    folder = tmp_path_factory.mktemp("hostile")
    for name, text in DOCUMENTS.items():
        folder.joinpath(name.replace("<", "‹")).write_text(text, "utf-8")
    printed = FPDF()
    printed.set_font("helvetica", size=12)
    printed.add_page()
    printed.cell(0, 10, "Dora Fink was born in Basel.", link="http://collector.invalid/pdf")
    printed.add_page()
    printed.cell(0, 10, "Dora Fink moved to Berne.", link="javascript:app.alert(1)")
    printed.output(str(folder / "work.pdf"))
    acting = PdfWriter(clone_from=folder / "work.pdf")
    acting.open_action = JavaScript("app.launchURL('http://collector.invalid/js'); app.alert(1)")
    acting.pages[1].mediabox = RectangleObject((0, 0, 400_000, 400_000))
    acting.write(folder / "work.pdf")
    report = command_line.CommandLine(web_folder)("build", folder, "--kb", "hostile", "--json").json
    assert report["files_failed"] == []
    return "hostile"


def check(page):
    assert not ACTING.search(page.locator("body").inner_text())
    assert (page.locator(ACTIVE).count(), page.locator("script").count()) == (0, 1)
    assert page.evaluate(FOREIGN) == []
    assert "owned" not in page.title()


def test_no_view_runs_loads_or_reorders_what_documents_say(web_browser, web_server, hostile):
    with browsing.opened(web_browser, web_server, f"#/documents?kb={hostile}") as page:
        rows = page.locator("tbody tr")
        expect(rows).to_have_count(len(DOCUMENTS) + 1)
        check(page)
        for number in range(len(DOCUMENTS) + 1):
            rows.nth(number).get_by_role("link").first.click()
            expect(page.locator("dialog .text").first).to_be_visible()
            check(page)
            page.keyboard.press("Escape")
        for view, there in (("graph?", ".map canvas"), ("table?", "h1"), ("table?table=documents&", ".sql-table"),
                            ("table?table=documents&by=title&", ".chart"), ("schema?", "h1"), ("ask?", "h1")):
            browsing.visit(page, web_server, f"#/{view}kb={hostile}")
            page.wait_for_selector(there)
            check(page)
        for question in ("Where was Mara Quill born?", "What is the amount due to Lindow Works Ltd?",
                         "Where was Ivo Brand born?", "What is the price of Alpha?"):
            browsing.visit(page, web_server, f"#/ask?kb={hostile}")
            web.ask(page, question)
            check(page)


def test_what_reorders_text_is_shown_by_its_number(web_browser, web_server, hostile):
    """Offsets count characters: a letter beyond the 16-bit plane before the words does not move the mark."""
    with browsing.opened(web_browser, web_server, f"#/documents?kb={hostile}&doc=order.txt&start=2&end=28") as page:
        expect(page.locator("dialog mark")).to_have_text("The code of Mara ‹U+202E›lliuQ is")


def test_a_pdf_pages_code_and_size_do_nothing(web_browser, web_server, hostile):
    with browsing.opened(web_browser, web_server, f"#/documents?kb={hostile}&doc=work.pdf") as page:
        dialog = page.get_by_role("dialog")
        expect(page.get_by_role("img", name="Page 1 of work.pdf as it is printed")).to_be_visible()
        dialog.get_by_role("button", name="Next").click()
        picture = page.get_by_role("img", name="Page 2 of work.pdf as it is printed")
        expect(picture).to_be_visible()
        assert picture.evaluate("(one) => Math.max(one.width, one.height)") <= 2_000
        check(page)
