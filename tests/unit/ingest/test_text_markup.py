"""reStructuredText, Org and subtitles: headings, fields, dates, tables, times and words, without their markup."""

import pytest

from ...loading import failure, load, only, write

pytestmark = pytest.mark.usefixtures("shared_reading")


def read(tmp_path, text, name="a.rst"):
    (document,), failures = load(write(tmp_path / name, text))
    return document, [failure.reason for failure in failures]


def test_a_proposal_has_its_fields_its_title_and_its_sections(tmp_path):
    document, failures = read(tmp_path, (
        "Proposal: 12\nTitle: Quieter bells\nAuthor: Ida Lang <ida@example.org>\nStatus: Final\nHistory: 1-May-2020,\n"
        "    2-May-2020,\n\n\nAbstract\n========\n\nBells of the `Alder site <https://alder.example>`__\nring "
        "*softly* (see :rfc:`2822` and :ref:`the plan <plan>`). [1]_\n\n.. _plan:\n\nThe plan\n--------\n\n"
        "Ring once.\n\n.. a comment\n\n.. [1] Measured in 2019.\n"), "proposal-0012.rst")
    assert failures == []
    assert document.title == "Quieter bells"
    assert document.metadata == {"proposal": "12", "author": "Ida Lang <ida@example.org>", "status": "Final",
                                 "history": "1-May-2020, 2-May-2020"}
    assert document.text.startswith("| Document: PROPOSAL-12: Quieter bells | Title: Quieter bells | Proposal: 12 |")
    assert document.text.endswith(
        "## Abstract\n\nBells of the Alder site ring softly (see RFC 2822 and the plan). [1]\n\n"
        "### The plan\n\nRing once.\n\n[1]\n\nMeasured in 2019.")


def test_tables_of_every_kind_are_rows(tmp_path):
    document, failures = read(tmp_path, """Sites
=====

+-------+--------+------+
| Site  | Staff  | Year |
+=======+========+======+
| Alder | 12     | 2011 |
+-------+--------+------+
| Birch | none          |
+-------+---------------+

======  =====
Site    Owner
======  =====
Cedar   Ida
======  =====

.. csv-table:: Costs
   :header: Site, Cost

   Dogwood, "1,200 EUR"
   Fir, 300 EUR

====  ====
Bad table without its end
""")
    assert failures == []
    for row in ("| Site: Alder | Staff: 12 | Year: 2011 |", "| Site: Birch | Staff: none | Year: none |",
                "| Site: Cedar | Owner: Ida |", "Costs\n| Site: Dogwood | Cost: 1,200 EUR |"):
        assert row in document.text
    assert "Bad table without its end" in document.text


def test_lists_code_notes_and_names_of_sphinx(tmp_path):
    document, failures = read(tmp_path, """Guide
=====

1. First

   - inner
2. Second

bell
  It rings.

-q, --quiet  Does not ring.

.. code-block:: python
   :emphasize-lines: 1

   ring(1)

Then::

   # no heading

.. note:: Mind the :py:func:`~bell.ring`.

.. versionadded:: 2.0
   The ``hush`` option.

.. py:function:: hush(bell)

   Quiets a bell made by |who|.

.. |who| date::

.. toctree::

   other

.. figure:: bell.png
   :alt: A red bell

   The bell of Birch.
""")
    assert failures == []
    assert document.text == (
        "# Guide\n\n1. First\n  - inner\n2. Second\n\nbell\n\nIt rings.\n\n-q, --quiet\n\nDoes not ring.\n\n"
        "```\nring(1)\n```\n\nThen:\n\n```\n# no heading\n```\n\nNote\n\nMind the bell.ring.\n\n"
        "Added in version 2.0: The hush option.\n\nhush(bell)\n\nQuiets a bell made by .\n\n"
        "A red bell\n\nThe bell of Birch.")


def test_other_files_are_not_read_and_counted(tmp_path):
    secret = write(tmp_path / "secret.txt", "secret words")
    document, failures = read(tmp_path, f"Text.\n\n.. include:: {secret}\n\n.. literalinclude:: {secret}\n\n"
                              ".. raw:: html\n\n   <b>bold</b>\n\nEnd.\n")
    assert document.text == "Text.\n\nEnd."
    (reason,) = failures
    assert reason.startswith("3 parts that are raw HTML or are included from other files were not read: ")


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


LATEX = r"""\documentclass{article}
\usepackage{hyperref}
\hypersetup{colorlinks=true, pdftitle={Another one}}
% \title{An old title}
\titleformat{\section}{\large}
\title{Quieter \emph{bells}\thanks{Paid by the town.} \\ and doors}
\author[1]{Ida Lang \and Bo Ek \\ Alder University}
\author{Cy~Holm}
\date{May 3, 2020}
\begin{document}
\maketitle
\section*{How \textit{loud}?}\label{loud}
Bells ring at 90\% of their force. % always
\end{document}
What is left over.
"""


def test_latex_has_its_title_and_authors_and_no_preamble(tmp_path):
    document, failures = read(tmp_path, LATEX, "bells.tex")
    assert (document.title, failures) == ("Quieter bells and doors", [])
    assert document.metadata == {"author": "Ida Lang; Bo Ek; Cy Holm", "date": "May 3, 2020"}
    text = document.text.partition("\n\n")[2]
    assert text.split("\n") == ["", "\\maketitle", "", "## How loud?", "\\label{loud}",
                                "Bells ring at 90\\% of their force. "]


@pytest.mark.parametrize("chapter", ["\\section{Bells}\nThey ring.", "They ring at {90", "\\title{Bells"])
def test_a_part_of_latex_without_a_preamble_is_text(tmp_path, chapter):
    document, failures = read(tmp_path, chapter, "part.tex")
    assert (document.metadata, failures) == ({}, [])
    assert document.text.strip().replace("## Bells\n", "\\section{Bells}") == chapter
