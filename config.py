"""Settings: environment variables with the prefix BANYAN_, a `.env` file, or keyword arguments."""

from pathlib import Path
from typing import Literal, get_args

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from .schemas.chroma_server import ChromaServer, ChromaUrl, HeaderName, HeaderToken

DEFAULT_EMBEDDING_MODEL = "all-MiniLM-L6-v2"

LlmStep = Literal["extract", "resolve", "summarise", "decompose", "reflect", "answer", "condense"]
"""The steps that ask a model: the first three of a build, the others of a question."""
LLM_STEPS: tuple[LlmStep, ...] = get_args(LlmStep)


class Settings(BaseSettings):
    """All that can be set. Every field is the variable BANYAN_<NAME> in the environment."""

    model_config = SettingsConfigDict(env_prefix="BANYAN_", env_file=".env", extra="ignore")

    home: Path = Field(Path(".banyan"), description="folder of the knowledge bases")

    chroma_url: ChromaUrl = Field("", description="Chroma server that holds the vectors; empty: they are in the home "
                                                  "folder")
    chroma_token: HeaderToken = Field(SecretStr(""), description="the token that it asks for, if any; never "
                                                                      "logged or stored")
    chroma_token_header: HeaderName = Field("Authorization", description="the header that the token is sent in; as "
                                                                         "a bearer's in this one")

    llm_base_url: str | None = Field(None, description="OpenAI-compatible endpoint; none: rules reasoner")
    llm_api_key: SecretStr = Field(SecretStr("none"), description="its key; never logged or stored")
    llm_model: str = Field("gpt-4o-mini", description="its model's name")
    llm_model_extract: str = Field("", description="another model for extraction; empty: llm_model, as for the others")
    llm_model_resolve: str = Field("", description="for judging whether two names denote the same entity")
    llm_model_summarise: str = Field("", description="for describing communities")
    llm_model_decompose: str = Field("", description="for decomposing a question")
    llm_model_reflect: str = Field("", description="for judging the evidence, and asking for what is missing")
    llm_model_answer: str = Field("", description="for the answer")
    llm_model_condense: str = Field("", description="for making a follow-up question stand alone")
    llm_timeout: float = Field(60.0, gt=0, description="seconds for one call")
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

    embedding_model: str = Field(DEFAULT_EMBEDDING_MODEL, description="any sentence-transformers model on this machine")
    embedding_batch: int = Field(32, ge=1, description="texts that it encodes at once")

    chunk_tokens: int = Field(400, ge=32, description="upper size of a chunk, estimated tokens")
    chunk_overlap: int = Field(60, ge=0, description="whole sentences repeated, up to these tokens")
    batch_chunks: int = Field(64, ge=1, description="chunks between two commits of a build")

    max_file_mb: float = Field(100.0, gt=0, description="largest file or record read, unpacked and as text too, in MB")
    max_documents: int = Field(1_000_000, ge=1, description="most documents that one build reads")
    max_json_depth: int = Field(64, ge=1, le=500, description="deepest nesting of a JSON record")
    max_folder_depth: int = Field(64, ge=1, le=500, description="deepest nesting of folders")

    schema_confidence: float = Field(0.8, ge=0, le=1, description="mu of eq. 3: mean confidence to accept")
    schema_support: int = Field(2, ge=1, description="documents that must support a new element")
    schema_consistency: float = Field(0.0, ge=-2, le=2, description="how much more alike a new element's contexts "
                                                                   "must be than those of different candidates")
    schema_growth: int = Field(20, ge=0, description="most new elements of each kind that join by themselves")

    resolve: bool = Field(True, description="merge several names of an entity into one node")

    server_keys: Path | None = Field(None, description="JSON file of the server's API keys; none: server-keys.json in "
                                                       "the home folder")
    server_documents: str = Field("", description="folders that builds through a LangGraph server may read, separated "
                                                  "as in PATH; empty: none, documents come as text")
    server_models: str = Field("", description="models that clients of a LangGraph server may choose for a question, "
                                               "with commas between, besides those set here")
    server_hosts: str = Field("", description="further host names that the server answers to, with commas between")
    max_upload_mb: float = Field(200.0, gt=0, description="largest upload to the server, all its files together")
    max_request_kb: float = Field(4096.0, gt=0, description="largest request to the server that is no upload")
    requests_per_minute: int = Field(6000, ge=1, description="requests of a client to the server; as many may come "
                                                             "at once")
    asks_at_once: int | None = Field(None, ge=1, description="questions that the server answers at once; none: 2 with "
                                                             "the rules, llm_concurrency with an LLM")
    builds_at_once: int = Field(2, ge=1, description="builds that the server runs at once; others wait")

    max_sub_queries: int = Field(5, ge=1, description="parts of a question searched in one round")
    max_rounds: int = Field(3, ge=1, description="rounds of retrieval for a question")
    # What the two caps above allow (1 + 3 x 5, along 4 routes): raising those alone does not raise the cost.
    max_sub_queries_in_all: int = Field(16, ge=1, description="sub-queries of all rounds, the question among them")
    max_tool_calls: int = Field(64, ge=1, description="searches of a sub-query along a route, over all rounds")
    abstain_below: float = Field(0.5, ge=0, le=1, description="confidence below which mode reject abstains")
    context_tokens: int = Field(3000, ge=100, description="budget of the passages given to the answer")
    top_k: int = Field(100, ge=1, description="chunks ranked for a question")
    reranker: str = Field("", description="sentence-transformers CrossEncoder, name or folder; empty: none")
    rerank_passages: int = Field(30, ge=1, description="best passages that the cross-encoder reorders")

    @property
    def chroma_server(self) -> ChromaServer | None:
        """The server that holds the vectors; None: they are in the home folder."""
        if not self.chroma_url:
            return None
        return ChromaServer(url=self.chroma_url, token=self.chroma_token, token_header=self.chroma_token_header)

    def model_of(self, step: LlmStep) -> str:
        """The model that a step asks: its own where one is set, else `llm_model`."""
        return str(getattr(self, f"llm_model_{step}")) or self.llm_model


__all__ = ["DEFAULT_EMBEDDING_MODEL", "LLM_STEPS", "LlmStep", "Settings"]
