"""Builds: uploads, progress, decisions, cancelling; and the model that reads and answers, set while the server runs."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, File, Form, Query, Request, UploadFile
from pydantic import BaseModel, Field, SecretStr
from sse_starlette import EventSourceResponse

from ...agents.construction.inputs import check_model
from ...agents.construction.state import BuildContext
from ...agents.estimate import ReadingEstimate, estimate_reread
from ...config import Settings
from ...graph_store.layout import Layout, check_name
from ...ingest.formats import FORMATS
from ...models.llm.endpoint import NO_KEY, host_of
from ...models.llm.model_calls import try_out
from ...models.reasoner import ReasonerError
from ...runtime import audit
from ...schemas.formats.schema_loading import seed_names
from ...schemas.graph_schema import AUTO_SCHEMA, OPEN_SCHEMA, SchemaError
from ...schemas.services import EndpointUrl
from ..responses import Body, BuildId, Decisions, Items, KbName, RefusedError, StateError, event, event_stream
from ..runs.jobs import Build, BuildOptions, no_build
from ..security.clients import OF_ALL, VisibleBases, check_base, may
from ..security.keys import WORK
from ..service import Reading, Serving

router = APIRouter(prefix="/api", tags=["builds"])
model_router = APIRouter(prefix="/api/model", tags=["model"])
_LONGEST = 500  # characters of an endpoint's address, a model's name and a key
_EXAMPLES = Path(__file__).parents[2] / "examples"
_SAMPLES = {"en": "english", "zh": "chinese"}  # the names of the example knowledge bases, as in `make demo`
_MOST = 2**53  # the largest integer that every JSON reader represents exactly
_READERS, _WRITERS = [may("read")], [may("write")]


class ModelTrialError(RefusedError, status=422):
    """The model to be tried does not answer: the fault lies with the client's choice, not with the server."""


class Model(BaseModel):
    """The reasoner: rules or a model. Its key is never shown."""

    reasoner: Literal["rules", "llm"]
    model: str = Field(default="", description="its name; empty for the rules")
    endpoint: str = Field(default="", description="the endpoint's address")
    host: str = Field(default="", description="the endpoint's host, or the provider that the model's name begins with")
    has_key: bool = False
    from_page: bool = Field(description="set at run time, until the server stops")


class ModelChoice(Body):
    """The choice of a model; without an endpoint or a provider in its name, the rules answer."""

    endpoint: Annotated[EndpointUrl, Field(max_length=_LONGEST)] = ""
    model: str = Field(default="", max_length=_LONGEST)
    key: SecretStr = Field(default=SecretStr(""), max_length=_LONGEST, description="stored only in the server's memory")


def _visible_build(build: BuildId, service: Serving, bases: VisibleBases) -> Build:
    found = service.builds.jobs.one(build).build
    if not bases.covers(found.kb):
        raise no_build(build)
    return found


Visible = Annotated[Build, Depends(_visible_build)]  # a build whose knowledge base the client may see
Flag = Annotated[bool, Form()]


@router.post("/knowledge-bases/{kb}/builds", status_code=202, dependencies=_WRITERS)
async def start_build(  # noqa: PLR0913  (its options)
    kb: KbName, service: Serving,
    files: Annotated[list[UploadFile], File(description="documents; none: resume with stored ones")] = [],  # noqa: B006
    seed: Annotated[str, Form(alias="schema", max_length=100,
                              description="`auto`, a seed schema or `open`; only at the first build")] = "",
    *, review: Flag = False, evolve: Flag = True, resolve: Flag = True, retry_failed: Flag = False,
    reread: Flag = False, max_tokens: Annotated[int | None, Form(ge=0, le=_MOST)] = None,
    max_cost: Annotated[float | None, Form(ge=0, le=_MOST, allow_inf_nan=False)] = None,
) -> Build:
    """Read uploaded documents into a knowledge base, which is created if it does not exist."""
    check_name(kb)
    # `schema` could also be the path of a file, but the server must not read a file that a client names.
    known = [AUTO_SCHEMA, OPEN_SCHEMA, *seed_names()]
    if seed and seed not in known:
        raise SchemaError(f"there is no seed schema {seed!r}; there are: {', '.join(known)}")
    check_model(reread=reread, uses_llm=service.resources.settings.uses_llm)
    if not files:
        Layout.by(service.resources.settings, kb).require()
    context = BuildContext(review=review, evolve=evolve, resolve=resolve, retry_failed=retry_failed,
                           reread=reread, max_tokens=max_tokens, max_cost=max_cost)
    return await service.builds.start(kb, files, BuildOptions(schema_name=seed, context=context))


@router.get("/knowledge-bases/{kb}/reread", dependencies=_READERS)
def show_reread(reading: Reading, service: Serving) -> ReadingEstimate:
    """Estimate what a build with `reread` would take; it has no chunks if there is nothing to read again."""
    return estimate_reread(service.resources, reading.kb)


