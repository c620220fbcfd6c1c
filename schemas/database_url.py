"""The address of a PostgreSQL database."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, SecretStr


def _check(url: SecretStr) -> SecretStr:
    if not url.get_secret_value():
        return url
    try:
        parts = urlsplit(url.get_secret_value())
        sound = parts.scheme in ("postgresql", "postgresql+psycopg") and parts.path.strip("/") and parts.port != 0
    except ValueError:
        sound = False
    # What is wrong is not repeated: there may be a password in it.
    if not sound:
        raise ValueError("it should be the address of a PostgreSQL database, such as "
                         "postgresql+psycopg://banyan:PASSWORD@127.0.0.1/banyan")
    return url


DatabaseUrl = Annotated[SecretStr, AfterValidator(_check)]
