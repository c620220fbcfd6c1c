"""The wheel holds the package `banyan` and nothing else, with its data; `check_wheel.py` tries an installed one."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from .. import command_line

pytestmark = [pytest.mark.integration, pytest.mark.slow]

PROJECT = command_line.PROJECT
NOT_PACKAGED = {"tests", "benchmarks", "docs", "examples", "build", "dist"}
SEEDS = ["biomedical", "encyclopedia", "finance", "general", "literature"]


def _run(*arguments: str | Path, folder: Path, **environment: str) -> str:
    done = subprocess.run([str(argument) for argument in arguments], cwd=folder, capture_output=True, text=True,
                          encoding="utf-8", timeout=180, check=False,
                          env=command_line.clean_environment(**environment))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _packages() -> list[Path]:
    """The folders of the tree with Python code in them that belongs to the package, the root first."""
    top = [folder for folder in PROJECT.iterdir()
           if folder.is_dir() and not folder.name.startswith((".", "__")) and folder.name not in NOT_PACKAGED]
    return [Path(), *sorted({path.parent.relative_to(PROJECT) for folder in top for path in folder.rglob("*.py")})]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    source, out = tmp_path_factory.mktemp("source") / "banyan", tmp_path_factory.mktemp("out")
    shutil.copytree(PROJECT, source, ignore=shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist"))
    for junk in (".venv/lib/junk.py", ".typecheck/banyan/junk.py", ".banyan/demo/junk.txt"):
        (source / junk).parent.mkdir(parents=True)
        (source / junk).touch()
    # setuptools is there wherever torch is: nothing has to be downloaded for the build.
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, source, folder=out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def names(wheel) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        record = next(name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
        listed = {line.split(",")[0] for line in archive.read(record).decode().splitlines()}
        assert listed == set(archive.namelist())
    return listed


def test_nothing_but_banyan_becomes_importable(names):
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"banyan"}
    assert not [name for name in names if "junk" in name]
    assert {name.split("/")[1] for name in names if name.startswith("banyan/")} & NOT_PACKAGED == {"examples"}


def test_every_file_of_the_packages_is_in_it(names):
    """All that stands in a package's folder: code, prompts, seed schemas, pages; of the root only the code."""
    top = {folder.parts[0] for folder in _packages() if folder.parts}
    expected = {path.relative_to(PROJECT) for folder in top for path in (PROJECT / folder).rglob("*")
                if path.is_file() and "__pycache__" not in path.parts}
    expected |= {path.relative_to(PROJECT) for path in PROJECT.glob("*.py")} | {Path("py.typed"), Path("settings.toml")}
    expected |= {path.relative_to(PROJECT) for path in (PROJECT / "examples").glob("[ez]*/*.md")}  # the page's sample
    assert {name for name in names if name.startswith("banyan/")} == {f"banyan/{path.as_posix()}" for path in expected}
    assert {f"banyan/schemas/seeds/{seed}.json" for seed in SEEDS} <= names
    assert {"banyan/export/page.css", "banyan/export/page.js"} <= names
    assert {"banyan/py.typed", "banyan/prompts/en/extract.txt", "banyan/prompts/zh/extract.txt"} <= names
