"""Dockerfile, compose files and manifests: what they name exists; they agree with each other and with the project.

No Docker engine and no cluster is needed, or tried: manifests are what Kubernetes' own schemas say of them.
"""

import json
import re
import shlex
import tomllib
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from banyan.config import Settings
from banyan.server.routes import base_routes as routes_bases
from banyan.server.security.gate import Hosts
from pathspec import PathSpec
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
    return dict(pair.split("=", 1) for rest in said("ENV") for pair in shlex.split(rest))


def in_context(path):
    """Whether .dockerignore lets a file through; "/agents" is its "agents", but for those with "*" alone."""
    lines = (PROJECT / ".dockerignore").read_text("utf-8").splitlines()
    patterns = [re.sub(r"^(!?)(?=[^*!#]|\*\.)", r"\1/", line) for line in lines]
    return not PathSpec.from_lines("gitignore", patterns).match_file(path)


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


def test_only_servers_of_this_machine_are_reached_from_outside():
    (service,) = SMALL["services"].values()
    (data,), (port,) = said("VOLUME"), said("EXPOSE")
    assert service["volumes"] == [f"{name}:{data}" for name in SMALL["volumes"]]
    assert [filled(published) for published in service["ports"]] == [f"127.0.0.1:8000:{port}"]
    assert {name for name, service in SERVICES.items() if "ports" in service} == {"proxy"}
    (published,) = SERVICES["proxy"]["ports"]
    assert filled(published) == "127.0.0.1:8443:8443"
    rules = (PROJECT / "deploy" / "proxy" / "Caddyfile").read_text("utf-8")
    (upstreams,) = re.findall(r"reverse_proxy (.*) \{", rules)
    assert upstreams.split() == [f"{name}:{port}" for name in SERVICES if name.startswith("replica-")]
    assert SERVICES["proxy"]["environment"].keys() == set(re.findall(r"\{\$(\w+):", rules))
    for url in re.findall(r"health_uri (\S+)", rules):
        assert url in {route.path for route in routes_bases.router.routes}
    assert Hosts.bound("0.0.0.0").allow(*re.findall(r"Host (\S+)", rules)), "the proxy's own checks are answered"
    assert "request>headers delete" in rules, "keys would stand in the log of what failed"


def test_no_password_stands_in_the_file_and_none_goes_without():
    for name, service in SERVICES.items():
        for variable, value in service.get("environment", {}).items():
            if re.search("PASSWORD|DATABASE_URL", variable):
                assert "${BANYAN_DATABASE_PASSWORD:?" in value, name
            if re.search("KEY|TOKEN", variable):
                assert value in {"${BANYAN_LLM_API_KEY:-none}", "${BANYAN_RAY_TOKEN:-}"}, name
    for name in ("ray-head", "ray-worker"):  # which refuses an empty one
        assert SERVICES[name]["environment"]["RAY_AUTH_MODE"] == "token"


FOLDER = PROJECT / "deploy" / "kubernetes"
KUSTOMIZATION = yaml.safe_load((FOLDER / "kustomization.yaml").read_text("utf-8"))
OBJECTS = [manifest for name in KUSTOMIZATION["resources"]
           for manifest in yaml.safe_load_all((FOLDER / name).read_text("utf-8"))]
VERSION = "1.34"
WORKLOADS = [one for one in OBJECTS if one["kind"] in {"Deployment", "StatefulSet"}]


def name_of(manifest):
    return f"{manifest['kind']} {manifest['metadata']['name']}"


def of(kind):
    return {one["metadata"]["name"]: one for one in OBJECTS if one["kind"] == kind}


def pod(workload):
    return workload["spec"]["template"]["spec"]


def labels(workload):
    return workload["spec"]["template"]["metadata"]["labels"]


@pytest.mark.parametrize("manifest", OBJECTS, ids=name_of)
def test_it_is_what_kubernetes_takes(manifest):
    kubernetes_validate.validate(manifest, VERSION, strict=True)


@pytest.mark.parametrize("workload", WORKLOADS, ids=name_of)
def test_workloads_may_do_as_little_as_they_need(workload):
    spec = pod(workload)
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
    assert spec["securityContext"].get("runAsNonRoot") or workload["metadata"]["name"] == "chroma"
    assert workload["spec"]["selector"]["matchLabels"].items() <= labels(workload).items()
    for container in spec["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
        assert {"requests", "limits"} <= container["resources"].keys()
        claimed = {claim["metadata"]["name"] for claim in workload["spec"].get("volumeClaimTemplates", ())}
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted == claimed | {volume["name"] for volume in spec["volumes"]}


def test_settings_are_settings_and_the_secret_is_to_be_filled_in():
    settings, secret = of("ConfigMap")["banyan"]["data"], of("Secret")["banyan"]["stringData"]
    given = {name.removeprefix("BANYAN_").lower(): value for name, value in settings.items()}
    assert given.keys() <= Settings.model_fields.keys()
    assert Settings(_env_file=None, **given).server_hosts == of("Ingress")["banyan"]["spec"]["rules"][0]["host"]
    with pytest.raises(ValidationError, match="address of a PostgreSQL database"):
        Settings(_env_file=None, database_url=secret["database-url"])
    assert (secret["database-password"], secret["ray-token"]) == ("", "")
    filled_in = re.sub(r"^REPLACE with ", "", secret["database-url"])
    assert Settings(_env_file=None, database_url=filled_in).database is not None


def test_nobody_is_reached_but_by_those_who_are_named():
    policies = of("NetworkPolicy")
    assert policies["nobody"]["spec"] == {"podSelector": {}, "policyTypes": ["Ingress"]}
    for workload in WORKLOADS:
        chosen = [policy for policy in policies.values() if policy["spec"]["podSelector"] and
                  policy["spec"]["podSelector"]["matchLabels"].items() <= labels(workload).items()]
        assert len(chosen) == 1, name_of(workload)
        for rule in chosen[0]["spec"]["ingress"]:
            assert rule["from"], "an empty list is everybody"
    for name in ("postgres", "chroma"):
        (rule,) = policies[name]["spec"]["ingress"]
        (allowed,) = rule["from"][0]["podSelector"]["matchExpressions"]
        makes_keys = ["banyan-key"] if name == "postgres" else []
        assert allowed["values"] == ["banyan", *makes_keys, "ray-head", "ray-worker"]
        assert policies[name]["spec"]["policyTypes"] == ["Ingress", "Egress"], "they call nobody"


def test_langgraphs_server_is_the_version_that_the_tests_use_and_reads_no_types_from_checkpoints():
    config = json.loads((PROJECT / "langgraph.json").read_text("utf-8"))
    assert f"langgraph-api=={config['api_version']}" in (PROJECT / "constraints.txt").read_text("utf-8").splitlines()
    assert config["checkpointer"]["serde"] == {"allowed_msgpack_modules": None, "pickle_fallback": False}
