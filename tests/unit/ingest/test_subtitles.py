"""Subtitles as sentences with their times and speakers."""

from ... import loading

load, write, failure = loading.load, loading.write, loading.failure


def text_of(path):
    (document,), failures = load(path)
    assert failures == []
    return document.text


def test_srt_sentences_begin_where_their_first_words_do(tmp_path):
    assert text_of(write(tmp_path / "a.srt", (
        "1\r\n00:00:01,000 --> 00:00:03,000\r\n<i>The bell of Alder</i>\r\n\r\n2\r\n00:00:03,100 --> 00:00:05,000\r\n"
        "{\\an8}rings twice.\r\n\r\n3\r\n00:01:02,000 --> 00:01:04,000\r\nNo stop\r\n\r\n"
        "4\r\n01:02:03,000 --> 01:02:04,000\r\nlater\r\n"))) == (
        "[00:00:01] The bell of Alder rings twice.\n[00:01:02] No stop\n[01:02:03] later")


def test_vtt_names_its_speakers_and_hides_its_notes(tmp_path):
    path = write(tmp_path / "talk.vtt", (
        "WEBVTT - A talk at Birch\n\nNOTE secret\nnote\n\nSTYLE\n::cue { color: red }\n\nintro\n"
        "00:01.000 --> 00:02.000 align:start\n<v Ida Lang>When does it <b>ring</b>?\n<v Eva Roth>At nine &amp; ten.\n\n"
        "00:02.500 --> 00:03.000\n<v Eva Roth>Or <00:02.700>later.</v>\n"))
    (document,), _ = load(path)
    assert document.title == "A talk at Birch"
    assert document.text == ("[00:00:01] Ida Lang: When does it ring?\n[00:00:01] Eva Roth: At nine & ten.\n"
                             "[00:00:02] Eva Roth: Or later.")


def test_lines_that_roll_up_are_read_once(tmp_path):
    assert text_of(write(tmp_path / "a.vtt", (
        "WEBVTT\n\n00:01.000 --> 00:02.000\nthe bell\n\n00:02.000 --> 00:03.000\nthe bell\nof Alder\n\n"
        "00:03.000 --> 00:04.000\nof Alder\nrings\n"))) == "[00:00:01] the bell of Alder rings"


def test_what_has_no_times_is_refused(tmp_path):
    assert "no line with the times" in failure(write(tmp_path / "a.srt", "Words."))
