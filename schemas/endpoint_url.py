"""The address of a model's endpoint."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator


def check_endpoint(url: str) -> str:
    """Return an endpoint's address without blanks around it; it is shown and logged, so it holds no secret.

    Raises:
        ValueError: there is a name or password in it, or it is no address.
    """
    url = url.strip()
    try:
        parts = urlsplit(url)
        secret = "@" in parts.netloc
    except ValueError:
        raise ValueError("it is no address: an endpoint's is such as http://127.0.0.1:11434/v1") from None
    if secret:
        raise ValueError("it has a name or password in it: give the key by its own setting, such as "
                         "BANYAN_LLM_API_KEY, which is never shown")
    return url


EndpointUrl = Annotated[str, AfterValidator(check_endpoint)]
