"""What the documentation says of the settings."""

from banyan.config import Settings

from ... import settings_table


def test_the_table_is_that_of_the_settings():
    assert settings_table.found() == settings_table.table(), "run `python tests/settings_table.py`"


def test_the_example_is_that_of_the_settings():
    assert settings_table.EXAMPLE.read_text("utf-8") == settings_table.example(), "run `python tests/settings_table.py`"


def test_the_example_with_every_line_in_force_is_what_the_settings_are_without_it(tmp_path, monkeypatch):
    for name in Settings.model_fields:
        monkeypatch.delenv(f"BANYAN_{name.upper()}", raising=False)
    default = Settings()
    lines = settings_table.example().splitlines()
    given = [line[1:] for line in lines if line.startswith("#BANYAN_") and not line.endswith("=")]
    assert len(given) > 30
    (tmp_path / ".env").write_text("\n".join(given), "utf-8")
    monkeypatch.setenv("BANYAN_ENV_FILE", str(tmp_path / ".env"))
    assert Settings() == default
