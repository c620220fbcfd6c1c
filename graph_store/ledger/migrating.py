"""What brings a ledger of an older format up, in Alembic's operations. Imported where there is one."""

from collections.abc import Callable, Sequence

from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection

Migration = Callable[[Operations], None]


def bring_up(connection: Connection, steps: Sequence[Migration]) -> None:
    """Take a ledger through the steps from its format on, inside the transaction that is open."""
    operations = Operations(MigrationContext.configure(connection))
    for step in steps:
        step(operations)
