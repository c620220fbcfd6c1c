"""Find in a source text what was extracted from it, by comparing words (`words.py`).

The words of a value must follow each other in the source. Those of a name need not: "2026 council election" in a table
under the title "Council election, term of 2026", "Ada's room" where Ada's is "her room".
"""

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

from ...schemas.documents import Span
from ...schemas.graph_schema import ValueKind
from ...schemas.naming import canonical_name
from ...text.cleaning import one_line
from ...text.dates import MEANT, parse_date
from ...text.quantities import find_values, means, parse_value
from ...text.scripts import language_of
from ...text.sentences import split_sentences
from ...text.times import LONGEST, read_time, split_qualifiers
from . import words as word_forms
from .relative_grounding import RelativeTimes, name_version
from .words import JoinedWords, bare_places, bare_words, is_cjk, is_inside_word, join_words, singular, stems, words

_BETWEEN_WORDS = frozenset({"in", "on", "at", "for", "of", "the", "a", "to"})
"""Words of an extracted time ("in the year 1990") that the text may omit."""
# Words that a name may have although the source does not have them.
_NOT_CONTENT = word_forms.ARTICLES | frozenset({"of", "in", "on", "at", "for", "to", "and", "by", "with", "from", "s"})
_MOST_CONTENT = 15  # the most content words of a name that may be scattered in the source; more are a sentence
_LIMIT = (r"\b(?:at\s(?:most|least)|up\sto|(?:not?\s)?(?:more|less|fewer)\sthan)\s"
          r"|不?超过|不?[多少]于|[至最][多少]")
_BEFORE_NUMBER = re.compile(rf"(?:{_LIMIT})\Z", re.IGNORECASE)
_BEFORE_TEXT = re.compile(rf"(?:{_LIMIT}|\b(?:no|not|never|without)\s|没有|并无)\Z", re.IGNORECASE)
"""The words before a value that limit or deny it: without them, the value would say something else."""
_LONGEST_LIMIT = 20  # more characters than any of these words have
_BARE_TIMES = frozenset({"planned", "former", "计划", "原"})
"""Times that a text may state by the tense of its verbs alone ("will be", "was"), so it need not have these words."""
_SPEAKERS = frozenset({"narrator", "speaker", "author", "writer", "叙述者", "作者", "笔者", "说话人"})
"""What a model calls who says "I"."""
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|myself)\b|我(?!们)")
_NAMES = re.compile(r"[^\W\d_a-z][\w.’'-]*+(?: [^\W\d_a-z][\w.’'-]*+)*+")
"""The runs of capitalised words in a phrase: the names in it."""
_LONGEST_QUOTE = 600  # characters of a sentence quoted for a fact; of a longer one, such as a list of names, a part


class Grounded(NamedTuple):
    """A name or value found in a source: the words to store it as, and its place."""

    shown: str
    span: Span
    quoted: bool = False  # the words to store are the source's, and differ from the extracted ones


class _Sentence(NamedTuple):
    """A sentence's place, and its folded words."""

    span: Span
    words: frozenset[str]


