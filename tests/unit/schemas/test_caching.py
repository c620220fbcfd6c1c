"""What is kept for texts cannot fill the memory."""

from banyan.schemas.caching import LONGEST_KEPT, cached_if_short
from banyan.schemas.naming import canonical_name


def test_results_are_kept_for_short_texts_alone():
    asked = []

    @cached_if_short(2)
    def length(text: str) -> int:
        asked.append(len(text))
        return len(text)

    for text in ("a", "a", "b" * LONGEST_KEPT, "b" * LONGEST_KEPT, "c" * (LONGEST_KEPT + 1), "c" * (LONGEST_KEPT + 1)):
        assert length(text) == len(text)
    assert asked == [1, LONGEST_KEPT, LONGEST_KEPT + 1, LONGEST_KEPT + 1]


def test_a_name_loses_its_edges_however_long_they_are():
    edges = "「(\u3000" * 100_000
    assert canonical_name(f"{edges}Ada (Blum) X{edges}") == "ada (blum) x"
    assert canonical_name(f"x{edges}x") == canonical_name(f"X{edges}X")
    assert canonical_name("?!") == "?!"
