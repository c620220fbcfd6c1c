"""What tests of the web page share: where its views are, and what a person does in them."""

import re

import pytest
from playwright.sync_api import expect

from . import browsing, command_line

EXAMPLES = command_line.EXAMPLES
QUESTION = "On which river does Warsaw lie?"
VIEWS = {"ask": "#/ask?kb=english", "graph": "#/graph?kb=english",
         "tables": "#/table?kb=english", "table": "#/table?kb=english&table=documents&where=title+some",
         "groups": "#/table?kb=english&table=entities&by=type", "documents": "#/documents?kb=english",
         "schema": "#/schema?kb=english", "candidates": "#/schema?kb=english&tab=candidates",
         "history": "#/schema?kb=english&tab=history",
         "connect": "#/connect?kb=english", "api": "#/api?kb=english",
         "source": "#/documents?kb=english&doc=warsaw.md&start=64&end=115"}
COLUMNS = {f"{name.lower()}.md": f"# {name}\n\n{name} is a chemist.\n\n| Person | Hobby | Half life | Teacher |\n"
                                  f"|---|---|---|---|\n| {name} | N-{name} | {5 + number} | T-{name} |\n"
           for number, name in enumerate(("Zoe Alder", "Max Bauer"))}
"""Documents with columns that no schema has, as files of an upload: what the rules propose."""
TABLES = [{"name": name, "mimeType": "text/markdown", "buffer": text.encode()} for name, text in COLUMNS.items()]
needs_chromium = pytest.mark.skipif(not browsing.CHROMIUM.exists(),
                                   reason=f"there is no Chromium at {browsing.CHROMIUM}")


def upload(page, files, dropped=0):
    page.locator("#upload-files").set_input_files(files)
    page.get_by_role("button", name=re.compile(f"Add {len(files) + dropped} files? and build")).click()


def drop(page, file):
    data = page.evaluate_handle("""([name, text]) => {
        const data = new DataTransfer();
        data.items.add(new File([text], name));
        return data;
    }""", [file.name, file.read_text("utf-8")])
    page.dispatch_event(".dropzone", "drop", {"dataTransfer": data})
    expect(page.locator(".files")).to_contain_text(file.name)


def ask(page, question=QUESTION):
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    page.wait_for_selector(".turn[aria-busy=false] .answer")


def until(page, expression):
    """Wait until an expression of JavaScript is true: the page's policy lets no script wait for it there."""
    for _ in range(browsing.WAIT // 50):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{expression} has not become true")


def reach(page, name, key="Tab", most=50):
    for _ in range(most):
        if focused(page) == name:
            return
        page.keyboard.press(key)
    raise AssertionError(f"{name!r} is not reached with {most} times {key}")


def focused(page):
    return page.evaluate("""() => {
        const one = document.activeElement;
        return one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ?? one.textContent;
    }""")
