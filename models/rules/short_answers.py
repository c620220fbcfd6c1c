"""The short answer stated in passages: a list, a count, yes or no, a cell, or the only value of the expected kind."""

import re
from collections.abc import Iterator, Sequence

from ...schemas.naming import canonical_name, has_name
from ...text.cleaning import without_markup
from ...text.content_words import content_words
from ...text.lexicon import word_set
from ...text.patterns import read_patterns
from ...text.quantities import kind_of
from ...text.relative_dates import with_meant_dates
from ...text.table_rows import DOCUMENT, Cell, Row
from .answer_spans import answer_spans
from .chinese_statements import ChineseStatement
from .english_statements import AskedClause, EnglishStatement
from .finder import Finder, Found
from .likeness import gender_of
from .question import MEN, WOMEN, Question, foreign_forms
from .recognition.name_kinds import VALUES
from .recognition.names import Place, names_in
from .units import Unit

Stated = tuple[str, Unit]  # the words of an answer, and the unit that states it

_NUMBERED = word_set("version number id code")  # nouns whose answers have a figure
_LEAST_COVERED = 0.55  # the share of a question's words in a sentence for its only value to be the answer
_LEAST_WORD_CERTAINTY = 0.4
"""The least certainty that the sentence, or an adjacent one, says each word of the question that is no name."""
_FORMS = {name: re.compile(form) for name, form in read_patterns("rules.toml")["short_answers"].items()}
_CHOICE = re.compile(r"\bor\b|还是|分别|\b(?:\w{3,}er|more|less|fewer) (?:\w+ ){0,3}than\b", re.IGNORECASE)
_KEYED = re.compile(r"(?:[A-Za-z]\w*-)?(\d{1,6}): ")  # the name of a document by its number and title
_LONGEST_VERDICT = 3  # letters of "yes" and "no", which answer a question even if its words contain them
_UNITS_SEARCHED, _UNITS_SEARCHED_FOR_LISTS = 3, 30  # the best sentences and rows
_AFTER_NUMBER = 40  # characters after a number that may name the counted things
_LIST_LINK = re.compile(r"\s*+[,，、]\s*+(?:(?:and|&)\s++)?|\s++(?:and|&)\s++|[和与及]")
_QUALIFIER_LENGTH = 20
_DEFINITION = re.compile(r"(?P<subject>[^,.;:()\n]{2,50}?)\W+(?:is|are|was|were) (?:the|an?) (?P<role>[a-z-]+)\b")
_CHOOSING_VERB = re.compile(r"\b(?:picked|chosen|selected|elected|appointed|named|used)\b", re.IGNORECASE)
_LEAST_SHARE = 0.6  # the share of a question's words in the text above a list for its items to be the answer
_MOST_ITEMS, _LONGEST_LIST = 12, 300
_NUMBER = r"(?:\d{1,6}|[一二两三四五六七八九十百]{1,4})\s?[名人个位家条项]"
_LISTED_NOUN = re.compile(r"哪些(?P<noun>[^\W\d_]{2})")
_SAME_QUESTION_SHARE, _DENIAL_SHARE, _CHINESE_DENIAL_SHARE = 0.6, 0.75, 0.55
"""The least share of words that two equal questions have in common, and the least shares of a question's words in a
sentence that denies it: in English, and in Chinese."""


def short_answer(question: Question, found: Sequence[Found], finder: Finder) -> Stated | None:
    """Return the words of the answer and the unit that states it, or None if the passages state no certain answer.

    `found` are the units, best first. A question that offers a choice ("X or Y") has no short answer, and what a
    question itself names is none.
    """
    stated = _stated_answer(question, found, finder) if found and not _CHOICE.search(question.asking) else None
    return None if stated and is_asked_thing(question.text, stated[0]) else stated


def is_asked_thing(question: str, value: str) -> bool:
    """Return True if a question names a value, or names by its number the document that a value names.

    "P-27" names the document "27: Typed Envelope". A value without letters, such as a year, may well be the answer.
    """
    if not any(map(str.isalpha, value)):
        return False
    keyed = _KEYED.match(value)
    is_keyed = keyed is not None and re.search(rf"(?<!\d){keyed[1]}(?!\d)", question) is not None
    return is_keyed or (len(value) > _LONGEST_VERDICT and has_name(question, value))


