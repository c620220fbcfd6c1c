"""A check whether an anonymised text still contains names, independent of how names were replaced."""

import re
from collections.abc import Iterable

from .replacing import MARK, Key

_HAN = re.compile(r"[\u3040-\u9fff]")


def leaks(text: str, key: Key) -> list[str]:
    """Return the names of the key that occur in a text outside its ids, each once, as written there.

    A name within a longer word does not count, and neither does one in lower case, which is a word ("may" for "May").
    """
    bare = MARK.sub("\0", text)
    folded = " ".join(bare.lower().split())
    found = []
    for name in dict.fromkeys(name for names in key.entities.values() for name in names):
        plain = " ".join(name.lower().split())
        if plain not in folded:
            continue
        edge = "" if _HAN.search(name) else r"(?:(?<=^)|(?<=[^\w]))"
        end = "" if _HAN.search(name) else r"(?!\w)"
        pattern = edge + r"\s+".join(map(re.escape, name.split())) + end
        found += [match[0] for match in re.finditer(pattern, bare, re.IGNORECASE) if not match[0][0].islower()][:1]
    return found


def all_leaks(texts: Iterable[tuple[str, str]], key: Key) -> list[str]:
    """Return the leaks of several texts as "NAME: words"."""
    return [f"{name}: {words!r}" for name, text in texts for words in leaks(text, key)]
