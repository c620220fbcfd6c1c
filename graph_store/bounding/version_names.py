"""Name a version or stage that a text gives without the name of what it is of: "3.9.0 beta 2", "beta 2"."""

import re
from collections.abc import Sequence

_STAGE = r"(?:alpha|beta|rc|(?:release )?candidate|preview|milestone)"
_VERSION = re.compile(rf"(?:v\.? ?|version )?(?P<number>\d+(?:\.\d+)+)(?P<rest>(?: ?(?:{_STAGE}|[abr]c?) ?\d+| final)?)"
                      rf"|{_STAGE} ?\d+", re.IGNORECASE)
_SERIES = re.compile(r"\b(?P<thing>[^\W\d_a-z]\w*+(?: [^\W\d_a-z]\w*+)?) (?P<number>\d+(?:\.\d+)*+)(?!\w)")


def name_version(version: str, titles: Sequence[str]) -> str:
    """Return the whole name of a version below some titles; "" if it is no version or no title names its series."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return ""
    series = [found for title in titles for found in _SERIES.finditer(title)]
    # Of several series that match, the last is used: headings come after the title, and are nearer to the text.
    if number := match["number"]:  # 3.9.0 is of the series "Python 3.9"
        own = [one for one in series if f"{number}.".startswith(f"{one['number']}.")]
        return f"{own[-1]['thing']} {number}{match['rest']}" if own else ""
    # "beta 2" may be of any series; a number with a dot is more likely a version's than one without.
    likely = [one for one in series if "." in one["number"]] or series
    return f"{likely[-1]['thing']} {likely[-1]['number']} {version}" if likely else ""
