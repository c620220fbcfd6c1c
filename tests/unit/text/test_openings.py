"""The sentence that opens a list, found from any of its items."""

import pytest
from banyan.text.openings import opening_of

BORN = "Born in Ulm:"


@pytest.mark.parametrize(("before", "opening"), [
    (f"{BORN}\n- Ada\n- Bo\n", BORN), ("These were born in Ulm\n- Ada\n", "These were born in Ulm"),
    (f"{BORN}\n1. Ada\n2) Bo\n(3) Dan\n", BORN), (f"First list:\n- Eva\n\n{BORN}\n- Ada\n", BORN),
    ("当选：\n\n一、甲\n", "当选："), ("# Born in Ulm\n- Ada\n", ""),
    (f"{BORN}\n- Ada\n\nIn other news:\nall is well.\n", "all is well."), ("word " * 100 + "born in Ulm:\n", "")])
def test_an_items_list_is_opened_by_the_last_sentence_before_it(before, opening):
    for item in ("- Cy Dahl", "3. Cy Dahl", "3、戴西", "  - Cy Dahl"):
        assert opening_of(f"{before}{item}\n- more", len(before) + item.index(item.strip())) == opening


def test_a_long_list_is_looked_back_over_to_its_beginning():
    text = f"{BORN}\n" + "- somebody\n" * 1000
    assert opening_of(text, len(text) - len("- somebody\n")) == BORN
    assert opening_of("\n" + text, 1 + len(BORN) + 1) == BORN
