"""Decode bytes in any encoding to text; one that is neither Unicode nor declared is told by the language it gives."""

import codecs
import os
import re
import stat
import unicodedata
from collections import Counter
from contextlib import ExitStack
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple

from charset_normalizer.constant import FREQUENCIES

from ..text.languages import function_words
from .reading import DEFAULT_LIMITS, Limits, UnreadableError, note_doubt

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
         (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
# Browsers read a page that declares the older, smaller set in its superset.
_SUPERSETS = {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252", "ascii": "cp1252",
              "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs", "iso8859-9": "cp1254"}
# Python's own text codecs are not character sets: decoding a page with one would change it.
_NO_CHARSETS = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape", "utf-7", "undefined", "mbcs",
                          "oem"})
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1f\x7f]")
_CONTROLS = 0.01  # the largest share of control characters in a text
_BLOCK = 1024 * 1024
_SAMPLE = 64 * 1024
_LETTERS = {
    "en": "áàâäãåæçéèêëíìîïñóòôöøúùûü", "es": "áéíóúñü¿¡ºª", "fr": "éèàâêîôûçùëïüœæ", "pt": "ãçáéíóõêâôúàü",
    "de": "äöüß", "it": "àèéìòù", "nl": "ëïéèöü", "sv": "åäöé", "da": "æøåé", "is": "áðéíóúýþæö", "pl": "ąćęłńóśźż",
    "cs": "áčďéěíňóřšťúůýž", "sk": "áäčďéíĺľňóôŕšťúýž", "hu": "áéíóöőúüű", "ro": "ăâîşţ", "hr": "čćđšž",
    "tr": "çğıöşüâîİ", "lt": "ąčęėįšųūž", "lv": "āčēģīķļņšūž", "et": "äõöüšž"}
"""The letters of languages in Latin script beyond a to z. English has those of names and loans, which are rare."""
_SCRIPTS = {"ru": "Russian", "uk": "Ukrainian", "bg": "Bulgarian", "sr": "Serbian", "el": "Greek", "he": "Hebrew",
            "ar": "Arabic", "fa": "Farsi", "ko": "Korean", "zh": "Chinese", "ja": "Japanese"}
"""Languages in other scripts, by the name that `charset_normalizer` has for their most frequent letters."""
_ENCODINGS = {
    "cp1252": "es fr pt de it nl sv da is en", "cp1250": "pl cs sk hu ro hr", "iso8859_2": "pl cs sk hu ro hr",
    "cp1251": "ru uk bg sr", "koi8_r": "ru", "koi8_u": "uk", "gb18030": "zh", "big5hkscs": "zh", "cp932": "ja",
    "euc_jp": "ja", "cp949": "ko", "cp1254": "tr", "cp1253": "el", "cp1256": "ar fa", "cp1255": "he",
    "cp1257": "lt lv et", "cp866": "ru"}
"""The languages that use each encoding. Of encodings that fit equally well, the first is the one in wider use."""
_NAMES = {"cp1252": "Windows-1252", "cp1250": "Windows-1250", "iso8859_2": "ISO 8859-2", "cp1251": "Windows-1251",
          "koi8_r": "KOI8-R", "koi8_u": "KOI8-U", "gb18030": "GB 18030", "big5hkscs": "Big5", "cp932": "Shift JIS",
          "euc_jp": "EUC-JP", "cp949": "EUC-KR", "cp1254": "Windows-1254", "cp1253": "Windows-1253",
          "cp1256": "Windows-1256", "cp1255": "Windows-1255", "cp1257": "Windows-1257", "cp866": "code page 866"}
_FIRST_LEVEL = {"gb18030": ("gb2312", 0xB0, 0xD7), "big5hkscs": ("big5", 0xA4, 0xC6), "cp932": ("euc_jp", 0xB0, 0xCF),
                "euc_jp": ("euc_jp", 0xB0, 0xCF), "cp949": ("euc_kr", 0xB0, 0xC8)}
"""The first bytes of the characters in common use, which standards of wide characters list before all others."""
_FREQUENT = 12  # the letters of an alphabet that make up most of a text
_SIGNS = frozenset("–—‘’‚“”„†•…‰‹›€™«»°·§©®±µ¼½¾×÷£¥¢\xa0№，。、：；！？（）《》「」『』【】〈〉・ー～％　")
_MARKS_IN_WORDS = "'’‘·./–—-"
_SIGN_IN_WORD = re.compile(rf"(?<=[^\W\d_])[^\w\s\x00-\x7f{re.escape(_MARKS_IN_WORDS)}](?=[^\W\d_])")
_CAPITAL, _MIXED, _INSIDE = 3.0, 3.0, 3.0
"""What is added for a capital behind a small letter, for two scripts in a word, and for a sign in a word."""
_OTHER_WORDS = 2.0  # what is added to a letter's cost in a language without any of the function words found
_CLOSE = 2.0  # the difference in the cost of all different letters below which another encoding is as likely
_UNLIKELY, _NO_TEXT = 2.5, 4.5  # the costs of a letter from which a guess is doubtful, and the bytes are no text
_FEWEST_WORDS = 2  # a single one may also be a word of another language
_WORD = re.compile(r"[^\W\d_]+")


