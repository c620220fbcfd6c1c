"""The web page in a real browser: what persons change of the graph, and how they take it back."""

import pytest

from .. import browsing, web
from ..browsing import expect

pytestmark = [pytest.mark.integration, web.needs_chromium]


def find(page, name):
    """Look an entity up by its name; returns the panel that shows it."""
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


def test_an_entity_is_renamed_and_retyped_and_both_are_taken_back(web_browser, web_server, uploaded):
    with browsing.opened(web_browser, web_server, f"#/graph?kb={uploaded}") as page:
        panel = find(page, "Zofia Nowak")
        panel.get_by_text("Change this entity").click()
        panel.get_by_role("button", name="Rename…").click()
        page.get_by_label("New name").fill("Zofia Nowak-Kern")
        browsing.shoot(page, "rename")
        decide(page, "Rename")
        expect(panel.locator(".entity h2")).to_have_text("Zofia Nowak-Kern")
        expect(panel).to_contain_text("Also called Zofia Nowak")
        panel.get_by_text("Change this entity").click()
        panel.get_by_role("button", name="Change type…").click()
        page.get_by_label("Type", exact=True).select_option("Organization")
        decide(page, "Change type")
        expect(panel.locator(".eyebrow")).to_have_text("Organization")
        expect(panel.locator(".entity h2")).to_have_text("Zofia Nowak-Kern")
        take_back(page)
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
        browsing.shoot(page, "correct")
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
        page.get_by_role("combobox", name="Find an entity").fill("Radom")
        page.get_by_role("option", name="Radom").first.click()
        panel = page.locator(".panel")
        expect(panel.get_by_role("heading", name="Radom", exact=True)).to_be_visible()
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
        browsing.shoot(page, "merge")
        page.get_by_role("button", name="Merge", exact=True).click()
        expect(panel).to_contain_text("Also called")
        page.get_by_role("button", name="Communities", exact=True).click()
        panel.get_by_text("Manual changes of the graph").click()
        expect(panel.locator(".decisions")).to_contain_text("Mira")
        expect(panel.locator(".decisions")).to_contain_text("for the test")
        browsing.shoot(page, "decisions")
        panel.get_by_role("button", name="Undo").click()
        page.get_by_role("button", name="Split", exact=True).click()
        expect(panel.locator(".entity h2")).to_be_visible()
        expect(panel.locator(".entity")).not_to_contain_text("Also called")