@router.post("/samples/{language}", status_code=202, dependencies=_WRITERS)
async def start_sample(language: Literal["en", "zh"], service: Serving, request: Request) -> Build:
    """Build a knowledge base from the example documents; if it is already built, this costs nothing."""
    check_base(_SAMPLES[language], request)
    with ExitStack() as files:
        uploads = [UploadFile(files.enter_context(path.open("rb")), filename=path.name)
                   for path in sorted((_EXAMPLES / language).glob("*.md"))]
        return await service.builds.start(_SAMPLES[language], uploads, BuildOptions(context=BuildContext()))


@router.get("/formats", dependencies=_READERS)
async def list_formats() -> Items[str]:
    """List the supported file endings; upper and lower case are equal."""
    return Items(items=list(FORMATS))


@router.get("/builds", dependencies=_READERS)
def list_builds(service: Serving, bases: VisibleBases, kb: Annotated[str, Query(max_length=100)] = "") -> Items[Build]:
    """List the builds of all knowledge bases that the key covers, newest first."""
    builds = [job.build for job in reversed(service.builds.jobs.all())]
    return Items(items=[build for build in builds if bases.covers(build.kb) and kb in {"", build.kb}])


@router.get("/builds/{build}", dependencies=_READERS)
def show_build(build: Visible) -> Build:
    """Show a build and its state."""
    return build


@router.get("/builds/{build}/events", response_class=EventSourceResponse, dependencies=_READERS)
async def build_events(build: Visible, service: Serving) -> EventSourceResponse:
    """Stream the build as events `build`: its current state, and each change until it ends."""
    states = service.builds.follow(build.id)
    return event_stream(event("build", state.model_dump(mode="json")) async for state in states)


@router.post("/builds/{build}/cancel", dependencies=_WRITERS)
async def cancel_build(build: Visible, service: Serving) -> Build:
    """Cancel a build; its progress is saved, and the next build resumes there."""
    return await service.builds.change(lambda: service.builds.jobs.cancel(build.id))


@router.post("/builds/{build}/decisions", dependencies=[may("review")])
async def decide_in_build(build: Visible, decisions: Decisions, service: Serving) -> Build:
    """Resume a build that waits for decisions on the schema; candidates without a decision stay pending."""
    answer = decisions.model_dump(mode="json")
    return await service.builds.change(lambda: service.builds.jobs.resume(build.id, answer))


@model_router.get("", dependencies=_READERS)
def show_model(service: Serving) -> Model:
    """Show which model answers."""
    settings, from_page = service.resources.settings, service.model_from_page
    if not settings.uses_llm:
        return Model(reasoner="rules", from_page=from_page)
    return Model(reasoner="llm", model=settings.llm_model, endpoint=settings.llm_base_url or "", from_page=from_page,
                 host=host_of(settings), has_key=settings.llm_api_key.get_secret_value() != NO_KEY)


@model_router.put("", dependencies=[may(*WORK), OF_ALL])
def set_model(choice: ModelChoice, service: Serving) -> Model:
    """Use another model for answers and builds until the server stops; the key needs every scope except `metrics`."""
    if service.workers > 1 or service.database.is_shared:
        raise StateError("a change would reach only one of this server's processes: set BANYAN_LLM_BASE_URL and its "
                         "like before it starts, or serve with one worker and without BANYAN_DATABASE_URL")
    service.resources.use_settings(_with_choice(choice, service))
    service.model_from_page = True
    audit.record(service.resources.settings.home, "set model", what=host_of(service.resources.settings))
    return show_model(service)


@model_router.post("/try", dependencies=[may(*WORK), OF_ALL])
def try_model(choice: ModelChoice, service: Serving) -> dict[str, float | int]:
    """Ask a model a short question, without using it for anything else; return the `seconds` and `tokens` it took."""
    try:
        trial = try_out(_with_choice(choice, service))
    except ReasonerError as error:
        raise ModelTrialError(str(error)) from error
    return {"seconds": round(trial.seconds, 2), "tokens": trial.tokens}


def _with_choice(choice: ModelChoice, service: Serving) -> Settings:
    """Return the settings with the chosen model; without a new key, the current one goes only to its own address."""
    settings = service.resources.settings
    # All steps are to use the chosen model, and what was set for requests suits only the previous one.
    models_of_steps = {name: "" for name in Settings.model_fields if name.startswith("llm_model_")}
    chosen = settings.model_copy(update={
        "llm_base_url": choice.endpoint or None, **models_of_steps, "llm_reasoning_effort": "", "llm_extra_body": {},
        "llm_model": choice.model.strip() or Settings.model_fields["llm_model"].default})
    key = choice.key
    if not key.get_secret_value():
        has_same_address = (chosen.llm_base_url, host_of(chosen)) == (settings.llm_base_url, host_of(settings))
        key = settings.llm_api_key if has_same_address else SecretStr(NO_KEY)
    return chosen.model_copy(update={"llm_api_key": key})
