"""The web page in a real browser: documents, what persons change of their graph, and documents that are hostile."""

import re
import zipfile

import pytest
from fpdf import FPDF
from pypdf import PdfWriter
from pypdf.actions import JavaScript
from pypdf.generic import RectangleObject

from .. import browsing, command_line, serving, web
from ..browsing import expect

pytestmark = [pytest.mark.integration, web.needs_chromium]


@pytest.fixture(scope="module")
def uploaded(web_browser, web_server, tmp_path_factory):
    dropped = tmp_path_factory.mktemp("documents") / "radom.txt"
    dropped.write_text("Zofia Nowak is a chemist. Zofia Nowak was born in Radom, a city in Poland.\n", "utf-8")
    serving.print_work(dropped.with_name("harbours.pdf"), "A report on harbours.", "Zora Lind was born in Turku.")
    with browsing.opened(web_browser, web_server) as page:
        page.get_by_label("Knowledge base").select_option("New knowledge base…")
        page.get_by_role("dialog").get_by_label("Name").fill("uploaded")
        page.keyboard.press("Enter")
        web.drop(page, dropped)
        web.upload(page, [web.EXAMPLES / "en" / "marie-curie.md", web.EXAMPLES / "zh" / "tu-youyou.md",
                          dropped.with_name("harbours.pdf")], dropped=1)
        browsing.expect(page.locator(".build .state").first).to_have_text("done")
        browsing.expect(page.locator(".build .figures").first).to_contain_text("documents4")
    return "uploaded"


def test_a_citation_of_a_printed_work_opens_it_at_its_page(web_browser, web_server, uploaded):
    with browsing.opened(web_browser, web_server, f"#/ask?kb={uploaded}") as page:
        web.ask(page, "Where was Zora Lind born?")
        expect(page.locator(".quotes")).to_contain_text("harbours.pdf, page 2")
        page.locator(".answer .quotes a").first.click()
        expect(page.locator("dialog mark")).to_have_text("Zora Lind was born in Turku.")
        expect(page.get_by_role("dialog")).to_contain_text("page 2 of 2")
        # The page as it is printed, beside its text.
        picture = page.get_by_role("img", name="Page 2 of harbours.pdf as it is printed")
        expect(picture).to_be_visible()
        text = page.locator(".source-text").bounding_box()
        assert picture.bounding_box()["x"] > text["x"] + text["width"]
        dark = """(one) => new Uint32Array(one.getContext("2d").getImageData(0, 0, one.width, one.height).data.buffer)
            .filter((pixel) => (pixel & 0xff) < 100).length"""
        assert picture.evaluate(dark) > 100
        assert not browsing.violations(page)
        page.get_by_role("dialog").get_by_role("button", name="Previous").click()
        expect(page.get_by_role("img", name="Page 1 of harbours.pdf as it is printed")).to_be_visible()


def test_uploaded_documents_are_listed_found_opened_and_deleted(web_browser, web_server, web_folder, uploaded):
    copies = web_folder / "home" / uploaded / "printed"
    assert len(list(copies.iterdir())) == 1
    with browsing.opened(web_browser, web_server, f"#/documents?kb={uploaded}") as page:
        rows = page.locator("tbody tr")
        expect(rows).to_have_count(4)
        page.get_by_label("Filter").fill("harbours")
        expect(rows).to_have_count(1)
        page.locator("tbody a").click()
        expect(page.locator("dialog .text")).to_contain_text("A report on harbours")
        page.keyboard.press("Escape")
        page.get_by_role("button", name=re.compile("^Delete ")).click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.locator("#status")).to_contain_text("has been deleted")
        assert not list(copies.iterdir()), "the copy of a PDF file goes with its document"
        page.get_by_label("Filter").fill("")
        expect(rows).to_have_count(3)


