"""Sentences of a text in any script, as offsets.

An ambiguous full stop does not split: two joined sentences cost little, a fact cut in two is lost.
"""

import re
from itertools import pairwise

from .dates import MONTHS
from .lexicon import WORDS, read_patterns
from .scripts import CJK

_DATA: dict[str, str] = read_patterns("sentences.toml", cjk=CJK)
_FORMS = {name: re.compile(form) for name, form in _DATA.items()}
ITEM_MARK = _DATA["item_mark"]  # a regular expression for what an item of a list begins with
_BOUND = WORDS["abbreviations within sentences"]  # they never end one: a name, a number or a comparison follows
_NUMBERED = WORDS["numbered"]  # abbreviations only before a number ("No. 5", "Jan. 3"); elsewhere ordinary words
_EITHER = WORDS["either"]  # abbreviations that may also end a sentence: the next word decides
_STARTERS = WORDS["openings of sentences"]  # with a capital behind an abbreviation, they nearly always begin one
_WRAP_COLUMNS = range(40, 161)  # widths at which text is wrapped: a line this long continues, any other ends there
_LOOK = 40  # characters to inspect before a full stop: no abbreviation is longer


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Split a text into sentences, whose spans (start, end) omit only white space."""
    ends = [0]  # of the sentences so far, the last of which is where the current one begins
    for match in _FORMS["end"].finditer(text):  # "final" punctuation, which always ends one, a "stop", or a "line"
        at, end = match.span()
        kind, start = match.lastgroup, ends[-1]
        if kind != "line" and text.startswith("|", start):
            continue  # a row of a table: its cells belong together
        if kind == "final":
            quote = text[end : end + 1]  # it closes this sentence, rather than opens the next one, if one is open
            end += quote in {'"', "'"} and text.count(quote, start, end) % 2 == 1
        else:
            ends_sentence = _line_ends(text, at, end) if kind == "line" else _stop_ends(text, start, at, end)
            if not ends_sentence:
                continue
        ends.append(max(end, start))
    spans = list[tuple[int, int]]()
    for start, end in pairwise([*ends, len(text)]):
        begin = end - len(text[start:end].lstrip())
        if sentence := text[begin:end].rstrip():
            spans.append((begin, begin + len(sentence)))
    return spans


def _stop_ends(text: str, start: int, at: int, end: int) -> bool:
    """Return True if `.`, `!`, `?` or an ellipsis, from `at` to `end`, ends the sentence that began at `start`."""
    next_character = text[end : end + 1]
    if next_character and not next_character.isspace():
        # Without a following space it is a decimal, a file name or an address, except between CJK letters.
        return text[at] != "…" and all(map(_FORMS["cjk"].match, f"{text[max(at - 1, 0)]}{next_character}"))
    following = _FORMS["next_word"].match(text[end : end + 3 * _LOOK].lstrip())
    next_word = (following and following["word"]) or ""
    if _is_lower(next_word):  # a sentence begins with a capital
        return False
    if text[at : end].rstrip("*_") != ".":  # only a single full stop can mark an abbreviation
        return True
    last_word = _FORMS["last_word"].search(text, max(start, at - _LOOK), at)
    if last_word is None:  # the stop is behind a bracket or quote, and marks no abbreviation
        return True
    starts_sentence = next_word.lower() in _STARTERS and not (following and following["dot"])
    return _word_ends(last_word[0].lstrip("*_"), text, last_word.start(), next_word, starts_sentence=starts_sentence)


def _word_ends(last: str, text: str, at: int, following: str, *, starts_sentence: bool) -> bool:
    """Return True if the full stop after `last`, a word at character `at`, ends the sentence and marks no abbreviation.

    `following` is the next word, "" if there is none; `starts_sentence` says that it mostly begins sentences.
    """
    key = last.casefold()
    if key in _BOUND:
        return False
    if key in _NUMBERED:
        return not following[:1].isdigit()
    if last.isdecimal():
        before = text[max(0, at - _LOOK) : at].rstrip(" \t#>*_-(")
        numbers_item = len(last) < len("1000") and (not before or before.endswith("\n"))  # "- 12."
        return not numbers_item and following.lower() not in MONTHS  # "am 3. Mai"
    is_initial = len(last) == 1 and last.isalpha() and not _FORMS["cjk"].match(last)
    if is_initial or key in _EITHER or _FORMS["dotted"].fullmatch(last):
        return starts_sentence or not following
    return True


def _is_lower(word: str) -> bool:
    """Return True for a word in lower case, in a script whose sentences begin with a capital."""
    return word.islower() and word[0].title() != word[0]  # Georgian letters are their own title case


def _line_ends(text: str, at: int, end: int) -> bool:
    """Return True if the line breaks and blanks from `at` to `end` end a sentence, rather than wrap it."""
    if text.count("\n", at, end) > 1 or end == len(text):
        return True
    line_start = text.rfind("\n", 0, at) + 1
    is_heading_or_row = text[line_start : line_start + 8].lstrip()[:1] in {"#", "|"}
    if is_heading_or_row or _FORMS["line_mark"].match(text, end):
        return True
    if _is_lower(text[end]):
        return False
    wide_letters = len(_FORMS["cjk"].findall(text, line_start, at))  # CJK letters are two columns wide
    return at - line_start + wide_letters not in _WRAP_COLUMNS
