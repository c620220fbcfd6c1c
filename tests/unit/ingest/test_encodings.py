"""Texts in encodings of old programs are read right, or the guess is said with the document."""

from email.message import EmailMessage

import pytest
from banyan.text.section_lines import UNREAD

from ...loading import load, only, write

pytestmark = pytest.mark.usefixtures("shared_reading")
TEXTS = [
    ("cp1252", "Zoë Brontë vive en Málaga con Iñaki Muñoz."),
    ("cp1252", "La reunión empezó mañana, según el señor Núñez."),
    ("cp1252", "L'hôtel où logeait Agnès coûte 40 € par nuit."),
    ("cp1252", "Déjà vu : le cœur de l’été s’achève à Pau."),
    ("cp1252", "A reunião em São Paulo não começou à hora."), ("cp1252", "Não há pão nem maçã."),
    ("cp1252", "Die Straße nach Köln führt über Mühlheim."),
    ("cp1252", "Søren bor på Ærø og køber brød hver lørdag."),
    ("cp1252", "It rose by 3 °C – about ½ of what José Muñoz said."),
    ("cp1250", "Żółta łódź płynie do Łodzi pod wodzą pana Święcickiego."),
    ("cp1250", "Mâine şcoala începe şi ţine până seara."), ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy."),
    ("cp1250", "Az ügyvéd Győrbe ment, és fűrészt vett a szülőknek."),
    ("iso8859-2", "Šéfredaktor Dvořák žije v Českých Budějovicích už léta."),
    ("iso8859-2", "Małgorzata z Wąbrzeźna."), ("cp1251", "Мария живёт в Москве и работает инженером."),
    ("koi8-r", "Завтра утром поезд отправится в Новгород."),
    ("cp1253", "Η Μαρία ζει στην Αθήνα και δουλεύει σε τράπεζα."),
    ("cp1254", "Ayşe İzmir’de oturuyor ve çalışıyor."), ("cp1255", "דנה גרה בתל אביב ועובדת בבית חולים."),
    ("cp1256", "تعيش مريم في القاهرة وتعمل في مستشفى كبير."),
    ("cp1257", "Ąžuolas auga prie mūsų namų, šalia ežero."), ("gbk", "李明住在北京，他在一家医院工作。"),
    ("big5", "陳先生住在臺北，他在銀行工作已經三年。"), ("shift_jis", "田中さんは東京の病院で働いています。"),
    ("euc_jp", "田中さんは東京の病院で働いています。"), ("cp949", "김영희는 서울에 살고 있으며 병원에서 일한다."),
    ("cp866", "Совет утвердил бюджет на новый год."), ("koi8-u", "Олена їде до Львова наступного тижня.")]
TABLES = [
    ("cp1252", "nombre;ciudad;precio\nMuñoz;Cádiz;€40\nPeña;León;€12\n"),
    ("cp1252", "nom;métier;ville\nÉlodie Noël;pâtissière;Orléans\n"),
    ("cp1252", "nome;função\nJoão;capitão\nConceição;mãe\n"), ("cp1252", "Name;Größe\nMüller;groß\nJäger;klein\n"),
    ("iso8859-2", "imię;miasto\nŁukasz;Gdańsk\nMałgorzata;Wąbrzeźno\n"),
    ("cp1251", "имя;город\nИван;Казань\nОльга;Тула\n"), ("koi8-r", "название;цена\nхлеб;40\nмолоко;62\n"),
    ("gbk", "姓名,城市,价格\n王芳,上海,40\n陈伟,广州,35\n"),
    ("big5", "姓名,城市,價格\n林美玲,高雄,40\n黃志明,臺中,35\n"),
    ("shift_jis", "名前,都市,価格\n山田太郎,大阪,40\n鈴木花子,札幌,35\n")]


@pytest.mark.parametrize(("encoding", "text"), TEXTS)
def test_texts_are_read_in_their_encoding(encoding, text, tmp_path):
    assert only(write(tmp_path / "a.txt", text.encode(encoding))).text == text


@pytest.mark.parametrize(("encoding", "text"), TABLES)
def test_tables_are_read_in_their_encoding(encoding, text, tmp_path):
    (table,) = only(write(tmp_path / "a.csv", text.encode(encoding))).tables
    mark = ";" if ";" in text else ","
    assert [list(table.columns), *map(list, table.rows)] == [line.split(mark) for line in text.splitlines()]


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.csv", "a.jsonl"])
def test_a_guess_that_may_be_wrong_is_said_with_the_document(name, tmp_path):
    content = {"a.csv": "name,age\nMuñoz,40\nLee,31\n", "a.jsonl": '{"name": "Muñoz", "age": 40}\n'}.get(name, "Muñoz")
    document = only(write(tmp_path / name, content.encode("cp1252")))
    assert "Muñoz" in document.text
    assert document.metadata[UNREAD].startswith("read as Windows-1252, which is not certain")
    shared = only(write(tmp_path / "b.txt", "Der Käse ist schön.".encode("cp1252")))
    assert UNREAD not in shared.metadata, "several encodings share these letters"


@pytest.mark.parametrize(("charset", "encoding"), [
    ("x-unknown", "cp1252"), ("us-ascii", "cp1251"), ("utf-8", "cp1252")])
def test_mails_whose_charset_is_unknown_or_wrong(charset, encoding, tmp_path):
    text = "Мария живёт в Москве." if encoding == "cp1251" else "El señor Núñez llegó mañana."
    mail = EmailMessage()
    mail["Subject"] = "News"
    mail.set_content("words")
    mail.set_payload(text.encode(encoding))
    mail.replace_header("Content-Type", f'text/plain; charset="{charset}"')
    mail.replace_header("Content-Transfer-Encoding", "8bit")
    written = bytes(mail)
    if text.encode(encoding) not in written:
        written = written.partition(b"\n\n")[0] + b"\n\n" + text.encode(encoding)
    (document,), failures = load(write(tmp_path / "a.mail.eml", written))
    assert failures == []
    assert text in document.text


@pytest.mark.parametrize(("encoding", "name"), [
    ("cp1250", "Łukasz Żak of Łódź"), ("cp1251", "Иван Петров"), ("iso8859-15", "Fee: 40 €"),
    ("cp1252", "Résumé of Zoë – “naïve” café owner, £40."), ("cp1252", "nom;métier\nÉlodie;pâtissière\n")])
def test_foreign_letters_late_in_a_text_are_right_or_said_to_be_doubtful(encoding, name, tmp_path):
    text = f"{'The harbour board met in the old mill to repair the wall. ' * 20}Present: {name}.\n"
    document = only(write(tmp_path / "note.txt", text.encode(encoding)))
    assert name in document.text or "not certain" in document.metadata[UNREAD]
