"""What each of several workers of a server may use of what the settings allow to all."""

import pickle

import pytest
from banyan.cli.error_messages import CommandError
from banyan.cli.serving_workers import divide_limits
from banyan.config import Settings


def test_limits_are_divided_and_what_has_none_stays_so(tmp_path):
    settings = Settings(home=tmp_path, llm_concurrency=32, llm_requests_per_second=1, requests_per_minute=100,
                        llm_api_key="secret", _env_file=None)
    part = pickle.loads(pickle.dumps(divide_limits(settings, 3)))  # as it is sent to a worker
    assert (part.llm_concurrency, part.requests_per_minute) == (10, 33)
    assert part.llm_requests_per_second == pytest.approx(1 / 3)
    assert part.asks_at_once is part.llm_tokens_per_minute is None
    assert (part.builds_at_once, part.llm_api_key.get_secret_value()) == (settings.builds_at_once, "secret")


def test_a_limit_below_the_number_of_workers_is_refused(tmp_path):
    with pytest.raises(CommandError, match="BANYAN_ASKS_AT_ONCE is 1, which cannot be divided among 2 workers"):
        divide_limits(Settings(home=tmp_path, asks_at_once=1, _env_file=None), 2)
