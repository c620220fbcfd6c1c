"""Texts that make a regular expression slow, made up from the expression itself.

An expression is slow where a repetition can end at many places and what follows fails at each of them. So for each
repetition a text repeats what it takes, after what stands before it, and ends with something that nothing takes.
"""

import re
from collections.abc import Iterator, Sequence
from re import _compiler as compiler
from re import _constants as codes
from re import _parser as parser
from typing import Any

_PROBES = " \ta0A中,.-(（[<#|'\"/:;=&*_的年\nzZ9é，。、»s"
"""Letters that stand for their kinds; of those that a class takes, some are tried."""
_LONG = 20
"""Repetitions of less are a constant factor."""
_REPETITIONS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_SINGLE = (codes.IN, codes.ANY, codes.NOT_LITERAL, codes.LITERAL)
_NOTHING = "\x01"
"""What nearly nothing takes."""
_ENDS = (_NOTHING, "")
_VARIANTS = 2


def attacks(pattern: "re.Pattern[Any]") -> Iterator[tuple[str, str, str]]:
    """Ways to attack a pattern: what a text begins with, what it repeats, and what it ends with."""
    source = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    tree = parser.parse(source, pattern.flags & ~re.DEBUG)
    whole = [_sample(tree, variant, pattern.flags) for variant in range(_VARIANTS)]
    ways: dict[tuple[str, str, str], None] = {}  # in order, each once
    for before, body in _repetitions(tree, "", pattern.flags):
        pumps = {pump for variant in range(_VARIANTS) if (pump := _sample(body, variant, pattern.flags))}
        for pump in sorted(pumps | set(_letters(body, pattern.flags))):
            for end in _ENDS:
                ways.update(dict.fromkeys([(before, pump, end), ("", pump, end), ("", before + pump, end),
                                           (f"{_NOTHING}{before}", pump, end)]))
    for text in whole:
        ways.update(dict.fromkeys(("", part, end) for part in (text, text[:-1], text[:1]) if part for end in _ENDS))
    yield from ways


def text_of(way: tuple[str, str, str], length: int) -> str:
    """The attack's text of about that many characters."""
    begin, pump, end = way
    return begin + pump * max(1, (length - len(begin)) // len(pump)) + end


def _inner(code: Any, given: Any) -> Sequence[Any]:
    """The expressions within an item of an expression: of an alternative several."""
    if code in _REPETITIONS:
        return [given[2]]
    if code is codes.SUBPATTERN:
        return [given[-1]]
    if code is codes.ATOMIC_GROUP:
        return [given]
    return given[1] if code is codes.BRANCH else []


def _repetitions(tree: Any, before: str, flags: int) -> Iterator[tuple[str, Any]]:
    """Each long repetition in an expression, after a text that leads to it."""
    for code, given in tree:
        if code in _REPETITIONS and given[1] >= _LONG:
            yield before, given[2]
        looked_at = [given[1]] if code in (codes.ASSERT, codes.ASSERT_NOT) else _inner(code, given)
        for inner in looked_at:
            yield from _repetitions(inner, before, flags)
        before += _sample([(code, given)], 0, flags)


def _letters(body: Any, flags: int) -> list[str]:
    """What a repetition of one letter's class takes, by kinds."""
    items = list(body)
    while len(items) == 1 and items[0][0] is codes.SUBPATTERN:
        items = list(items[0][1][-1])
    return _of_class(items[0], flags)[:6] if len(items) == 1 and items[0][0] in _SINGLE else []


def _of_class(item: tuple[Any, Any], flags: int) -> list[str]:
    """Letters that an item of an expression takes: those that are written in it first, then some of each kind."""
    code, given = item
    written = [(code, given)] if code is codes.LITERAL else given if code is codes.IN else []
    own = [chr(value if kind is codes.LITERAL else value[0]) for kind, value in written
           if kind in (codes.LITERAL, codes.RANGE)]
    single = compiler.compile(parser.SubPattern(parser.State(), [item]), flags & ~re.DEBUG)
    return list(dict.fromkeys(letter for letter in (*own[:4], *_PROBES) if single.fullmatch(letter))) or ["\x02"]


def _sample(tree: Any, variant: int, flags: int) -> str:
    """A text that an expression takes, but for what it looks ahead and behind for."""
    parts = []
    for code, given in tree:
        if code in _SINGLE:
            letters = _of_class((code, given), flags)
            parts.append(letters[variant % len(letters)])
        elif inner := _inner(code, given):
            times = max(given[0], min(variant, given[1])) if code in _REPETITIONS else 1
            parts.append(_sample(inner[variant % len(inner)], variant, flags) * times)
    return "".join(parts)
