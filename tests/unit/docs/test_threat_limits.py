"""The limits that THREAT_MODEL.md lists are those of the code."""

import re
from pkgutil import resolve_name

from banyan.config import Settings

from tests.error_messages import ROOT

_ROW = re.compile(r"^\| [^|]+ \| (?P<most>[\d,]+) \| `(?P<place>[\w.]+)` \|$", re.MULTILINE)


def _value_of(place: str) -> float:
    if place.startswith("BANYAN_"):
        return Settings.model_fields[place.removeprefix("BANYAN_").lower()].default
    return resolve_name(f"banyan.{place}")


def test_the_listed_limits_are_those_of_the_code():
    _, _, limits = (ROOT / "THREAT_MODEL.md").read_text("utf-8").partition("\n## 5. Limits\n")
    rows = [(row["place"], int(row["most"].replace(",", ""))) for row in _ROW.finditer(limits)]
    assert len(rows) == limits.count("\n| ") - 1, "each row but the head names a number and where it stands"
    assert rows == [(place, _value_of(place)) for place, _ in rows]
