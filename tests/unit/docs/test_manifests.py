"""The Claude plugin and the registry's entry say what pyproject.toml and the skill say, and start what there is."""

import shlex

from banyan.cli import main as cli
from banyan.config import Settings

from ... import manifests


def test_the_files_are_those_that_their_source_makes():
    for path, manifest in manifests.manifests().items():
        assert path.read_text("utf-8") == manifests.text_of(manifest), "run `python -m tests.manifests`"


def test_the_registry_can_prove_whose_package_it_is_and_takes_the_description():
    server = manifests.manifests()[manifests.ROOT / "server.json"]
    readme = (manifests.ROOT / "README.md").read_text("utf-8")
    assert f"<!-- mcp-name: {server['name']} -->" in readme
    assert len(server["description"]) <= manifests.MOST_DESCRIBED
    assert {one["name"] for package in server["packages"] for one in package["environmentVariables"]} <= {
        f"BANYAN_{name.upper()}" for name in Settings.model_fields}


def test_what_they_start_is_there():
    package = manifests.project()
    assert {"banyan", package["name"]} <= set(package["scripts"])
    assert "server" in package["optional-dependencies"]
    plugin = manifests.manifests()[manifests.ROOT / ".claude-plugin" / "plugin.json"]
    assert shlex.join(plugin["mcpServers"]["banyan"]["args"]).endswith("banyan mcp")
    assert cli.command("mcp").make_context("mcp", []).command.name == "mcp"
    assert manifests.SKILL.is_relative_to(manifests.ROOT / "skills"), "where plugins look for skills"
