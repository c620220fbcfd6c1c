"""The web page in a real browser: documents are uploaded, listed, opened and deleted."""

import re
import zipfile

import pytest

from .. import browsing, web
from ..browsing import expect

pytestmark = [pytest.mark.integration, web.needs_chromium]


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
        browsing.shoot(page, "printed")


def test_uploaded_documents_are_listed_found_opened_and_deleted(web_browser, web_server, web_folder, uploaded):
    copies = web_folder / "home" / uploaded / "printed"
    assert len(list(copies.iterdir())) == 1
    with browsing.opened(web_browser, web_server, f"#/documents?kb={uploaded}") as page:
        rows = page.locator("tbody tr")
        expect(rows).to_have_count(4)
        browsing.shoot(page, "documents")
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
        browsing.shoot(page, "files")
        browsing.visit(page, web_server, "#/documents?kb=unread")
        web.upload(page, [broken])
        expect(page.locator(".build .state")).to_have_text(re.compile("done|failed"))
        told = page.locator(".build").inner_text()
        assert "broken.pdf" in told
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
