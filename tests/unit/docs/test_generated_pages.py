"""Pages that say what the code says: the threat model's limits, the errors, the drawings of the graphs."""

import re
from pkgutil import resolve_name

from banyan.config import Settings

from ... import error_messages, generated_pages

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


def test_generated_pages_say_what_the_code_says():
    pages = generated_pages.files()
    errors = error_messages.errors()
    assert all(error.says for error in errors)
    # Of errors the classes: messages may change with each of them.
    listed = set(re.findall(r"^## (.+)$", error_messages.PAGE.read_text("utf-8"), re.MULTILINE))
    assert listed == {error.name for error in errors}, "run `python -m tests.generated_pages`"
    for file in pages.keys() - {error_messages.PAGE}:
        assert file.read_text("utf-8") == pages[file], "run `python -m tests.generated_pages`"
