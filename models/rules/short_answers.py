"""The short answer stated in passages: a list, a count, yes or no, a cell, or the only value of the expected kind."""

import re
from collections.abc import Iterator, Sequence

from ...schemas.naming import canonical_name, has_name
from ...text.cleaning import without_markup
from ...text.dates import parse_date
from ...text.lexicon import read_patterns, word_set
from ...text.quantities import find_numbers, find_values, kind_of
from ...text.relative_dates import with_meant_dates
from ...text.section_lines import mark_length
from ...text.table_rows import DOCUMENT, Cell, Row
from .finder import Finder, Found
from .likeness import gender_of
from .question import MEN, WOMEN, Question, foreign_forms
from .recognition.name_kinds import VALUES, Span, without_overlaps
from .recognition.names import Place, find_names, names_in
from .recognition.spans import find_spans
from .statements import Statements
from .units import Unit

Stated = tuple[str, Unit]  # the words of an answer, and the unit that states it

_LEAST_COVERED = 0.55  # the share of a question's words in a sentence for its only value to be the answer
_LEAST_WORD_CERTAINTY = 0.4
"""The least certainty that the sentence, or an adjacent one, says each word of the question that is no name."""
_UNITS_SEARCHED, _UNITS_SEARCHED_FOR_LISTS = 3, 30  # the best sentences and rows
_FORMS = {name: re.compile(form) for name, form in read_patterns("rules.toml")["short_answers"].items()}
_LONGEST_VERDICT = 3  # letters of "yes" and "no", which answer a question even if its words contain them
_KINDS = {
    "person": frozenset({"person"}), "location": frozenset({"location", "name"}),
    "organization": frozenset({"organization", "name"}), "date": frozenset({"date"}), "number": frozenset({"number"}),
    "name": frozenset({"person", "organization", "location", "event", "work", "product", "award", "name"}),
}  # the kinds of spans that may answer, by the expected kind
_NUMBERED = word_set("version number id code")  # nouns whose answers have a figure
_AFTER_NUMBER, _BEFORE_VALUE = 40, 20  # characters beside a value that may name what is counted, or qualify it
_LIST_LINK = re.compile(r"\s*+[,，、]\s*+(?:(?:and|&)\s++)?|\s++(?:and|&)\s++|[和与及]")
_LEAST_SHARE = 0.6  # the share of a question's words in the text above a list for its items to be the answer
_MOST_ITEMS, _LONGEST_LIST = 12, 300
_NUMBER = r"(?:\d{1,6}|[一二两三四五六七八九十百]{1,4})\s?[名人个位家条项]"
_SAME_QUESTION_SHARE, _DENIAL_SHARE, _CHINESE_DENIAL_SHARE = 0.6, 0.75, 0.55
"""The least share of words that two equal questions have in common, and the least shares of a question's words in a
sentence that denies it: in English, and in Chinese."""


def short_answer(question: Question, found: Sequence[Found], finder: Finder) -> Stated | None:
    """Return a certain answer's words and the unit that states it; None if none of `found`, best first, does."""
    # A question that offers a choice ("X or Y") has no short answer, and what it names itself is none.
    stated = _stated_answer(question, found, finder) if found and not _FORMS["choice"].search(question.asking) else None
    return None if stated and is_asked_thing(question.text, stated[0]) else stated


def is_asked_thing(question: str, value: str) -> bool:
    """Return True if a question names a value, or names by its number the document that a value names.

    "P-27" names the document "27: Typed Envelope". A value without letters, such as a year, may well be the answer.
    """
    if not any(map(str.isalpha, value)):
        return False
    keyed = _FORMS["keyed"].match(value)
    is_keyed = keyed is not None and re.search(rf"(?<!\d){keyed[1]}(?!\d)", question) is not None
    return is_keyed or (len(value) > _LONGEST_VERDICT and has_name(question, value))


