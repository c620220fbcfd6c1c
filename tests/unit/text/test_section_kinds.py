"""Sections that are no content of their document."""

import pytest
from banyan.text.section_kinds import is_back_matter


@pytest.mark.parametrize("heading", ["References", "7. REFERENCES", "Boats > VI. Literature cited", "Acknowledgements:",
                                     "Table of Contents", "Literaturverzeichnis", "参考文献", "五、参考文献",
                                     "References > A"])
def test_headings_of_references_contents_and_thanks(heading):
    assert is_back_matter(heading)


@pytest.mark.parametrize("heading", ["", "Reference points", "Index of prices", "Contents of the cargo", "Results",
                                     "References to law in the act", "License"])
def test_other_headings_are_of_content(heading):
    assert not is_back_matter(heading)
