"""Builds that are killed, and many processes at once: what the benchmarks of both look at, in short."""

import subprocess
import sys

import pytest

from .. import command_line

pytestmark = [pytest.mark.integration, pytest.mark.slow]

BENCHMARKS = command_line.PROJECT / "benchmarks"
SECONDS = 600  # for a benchmark, which takes a tenth of that on a quiet machine


def _benchmark(name: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, str(BENCHMARKS / name), *arguments], capture_output=True, text=True,
                          timeout=SECONDS, check=False, env=command_line.clean_environment())
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def test_killed_at_random_points_and_run_again_the_store_is_as_if_never_killed():
    """One point for each operation; `benchmarks/kill.py --points 200` for all."""
    assert "seed 1, 13 points" in _benchmark("kill.py", "--points", "13", "--seed", "1")


def test_writers_and_readers_at_once():
    assert "came to the last state" in _benchmark("concurrency.py", "--seconds", "5")
