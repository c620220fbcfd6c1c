"""Settings: environment variables with the prefix BANYAN_, lines of a `.env` file, or keyword arguments.

A `.env` file is read from the path in BANYAN_ENV_FILE, else from the home folder of the knowledge bases. It is not read
from the current folder, because somebody else may have written the files there.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from platformdirs import user_data_path
from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from .schemas.errors import BanyanError
from .schemas.services import (
    ChromaServer,
    ChromaUrl,
    DatabaseUrl,
    EndpointUrl,
    ExtraBody,
    HeaderName,
    HeaderToken,
    IssuerUrl,
    NamedEndpoints,
    check_efforts,
    effort_of,
)

AUTO_EMBEDDING_MODEL = "auto"
"""Chooses one of the two bundled models for each knowledge base by the language of its documents."""
DEFAULT_EMBEDDING_MODEL = "all-MiniLM-L6-v2"
MULTILINGUAL_EMBEDDING_MODEL = "multilingual-e5-small"
OPENAI = "openai:"
"""The prefix of the names of OpenAI's own models if no endpoint is set."""

LlmStep = Literal["schema", "extract", "resolve", "summarise", "decompose", "reflect", "answer", "condense"]
"""The steps that ask a model: the first four of a build, the others of a question."""
LLM_STEPS: tuple[LlmStep, ...] = get_args(LlmStep)
AskStep = Literal["condense", "decompose", "reflect", "answer"]
"""The steps of a question, for which each question may choose another model. The models of a build's steps are set only
by the settings: a knowledge base records which model its facts come from, and a change would repeat paid calls."""
ENV_FILE = "BANYAN_ENV_FILE"
_DEFAULT_ENV_FILE = Path(".env")
"""Stands for the file that `_env_file` finds; a program may pass another one to `Settings`."""
_BATCH_CHUNKS = 64
"""More than the usual number of calls at once, so none is idle; few enough to show progress and keep in memory."""
_SECRETS = {"llm_api_key": "llm_base_url", "embedding_api_key": "embedding_base_url",
            "reranker_api_key": "reranker_base_url", "chroma_token": "chroma_url"}
"""Secrets, and the address that each is sent to."""


def default_home() -> Path:
    """Return the folder of the user's knowledge bases, unless BANYAN_HOME names another one."""
    return user_data_path("banyan", appauthor=False)


class SettingsError(BanyanError):
    """Settings that cannot be used together."""


