"""Markdown and HTML in a text: removing it, and telling lines that may state something from mere layout."""

import re

_COMMENT = re.compile(r"<!--(?:(?!-->).){0,2000}+(?:-->)?|\A[^\n<]{0,200}?-->", re.DOTALL)
_FENCE = re.compile(r"(?<!\S)(?::::+|```+)[a-z]{1,20}(?![^\s:`])|^[ \t]{0,4}(?::::+|```+)[ \t]{0,4}$", re.MULTILINE)
_IMAGE = re.compile(r"!\[[^\[\]\n]{0,300}\]\([^()\s]{1,600}(?:\s\"[^\"\n]{0,200}\")?\)")
_LINK = re.compile(
    r"(?<![\w\]])\[((?:[^\[\]\n\\]|\\[\[\]]){1,300})\]\s?"
    r"\((?:<[^<>\n]{1,600}>|[^()\s]{1,600}(?:\([^()\s]{0,100}\)[^()\s]{0,200})?)(?:\s\"[^\"\n]{0,200}\")?\)")
_TAG = re.compile(r"</?(?:a|abbr|b|blockquote|br|center|code|dd|details|div|dl|dt|em|font|h[1-6]|hr|i|img|kbd|li|ol|p|"
                  r"pre|small|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul)\b(?!@)[^<>]{0,600}>",
                  re.IGNORECASE)
_HEADING = re.compile(r"^[ \t]{0,12}(?:[-*+][ \t]{1,4})?#{1,6}[ \t]{1,4}", re.MULTILINE)
_EMPHASIS = re.compile(r"\*\*(?=\S)((?:(?!\*\*)[^\n]){1,300}?)(?<=\S)\*\*")
_HEADING_LINE = re.compile(r"\s*#{1,6}\s")
_FURNITURE = re.compile(r"\W*(?:(?:page|seite|第)?\W*\d*\W*(?:(?:of|von|/)\W*\d+|页)?|(?:©|\(c\)|copyright\b).*|"
                        r"(?:skip to (?:main )?content|back to top|table of contents|contents|menu|home))\W*",
                        re.IGNORECASE)
_BETWEEN_LINKS = re.compile(r"(?<!\s)\s++[|›»·>/]\s")
_LONGEST_LINK, _FEWEST_LINKS = 3, 2


def without_markup(text: str) -> str:
    """Return a text without Markdown and HTML: comments, images, tags, fences, emphasis and the marks of headings.

    A link is replaced by its words. Anything that is not certainly markup, such as `<T>` or `[1]`, stays.
    """
    for form, replacement in ((_COMMENT, ""), (_FENCE, ""), (_IMAGE, ""), (_LINK, r"\1"), (_TAG, ""), (_HEADING, ""),
                              (_EMPHASIS, r"\1")):
        text = form.sub(replacement, text)
    return text


def has_words(text: str) -> bool:
    """Return True if a text says anything besides markup."""
    return any(map(str.isalnum, without_markup(text)))


def has_statement(text: str) -> bool:
    """Return True if any line of a text may state something.

    Headings, navigation, and lines such as page numbers or copyright notices state nothing; any other line may.
    """
    for line in filter(None, map(str.strip, text.splitlines())):
        links = _BETWEEN_LINKS.split(line)
        has_value = any(character.isdigit() or character in ":：=" for character in line)
        is_navigation = len(links) >= _FEWEST_LINKS and not line.startswith("|") and not has_value and all(
            len(link.split()) <= _LONGEST_LINK for link in links)  # "Home | Tickets | Bar"
        if not (is_navigation or _HEADING_LINE.match(line) or _FURNITURE.fullmatch(line)):
            return True
    return False
