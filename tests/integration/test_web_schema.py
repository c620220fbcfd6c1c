"""The web page in a real browser: a person decides on the schema."""

import json

import pytest

from .. import browsing, web
from ..browsing import expect

pytestmark = [pytest.mark.integration, web.needs_chromium]


def test_a_build_waits_for_a_person_who_decides_on_the_schema(web_browser, web_server):
    with browsing.opened(web_browser, web_server, "#/documents?kb=reviewed") as page:
        page.get_by_label("Ask me before the schema grows").check()
        web.upload(page, web.TABLES)
        expect(page.locator(".build .state")).to_have_text("waiting for your decisions")
        browsing.shoot(page, "build-waits")
        page.get_by_role("link", name="Decide now").click()
        taught = page.locator(".candidate", has=page.get_by_role("heading", name="teacher", exact=True))
        expect(taught).to_contain_text("T-Zoe Alder")
        taught.get_by_text("Accept", exact=True).click()
        returned = page.locator(".candidate", has=page.get_by_role("heading", name="hobby", exact=True))
        returned.get_by_text("Rename", exact=True).click()
        returned.get_by_label("New name").fill("called")
        half_life = page.locator(".candidate", has=page.get_by_role("heading", name="half life", exact=True))
        half_life.get_by_text("Reject", exact=True).click()
        page.get_by_label("Decided by").fill("Mira")
        browsing.shoot(page, "review")
        page.get_by_role("button", name="Apply 3 decisions").click()
        expect(page.locator(".build .state")).to_have_text("done")
        page.get_by_role("link", name="Schema", exact=True).click()
        expect(page.get_by_text("general, version 2")).to_be_visible()
        expect(page.get_by_role("rowheader", name="teacher")).to_be_visible()
        expect(page.get_by_role("rowheader", name="called")).to_be_visible()
        page.get_by_role("link", name="History").click()
        expect(page.locator(".history")).to_contain_text("Mira")
        expect(page.locator(".history")).to_contain_text("half life")
        browsing.shoot(page, "history")


@pytest.mark.slow
def test_an_element_of_the_schema_is_renamed(web_browser, web_server, uploaded):
    with browsing.opened(web_browser, web_server, f"#/schema?kb={uploaded}") as page:
        page.get_by_role("button", name="Change died_in").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("New name").fill("place_of_death")
        dialog.get_by_label("Decided by").fill("Mira")
        browsing.shoot(page, "rename-relation")
        dialog.get_by_role("button", name="Change", exact=True).click()
        expect(page.get_by_role("rowheader", name="place of death")).to_be_visible()


@pytest.mark.slow
def test_a_knowledge_base_begins_with_a_schema_of_ones_own_and_its_settings_are_changed(web_browser, web_server):
    own = {"name": "cities", "entity_types": [{"name": "City"}, {"name": "River"}],
           "relation_types": [{"name": "lies_on", "domain": ["City"], "range": ["River"]}]}
    with browsing.opened(web_browser, web_server, "#/documents?kb=cities") as page:
        page.get_by_label("Initial schema").select_option("your own file…")
        page.get_by_label("Schema file (JSON)").set_input_files(
            {"name": "cities.json", "mimeType": "application/json", "buffer": json.dumps(own).encode()})
        web.upload(page, [{"name": "ulm.md", "mimeType": "text/markdown", "buffer": b"Ulm lies on the Danube."}])
        expect(page.locator(".build .state")).to_have_text("done")
        page.get_by_text("Settings", exact=True).click()
        page.get_by_label("Schema growth", exact=True).select_option("none")
        browsing.shoot(page, "settings")
        page.get_by_role("button", name="Save settings").click()
        expect(page.locator("form.settings")).to_contain_text("Settings saved")
        page.reload()
        page.get_by_text("More options").click()
        expect(page.get_by_label("Let the schema grow with the documents")).not_to_be_checked()
        page.get_by_role("link", name="Schema", exact=True).click()
        expect(page.get_by_text("cities, version 1")).to_be_visible()
