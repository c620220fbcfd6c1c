"""Dockerfile, .dockerignore and compose.yaml: what they name exists, and they agree with each other and the project.

No Docker engine is needed, or tried.
"""

import json
import re
import shlex
import sys
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

import pytest
import yaml
from banyan.cli import main as cli
from banyan.config import Settings
from banyan.server.routes import reading as routes_reading
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

PROJECT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))
COMPOSE = yaml.safe_load((PROJECT / "compose.yaml").read_text("utf-8"))
PINNED = {requirement.name: requirement for requirement in map(
    Requirement, (PROJECT / "constraints.txt").read_text("utf-8").split())}


def instructions():
    """The Dockerfile's instructions as (name, rest), comments left out and continued lines joined."""
    text = re.sub(r"^\s*#.*\n", "", (PROJECT / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines if line.strip()]


def said(name):
    return [rest for instruction, rest in instructions() if instruction == name]


def variables():
    """The variables that the image sets, by the last stage."""
    return dict(pair.split("=", 1) for rest in said("ENV") for pair in shlex.split(rest))


def in_context(path):
    """Whether .dockerignore lets a file through: the last line that speaks of it, or of a folder of it, counts."""
    let_through = True
    for line in (PROJECT / ".dockerignore").read_text("utf-8").split("\n"):
        if line and not line.startswith("#"):
            pattern = line.removeprefix("!")
            parts = PurePosixPath(path).parts
            if pattern.startswith("**/"):
                spoken_of = any(fnmatchcase(part, pattern[3:]) for part in parts)
            else:
                assert "/" not in pattern
                spoken_of = fnmatchcase(parts[0], pattern)
            if spoken_of:
                let_through = line.startswith("!")
    return let_through


def test_the_images_python_is_one_that_the_project_supports():
    bases = {rest.split()[0] for rest in said("FROM")}
    assert bases == {"python:3.11-slim"}
    assert "3.11" in SpecifierSet(PYPROJECT["project"]["requires-python"])


def test_versions_are_those_of_the_constraints():
    (torch,) = re.findall(r"torch==\S+", " ".join(said("RUN")))
    assert torch == str(PINNED["torch"])
    image, version = COMPOSE["services"]["chroma"]["image"].split(":")
    assert (image, version) == ("chromadb/chroma", str(PINNED["chromadb"].specifier).removeprefix("=="))
    assert "--constraint /source/constraints.txt" in " ".join(said("RUN"))
    (extra,) = re.findall(r"/source\[(\w+)\]", " ".join(said("RUN")))
    assert extra in PYPROJECT["project"]["optional-dependencies"]


def test_the_context_has_what_the_package_needs_and_nothing_else():
    package_data = [PROJECT / package.replace("banyan", ".", 1).replace(".", "/").lstrip("/") / pattern
                    for package, patterns in PYPROJECT["tool"]["setuptools"]["package-data"].items()
                    for pattern in patterns]
    needed = {"pyproject.toml", "constraints.txt", "README.md", "LICENSE"}
    for package in PYPROJECT["tool"]["setuptools"]["packages"]:
        folder = PROJECT / package.removeprefix("banyan").lstrip(".").replace(".", "/")
        assert folder.is_dir(), folder
        needed |= {path.relative_to(PROJECT).as_posix() for path in folder.glob("*.py")}
    for pattern in package_data:
        relative = pattern.relative_to(PROJECT).as_posix().removeprefix("./")
        needed |= {path.relative_to(PROJECT).as_posix() for path in PROJECT.glob(relative) if path.is_file()}
    assert "server/web/index.html" in needed
    assert "schemas/seeds/general.json" in needed
    assert {path for path in needed if not in_context(path)} == set()
    unwanted = [".env", ".git/config", ".venv/bin/python", ".banyan/kb/ledger.sqlite", "server-keys.json",
                "tests/conftest.py", "benchmarks/growth.py", "data/kb.zip", "agents/__pycache__/x.pyc", "server/.env",
                "cli.pyc"]
    assert [path for path in unwanted if in_context(path)] == []


def test_what_is_copied_is_there():
    for rest in said("COPY"):
        source = next(word for word in shlex.split(rest) if not word.startswith("--"))
        assert source in {".", "/opt/banyan"}


def test_the_image_does_not_run_as_root_and_writes_to_its_volume_alone():
    (user,) = said("USER")
    assert re.search(rf"useradd --uid [1-9]\d+ .*--home-dir /data .*nologin {user}\b", " ".join(said("RUN")))
    names = [name for name, _ in instructions()]
    assert names.index("USER") > names.index("COPY")
    assert said("VOLUME") == said("WORKDIR") == [variables()["BANYAN_HOME"]] == ["/data"]


def test_the_variables_are_settings():
    known = {f"BANYAN_{name.upper()}" for name in Settings.model_fields} | {"BANYAN_CACHE"}
    given = {name for name in variables() if name.startswith("BANYAN_")}
    assert given <= known
    composed = COMPOSE["services"]["banyan"]["environment"]
    assert set(composed) <= known
    # As they are where nothing is set: none of them is refused.
    defaults = {name: re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value) for name, value in composed.items()}
    assert not any("$" in value for value in defaults.values())
    settings = Settings(_env_file=None, **{name.removeprefix("BANYAN_").lower(): value
                                           for name, value in defaults.items()})
    assert (settings.llm_base_url, settings.llm_model) == ("", Settings(_env_file=None).llm_model)
    assert settings.chroma_server.url == "http://chroma:8000"


