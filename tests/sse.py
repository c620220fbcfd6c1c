"""Reading server-sent events in tests."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple


class Event(NamedTuple):
    """An event's name and its data, read from JSON."""

    name: str
    data: Any


def events(lines: Iterable[str]) -> Iterator[Event]:
    """The events of a stream, as they come; comments are left out."""
    name, data = "", ""
    for line in lines:
        if line.startswith("event:"):
            name = line.removeprefix("event:").strip()
        elif line.startswith("data:"):
            data += line.removeprefix("data:").strip()
        elif not line and data:
            yield Event(name, json.loads(data))
            name, data = "", ""
