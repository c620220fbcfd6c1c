"""Numbers and cells of results as people read them."""

import pytest
from banyan.text.shown_numbers import show_number, show_value


@pytest.mark.parametrize(("value", "unit", "shown"), [
    (3750.0, "g", "3750 g"), (2021, "", "2021"), (3507950, "", "3,507,950"), (1610590.5, "EUR", "1,610,590.5 EUR"),
    (12.5, "%", "12.5%"), (-7600, "$", "-$7600"), (17630.1, "€", "€17,630.1"), (0.1 + 0.2, "", "0.3"),
    (2.59 / 3, "", "0.8633"), (4207.0570175, "g", "4207.057 g"), (0.000012345678, "", "0.00001235"), (0.0, "", "0"),
    (1e22, "", "10,000,000,000,000,000,000,000"), (10**20 + 1, "", "100,000,000,000,000,000,001"),
    (-0.00004, "", "-0.00004"), (float("inf"), "", "inf")])
def test_a_number_is_shown_as_people_write_it(value, unit, shown):
    assert show_number(value, unit) == shown


@pytest.mark.parametrize(("value", "shown"), [
    (None, ""), (True, "yes"), (["Ann Lee", "Bo"], "Ann Lee; Bo"), ("2024-05", "2024-05"), (1.50, "1.5")])
def test_a_value_of_any_kind_is_shown(value, shown):
    assert show_value(value) == shown
