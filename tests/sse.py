"""Reading server-sent events in tests."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple


class Event(NamedTuple):
    name: str
    data: Any


def events(lines: Iterable[str]) -> Iterator[Event]:
    name, data = "", ""
    for line in lines:
        if line.startswith("event:"):
            name = line.removeprefix("event:").strip()
        elif line.startswith("data:"):
            data += line.removeprefix("data:").strip()
        elif not line and data:
            yield Event(name, json.loads(data))
            name, data = "", ""
