"""Write raised figures of formatted texts in plain text: exponents as "10^3", and marks of notes apart from numbers.

Readers put raised text between the characters below, and `write_raised` replaces these in each text that they return.
Without it, the mark 1 behind 40 would make it 401.
"""

import re

from ..text.quantities import is_unit

RAISED, NOTE, END = "\ufdd0", "\ufdd1", "\ufdd2"
"""The beginning of a raised text, of one that is certainly the mark of a note, and the end of both.

No text has them, as Unicode has no characters there."""
_FORM = re.compile(f"(?P<kind>[{RAISED}{NOTE}])(?P<raised>[^{RAISED}{NOTE}{END}\n]{{0,20}}){END}")
_LEFT = re.compile(f"[{RAISED}{NOTE}{END}]")
_LOOK_BACK = 20
_TEN = re.compile(r"(?<![\d.,])10\Z")
_TWO = re.compile(r"(?<![\d.,])2\Z")
_LEAST_POWER_OF_TWO = 5  # a smaller figure behind a 2 is more often the mark of a note
_NEGATIVE = re.compile(r"[-−–]\d{1,3}")
_MARK = re.compile(r"\d{1,3}(?:[,;] ?\d{1,3})*|[*†‡§¶#]{1,3}|[a-df-hA-DF-H]")
"""Not "e" and "o", which are the ends of ordinal numbers: 5<sup>e</sup>, n<sup>o</sup>."""
_BRACKETED = re.compile(r"\[[^\[\]]{1,20}\]|\([^()]{1,5}\)")
_LAST_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]+\Z")
_BEFORE_UNIT = re.compile(r"(?<=\d)(?P<mark> \[[^\[\]\s]{1,12}\]) ?(?P<unit>[€$£¥%‰℃]|°?[^\W\d_]{1,12})(?![^\W_])")
_WORDS = frozenset({"in", "a", "at"})  # units that are more often words


def write_raised(text: str) -> str:
    """Return a text without the characters around raised texts, with an exponent behind "^" and a mark in brackets.

    A raised figure is an exponent behind 10, as "10^3", and a part of a unit behind its letters, as "m2". Behind any
    other number or word it is the mark of a note: "40<sup>1</sup> EUR" is "40 EUR [1]".
    """
    if not _LEFT.search(text):
        return text
    apart = _LEFT.sub("", _FORM.sub(_write_raised, text))
    return _BEFORE_UNIT.sub(lambda found: f" {found['unit']}{found['mark']}" if is_unit(found["unit"])
                            and found["unit"] not in _WORDS else found[0], apart)


def _write_raised(match: re.Match[str]) -> str:
    raised, is_note = match["raised"].strip(), match["kind"] == NOTE
    before = _LEFT.sub("", match.string[max(0, match.start() - _LOOK_BACK):match.start()])
    if _NEGATIVE.fullmatch(raised):
        is_exponent = before[-1:].isalnum()
    else:
        is_power_of_two = raised.isdecimal() and int(raised) >= _LEAST_POWER_OF_TWO and _TWO.search(before) is not None
        is_exponent = is_power_of_two or (raised.isdecimal() and raised != "1" and _TEN.search(before) is not None)
    if is_exponent and not is_note:
        return f"^{raised.replace('−', '-').replace('–', '-')}"
    is_bracketed = _BRACKETED.fullmatch(raised) is not None
    is_mark = _MARK.fullmatch(raised) is not None and (not raised.isalpha() or before[-1:].isdigit())
    word = _LAST_WORD.search(before)  # the figure of "m2" or "km3", or behind a single letter, as in "x2"
    is_of_unit = word is not None and raised.isdecimal() and (len(word[0]) == 1 or is_unit(word[0] + raised))
    if not (is_bracketed or is_mark) or (is_of_unit and not is_note):
        return match["raised"]
    begins_line = not before or before[-1].isspace()
    follows_word = match.string[match.end():match.end() + 1].isalnum()
    return f"{'' if begins_line else ' '}{raised if is_bracketed else f'[{raised}]'}{' ' if follows_word else ''}"

