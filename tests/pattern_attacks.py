"""Texts that make a regular expression slow, made up from the expression itself.

An expression is slow where a repetition can end at many places and what follows fails at each of them. So for each
repetition a text repeats what it takes, after what stands before it, and ends with something that nothing takes.
"""

import re
from collections.abc import Iterator
from re import _constants as codes
from re import _parser as parser
from typing import Any

_PROBES = " \ta0A中,.-(（[<#|'\"/:;=&*_的年\nzZ9é，。、»s"
"""Letters that stand for their kinds; of those that a class takes, some are tried."""
_LONG = 20
"""Repetitions of less are a constant factor."""
_REPETITIONS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
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


def _repetitions(tree: Any, before: str, flags: int) -> Iterator[tuple[str, Any]]:
    """Each long repetition in an expression, after a text that leads to it."""
    for code, given in tree:
        if code in _REPETITIONS:
            _, most, body = given
            if most >= _LONG:
                yield before, body
            yield from _repetitions(body, before, flags)
        elif code is codes.SUBPATTERN:
            yield from _repetitions(given[-1], before, flags)
        elif code is codes.ATOMIC_GROUP:
            yield from _repetitions(given, before, flags)
        elif code is codes.BRANCH:
            for branch in given[1]:
                yield from _repetitions(branch, before, flags)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from _repetitions(given[1], before, flags)
        before += _sample([(code, given)], 0, flags)


def _letters(body: Any, flags: int) -> list[str]:
    """What a repetition of one letter's class takes, by kinds."""
    items = list(body)
    while len(items) == 1 and items[0][0] is codes.SUBPATTERN:
        items = list(items[0][1][-1])
    return _of_class(items[0], flags)[:6] if len(items) == 1 and items[0][0] in _SINGLE else []


_SINGLE = (codes.IN, codes.ANY, codes.NOT_LITERAL, codes.LITERAL)


def _of_class(item: tuple[Any, Any], flags: int) -> list[str]:
    code, given = item
    if code is codes.LITERAL:
        return [chr(given)]
    if code is codes.ANY:
        return [letter for letter in _PROBES if letter != "\n"]
    if code is codes.NOT_LITERAL:
        return [letter for letter in _PROBES if ord(letter) != given]
    negated = given[0][0] is codes.NEGATE
    taken = [letter for letter in _PROBES if negated != any(_takes(one, letter, flags) for one in given)]
    own = [chr(value if kind is codes.LITERAL else value[0]) for kind, value in given
           if kind in (codes.LITERAL, codes.RANGE)]
    return list(dict.fromkeys((taken if negated else own[:4] + taken) or ["\x02"]))


def _takes(one: tuple[Any, Any], letter: str, flags: int) -> bool:
    kind, value = one
    if kind is codes.LITERAL:
        return ord(letter) == value
    if kind is codes.RANGE:
        return value[0] <= ord(letter) <= value[1]
    if kind is codes.CATEGORY:
        return bool(re.match(_CATEGORIES[value], letter, flags & re.ASCII))
    return False


_CATEGORIES = {codes.CATEGORY_DIGIT: r"\d", codes.CATEGORY_NOT_DIGIT: r"\D", codes.CATEGORY_SPACE: r"\s",
               codes.CATEGORY_NOT_SPACE: r"\S", codes.CATEGORY_WORD: r"\w", codes.CATEGORY_NOT_WORD: r"\W"}


def _sample(tree: Any, variant: int, flags: int) -> str:
    """A text that an expression takes, but for what it looks ahead and behind for."""
    parts = []
    for code, given in tree:
        if code in _SINGLE:
            letters = _of_class((code, given), flags)
            parts.append(letters[variant % len(letters)])
        elif code in _REPETITIONS:
            parts.append(_sample(given[2], variant, flags) * max(given[0], min(variant, given[1])))
        elif code is codes.SUBPATTERN:
            parts.append(_sample(given[-1], variant, flags))
        elif code is codes.ATOMIC_GROUP:
            parts.append(_sample(given, variant, flags))
        elif code is codes.BRANCH:
            parts.append(_sample(given[1][variant % len(given[1])], variant, flags))
    return "".join(parts)