class Guess(NamedTuple):
    """The likeliest encoding, and whether another one is nearly as likely."""

    encoding: str
    is_doubtful: bool = False

    @property
    def note(self) -> str:
        """What to say of a doubtful guess; "" for any other."""
        if not self.is_doubtful:
            return ""
        return f"read as {_NAMES[self.encoding]}, which is not certain: save it as UTF-8 if letters are wrong"


def open_file(path: Path) -> BinaryIO:
    """Open a regular file by its real path, as `Path.resolve` returns it.

    What was opened is checked, so neither a link nor a pipe that takes the file's place meanwhile is read: that is an
    UnreadableError. A file that cannot be opened is an OSError.
    """
    # Opening a pipe without O_NONBLOCK waits for somebody to write to it.
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    with ExitStack() as unless_checked:
        unless_checked.enter_context(file)
        opened = os.fstat(file.fileno())
        if not stat.S_ISREG(opened.st_mode) or path.resolve() != path.absolute() or not os.path.samestat(
                opened, path.lstat()):
            raise UnreadableError("not a regular file: save its content to one")
        unless_checked.pop_all()
    return file


def read_bytes(path: Path, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """Return all bytes of a file; raise UnreadableError if it is larger than the limit, and OSError as `open_file`."""
    with open_file(path) as stream:
        data = stream.read(limits.file_bytes + 1)
    if len(data) > limits.file_bytes:
        raise UnreadableError(f"{path.stat().st_size:,} bytes, larger than {limits.size()}: split it into smaller "
                              "files")
    return data


def decode(data: bytes, declared: str | None = None) -> str:
    """Return the text of a whole file, not yet cleaned.

    A byte-order mark gives the encoding. Without one it is UTF-8 if the bytes are valid UTF-8, else the encoding that
    the file declares if they are valid in it, else the most likely one, which is noted if it is doubtful. Bytes that
    are not text, or whose encoding cannot be detected, are an UnreadableError.
    """
    encoding = _unicode_encoding(data)
    if encoding == "utf-8" and not _is_valid(data, "utf-8"):
        encoding, is_doubtful = _legacy_encoding(data, declared)
        note_doubt(Guess(encoding, is_doubtful).note)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableError(undecodable(error)) from error


def encoding_of(path: Path) -> Guess:
    """Return the encoding of a text file of any size; errors are those of `decode` and `open_file`.

    Reading it raises UnicodeDecodeError at bytes that are not valid in that encoding.
    """
    # Read the file in blocks until it proves not to be UTF-8, or ends.
    decoder = codecs.getincrementaldecoder("utf-8")()
    previous = b""
    with open_file(path) as stream:
        block = stream.read(_BLOCK)
        encoding = _unicode_encoding(block)
        while encoding == "utf-8":
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError:
                return _legacy_encoding(previous + block)
            if not block:
                break
            previous, block = block, stream.read(_BLOCK)
    return Guess(encoding)


def begins_as_text(path: Path) -> bool:
    """Return True if a file begins with text in UTF-8, or cannot be read; False if it is no file."""
    if not path.is_file():
        return False
    try:
        with open_file(path.resolve()) as stream:
            block = stream.read(_BLOCK)
        codecs.getincrementaldecoder(_unicode_encoding(block))().decode(block)
    except (UnicodeDecodeError, UnreadableError):
        return False
    except OSError:  # which is reported when the file is read
        return True
    return True


def undecodable(error: UnicodeDecodeError) -> str:
    """Describe a decoding error: the byte that does not fit, and the fix."""
    return (f"byte 0x{error.object[error.start]:02x} does not fit its encoding, which looks like "
            f"{error.encoding}: convert the file to UTF-8")


def _unicode_encoding(data: bytes) -> str:
    """Return the encoding that a byte-order mark gives, or "utf-8" without one."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return encoding
    if b"\0" in data:
        raise UnreadableError("binary data, not text: give it its own file ending, or convert it to UTF-8")
    return "utf-8"


def _is_valid(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except (UnicodeError, LookupError):  # LookupError: a codec such as "hex", which is not for text
        return False
    return True


def _legacy_encoding(data: bytes, declared: str | None = None) -> Guess:
    """Return the encoding of bytes that are not UTF-8: the declared one if they are valid in it, else the likeliest."""
    non_ascii = re.search(rb"[\x80-\xff]", data)
    begin = non_ascii.start() if non_ascii else 0
    # From the line of the first such byte on, because the words around it tell the language.
    begin = max(data.rfind(b"\n", 0, begin) + 1, begin - _SAMPLE)
    sample = data[begin : begin + _SAMPLE]
    if len(sample) == _SAMPLE:  # end it at a line break, because its last bytes may be a part of a character
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    non_ascii_count = len(sample) - len(re.sub(rb"[\x80-\xff]+", b"", sample))
    invalid_count = len(sample) - len(sample.decode("utf-8", "ignore").encode())
    if 10 * invalid_count < non_ascii_count:
        raise UnreadableError("UTF-8 with damaged bytes in it: save it again as UTF-8, or remove them")
    if declared:
        try:
            name = codecs.lookup(declared).name
        except LookupError:
            name = "utf-8"
        encoding = _SUPERSETS.get(name, name)
        if encoding.replace("_", "-") not in _NO_CHARSETS and _is_valid(data, encoding):
            return Guess(encoding)
    is_text = len(_CONTROL.findall(sample)) <= _CONTROLS * len(sample)
    guess = _guess_encoding(data, sample) if is_text else None
    if guess is None:
        raise UnreadableError("binary data or text in an unknown encoding: convert it to UTF-8")
    return guess


def _guess_encoding(data: bytes, sample: bytes) -> Guess | None:
    """Return the likeliest encoding of a text with bytes beyond ASCII, by a part of it; None if it is no text in any.

    Each encoding is judged by the languages that use it: by how usual their letters are, by signs and capitals where
    words have none, and by function words. A guess that another encoding nearly equals, with another text, is doubtful.
    """
    texts = {encoding: sample.decode(encoding) for encoding in _ENCODINGS
             if _is_valid(sample, encoding) and _is_valid(data, encoding)}
    words = {encoding: set(_WORD.findall(text.lower())) for encoding, text in texts.items()}
    hits = {(encoding, language): len(function_words(language) & words[encoding])
            for encoding in texts for language in _ENCODINGS[encoding].split() if language in _LETTERS}
    most = max(hits.values(), default=0)
    costs = dict.fromkeys(texts, float("inf"))
    for encoding, text in texts.items():
        counts = _Counts.of(text)
        for language in _ENCODINGS[encoding].split():
            # A language written in letters has function words: it costs more the fewer of them it explains.
            missing = most - hits[encoding, language] if most and language in _LETTERS else 0
            word_cost = _OTHER_WORDS * missing / max(most, _FEWEST_WORDS)
            costs[encoding] = min(costs[encoding], word_cost + counts.cost(encoding, language))
    best = min(costs, key=costs.__getitem__, default="")  # of equal ones the first
    if not best or costs[best] > _NO_TEXT:
        return None
    close = costs[best] + _CLOSE / len({character for character in texts[best] if character > "\x7f"})
    has_rival = any(costs[other] < close for other in texts if texts[other] != texts[best])
    return Guess(best, is_doubtful=has_rival or costs[best] > _UNLIKELY)


class _Counts(NamedTuple):
    """What is counted in a text: characters beyond ASCII, pairs of letters with one of them, and signs in words."""

    letters: Counter[str]
    pairs: Counter[tuple[str, str]]
    signs: int

    @classmethod
    def of(cls, text: str) -> "_Counts":
        pairs = Counter(pair for pair in pairwise(text) if not "".join(pair).isascii() and "".join(pair).isalpha())
        return cls(Counter(character for character in text if character > "\x7f"), pairs,
                   len(_SIGN_IN_WORD.findall(text)))

    def cost(self, encoding: str, language: str) -> float:
        """Return how unusual the text is for a language, on average of its characters beyond ASCII."""
        cost = sum(count * _character_cost(letter, encoding, language) for letter, count in self.letters.items())
        for (left, right), number in self.pairs.items():
            is_mixed = language in _SCRIPTS and (left.isascii() or right.isascii())
            cost += number * (_CAPITAL * (left.islower() and right.isupper()) + _MIXED * is_mixed)
        return (cost + _INSIDE * self.signs) / max(1, self.letters.total())


@cache
def _character_cost(character: str, encoding: str, language: str) -> float:
    """Return 0 for a frequent character of a language, 1 for any other of its own, and more for one that it lacks."""
    small = character.lower()
    if language in _SCRIPTS:
        frequent, script = _letters_of(language)
        if small in frequent:
            return 0.0
        standard, first, last = _FIRST_LEVEL.get(encoding, ("ascii", 1, 0))
        is_common = bytes([first]) <= character.encode(standard, "ignore")[:1] <= bytes([last])
        if character in _SIGNS or is_common or unicodedata.name(character, "").startswith(script):
            return 1.0
    elif small in _LETTERS[language]:
        return 2.0 if language == "en" else 1.0
    elif character in _SIGNS:
        return 1.0
    category = unicodedata.category(character)
    return 10.0 if category in {"Cc", "Co", "Cn"} else 4.0 if category.startswith("L") else 5.0


@cache
def _letters_of(language: str) -> tuple[frozenset[str], str]:
    """Return the frequent letters of a language in another script, and the script's name if it is an alphabet."""
    lists = [letters for name, letters in FREQUENCIES.items() if name.startswith(_SCRIPTS[language])]
    if language in {"ko", "zh", "ja"}:
        return frozenset(letter for letters in lists for letter in letters), "no alphabet"
    return frozenset(lists[0][:_FREQUENT]), unicodedata.name(lists[0][0]).partition(" ")[0]