def test_each_file_says_whether_it_was_read_and_why_not_without_a_path_of_the_server(web_browser, web_server, tmp_path):
    broken, good = tmp_path / "broken.pdf", tmp_path / "good.md"
    broken.write_bytes(b"%PDF-1.7 not really")
    good.write_text("# Radom\n\nRadom is a city in Poland.\n", "utf-8")
    with browsing.opened(web_browser, web_server, "#/documents?kb=partly") as page:
        expect(page.get_by_text("Files that can be read")).to_contain_text("pdf")
        web.upload(page, [broken, good])
        expect(page.locator(".build .state")).to_have_text("done")
        files = page.locator(".build-files > li")
        expect(files.nth(0)).to_contain_text("broken.pdf could not be read:")
        expect(files.nth(1)).to_contain_text("good.md done")
        told = page.locator(".build").inner_text()
        assert ".uploads" not in told, told
        assert "BANYAN_HOME" not in told, told


@pytest.mark.slow
def test_a_knowledge_base_is_exported_backed_up_renamed_and_deleted(web_browser, web_server, tmp_path):
    file = tmp_path / "radom.md"
    file.write_text("# Radom\n\nRadom is a city in Poland. Zofia Nowak was born in Radom.\n", "utf-8")
    with browsing.opened(web_browser, web_server, "#/documents?kb=short-lived") as page:
        web.upload(page, [file])
        expect(page.locator("tbody tr")).to_have_count(1)
        with page.expect_download() as exported:
            page.get_by_role("button", name="Export").click()
        assert exported.value.suggested_filename == "short-lived.json"
        assert "Zofia Nowak" in exported.value.path().read_text("utf-8")
        with page.expect_download() as backup:
            page.get_by_role("button", name="Back up").click()
        with zipfile.ZipFile(backup.value.path()) as archive:
            assert {"ledger.sqlite", "manifest.json"} == set(archive.namelist())
        page.get_by_role("link", name="Ask", exact=True).click()
        web.ask(page, "Where was Zofia Nowak born?")
        page.get_by_role("link", name="Documents", exact=True).click()
        page.get_by_role("button", name="Rename").click()
        name = page.get_by_role("dialog").get_by_label("Name")
        name.fill("no name!")
        expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text("Use letters")
        name.fill("renamed")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("kb=renamed"))
        expect(page.locator("tbody tr")).to_have_count(1)
        page.get_by_role("link", name="Ask", exact=True).click()
        expect(page.locator(".talks-list a")).to_contain_text("Where was Zofia Nowak born?")
        page.get_by_role("link", name="Documents", exact=True).click()
        page.get_by_role("button", name="Delete", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.locator("#status")).to_have_text("\u201crenamed\u201d has been deleted.")
        expect(page.locator("#base option[value=renamed]")).to_have_count(0)


def test_the_interface_speaks_chinese(web_browser, web_server, uploaded):
    with browsing.opened(web_browser, web_server, f"#/ask?kb={uploaded}", locale="zh-CN", color_scheme="dark") as page:
        expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
        page.get_by_label("您的问题").fill("屠呦呦出生在哪个城市？")
        page.get_by_role("button", name="提问", exact=True).click()
        expect(page.locator(".answer")).to_contain_text("宁波")
        page.get_by_text("检索过程").click()
        expect(page.locator(".trace")).to_contain_text("初步查找")
        page.get_by_role("link", name="模式", exact=True).click()
        expect(page.get_by_role("rowheader", name="出生于")).to_be_visible()
        expect(page.get_by_role("row", name="出生于")).to_contain_text("出生地")
        latin = page.locator("header nav").inner_text()
        assert not re.search("[A-Za-z]", latin), latin


def find(page, name):
    page.get_by_role("combobox", name="Find an entity").first.fill(name)
    page.get_by_role("option", name=name).first.click()
    panel = page.locator(".panel")
    expect(panel.locator(".entity h2")).to_have_text(name)
    return panel


