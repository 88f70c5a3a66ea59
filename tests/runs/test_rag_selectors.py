"""Selectors: one or none, the latest export when none is given, and no way out of the workspace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dojo_kit.errors import DojoError, InputError, SettingsError
from dojo_kit.runs.rag_scores import score_file
from dojo_kit.runs.rag_selectors import EXPORT_SIDECAR, PREDICTION_SIDECAR, find_labels
from dojo_kit.runs.rag_settings import eval_settings

LABELS = "record_uuid,chunk_id,chunk_rank,topically_relevant,evidence_sufficient,misleading\nq,c,1,1,1,0\n"


def export(base: Path, name: str, created_at: Any, tasks: Any = ("retrieval",), *, files: bool = True) -> Path:
    """Write an annotation export."""
    folder = base / "annotation" / "exports" / name
    folder.mkdir(parents=True)
    facts = {"export_id": "another name", "created_at": created_at, "tasks": list(tasks)}
    (folder / EXPORT_SIDECAR).write_text(json.dumps(facts))
    for task in tasks if files else ():
        (folder / f"{task}.csv").write_text(LABELS)
    return folder


def prediction(base: Path, name: str, task: str = "retrieval") -> Path:
    """Write a prediction run."""
    folder = base / "eval" / "prediction_outputs" / name
    folder.mkdir(parents=True)
    (folder / PREDICTION_SIDECAR).write_text(json.dumps({"run_id": name, "task": task}))
    (folder / "predictions.csv").write_text(LABELS)
    return folder


# --- one selector ------------------------------------------------------------------------------------------


def test_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text(LABELS)
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in ("a.csv", "~/a.csv", "link.csv"):
        found = find_labels("retrieval", path=path)
        assert (found.kind, found.ref, found.path, found.shown) == ("direct_path", path, tmp_path / "a.csv", "a.csv")
    elsewhere = find_labels("retrieval", path="a.csv", base_dir=tmp_path / "workspace")
    assert elsewhere.shown == str(tmp_path / "a.csv"), "outside the workspace a path is given in full"
    assert elsewhere.labels_by == "people"


def test_an_export(tmp_path: Path) -> None:
    export(tmp_path, "may", "2026-05-01", tasks=["retrieval"])
    found = find_labels("retrieval", export_id="may", base_dir=tmp_path)
    assert (found.kind, found.ref) == ("annotation_export", "may")
    assert found.shown == "annotation/exports/may/retrieval.csv"
    with pytest.raises(InputError, match=r"no labels of grounding.*grounding.csv"):
        find_labels("grounding", export_id="may", base_dir=tmp_path)
    with pytest.raises(InputError, match=r"no such export \(did you mean 'may'\?\)"):
        find_labels("retrieval", export_id="mai", base_dir=tmp_path)
    (tmp_path / "annotation/exports/may" / EXPORT_SIDECAR).unlink()
    with pytest.raises(InputError, match="the export has no sidecar"):
        find_labels("retrieval", export_id="may", base_dir=tmp_path)


def test_a_prediction_run_is_by_a_model(tmp_path: Path) -> None:
    folder = prediction(tmp_path, "judge")
    found = find_labels("retrieval", prediction_id="judge", base_dir=tmp_path)
    assert (found.kind, found.labels_by) == ("model_prediction", "model")
    assert found.shown == "eval/prediction_outputs/judge/predictions.csv"
    with pytest.raises(InputError, match="predicts 'retrieval', not 'grounding'"):
        find_labels("grounding", prediction_id="judge", base_dir=tmp_path)
    by_path = find_labels("retrieval", path=folder / "predictions.csv", base_dir=tmp_path)
    assert (by_path.kind, by_path.labels_by) == ("direct_path", "model")
    (folder / PREDICTION_SIDECAR).unlink()
    with pytest.raises(InputError, match="has no sidecar"):
        find_labels("retrieval", prediction_id="judge", base_dir=tmp_path)


@pytest.mark.parametrize("names", [("path", "export_id"), ("export_id", "prediction_id"), ("path", "prediction_id")])
def test_two_selectors_exclude_each_other(names: tuple[str, ...], tmp_path: Path) -> None:
    given: dict[str, Any] = dict.fromkeys(names, "x")
    with pytest.raises(SettingsError, match=f"{names[0]} and {names[1]} exclude each other"):
        find_labels("retrieval", base_dir=tmp_path, **given)
    with pytest.raises(SettingsError, match="exclude each other"):
        find_labels("retrieval", path="x", export_id="x", prediction_id="x", base_dir=tmp_path)


# --- none --------------------------------------------------------------------------------------------------


def test_the_latest_export_is_taken_and_named(tmp_path: Path) -> None:
    export(tmp_path, "b", "2026-05-01T10:00:00")
    export(tmp_path, "a", "2026-05-01T13:00:00+02:00")
    export(tmp_path, "newer", "2026-06-01T00:00:00Z", tasks=["grounding"])
    export(tmp_path, "without file", "2026-07-01T00:00:00Z", files=False)
    found = find_labels("retrieval", base_dir=tmp_path)
    assert found.ref == "a", "10:00 without a zone is UTC, and earlier than 13:00 two hours east of it"
    assert found.chosen == "export a was taken, the latest of 2 exports of retrieval, by 2026-05-01 11:00:00 UTC"
    assert [problem.message for problem in found.skipped] == ["no labels of retrieval"]


def test_of_equal_times_the_greatest_id_is_taken(tmp_path: Path) -> None:
    for name in ("e9", "e10"):
        export(tmp_path, name, "2026-05-01T10:00:00Z")
    assert find_labels("retrieval", base_dir=tmp_path).ref == "e9"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "JSON"),
        ("[]", "is a list"),
        ('{"tasks": ["retrieval"]}', "created_at is missing"),
        ('{"created_at": "soon", "tasks": ["retrieval"]}', "created_at is 'soon'"),
        ('{"created_at": 5, "tasks": ["retrieval"]}', "created_at is 5"),
        ('{"created_at": "2027-01-01", "tasks": "retrieval"}', "tasks is 'retrieval'"),
        ("", "is empty"),
    ],
)
def test_a_bent_sidecar_is_listed_and_passed_over(tmp_path: Path, text: str, message: str) -> None:
    export(tmp_path, "good", "2026-05-01")
    (export(tmp_path, "bent", "2027-01-01") / EXPORT_SIDECAR).write_text(text)
    found = find_labels("retrieval", base_dir=tmp_path)
    assert found.ref == "good"
    (problem,) = found.skipped
    assert message in problem.message
    assert "bent" in problem.source


def test_no_export_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no export of retrieval among 0; expected path, export_id or prediction_id"):
        find_labels("retrieval", base_dir=tmp_path)
    (export(tmp_path, "bent", "2027-01-01") / EXPORT_SIDECAR).write_text("{")
    with pytest.raises(InputError, match=r"among 1, 1 of them unusable: .*bent"):
        find_labels("retrieval", base_dir=tmp_path)


# --- no way out --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["", " ", "../../x", "..", ".", "a/b", "a\\b", "/etc", "a\0b", "a\nb", "C:x", ".hidden", "x.", " x", "y" * 200],
)
@pytest.mark.parametrize("selector", ["export_id", "prediction_id"])
def test_an_id_is_never_a_path(tmp_path: Path, name: str, selector: str) -> None:
    given: dict[str, Any] = {selector: name}
    with pytest.raises(SettingsError, match=f"{selector} .* is not the name of a folder"):
        find_labels("retrieval", base_dir=tmp_path, **given)


def test_a_link_leads_nowhere_else(tmp_path: Path) -> None:
    outside = export(tmp_path / "outside", "x", "2026-05-01")
    base = tmp_path / "workspace"
    (base / "annotation/exports").mkdir(parents=True)
    (base / "annotation/exports/x").symlink_to(outside)
    with pytest.raises(SettingsError, match="leads out of the workspace"):
        find_labels("retrieval", export_id="x", base_dir=base)
    with pytest.raises(InputError, match="leads out of the workspace"):
        find_labels("retrieval", base_dir=base)
    inside = export(base, "y", "2026-05-01", files=False)
    (inside / "retrieval.csv").symlink_to(outside / "retrieval.csv")
    with pytest.raises(InputError, match="leads out of the workspace"):
        find_labels("retrieval", export_id="y", base_dir=base)


def test_a_workspace_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is no folder"):
        find_labels("retrieval", base_dir=tmp_path / "file")


# --- settings ----------------------------------------------------------------------------------------------


def config(tmp_path: Path, text: str, name: str = "eval.yaml") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_defaults_then_file_then_call(tmp_path: Path) -> None:
    path = config(tmp_path, "task: grounding\nseed: 7\nci: 0.9\ntie: drop\nbase_dir: here\n")
    found = eval_settings({"seed": 8, "ci": None}, config=path)
    assert (found.task, found.seed, found.ci, found.tie, found.base_dir) == ("grounding", 8, 0.9, "drop", "here")
    assert (found.n_resamples, found.on_incomplete) == (2000, "fail")
    toml = config(tmp_path, 'task = "generation"\nn_resamples = 100\n', "eval.toml")
    assert eval_settings({}, config=toml).n_resamples == 100


def test_the_call_takes_the_place_of_the_whole_selector_group(tmp_path: Path) -> None:
    path = config(tmp_path, "task: grounding\nexport_id: may\n")
    assert eval_settings({}, config=path).export_id == "may"
    found = eval_settings({"path": "a.csv"}, config=path)
    assert (found.path, found.export_id, found.prediction_id) == ("a.csv", None, None)
    both = config(tmp_path, "task: grounding\nexport_id: may\npath: b.csv\n")
    with pytest.raises(SettingsError, match="path and export_id exclude each other"):
        eval_settings({}, config=both)
    assert eval_settings({"prediction_id": "p"}, config=both).prediction_id == "p"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tsk: grounding", r"unknown setting 'tsk' \(did you mean 'task'\?\)"),
        ("eval:\n  task: grounding", "unknown setting 'eval'"),
        ("task: Grounding", "unknown task 'Grounding'"),
        ("task: grounding\nn_resamples: many", "n_resamples must be a whole number, not 'many'"),
        ("task: grounding\nn_resamples: 1.5", "n_resamples must be a whole number"),
        ("task: grounding\nn_resamples: true", "n_resamples must be a whole number"),
        ("task: grounding\nn_resamples: 0", "n_resamples must be at least 1"),
        ("task: grounding\nci: 95", "confidence must lie between 0 and 1"),
        ("task: grounding\nci: '0.9'", "ci must be a number, not '0.9'"),
        ("task: grounding\nseed: -1", "seed must not be negative"),
        ("task: grounding\nforce: 1", "force must be true or false"),
        ("task: grounding\npath: 5", "path must be text, not 5"),
        ("task: grounding\ntie: frist", r"did you mean 'first'\?"),
        ("seed: 1", "task is missing"),
        ("- a", "settings are a list"),
    ],
)
def test_impossible_settings(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DojoError, match=message):
        eval_settings({}, config=config(tmp_path, text))


@pytest.mark.parametrize("level", ["annotation", "annotation/exports", "annotation/exports/x"])
def test_a_link_at_any_level_leads_nowhere_else(tmp_path: Path, level: str) -> None:
    outside, base = tmp_path / "outside", tmp_path / "workspace"
    export(outside, "x", "2026-05-01")
    (base / level).parent.mkdir(parents=True)
    (base / level).symlink_to(outside / level)
    with pytest.raises(SettingsError, match="leads out of the workspace"):
        find_labels("retrieval", export_id="x", base_dir=base)
    with pytest.raises(InputError, match="leads out of the workspace"):
        find_labels("retrieval", base_dir=base)


def test_links_within_the_workspace_are_followed(tmp_path: Path) -> None:
    export(tmp_path, "may", "2026-05-01")
    (tmp_path / "annotation/exports/latest").symlink_to(tmp_path / "annotation/exports/may")
    assert find_labels("retrieval", export_id="latest", base_dir=tmp_path).shown.endswith("may/retrieval.csv")
    linked = tmp_path / "link"
    linked.symlink_to(tmp_path)
    assert find_labels("retrieval", export_id="may", base_dir=linked).path.is_file()


def test_a_sidecar_outside_is_not_read(tmp_path: Path) -> None:
    base = tmp_path / "workspace"
    folder = export(base, "x", "2026-05-01")
    (folder / EXPORT_SIDECAR).rename(tmp_path / "elsewhere.json")
    (folder / EXPORT_SIDECAR).symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(InputError, match="leads out of the workspace"):
        find_labels("retrieval", export_id="x", base_dir=base)


@pytest.mark.parametrize("level", ["eval", "eval/scores", "eval/scores/may", "eval/scores/may/retrieval_scores.json"])
def test_scores_are_not_written_through_a_link(tmp_path: Path, level: str) -> None:
    base = tmp_path / "workspace"
    (base / level).parent.mkdir(parents=True)
    (base / level).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SettingsError, match="leads out of the workspace"):
        score_file("may", "retrieval", base_dir=base)


@pytest.mark.parametrize("name", ["a\u202eb", "a\u200bb", "\ufeffa", "a\u2028b", "a\x7fb", "a\x9bb"])
def test_a_score_id_has_no_unseen_characters(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match=r"no / .* or unseen characters"):
        score_file(name, "retrieval", base_dir=tmp_path)


def test_hidden_folders_are_no_exports(tmp_path: Path) -> None:
    export(tmp_path, "may", "2026-05-01")
    (tmp_path / "annotation/exports/.cache").mkdir()
    assert find_labels("retrieval", base_dir=tmp_path).skipped == ()


def test_an_empty_column_groups_nothing() -> None:
    with pytest.raises(SettingsError, match="group_by is empty"):
        eval_settings({"task": "grounding", "group_by": ""})
