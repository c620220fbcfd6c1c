"""Store LLM calls in the ledger: their responses, so that none is paid twice, and accounts of tokens."""

import json
import logging
import sqlite3
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from itertools import accumulate, pairwise
from typing import Literal

from pydantic import Field

from ...runtime.budgets import Budget, Prices, charge
from ...schemas.documents import Frozen
from .database import Database
from .tables import CALLS, TOKENS, among, insertion

_LOG = logging.getLogger("banyan")

By = Literal["step", "document", "build"]  # what accounts are grouped by

_AMOUNTS = ("calls", "prompt", "completion", "cached", "wasted_calls", "wasted")
_SUMS = ", ".join(f"sum({amount}) AS {amount}" for amount in _AMOUNTS)
_ADDITION = (f"{insertion(TOKENS)} ON CONFLICT (build, document, step, model) DO UPDATE SET "
             + ", ".join(f"{amount} = tokens.{amount} + excluded.{amount}" for amount in _AMOUNTS))
_BUILD = "(CAST(:build AS TEXT) IS NULL OR build = :build)"
"""Selects the accounts of one build, or all of them without one."""


class TokenCounts(Frozen):
    """Numbers of paid calls and tokens."""

    calls: int = 0
    prompt: int = 0
    completion: int = 0
    cached: int = 0  # those of the prompt tokens that the endpoint reports as cached
    wasted_calls: int = 0  # calls whose answer could not be used
    wasted: int = 0  # prompt and completion tokens of those calls


class Spent(TokenCounts):
    """The cost of a step, document or build, in tokens and money."""

    name: str  # the step, document or build; "" for calls that belong to none
    cost: float | None = Field(description="in the price file's currency; None if the price of a model is unknown")


