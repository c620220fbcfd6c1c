"""Settings: environment variables with the prefix BANYAN_, lines of a `.env` file, or keyword arguments.

A `.env` file is read from the path in BANYAN_ENV_FILE, else from the home folder of the knowledge bases. It is not read
from the current folder, because somebody else may have written the files there.
"""

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from platformdirs import user_data_path
from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict
from pydantic_settings.sources import DotEnvSettingsSource, InitSettingsSource, PydanticBaseSettingsSource

from .schemas import services
from .schemas.errors import BanyanError

AUTO_EMBEDDING_MODEL = "auto"  # one of the two bundled models for each knowledge base, by its documents' language
DEFAULT_EMBEDDING_MODEL = "all-MiniLM-L6-v2"
MULTILINGUAL_EMBEDDING_MODEL = "multilingual-e5-small"
OPENAI = "openai:"  # the prefix of the names of OpenAI's own models if no endpoint is set

# The steps that ask a model: the first four of a build, the others of a question.
LlmStep = Literal["schema", "extract", "resolve", "summarise", "decompose", "reflect", "answer", "condense"]
LLM_STEPS: tuple[LlmStep, ...] = get_args(LlmStep)
AskStep = Literal["condense", "decompose", "reflect", "answer"]
"""The steps of a question, for which each question may choose another model. The models of a build's steps are set only
by the settings: a knowledge base records which model its facts come from, and a change would repeat paid calls."""
ENV_FILE = "BANYAN_ENV_FILE"
_DEFAULT_ENV_FILE = Path(".env")  # stands for the file that `_env_file` finds; a program may pass another one
# More chunks than the usual number of calls at once, so none is idle; few enough to show progress and keep in memory.
_BATCH_CHUNKS = 64
_DESCRIPTIONS = tomllib.loads((Path(__file__).parent / "settings.toml").read_text("utf-8"))
# Secrets, and the address that each is sent to.
_SECRETS = {"llm_api_key": "llm_base_url", "embedding_api_key": "embedding_base_url",
            "reranker_api_key": "reranker_base_url", "chroma_token": "chroma_url"}


class SettingsError(BanyanError):
    """Settings that cannot be used together."""


def default_home() -> Path:
    """Return the folder of the user's knowledge bases, unless BANYAN_HOME names another one."""
    return user_data_path("banyan", appauthor=False)


