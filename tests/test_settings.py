"""Settings: layers, strictness, the taxonomy layout, and the context's default."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dojo_kit
from dojo_kit import (
    InputError,
    Settings,
    SettingsError,
    clear_settings_cache,
    configure,
    get_settings,
    load_settings,
)
from dojo_kit.settings import FieldScoring, parse_value


@pytest.fixture(autouse=True)
def _fresh_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOJO_KIT_CONFIG", raising=False)
    clear_settings_cache()


def test_defaults_are_the_decided_constants() -> None:
    """Thresholds, bands, seeds and prices stand as decided."""
    settings = Settings()

    assert settings.field_scoring == FieldScoring(
        match_threshold=0.6,
        embedding_rescue_below=0.7,
        presence_threshold=0.7,
        coverage_threshold=0.7,
        ambiguous_band=(0.5, 0.85),
        partial_gt_fields=frozenset({"parties", "key_obligations", "termination_clauses"}),
        containment_fields=frozenset({"governing_law", "term_length", "renewal_terms"}),
    )
    assert (settings.statistics.n_resamples, settings.statistics.seed) == (2000, 42)
    assert (settings.chunking.chunk_chars, settings.chunking.chunk_overlap) == (90_000, 8_000)
    assert settings.cost_models["deepseek/deepseek-v4-pro"] == (0.435, 0.87)


def test_call_beats_environment_beats_file_beats_default(tmp_path: Path) -> None:
    """Each layer overrides the one before it, key by key."""
    path = tmp_path / "dojo.toml"
    path.write_text("[statistics]\nseed = 1\nn_resamples = 100\n[field_scoring]\nmatch_threshold = 0.5\n")
    env = {"DOJO_KIT__STATISTICS__SEED": "2", "DOJO_KIT__STATISTICS__N_RESAMPLES": "200"}
    settings = Settings.load(path, env=env, overrides={"statistics.seed": 3})

    assert (settings.statistics.seed, settings.statistics.n_resamples) == (3, 200)
    assert settings.field_scoring.match_threshold == 0.5


def test_taxonomy_layout(tmp_path: Path) -> None:
    """The layout with field_scoring, cost_models and a list of doc_classes is read."""
    path = tmp_path / "taxonomy.yaml"
    path.write_text(
        "field_scoring:\n  embedding_enabled: true\n  bipartite_match_threshold: 0.65\n  ambiguous_band: [0.4, 0.8]\n"
        "  partial_gt_fields: [parties]\n"
        "cost_models:\n  acme/tiny: {input: 0.1, output: 0.2}\n  acme/big: [1, 2]\n"
        "doc_classes:\n  - key: memo\n    description: internal\n    field_types: {sender: name, sent: date}\n"
    )
    settings = Settings.load(path, env={})

    assert settings.field_scoring.match_threshold == 0.65
    assert settings.field_scoring.ambiguous_band == (0.4, 0.8)
    assert settings.field_scoring.partial_gt_fields == frozenset({"parties"})
    assert dict(settings.cost_models) == {"acme/tiny": (0.1, 0.2), "acme/big": (1.0, 2.0)}
    assert settings.document_class("memo").fields["sent"].kind == "date"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"field_scoring.match_treshold": 0.5}, "did you mean 'match_threshold'"),
        ({"field_scorng.match_threshold": 0.5}, "did you mean 'field_scoring'"),
        ({"field_scoring.match_threshold": 1.5}, "less than or equal to 1, not 1.5"),
        ({"field_scoring.match_threshold": "high"}, "field_scoring.match_threshold"),
        ({"field_scoring.ambiguous_band": [0.9, 0.1]}, "runs from low to high"),
        ({"statistics": 7}, "expected keys among"),
        ({"doc_classes": {"memo": {"sent": "dat"}}}, "did you mean 'date'"),
        ({"cost_models": {"x": {"inptu": 1}}}, "price keys are input and output"),
    ],
)
def test_mistakes_are_refused_with_the_closest_name(changes: dict[str, object], message: str) -> None:
    """A misspelt setting is an error that names the right one, never a silent default."""
    with pytest.raises(SettingsError, match=message):
        Settings.load(env={}, overrides=changes)


def test_misspelt_environment_is_refused() -> None:
    """The environment is as strict as a file."""
    with pytest.raises(SettingsError, match="did you mean 'seed'"):
        Settings.load(env={"DOJO_KIT__STATISTICS__SEDE": "1"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: [", "cannot parse"),
        (b"- 1", "settings are a list"),
        (b"\xff\xfe", "not UTF-8"),
        (b"x = = 1", "cannot parse"),
    ],
)
def test_unreadable_file(tmp_path: Path, content: bytes, message: str) -> None:
    """A file that is no settings file is an error naming it."""
    path = tmp_path / ("bad.toml" if b"=" in content else "bad.yaml")
    path.write_bytes(content)

    with pytest.raises(InputError, match=message) as caught:
        Settings.load(path, env={})
    assert caught.value.file == str(path)


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there is an error, not the defaults."""
    with pytest.raises(InputError, match="No such file"):
        Settings.load(tmp_path / "none.yaml", env={})