def _stated_answer(question: Question, found: Sequence[Found], finder: Finder) -> Stated | None:
    """Return the verdict, list, count, cell or value that answers a question, by its form; None if none is certain."""
    if question.expected == "polar":
        return _verdict(question, found)
    if stated := _listed(question, found, finder) or _counted(question, found):
        unit = stated[1]
        return stated if _has_names(question, f"{unit.opening} {unit.text}", unit.heading) else None
    # In a sentence an answer is recognised by its kind; without one, only the header of a cell tells what it is.
    if not question.has_form or found[0].unit.row is not None:
        return _from_row(question, found, finder)
    asks_for_several = question.lists and question.expected != "number"  # one value does not answer this
    values = [] if asks_for_several else list(_stated_values(question, found, finder))
    if not values:
        return _from_definition(question, found[0].unit)
    # Another sentence may say a part of it: "Marie Curie" beside "Marie Curie and Pierre Curie".
    differ = any(canonical_name(value) not in canonical_name(values[0][0]) for value, _ in values)
    return None if differ else values[0]


def _stated_values(question: Question, found: Sequence[Found], finder: Finder) -> Iterator[Stated]:
    """Yield the values of the expected kind that sentences state as the answer, the best sentence first."""
    in_named_documents = [item for item in found if finder.passages[item.unit.passage - 1].document in finder.named]
    units = [item.unit for item in (in_named_documents or found)[:_UNITS_SEARCHED] if not item.unit.row
             and item.covered >= _LEAST_COVERED and item.least_certain_word >= _LEAST_WORD_CERTAINTY
             and _is_about(question, item.unit)]
    if not units:
        return
    statements = Statements(question, finder.parser)
    spans_of_units = _dates_and_numbers(question, units) if question.expected in VALUES else _names(
        question, units, finder)
    for unit, spans in zip(units, spans_of_units, strict=True):
        text, kinds = unit.text, _KINDS[question.expected]
        new_spans = [span for span in spans
                     if span.kind in kinds and not _is_asked(question, text[span.start : span.end])]
        places = [(span.start, span.end) for span in new_spans]
        joined = places if question.expected == "location" else _joined_places(text, new_spans)  # "Ulm, Germany"
        for start, end in (_stated_places(question, statements, text, joined)
                           or _stated_places(question, statements, text, places)):
            value, text_after = text[start:end], text[end : end + _AFTER_NUMBER]
            lacks_figure = question.focus in _NUMBERED and not any(map(str.isdigit, value))
            is_other_number = question.expected == "number" and not question.is_answered_by(value, text_after)
            if not (lacks_figure or is_other_number):
                qualifier = _FORMS["qualifier"].search(text, max(0, start - _BEFORE_VALUE), start)
                first = qualifier.start() if qualifier else start
                yield " ".join(with_meant_dates(text, unit.relative_dates, first, end).split()), unit


def _names(question: Question, units: Sequence[Unit], finder: Finder) -> Iterator[list[Span]]:
    """Yield the names in each unit: of the recogniser, words with capitals, and numbered things ("RFC 20")."""
    texts = [unit.text.title() if unit.text.isupper() else unit.text for unit in units]
    asked_noun = _FORMS["asked_noun"].search(question.asking)  # "Which RFC" is answered by "RFC 20"
    numbered_thing = re.compile(rf"\b{asked_noun[1]}[ -]\d[\d.]*\b" if asked_noun else r"(?!)", re.IGNORECASE)
    for text, spans in zip(texts, find_spans(texts, finder.parser), strict=True):
        identifiers = [Span(*match.span(), "name") for match in numbered_thing.finditer(text)]
        # The first word of a sentence has a capital anyway.
        capitalised = [Span(*place, "name") for place in find_names(text) if place[0] > 0]
        yield without_overlaps(identifiers, spans, capitalised)


