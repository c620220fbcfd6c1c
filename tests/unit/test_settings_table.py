"""What the documentation says of the settings."""

import pytest
from banyan.config import Settings

from ..conftest import load_test_module

settings_table = load_test_module("settings_table")


def test_the_table_is_that_of_the_settings():
    assert settings_table.found() == settings_table.table(), "run `python tests/settings_table.py`"


@pytest.mark.parametrize("name", Settings.model_fields)
def test_each_setting_is_described_in_a_line(name):
    said = Settings.model_fields[name].description
    assert said
    assert "\n" not in said
    assert "|" not in said
