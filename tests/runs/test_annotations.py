"""Judgements of people on spans: saved, merged, resumed, and refused where they do not belong."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dojo_kit import score_run
from dojo_kit.errors import ComparabilityError, InputError
from dojo_kit.runs import (
    Annotation,
    annotation_recipe,
    load_annotations,
    load_labels,
    run_from_record,
    save_annotations,
)
from dojo_kit.scoring.run import Recipe

MORNING, EVENING = "2026-01-31T09:00:00+00:00", "2026-01-31T19:00:00+00:00"
RECIPE = {"scorer_version": "1", "spans": "first", "run": "v15"}


def judged(span: str = "a:law:0", verdict: Any = "true_miss", **more: Any) -> Annotation:
    return replace(Annotation(span, "A contract", "law", "Governing Law", "laws of Ohio", verdict), **more)


def save(path: Path, *annotations: Annotation, who: str = "Ada", when: str = MORNING, **more: Any) -> Path:
    return save_annotations(path, annotations, who=who, when=when, **{"recipe": RECIPE, **more})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "judged.jsonl"


def test_what_is_saved_is_what_is_read(path: Path) -> None:
    """Texts of every kind come back, stamped with who, when and the recipe."""
    text = 'line\u2028one\n"two" </script> \U0001f512'
    save(path, judged(text=text, note="nähe"), judged("b:law:0", None, note="look again"))

    first, second = load_annotations(path, recipe=RECIPE)
    assert first == judged(text=text, note="nähe", who="Ada", when=MORNING, recipe=RECIPE)
    assert (second.verdict, second.note) == (None, "look again")
    assert len(path.read_text(encoding="utf-8").splitlines()) >= 2


def test_half_a_character_is_written_as_a_replacement(path: Path) -> None:
    """What no file can hold does not stop the rest from being saved."""
    save(path, judged(note="\ud800"))
    assert load_annotations(path)[0].note == "\ufffd"


def test_the_newest_record_of_a_person_counts_and_all_others_stay(path: Path) -> None:
    """One record per span and person; another person's is another record."""
    save(path, judged(), judged("b:law:0"))
    save(path, judged(verdict="label_wrong"), who="Grace")
    save(path, judged(verdict="not_a_miss"), when=EVENING)

    found = {(one.span, one.who): (one.verdict, one.when) for one in load_annotations(path)}
    assert found == {
        ("a:law:0", "Ada"): ("not_a_miss", EVENING),
        ("b:law:0", "Ada"): ("true_miss", MORNING),
        ("a:law:0", "Grace"): ("label_wrong", MORNING),
    }


def test_saving_again_changes_nothing(path: Path) -> None:
    """A judgement keeps the time it was made, however often it is saved."""
    before = save(path, judged(), judged("b:law:0")).read_bytes()
    assert save(path, judged(), judged("b:law:0"), when=EVENING).read_bytes() == before
    resumed = load_annotations(path)
    assert save(path, *resumed, when=EVENING).read_bytes() == before


def test_what_is_taken_back_is_removed(path: Path) -> None:
    """Only the person's own record goes; an emptied file is a file with no annotations."""
    save(path, judged())
    save(path, judged(), who="Grace")
    save(path, withdrawn=["a:law:0"])
    assert [one.who for one in load_annotations(path)] == ["Grace"]
    save(path, who="Grace", withdrawn=["a:law:0"])
    assert load_annotations(path) == ()
    save(path, judged())
    assert len(load_annotations(path)) == 1


def test_lines_pasted_at_the_end_count(path: Path) -> None:
    """What a page copies as JSONL can be appended by hand; the last line about a span wins."""
    save(path, judged())
    pasted = judged(verdict="label_wrong", who="Ada", when=EVENING, recipe=RECIPE).as_dict()
    path.write_text(path.read_text() + "\n" + json.dumps(pasted) + "\n")
    assert [one.verdict for one in load_annotations(path)] == ["label_wrong"]


