"""The names by which a document's title is quoted."""

import re

_REST = re.compile(r"^中华人民共和国|\s{0,3}[(（][^()（）]{0,60}[)）](?=\.\w{2,4}$|$)|\.\w{2,4}$")


def plain_title(title: str) -> str:
    """Return a title as others quote it: without a date in brackets, a file's ending, or the name of the country."""
    return _REST.sub("", title.rpartition("/")[2] if " " not in title else title).strip() or title
