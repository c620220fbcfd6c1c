"""Org files: their titles, headings, states, dates, properties, tables and code."""

import pytest

from ... import loading

load, write = loading.load, loading.write
pytestmark = pytest.mark.usefixtures("shared_reading")


def test_what_org_says_of_a_heading_is_below_it(tmp_path):
    (document,), failures = load(write(tmp_path / "plan.org", """#+TITLE: The Alder plan
#+AUTHOR: Ida Lang
#+DATE: <2024-05-02 Thu>
#+OPTIONS: toc:nil

See the [[https://alder.example][site]] before [2024-06-01 Sat].

* TODO [#A] Bells :red:loud:
  SCHEDULED: <2024-05-03 Fri>
  :PROPERTIES:
  :OWNER: Eva Roth
  :END:
They ring.
# a comment
- one
** Doors
| Door | Cost |
|------+------|
| Red  | 12   |
#+begin_src sh
# open
ls |
#+end_src
"""))
    assert failures == []
    assert (document.title, document.metadata) == ("The Alder plan", {"author": "Ida Lang", "date": "2024-05-02"})
    assert document.text.endswith("""|

See the site before 2024-06-01.

# Bells

Status: TODO
Priority: A
Tags: loud, red
Scheduled: 2024-05-03
Owner: Eva Roth

They ring.
- one

## Doors

| Door: Red | Cost: 12 |
```
# open
ls |
```""")
