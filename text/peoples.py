"""Words for peoples and the countries they are of: 'Japanese' and Japan."""

import json
from collections import defaultdict
from functools import cache
from pathlib import Path

_PEOPLES = Path(__file__).with_name("peoples.json")


def country_of(people: str) -> str:
    """The country that a word for a people is of: Japan for 'Japanese'; "" for any other word."""
    return _countries().get(people, "")


def peoples_of(country: str) -> tuple[str, ...]:
    """The words for the people of a country, as adjectives are written; none of what is no country."""
    return _peoples().get(country, ())


@cache
def _countries() -> dict[str, str]:
    countries: dict[str, str] = json.loads(_PEOPLES.read_bytes())
    return countries


@cache
def _peoples() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for people, country in _countries().items():
        found[country].append(people)
    return {country: tuple(peoples) for country, peoples in found.items()}
