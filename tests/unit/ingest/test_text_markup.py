"""reStructuredText and subtitles: headings, fields, times and words."""

import pytest

from ...loading import failure, only, write

pytestmark = pytest.mark.usefixtures("shared_reading")


def test_a_proposal_has_its_fields_its_title_and_its_sections_and_its_markup_stays(tmp_path):
    text = ("Abstract\n========\n\nBells ring *softly* (see :rfc:`2822`).\n\nThe plan\n--------\n\n=====  =====\n"
            "Bell   Tone\n=====  =====\nEmma   c\n=====  =====\n\n.. include:: /etc/passwd\n\n.. note::\n   Mind.\n\n"
            "****\nEnd\n****\n")
    fields = "Proposal: 12\nTitle: Quieter bells\nAuthor: Ida Lang\nHistory: 1-May-2020,\n    2-May-2020,\n\n\n"
    document = only(write(tmp_path / "proposal-0012.rst", fields + text))
    assert document.title == "Quieter bells"
    assert document.metadata == {"proposal": "12", "author": "Ida Lang", "history": "1-May-2020, 2-May-2020"}
    assert document.text.partition("\n\n")[2] == (text.replace("Abstract\n========", "# Abstract").replace(
        "The plan\n--------", "## The plan").replace("****\nEnd\n****", "### End"))


@pytest.mark.parametrize(("name", "content", "title", "text"), [
    ("a.srt", ("1\r\n00:00:01,000 --> 00:00:03,000\r\n<i>The bell of Alder</i>\r\n\r\n2\r\n"
              "00:00:03,100 --> 00:00:05,000\r\n{\\an8}rings twice.\r\n\r\n3\r\n00:01:02,000 --> 00:01:04,000\r\n"
              "No stop.\r\n\r\n4\r\n01:02:03,000 --> 01:02:04,000\r\nlater\r\n"),
     "a", "[00:00:01] The bell of Alder rings twice.\n[00:01:02] No stop.\n[01:02:03] later"),
    ("talk.vtt", ("WEBVTT - A talk at Birch\n\nNOTE secret\nnote\n\nSTYLE\n::cue { color: red }\n\nintro\n"
                 "00:01.000 --> 00:02.000 align:start\n<v Ida Lang>When does it <b>ring</b>?\n"
                 "<v Eva Roth>At nine &amp; ten.\n\n00:02.500 --> 00:03.000\n<v Eva Roth>Or <00:02.700>later.</v>\n"),
     "A talk at Birch", ("[00:00:01] Ida Lang: When does it ring?\n[00:00:01] Eva Roth: At nine & ten.\n"
                        "[00:00:02] Eva Roth: Or later.")),
    ("a.vtt", ("WEBVTT\n\n00:01.000 --> 00:02.000\nthe bell\n\n00:02.000 --> 00:03.000\nthe bell\nof Alder\n\n"
              "00:03.000 --> 00:04.000\nof Alder\nrings\n"), "a", "[00:00:01] the bell of Alder rings")])
def test_subtitles_are_sentences_with_their_times_and_speakers(tmp_path, name, content, title, text):
    document = only(write(tmp_path / name, content))
    assert (document.title, document.text) == (title, text)


def test_what_has_no_times_is_refused(tmp_path):
    assert "no line with the times" in failure(write(tmp_path / "a.srt", "Words."))