class Settings(BaseSettings):
    """All that can be set. Every field is the variable BANYAN_<NAME> in the environment; settings.toml describes it."""

    model_config = SettingsConfigDict(env_prefix="BANYAN_", env_file=_DEFAULT_ENV_FILE, extra="ignore",
                                      hide_input_in_errors=True)  # there may be a secret in it

    home: Path = Field(default_factory=default_home)
    kb: str = ""
    database_url: services.DatabaseUrl = SecretStr("")
    chroma_url: services.ChromaUrl = ""
    chroma_token: services.HeaderToken = SecretStr("")
    chroma_token_header: services.HeaderName = "Authorization"  # noqa: S105  (a header's name)

    llm_base_url: services.EndpointUrl | None = None
    llm_api_key: SecretStr = SecretStr("none")
    llm_model: str = "gpt-4o-mini"
    # NoDecode: errors in the JSON are told by the validators, which do not repeat keys.
    llm_endpoints: Annotated[services.NamedEndpoints, NoDecode] = {}
    llm_model_schema: str = ""
    llm_model_extract: str = ""
    llm_model_resolve: str = ""
    llm_model_summarise: str = ""
    llm_model_decompose: str = ""
    llm_model_reflect: str = ""
    llm_model_answer: str = ""
    llm_model_condense: str = ""
    llm_timeout: float = Field(60.0, gt=0)
    llm_reply_tokens: int | None = Field(None, ge=1)
    llm_reasoning_effort: str = ""
    llm_extra_body: Annotated[services.ExtraBody, NoDecode] = {}
    llm_retries: int = Field(4, ge=0)
    llm_requests_per_second: float | None = Field(None, gt=0)
    llm_concurrency: int = Field(32, ge=1)
    llm_tokens_per_minute: int | None = Field(None, gt=0)
    language: Literal["auto", "en", "zh"] = "auto"
    prices: Path | None = None

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "WARNING"
    log_format: Literal["text", "json"] = "text"

    embedding_model: str = AUTO_EMBEDDING_MODEL
    embedding_base_url: services.EndpointUrl | None = None
    embedding_api_key: SecretStr = SecretStr("none")
    embedding_query_prefix: str = ""
    embedding_passage_prefix: str = ""
    embedding_batch: int = Field(32, ge=1)

    spacy_pipelines: str = ""
    chunk_tokens: int = Field(400, ge=32)
    chunk_overlap: int = Field(60, ge=0)
    extract_tokens: int = Field(1200, ge=0)
    batch_chunks: int | None = Field(None, ge=1)

    max_file_mb: float = Field(100.0, gt=0)
    max_file_seconds: float = Field(120.0, gt=0)
    ocr: Literal["auto", "off"] = "auto"

    schema_confidence: float = Field(0.8, ge=0, le=1)
    schema_support: int | None = Field(None, ge=1)
    schema_growth: int = Field(40, ge=0)
    resolve: bool = True

    server_keys: Path | None = None
    oidc_issuer: services.IssuerUrl = ""
    oidc_audience: str = ""
    oidc_scopes_claim: str = "scope"
    oidc_scope_prefix: str = "banyan:"
    oidc_bases_claim: str = ""
    server_documents: str = ""
    server_models: str = ""
    server_hosts: str = ""
    max_upload_mb: float = Field(200.0, gt=0)
    max_request_kb: float = Field(4096.0, gt=0)
    requests_per_minute: int = Field(6000, ge=1)
    asks_at_once: int | None = Field(None, ge=1)
    max_scope_chunks: int = Field(10_000, ge=1)
    open_bases: int = Field(8, ge=1)
    ask_seconds: float | None = Field(None, gt=0)
    builds_at_once: int = Field(2, ge=1)

    max_rounds: int = Field(5, ge=1)
    max_tool_calls: int = Field(30, ge=1)
    abstain_below: float = Field(0.5, ge=0, le=1)
    context_tokens: int = Field(4000, ge=100)
    reranker: str = ""
    reranker_base_url: services.EndpointUrl | None = None
    reranker_api_key: SecretStr = SecretStr("none")

    @field_validator("llm_reasoning_effort")
    @classmethod
    def _check_efforts(cls, efforts: str) -> str:
        """Return the efforts without blanks around them; raise ValueError if a step or an effort does not exist."""
        services.check_efforts(efforts, LLM_STEPS)
        return efforts.strip()

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        """Take address, key and model from the endpoint that `llm_model` names, if it names one of `llm_endpoints`.

        Raise ValueError for a setting that has no effect, or is unsafe, without another one that is not set.
        """
        if endpoint := self.llm_endpoints.get(self.llm_model):
            self.llm_base_url, self.llm_api_key = endpoint.base_url, endpoint.api_key
            self.llm_model = endpoint.model
        at_endpoints = [step for step in LLM_STEPS if getattr(self, f"llm_model_{step}") in self.llm_endpoints]
        if at_endpoints and not self.uses_llm:
            raise ValueError(f"BANYAN_LLM_MODEL_{at_endpoints[0].upper()} names an endpoint, and the other steps have "
                             "none: set BANYAN_LLM_MODEL to the name of one, or BANYAN_LLM_BASE_URL")
        if self.oidc_issuer and not self.oidc_audience:
            raise ValueError("set BANYAN_OIDC_AUDIENCE, too: without it, tokens for other servers would count here")
        return self

    @property
    def database(self) -> SecretStr | None:
        """The address of the database that holds the ledgers; None if they are in the home folder."""
        return self.database_url if self.database_url.get_secret_value() else None

    @property
    def chroma_server(self) -> services.ChromaServer | None:
        """The Chroma server that holds the vectors; None if they are in the home folder."""
        if not self.chroma_url:
            return None
        return services.ChromaServer(url=self.chroma_url, token=self.chroma_token,
                                     token_header=self.chroma_token_header)

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource, dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return one source with the settings of all sources: arguments go before the environment, then the `.env`."""
        arguments, environment = init_settings(), env_settings()
        assert isinstance(dotenv_settings, DotEnvSettingsSource)  # noqa: S101  (as pydantic-settings makes it)
        if dotenv_settings.env_file == _DEFAULT_ENV_FILE:  # the program passes no file of its own
            path = _env_file(Path(arguments.get("home") or environment.get("home") or default_home()))
            dotenv_settings = DotEnvSettingsSource(settings_cls, env_file=path)
        file = dotenv_settings()
        _check_secrets({"the arguments": arguments, "the environment": environment,
                        f"the file {dotenv_settings.env_file}": file})
        # The values that were read are returned, because the sources themselves would read everything again.
        return (InitSettingsSource(settings_cls, {**file, **environment, **arguments}),)

    @property
    def uses_llm(self) -> bool:
        """True if a language model is set: an endpoint, or a model with its provider. Otherwise the rules are used."""
        return bool(self.llm_base_url) or ":" in self.llm_model

    @property
    def speaks_openai(self) -> bool:
        """True if the model is behind OpenAI's endpoint or a compatible one."""
        return bool(self.llm_base_url) or self.llm_model.startswith(OPENAI)

    @property
    def batch_size(self) -> int:
        """The number of chunks in a batch of a build."""
        if self.batch_chunks:
            return self.batch_chunks
        # With a model, at least two for each call at once: the end of a batch waits for its last answer.
        return max(_BATCH_CHUNKS, 2 * self.llm_concurrency) if self.uses_llm else _BATCH_CHUNKS

    def model_of(self, step: LlmStep) -> str:
        """Return the model of a step: its own if one is set, else `llm_model`."""
        return self.for_step(step).llm_model

    def for_step(self, step: LlmStep) -> Self:
        """Return the settings of a step: endpoint, `llm_model` and `llm_reasoning_effort` are the step's own."""
        model = str(getattr(self, f"llm_model_{step}"))  # a model's name, or that of an endpoint, or ""
        changes: dict[str, Any] = {"llm_model": model or self.llm_model,
                                   "llm_reasoning_effort": services.effort_of(self.llm_reasoning_effort, step)}
        if endpoint := self.llm_endpoints.get(model):
            changes |= {"llm_base_url": endpoint.base_url, "llm_api_key": endpoint.api_key, "llm_model": endpoint.model}
        return self.model_copy(update=changes)