class Settings(BaseSettings):
    """All that can be set. Every field is the variable BANYAN_<NAME> in the environment."""

    model_config = SettingsConfigDict(env_prefix="BANYAN_", env_file=_DEFAULT_ENV_FILE, extra="ignore",
                                      hide_input_in_errors=True)  # there may be a secret in it

    home: Path = Field(default_factory=default_home, description="folder of the knowledge bases")

    kb: str = Field("", description="knowledge base of commands that name none; empty: the only one there is")

    database_url: DatabaseUrl = Field(SecretStr(""), description="PostgreSQL database that holds the ledgers, as "
                                      "`postgresql+psycopg://USER:PASSWORD@HOST/DATABASE`; empty: SQLite in the home "
                                      "folder; its password is never logged or stored")

    chroma_url: ChromaUrl = Field("", description="Chroma server that holds the vectors; empty: they are in the home "
                                                  "folder")
    chroma_token: HeaderToken = Field(SecretStr(""), description="the token that it asks for, if any; never "
                                                                      "logged or stored")
    chroma_token_header: HeaderName = Field("Authorization", description="the header that the token is sent in; as "
                                                                         "a bearer's in this one")

    llm_base_url: EndpointUrl | None = Field(None, description="OpenAI-compatible endpoint; none: the provider that "
                                                "llm_model names, else the rules reasoner")
    llm_api_key: SecretStr = Field(SecretStr("none"), description="its key; never logged or stored")
    llm_model: str = Field("gpt-4o-mini", description="its model's name; without an endpoint, as LangChain names it: "
                                                      "`anthropic:NAME`")
    # NoDecode: errors in the JSON are told by the validator, which does not repeat keys.
    llm_endpoints: Annotated[NamedEndpoints, NoDecode] = Field({}, description="JSON object of endpoints by names of "
        'your own: `{"local": {"base_url": "http://127.0.0.1:11434/v1", "model": "qwen3:8b", "api_key": "..."}}`; '
        "such a name in llm_model, or in a step's own setting below, means that model there")
    llm_model_schema: str = Field("", description="another model, or the name of an endpoint, for proposing a schema "
                                                  "and grouping its labels; empty: llm_model, as for the others")
    llm_model_extract: str = Field("", description="for extraction")
    llm_model_resolve: str = Field("", description="for judging whether two names denote the same entity")
    llm_model_summarise: str = Field("", description="for describing communities")
    llm_model_decompose: str = Field("", description="for decomposing a question")
    llm_model_reflect: str = Field("", description="for judging the evidence, and answering or asking for what is "
                                                   "missing")
    llm_model_answer: str = Field("", description="for the answer where no reflection gave it")
    llm_model_condense: str = Field("", description="for making a follow-up question stand alone")
    llm_timeout: float = Field(60.0, gt=0, description="seconds for one call")
    llm_reply_tokens: int | None = Field(None, ge=1, description="most tokens of one reply, so that a small model that "
                                                                  "repeats itself ends; none: as the endpoint has it")
    llm_reasoning_effort: str = Field("", description="how much a thinking model thinks: `none`, `minimal`, `low`, "
                                      "`medium`, `high`, `xhigh` or `max`, for all steps or by step: "
                                      "`extract=low,answer=medium`; empty: as the endpoint has it")
    # NoDecode: errors in the JSON are told by the validator, which names the form.
    llm_extra_body: Annotated[ExtraBody, NoDecode] = Field({}, description="JSON object whose fields are added to the "
                                                           'body of each request: `{"top_k": 20}`')
    llm_retries: int = Field(4, ge=0, description="retries on 429, 5xx and lost connections")
    llm_requests_per_second: float | None = Field(None, gt=0, description="rate limit; none: unlimited")
    llm_concurrency: int = Field(32, ge=1, description="calls at once, of the process to one endpoint")
    llm_tokens_per_minute: int | None = Field(None, gt=0, description="rate limit; none: unlimited")
    language: Literal["auto", "en", "zh"] = Field("auto", description="language of the prompts")
    prices: Path | None = Field(None, description="JSON file of the models' prices per million tokens, in any one "
                                                  'currency: `{"gpt-4o-mini": {"prompt": 0.15, "cached": 0.075, '
                                                  '"completion": 0.6}}`; none: unknown')

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("WARNING", description="what the commands log, on "
                                                                                           "standard error")
    log_format: Literal["text", "json"] = Field("text", description="how: lines to read, or JSON lines")

    embedding_model: str = Field(AUTO_EMBEDDING_MODEL, description="`auto`: `all-MiniLM-L6-v2` where the first build's "
                                 "documents are English, else `multilingual-e5-small`; one of these, or any "
                                 "sentence-transformers model on this machine")
    embedding_base_url: EndpointUrl | None = Field(None, description="OpenAI-compatible endpoint that has this model; "
                                                   "none: it is on this machine, or OpenAI's if it begins with "
                                                   "`openai:`")
    embedding_api_key: SecretStr = Field(SecretStr("none"), description="its key; never logged or stored")
    embedding_query_prefix: str = Field("", description="instruction before each question, for models trained with "
                                                        "one: `query: `")
    embedding_passage_prefix: str = Field("", description="instruction before everything else: `passage: `")
    embedding_batch: int = Field(32, ge=1, description="the most texts that it encodes at once")

    spacy_pipelines: str = Field("", description="spaCy pipelines that read instead of the installed or bundled ones, "
                                                 "names or folders with commas between: `en_core_web_md`")

    chunk_tokens: int = Field(400, ge=32, description="upper size of a chunk, estimated tokens")
    chunk_overlap: int = Field(60, ge=0, description="whole sentences repeated, up to these tokens")
    extract_tokens: int = Field(1200, ge=0, description="text of several chunks that one call of a model reads, "
                                "estimated tokens; 0: each chunk has its own call")
    batch_chunks: int | None = Field(None, ge=1, description="chunks between two commits of a build; unset: 64, or "
                                     "with a model two for each call at once if that is more")

    max_file_mb: float = Field(100.0, gt=0, description="largest file or record read, unpacked and as text too, in MB")
    max_file_seconds: float = Field(120.0, gt=0, description="deadline for reading one file that is no plain text, "
                                    "or one page of a scan")
    ocr: Literal["auto", "off"] = Field("auto", description="text in pictures, as of scanned pages: read, "
                                        "or not at all")
    fetch: Literal["off", "public", "any"] = Field("off", description="which addresses of the web a build may read: "
                                                   "none, those of public networks, any; a server reads none")

    schema_confidence: float = Field(0.8, ge=0, le=1, description="mu of eq. 3: mean confidence to accept")
    schema_support: int | None = Field(None, ge=1, description="documents that must support a new element; unset: "
                                                               "2, or 1 in a corpus of fewer than 50")
    schema_growth: int = Field(40, ge=0, description="most new elements of each kind that join by themselves")

    resolve: bool = Field(True, description="merge several names of an entity into one node")

    server_keys: Path | None = Field(None, description="JSON file of the server's API keys; none: server-keys.json in "
                                                       "the home folder")
    oidc_issuer: IssuerUrl = Field("", description="OpenID Connect issuer whose bearer tokens the server accepts "
                                                   "besides keys, as its tokens name it; empty: none")
    oidc_audience: str = Field("", description="the server's name in the tokens' `aud`; needed with an issuer")
    oidc_scopes_claim: str = Field("scope", description="claim with what a token's holder may do: read, ask, write, "
                                                        "review, metrics; dots lead into others: `realm_access.roles`")
    oidc_scope_prefix: str = Field("banyan:", description="what these begin with there: `banyan:ask`")
    oidc_bases_claim: str = Field("", description="claim with the knowledge bases that a token's holder may know of, "
                                                  "`*` for all; empty: all; without the claim: none")
    server_documents: str = Field("", description="folders that builds through a LangGraph server may read, separated "
                                                  "as in PATH; empty: none, documents come as text")
    server_models: str = Field("", description="models that clients of a LangGraph server may choose for a question, "
                                               "with commas between, besides those set here")
    server_hosts: str = Field("", description="further host names that the server answers to, with commas between")
    max_upload_mb: float = Field(200.0, gt=0, description="largest upload to the server, all its files together")
    max_request_kb: float = Field(4096.0, gt=0, description="largest request to the server that is no upload")
    requests_per_minute: int = Field(6000, ge=1, description="requests of a client to the server; as many may come "
                                                             "at once")
    asks_at_once: int | None = Field(None, ge=1, description="questions that the server answers at once; none: 2 in "
                                                             "each process with the rules, llm_concurrency with an LLM")
    max_scope_chunks: int = Field(10_000, ge=1, description="most chunks of documents that a question can be limited "
                                                            "to: a first question about them waits for their index")
    open_bases: int = Field(8, ge=1, description="knowledge bases that a process keeps open for reading, and as many "
                                                 "for writing; those used longest ago are closed")
    ask_seconds: float | None = Field(None, gt=0, description="seconds that a question may take on the server; none: "
                                                              "60 with the rules, 300 with an LLM")
    builds_at_once: int = Field(2, ge=1, description="builds that the server runs at once; others wait")

    max_rounds: int = Field(5, ge=1, description="rounds of lookups for a question, after the first look")
    max_tool_calls: int = Field(30, ge=1, description="lookups for a question, over all rounds")
    abstain_below: float = Field(0.5, ge=0, le=1, description="confidence below which mode reject abstains; half of it "
                                                              "for an answer that says which link is not stated")
    context_tokens: int = Field(4000, ge=100, description="budget of the evidence in one prompt; the first look and "
                                                          "each round of lookups add about a quarter; without a "
                                                          "model the first look has all of it")
    reranker: str = Field("", description="sentence-transformers CrossEncoder, name or folder; empty: none")
    reranker_base_url: EndpointUrl | None = Field(None, description="endpoint with a `/rerank` path that has this "
                                                  "model; none: it is on this machine")
    reranker_api_key: SecretStr = Field(SecretStr("none"), description="its key; never logged or stored")

    @field_validator("llm_reasoning_effort")
    @classmethod
    def _check_efforts(cls, efforts: str) -> str:
        check_efforts(efforts, LLM_STEPS)
        return efforts.strip()

    @model_validator(mode="after")
    def _resolve_endpoint(self) -> Self:
        """Put the endpoint that `llm_model` names into the settings of the endpoint."""
        if endpoint := self.llm_endpoints.get(self.llm_model):
            self.llm_base_url, self.llm_api_key = endpoint.base_url, endpoint.api_key
            self.llm_model = endpoint.model
        named = [step for step in LLM_STEPS if getattr(self, f"llm_model_{step}") in self.llm_endpoints]
        if named and not self.uses_llm:
            raise ValueError(f"BANYAN_LLM_MODEL_{named[0].upper()} names an endpoint, and the other steps have none: "
                             "set BANYAN_LLM_MODEL to the name of one, or BANYAN_LLM_BASE_URL")
        return self

    @model_validator(mode="after")
    def _check_oidc(self) -> Self:
        if self.oidc_issuer and not self.oidc_audience:
            raise ValueError("set BANYAN_OIDC_AUDIENCE, too: without it, tokens for other servers would count here")
        return self

    @property
    def database(self) -> SecretStr | None:
        """The address of the database that holds the ledgers; None if they are in the home folder."""
        return self.database_url if self.database_url.get_secret_value() else None

    @property
    def chroma_server(self) -> ChromaServer | None:
        """The Chroma server that holds the vectors; None if they are in the home folder."""
        if not self.chroma_url:
            return None
        return ChromaServer(url=self.chroma_url, token=self.chroma_token, token_header=self.chroma_token_header)

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource, dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return one source with the settings of all sources: arguments go before the environment, then the `.env`.

        Raises:
            SettingsError: a secret and the address that it is sent to come from different sources.
        """
        arguments, environment = init_settings(), env_settings()
        assert isinstance(dotenv_settings, DotEnvSettingsSource)  # noqa: S101  (as pydantic-settings makes it)
        if dotenv_settings.env_file == _DEFAULT_ENV_FILE:
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
        """The number of chunks in a batch of a build.

        With a model there are at least two for each call at once, because the end of a batch waits for its last answer
        while other calls could run.
        """
        return self.batch_chunks or max(_BATCH_CHUNKS, 2 * self.llm_concurrency if self.uses_llm else 0)

    def model_of(self, step: LlmStep) -> str:
        """Return the model of a step: its own if one is set, else `llm_model`."""
        return self.for_step(step).llm_model

    def for_step(self, step: LlmStep) -> Self:
        """Return the settings of a step: endpoint, `llm_model` and `llm_reasoning_effort` are the step's own."""
        chosen = str(getattr(self, f"llm_model_{step}"))
        own: dict[str, Any] = {"llm_model": chosen or self.llm_model,
                               "llm_reasoning_effort": effort_of(self.llm_reasoning_effort, step)}
        if endpoint := self.llm_endpoints.get(chosen):
            own |= {"llm_base_url": endpoint.base_url, "llm_api_key": endpoint.api_key, "llm_model": endpoint.model}
        return self.model_copy(update=own)