def _stated_answer(question: Question, found: Sequence[Found], finder: Finder) -> Stated | None:
    """Return the verdict, list, count, cell or value that answers a question, by its form; None if none is certain."""
    best = found[0].unit
    if question.expected == "polar":
        stated = _verdict(question, found, finder)
    else:
        stated = _listed(question, found, finder) or _counted(question, found)
    if stated is not None:
        unit = stated[1]
        return stated if _names_all(question, f"{unit.opening} {unit.text}", unit.heading) else None
    # In a sentence an answer is recognised by its kind; without one, only the header of a cell tells what it is.
    if not question.has_form or best.row is not None:
        return _from_row(question, found, finder)
    asks_for_several = question.lists and question.expected != "number"  # one value does not answer this
    values = [] if asks_for_several else list(_stated_values(question, found, finder))
    if not values:
        return _from_definition(question, best)
    value, _ = values[0]
    differ = any(canonical_name(other) != canonical_name(value) for other, _ in values)
    return None if differ else values[0]


def _stated_values(question: Question, found: Sequence[Found], finder: Finder) -> Iterator[Stated]:
    """Yield the values of the expected kind that sentences state as the answer, the best sentence first."""
    in_named_documents = [item for item in found if finder.passages[item.unit.passage - 1].document in finder.named]
    best = (in_named_documents or found)[:_UNITS_SEARCHED]
    candidates = [item for item in best if not item.unit.row
                  and item.covered >= _LEAST_COVERED and item.least_certain_word >= _LEAST_WORD_CERTAINTY
                  and _is_about(question, item.unit)]
    if not candidates:
        return
    asked = AskedClause(question, finder.parser.parse(question.asking)) if question.language == "en" else None
    spans_of_units = answer_spans(question, [item.unit for item in candidates], finder.parser)
    for item, spans in zip(candidates, spans_of_units, strict=True):
        unit, places = item.unit, [(span.start, span.end) for span in spans]
        stated = _stated_places(question, asked, unit, places, finder, is_best=item is found[0]) if places else []
        for start, end in _joined_places(unit.text, stated):
            value, text_after = unit.text[start:end], unit.text[end:end + _AFTER_NUMBER]
            lacks_figure = question.focus in _NUMBERED and not any(map(str.isdigit, value))
            is_other_number = question.expected == "number" and not question.is_answered_by(value, text_after)
            if lacks_figure or is_other_number:
                continue
            qualifier = _FORMS["qualifier"].search(unit.text, max(0, start - _QUALIFIER_LENGTH), start)
            first = qualifier.start() if qualifier else start
            yield " ".join(with_meant_dates(unit.text, unit.relative_dates, first, end).split()), unit


def _stated_places(question: Question, asked: AskedClause | None, unit: Unit, places: list[Place], finder: Finder, *,
                   is_best: bool) -> list[Place]:
    """Return those places of a sentence that it states as the answer."""
    # The grammar decides in Chinese, and in English sentences with a verb. Any other text answers by its only place of
    # the expected kind, unless it denies something. An English line without a verb, such as "Chair: Ada Blum", also has
    # to be the best unit and to have the question's names as wholes. `asked` is the parse of an English question.
    text = unit.text
    if asked and (statement := EnglishStatement(asked, finder.parser.parse(text))).has_clause:
        return statement.stated(places)
    if question.language == "zh":
        chinese = ChineseStatement(question, text)
        return [place for place in places if chinese.states(*place, places)]
    negation = foreign_forms().get(question.language, {}).get("negated", _FORMS["negation"])
    is_denied = negation.search(text) and not negation.search(question.text)
    is_certain = asked is None or (is_best and all(_has_part(text, name) for name in question.names))
    return places if len(places) == 1 and is_certain and not is_denied else []


def _joined_places(text: str, places: Sequence[Place]) -> list[Place]:
    """Return places in a text, with those that are one list as one: "Ada Blum and Karl Brandt"."""
    joined = list[Place]()
    for start, end in places:
        first, last = joined[-1] if joined else (0, 0)
        if joined and _LIST_LINK.fullmatch(text, last, start):
            joined[-1] = first, end
        else:
            joined.append((start, end))
    return joined