def _dates_and_numbers(question: Question, units: Sequence[Unit]) -> Iterator[list[Span]]:
    """Yield the dates and the numbers of each unit, with relative dates and numbers written as words."""
    for unit in units:
        text = unit.text
        dates = [Span(value.start, value.end, "date") for value in find_values(text) if value.kind == "date"]
        if "year" in question.focus:  # "5 May" has none
            dates = [date for date in dates if not parse_date(text[date.start : date.end]).startswith("X")]
        relative = [Span(one.start, one.end, "date") for one in unit.relative_dates]
        # The "6." of an item is no number that it states.
        numbers = [Span(*place, "number") for place in find_numbers(text, counts=True) if place[0] >= mark_length(text)]
        if _FORMS["asks_phone"].search(question.asking):
            dates, relative = [], []
            numbers = [Span(*match.span(), "number") for match in _FORMS["phone"].finditer(text)]
        yield without_overlaps(relative, dates, numbers)


def _is_asked(question: Question, value: str) -> bool:
    """Return True if a question has a value, or all its words in some form, as "Birth" beside "born"."""
    stems = question.words_of(value)
    is_said = value.isalpha() and bool(stems) and frozenset(question.words_of(question.text)).issuperset(stems)
    return has_name(question.text, value) or is_said


def _joined_places(text: str, spans: Sequence[Span]) -> list[Place]:
    """Return the places of spans, with those that are one list as one: "Ada Blum and Karl Brandt"."""
    joined = list[Place]()
    for span in spans:
        if joined and _LIST_LINK.fullmatch(text, joined[-1][1], span.start):
            joined[-1] = joined[-1][0], span.end
        else:
            joined.append((span.start, span.end))
    return joined


def _stated_places(question: Question, statements: Statements, text: str, places: list[Place]) -> list[Place]:
    """Return those places of a sentence that it states as the answer."""
    if question.language in {"en", "zh"}:
        return statements.stated(text, places) if places else []
    # Of other languages, a text answers by its only place of the expected kind, unless it denies something.
    negation = foreign_forms()[question.language]["negated"]
    is_denied = negation.search(text) and not negation.search(question.text)
    return places if len(places) == 1 and not is_denied else []


def _is_about(question: Question, unit: Unit) -> bool:
    """Return True if a sentence is about what the question names, by its own words or by what stands above it."""
    # The sentence before may name what this one goes on about.
    has_names = _has_names(question, f"{unit.before} {unit.text}", unit.heading)
    if not has_names or not _has_limits(question, f"{unit.heading} {unit.text}"):
        return False
    if _has_names(question, unit.text):
        return True
    words = {*unit.text.lower().split()}
    genders = {gender for gender, pronouns in (("man", MEN), ("woman", WOMEN)) if not words.isdisjoint(pronouns)}
    if len(genders) == 1 and any(gender_of(name) not in {"", *genders} for name in question.names):
        return False  # "he" is not Clara
    first_name = next(iter(names_in(unit.text)), "")
    if not first_name or not unit.text.startswith(first_name) or has_name(unit.heading, first_name):
        return True
    # A sentence that begins with a name ("Harding died") is not about the heading's subject. The first word of any
    # sentence has a capital: it is a name if others with capitals follow, or if it has one within a sentence, too.
    return " " not in first_name and not re.search(rf"[\w,;’'] {re.escape(first_name)}\b", unit.source)


def _has_names(question: Question, text: str, heading: str = "") -> bool:
    """Return True if a text or the headings above it contain the question's names."""
    # In the text their last words are enough, as "Blum" for "Ada Blum"; a heading may be about another Blum. Of a name
    # such as "University of Oslo" the last word names something else.
    return all(has_name(f"{heading} {text}", name) or (" of " not in name and has_name(text, name.split()[-1]))
               for name in question.names)


def _has_limits(question: Question, text: str) -> bool:
    """Return True if a text has each figure of the question, and each limiting word such as "first" or "deputy"."""
    words = {*question.words_of(text), *map(str.lower, _FORMS["limiting_word"].findall(text))}
    limits = _FORMS["limiting_word"].findall(question.asking)
    has_words = all(words.issuperset(question.words_of(limit) or [limit.lower()]) for limit in limits)
    return has_words and _figures(question.asking) <= _figures(text)


