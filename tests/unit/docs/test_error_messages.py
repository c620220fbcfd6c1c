"""Every error that a user can meet names the fix, and docs/errors.md lists them all."""

import re

from ... import error_messages

FIX_OF_CLASS = {"LedgerDamagedError", "UnrestorableError"}
"""Their classes, or those who catch them, add the fix."""
ABOUT_A_STATEMENT = {"SqlError"}
"""They name the word of the statement that has to go."""
FIX = re.compile(r"[:;]|, or |^name |, but …$|\b(?:Repair|use|run|set) ")
"""What comes before a fix."""


def test_each_message_names_the_fix_and_the_page_has_every_error():
    errors = error_messages.errors()
    assert all(error.says for error in errors)
    assert [message for error in errors if error.name not in FIX_OF_CLASS | ABOUT_A_STATEMENT
            for message in error.messages if not FIX.search(message)] == []
    listed = set(re.findall(r"^## (.+)$", error_messages.PAGE.read_text("utf-8"), re.MULTILINE))
    assert listed == {error.name for error in errors}, "run `python -m tests.error_messages`"
