"""Dockerfile, .dockerignore and compose files: what they name exists, and they agree with each other and the project.

No Docker engine is needed, or tried. Manifests for Kubernetes are in `test_kubernetes.py`.
"""

import re
import shlex
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

import pytest
import yaml
from banyan.server.routes import reading_routes as routes_reading
from banyan.server.security.hosts import Hosts
from compose_pydantic.models import ComposeSpecification
from pydantic import ValidationError

PROJECT = Path(__file__).parents[3]
PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))
COMPOSE = yaml.safe_load((PROJECT / "compose.replicas.yaml").read_text("utf-8"))
SMALL = yaml.safe_load((PROJECT / "compose.yaml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
GIVEN = "given"
"""What variables are set to that have to be."""


def filled(value):
    """A value of a compose file where nothing is set but what has to be."""
    value = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", re.sub(r"\$\{\w+:\?[^}]*\}", GIVEN, value))
    assert "$" not in value
    return value


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


def test_the_image_does_not_run_as_root_and_writes_to_its_volume_alone():
    (user,) = said("USER")
    assert re.search(rf"useradd --uid [1-9]\d+ .*--home-dir /data .*nologin {user}\b", " ".join(said("RUN")))
    names = [name for name, _ in instructions()]
    assert names.index("USER") > names.index("COPY")
    assert said("VOLUME") == said("WORKDIR") == [variables()["BANYAN_HOME"]] == ["/data"]


@pytest.mark.parametrize("compose", [COMPOSE, SMALL])
def test_compose_is_what_the_specification_says(compose):
    # Its model of the specification leaves out names with x-, and an env_file that may be missing.
    parts = {name: part for name, part in compose.items() if not name.startswith("x-")}
    services = {name: {**service, "env_file": ".env"} for name, service in parts["services"].items()}
    ComposeSpecification.model_validate({**parts, "services": services})
    with pytest.raises(ValidationError):
        ComposeSpecification.model_validate({"services": {"x": {"reed_only": True}}})


def test_the_small_form_is_one_server_for_this_machine_with_its_data_in_a_volume():
    (service,) = SMALL["services"].values()
    (data,) = said("VOLUME")
    assert service["volumes"] == [f"{name}:{data}" for name in SMALL["volumes"]]
    (published,) = service["ports"]
    (port,) = said("EXPOSE")
    assert filled(published) == f"127.0.0.1:8000:{port}"
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])


@pytest.mark.parametrize("name", SERVICES)
def test_services_may_do_as_little_as_they_need(name):
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "proxy" else [])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "pid", "network_mode", "ipc", "devices"} & service.keys()
    unprivileged = "build" in service or service.get("user", "root") != "root"
    assert unprivileged or name == "chroma", "whose image is for no other user"


def test_the_proxy_alone_is_reached_from_outside_and_by_default_from_this_machine_alone():
    assert {name for name, service in SERVICES.items() if "ports" in service} == {"proxy"}
    (published,) = SERVICES["proxy"]["ports"]
    assert filled(published) == "127.0.0.1:8443:8443"
    rules = (PROJECT / "deploy" / "proxy" / "Caddyfile").read_text("utf-8")
    assert "{$BANYAN_HOSTNAME:localhost}:8443 {" in rules
    assert re.search(r"\ttls \{\$BANYAN_TLS:internal\}", rules)
    (port,) = said("EXPOSE")
    (upstreams,) = re.findall(r"reverse_proxy (.*) \{", rules)
    assert upstreams.split() == [f"{name}:{port}" for name in SERVICES if name.startswith("replica-")]
    assert SERVICES["proxy"]["environment"].keys() == set(re.findall(r"\{\$(\w+):", rules))
    for url in re.findall(r"health_uri (\S+)", rules):
        assert url in {route.path for route in routes_reading.router.routes}
    assert Hosts.bound("0.0.0.0").allow(*re.findall(r"Host (\S+)", rules)), "the proxy's own checks are answered"
    (checked,) = [word for word in SERVICES["proxy"]["healthcheck"]["test"] if word.startswith("http")]
    assert f"{checked.rstrip('/')} {{" in rules
    assert rules.count("{") == rules.count("}")
    assert "request>headers delete" in rules, "keys would stand in the log of what failed"


def test_databases_are_reached_by_banyan_alone_and_ray_by_nobody_else():
    def on(network):
        return {name for name, service in SERVICES.items() if network in service["networks"]}

    ours = {name for name, service in SERVICES.items() if service["image"] == "banyan"}
    assert ours == {"replica-1", "replica-2", "ray-head", "ray-worker"}
    assert on("data") == ours | {"postgres", "chroma"}
    assert {network for name in ("postgres", "chroma") for network in SERVICES[name]["networks"]} == {"data"}
    assert on("cluster") == {"ray-head", "ray-worker"}
    assert on("front") == {"proxy", "replica-1", "replica-2"}
    assert {name for name, network in COMPOSE["networks"].items() if network == {"internal": True}} == {"front", "data"}


def test_no_password_stands_in_the_file_and_none_goes_without():
    for name, service in SERVICES.items():
        for variable, value in service.get("environment", {}).items():
            if re.search("PASSWORD|DATABASE_URL", variable):
                assert "${BANYAN_DATABASE_PASSWORD:?" in value, name
            if re.search("KEY|TOKEN", variable):
                assert value in {"${BANYAN_LLM_API_KEY:-none}", "${BANYAN_RAY_TOKEN:-}"}, name
    for name in ("ray-head", "ray-worker"):  # which refuses an empty one
        assert SERVICES[name]["environment"]["RAY_AUTH_MODE"] == "token"
