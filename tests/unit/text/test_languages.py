"""Whether texts are English."""

import random
from pathlib import Path

import pytest
from banyan.text.scripts import are_english, is_english

ROOT = Path(__file__).parents[3]
ENGLISH = "The library was opened in 1931 by the mayor, and it has been run by volunteers since then."
GERMAN = "Die Bücherei wurde 1931 von der Bürgermeisterin eröffnet und wird seitdem von Freiwilligen geführt."
NAMES = "Lindenrode, Petersilge, Oberwalden, Eschenkrug, Traunfels, Zornmüller, Kienzle, Blaufelden"


@pytest.mark.parametrize("text", [
    "图书馆于1931年开放。", "図書館は1931年に開館した。", "Библиотека открылась в 1931 году.",
    "افتتحت المكتبة عام 1931.", GERMAN, "El tren sale de la estación cada hora y el viaje dura dos horas.",
    "Le train part de la gare toutes les heures et le voyage dure deux heures.",
    "O trem sai da estação a cada hora e a viagem dura cerca de duas horas.",
    "Il treno parte dalla stazione ogni ora e il viaggio per Roma dura circa tre ore.",
    "De trein vertrekt elk uur van Utrecht en de reis naar Groningen duurt twee uur.",
    "Tren her saat İstanbul'dan kalkar ve Ankara'ya yolculuk yaklaşık dört saat sürer.",
    "Kereta api berangkat dari Jakarta setiap jam dan perjalanan memakan waktu tiga jam karena jalurnya berbukit."])
def test_other_languages_are_not_english(text):
    assert is_english(text) is False


def test_english_is_english():
    assert is_english(ENGLISH)
    assert are_english(path.read_text("utf-8") for path in (ROOT / "examples" / "en").glob("*.md"))
    assert not are_english(path.read_text("utf-8") for path in (ROOT / "examples" / "zh").glob("*.md"))


def test_a_tenth_in_another_language_makes_documents_mixed_in_any_order():
    few, many = [ENGLISH] * 20 + [GERMAN], [ENGLISH] * 6 + [GERMAN, NAMES]
    assert are_english(few)
    for seed in range(5):
        random.Random(seed).shuffle(many)
        assert not are_english(many)
    assert not are_english([ENGLISH] * 4 + ["图书馆由热心读者创办。"]), "a Han letter says as much as three"


def test_headers_in_rows_and_terse_notes_are_no_text_in_another_language():
    rows = [f"state: S{number}; share of non-citizens: 0.{number}; offences per 100k with a victim: {number}"
            for number in range(40)]
    notes = [ENGLISH, "\n".join(rows), "# Retro\n+ fast releases\n- flaky tests\nTODO: Li Wei pin versions",
             "# Standup\n- Ana: login page done\n- Karl: DB migration 80%\n- blockers: none",
             "# Kickoff\n- Die-casting quote from Li\n- server order placed\n- Q3 goals open"]
    assert not [text for text in notes if is_english(text) is False]
    assert are_english(notes)
