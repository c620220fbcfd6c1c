"""THREAT_MODEL.md says what the code does: each limit has the code's number, and what shows a promise is there."""

import importlib
import re
from operator import attrgetter
from pathlib import Path

import pytest
from banyan.config import Settings

ROOT = Path(__file__).resolve().parents[2]
MODEL = (ROOT / "THREAT_MODEL.md").read_text("utf-8")
LIMITS = re.findall(r"^\| [^|]+ \| ([\d,.]+) \| `([\w.]+)` \|$", MODEL, re.MULTILINE)
FILES = sorted(set(re.findall(r"`((?:benchmarks/)?[\w/]+\.py)`", MODEL)))


def test_there_are_limits_and_files():
    assert len(LIMITS) > 25
    assert len(FILES) > 40


@pytest.mark.parametrize(("number", "where"), LIMITS, ids=[where for _, where in LIMITS])
def test_a_limit_has_the_number_that_the_code_has(number, where):
    if where.startswith("BANYAN_"):
        value = Settings.model_fields[where.removeprefix("BANYAN_").lower()].default
    else:
        module, _, name = where.partition(".DEFAULT_LIMITS")
        module, name = (module, f"DEFAULT_LIMITS{name}") if name else module.rsplit(".", 1)
        value = attrgetter(name)(importlib.import_module(f"banyan.{module}"))
    assert float(number.replace(",", "")) == value


@pytest.mark.parametrize("name", FILES)
def test_what_is_named_is_there(name):
    folders = ("", "tests/unit", "tests/integration", "server", "server/security", "server/runs")
    assert any((ROOT / folder / name).is_file() for folder in folders)
