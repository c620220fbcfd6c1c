"""Parts of a text that are not sentences: headings, table rows, code, greetings and closings, navigation, addresses."""

import re

from ....text.lexicon import word_set

_LINE = re.compile(r"^[^\n]+$", re.MULTILINE)
_TABLE_ROW = re.compile(r"[ \t]{0,20}\|")
_UNNAMED_CELLS = re.compile(r"Column \d{1,4}: ")  # cells of a sheet without headers
_FENCED = re.compile(r"^ {0,3}(?P<fence>```|~~~).*?(?:^ {0,3}(?P=fence)|\Z)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)(?P<marks>`{1,2})(?!`)[^`\n]{1,200}(?P=marks)(?!`)")  # words of a program in a sentence
_CODE = re.compile(r"[;{}]\s*$|[=!<>:+-]=|=>|->|&&|[a-z_]\((?!e?s\))[\w, ]*\)|^\s*[\w.\[\]]{1,60}(?:: ?\w{1,40})? = |"
                   r"^\s*(?:def|class|return|import|const|let|var|function|fn|struct|#include|//|/\*)(?!\w)")
"""What a line of a program has, and a sentence has not."""
_SYMBOL_WORD = re.compile(r"[A-Z]+|[^\W\d]*\d\w*")  # a word of assembler, a constant or a number
_SYMBOL_SHARE = 0.8  # a line with a larger share of such words is no sentence
_HEADING = re.compile(r"[ \t]{0,20}(?:#{1,6}[ \t]|[=~_*-]{3,80}[ \t]{0,20}$|</?\w{1,20}[^>\n]{0,300}>)")
_GREETING = re.compile(
    r"[ \t]{0,20}(?:(?:dear|hi|hello|hey)\b[^.\n]{0,60}[,!:]?$|(?:good (?:morning|afternoon|evening))\b[^.\n]{0,60}$"
    r"|(?:(?:with )?(?:best|kind|warm|kindest|warmest)(?: regards| wishes)?|regards|sincerely|yours (?:\w{1,12})|"
    r"cheers|thanks|thank you|many thanks|all the best|respectfully|cordially|see you)\b[^.\n]{0,40}[,!]?$)",
    re.IGNORECASE)
_BAR_SEPARATOR = re.compile(r" [|»›•·>] ")
_MENU_WORDS = word_set("home login logout contact contacts about products services imprint privacy search menu sitemap "
                       "careers blog news help support faq skip back next previous")
_ADDRESS = re.compile(r"https?://\S{1,500}|www\.\S{1,500}|\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}")
_TAG = re.compile(r"<[^<>\n]{1,300}>")
_WORD = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*")
_LONGEST_HEADING = 10
_LONGEST_BAR = 12


def masked_parts(text: str) -> list[tuple[int, int]]:
    """Return the parts of a text, as (start, end), that are not searched for names."""
    parts = [match.span() for form in (_ADDRESS, _TAG, _FENCED, _INLINE) for match in form.finditer(text)]
    for match in _LINE.finditer(text):
        is_followed_by_blank = text.startswith("\n\n", match.end())
        is_paragraph = is_followed_by_blank and (match.start() == 0 or text.endswith("\n\n", 0, match.start()))
        if _is_no_sentence(match[0], alone=is_paragraph):
            parts.append(match.span())
    return parts


def _is_no_sentence(line: str, *, alone: bool) -> bool:
    """Return True for a heading, a table row, a line of code, a greeting, a closing or a navigation bar."""
    if (_TABLE_ROW.match(line) or _UNNAMED_CELLS.match(line) or _HEADING.match(line) or _GREETING.match(line)
            or len(_BAR_SEPARATOR.findall(line)) > 1):
        return True
    line_words = _WORD.findall(line)
    letter_words = [word for word in line_words if word[0].isalpha()]
    has_end_mark = line.rstrip().endswith((".", "!", "?", "\"", "”", "。", "！", "？"))
    symbols = sum(_SYMBOL_WORD.fullmatch(word) is not None for word in line_words)
    if len(letter_words) > 1 and (line.isupper() or symbols > _SYMBOL_SHARE * len(line_words)):
        return True
    if has_end_mark:
        return False
    menu_words = sum(word.lower() in _MENU_WORDS for word in letter_words)
    if _CODE.search(line) or (len(line_words) <= _LONGEST_BAR and menu_words > 1):
        return True
    is_list_item = ":" in line or line.lstrip().startswith(("-", "*", "•"))
    return alone and 1 < len(line_words) <= _LONGEST_HEADING and not is_list_item
