"""Builds: uploads, progress, decisions, cancelling."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, File, Form, Query, Request, UploadFile
from sse_starlette import EventSourceResponse

from ...agents.construction.inputs import check_model
from ...agents.construction.state import BuildContext
from ...agents.estimate import ReadingEstimate, estimate_reread
from ...graph_store.layout import Layout, check_name
from ...ingest.loaders import FORMATS
from ...schemas.formats.schema_loading import seed_names
from ...schemas.graph_schema import AUTO_SCHEMA, OPEN_SCHEMA, SchemaError
from ..responses import BuildId, Decisions, Items, KbName, errors, event, event_stream
from ..runs.jobs import Build, BuildOptions, no_build
from ..runs.turns import FairRoute
from ..runs.uploads import Upload
from ..security.clients import Seeing, check_base, may
from ..service import Reading, Serving

router = APIRouter(prefix="/api", tags=["builds"], route_class=FairRoute)
_EXAMPLES = Path(__file__).parents[2] / "examples"
_SAMPLES = {"en": "english", "zh": "chinese"}
"""The names of the example knowledge bases, as in `make demo`."""
_MOST = 2**53
"""The largest integer that every JSON reader represents exactly."""


def _check_visible(build: BuildId, service: Serving, bases: Seeing) -> str:
    if not bases.covers(service.builds.jobs.one(build).build.kb):
        raise no_build(build)
    return build


Visible = Annotated[str, Depends(_check_visible)]
Flag = Annotated[bool, Form()]
MaxTokens = Annotated[int | None, Form(ge=0, le=_MOST)]
MaxCost = Annotated[float | None, Form(ge=0, le=_MOST, allow_inf_nan=False)]


@router.post("/knowledge-bases/{kb}/builds", status_code=202, responses=errors(404, 409, 413),
             dependencies=[may("write")])
async def start_build(  # noqa: PLR0913  (its options)
    kb: KbName, service: Serving,
    files: Annotated[list[UploadFile], File(description="documents; none: resume with stored ones")] = [],  # noqa: B006
    seed: Annotated[str, Form(alias="schema", max_length=100,
                              description="`auto`, a seed schema or `open`; only at the first build")] = "",
    *, review: Flag = False, evolve: Flag = True, resolve: Flag = True, retry_failed: Flag = False,
    reread: Flag = False, max_tokens: MaxTokens = None, max_cost: MaxCost = None,
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
    uploads = [Upload(file.filename or "", file.file) for file in files]
    return await service.builds.start(kb, uploads, BuildOptions(schema_name=seed, context=context))


@router.get("/knowledge-bases/{kb}/reread", responses=errors(404, 409), dependencies=[may("read")])
def show_reread(reading: Reading, service: Serving) -> ReadingEstimate:
    """Estimate what a build with `reread` would take; it has no chunks if there is nothing to read again."""
    return estimate_reread(service.resources, reading.kb)


@router.post("/samples/{language}", status_code=202, responses=errors(), dependencies=[may("write")])
async def start_sample(language: Literal["en", "zh"], service: Serving, request: Request) -> Build:
    """Build a knowledge base from the example documents; if it is already built, this costs nothing."""
    check_base(_SAMPLES[language], request)
    with ExitStack() as files:
        uploads = [Upload(path.name, files.enter_context(path.open("rb")))
                   for path in sorted((_EXAMPLES / language).glob("*.md"))]
        return await service.builds.start(_SAMPLES[language], uploads, BuildOptions(context=BuildContext()))


@router.get("/formats", responses=errors(), dependencies=[may("read")])
async def list_formats() -> Items[str]:
    """List the supported file endings; upper and lower case are equal."""
    return Items(items=list(FORMATS))


@router.get("/builds", responses=errors(), dependencies=[may("read")])
def list_builds(service: Serving, bases: Seeing, kb: Annotated[str, Query(max_length=100)] = "") -> Items[Build]:
    """List the builds of all knowledge bases that the key covers, newest first."""
    return Items(items=[build for build in service.builds.all(kb) if bases.covers(build.kb)])


@router.get("/builds/{build}", responses=errors(404), dependencies=[may("read")])
def show_build(build: Visible, service: Serving) -> Build:
    """Show a build and its state."""
    return service.builds.jobs.one(build).build


@router.get("/builds/{build}/events", responses=errors(404), response_class=EventSourceResponse,
            dependencies=[may("read")])
async def build_events(build: Visible, service: Serving) -> EventSourceResponse:
    """Stream the build as events `build`: its current state, and each change until it ends."""
    return event_stream(event("build", state.model_dump(mode="json")) async for state in service.builds.follow(build))


@router.post("/builds/{build}/cancel", responses=errors(404, 409), dependencies=[may("write")])
async def cancel_build(build: Visible, service: Serving) -> Build:
    """Cancel a build; its progress is saved, and the next build resumes there."""
    return await service.builds.cancel(build)


@router.post("/builds/{build}/decisions", responses=errors(404, 409, 413), dependencies=[may("review")])
async def decide_in_build(build: Visible, decisions: Decisions, service: Serving) -> Build:
    """Resume a build that waits for decisions on the schema; candidates without a decision stay pending."""
    return await service.builds.decide(build, decisions.decisions, decisions.who)
