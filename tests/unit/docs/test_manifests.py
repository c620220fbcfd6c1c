"""The Claude plugin and the MCP registry's entry say what pyproject.toml and the skill say, and start what there is."""

import json
import re
import tomllib

import pytest
from banyan.cli import main as cli
from banyan.config import Settings

from ...error_messages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SKILL = dict(re.findall(r"^(\w+): (.*)$", (ROOT / "skills/banyan/SKILL.md").read_text("utf-8").split("---")[1], re.M))
PLUGIN, MARKET, SERVER = (json.loads((ROOT / file).read_text("utf-8")) for file in (
    ".claude-plugin/plugin.json", ".claude-plugin/marketplace.json", "server.json"))


def test_plugin_marketplace_and_registry_agree_with_the_project_and_the_skill():
    (listed,), (package,) = MARKET["plugins"], SERVER["packages"]
    for manifest in (PLUGIN, listed):
        assert (manifest["name"], manifest["description"]) == (SKILL["name"], SKILL["description"])
    assert PLUGIN["version"] == SERVER["version"] == package["version"] == PROJECT["version"]
    assert (PLUGIN["license"], PLUGIN["keywords"]) == (PROJECT["license"], PROJECT["keywords"])
    assert package["identifier"] == PROJECT["name"]
    assert SERVER["name"].endswith(f"/{SKILL['name']}")


def test_the_registry_can_prove_whose_package_it_is_and_takes_the_description():
    assert f"<!-- mcp-name: {SERVER['name']} -->" in (ROOT / "README.md").read_text("utf-8")
    assert len(SERVER["description"]) <= 100, "as long as the registry allows"
    variables = {one["name"] for package in SERVER["packages"] for one in package["environmentVariables"]}
    assert variables <= {f"BANYAN_{name.upper()}" for name in Settings.model_fields}


@pytest.mark.parametrize("arguments", [
    PLUGIN["mcpServers"]["banyan"]["args"],
    ["--from", SERVER["packages"][0]["runtimeArguments"][0]["value"], "banyan",
     *(one["value"] for one in SERVER["packages"][0]["packageArguments"])]], ids=["plugin", "registry"])
def test_what_they_start_is_there(arguments):
    assert arguments == ["--from", f"{PROJECT['name']}[server]", "banyan", "mcp"]
    assert {"banyan", PROJECT["name"]} <= PROJECT["scripts"].keys()
    assert "server" in PROJECT["optional-dependencies"]
    assert cli.command("mcp").make_context("mcp", []).command.name == "mcp"
