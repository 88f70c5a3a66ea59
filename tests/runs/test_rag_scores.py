"""Score files: their layout, who made the labels, the same bytes again, and nothing left behind after a failure."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dojo_kit.errors import InputError, SettingsError
from dojo_kit.rag.metrics import METRICS
from dojo_kit.rag.tasks import TASKS
from dojo_kit.runs.rag_agreement import AgreementOptions, agreement_of_export, report_file, time_limit
from dojo_kit.runs.rag_evaluation import Evaluation, evaluate, read_labels
from dojo_kit.runs.rag_scores import read_scores, score_file, score_id_of, scores_as_dict, write_scores
from dojo_kit.runs.rag_settings import eval_settings
from dojo_kit.samples import sample_data

RAG = sample_data() / "rag"
LENIENT = {"tie": "drop", "on_incomplete": "skip", "on_violation": "as_is"}
GROUNDING = "record_uuid,support_present,unsupported_claim_present,contradicted_claim_present,source_cited,"
GROUNDING += "fabricated_source\ng1,1,0,0,0,0\ng2,0,1,0,0,0\n"


def scored(**given: Any) -> Evaluation:
    return evaluate(eval_settings({"task": "retrieval", "base_dir": str(RAG), **given}))


def test_layout() -> None:
    scores = scores_as_dict(scored(system="hybrid-2", **LENIENT), score_id="may")
    names = list(scores)
    assert names[:7] == ["task", "source", "notes", "created_at", "n_examples", "ci_level", "top_k"]
    assert names[7:13] == [name for name, metric in METRICS.items() if metric.task == "retrieval"]
    assert scores["source"] == {
        "kind": "annotation_export",
        "ref": "2026-05",
        "resolved_path": "annotation/exports/2026-05/retrieval.csv",
    }
    for name in names[7:13]:
        assert list(scores[name]) == ["point", "ci_lower", "ci_upper", "method", "n"]
        assert scores[name]["ci_lower"] <= scores[name]["ci_upper"]
        assert {"unit", "higher_is_better", "flags"} <= scores["details"][name].keys()
    assert scores["topical_precision_at_k"]["method"] == "bootstrap"
    assert scores["sufficiency_hit_at_k"]["method"] == "wilson"
    assert (scores["score_id"], scores["seed"], scores["n_resamples"], scores["top_k"]) == ("may", 42, 2000, 4)
    assert len(scores["input_sha256"]) == 64
    assert scores["scope"].startswith("Intervals cover the chance of having drawn these queries")
    assert scores["counts"]["queries"] == 24
    assert scores["notes"].startswith("export 2026-05 was taken, the latest of 2 exports")
    json.dumps(scores, allow_nan=False)


def test_labels_by_a_model_are_marked_on_every_number(tmp_path: Path) -> None:
    scores = scores_as_dict(scored(prediction_id="evaluator-small-1"), score_id="x")
    marked = [scores[name]["labels_by"] for name in scores["details"]]
    assert marked == ["model"] * 6
    assert scores["labels_by"] == "model"
    assert all("labels by model" in facts["flags"] for facts in scores["details"].values())
    assert "labels_by" not in scores_as_dict(scored(export_id="2026-04-pilot"), score_id="x")["ndcg_at_k"]


def test_a_column_says_who_made_the_labels(tmp_path: Path) -> None:
    lines = GROUNDING.splitlines()
    path = tmp_path / "g.csv"

    def by(*who: str) -> Evaluation:
        path.write_text("\n".join(f"{line},{word}" for line, word in zip(lines, ("labels_by", *who), strict=True)))
        return evaluate(eval_settings({"task": "grounding", "path": str(path)}))

    assert by("people", "human").card.options.labels_by == "people"
    mixed = by("people", "Model")
    assert mixed.card.options.labels_by == "model"
    assert mixed.notes == ("labels of 1 of 2 rows are by a model",)
    with pytest.raises(InputError, match=r"g.csv, line 3, field 'labels_by': not 'modell' \(did you mean 'model'\?\)"):
        by("people", "modell")


def test_an_undefined_metric_is_null_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text(GROUNDING)
    scores = scores_as_dict(evaluate(eval_settings({"task": "grounding", "path": str(path)})), score_id="x")
    assert scores["conditional_fabrication_rate"] is None
    assert scores["details"]["conditional_fabrication_rate"]["note"] == "no answer cites a source"
    assert "top_k" not in scores


def test_bounds_have_no_point() -> None:
    scores = scores_as_dict(scored(system="lexical-1", **(LENIENT | {"on_incomplete": "bounds"})), score_id="x")
    metric = scores["sufficiency_hit_at_k"]
    assert metric["point"] is None
    assert metric["ci_lower"] < scores["bounds"]["sufficiency_hit_at_k"]["lowest"]["value"]


def test_created_at_is_the_only_field_that_differs(tmp_path: Path) -> None:
    found = scored(export_id="2026-04-pilot")
    texts = []
    for at in ("2026-01-01T00:00:00+00:00", "2026-01-02T00:00:00+00:00"):
        write_scores(scores_as_dict(found, score_id="x", created_at=at), tmp_path / "s.json", force=True)
        texts.append((tmp_path / "s.json").read_text().splitlines())
    differ = [line for line, other in zip(*texts, strict=True) if line != other]
    assert [line.strip().split(":")[0] for line in differ] == ['"created_at"']


def test_the_default_id_is_a_hash_of_inputs_and_settings(tmp_path: Path) -> None:
    settings = eval_settings({"task": "grounding", "path": str(tmp_path / "a.csv")})
    (tmp_path / "a.csv").write_text(GROUNDING)
    (tmp_path / "b.csv").write_text(GROUNDING)
    (tmp_path / "c.csv").write_text(GROUNDING + "g3,1,0,0,0,0\n")

    def name(**changes: Any) -> str:
        changed = replace(settings, **changes)
        return score_id_of(changed, *read_labels(changed))

    first = name()
    assert len(first) == 12
    assert int(first, 16) >= 0
    assert name(path=str(tmp_path / "b.csv"), force=True, base_dir=str(tmp_path)) == first, "where it lies is no matter"
    others = [name(seed=7), name(ci=0.9), name(tie="drop"), name(path=str(tmp_path / "c.csv"))]
    assert len({first, *others}) == 5
    assert name(score_id="may") == "may"


@pytest.mark.parametrize("score_id", ["../../x", "", "a/b", "..", "/tmp/x", "a\\b"])
def test_a_score_id_never_leaves_the_workspace(tmp_path: Path, score_id: str) -> None:
    with pytest.raises(SettingsError, match=r"score_id .* is not the name of a folder"):
        score_file(score_id, "grounding", base_dir=tmp_path)


def test_a_link_as_score_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w/eval/scores").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "w/eval/scores/x").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SettingsError, match="leads out of the workspace"):
        score_file("x", "grounding", base_dir=tmp_path / "w")


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    file = score_file("x", "retrieval", base_dir=tmp_path)
    assert not file.parent.exists(), "asking where it lies makes nothing"
    write_scores({"task": "retrieval"}, file)
    with pytest.raises(InputError, match="is there already"):
        write_scores({"task": "grounding"}, file)
    assert "retrieval" in file.read_text()
    write_scores({"task": "grounding"}, file, force=True)
    assert "grounding" in file.read_text()


def test_a_failure_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match="No space left"):
        write_scores({"task": "retrieval"}, score_file("x", "retrieval", base_dir=tmp_path / "w"))
    assert list(tmp_path.iterdir()) == []


def test_scores_are_read_back(tmp_path: Path) -> None:
    scores = scores_as_dict(scored(export_id="2026-04-pilot"), score_id="x")
    file = tmp_path / "s.json"
    write_scores(scores, file)
    assert read_scores(file) == scores
    for change, message in (
        ({"task": "x"}, "task is 'x'"),
        ({"ndcg_at_k": 0.5}, "is no metric"),
        ({"ndcg_at_k": {**scores["ndcg_at_k"], "ci_lower": 0.9, "ci_upper": 0.5}}, "lower bound above"),
        ({"ndcg_at_k": {**scores["ndcg_at_k"], "point": 7}}, "outside 0 to 1"),
        ({"helpfulness_rate": None}, "belongs to generation"),
    ):
        write_scores({**scores, **change}, file, force=True)
        with pytest.raises(InputError, match=message):
            read_scores(file)
    del scores["ndcg_at_k"]
    write_scores(scores, file, force=True)
    with pytest.raises(InputError, match=r"field 'ndcg_at_k': is missing"):
        read_scores(file)


# --- agreement ---------------------------------------------------------------------------------------------


def test_agreement_of_an_export_takes_each_system_by_itself() -> None:
    options = AgreementOptions(n_resamples=100)
    found = agreement_of_export("2026-05", base_dir=RAG, options=options)
    named = [(task, system) for task, system, _ in found.found]
    assert named[:2] == [("retrieval", "hybrid-2"), ("retrieval", "lexical-1")]
    assert len(named) == 6
    report = found.as_dict(created_at="2026-01-01")
    assert report["tasks"][0]["coverage"]["n_items_shared"] == 24
    json.dumps(report, allow_nan=False)
    only = agreement_of_export(
        "2026-05", tasks=["grounding"], base_dir=RAG, options=replace(options, system="hybrid-2")
    )
    assert [(task, system) for task, system, _ in only.found] == [("grounding", "hybrid-2")]


def test_agreement_limits_and_what_is_left_out() -> None:
    with pytest.raises(SettingsError, match="after must be a date"):
        time_limit("yesterday", option="after")
    early = AgreementOptions(before=time_limit("2026-05-03", option="before", end_of_day=True))
    with pytest.raises(InputError, match="nothing to measure"):
        agreement_of_export("2026-05", tasks=["grounding"], base_dir=RAG, options=early)
    alone = AgreementOptions(exclude_annotators=("ada", "ben"), n_resamples=10)
    (_, _, agreement), _ = agreement_of_export("2026-05", tasks=["generation"], base_dir=RAG, options=alone).found
    assert list(agreement.annotators) == ["cleo"]
    assert agreement.labels[0].alpha.estimate.value is None
    with pytest.raises(InputError, match="no labels of grounding"):
        agreement_of_export("2026-04-pilot", tasks=["grounding"], base_dir=RAG)


def test_the_report_lies_in_the_export() -> None:
    assert report_file("2026-05", base_dir=RAG).parts[-3:] == ("2026-05", "iaa", "report.json")
    with pytest.raises(SettingsError, match="export_id"):
        report_file("../2026-05", base_dir=RAG)


def _labelled(tmp_path: Path, **columns: Any) -> dict[str, str]:
    """Write answers of systems or runs 1 and 2, of which a model labelled the first."""
    labels = {name: [1, 1] for name in TASKS["generation"].labels}
    rows = {"record_uuid": [5, 5], **labels, "labels_by": ["model", "people"], **columns}
    pd.DataFrame(rows).to_parquet(tmp_path / "labels.parquet")
    return {"task": "generation", "path": str(tmp_path / "labels.parquet")}


@pytest.mark.parametrize(("column", "option"), [("system_id", "system"), ("run_id", "run")])
@pytest.mark.parametrize("ids", [[1, 2], ["1", "2"]])
def test_only_the_rows_that_are_scored_say_who_made_the_labels(
    tmp_path: Path, column: str, option: str, ids: list[Any]
) -> None:
    given = _labelled(tmp_path, **{column: ids})
    assert scored(**given, **{option: "1"}).card.options.labels_by == "model"
    assert scored(**given, **{option: "2"}).card.options.labels_by == "people"


def test_a_page_that_cannot_be_written_leaves_no_scores(tmp_path: Path) -> None:
    file = score_file("may", "retrieval", base_dir=tmp_path)
    (tmp_path / "file").write_text("")
    for page in (tmp_path / "file/page.html", tmp_path / "folder"):
        (tmp_path / "folder").mkdir(exist_ok=True)
        with pytest.raises(InputError):
            write_scores({"a": 1}, file, page=(page, "<html>"), force=True)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
    write_scores({"a": 1}, file, page=(tmp_path / "new/page.html", "<html>"))
    assert (tmp_path / "new/page.html").read_text() == "<html>"
    with pytest.raises(InputError, match="is there already"):
        write_scores({"a": 1}, tmp_path / "other.json", page=(tmp_path / "new/page.html", ""))
    assert not (tmp_path / "other.json").exists()


def test_an_unknown_annotator_to_leave_out(tmp_path: Path) -> None:
    unknown = AgreementOptions(exclude_annotators=("adda",))
    with pytest.raises(InputError, match=r"no annotator 'adda' to leave out \(did you mean 'ada'\?\).*'ada', 'ben'"):
        agreement_of_export("2026-05", base_dir=RAG, options=unknown)


def test_agreement_of_one_run(tmp_path: Path) -> None:
    base = Path(shutil.copytree(RAG / "annotation", tmp_path / "annotation")).parent
    file = base / "annotation/exports/2026-05/grounding.csv"
    frame = pd.read_csv(file, dtype=str, keep_default_na=False)
    pd.concat([frame.assign(run_id="1"), frame.assign(run_id="2")]).to_csv(file, index=False)
    with pytest.raises(InputError, match=r"nothing to measure: grounding of hybrid-2: 2 runs .* named by --run"):
        agreement_of_export("2026-05", tasks=["grounding"], base_dir=base)
    options = AgreementOptions(run="2", n_resamples=10)
    found = agreement_of_export("2026-05", tasks=["grounding"], base_dir=base, options=options)
    assert [system for _, system, _ in found.found] == ["hybrid-2", "lexical-1"]
    assert found.as_dict(created_at="")["run"] == "2"