def _has_part(line: str, name: str) -> bool:
    """Return False for a line that has a name only within other words: "Head" in "Deputy Head", "aide to the Head"."""
    words = rf"\b{re.escape(name)}\b"
    # The name as a part of its own: between the ends of a line or marks, or beside "at", "of", "for" or "in".
    part = rf"(?:^|[\n,;:|(–—-] ?|\b(?:at|of|for|in) (?:the )?){words}(?=$|[\n,;:|).–—-]| [(–—-]| (?:at|of|for|in)\b)"
    return not re.search(words, line, re.IGNORECASE) or re.search(part, line, re.IGNORECASE) is not None


def _is_about(question: Question, unit: Unit) -> bool:
    """Return True if a sentence is about what the question names, by its own words or by what stands above it."""
    # The sentence before may name what this one goes on about.
    has_names = _names_all(question, f"{unit.before} {unit.text}", unit.heading)
    if not has_names or not _has_limits(question, f"{unit.heading} {unit.text}"):
        return False
    if _names_all(question, unit.text):
        return True
    if _is_of_other_gender(question, unit.text):
        return False
    first_name = next(iter(names_in(unit.text)), "")
    if not first_name or not unit.text.startswith(first_name) or has_name(unit.heading, first_name):
        return True
    # A sentence that begins with a name ("Harding died") is not about the heading's subject. The first word of any
    # sentence has a capital: it is a name if it has one within a sentence, too.
    return not re.search(rf"[\w,;’'] {re.escape(first_name)}\b", unit.source)


def _is_of_other_gender(question: Question, text: str) -> bool:
    """Return True if a text says "he" and the question names a woman, or the other way round."""
    words = {*text.lower().split()}
    says_he, says_she = not words.isdisjoint(MEN), not words.isdisjoint(WOMEN)
    is_of_other_than = {"woman": says_he and not says_she, "man": says_she and not says_he}
    return any(is_of_other_than.get(gender_of(name), False) for name in question.names)


def _has_limits(question: Question, text: str) -> bool:
    """Return True if a text has each figure of the question, and each limiting word such as "first" or "deputy"."""
    text_words = set(question.words_of(text)) | {word.lower() for word in _FORMS["limiting_word"].findall(text)}

    def is_in_text(word: str) -> bool:
        """Return True if the text has a limiting word as it is, or its content words in any form."""
        content = question.words_of(word)
        return word.lower() in text_words or (bool(content) and text_words.issuperset(content))

    has_figures = _figures(question.asking) <= _figures(text)
    return has_figures and all(map(is_in_text, _FORMS["limiting_word"].findall(question.asking)))


def _figures(text: str) -> set[str]:
    """Return the runs of digits in a text, without zeros at their beginning."""
    return {figure.lstrip("0") for figure in re.findall(r"\d+", text)}


def _names_all(question: Question, text: str, heading: str = "") -> bool:
    """Return True if a text or the headings above it contain the question's names."""
    # In the text their last words are enough, as "Blum" for "Ada Blum"; a heading may be about another Blum. Of a name
    # such as "University of Oslo" the last word names something else.
    return all(has_name(f"{heading} {text}", name) or (" of " not in name and has_name(text, name.split()[-1]))
               for name in question.names)


def _from_definition(question: Question, unit: Unit) -> Stated | None:
    """Return the subject of a definition as the answer: "Bern is the capital" answers "Which city is the capital?"."""
    match, focus_words = _DEFINITION.match(unit.text), frozenset(question.words_of(question.focus))
    if match is None or not focus_words or not _is_about(question, unit):
        return None
    # "Which city is picked as the capital?" asks for the role "capital".
    asked = frozenset(question.words_of(_CHOOSING_VERB.sub(" ", question.asking))) - focus_words
    subject = " ".join(match["subject"].split())
    is_covered = asked.issuperset(question.words_of(match["role"])) and asked.issubset(question.words_of(unit.text))
    return (subject, unit) if is_covered and asked.isdisjoint(question.words_of(subject)) else None


