"""The ledger's LLM calls: responses kept so that none is paid twice, and what was paid for what."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from ...runtime.budgets import Budget, charge
from ...schemas.documents import Frozen
from ...schemas.prices import Prices
from .database import Database
from .tables import CALLS, TOKENS, insertion

By = Literal["step", "document", "build"]
"""What accounts are added up by."""

_AMOUNTS = ("calls", "prompt", "completion", "cached", "wasted_calls", "wasted")
_SUMS = ", ".join(f"sum({amount}) AS {amount}" for amount in _AMOUNTS)
_ADDITION = (f"{insertion(TOKENS)} ON CONFLICT (build, document, step, model) DO UPDATE SET "
             + ", ".join(f"{amount} = tokens.{amount} + excluded.{amount}" for amount in _AMOUNTS))
_BUILD = "(CAST(:build AS TEXT) IS NULL OR build = :build)"
"""Of one build, or of all where none is given."""


class Tokens(Frozen):
    """What was paid: calls, and tokens."""

    calls: int = 0
    prompt: int = 0
    """Cached ones among them."""
    completion: int = 0
    cached: int = 0
    """Prompt tokens that the endpoint says it had in its cache."""
    wasted_calls: int = 0
    """Calls whose answer could not be used."""
    wasted: int = 0
    """Prompt and completion tokens of those."""

    def plus(self, other: "Tokens") -> "Tokens":
        """The sum, field by field."""
        return Tokens(**{field: getattr(self, field) + getattr(other, field) for field in Tokens.model_fields})


class StepTokens(Tokens):
    """What one step has cost so far."""

    step: str


class Spent(Tokens):
    """What was paid for something, in tokens and money."""

    name: str
    """The step, document or build; empty: what belongs to none."""
    cost: float | None = Field(description="in the price file's currency; None: not all its models' prices are known")


class Calls:
    """Responses by key, and accounts by build, document, step and model. Only calls that were paid are counted.

    Accounts outlive the documents that they are for: what was paid stays paid.

    Args:
        database: the ledger's.
        budget: taken where the calling thread's `charged` names none; none: unlimited.
    """

    def __init__(self, database: Database, budget: Budget | None = None) -> None:
        self._db = database
        self._budget = budget

    @property
    def gone(self) -> bool:
        """Whether they have to be opened again (see `Database.gone`)."""
        return self._db.gone

    def lookup(self, key: str) -> str | None:
        """The response to an equal call made before, or None."""
        rows = self._db.rows("SELECT response, prompt_tokens, completion_tokens FROM calls WHERE key = :key", key=key)
        if not rows:
            return None
        response, *tokens = rows[0]
        if usage := charge().usage:
            usage.add(*tokens)
        return str(response)

    def record(self, *, key: str, step: str, response: str, prompt_tokens: int, completion_tokens: int,
               cached_tokens: int = 0, wasted: bool = False, model: str = "") -> None:
        """Keep a paid call's response and add its tokens to the accounts, in one transaction.

        The build and document are those that `charged` names. Arguments are as in `CallLedger`.
        """
        where = charge()
        cached_tokens = _believed(cached_tokens, prompt_tokens)
        with self._db.transaction():
            self._db.replace(CALLS, [(key, step, response, prompt_tokens, completion_tokens)])
            self._put_down(step, model, 1, prompt_tokens, completion_tokens, cached_tokens, int(wasted),
                           int(wasted) * (prompt_tokens + completion_tokens))
        if where.usage:
            where.usage.add(prompt_tokens, completion_tokens)
        if where.allowance is not None:
            where.allowance.keep(prompt_tokens + completion_tokens)

    def put_down(self, step: str, model: str, calls: int, prompt: int) -> None:
        """Add calls to the accounts that leave no response to be kept, such as embeddings: an `Account`."""
        with self._db.transaction():
            self._put_down(step, model, calls, prompt, 0, 0, 0, 0)

    def _put_down(self, step: str, model: str, *sums: int) -> None:
        """Add the sums, in the order of the table's columns, to those of the build and document in `charged`."""
        self._db.execute(_ADDITION, build=charge().build, document=charge().document, step=step, model=model,
                         **dict(zip(_AMOUNTS, sums, strict=True)))

    def check_budget(self) -> None:
        """Called before a call is paid.

        Raises:
            BudgetExceeded: the budget of the block (`charged`), or else of these accounts, is reached, or the client's
                allowance is spent.
        """
        where = charge()
        where.check()
        if where.budget is None and self._budget is not None:
            self._budget.check()

    def spend(self, model: str, prompt_tokens: int, completion_tokens: int, cached_tokens: int) -> None:
        """Take a paid call from the budget and allowance that `check_budget` looks at."""
        where = charge()
        if where.allowance is not None:
            where.allowance.spend(prompt_tokens + completion_tokens)
        budget = where.budget or self._budget
        if budget is not None:
            budget.add(model, prompt_tokens, completion_tokens, _believed(cached_tokens, prompt_tokens))

    def charge_to(self, budget: Budget, build: str) -> None:
        """Count in a budget what a build has paid so far, maybe in another process."""
        for row in self._db.rows("SELECT model, sum(prompt), sum(completion), sum(cached) FROM tokens "
                                 "WHERE build = :build GROUP BY model", build=build):
            budget.add(*row)

    def steps(self) -> list[StepTokens]:
        """The accounts, by step's name."""
        return [StepTokens(**row._asdict())
                for row in self._db.rows(f"SELECT step, {_SUMS} FROM tokens GROUP BY step ORDER BY step")]  # noqa: S608

    def total(self, build: str | None = None) -> StepTokens:
        """The sum of all accounts, or of a build's."""
        (row,) = self._db.rows(f"SELECT {_SUMS} FROM tokens WHERE {_BUILD}", build=build)  # noqa: S608
        return StepTokens(step="all", **{field: value or 0 for field, value in row._asdict().items()})

    def spent(self, by: By, prices: Prices, build: str | None = None) -> list[Spent]:
        """What was paid, by step, document or build, in the order of their names."""
        by_name: dict[str, list[Spent]] = {}
        for row in self._db.rows(
                f"SELECT {by} AS name, model, {_SUMS} FROM tokens WHERE {_BUILD} "  # noqa: S608
                "GROUP BY name, model ORDER BY name, model", build=build):
            values = row._asdict()
            cost = prices.cost(values.pop("model"), values["prompt"], values["completion"], values["cached"])
            by_name.setdefault(values["name"], []).append(Spent(cost=cost, **values))
        return [total(parts).model_copy(update={"name": name}) for name, parts in by_name.items()]

    def extractions(self, model: str, enough: int) -> tuple[Tokens, list[str]]:
        """What a model was paid for extracting some documents' chunks, repairs among it.

        Args:
            model: who was asked.
            enough: chunks after which no further document is looked at.

        Returns:
            The sum, and the ids of the chunks: all of each document that was paid for as it is now.
        """
        whole, chunks = Tokens(), list[str]()
        for row in self._db.rows(
                f"SELECT document, {_SUMS} FROM tokens WHERE step = 'extract' AND document <> '' AND model = :model "  # noqa: S608
                "GROUP BY document ORDER BY document", model=model):
            values = row._asdict()
            extracted = [str(chunk[0]) for chunk in self._db.rows(
                "SELECT id FROM chunks WHERE document = :document AND status IN ('extracted', 'done') "
                "ORDER BY revision, ordinal", document=values.pop("document"))]
            paid = Tokens(**values)
            if extracted and paid.calls - paid.wasted_calls == len(extracted):
                whole, chunks = whole.plus(paid), chunks + extracted
            if len(chunks) >= enough:
                break
        return whole, chunks


def total(parts: Sequence[Spent]) -> Spent:
    """The sum; its cost is known where all of theirs are."""
    tokens = Tokens()
    for part in parts:
        tokens = tokens.plus(part)
    costs = [part.cost for part in parts if part.cost is not None]
    return Spent(name="all", cost=sum(costs) if len(costs) == len(parts) else None, **tokens.model_dump())


def _believed(cached_tokens: int, prompt_tokens: int) -> int:
    """What an endpoint reports of its cache, as far as it can be."""
    return max(0, min(cached_tokens, prompt_tokens))