for _name, _field in Settings.model_fields.items():
    _field.description = _DESCRIPTIONS[_name]


def _env_file(home: Path) -> Path | None:
    """Return the `.env` file to read, that in BANYAN_ENV_FILE or in the home folder; None if the folder is relative."""
    # A relative folder depends on where the command is run, so a file there may be somebody else's.
    if named := os.environ.get(ENV_FILE):
        if not Path(named).is_file():
            raise SettingsError(f"{ENV_FILE} names {named!r}, which is no file: correct or unset it")
        return Path(named)
    home = home.expanduser()
    return home / ".env" if home.is_absolute() else None


def _check_secrets(sources: dict[str, dict[str, Any]]) -> None:
    """Raise SettingsError if a secret and the address that it is sent to come from different sources."""
    # Of several sources with a setting, the first one counts, so it is written last.
    source_of = {name: source for source, values in reversed(sources.items()) for name in values}
    for secret, address in _SECRETS.items():
        secret_source, address_source = source_of.get(secret), source_of.get(address)
        if not secret_source or not address_source or secret_source == address_source:
            continue
        if sources[address_source][address]:  # an empty address is sent nothing
            raise SettingsError(f"BANYAN_{address.upper()} comes from {address_source}, and BANYAN_{secret.upper()} "
                                f"from {secret_source}: a secret is only sent to an address from the same source; set "
                                "both in one, or unset one")