def _superlatives(question: Question, finder: Finder) -> set[str]:
    """Return the words of a question that say an extreme, such as "longest" and 最长."""
    if question.language == "zh":
        return set(re.findall("最.", question.asking))
    tokens = finder.parser.parse(question.asking) if question.language == "en" else ()
    return {token.lower_ for token in tokens if token.tag_ in {"JJS", "RBS"}}


def _from_row(question: Question, found: Sequence[Found], finder: Finder) -> Stated | None:
    """Return the cell that a question asks for, or None if another row of its table answers too."""
    # A question with a form gets here only if the best unit is a row; any other needs a row that has its header.
    searched = [item.unit for item in (found[:1] if question.has_form else found[:_UNITS_SEARCHED])]
    cells = ((unit, _asked_cell(question, unit.row)) for unit in searched if unit.row)
    unit, cell = next(((unit, cell) for unit, cell in cells if cell), (searched[0], None))
    row = unit.row
    # A numbered row has no name by which a question could mean it, so it is one of many that may answer.
    if row is None or cell is None or row.is_numbered or _FORMS["negation"].search(question.asking):
        return None
    is_limited = _has_limits(question, f"{unit.heading} {unit.text}")
    if not is_limited or not _names_all(question, unit.text, unit.heading):
        return None
    # A row is an extreme only where its column says so: "Highest point", but not the longest of many episodes.
    if not all(word in cell.header.casefold() for word in _superlatives(question, finder)):
        return None
    shared = _shared_words(question, row)
    for item in found:
        other = item.unit.row
        # The rows of documents' metadata are one table, although each is under its own title.
        is_under_same_heading = item.unit.heading == unit.heading or row.cells[0].header == DOCUMENT
        if other is None or not is_under_same_heading or other.cells[0].header != row.cells[0].header:
            continue
        has_same_value = cell in other.cells
        # A long row is several lines, of which another one of the same subject may lack the asked column.
        may_answer = other.cells[0] != row.cells[0] or any(one.header == cell.header for one in other.cells)
        # A row with another value that fits the question's words as well leaves the answer open.
        if not has_same_value and may_answer and _shared_words(question, other) >= shared:
            return None
    return (cell.value, unit) if shared else None


def _asked_cell(question: Question, row: Row) -> Cell | None:
    """Return the only cell of the expected kind whose header the question names; None if there is none or several."""
    asked = frozenset(question.words_of(question.text))
    if not question.has_form:  # it names the header of a cell: "What is the status of X?"
        focus = frozenset(question.words_of(question.focus))
        return next((cell for cell in row.cells[1:]
                     if focus and focus <= frozenset(question.words_of(cell.header)) <= asked), None)
    # Fields of a document, such as its date, are often of the kind that is asked for, but of something else.
    if row.cells[0].header == DOCUMENT or question.lists:
        return None
    named = list[Cell]()
    for cell in row.cells:
        has_digits = any(map(str.isdigit, cell.value))
        if question.expected in VALUES:
            is_of_kind = has_digits
        else:
            is_of_kind = kind_of(cell.value) == "text" and (question.expected == "name" or not has_digits)
        is_new = not asked.issuperset(question.words_of(cell.value) or [cell.value])
        if is_of_kind and is_new and asked.intersection(question.words_of(cell.header)):
            named.append(cell)
    return named[0] if len(named) == 1 else None


def _shared_words(question: Question, row: Row) -> frozenset[str]:
    """Return the words that a question and the values of a row have in common."""
    asked = frozenset(question.words_of(question.text))
    return frozenset(word for cell in row.cells for word in question.words_of(cell.value) if word in asked)


