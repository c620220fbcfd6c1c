"""Words that show that two names are of one thing, or of two things. Latin words are folded, without accents."""

# ruff: noqa: SIM905  (lists of words read better as text)
import re

SHORT_FORMS = {"mt": "mount", "jr": "junior", "sr": "senior", "vs": "versus", "bros": "brothers"}
LEADING_FORMS = {"st": "saint", "ft": "fort"}
LEGAL = {word: words.split(" ", 1)[0] for words in (
    "inc incorporated", "ltd limited", "corp corporation", "co company", "llc", "llp", "plc", "gmbh", "ag", "sa", "sas",
    "srl", "spa", "bv", "nv", "ab", "oy", "aps", "kg", "kk", "pty", "pte", "ооо", "оао", "зао", "пао")
    for word in words.split()}
LEGAL_HAN = re.compile(r"^株式会社|(?:(?:股份|集团|控股){0,4}(?:有限责任公司|有限公司|公司|集团)|株式会社)$")
WRITTEN = re.compile(r"[^\W\d_]+")
TITLES = frozenset("""mr mrs ms miss dr doctor prof professor sir dame lord lady president king queen prince princess
    emperor empress pope cardinal bishop archbishop saint general colonel captain major admiral senator governor
    chancellor minister judge justice rev reverend maestro г-н lieutenant sergeant corporal commander marshal inspector
    detective constable sheriff baron baroness count countess duke duchess earl ambassador representative mayor hon
    honourable madam madame monsieur mme herr frau señor señora signor signora don doña fr lt sgt capt col gen gov sen
    rep""".split())
TITLES_HAN = re.compile(r"(?<=..)(?:先生|女士|小姐|夫人|教授|博士|院士|医生|老师|同志|将军|主席|总统|总理)$")
ORDINALS = {word: str(number) for number, words in enumerate((
    "first i 1st", "second ii 2nd", "third iii 3rd", "fourth iv 4th", "fifth v 5th", "sixth vi 6th",
    "seventh vii 7th", "eighth viii 8th", "ninth ix 9th", "tenth x 10th", "eleventh xi 11th", "twelfth xii 12th",
    "xiii", "xiv", "xv", "xvi", "xvii", "xviii", "xix", "xx", "xxi", "xxii", "xxiii", "xxiv"), 1)
    for word in words.split()}
ROMAN = re.compile(r"(?=[ivxlc]{3})c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
LONE_LETTERS = frozenset("ivx")
FIGURE = re.compile(r"-?\d+(?:[.,:]\d+)*")
HAN_NUMERALS = frozenset("〇零一二三四五六七八九十百千万亿两甲乙丙丁")
OPPOSITES = [frozenset(words.split()) for words in (
    "north south east west northern southern eastern western northeast northwest southeast southwest central",
    "upper lower middle", "men women mens womens male female boys girls", "old new", "major minor", "senior junior",
    "he she", "mr mrs miss", "brother sister", "king queen", "prince princess", "emperor empress", "duke duchess",
    "father mother", "son daughter", "summer winter", "spring autumn", "pre post", "pro anti", "micro macro",
    "import export", "imports exports", "left right", "before after", "above below", "inner outer", "black white",
    "red blue green yellow", "monday tuesday wednesday thursday friday saturday sunday",
    "january february march april may june july august september october november december",
    "северный южный восточный западный северная южная восточная западная", "sub super", "under over")]
HAN_OPPOSITES = [frozenset(group) for group in (
    "东西南北中", "上下", "左右", "大小", "新旧老", "男女", "前后", "内外", "正副", "春夏秋冬", "父母子女兄弟姐妹")]
SMALL_WORDS = frozenset("of the and for in on de la le du des et und der die das von y e del to a an".split())
INEXACT = frozenset("late early mid before after until till since by from about around circa c ca".split())
BRANCHED = re.compile(r"\b(?:universit|institut|college|school|academ|hospital|clinic|compan|bank|church|cathedral"
                      r"|department|ministr|museum|librar|court|office|center|centre|council|society|association"
                      r"|group|corporation|hotel|theat|station|airport|embassy)", re.IGNORECASE)
