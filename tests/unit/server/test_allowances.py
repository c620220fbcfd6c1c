"""What clients may spend in a day: counted for all processes, over restarts, and refused before it is paid."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from banyan.config import Settings
from banyan.runtime import audit
from banyan.runtime.budgets import AllowanceSpent, charge
from banyan.server.security import allowances
from banyan.server.security.allowances import Allowances
from banyan.server.security.clients import Clients
from banyan.server.security.keys import Keys
from banyan.server.server_database import ServerDatabase
from pydantic import SecretStr


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
def database(request, tmp_path):
    """Makes the server's database, as each of its processes has it."""
    place = tmp_path / "server.sqlite"
    if request.param == "postgresql":
        place = SecretStr(request.getfixturevalue("postgresql").database(f"allowances_{uuid4().hex}"))
    made = []

    def make():
        made.append(ServerDatabase(place))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = datetime(2026, 11, 23, 21, 30, tzinfo=UTC)

    monkeypatch.setattr(allowances, "_now", lambda: Clock.now)
    return Clock


def clients(tmp_path, **more):
    settings = Settings(_env_file=None, home=tmp_path, **more)
    keys = Keys.of(settings)
    keys.make("ann", ["ask"], tokens_per_day=100)
    keys.make("bob", ["ask"])
    return Clients(settings)


def pay(allowance, tokens):
    allowance.spend(tokens)
    allowance.keep(tokens)


def test_a_day_is_spent_by_all_processes_together_and_then_comes_the_next(tmp_path, database, clock):
    ours, theirs = (Allowances(database(), clients(tmp_path)).of("ann") for _ in range(2))
    pay(ours, 60)
    ours.check()
    pay(theirs, 39)
    theirs.check()
    pay(ours, 1)
    with pytest.raises(AllowanceSpent, match=r"'ann' has used 100 tokens today; the limit is 100 a day: try "
                                             r"again after 00:00 UTC, in 2 h 30 min") as told:
        ours.check()
    assert told.value.seconds == 9000
    theirs.check()
    theirs.read_spending()
    with pytest.raises(AllowanceSpent):
        theirs.check()
    again = Allowances(database(), clients(tmp_path)).of("ann")
    again.read_spending()
    with pytest.raises(AllowanceSpent):
        again.check()
    clock.now += timedelta(hours=3)
    for one in (ours, theirs, again):
        one.check()
        one.read_spending()
        one.check()


def test_whose_allowance_it_is(tmp_path, database):
    known = Allowances(database(), clients(tmp_path, oidc_tokens_per_day=7))
    assert known.of("ann") is known.of("ann")
    assert known.of("ann").most == 100
    assert known.of("oidc|eve").most == 7
    assert known.of("bob") is None
    assert known.of("local") is None
    pay(known.of("ann"), 50)
    Keys.of(Settings(_env_file=None, home=tmp_path)).make("ann", ["ask"], tokens_per_day=50)
    with pytest.raises(AllowanceSpent):
        known.of("ann").check()
    with known.spending("ann"):
        assert (audit.client(), charge().allowance) == ("ann", known.of("ann"))
        with known.spending(""):
            assert (audit.client(), charge().allowance) == ("ann", known.of("ann"))
    assert charge().allowance is None


def test_a_client_whose_key_was_revoked_spends_nothing_more(tmp_path, database):
    known = Allowances(database(), clients(tmp_path))
    for name in ("ann", "bob"):
        Keys.of(Settings(_env_file=None, home=tmp_path)).revoke(name)
        with known.spending(name), pytest.raises(AllowanceSpent, match=f"{name}' was revoked"):
            charge().check()
