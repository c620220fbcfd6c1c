"""The model that answers, and replacing it while the server runs."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel, Field, SecretStr

from ...config import Settings
from ...models.llm.endpoint import host_of
from ...models.llm.failures import NO_KEY
from ...models.llm.model_calls import try_out
from ...models.reasoner import ReasonerError
from ...runtime import audit
from ...schemas.services import check_endpoint
from ..responses import Body, RefusedError, StateError, errors
from ..runs.turns import FairRoute
from ..security.clients import OF_ALL, may
from ..security.keys import WORK
from ..service import Serving

router = APIRouter(prefix="/api/model", tags=["model"], route_class=FairRoute)
_MOST = 500


def _check_address(text: str) -> str:
    address = check_endpoint(text)
    parts = urlsplit(address)
    if address and (parts.scheme not in {"http", "https"} or not parts.hostname):
        raise ValueError("an endpoint begins with http:// or https://, such as http://127.0.0.1:11434/v1")
    return address


class ModelTrialError(RefusedError):
    """The model to be tried does not answer: the fault lies with the client's choice, not with the server."""

    status = 422


class Model(BaseModel):
    """The reasoner: rules or a model. Its key is never shown."""

    reasoner: Literal["rules", "llm"]
    model: str = Field(description="its name; empty for the rules")
    endpoint: str = Field(description="the endpoint's address")
    host: str = Field(description="the endpoint's host, or the provider that the model's name begins with")
    has_key: bool
    from_page: bool = Field(description="set at run time, until the server stops")


class ModelChoice(Body):
    """The choice of a model; without an endpoint or a provider in its name, the rules answer."""

    endpoint: Annotated[str, Field(max_length=_MOST), AfterValidator(_check_address)] = ""
    model: str = Field(default="", max_length=_MOST)
    key: SecretStr = Field(default=SecretStr(""), max_length=_MOST,
                           description="stored only in the server's memory")


class ModelTrial(BaseModel):
    """The result of a successful trial."""

    seconds: float
    tokens: int


@router.get("", responses=errors(), dependencies=[may("read")])
def show_model(service: Serving) -> Model:
    """Show which model answers."""
    settings = service.resources.settings
    uses_llm = settings.uses_llm
    return Model(reasoner="llm" if uses_llm else "rules", model=settings.llm_model if uses_llm else "",
                 endpoint=settings.llm_base_url or "", host=host_of(settings) if uses_llm else "",
                 has_key=uses_llm and settings.llm_api_key.get_secret_value() != NO_KEY,
                 from_page=service.model_from_page)


@router.put("", responses=errors(409), dependencies=[may(*WORK), OF_ALL])
def set_model(choice: ModelChoice, service: Serving) -> Model:
    """Use another model for answers and builds until the server stops; the key needs every scope except `metrics`."""
    if service.workers > 1 or service.database.is_shared:
        raise StateError("this server runs as several processes, and a change would reach only one of them: set "
                         "BANYAN_LLM_BASE_URL, BANYAN_LLM_MODEL and BANYAN_LLM_API_KEY before it starts, or serve "
                         "with one worker and without BANYAN_DATABASE_URL")
    service.resources.use_settings(_with_choice(choice, service))
    service.model_from_page = True
    audit.record(service.resources.settings.home, "set model", what=host_of(service.resources.settings))
    return show_model(service)


@router.post("/try", responses=errors(), dependencies=[may(*WORK), OF_ALL])
def try_model(choice: ModelChoice, service: Serving) -> ModelTrial:
    """Ask a model a short question, without using it for anything else."""
    try:
        trial = try_out(_with_choice(choice, service))
    except ReasonerError as error:
        raise ModelTrialError(str(error)) from error
    return ModelTrial(seconds=round(trial.seconds, 2), tokens=trial.tokens)


def _with_choice(choice: ModelChoice, service: Serving) -> Settings:
    settings, new_key = service.resources.settings, choice.key.get_secret_value()
    models_of_steps = {name: "" for name in Settings.model_fields if name.startswith("llm_model_")}
    options = {"llm_reasoning_effort": "", "llm_extra_body": {}}  # what was set suits only the previous model
    chosen = settings.model_copy(update={
        "llm_base_url": choice.endpoint or None, **models_of_steps, **options,
        "llm_model": choice.model.strip() or Settings.model_fields["llm_model"].default})
    has_same_address = (chosen.llm_base_url, host_of(chosen)) == (settings.llm_base_url, host_of(settings))
    current_key = settings.llm_api_key if has_same_address else SecretStr(NO_KEY)
    return chosen.model_copy(update={"llm_api_key": SecretStr(new_key) if new_key else current_key})