class SourceText:
    """One chunk's text, prepared for finding names, values and sentences in it and in what stands above it."""

    def __init__(self, text: str, *above: str, said_on: str = "") -> None:
        """Prepare a text with the lines above it; `said_on` is the date by which its relative dates are read."""
        self.text, self._said_on = text, said_on
        self._titles = [line for line in above if line]

    # What follows is computed on first use: quotes that are found letter by letter do not need it.

    @cached_property
    def _sentences(self) -> list[_Sentence]:
        return [_Sentence(self._span(start, end), frozenset(words(self.text[start:end])))
                for start, end in split_sentences(self.text)]

    @cached_property
    def _values(self) -> list[Span]:
        """The numbers with their units, and the dates, that are in the text."""
        return [self._span(value.start, value.end) for value in find_values(self.text)]

    @cached_property
    def _relative_times(self) -> RelativeTimes:
        return RelativeTimes(self.text, self._said_on)

    @cached_property
    def _words(self) -> JoinedWords:
        return JoinedWords(word_forms.word_places(self.text))

    @cached_property
    def _bare_words(self) -> JoinedWords:
        """The words in the singular, without articles and what is in brackets."""
        return bare_places(self.text)

    def _span(self, start: int, end: int) -> Span:
        return Span(start=start, end=end, quote=self.text[start:end])

    def find(self, name: str) -> Span | None:
        """Return the first place where the text has these words one after the other, or None."""
        place = self._words.find(join_words(words(canonical_name(name))))
        return self._span(*place) if place else None

    def verbatim(self, quote: str) -> Span | None:
        """Return the first place where the text has a quote letter by letter, on word boundaries, or None."""
        wanted = quote.strip()
        start = self.text.find(wanted) if wanted else -1
        # Skip places where the quote is only a part of longer words.
        while start >= 0 and (is_inside_word(self.text, start) or is_inside_word(self.text, start + len(wanted))):
            start = self.text.find(wanted, start + 1)
        return self._span(start, start + len(wanted)) if start >= 0 else None

    def ground(self, name: str, own_type: str = "") -> Grounded | None:
        """Return where the source has the name of an entity of a type, or None.

        The source has a name in one of these ways:
        1. It is a version, which the lines above say the product of: "beta 2" is stored as "Python 3.9 beta 2".
        2. The text has its words one after the other, perhaps without its article or the parenthesis at its end.
        3. The same without regard to articles, plurals and what stands in brackets.
        4. A title above the text has its words.
        5. The text spells a date differently or less precisely.
        6. Its words are scattered over the text and the titles above it (see `_is_composed`). That of its type may be
           missing: a Meeting is "Board Meeting 2014-05-10" in a document "board/2014-05-10.md".
        7. It names the speaker of a text that says "I", who is stored as the narrator of its document.
        """
        tokens = words(canonical_name(name))
        if not tokens:  # the name has only signs
            return self._ground_at(self.verbatim(name), name)
        version = name_version(name.strip(), self._titles)
        if version and (place := self.find(name)):
            return Grounded(version, place)
        if grounded := self._ground_words(name, tokens):
            return grounded
        if parse_date(name):
            return self.ground_value(name, "date")
        type_words = {singular(word) for word in words(own_type)}
        without_type = [word for word in tokens if singular(word) not in type_words]
        has_type_word = len(without_type) < len(tokens)
        if self._is_composed(name, tokens) or (
                has_type_word and self._is_composed(" ".join(without_type), without_type)):
            return Grounded(name.strip(), self.sentence(name))
        is_speaker = bool(self._titles) and bare_words(tokens) in _SPEAKERS  # titles tell narrators apart
        speaker = _FIRST_PERSON.search(self.text) if is_speaker else None
        if speaker is None:
            return None
        whole_name = f"{self._titles[0]}的{name.strip()}" if is_cjk(name) else f"{name.strip()} of {self._titles[0]}"
        return Grounded(whole_name, self._span(*speaker.span()))

    def _ground_words(self, name: str, tokens: list[str]) -> Grounded | None:
        """Return where the text, or a title above it, has a name's words one after the other, or None."""
        without_article = tokens[1:] if tokens[0] in word_forms.ARTICLES else []
        without_parenthesis = words(word_forms.without_aside(name)) if word_forms.ASIDE.search(name) else []
        variants = [variant for variant in (tokens, without_article, without_parenthesis) if variant]
        for variant in variants:
            if place := self._words.find(join_words(variant)):
                return self._ground_at(self._span(*place), name)
        bare = [bare_words(variant) for variant in variants]
        for wanted in bare:
            if place := self._bare_words.find(wanted):
                return Grounded(name.strip(), self._span(*place))
        return Grounded(name.strip(), self.sentence(name)) if self._is_in_title(bare) else None

    def _is_in_title(self, bare: Sequence[str]) -> bool:
        """Return True if a title above the text has one of some names, given as bare words."""
        titles = map(bare_places, self._titles)
        # An empty text has no sentence to quote for the name.
        return bool(self.text) and any(title.find(wanted) for title in titles for wanted in bare)

    def _is_composed(self, name: str, tokens: Sequence[str]) -> bool:
        """Return True if text and titles have the words of a name of several words, in different places."""
        content = [word for word in tokens if word not in _NOT_CONTENT]
        if not self.text or not 1 < len(content) <= _MOST_CONTENT:
            return False
        if any(map(is_cjk, content)):
            return self._is_composed_of_characters(content)
        singulars = {singular(word) for word in content}
        above = {singular(word) for title in self._titles for word in words(title)}
        if not singulars <= above | {singular(word) for word, _, _ in self._words.places}:
            return False
        # Not all words may be capitalised in the source: "Ada Lund" is nobody if the source names Ada and Mr. Lund.
        written = chain.from_iterable(word_forms.WORD.findall(text) for text in (self.text, *self._titles))
        common = {singular(word) for word in written if word.islower() or word[0].isdigit()}
        if singulars.isdisjoint(common):
            return False
        # With all words in the text alone, it is a description: the text must have each whole name in it.
        return not singulars.isdisjoint(above) or all(
            self._bare_words.find(bare_words(words(one))) for one in _NAMES.findall(name))

    def _is_composed_of_characters(self, content: Sequence[str]) -> bool:
        """Return True if the source has each character beside a neighbour in the name, and a title has two of them."""
        above_text = "\n".join(word_forms.fold_text(title)[0] for title in self._titles)
        text = f"{word_forms.fold_text(self.text)[0]}\n{above_text}"
        has_title_pair = any(first + second in above_text for first, second in pairwise(content))
        if not has_title_pair:
            return False
        padded = ["\n", *content, "\n"]  # so that the first and the last have two neighbours, too
        # Any longer text has most single characters; a word or number of several letters needs no neighbour.
        return all(f"{before}{word}" in text or f"{word}{after}" in text or (len(word) > 1 and word in text)
                   for before, word, after in zip(padded, content, padded[2:], strict=False))

    def ground_value(self, value: str, kind: ValueKind, unit: str = "") -> Grounded | None:
        """Return where the source has a value in any spelling, with the words that limit or deny it ("at most 2")."""
        grounded = self._ground_without_limit(value, kind, unit)
        if grounded is None and MEANT.search(value):  # it has the note of a prompt: "last month [2015-09]"
            without_note = self._ground_without_limit(MEANT.sub("", value), kind, unit)
            if without_note:
                # The note is replaced by the date that the text itself gives: a model may have copied it wrongly.
                with_text_dates = one_line(self._relative_times.explain(without_note.span))
                grounded = without_note._replace(shown=with_text_dates, quoted=True)
        if kind != "date":
            return self._with_limit(grounded) if grounded else None
        if grounded and parse_date(grounded.shown):
            return grounded  # the source's words are a date by themselves
        relative = self._relative_times.find(value)
        if relative is None:
            return grounded
        stored, date = relative
        return Grounded(stored, self._span(date.start, date.end), quoted=True)

    def _with_limit(self, grounded: Grounded) -> Grounded:
        """Return a value with the words before it that limit or deny it: "at most 5", "no longer mayor"."""
        before = _BEFORE_NUMBER if parse_value(grounded.shown, "number") else _BEFORE_TEXT
        start = grounded.span.start
        limit = before.search(self.text, max(0, start - _LONGEST_LIMIT), start)
        is_portuguese = limit is not None and limit[0].strip().lower() == "no" and language_of(self.text) == "pt"
        if limit is None or is_portuguese:  # the Portuguese "no" is "in the"
            return grounded
        return Grounded(limit[0] + grounded.shown, self._span(limit.start(), grounded.span.end), quoted=True)

    def _ground_without_limit(self, value: str, kind: ValueKind, unit: str) -> Grounded | None:
        """Return where the source has a value, as it is written or with an equal number or date, or None."""
        normal = parse_value(value, kind, unit)
        exact = self.verbatim(value)
        place = exact or self.find(value)
        if not normal:  # a text, or nothing of this kind
            return self._ground_at(place, value) or self._ground_in_any_form(value)
        equal_values = [(span, other) for span in self._values
                        if (other := parse_value(span.quote, kind, unit)) and means(normal, other, kind)]
        if not equal_values:
            # The 5 of "5 million" is not five.
            is_part_of_number = place is not None and kind == "number" and any(
                span.start <= place.start and place.end <= span.end for span in self._values)
            return None if is_part_of_number else self._ground_at(place, value)
        # Prefer the same spelling, then the same normal form, then the first.
        wanted = canonical_name(value)
        best, _ = min(equal_values, key=lambda span_and_normal: (
            canonical_name(span_and_normal[0].quote) != wanted, span_and_normal[1] != normal, span_and_normal[0].start))
        if exact is not None and exact.start <= best.start and best.end <= exact.end:
            return Grounded(value.strip(), exact)  # it has more than the number, such as the sign of "~68"
        return Grounded(best.quote, best, quoted=canonical_name(best.quote) != wanted)

    def _ground_in_any_form(self, value: str) -> Grounded | None:
        """Return where the text or a title above it has a value's words without regard to articles and plurals."""
        wanted = bare_words(words(value))
        if place := self._bare_words.find(wanted):
            return Grounded(value.strip(), self._span(*place))
        return Grounded(value.strip(), self.sentence(value)) if self._is_in_title([wanted]) else None

    def _ground_at(self, span: Span | None, extracted: str) -> Grounded | None:
        """Return a name or value found at a span, in the text's spelling; None without a span."""
        wording = extracted.strip()
        if span is None:
            return None
        if self.verbatim(wording):  # the extracted spelling is the text's
            return Grounded(wording, span)
        start, end = span.start, span.end
        if not wording[0].isalnum() and self.text.startswith(wording[0], start - 1):  # "$" is no word: "$5 a head"
            start -= 1
        # A bracket or quotation mark next to the span may belong to an unpaired one inside it.
        for opening, closing in word_forms.PAIRS:
            opened, closed = span.quote.count(opening), span.quote.count(closing)
            is_odd_quote = opening == closing and opened % 2  # its other half may be on either side
            if (is_odd_quote or opened > closed) and self.text.startswith(closing, end):
                end += 1
            elif (is_odd_quote or opened < closed) and start and self.text.startswith(opening, start - 1):
                start -= 1
        whole = self._span(start, end)
        return Grounded(word_forms.without_markup(whole.quote), whole, quoted=True)

    def sentence(self, *hints: str) -> Span:
        """Return the sentence that shares most words with the hints, the first one of equals; else the whole text."""
        closest = _closest_sentence(self._sentences, hints)
        return closest.span if closest else self._span(0, len(self.text))

    def support(self, evidence: str, *hints: str) -> Span:
        """Return the words that support a fact: the sentence of its evidence, or of the text, nearest to the hints."""
        place = self.find(evidence) if evidence else None
        if place is None:
            return self.sentence(*hints)
        quoted = [one for one in self._sentences if one.span.start < place.end and place.start < one.span.end]
        closest = _closest_sentence(quoted, hints)
        return closest.span if closest and len(closest.span.quote) <= _LONGEST_QUOTE else place

    def ground_time(self, extracted_time: str, label: str = "") -> str:
        """Return the text's words for the time and the qualifiers ("votes: 27") of a fact; "" if it states none."""
        when, qualifiers = split_qualifiers(extracted_time)
        times, conditions = list[str](), list[str]()
        for part in when.split("; "):
            if time := self._ground_when(part):
                times.append(time)
                continue
            has_new_words = any(map(str.isalpha, part)) and not set(stems(part)) <= set(stems(label))
            # Words with digits must be in the text: a wrong number would be a wrong fact.
            are_safe = not any(map(str.isdigit, part)) or self._has_words(part)
            # Without "only suggested", the fact would say more than its source.
            if has_new_words and are_safe and read_time(part) is None and len(part) <= LONGEST:
                conditions.append(f"condition: {one_line(part)}")
        grounded_qualifiers = []
        for qualifier in qualifiers:
            _, value = re.split("[:：]", qualifier, maxsplit=1)
            if all(map(self._has_words, value.strip().split(" > "))):  # each heading of a section such as "A > B"
                grounded_qualifiers.append(one_line(qualifier))
        return "; ".join([*times, *conditions, *grounded_qualifiers])

    def _has_words(self, value: str) -> bool:
        """Return True if the text has a value's words one after the other, or a title has them, in any form."""
        return self.find(value) is not None or self._ground_in_any_form(value) is not None

    def _ground_when(self, when: str) -> str:
        """Return the text's words that state the same time; "" if it does not state this time."""
        if len(when) > LONGEST:
            return ""
        time = read_time(when)
        relative = one_line(self._relative_times.find_in(
            when, lambda word: word in _BETWEEN_WORDS or self._has_words(word)))
        # Words such as "since yesterday" have no date of their own, so only the text's relative dates can explain them.
        has_own_date = time is not None and bool(time.start or time.end)
        if time is None or (relative and not has_own_date):
            return relative
        place = self.find(when) or self.find(" ".join(word for word in words(when) if word not in _BETWEEN_WORDS))
        stated = read_time(place.quote) if place else None
        is_same_time = stated is not None and stated._replace(words="") == time._replace(words="")  # in any words
        if place and is_same_time:
            return one_line(place.quote)
        if relative:
            return relative
        # The text need not have a word such as "former", but must state a date that follows it.
        mark, _, date = when.partition(" ")
        if date and mark.lower() in _BARE_TIMES and (date_words := self._ground_when(date)):
            return f"{mark} {date_words}"
        return one_line(when) if when.lower() in _BARE_TIMES else ""


def _closest_sentence(sentences: Sequence[_Sentence], hints: Sequence[str]) -> _Sentence | None:
    """Return the first sentence with the most words of the hints, or None if there are no sentences."""
    wanted = {word for hint in hints for word in words(hint)}
    return max(sentences, key=lambda sentence: len(wanted & sentence.words), default=None)
