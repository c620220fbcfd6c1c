"""The address of a model's endpoint."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator


def check_endpoint(url: str) -> str:
    """Return an endpoint's address without surrounding blanks; it is shown and logged, so it must not contain secrets.

    Raises:
        ValueError: the address contains a name or password, or is not an address.
    """
    url = url.strip()
    try:
        parts = urlsplit(url)
        secret = "@" in parts.netloc
    except ValueError:
        raise ValueError("it is not an address: use one such as http://127.0.0.1:11434/v1") from None
    if secret:
        raise ValueError("it has a name or password in it: set the key in its own setting, such as "
                         "BANYAN_LLM_API_KEY, which is never shown")
    return url


EndpointUrl = Annotated[str, AfterValidator(check_endpoint)]
