"""Words for peoples and their countries: 'Japanese' and Japan."""

import json
from collections import defaultdict
from functools import cache
from pathlib import Path

_PEOPLES = Path(__file__).with_name("peoples.json")


def peoples_of(country: str) -> tuple[str, ...]:
    """Return the adjectives for the people of a country; empty if the country is unknown."""
    return _peoples().get(country, ())


@cache
def _peoples() -> dict[str, tuple[str, ...]]:
    countries: dict[str, str] = json.loads(_PEOPLES.read_bytes())
    found: dict[str, list[str]] = defaultdict(list)
    for people, country in countries.items():
        found[country].append(people)
    return {country: tuple(peoples) for country, peoples in found.items()}
