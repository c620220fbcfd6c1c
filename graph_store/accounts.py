"""The ledger's LLM calls: responses kept so that none is paid twice, and tokens by step."""

from ..models.llm.accounts import BudgetExceeded
from ..schemas.documents import Frozen
from .database import Database


class StepTokens(Frozen):
    """What one step has cost so far."""

    step: str
    calls: int
    prompt: int
    completion: int


class Calls:
    """Responses by key and token accounts by step. Only calls that were paid are counted."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def lookup(self, key: str) -> str | None:
        """The response to an equal call made before, or None."""
        found = self._db.scalar("SELECT response FROM calls WHERE key = ?", key)
        return None if found is None else str(found)

    def record(self, *, key: str, step: str, response: str, prompt_tokens: int, completion_tokens: int) -> None:
        """Keep a paid call's response and add its tokens to the step's account, in one transaction."""
        with self._db.transaction():
            self._db.execute("INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?)",
                             key, step, response, prompt_tokens, completion_tokens)
            self._db.execute("INSERT INTO tokens VALUES (?, 1, ?, ?) ON CONFLICT (step) DO UPDATE SET "
                             "calls = calls + 1, prompt = prompt + excluded.prompt, "
                             "completion = completion + excluded.completion",
                             step, prompt_tokens, completion_tokens)

    def check_budget(self) -> None:
        """The ledger as such has no budget."""

    def within(self, token_limit: int | None) -> "Calls":
        """The same accounts, refusing calls once their total has reached a limit."""
        return self if token_limit is None else _LimitedCalls(self._db, token_limit)

    def steps(self) -> list[StepTokens]:
        """The accounts, by step's name."""
        return [StepTokens(**dict(row)) for row in self._db.rows("SELECT * FROM tokens ORDER BY step")]

    def total(self) -> StepTokens:
        """The sum of all accounts."""
        row = self._db.rows("SELECT 'all' AS step, coalesce(sum(calls), 0) AS calls, "
                            "coalesce(sum(prompt), 0) AS prompt, coalesce(sum(completion), 0) AS completion "
                            "FROM tokens")[0]
        return StepTokens(**dict(row))


class _LimitedCalls(Calls):
    """Accounts with a hard limit on their total."""

    def __init__(self, database: Database, token_limit: int) -> None:
        super().__init__(database)
        self._limit = token_limit

    def check_budget(self) -> None:
        total = self.total()
        if total.prompt + total.completion >= self._limit:
            raise BudgetExceeded(f"the token budget is reached ({total.prompt + total.completion} tokens spent in "
                                 "all); run the command again with a larger --max-tokens to go on from here")
