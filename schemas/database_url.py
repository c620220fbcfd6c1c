"""The address of a PostgreSQL database."""

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, SecretStr

# Strict: clients take what follows an unencoded sign in a password for the host or the database, which errors show.
_ADDRESS = re.compile(r"postgresql(?:\+psycopg)?://(?:[^\s@/?#\[\]]*@)?[^\s@/?#]*/[^\s@/?#]+/?(?:\?[^\s@#]*)?")


def _check(url: SecretStr) -> SecretStr:
    text = url.get_secret_value()
    try:
        sound = not text or (_ADDRESS.fullmatch(text) and urlsplit(text).port != 0)
    except ValueError:
        sound = False
    # What is wrong is not repeated: there may be a password in it.
    if not sound:
        raise ValueError("it should be the address of a PostgreSQL database, such as "
                         "postgresql+psycopg://banyan:PASSWORD@127.0.0.1/banyan, with user and password "
                         "percent-encoded (%40 for @, %2F for /, %3A for :, %3F for ?, %23 for #, %25 for %)")
    return url


DatabaseUrl = Annotated[SecretStr, AfterValidator(_check)]