def decide(page, verb):
    page.get_by_label("Decided by").fill("Mira")
    page.get_by_role("dialog").get_by_role("button", name=verb, exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def take_back(page):
    """Take back the latest decision, from the list of them, and wait until the graph is loaded again."""
    status = page.locator("#status")
    status.evaluate("status => { status.textContent = '' }")
    page.get_by_role("button", name="Communities", exact=True).click()
    panel = page.locator(".panel")
    panel.get_by_text("Manual changes of the graph").click()
    panel.get_by_role("button", name="Undo").first.click()
    decide(page, "Undo")
    expect(status).to_contain_text("undone by")


def test_an_entity_is_renamed_and_it_is_taken_back(web_browser, web_server, uploaded):
    with browsing.opened(web_browser, web_server, f"#/graph?kb={uploaded}") as page:
        panel = find(page, "Zofia Nowak")
        panel.get_by_text("Change this entity").click()
        panel.get_by_role("button", name="Rename…").click()
        page.get_by_label("New name").fill("Zofia Nowak-Kern")
        decide(page, "Rename")
        expect(panel.locator(".entity h2")).to_have_text("Zofia Nowak-Kern")
        expect(panel).to_contain_text("Also called Zofia Nowak")
        take_back(page)
        expect(find(page, "Zofia Nowak").locator(".eyebrow")).to_have_text("Person")


@pytest.mark.slow
def test_a_fact_is_corrected_and_rejected_and_it_is_taken_back(web_browser, web_server, uploaded):
    with browsing.opened(web_browser, web_server, f"#/graph?kb={uploaded}") as page:
        panel = find(page, "Marie Curie")
        panel.get_by_role("button", name="Not right? Marie Curie born in Warsaw").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Replace it by another fact").check()
        dialog.get_by_role("button", name="Object: Warsaw").click()
        page.get_by_role("dialog").last.get_by_role("combobox", name="Find an entity").fill("paris")
        page.get_by_role("option", name="Paris").first.click()
        decide(page, "Save")
        expect(panel.locator(".fact", has_text="born in Paris")).to_have_count(1)
        expect(panel.locator(".fact-list .quote", has_text="Warsaw").first).to_be_visible()
        panel.get_by_role("button", name="Not right? Marie Curie born in Paris").click()
        decide(page, "Save")
        expect(panel.locator(".fact", has_text="born in")).to_have_count(0)
        take_back(page)
        take_back(page)
        expect(find(page, "Marie Curie").locator(".fact", has_text="born in Warsaw")).to_have_count(1)


@pytest.mark.slow
def test_two_entities_are_merged_by_a_person_and_the_decision_is_undone(web_browser, web_server, uploaded):
    with browsing.opened(web_browser, web_server, f"#/graph?kb={uploaded}") as page:
        panel = find(page, "Radom")
        panel.get_by_text("Change this entity").click()
        expect(panel).to_contain_text("No other entity was merged into it.")
        panel.get_by_role("button", name="Merge with…").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("combobox", name="Find an entity").fill("radom")
        expect(dialog.get_by_role("option")).to_have_text("No other entity with that name")
        dialog.get_by_role("combobox", name="Find an entity").fill("poland")
        page.get_by_role("option", name="Poland").first.click()
        page.get_by_label("Decided by").fill("Mira")
        page.get_by_label("Why").fill("for the test")
        page.get_by_role("button", name="Merge", exact=True).click()
        expect(panel).to_contain_text("Also called")
        page.get_by_role("button", name="Communities", exact=True).click()
        panel.get_by_text("Manual changes of the graph").click()
        expect(panel.locator(".decisions")).to_contain_text("Mira")
        expect(panel.locator(".decisions")).to_contain_text("for the test")
        panel.get_by_role("button", name="Undo").click()
        page.get_by_role("button", name="Split", exact=True).click()
        expect(panel.locator(".entity h2")).to_be_visible()
        expect(panel.locator(".entity")).not_to_contain_text("Also called")


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
        for question in ("What is the amount due to Lindow Works Ltd?", "What is the price of Alpha?"):
            browsing.visit(page, web_server, f"#/ask?kb={hostile}")
            web.ask(page, question)
            check(page)
        # Offsets count characters: a letter beyond the 16-bit plane before the words does not move the mark.
        browsing.visit(page, web_server, f"#/documents?kb={hostile}&doc=order.txt&start=2&end=28")
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
