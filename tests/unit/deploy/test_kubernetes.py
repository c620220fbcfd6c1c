"""Manifests in deploy/kubernetes: what Kubernetes' own schemas say of them, and that they agree with each other.

No cluster is needed, or tried.
"""

import re
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from banyan.config import Settings
from pydantic import ValidationError

PROJECT = Path(__file__).parents[3]
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


@pytest.mark.parametrize("workload", WORKLOADS, ids=name_of)
def test_what_workloads_refer_to_is_there(workload):
    keys = of("Secret")["banyan"]["stringData"].keys()
    for container in pod(workload)["containers"]:
        for variable in container.get("env", ()):
            if "valueFrom" in variable:
                assert variable["valueFrom"]["secretKeyRef"]["name"] == "banyan"
                assert variable["valueFrom"]["secretKeyRef"]["key"] in keys
        for source in container.get("envFrom", ()):
            assert source == {"configMapRef": {"name": "banyan"}}
    if workload["kind"] == "StatefulSet":
        assert workload["spec"]["serviceName"] in of("Service")


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
