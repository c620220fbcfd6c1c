"""Groups by attribute-aware modularity (UniAI-GraphRAG eq. 3)."""

import numpy as np
import pytest
from banyan.graph_store.tree.attribute_groups import attribute_groups
from hypothesis import given
from hypothesis import strategies as st

CLIQUE = 5


@st.composite
def graphs(draw):
    """Draw cliques and a value for each entity; links and values come in any order."""
    size = CLIQUE * draw(st.integers(2, 5))
    values = [[entity, draw(st.integers(0, 3))] for entity in range(size)]
    links = [[one, other] for one in range(size) for other in range(one) if one // CLIQUE == other // CLIQUE]
    return size, np.array(draw(st.permutations(links))), np.array(draw(st.permutations(values)))


def partition(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in labels}


def value_groups(size, values):
    held = np.zeros(size, int)
    held[values[:, 0]] = values[:, 1]
    return partition(held)


@given(graphs())
def test_alpha_goes_from_the_graphs_groups_to_the_attributes(drawn):
    size, links, values = drawn
    assert partition(attribute_groups(size, links, values, 0.0)) == partition(np.arange(size) // CLIQUE)
    assert partition(attribute_groups(size, links, values, 1.0)) == value_groups(size, values)


@given(graphs(), st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]))
def test_the_order_in_which_facts_and_values_come_changes_nothing(drawn, alpha):
    size, links, values = drawn
    found = attribute_groups(size, links, values, alpha).tolist()
    assert attribute_groups(size, links[::-1, ::-1], values[::-1], alpha).tolist() == found
    assert list(dict.fromkeys(found)) == list(range(max(found) + 1))


def test_between_the_two_ends_a_shared_value_joins_what_few_facts_do():
    # Two groups of values, 0 to 3 and 4 to 7; the facts are a ring through all eight, and two more across.
    links = np.array([[number, (number + 1) % 8] for number in range(8)] + [[0, 4], [3, 7]])
    values = np.array([[number, number // 4] for number in range(8)])
    assert partition(attribute_groups(8, links, values, 0.5)) == {frozenset(range(4)), frozenset(range(4, 8))}
    assert partition(attribute_groups(8, links, values, 0.0)) != partition(attribute_groups(8, links, values, 0.5))


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_what_has_neither_a_fact_nor_a_value_is_alone(alpha):
    none = np.zeros((0, 2), int)
    assert attribute_groups(3, none, none, alpha).tolist() == [0, 1, 2]
