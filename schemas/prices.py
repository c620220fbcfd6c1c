"""What models cost, from a file of the user's: no price is built in, and none is guessed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from .documents import Frozen
from .errors import BanyanError

PER = 1_000_000
"""Prices are for so many tokens."""
_EXAMPLE = '{"gpt-4o-mini": {"prompt": 0.15, "cached": 0.075, "completion": 0.6}}'
_SHOWN_ERRORS = 3

_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class PricesError(BanyanError):
    """The price file cannot be used, or a price is missing that is needed."""


class Price(Frozen):
    """What a model costs per million tokens, in any one currency."""

    prompt: _Amount
    completion: _Amount
    cached: _Amount | None = None
    """Of prompt tokens that the endpoint had in its cache; none: as much as others."""


_FILE = TypeAdapter(dict[str, Price])


class Prices:
    """Prices by model's name."""

    def __init__(self, by_model: Mapping[str, Price]) -> None:
        self._by_model = dict(by_model)

    def __contains__(self, model: object) -> bool:
        """Whether a model's price is known."""
        return model in self._by_model

    def cost(self, model: str, prompt: int, completion: int, cached: int = 0) -> float | None:
        """What tokens cost.

        Args:
            model: who was asked.
            prompt: the prompt's tokens, cached ones among them.
            completion: the answer's tokens.
            cached: those of the prompt that came from the endpoint's cache.

        Returns:
            The cost in the file's currency; None: the model's price is not known. Nothing costs nothing.
        """
        if not prompt and not completion:
            return 0.0
        price = self._by_model.get(model)
        if price is None:
            return None
        read = price.prompt if price.cached is None else price.cached
        return ((prompt - cached) * price.prompt + cached * read + completion * price.completion) / PER


def load_prices(path: Path | None) -> Prices:
    """Read a price file: a JSON object from models' names to `prompt`, `completion` and, if it differs, `cached`.

    Raises:
        PricesError: it cannot be read or has another form; names what and where.
    """
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
        raise PricesError(f"the price file {path} (BANYAN_PRICES) cannot be used ({problems}): it is to look like "
                          f"{_EXAMPLE}, prices per million tokens") from error
