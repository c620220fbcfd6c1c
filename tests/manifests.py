"""What plugins and registries read of Banyan, made from pyproject.toml and the skill, so that none says anything else.

`python -m tests.manifests` writes `.claude-plugin/plugin.json`, `.claude-plugin/marketplace.json` and `server.json`.
"""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SKILL = ROOT / "skills" / "banyan" / "SKILL.md"
NAMESPACE = "io.github.banyan-graphrag"
"""The registry's namespace: that of the GitHub organisation that publishes, which its login proves."""
MOST_DESCRIBED = 100
"""Characters of a description in the registry."""
_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_SHORT = "Knowledge graphs from documents, and answers with checked citations; works without a model."


def project() -> dict[str, Any]:
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"])


def skill() -> dict[str, str]:
    """The front matter of the skill."""
    front = SKILL.read_text("utf-8").split("---")[1]
    return dict(re.findall(r"^(\w+): (.*)$", front, re.MULTILINE))


def registry_name() -> str:
    return f"{NAMESPACE}/{skill()['name']}"


def manifests() -> dict[Path, dict[str, Any]]:
    """The files by their paths."""
    package, said = project(), skill()
    command = {"command": "uvx", "args": ["--from", f"{package['name']}[server]", "banyan", "mcp"]}
    plugin = {"name": said["name"], "version": package["version"], "description": said["description"],
              "license": package["license"], "keywords": package["keywords"], "mcpServers": {"banyan": command}}
    marketplace = {"name": said["name"], "owner": {"name": "Banyan"}, "plugins": [
        {"name": said["name"], "source": "./", "description": said["description"]}]}
    server = {"$schema": _SCHEMA, "name": registry_name(), "title": "Banyan", "description": _SHORT,
              "version": package["version"], "packages": [{
                  "registryType": "pypi", "identifier": package["name"], "version": package["version"],
                  "runtimeHint": "uvx", "transport": {"type": "stdio"},
                  "runtimeArguments": [{"type": "named", "name": "--with", "value": f"{package['name']}[server]"}],
                  "packageArguments": [{"type": "positional", "value": "mcp"}],
                  "environmentVariables": [
                      {"name": "BANYAN_HOME", "description": "Folder of the knowledge bases", "format": "filepath"},
                      {"name": "BANYAN_KB", "description": "Knowledge base of calls that name none"},
                      {"name": "BANYAN_LLM_BASE_URL", "description": "OpenAI-compatible endpoint; none: no model"},
                      {"name": "BANYAN_LLM_MODEL", "description": "Its model's name"},
                      {"name": "BANYAN_LLM_API_KEY", "description": "Its key", "isSecret": True}]}]}
    return {ROOT / ".claude-plugin" / "plugin.json": plugin, ROOT / ".claude-plugin" / "marketplace.json": marketplace,
            ROOT / "server.json": server}


def text_of(manifest: dict[str, Any]) -> str:
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path, manifest in manifests().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text_of(manifest), "utf-8")