def test_settings_are_frozen() -> None:
    """Nobody changes a threshold behind somebody's back."""
    with pytest.raises(ValueError, match="frozen"):
        Settings().field_scoring.match_threshold = 0.1  # type: ignore[misc]


def test_configure_for_good_and_for_a_block() -> None:
    """`configure` changes the context's default; in a with block the former one comes back."""
    configure(field_scoring={"match_threshold": 0.7})
    with configure({"field_scoring.match_threshold": 0.9}):
        inside = dojo_kit.score_list("entity_list:name", ["Acme Foods"], ["Acme Motors"]).n_matched_labels
        assert get_settings().field_scoring.match_threshold == 0.9

    assert inside == 1
    assert get_settings().field_scoring.match_threshold == 0.7
    clear_settings_cache()
    assert get_settings().field_scoring.match_threshold == 0.6


def test_load_settings_becomes_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`load_settings` and DOJO_KIT_CONFIG both name the file scorers read."""
    path = tmp_path / "dojo.yaml"
    path.write_text("field_scoring: {day_first: true}\n")
    load_settings(path)
    assert dojo_kit.score_field("date", "01/02/2025", "1 February 2025").score == 1.0

    clear_settings_cache()
    monkeypatch.setenv("DOJO_KIT_CONFIG", str(path))
    assert get_settings().field_scoring.day_first is True


STRANGE_FILES = {
    "key of a number": ("1: 2", "key 1 is not text; quote it at line 1, column 1"),
    "key read as true": ("doc_classes: {memo: {on: date}}", "key True is not text"),
    "deep": ("[" * 5000, "nested too deeply"),
    "impossible date": ("statistics: {seed: 2024-99-99}", "cannot parse settings: month must be"),
    "digits": (f"statistics: {{seed: {'9' * 5000}}}", "cannot parse settings"),
    "section twice": ("statistics: {seed: 1}\nstatistics: {seed: 2}", "key 'statistics' is given twice at line 2"),
    "key twice": ("statistics: {seed: 1, seed: 2}", "key 'seed' is given twice"),
    "alias beside the name": (
        "field_scoring: {match_threshold: 0.5, bipartite_match_threshold: 0.6}",
        "match_threshold is given twice, as match_threshold and as bipartite_match_threshold",
    ),
    "class twice": ("doc_classes: [{key: a}, {key: b, field_types: {x: date}}, {name: b}]", "'b' is given twice"),
    "truth value": ("field_scoring: {match_threshold: true}", "match_threshold: must be a number, not True"),
    "text": ("field_scoring: {match_threshold: '0.7'}", "match_threshold: must be a number, not '0.7'"),
    "text for a count": ("statistics: {n_resamples: '100'}", "n_resamples: must be a number, not '100'"),
    "half a count": ("statistics: {n_resamples: 0.5}", "n_resamples: must be a whole number, not 0.5"),
    "price": ("cost_models: {x: {input: true, output: 1}}", "must be a number, not True"),
    "no list": ("field_scoring: {partial_gt_fields: parties}", "must be a list of names, not 'parties'"),
    "no pair": ("field_scoring: {ambiguous_band: 0.5}", "must be two numbers, not 0.5"),
    "itself": ("field_scoring: &x {match_threshold: *x}", "must be a number"),
}


@pytest.mark.parametrize(("content", "message"), STRANGE_FILES.values(), ids=STRANGE_FILES)
def test_strange_files(tmp_path: Path, content: str, message: str) -> None:
    """Each is one error in plain words, whatever the parsers underneath run into."""
    path = tmp_path / "s.yaml"
    path.write_text(content)
    with pytest.raises((InputError, SettingsError), match=re.escape(message).replace(r"\ ", " ")) as caught:
        Settings.load(path, env={})
    assert not re.search("Value error|Input should|frozenset|dictionary", str(caught.value))


def test_toml_key_twice(tmp_path: Path) -> None:
    """TOML refuses it by itself."""
    (tmp_path / "s.toml").write_text("[statistics]\nseed = 1\nseed = 2\n")
    with pytest.raises(InputError, match="cannot parse settings"):
        Settings.load(tmp_path / "s.toml", env={})


def test_numbers_in_the_environment_and_in_files(tmp_path: Path) -> None:
    """Text of the environment is read as YAML first; an exponent needs no point; ``~`` is the home folder."""
    env = {"DOJO_KIT__FIELD_SCORING__MATCH_THRESHOLD": "0.7", "DOJO_KIT__STATISTICS__CONFIDENCE": "9e-1"}
    assert Settings.load(env=env).field_scoring.match_threshold == 0.7
    assert Settings.load(env=env).statistics.confidence == 0.9
    with pytest.raises(SettingsError, match="must be a number, not 'high'"):
        Settings.load(env={"DOJO_KIT__FIELD_SCORING__MATCH_THRESHOLD": "high"})
    assert parse_value("2024-99-99") == "2024-99-99"
    assert parse_value("[" * 5000) == "[" * 5000


@pytest.mark.parametrize(
    ("variable", "right"),
    [
        ("DOJO_KIT_STATISTICS_SEED", "DOJO_KIT__STATISTICS__SEED"),
        ("DOJO_KIT_SEED", "DOJO_KIT__STATISTICS__SEED"),
        ("DOJO_KIT_FIELD_SCORING__MATCH_THRESHOLD", "DOJO_KIT__FIELD_SCORING__MATCH_THRESHOLD"),
        ("DOJO_KIT_FIELD_SCORING_MATCH_TRESHOLD", "DOJO_KIT__FIELD_SCORING__MATCH_THRESHOLD"),
        ("DOJO_KIT_COST_MODELS_X", "DOJO_KIT__COST_MODELS__KEY"),
        ("DOJO_KIT_CONFG", "DOJO_KIT_CONFIG"),
    ],
)
def test_a_misspelt_variable_is_refused(variable: str, right: str) -> None:
    """One underscore where two belong would leave the default in force without a word."""
    with pytest.raises(SettingsError, match=rf"{variable} is not read \(did you mean {right}\?\)"):
        Settings.load(env={variable: "1"})


def test_variables_of_other_parts_pass() -> None:
    """The cache, endpoints and what has no likeness to a setting."""
    names = ("CACHE", "EMBEDDING_BASE_URL", "EMBEDDING_API_KEY", "JUDGE_API_KEY", "TRACE")
    assert Settings.load(env={f"DOJO_KIT_{name}": "x" for name in names}) == Settings()


def test_messages_say_where_a_setting_came_from() -> None:
    """The command line names itself; a setting given in two ways is no silent choice."""
    with pytest.raises(SettingsError, match=r"^--set: unknown setting statistics.sede"):
        Settings.load(env={}, overrides={"statistics.sede": 1}, where="--set")
    with pytest.raises(SettingsError, match=r"^call: statistics.seed is given twice"):
        Settings.load(env={}, overrides={"statistics": {"seed": 1}, "statistics.seed": 2})
    with pytest.raises(SettingsError, match=r"environment: statistics.seed is given twice"):
        Settings.load(env={"DOJO_KIT__STATISTICS__SEED": "1", "DOJO_KIT__statistics__seed": "2"})
    with pytest.raises(InputError, match="the path of the settings file is empty"):
        Settings.load("", env={})
