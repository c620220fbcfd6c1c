"""Pages that say what the code says: the threat model's limits, the errors with fixes, the drawings of the graphs."""

import re
from pkgutil import resolve_name

from banyan.config import Settings

from ... import error_messages, graph_drawings

_ROW = re.compile(r"^\| [^|]+ \| (?P<most>[\d,]+) \| `(?P<place>[\w.]+)` \|$", re.MULTILINE)


def _value_of(place: str) -> float:
    if place.startswith("BANYAN_"):
        return Settings.model_fields[place.removeprefix("BANYAN_").lower()].default
    return resolve_name(f"banyan.{place}")


def test_the_listed_limits_are_those_of_the_code():
    _, _, limits = (error_messages.ROOT / "THREAT_MODEL.md").read_text("utf-8").partition("\n## 5. Limits\n")
    rows = [(row["place"], int(row["most"].replace(",", ""))) for row in _ROW.finditer(limits)]
    assert len(rows) == limits.count("\n| ") - 1, "each row but the head names a number and where it stands"
    assert rows == [(place, _value_of(place)) for place, _ in rows]


FIX_OF_CLASS = {"LedgerDamagedError"}
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


def test_the_drawings_are_those_of_the_graphs():
    for file, text in graph_drawings.files().items():
        assert file.read_text("utf-8") == text, "run `python -m tests.graph_drawings`"
