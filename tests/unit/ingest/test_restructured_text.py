"""reStructuredText: its headings, fields, tables and words, without its markup."""

import pytest

from ... import loading

load, write = loading.load, loading.write
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
        "### The plan\n\nRing once.\n\n[1] Measured in 2019.")


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
   :unknown: x

   Dogwood, "1,200 EUR"
   Fir, 300 EUR

.. list-table::
   :header-rows: 1

   * - Site
     - Doors
   * - Elm
     - - red
       - blue

====  ====
Bad table without its end
""")
    assert failures == []
    for row in ("| Site: Alder | Staff: 12 | Year: 2011 |", "| Site: Birch | Staff: none | Year: none |",
                "| Site: Cedar | Owner: Ida |", "| Site: Elm | Doors: red; blue |",
                "Costs\n| Site: Dogwood | Cost: 1,200 EUR |"):
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

   Quiets a bell made in |year| by |who|.

.. |year| replace:: 2014
.. |who| date::

.. toctree::

   other

.. figure:: bell.png
   :alt: A red bell

   The bell of Birch.
""")
    assert failures == []
    assert document.text == (
        "# Guide\n\n1. First\n  - inner\n2. Second\n\nbell: It rings.\n\n-q, --quiet: Does not ring.\n\n"
        "```\nring(1)\n```\n\nThen:\n\n```\n# no heading\n```\n\nNote: Mind the bell.ring.\n\n"
        "Added in version 2.0: The hush option.\n\nhush(bell)\n\nQuiets a bell made in 2014 by .\n\n"
        "A red bell\n\nThe bell of Birch.")


def test_other_files_are_not_read_and_counted(tmp_path):
    secret = write(tmp_path / "secret.txt", "secret words")
    document, failures = read(tmp_path, f"Text.\n\n.. include:: {secret}\n\n.. literalinclude:: {secret}\n\n"
                              f".. csv-table:: Named\n   :file: {secret}\n\n.. raw:: html\n\n   <b>bold</b>\n\nEnd.\n")
    assert document.text == "Text.\n\nEnd."
    (reason,) = failures
    assert reason.startswith("4 parts that are raw HTML or are included from other files were not read: ")


def test_substitutions_do_not_multiply(tmp_path):
    steps = "".join(f".. |a{n}| replace:: " + f"|a{n + 1}| " * 10 + "\n" for n in range(9))
    documents, failures = load(write(tmp_path / "a.rst", f"|a0|\n\n{steps}.. |a9| replace:: ha\n"))
    assert [document.text for document in documents] == [" ".join(["|a1|"] * 10)]
    assert failures == []
