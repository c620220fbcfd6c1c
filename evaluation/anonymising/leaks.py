"""Whether an anonymised text still names somebody: looked for by other means than names were replaced by."""

import re
from collections.abc import Iterable

from .replacing import MARK, Key

_HAN = re.compile(r"[\u3040-\u9fff]")


def leaks(text: str, key: Key) -> list[str]:
    """The names of the key that stand in a text outside of its ids, each once, as they stand there.

    A name within a longer word is none, and neither is one written small, which is a word ("may" for "May").
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
    """The leaks of several texts, as "NAME: words"."""
    return [f"{name}: {words!r}" for name, text in texts for words in leaks(text, key)]
