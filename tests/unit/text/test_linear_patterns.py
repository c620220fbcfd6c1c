"""The time of every regular expression grows as the text does, whatever the text: each is attacked by what it is."""

import math
import re
import time
from typing import Any

import pytest

from ... import compiled_patterns, pattern_attacks

LENGTHS = (12, 19, 30, 48, 250, 1500)
"""Characters of the attacks that are tried on all; slowly growing at first: an exponential one would not come back."""
NOTICED = 0.001
"""Seconds. A linear pattern takes a tenth of that for the longest one, and is then not looked at more closely."""
MOST_GROWTH = 1.3
"""The exponent: n, 2n and 4n characters take 1, 2 and 4 times as long where it is 1, and 1, 4 and 16 where it is 2."""
ENOUGH = 20
"""How many times as long a longer attack may take before none longer is tried; 4n characters take a square one 16."""
LOOKS = 3


def seconds(pattern: "re.Pattern[Any]", method: str, attack: tuple[str, str, str], length: int) -> float:
    text: Any = pattern_attacks.text_of(attack, length)
    if isinstance(pattern.pattern, bytes):
        text = text.encode("utf-8", "replace")
    began = time.thread_time()
    if method == "finditer":
        for _ in pattern.finditer(text):
            pass
    else:
        getattr(pattern, method)(text)
    return time.thread_time() - began


def noticed_at(pattern: "re.Pattern[Any]", method: str, attack: tuple[str, str, str]) -> int | None:
    return next((length for length in LENGTHS if seconds(pattern, method, attack, length) > NOTICED), None)


def growth(pattern: "re.Pattern[Any]", method: str, attack: tuple[str, str, str], length: int) -> float:
    """The exponent with which the time grows up to a length and beyond; the least of some looks, so noise is none."""
    def quickest(length: int) -> float:
        return min(seconds(pattern, method, attack, length) for _ in range(2))

    def exponent(least: int) -> float:
        """From a length to four times as much, by small steps, as an exponential one is endless a few characters on."""
        first, longer = quickest(least), least
        while longer < 4 * least:
            longer = min(4 * least, longer + max(1, longer // (12 if longer < 100 else 1)))
            last = seconds(pattern, method, attack, longer)
            if last > ENOUGH * max(first, NOTICED):
                return math.log(last / max(first, 1e-6), longer / least)
        return math.log(min(last, quickest(longer)) / max(first, 1e-6), 4)

    before = min(exponent(length // 4) for _ in range(LOOKS))
    # What is bounded by a constant grows at first and then no more.
    return before if not MOST_GROWTH < before < 3.5 else min(before, *(exponent(length) for _ in range(LOOKS)))


def slow(used: Any) -> list[str]:
    """What makes a pattern slow: the attacks, each with its growth."""
    found = []
    for method in sorted(used.methods):
        for attack in pattern_attacks.attacks(used.pattern):
            length = noticed_at(used.pattern, method, attack)
            if length is not None and (grown := growth(used.pattern, method, attack, length)) > MOST_GROWTH:
                found.append(f"{used.at} {method} {attack!r}: n^{grown:.2f} at {length}")
                break
    return found


def test_every_pattern_is_linear() -> None:
    used = compiled_patterns.used_patterns()
    assert len(used) > 200
    assert [line for one in used for line in slow(one)] == []


@pytest.mark.parametrize(("source", "method"), [
    (r"(?:a+)+b", "match"), (r"<(.*?)>", "finditer"), (r"[^()]+\(", "search")])
def test_attacks_find_what_is_not(source: str, method: str) -> None:
    assert slow(compiled_patterns.Used("here", re.compile(source), frozenset({method})))
