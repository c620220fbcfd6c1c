"""Pages that say what the code says: the threat model's limits, the errors, the drawings of the graphs."""

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


def test_the_page_on_errors_has_every_class():
    errors = error_messages.errors()
    assert all(error.says for error in errors)
    listed = set(re.findall(r"^## (.+)$", error_messages.PAGE.read_text("utf-8"), re.MULTILINE))
    assert listed == {error.name for error in errors}, "run `python -m tests.error_messages`"


def test_the_drawings_are_those_of_the_graphs():
    for file, text in graph_drawings.files().items():
        assert file.read_text("utf-8") == text, "run `python -m tests.graph_drawings`"
