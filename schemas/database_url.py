"""The address of a PostgreSQL database."""

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, SecretStr

# Strict: clients misread an unencoded sign in a password as the host or the database, and show it in errors.
_ADDRESS = re.compile(r"postgresql(?:\+psycopg)?://(?:[^\s@/?#\[\]]*@)?[^\s@/?#]*/[^\s@/?#]+/?(?:\?[^\s@#]*)?")


def _check(url: SecretStr) -> SecretStr:
    text = url.get_secret_value()
    try:
        sound = not text or (_ADDRESS.fullmatch(text) and urlsplit(text).port != 0)
    except ValueError:
        sound = False
    # The message does not repeat the URL, which may contain a password.
    if not sound:
        raise ValueError("it should be the address of a PostgreSQL database, such as "
                         "postgresql+psycopg://banyan:PASSWORD@127.0.0.1/banyan, with user and password "
                         "percent-encoded (%40 for @, %2F for /, %3A for :, %3F for ?, %23 for #, %25 for %)")
    return url


DatabaseUrl = Annotated[SecretStr, AfterValidator(_check)]
