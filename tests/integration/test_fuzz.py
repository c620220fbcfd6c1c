"""A little of `make fuzz`: the same random input each time, for all that reads what others send."""

import os
import random

import pytest

from .. import serving, small_base, warm_start
from ..conftest import EXAMPLES
from ..fuzz import readers, replies
from ..fuzz import serving_requests as requests

pytestmark = [pytest.mark.integration, pytest.mark.slow,
              pytest.mark.filterwarnings("ignore:Overriding standard format")]
SEED = int(os.environ.get("BANYAN_FUZZ_SEED", "0"))


@pytest.fixture(scope="module")
def server(tmp_path_factory, hashed_embedder):
    folder = tmp_path_factory.mktemp("fuzz")
    small_base.people(folder / "home", "demo", hashed_embedder)
    with serving.served(folder, BANYAN_ASK_SECONDS=str(requests.DEADLINE), BANYAN_REQUESTS_PER_MINUTE="100000",
                        **{warm_start.HASHED: "1"}) as server:
        yield server


def tried(target, rounds):
    """So many rounds are tried; what did harm is named with its seed (`python benchmarks/fuzz.py --seed`)."""
    for number in range(SEED, SEED + rounds * EXAMPLES):
        try:
            target.round(random.Random(number))
        except Exception as error:
            error.add_note(f"{target.name}, seed {number}")
            raise
    target.close()


def test_damaged_files_fail_alone(tmp_path):
    tried(readers.Readers(tmp_path), 2)


def test_replies_of_any_form_are_read_in_time_or_of_no_use(tmp_path):
    tried(replies.Replies(), 3)


@pytest.mark.parametrize(("target", "rounds"), [("Questions", 12), ("Queries", 12), ("Mcp", 12)])
def test_requests_are_answered_in_time_and_without_a_defect(server, target, rounds):
    tried(getattr(requests, target)(server), rounds)