def _env_file(home: Path) -> Path | None:
    """Return the `.env` file to read; none in a relative home folder, where it may be somebody else's."""
    if named := os.environ.get(ENV_FILE):
        if not Path(named).is_file():
            raise SettingsError(f"{ENV_FILE} names {named!r}, which is no file: correct or unset it")
        return Path(named)
    home = home.expanduser()
    return home / ".env" if home.is_absolute() else None


def _check_secrets(sources: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise SettingsError if a secret and the address that it is sent to come from different sources."""
    def find_source(name: str) -> str:
        return next((source for source, values in sources.items() if name in values), "")

    for secret, address in _SECRETS.items():
        secret_source, address_source = find_source(secret), find_source(address)
        if not secret_source or not address_source or secret_source == address_source:
            continue
        if sources[address_source][address]:  # an empty address is sent nothing
            raise SettingsError(f"BANYAN_{address.upper()} comes from {address_source}, and BANYAN_{secret.upper()} "
                                f"from {secret_source}: a secret is only sent to an address from the same source; set "
                                "both in one, or unset one")


__all__ = ["AUTO_EMBEDDING_MODEL", "DEFAULT_EMBEDDING_MODEL", "LLM_STEPS", "MULTILINGUAL_EMBEDDING_MODEL", "OPENAI",
           "AskStep", "LlmStep", "Settings", "SettingsError"]
