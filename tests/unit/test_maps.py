"""The maps of the project, ARCHITECTURE.md and benchmarks/README.md, name all that is there, and nothing else."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")


def part(title):
    """A part of ARCHITECTURE.md, by its heading."""
    return ARCHITECTURE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def packages():
    """The folders of the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return {name.removeprefix("banyan.").replace(".", "/")
            for name in project["tool"]["setuptools"]["packages"]} - {"banyan"}


def test_the_table_of_rooms_has_each_package():
    named = {name.rstrip("/") for row in re.findall(r"^\| (`.*?) \|", part("Rooms"), re.MULTILINE)
             for name in re.findall(r"`([^`]+)`", row)}
    assert packages() - named == set()
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_the_files_on_the_ways_of_a_document_and_of_a_question_are_there():
    there = [f"/{package}/{file.name}" for package in packages() for file in (ROOT / package).glob("*.py")]
    for title in ("The way of a document", "The way of a question"):
        way = part(title)
        files = re.findall(r"`([\w/]+\.py)`", way)
        assert len(files) >= 10
        assert [file for file in files if not any(path.endswith(f"/{file}") for path in there)] == []
        assert 8 <= len(re.findall(r"^\d+\. ", way, re.MULTILINE)) <= 12


def test_each_benchmark_is_named_with_what_it_measures():
    named = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    assert [file.name for file in sorted((ROOT / "benchmarks").glob("*.py")) if file.name not in named] == []
