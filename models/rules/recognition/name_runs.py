"""Complete names from fragments: a recogniser often stops inside a run of capitalised words."""

import re
from collections.abc import Iterator, Sequence

from ....text.lexicon import word_set
from ..likeness import is_first_name
from .name_kinds import CALENDAR, PREPOSITIONS, PRONOUNS, ROLES

_CAPITALS = "A-Z" + "".join(letter for letter in map(chr, range(0xC0, 0x180)) if letter.isupper())
_PART = (rf"(?:[{_CAPITALS}]\.|[{_CAPITALS}]\w*(?:-[{_CAPITALS}0-9]\w*)*(?:[’'](?!s\b)\w+)*"
         rf"(?:\.(?=[{_CAPITALS}]))?)")
_LONGEST_RUN = 15  # the most words of a run after the first one
_NICKNAME = r' \(?["“][A-Z][a-z]+["”]\)? '
"""What may stand after a person's first name, as in Ronald ("Ron") Laird."""
_RUN = re.compile(rf"{_PART}(?:{_NICKNAME}{_PART})?(?:(?: | [-–] | & |–){_PART}){{0,{_LONGEST_RUN}}}")
_WORD = re.compile(r"[\w’'.&-]+")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n\"“(*•]|-\s)\s{0,3}$")
_ITEM_START = re.compile(r"(?:[-*•][ \t]{1,4})?\Z", re.MULTILINE)
_ITEM_END = re.compile(r"[ \t]{0,4}(?:$| \([A-Z]|,? v(?:ersion|\.)? ?\d|, wh(?:ich|o|ose)\b)", re.MULTILINE)
"""What stands before and after a name that is an item of a list or a line of its own."""
_NEVER_FIRST = re.compile(r"[A-Z][a-z]{2,}(?:ly|ing)|Hitherto|Thus|Hence|Perhaps|Meanwhile|Instead|Once|Even|Only|Was|"
                          r"Were|Is|Are|Did|Does|Do|Has|Have|Had|Will|Would|Should|Could|Can|Dear|Poor|Well|Oh|Ah")
_MIXED_CASE = re.compile(r"[A-Z][a-z]+[A-Z]\w*")
_NOT_IN_NAMES = CALENDAR | PREPOSITIONS | PRONOUNS | word_set("the a an this that these those and or but if "
                                                                     "when while where as so yet then there here who "
                                                                     "which what how why both born died see also most "
                                                                     "many some all each every no not former current "
                                                                     "new first second third since until although "
                                                                     "though because however")
_NOT_AT_START = _NOT_IN_NAMES | ROLES | word_set("member members bachelor master doctor deputy minister leader winner "
                                                 "author founder owner article section chapter part clause one two "
                                                 "most some many order officer commander knight provost rector "
                                                 "opposition")


class NameRuns:
    """The runs of capitalised words of a text."""

    def __init__(self, text: str, barriers: Sequence[tuple[int, int]], title: str = "") -> None:
        """Find the runs; `barriers` are (start, end) of words that are not part of names, such as peoples and dates.

        The words of the title are names even at the beginning of a sentence, where any word has a capital.
        """
        self._text = text
        self._title_words = frozenset(title.split())
        self._barred = {at for start, end in barriers for at in range(start, end)}
        # The run that each character is in.
        self._run_of = {at: match.span() for match in _RUN.finditer(text) for at in range(*match.span())}

    def of_several_words(self) -> Iterator[tuple[int, int]]:
        """Yield the (start, end) of runs of at least two words.

        The first word of a sentence is cut off, and so are words that do not begin or end names, such as roles.
        """
        for start, end in sorted(set(self._run_of.values())):
            parts = list(_WORD.finditer(self._text, start, end))
            while parts and (parts[0][0].lower().rstrip(".") in _NOT_AT_START
                             or self.has_position_capital(parts[0].start())):
                del parts[0]
            while parts and parts[-1][0].lower() in _NOT_IN_NAMES:
                del parts[-1]
            if len(parts) > 1 and not any(part.start() in self._barred for part in parts):
                yield parts[0].start(), parts[-1].end()

    def has_position_capital(self, at: int) -> bool:
        """Return True if a word may have its capital only because it opens a sentence."""
        word = _WORD.match(self._text, at)
        opens_sentence = at == 0 or _SENTENCE_START.search(self._text[max(0, at - 4) : at]) is not None
        if not opens_sentence or (word and word[0] in self._title_words):
            return False
        start, end = self._run_of.get(at, (at, at))
        line_start = self._text.rfind("\n", 0, at) + 1
        opens_line = start == at and "\n" in self._text and _ITEM_START.fullmatch(self._text[line_start:at].lstrip())
        is_whole_line = opens_line and _ITEM_END.match(self._text, end)
        return not (is_whole_line or _MIXED_CASE.match(self._text, at))

    def skip_opening_word(self, start: int, end: int) -> int:
        """Return where a name begins without an adverb or verb that opens the sentence: "Hitherto Madame Fosco"."""
        word = _WORD.match(self._text, start, end)
        is_glued = word and word.end() < end and _NEVER_FIRST.fullmatch(word[0]) and not is_first_name(word[0])
        return word.end() if word and is_glued and self.has_position_capital(start) else start

    def extend(self, start: int, end: int) -> tuple[int, int]:
        """Return a fragment with the adjacent words of its run, or the fragment itself if it is in no run."""
        first_run, last_run = self._run_of.get(start), self._run_of.get(end - 1)
        if first_run is None or last_run is None or self._text[start - 1 : start] == "-":
            return start, end
        for word in reversed(list(_WORD.finditer(self._text, first_run[0], start))):
            is_role = word[0].lower().rstrip(".") in ROLES and word[0] != "General"  # GNU General Public License
            is_possessive = word[0].endswith(("'s", "’s"))
            if is_role or is_possessive or self._is_barred(word) or self.has_position_capital(word.start()):
                break
            start = word.start()
        for word in _WORD.finditer(self._text, end, last_run[1]):
            if self._is_barred(word) or not word[0][0].isalnum():
                break
            end = word.end()
            if word[0].endswith(("'s", "’s")):
                break
        return start, end

    def _is_barred(self, word: re.Match[str]) -> bool:
        return word.start() in self._barred or word[0].lower() in _NOT_IN_NAMES
