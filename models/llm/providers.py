"""Chat models of other providers, by LangChain's names, such as `anthropic:NAME`."""

from typing import Any, ClassVar

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableLambda

from ...config import Settings
from .capability import Form
from .chat import TEMPERATURE, OpenAiEndpoint, tool
from .failures import NO_KEY, NOT_SET_UP, failure


class ProviderEndpoint(OpenAiEndpoint):
    """The client of the provider that the model's name begins with. Its package has to be installed.

    The key is `llm_api_key` where that is set, else the one in the variable that the provider's client reads.
    """

    # Each provider's package raises different errors; all become one that names the cause.
    _errors: ClassVar[tuple[type[Exception], ...]] = (Exception,)

    def _connect(self, settings: Settings) -> BaseChatModel:
        key = settings.llm_api_key.get_secret_value()
        options: dict[str, Any] = {"api_key": None if key == NO_KEY else key, "max_tokens": settings.llm_reply_tokens}
        try:
            model: BaseChatModel = init_chat_model(
                settings.llm_model, temperature=TEMPERATURE, timeout=settings.llm_timeout,
                max_retries=settings.llm_retries, cache=False, disable_streaming=True, tags=["nostream"],
                configurable_fields=None, **{name: value for name, value in options.items() if value is not None})
        except Exception as error:  # noqa: BLE001  (a missing package or key: each provider raises its own error)
            raise failure(error, self._name, self._key, fix=NOT_SET_UP) from None
        return model

    def _bind_form(self, form: Form, json_schema: dict[str, Any]) -> Runnable[Any, AIMessage]:
        match form:
            case "json_schema":
                structured: Runnable[Any, Any] = self._chat.with_structured_output(
                    json_schema, method="json_schema", include_raw=True)
                return structured | RunnableLambda[Any, AIMessage](_raw)
            case "tools":
                return self._chat.bind_tools([tool(json_schema)], tool_choice=json_schema["title"])
            case _:
                return self._chat


def _raw(structured: dict[str, Any]) -> AIMessage:
    """Return the raw message, whether it could be parsed or not."""
    message: AIMessage = structured["raw"]
    return message