def test_the_command_is_one_of_the_command_line_on_the_port_that_is_published():
    (entry,), (command,) = said("ENTRYPOINT"), said("CMD")
    assert json.loads(entry) == list(PYPROJECT["project"]["scripts"]) == ["banyan"]
    name, *arguments = json.loads(command)
    serve = cli.command(name)
    parsed = serve.make_context(name, arguments, resilient_parsing=False).params
    assert (parsed["host"], parsed["port"]) == ("0.0.0.0", int(said("EXPOSE")[0]))
    (published,) = COMPOSE["services"]["banyan"]["ports"]
    address, _, inside = published.rsplit(":", 2)
    assert (address, inside) == ("127.0.0.1", said("EXPOSE")[0])
    assert "ports" not in COMPOSE["services"]["chroma"]


def test_the_health_check_asks_for_something_that_anybody_may():
    (check,) = said("HEALTHCHECK")
    program, _, code = json.loads(check[check.index("["):])
    assert program == "python"
    compile(code, "HEALTHCHECK", "exec")
    (url,) = re.findall(r"http://127\.0\.0\.1:8000(/[\w/]+)", code)
    assert url in {route.path for route in routes_reading.router.routes}


def test_the_converted_model_is_where_the_image_looks_for_it():
    (warm_up,) = [rest for rest in said("RUN") if rest.startswith("python -c")]
    code = shlex.split(warm_up)[2]
    compile(code, "RUN", "exec")
    for module, name in re.findall(r"from (\S+) import (\w+)", code):
        __import__(module)
        assert hasattr(sys.modules[module], name)
    caches = {pair for rest in said("ENV") for pair in shlex.split(rest) if pair.startswith("BANYAN_CACHE=")}
    assert len(caches) == 1


@pytest.mark.parametrize("name", ["banyan", "chroma"])
def test_services_have_volumes_networks_and_secrets_that_are_declared(name):
    service = COMPOSE["services"][name]
    assert {volume.split(":")[0] for volume in service["volumes"]} <= COMPOSE["volumes"].keys()
    assert set(service["networks"]) <= COMPOSE["networks"].keys()
    assert set(service.get("secrets", ())) <= COMPOSE["secrets"].keys()
    assert set(service.get("depends_on", ())) <= COMPOSE["services"].keys()
    for secret in service.get("secrets", ()):
        assert service["environment"]["BANYAN_SERVER_KEYS"] == f"/run/secrets/{secret}"


def test_chroma_is_reached_by_banyan_alone():
    (network,) = COMPOSE["services"]["chroma"]["networks"]
    assert COMPOSE["networks"][network] == {"internal": True}
    assert COMPOSE["services"]["banyan"]["environment"]["BANYAN_CHROMA_URL"] == "http://chroma:8000"
    assert COMPOSE["services"]["banyan"]["volumes"] == [f"knowledge:{variables()['BANYAN_HOME']}"]