def _figures(text: str) -> set[str]:
    """Return the runs of digits in a text, without zeros at their beginning."""
    return {figure.lstrip("0") for figure in re.findall(r"\d+", text)}


def _from_definition(question: Question, unit: Unit) -> Stated | None:
    """Return the subject of a definition as the answer: "Bern is the capital" answers "Which city is the capital?"."""
    match, focus_words = _FORMS["definition"].match(unit.text), frozenset(question.words_of(question.focus))
    if match is None or not focus_words or not _is_about(question, unit):
        return None
    # "Which city is picked as the capital?" asks for the role "capital".
    asked = frozenset(question.words_of(_FORMS["choosing_verb"].sub(" ", question.asking))) - focus_words
    subject = " ".join(match["subject"].split())
    is_covered = asked.issuperset(question.words_of(match["role"])) and asked.issubset(question.words_of(unit.text))
    return (subject, unit) if is_covered and asked.isdisjoint(question.words_of(subject)) else None


def _from_row(question: Question, found: Sequence[Found], finder: Finder) -> Stated | None:
    """Return the cell that a question asks for, or None if another row of its table answers too."""
    # A question with a form gets here only if the best unit is a row; any other needs a row that has its header.
    searched = [item.unit for item in found[: 1 if question.has_form else _UNITS_SEARCHED] if item.unit.row]
    unit, cell = next(((unit, cell) for unit in searched if (cell := _asked_cell(question, unit.row))), (None, None))
    # A numbered row has no name by which a question could mean it, so it is one of many that may answer.
    if unit is None or unit.row is None or cell is None or unit.row.is_numbered:
        return None
    # A row is an extreme only where its column says so: "Highest point", but not the longest of many episodes.
    tokens = finder.parser.parse(question.asking) if question.language == "en" else ()
    superlatives = [*re.findall("最.", question.asking), *(t.lower_ for t in tokens if t.tag_ in {"JJS", "RBS"})]
    is_extreme = all(word in cell.header.casefold() for word in superlatives)
    is_denied = _FORMS["negation"].search(question.asking)
    is_limited = _has_limits(question, f"{unit.heading} {unit.text}")
    if is_denied or not (is_extreme and is_limited and _has_names(question, unit.text, unit.heading)):
        return None
    row, shared = unit.row, _shared_words(question, unit.row)
    for other in (item.unit for item in found):
        # The rows of documents' metadata are one table, although each is under its own title.
        is_beside = other.heading == unit.heading or row.cells[0].header == DOCUMENT
        if not is_beside or other.row is None or other.row.cells[0].header != row.cells[0].header:
            continue
        # A long row is several lines, of which another one of the same subject may lack the asked column.
        may_answer = other.row.cells[0] != row.cells[0] or any(one.header == cell.header for one in other.row.cells)
        # A row with another value that fits the question's words as well leaves the answer open.
        if cell not in other.row.cells and may_answer and _shared_words(question, other.row) >= shared:
            return None
    return (cell.value, unit) if shared else None


def _asked_cell(question: Question, row: Row | None) -> Cell | None:
    """Return the only cell of the expected kind whose header the question names; None if there is none or several."""
    asked, cells = frozenset(question.words_of(question.text)), row.cells if row else ()
    if not question.has_form:  # it names the header of a cell: "What is the status of X?"
        focus = frozenset(question.words_of(question.focus))
        return next((cell for cell in cells[1:] if focus and focus <= {*question.words_of(cell.header)} <= asked), None)
    # Fields of a document, such as its date, are often of the kind that is asked for, but of something else.
    if not cells or cells[0].header == DOCUMENT or question.lists:
        return None
    named = list[Cell]()
    for cell in cells:
        has_digits = any(map(str.isdigit, cell.value))
        is_text = kind_of(cell.value) == "text" and (question.expected == "name" or not has_digits)
        is_of_kind = has_digits if question.expected in VALUES else is_text
        is_new = not asked.issuperset(question.words_of(cell.value) or [cell.value])
        if is_of_kind and is_new and asked.intersection(question.words_of(cell.header)):
            named.append(cell)
    return named[0] if len(named) == 1 else None


