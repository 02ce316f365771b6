"""Settings: where they come from, what wins, and what a wrong one is told."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

from simuverse.config import Secret, Settings, load
from simuverse.errors import SettingsError

KEY = "sk-birch-4711"


def written(folder: Path, text: str) -> Path:
    file = folder / "settings.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_what_is_typed_wins_over_variables_over_the_file_over_the_defaults(tmp_path: Path) -> None:
    file = written(tmp_path, "seed = 1\nconcurrency = 2\nport = 9001\n")
    variables = {"SIMUVERSE_SEED": "3", "SIMUVERSE_CONCURRENCY": "4"}
    settings = load(file, environment=variables, typed={"seed": 5, "concurrency": None})
    assert (settings.seed, settings.concurrency, settings.port, settings.model) == (5, 4, 9001, "rehearsal")


def test_nothing_given_gives_the_defaults() -> None:
    assert load(environment={}) == Settings()


def test_what_is_typed_can_switch_off(tmp_path: Path) -> None:
    assert load(environment={}, typed={"memory": False}).memory is False


@pytest.mark.parametrize(
    ("variable", "name", "text"),
    [
        ("OPENAI_BASE_URL", "openai_base_url", "http://one.example"),
        ("ANTHROPIC_BASE_URL", "anthropic_base_url", "http://two.example"),
        ("OLLAMA_HOST", "ollama_host", "three.example:11434"),
    ],
)
def test_variables_of_other_software_serve_unless_ours_is_set(variable: str, name: str, text: str) -> None:
    assert getattr(load(environment={variable: text}), name) == text
    ours = {variable: text, f"SIMUVERSE_{name.upper()}": "http://ours.example"}
    assert getattr(load(environment=ours), name) == "http://ours.example"


def test_the_port_is_read_from_both_its_variables() -> None:
    assert load(environment={"PORT": "8123"}).port == 8123
    assert load(environment={"PORT": "8123", "SIMUVERSE_PORT": "8124"}).port == 8124


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "WEAVIATE_API_KEY"])
def test_keys_are_read_from_the_providers_variables_and_stay_secret(variable: str) -> None:
    settings = load(environment={variable: KEY})
    secret = getattr(settings, variable.lower())
    assert isinstance(secret, Secret)
    assert secret.reveal() == KEY
    assert KEY not in f"{settings!r} {settings} {secret!r} {secret} {settings.public()}"
    assert variable.lower() not in settings.public()


def test_variables_that_are_empty_or_for_tests_set_nothing() -> None:
    environment = {"SIMUVERSE_SEED": "", "PORT": "", "SIMUVERSE_TEST_WEAVIATE_URL": "x", "SIMUVERSE_REQUIRE_LIVE": "1"}
    assert load(environment=environment) == Settings()


@pytest.mark.parametrize(
    ("text", "value"), [("on", True), ("Yes", True), ("1", True), ("TRUE", True), ("off", False), ("0", False)]
)
def test_truth_is_written_in_the_usual_words(text: str, value: bool) -> None:
    assert load(environment={"SIMUVERSE_MEMORY": text}).memory is value


def test_numbers_of_seconds_may_be_whole_or_not(tmp_path: Path) -> None:
    assert load(written(tmp_path, "model_timeout = 3"), environment={}).model_timeout == 3.0
    assert load(environment={"SIMUVERSE_MODEL_TIMEOUT": "2.5"}).model_timeout == 2.5


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\nport = 'eight'", "line 2: port is 'eight'; it takes a whole number"),
        ("seed = 1.5", "line 1: seed is 1.5; it takes a whole number"),
        ("seed = true", "line 1: seed is True; it takes a whole number"),
        ("# so\nconcurrency = 0", "line 2: concurrency is 0; it must be 1 or more"),
        ("port = 65536", "line 1: port is 65536; it must be 0 to 65535"),
        ("seed = -1", "line 1: seed is -1; it must be 0 or more"),
        ("model_calls = -1", "line 1: model_calls is -1; it must be 0 or more"),
        ("model_timeout = 0", "line 1: model_timeout is 0.0; it must be a number of seconds above 0"),
        ("model_timeout = nan", "line 1: model_timeout is nan; it must be a number of seconds above 0"),
        ("model_timeout = inf", "line 1: model_timeout is inf; it must be a number of seconds above 0"),
        ("memory = 'perhaps'", "line 1: memory is 'perhaps'; it takes on or off"),
        ("model = 3", "line 1: model takes text in quotes"),
        ("modell = 'rehearsal'", "line 1: there is no setting modell. Settings: model, subconscious_model, "),
        ("seed = 1\n[agents]\nname = 'Ada'", "line 2: there is no setting agents. Settings: "),
        ("seed = 1\n[agents", "isn't valid TOML in UTF-8: Expected ']'"),
        ("seed = 1\n[agents\n", "at line 2"),
        ("seed = " + "[" * 5000, "isn't valid TOML in UTF-8"),
    ],
)
def test_a_broken_file_is_told_where_and_what_is_allowed(text: str, told: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    with pytest.raises(SettingsError) as error:
        load(file, environment={})
    assert str(file) in str(error.value)
    assert told in str(error.value)


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes("model = 'bär'".encode("latin-1"))
    with pytest.raises(SettingsError, match=r"settings\.toml isn't valid TOML in UTF-8"):
        load(file, environment={})


def test_a_file_that_is_missing_or_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"there is no settings file .*none\.toml"):
        load(tmp_path / "none.toml", environment={})
    with pytest.raises(SettingsError, match="can't be read: Is a directory"):
        load(tmp_path, environment={})


@pytest.mark.parametrize(
    ("variable", "text", "told"),
    [
        ("SIMUVERSE_SEED", "many", "SIMUVERSE_SEED: seed is 'many'; it takes a whole number"),
        ("SIMUVERSE_CONCURRENCY", "0", "SIMUVERSE_CONCURRENCY: concurrency is 0; it must be 1 or more"),
        ("PORT", "70000", "PORT: port is 70000; it must be 0 to 65535"),
        ("SIMUVERSE_SPEED", "9", "SIMUVERSE_SPEED: there is no setting speed"),
    ],
)
def test_a_wrong_variable_is_named(variable: str, text: str, told: str) -> None:
    with pytest.raises(SettingsError) as error:
        load(environment={variable: text})
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"concurrency": 0}, "concurrency is 0; it must be 1 or more"),
        ({"port": -1}, "port is -1; it must be 0 to 65535"),
        ({"model_timeout": float("nan")}, "model_timeout is nan"),
    ],
)
def test_settings_made_by_hand_are_checked_too(values: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        Settings(**values)


@pytest.mark.parametrize("text", [f"openai_api_key = ['{KEY}']", f"openai_api_key = {{key = '{KEY}'}}"])
def test_a_key_in_the_wrong_form_is_not_repeated(text: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="openai_api_key takes text in quotes") as error:
        load(written(tmp_path, text), environment={})
    assert KEY not in str(error.value)


def test_settings_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().seed = 8  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