def test_another_recipe_is_refused_unless_asked(path: Path) -> None:
    """The message names what differs; nothing is mixed into one file."""
    save(path, judged())
    other = {**RECIPE, "spans": "all", "run": "v18"}
    with pytest.raises(ComparabilityError, match="spans: 'first' there, 'all' here; run: 'v15' there, 'v18' here"):
        load_annotations(path, recipe=other)
    with pytest.raises(ComparabilityError, match=r"judged\.jsonl"):
        save(path, judged("b:law:0"), recipe=other)
    assert load_annotations(path, recipe=other, any_recipe=True)[0].recipe == RECIPE
    with pytest.raises(ComparabilityError, match="another recipe"):
        save(path, judged("b:law:0", recipe=other))


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Recipe:
    """Recipe of a real scored run."""
    labels = tmp_path_factory.mktemp("labels") / "l.jsonl"
    labels.write_text('{"document": "a", "fields": {"document_name": "Lease"}}')
    run = run_from_record({"experiment": "v15", "results": [{"filename": "a", "predicted": {"document_name": "x"}}]})
    return score_run(run, load_labels(labels)).recipe


def test_the_recipe_of_a_run(recipe: Recipe) -> None:
    """What decides comparability counts, and the run, because a judgement is about what one run returned."""
    assert annotation_recipe(recipe) == annotation_recipe(replace(recipe, seed=7, n_resamples=9))
    assert annotation_recipe(recipe) != annotation_recipe(replace(recipe, labels="other"))
    assert annotation_recipe(recipe) != annotation_recipe(replace(recipe, run={"name": "v18"}))


def test_a_whole_recipe_can_be_given(path: Path, recipe: Recipe) -> None:
    """`ScoredRun.recipe` is accepted as it is."""
    save(path, judged(), recipe=recipe)
    assert load_annotations(path, recipe=recipe)[0].recipe["labels"] == recipe.labels


BAD_LINES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "not an object": (lambda _: ["a"], r"line 2: not an object but a list \['a'\]"),
    "a key is missing": (lambda r: {k: v for k, v in r.items() if k != "who"}, "line 2, field 'who': is missing"),
    "an unknown key": (lambda r: {**r, "verdct": 1}, "field 'verdct': unknown key .did you mean 'verdict'"),
    "no verdict": (lambda r: {**r, "verdict": "true miss"}, "no verdict .did you mean 'true_miss'"),
    "a verdict of a wrong type": (lambda r: {**r, "verdict": ["true_miss"]}, "field 'verdict': a list"),
    "neither verdict nor note": (lambda r: {**r, "verdict": None}, "neither a verdict nor a note"),
    "no text": (lambda r: {**r, "text": 3}, "field 'text': 3 is no text; expected text"),
    "nobody": (lambda r: {**r, "who": " "}, "field 'who': is empty"),
    "no span": (lambda r: {**r, "span": ""}, "field 'span': is empty"),
    "no time": (lambda r: {**r, "when": "yesterday"}, "field 'when': 'yesterday' is no time; expected an ISO time"),
    "no recipe": (lambda r: {**r, "recipe": None}, "field 'recipe': nothing is no recipe"),
}


@pytest.mark.parametrize(("damage", "message"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line(path: Path, damage: Callable[[dict[str, Any]], Any], message: str) -> None:
    """File, line and field are named, and a file that cannot be read is not written over."""
    good = judged("b:law:0", who="Ada", when=MORNING, recipe=RECIPE).as_dict()
    before = json.dumps(good) + "\n" + json.dumps(damage(good)) + "\n"
    path.write_text(before)
    with pytest.raises(InputError, match=message) as caught:
        load_annotations(path)
    assert (caught.value.file, caught.value.line) == (str(path), 2)
    with pytest.raises(InputError):
        save(path, judged())
    assert path.read_text() == before


@pytest.mark.parametrize("text", ['{"span": "a', '{"span": NaN}', '{"span": 1, "span": 2}', "nonsense"])
def test_broken_json(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(InputError, match="line 1"):
        load_annotations(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file; expected annotations"):
        load_annotations(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("annotation", "more"),
    [(judged(), {"when": "now"}), (judged(), {"who": ""}), (judged(verdict="maybe"), {}), (judged(verdict=None), {})],
)
def test_incomplete_records_are_not_written(path: Path, annotation: Annotation, more: dict[str, Any]) -> None:
    """What could not be read back is refused before anything is written."""
    with pytest.raises(InputError, match="annotation of span 'a:law:0'"):
        save(path, annotation, **more)
    assert not path.exists()