class Calls:
    """The stored responses of LLM calls, and accounts of them by build, document ("" if deleted), step and model."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def lookup(self, key: str) -> str | None:
        """Return the stored response to an equal earlier call, or None; its tokens go to `Charge.on_call`."""
        for response, *tokens in self._db.rows(
                "SELECT response, prompt_tokens, completion_tokens FROM calls WHERE key = :key", key=key):
            if on_call := charge().on_call:  # that of the surrounding `charge_calls`
                on_call(*tokens)
            return str(response)
        return None

    def record(self, *, key: str, step: str, response: str, prompt_tokens: int, completion_tokens: int,
               cached_tokens: int = 0, wasted: bool = False, model: str = "") -> None:
        """Store a paid call's response and add its tokens to the accounts of the surrounding `charge_calls`."""
        where = charge()
        documents = json.dumps(sorted(where.documents), ensure_ascii=False)
        with self._store_usage(where.build):
            self._db.insert(CALLS, [(key, step, response, documents, prompt_tokens, completion_tokens)], replace=True)
            self._add_usage(step, model, 1, prompt_tokens, completion_tokens,
                            _clamp_cached(cached_tokens, prompt_tokens), wasted=wasted)
        if where.on_call:
            where.on_call(prompt_tokens, completion_tokens)

    def record_usage(self, step: str, model: str, calls: int, prompt: int) -> None:
        """Add calls that have no response to store, such as embeddings, to the accounts. Usable as an `Account`."""
        with self._store_usage(charge().build):
            self._add_usage(step, model, calls, prompt)

    @contextmanager
    def _store_usage(self, build: str) -> Iterator[None]:
        """Store within the block, all or nothing; if the disk is full, a build stops, and a question goes on."""
        try:
            with self._db.transaction():
                yield
        except sqlite3.OperationalError as error:  # a full disk; errors of PostgreSQL end the question
            if build:
                raise
            _LOG.warning("a paid call is not in the accounts, and asking again pays again (%s)", error)

    def _add_usage(self, step: str, model: str, calls: int, prompt: int, completion: int = 0, cached: int = 0, *,
                   wasted: bool = False) -> None:
        """Add calls and tokens to the accounts of the current build, divided among its documents by their weights."""
        documents = charge().documents or {"": 1}
        of_waste = (calls, prompt + completion) if wasted else (0, 0)
        amounts = (calls, prompt, completion, cached, *of_waste)
        # An empty document pays, too: some call was made for it.
        ends = list(accumulate((max(1, weight) for weight in documents.values()), initial=0))
        for document, (start, end) in zip(documents, pairwise(ends), strict=True):
            # Shares in whole numbers, whose sum is the amount.
            shares = [amount * end // ends[-1] - amount * start // ends[-1] for amount in amounts]
            if any(shares):
                self._db.execute(_ADDITION, build=charge().build, document=document, step=step, model=model,
                                 **dict(zip(_AMOUNTS, shares, strict=True)))

    def check_budget(self) -> None:
        """Raise BudgetExceeded if the budget of `charge_calls` is used up."""
        charge().check()

    def spend(self, model: str, prompt_tokens: int, completion_tokens: int, cached_tokens: int) -> None:
        """Deduct a paid call from the budget that `check_budget` checks."""
        if budget := charge().budget:
            budget.add(model, prompt_tokens, completion_tokens, _clamp_cached(cached_tokens, prompt_tokens))

    def charge_to(self, budget: Budget, build: str) -> None:
        """Add to a budget what a build has paid so far, possibly in another process."""
        for row in self._db.rows("SELECT model, sum(prompt), sum(completion), sum(cached) FROM tokens "
                                 "WHERE build = :build GROUP BY model", build=build):
            budget.add(*row)

    def total(self, build: str | None = None) -> TokenCounts:
        """Return the sum of all accounts, or of one build's."""
        (sums,) = self._db.rows(f"SELECT {_SUMS} FROM tokens WHERE {_BUILD}", build=build)  # noqa: S608
        return TokenCounts(**{amount: value or 0 for amount, value in zip(_AMOUNTS, sums, strict=True)})

    def spent(self, by: By, prices: Prices | None = None, build: str | None = None) -> list[Spent]:
        """Return the cost by step, document or build, in order of their names."""
        by_name, prices = dict[str, list[Spent]](), prices or Prices({})
        for name, model, *sums in self._db.rows(
                f"SELECT {by} AS name, model, {_SUMS} FROM tokens WHERE {_BUILD} "  # noqa: S608
                "GROUP BY name, model ORDER BY name, model", build=build):
            counts = dict(zip(_AMOUNTS, sums, strict=True))
            cost = prices.cost(model, counts["prompt"], counts["completion"], counts["cached"])
            by_name.setdefault(name, []).append(Spent(name=name, cost=cost, **counts))
        return [total(parts, name) for name, parts in by_name.items()]


def forget_documents(database: Database, documents: Set[str]) -> None:
    """Empty the stored responses that may have text of some documents, and move their accounts to the empty id."""
    for key, response, names in database.rows("SELECT key, response, documents FROM calls"):
        read_documents = json.loads(names)
        others = [document for document in read_documents if document not in documents]
        # Answers are stored without documents, and may have read any.
        if others != read_documents or (response and not read_documents):
            database.execute("UPDATE calls SET response = '', documents = :others WHERE key = :key", key=key,
                             others=json.dumps(others, ensure_ascii=False))
    accounts = database.rows(f"SELECT * FROM tokens WHERE {among('document')}", among=documents)  # noqa: S608
    database.execute_many(_ADDITION, [{**row._asdict(), "document": ""} for row in accounts])
    database.execute(f"DELETE FROM tokens WHERE {among('document')}", among=documents)  # noqa: S608


def total(parts: Sequence[Spent], name: str = "all") -> Spent:
    """Return the sum of several parts, under a name; its cost is None if the cost of any part is unknown."""
    known_costs = [part.cost for part in parts if part.cost is not None]
    cost = sum(known_costs) if len(known_costs) == len(parts) else None
    return Spent(name=name, cost=cost, **{amount: sum(getattr(part, amount) for part in parts) for amount in _AMOUNTS})


def _clamp_cached(cached_tokens: int, prompt_tokens: int) -> int:
    """Return the number of cached tokens that an endpoint reports, limited to what a prompt can have."""
    return max(0, min(cached_tokens, prompt_tokens))
