"""Small compared runs with every verdict, and rerun noise that is whatever a test wants it to be."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from grid_pages import HOSTILE

from dojo_kit.analysis.compare import Comparison, compare
from dojo_kit.analysis.noise import NoiseFloor, noise_floor
from dojo_kit.records import LabelRow, Run, RunMeta, Usage
from dojo_kit.stats.compare import Band


@dataclass(frozen=True)
class Noise:
    """A band that is the same for every metric."""

    value: float | None
    m: int = 4
    deltas: tuple[float, ...] = ()

    def band(
        self,
        metric: str,
        *,
        task: str,
        model: str,
        surface: str,
        without: Collection[str] = (),
        recipe: Mapping[str, str | None] | None = None,
    ) -> Band:
        return Band(self.value, None, self.m, self.deltas, "" if self.value is not None else "two pairs only")


def label_run(
    name: str, wrong: Collection[int], *, n: int = 60, prompt: str = "v1", failed: int = -1, day: int = 1
) -> Run:
    """A run of ``n`` contracts that are a lease or a licence in turn, some answered wrongly."""
    meta = RunMeta(
        "subtype_classification",
        name=name,
        model="maker/model",
        prompt_version=prompt,
        timestamp=f"2026-01-{day:02}T09:00:00+00:00",
    )
    return Run(meta, tuple(_row(i, i in wrong, i == failed) for i in range(n)), source=f"/home/ada/{name}.json")


def _row(i: int, is_wrong: bool, is_failed: bool) -> LabelRow:
    truth, other = ("license", "agency") if i % 2 else ("agency", "license")
    answered = {} if is_failed else {"predicted": other if is_wrong else truth}
    more = {"status": "failed", "error": "timeout"} if is_failed else {}
    name = f"Document {i:02} {HOSTILE if i == 0 else ''}".strip()
    return LabelRow(name, usage=Usage(9, 1), expected=truth, **answered, **more)


def comparison(
    b_wrong: Collection[int] = (), *, a_wrong: Collection[int] = range(12), noise: Noise | None = None, failed: int = -1
) -> Comparison:
    """Run B against run A, in which by default 12 of 60 answers are wrong."""
    a = label_run("run_a", a_wrong)
    return compare(a, label_run("run_b", b_wrong, prompt="v2", failed=failed, day=2), noise=noise)


def floor(n_runs: int = 4) -> NoiseFloor:
    """Reruns of one prompt, each of which has two other answers wrong; the last one is a replay of the first."""
    runs = [label_run(f"reruns_{k}", {2 * k, 2 * k + 1}, day=k + 1) for k in range(n_runs)]
    if runs:
        again = label_run("replay", {0, 1}, day=20)
        bare = tuple(LabelRow(row.document, expected=row.expected, predicted=row.predicted) for row in again.rows)
        runs.append(Run(again.meta, bare, source=again.source))
    return noise_floor(runs)