def _listed(question: Question, found: Sequence[Found], finder: Finder) -> Stated | None:
    """Return the items that a question for several things asks for, in one text, and the unit that states them."""
    # The headings and the sentence above a list must cover the question; of several lists, the one is chosen whose
    # headings cover most. None if there is none.
    if not question.lists:
        return None
    noun = _LISTED_NOUN.search(question.asking)
    best_share, best = 0.0, None
    # Of each list the best item: the units are best first, and in a dictionary the last one of a key stays.
    unit_by_text_above = {f"{item.unit.heading} {item.unit.opening}": item.unit
                          for item in reversed(found[:_UNITS_SEARCHED_FOR_LISTS])}
    for above, unit in reversed(unit_by_text_above.items()):
        items = _column(question, unit, finder) if unit.row else unit.items
        values = [" ".join(without_markup(item).split()).rstrip(" \t;；,，。.") for item in items]
        joined = ("；" if question.language == "zh" else "; ").join(values)
        # 哪些专业 is not answered by a list under 航空学院 that does not say what it lists.
        lacks_noun = noun is not None and unit.row is None and noun["noun"] not in above
        if lacks_noun or not 1 < len(values) <= _MOST_ITEMS or len(joined) > _LONGEST_LIST:
            continue
        share, least = finder.share(question, above)
        if share >= _LEAST_SHARE and least >= _LEAST_WORD_CERTAINTY and share > best_share:
            best_share, best = share, (joined, unit)
    return best


def _column(question: Question, unit: Unit, finder: Finder) -> list[str]:
    """Return the distinct cells of the column whose header the question's noun names, in order; empty if none is."""
    if unit.row is None or unit.row.cells[0].header == DOCUMENT or not question.focus:
        return []
    headers = [cell.header for cell in unit.row.cells]
    focus = set(question.words_of(question.focus))
    asked_header = next((header for header in headers if focus.issubset(question.words_of(header))), "")
    # A table may go on in another passage, and passages may overlap; so its rows are kept by their place.
    row_by_place = {finder.passages[one.passage - 1].start + one.start: one.row for one in finder.units
                    if one.row and [cell.header for cell in one.row.cells] == headers}
    cells = [cell for _, row in sorted(row_by_place.items()) for cell in row.cells]
    return list(dict.fromkeys(cell.value for cell in cells if cell.header == asked_header))


def _counted(question: Question, found: Sequence[Found]) -> Stated | None:
    """Return the count that a Chinese question asks for, and the unit that states it and has the question's names."""
    # For 几名副组长 ("how many deputy heads") it is "2人" if a unit has 副组长2人 or 2名副组长. None if units disagree.
    match = _FORMS["count_question"].search(question.asking)
    if match is None:
        return None
    noun = re.escape(match["noun"])
    count_form = re.compile(rf"{noun}\s?({_NUMBER})|({_NUMBER}){noun}")
    units_with_names = [item.unit for item in found[:_UNITS_SEARCHED_FOR_LISTS]
                        if all(has_name(f"{item.unit.heading} {item.unit.text}", name) for name in question.names)]
    counts = [(hit[1] or hit[2], unit) for unit in units_with_names if (hit := count_form.search(unit.text))]
    return counts[0] if len({count for count, _ in counts}) == 1 else None


def _verdict(question: Question, found: Sequence[Found], finder: Finder) -> Stated | None:
    """Return the words that answer a yes-or-no question, and the unit that states them; None if that is uncertain."""
    # They are the "yes" or "no" of a listed question with the same words, or a denial of what is asked in the best
    # unit. Nothing else is answered, as a condition or an exception may stand elsewhere.
    best, asked = found[0].unit, frozenset(question.words_of(question.text))
    if best.asked:
        answer = next(unit for unit in best.all_units if unit.asked == best.asked)
        match, other_words = _FORMS["yes_or_no"].match(answer.text), frozenset(question.words_of(best.asked))
        is_same = (_figures(question.text) == _figures(best.asked)
                   and len(asked & other_words) >= _SAME_QUESTION_SHARE * len(asked | other_words))
        return (match["verdict"], answer) if match and is_same else None
    least_covered = _CHINESE_DENIAL_SHARE if question.language == "zh" else _DENIAL_SHARE
    has_condition = _FORMS["condition"].search(question.text) or _FORMS["condition"].search(best.text)
    if found[0].covered < least_covered or has_condition:
        return None
    if question.language == "zh":
        denial = _FORMS["chinese_denial"].search(best.text)
        return (denial[0], best) if denial and asked.issuperset(question.words_of(denial["what"])) else None
    denied_verbs = [content_words(match["verb"]) for match in _FORMS["denial"].finditer(best.text)]
    denies_asked = any(verb and asked.issuperset(verb) for verb in denied_verbs)
    return ("No", best) if denies_asked and finder.share(question, best.text)[0] >= _DENIAL_SHARE else None
