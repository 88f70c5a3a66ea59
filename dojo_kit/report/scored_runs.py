"""One self-contained HTML file with the finding of scored runs.

The page carries a content security policy, loads nothing and runs no script. Every text goes through an
escaping template: documents and model output are untrusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from dojo_kit import formats
from dojo_kit.analysis.families import RANKED_FROM, family_table, short_name, worst_family
from dojo_kit.stats.intervals import SCOPE, Estimate, undefined
from dojo_kit.storage import write_text

if TYPE_CHECKING:
    import pandas as pd

    from dojo_kit.scoring.run import ScoredRun

EXAMPLES = 10
SHOWN_CHARACTERS = 400


def write_report(path: str | Path, runs: Mapping[str, ScoredRun], *, focus: str, command: str) -> Path:
    """Write a report on scored runs of one surface.

    Args:
        path: HTML file to write.
        runs: Name -> scored run; all are listed in the table of scores.
        focus: Name of the run whose losses are shown.
        command: Command that reproduces the report, shown at its end.

    Returns:
        The path.
    """
    scored = runs[focus]
    environment = Environment(
        loader=PackageLoader("dojo_kit"),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    html = environment.get_template("report.html.j2").render(_context(runs, focus, scored, command))
    write_text(path, html)
    return Path(path)


def _context(runs: Mapping[str, ScoredRun], focus: str, scored: ScoredRun, command: str) -> dict[str, Any]:
    families = family_table(scored)
    metrics = scored.metrics()
    overall = metrics["overall_extraction_score"]
    missed, expected = int(families["missed"].sum()), int(families["n"].sum())
    worst = worst_family(families)
    counts = scored.counts
    return {
        "title": f"{focus} scores {formats.estimate(overall)}" + (f", {worst}" if worst else ""),
        "conclusion": f"{missed:,} of {formats.count(expected, 'labelled clause')} are not found by {focus}. "
        f"The score is a mean over {formats.count(overall.n, 'document')}; its interval says how far other documents "
        "like these could move it.",
        "made_of": f"{counts['n_documents']:,} documents, {counts['n_failed']:,} failed, "
        f"{counts['n_unmatched']:,} without labels; model {scored.recipe.run['model']}, prompt "
        f"{scored.recipe.run['prompt_version']}.",
        "scores_say": _scores_say(runs),
        "scores": list(_score_rows(runs)),
        "lost_says": "Bars show the share of each category's labels that no item matched, with its interval. "
        f"Categories with fewer than {RANKED_FROM} labels are grey: their rates say little.",
        "families": list(_family_rows(families)),
        "ranked_from": RANKED_FROM,
        "fields": list(_field_rows(scored, metrics)),
        "examples_title": f"The first {EXAMPLES} clauses lost" if missed > EXAMPLES else "Every clause lost",
        "examples_say": "The nearest item is the most similar one by words. A near item often quotes another clause: "
        "similarity alone does not say that the label was found in part.",
        "examples": list(_examples(scored)),
        "scope": SCOPE,
        "recipe": [(name, value) for name, value in scored.recipe.as_dict().items() if name != "run"],
        "command": command,
    }


def _scores_say(runs: Mapping[str, ScoredRun]) -> str:
    text = "Each row is one run over the same documents."
    if len(runs) > 1:
        text += (
            " Overlapping or disjoint intervals of two runs do not decide which is better: the same documents were "
            "scored twice, so only a paired comparison can."
        )
    return text


def _score_rows(runs: Mapping[str, ScoredRun]) -> Iterator[dict[str, str]]:
    for name, scored in runs.items():
        metrics, made = scored.metrics(), scored.recipe.run
        overall = metrics.get("overall_extraction_score") or undefined("nothing was scored")
        yield {
            "run": name,
            "made": " \N{MIDDLE DOT} ".join(part for part in (made["model"], made["prompt_version"]) if part),
            **_cells(overall),
            "failed": f"{scored.counts['n_failed']:,}",
            "as_zero": formats.number(_value(metrics, "overall_extraction_score_failed_as_zero", overall)),
            "presence": formats.number(_value(metrics, "field_presence")),
            "valid": formats.number(_value(metrics, "schema_valid")),
            "true": formats.number(_value(metrics, "overall_verified_precision")),
        }


def _value(metrics: Mapping[str, Estimate], name: str, otherwise: Estimate | None = None) -> float | None:
    estimate = metrics.get(name, otherwise)
    return None if estimate is None else estimate.value


def _cells(estimate: Estimate) -> dict[str, str]:
    return {
        "value": formats.number(estimate.value),
        "interval": formats.interval(estimate),
        "n": f"{estimate.n:,}",
        "note": estimate.note or ", ".join(estimate.flags),
    }


def _family_rows(families: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for row in families.to_dict("records"):
        yield {
            **{str(name): value for name, value in row.items()},
            "rate": formats.number(row["rate"]),
            "interval": f"[{formats.number(row['lo'])}, {formats.number(row['hi'])}]",
            "bar": f"{100 * row['rate']:.1f}",
            "from": f"{100 * row['lo']:.1f}",
            "span": f"{100 * (row['hi'] - row['lo']):.1f}",
        }


def _field_rows(scored: ScoredRun, metrics: Mapping[str, Estimate]) -> Iterator[dict[str, Any]]:
    for name, group in scored.fields.groupby("field", sort=False):
        metric = metrics.get(f"{name}_score")
        if metric is None or not metric.n:
            continue
        flags = group["flag"].value_counts()
        cells = _cells(metric)
        yield {
            "field": name,
            "type": group["type"].iloc[0],
            "score": cells["value"],
            "interval": cells["interval"],
            "n": cells["n"],
            **{flag: int(flags.get(flag, 0)) for flag in ("exact", "partial", "miss")},
        }


def _examples(scored: ScoredRun) -> Iterator[dict[str, str]]:
    spans = scored.spans
    lost = spans[spans["status"] != "matched"].head(EXAMPLES)
    items = scored.items.set_index(["document", "field", "index"])["text"]
    for row in lost.to_dict("records"):
        has_item = row["best_item"] == row["best_item"] and row["best_item"] is not None
        item = items.get((row["document"], row["field"], row["best_item"]), "") if has_item else ""
        yield {
            "document": row["document"],
            "short": formats.short_document(row["document"]),
            "category": short_name(row["category"]) if isinstance(row["category"], str) else row["field"],
            "label": _cut(row["text"]),
            "item": _cut(item) if item else "the model returned nothing for this field",
            "similarity": formats.number(row["best_similarity"], digits=2),
            "status": row["status"],
        }


def _cut(text: str) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[:SHOWN_CHARACTERS].rsplit(' ', 1)[0]} ... ({len(text):,} characters)"