def _shared_words(question: Question, row: Row) -> frozenset[str]:
    """Return the words that a question and the values of a row have in common."""
    asked = frozenset(question.words_of(question.text))
    return asked.intersection(word for cell in row.cells for word in question.words_of(cell.value))


def _listed(question: Question, found: Sequence[Found], finder: Finder) -> Stated | None:
    """Return the items that a question for several things asks for, in one text, and the unit that states them."""
    # The headings and the sentence above a list must cover the question; of several lists, the one is chosen whose
    # headings cover most. None if there is none.
    if not question.lists:
        return None
    noun = _FORMS["listed_noun"].search(question.asking)
    best_share, best = 0.0, None
    for unit in (item.unit for item in found[:_UNITS_SEARCHED_FOR_LISTS]):
        above, items = f"{unit.heading} {unit.opening}", _column(question, unit, finder) if unit.row else unit.items
        values = [" ".join(without_markup(item).split()).rstrip(" \t;；,，。.") for item in items]
        joined = ("；" if question.language == "zh" else "; ").join(values)
        # 哪些专业 is not answered by a list under 航空学院 that does not say what it lists.
        lacks_noun = noun is not None and noun["noun"] not in above
        if lacks_noun or not 1 < len(values) <= _MOST_ITEMS or len(joined) > _LONGEST_LIST:
            continue
        share, least = finder.share(question, above)
        if share >= _LEAST_SHARE and least >= _LEAST_WORD_CERTAINTY and share > best_share:
            best_share, best = share, (joined, unit)
    return best


def _column(question: Question, unit: Unit, finder: Finder) -> list[str]:
    """Return the distinct cells of the column whose header the question's noun names, in order; empty if none is."""
    headers = [cell.header for cell in unit.row.cells] if unit.row else []
    focus = {*question.words_of(question.focus)}
    asked = next((header for header in headers if focus and focus.issubset(question.words_of(header))), None)
    if asked is None or headers[0] == DOCUMENT:
        return []
    # A table may go on in another passage, and passages may overlap; so its rows are taken by their place.
    row_by_place = {finder.passages[one.passage - 1].start + one.start: one.row for one in finder.units
                    if one.row and [cell.header for cell in one.row.cells] == headers}
    cells = [cell for _, row in sorted(row_by_place.items()) for cell in row.cells]
    return list(dict.fromkeys(cell.value for cell in cells if cell.header == asked))


def _counted(question: Question, found: Sequence[Found]) -> Stated | None:
    """Return the count that a Chinese question asks for, and the unit that states it and has the question's names."""
    # For 几名副组长 ("how many deputy heads") it is "2人" if a unit has 副组长2人 or 2名副组长. None if units disagree.
    match = _FORMS["count_question"].search(question.asking)
    if match is None:
        return None
    noun = re.escape(match["noun"])
    count_form = re.compile(rf"{noun}\s?({_NUMBER})|({_NUMBER}){noun}")
    counts = [(hit[1] or hit[2], item.unit) for item in found[:_UNITS_SEARCHED_FOR_LISTS]
              if (hit := count_form.search(item.unit.text))
              and _has_names(question, item.unit.text, item.unit.heading)]
    return counts[0] if len({count for count, _ in counts}) == 1 else None


def _verdict(question: Question, found: Sequence[Found]) -> Stated | None:
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
    is_chinese = question.language == "zh"
    least_covered = _CHINESE_DENIAL_SHARE if is_chinese else _DENIAL_SHARE
    has_condition = _FORMS["condition"].search(question.text) or _FORMS["condition"].search(best.text)
    if found[0].covered < least_covered or has_condition or not _has_names(question, best.text, best.heading):
        return None
    for denial in _FORMS["chinese_denial" if is_chinese else "denial"].finditer(best.text):
        denied = question.words_of(denial["what"])
        if denied and asked.issuperset(denied):
            return (denial[0] if is_chinese else "No"), best
    return None
