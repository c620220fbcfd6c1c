"""Complete names from fragments: a recogniser often stops inside a run of capitalised words."""

import re
from collections.abc import Iterator, Sequence

from ....text.lexicon import words
from .name_kinds import type_of_noun
from .name_words import CALENDAR, PREPOSITIONS, PRONOUNS, ROLES

_CAPITALS = "A-Z" + "".join(letter for letter in map(chr, range(0xC0, 0x180)) if letter.isupper())
_PART = (rf"(?:[{_CAPITALS}]\.|[{_CAPITALS}]\w*(?:-[{_CAPITALS}0-9]\w*)*(?:[’'](?!s\b)\w+)*"
         rf"(?:\.(?=[{_CAPITALS}]))?)")
_LONGEST_RUN = 15
"""The most words of a run after the first; a fragment is extended by looking at its whole run."""
_RUN = re.compile(rf"{_PART}(?:(?: | [-–] | & |–){_PART}){{0,{_LONGEST_RUN}}}")
_WORD = re.compile(r"[\w’'.&-]+")
_OF = re.compile(r"(?:\sof(?:\sthe)?\s)")
_OPENING = re.compile(r"(?:^|[.!?:;\n\"“(*•]|-\s)\s{0,3}$")
_ITEM = re.compile(r"(?:[-*•][ \t]{1,4})?\Z", re.MULTILINE)
_ITEM_ENDS = re.compile(r"[ \t]{0,4}(?:$| \([A-Z]|,? v(?:ersion|\.)? ?\d|, wh(?:ich|o|ose)\b)", re.MULTILINE)
"""What stands before and after a name that is an item or a line of its own."""
_SPELLED = re.compile(r"[A-Z][a-z]+[A-Z]\w*")
_NO_NAME = CALENDAR | PREPOSITIONS | PRONOUNS.keys() | words(
    "the a an this that these those and or but if when while where as so yet then there here who "
    "which what how why both born died see also most many some all each every no not former current "
    "new first second third since until although though because however")
_NO_HEAD = _NO_NAME | ROLES | words(
    "member members bachelor master doctor deputy minister leader winner author founder owner "
    "article section chapter part clause one two most some many order officer commander "
    "knight provost rector opposition")


class NameRuns:
    """The runs of capitalised words of a text."""

    def __init__(self, text: str, barriers: Sequence[tuple[int, int]], title: str = "") -> None:
        """Find the runs.

        Args:
            text: the text.
            barriers: (start, end) of words that are not part of names, such as peoples and dates.
            title: the subject of the text; its words have their capitals not from the sentence that they open.
        """
        self._text = text
        self._titled = frozenset(title.split())
        self._shut = {at for start, end in barriers for at in range(start, end)}
        self._run_of = {at: match.span() for match in _RUN.finditer(text) for at in range(*match.span())}

    def several(self) -> Iterator[tuple[int, int]]:
        """Yield the runs of at least two words, without the first word of a sentence."""
        for start, end in sorted(set(self._run_of.values())):
            parts = list(_WORD.finditer(self._text, start, end))
            while parts and (self._opens(parts[0].start()) or parts[0][0].lower().rstrip(".") in _NO_HEAD):
                del parts[0]
            while parts and parts[-1][0].lower() in _NO_NAME:
                del parts[-1]
            if len(parts) > 1 and not any(part.start() in self._shut for part in parts):
                yield parts[0].start(), parts[-1].end()

    def _opens(self, at: int) -> bool:
        """Return True for a word whose capital may be that of its sentence: not of an item's name, or "OpenChain"."""
        word = _WORD.match(self._text, at)
        if (at and _OPENING.search(self._text[max(0, at - 4) : at]) is None) or (word and word[0] in self._titled):
            return False
        start, end = self._run_of.get(at, (at, at))
        line = self._text.rfind("\n", 0, at) + 1
        begins = start == at and "\n" in self._text and _ITEM.fullmatch(self._text[line:at].lstrip())
        return not ((begins and _ITEM_ENDS.match(self._text, end)) or _SPELLED.match(self._text, at))

    def extend(self, start: int, end: int, *, of: bool = True) -> tuple[int, int]:
        """Return the complete name around a fragment, or the fragment.

        Adjacent words join it if only a space separates them, and `of` a noun before "of": "Diocese of La Ceiba".
        """
        first, last = self._run_of.get(start), self._run_of.get(end - 1)
        if first is None or last is None or self._text[start - 1 : start] == "-":
            return start, end
        begin = self._extend_left(first[0], start)
        return self._before_of(begin) if of else begin, self._extend_right(end, last[1])

    def _extend_left(self, begin: int, start: int) -> int:
        for word in reversed(list(_WORD.finditer(self._text, begin, start))):
            role = word[0].lower().rstrip(".") in ROLES and word[0] != "General"  # GNU General Public License
            if word.start() in self._shut or word[0].lower() in _NO_NAME or role or (
                    self._opens(word.start()) or word[0].endswith(("'s", "’s"))):
                return start
            start = word.start()
        return start

    def _extend_right(self, end: int, stop: int) -> int:
        """Return where a name ends that begins before `end`, with the words up to `stop` that may be of it.

        A possessive is its last word: the mark is cut off later.
        """
        for word in _WORD.finditer(self._text, end, stop):
            if word.start() in self._shut or word[0].lower() in _NO_NAME or not word[0][0].isalnum():
                return end
            end = word.end()
            if word[0].endswith(("'s", "’s")):
                return end
        return end

    def _before_of(self, start: int) -> int:
        """Return the start of "Diocese" if "of" precedes a name that begins at `start`."""
        link = next((m for m in _OF.finditer(self._text, max(0, start - 9), start) if m.end() == start), None)
        run = self._run_of.get(link.start() - 1) if link else None
        if link is None or run is None:
            return start
        first = link.start()
        for word in reversed(list(_WORD.finditer(self._text, run[0], link.start()))):
            if word[0].lower() in _NO_HEAD or (self._opens(word.start()) and first == link.start()):
                break
            first = word.start()
        head = self._text[first : link.start()].split()
        return first if len(head) == 1 or (head and type_of_noun(head[-1].lower())) else start
