"""The prices of models, from the user's file; there are no built-in prices."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from .documents import Frozen
from .errors import BanyanError

PER = 1_000_000
"""The number of tokens that a price is for."""
_BATCHED, _BATCH_SHARE = " (batch)", 0.5
_EXAMPLE = '{"gpt-4o-mini": {"prompt": 0.15, "cached": 0.075, "completion": 0.6}}'
_SHOWN_ERRORS = 3

_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def batched(model: str) -> str:
    """Return the name that accounts and price files use for calls of a model that were answered in batches."""
    return model + _BATCHED


class PricesError(BanyanError):
    """The price file cannot be used, or a required price is missing."""


class Price(Frozen):
    """The price of a model per million tokens, in any one currency."""

    prompt: _Amount
    completion: _Amount
    cached: _Amount | None = None
    """The price of prompt tokens from the endpoint's cache; None means the same as for others."""


_FILE = TypeAdapter(dict[str, Price])


class Prices:
    """Prices by model name."""

    def __init__(self, by_model: Mapping[str, Price]) -> None:
        self._by_model = dict(by_model)

    def __contains__(self, model: object) -> bool:
        return model in self._by_model

    def cost(self, model: str, prompt: int, completion: int, cached: int = 0) -> float | None:
        """Return the cost of a call's tokens (`prompt` includes `cached`); None if the model's price is unknown.

        Calls answered in batches (`batched`) cost half of the model's price, unless the file has a price for them.
        """
        if not prompt and not completion:
            return 0.0
        price, share = self._by_model.get(model), 1.0
        if price is None:
            price, share = self._by_model.get(model.removesuffix(_BATCHED)), _BATCH_SHARE
        if price is None:
            return None
        cached_price = price.prompt if price.cached is None else price.cached
        cost = (prompt - cached) * price.prompt + cached * cached_price + completion * price.completion
        return share * cost / PER


def load_prices(path: Path | None) -> Prices:
    """Read a price file: a JSON object from models' names to `prompt`, `completion` and, if it differs, `cached`."""
    if path is None:
        return Prices({})
    try:
        return Prices(_FILE.validate_json(path.read_bytes()))
    except OSError as error:
        raise PricesError(f"the price file {path} cannot be read ({error.strerror}): set BANYAN_PRICES to a file such "
                          f"as {_EXAMPLE}, prices per million tokens") from error
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, problem['loc'])) or 'the file'}: {problem['msg']}"
                         for problem in error.errors(include_url=False, include_context=False)[:_SHOWN_ERRORS])
        raise PricesError(f"the price file {path} (BANYAN_PRICES) cannot be used ({problems}): it should look like "
                          f"{_EXAMPLE}, prices per million tokens") from error
