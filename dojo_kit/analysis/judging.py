"""Does a judge agree with the deterministic score, and where does it lean?

A judge calls an extraction accurate, partial or inaccurate; the score is strong, middle or weak. The published rate of
agreement counts rows as scored that it can never count as agreeing (middle scores, ``partial`` verdicts), so it stands
beside agreement over decisive rows, the whole table, and Cohen's kappa (Cohen 1960), which is what is left of agreement
when chance is taken out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from dojo_kit.errors import InputError
from dojo_kit.scoring.confusion import ratio
from dojo_kit.settings import Settings, resolve
from dojo_kit.stats.cells import CellBootstrap
from dojo_kit.stats.intervals import Array, Estimate, undefined, wilson

if TYPE_CHECKING:
    import pandas as pd

Correctness = Literal["accurate", "partial", "inaccurate"]
Completeness = Literal["complete", "partial", "incomplete"]
Verdict = Literal["correct", "incorrect", "ambiguous"]

CORRECTNESS: tuple[Correctness, ...] = get_args(Correctness)
COMPLETENESS: tuple[Completeness, ...] = get_args(Completeness)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
BANDS = ("strong", "middle", "weak")
"""Bands of the deterministic score, in the order of the verdicts that agree with them."""

_VALUES = np.array([1.0, 0.5, 0.0])
"""What a band or a verdict stands for when the two are subtracted."""

_ROW, _COLUMN = np.divmod(np.arange(9), 3)
_NO_VERDICT = "no row has both a verdict and a score"


@dataclass(frozen=True, slots=True)
class Judgment:
    """What a judge said of one extracted document.

    Attributes:
        document: Name of the document.
        score: Its deterministic overall score; None when there is none.
        correctness: The verdict; None when the judge gave none.
        ambiguous_fields: Fields that asked for a judge.
        completeness: Whether everything was extracted; None when the judge did not say.
        error: Why there is no verdict.
        judge: Who judged, e.g. a model; empty when the file does not say.
        experiment: The run judged; empty when the file does not say.
    """

    document: str
    score: float | None
    correctness: Correctness | None
    ambiguous_fields: tuple[str, ...] = ()
    completeness: Completeness | None = None
    error: str = ""
    judge: str = ""
    experiment: str = ""


@dataclass(frozen=True, slots=True)
class LabelJudgment:
    """What a judge said afterwards of a classification that does not equal the label.

    Attributes:
        document: Name of the document.
        expected: Its label.
        predicted: What the model said.
        verdict: Whether the judge calls the answer correct; None when it did not say.
        quality: How good it is, 0 to 1; None when the judge did not say.
        confidence: How sure the model was; None when it did not say.
    """

    document: str
    expected: str
    predicted: str
    verdict: Verdict | None
    quality: float | None = None
    confidence: float | None = None


@dataclass(frozen=True, eq=False)
class Calibration:
    """A judge against the deterministic score.

    Attributes:
        strong: Score from which a row is strong.
        weak: Score up to which it is weak.
        n_judged: Documents judged.
        n_scored: Those with a verdict and a score; all figures below are over them.
        table: Documents by band (row: strong, middle, weak) and verdict (column: accurate, partial, inaccurate).
        agree_rate: Share of scored rows that are strong and accurate, or weak and inaccurate: the published figure,
            low by construction, as middle scores and ``partial`` verdicts cannot agree.
        decisive_agreement: The same share of the rows that can: neither middle nor ``partial``.
        judge_strict: Strong rows called inaccurate.
        judge_lenient: Weak rows called accurate.
        kappa: Cohen's kappa over the whole table; its interval draws documents.
        kappa_weighted: The same with linear weights: a verdict one step off counts half as much as one two steps off.
        lean: Mean of verdict minus band, each 1, 0.5 or 0; above 0 the judge is more lenient than the score.
        by_field: One row per field that asked for a judge: counts, agreement and lean of its documents.
        by_band: One row per band: counts of verdicts and lean.
        completeness: Documents by how complete the judge calls them.
        n_errors: Documents for which the judge gave no verdict.
        judge: Who judged.
        experiment: The run judged.
    """

    strong: float
    weak: float
    n_judged: int
    n_scored: int
    table: pd.DataFrame
    agree_rate: Estimate
    decisive_agreement: Estimate
    judge_strict: int
    judge_lenient: int
    kappa: Estimate
    kappa_weighted: Estimate
    lean: Estimate
    by_field: pd.DataFrame
    by_band: pd.DataFrame
    completeness: Mapping[str, int]
    n_errors: int
    judge: str = ""
    experiment: str = ""

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """The rates and coefficients by name."""
        names = ("agree_rate", "decisive_agreement", "kappa", "kappa_weighted", "lean")
        return {name: getattr(self, name) for name in names}

    def as_dict(self) -> dict[str, Any]:
        """Return the calibration as JSON-ready values."""
        return {
            "judge": self.judge,
            "experiment": self.experiment,
            "n_judged": self.n_judged,
            "n_scored": self.n_scored,
            "n_errors": self.n_errors,
            "judge_strict": self.judge_strict,
            "judge_lenient": self.judge_lenient,
            "bands": {"strong_ge": self.strong, "weak_le": self.weak},
            **{name: estimate.as_dict() for name, estimate in self.estimates.items()},
            "table": {band: {name: int(n) for name, n in row.items()} for band, row in self.table.T.items()},
            "by_field": _records(self.by_field),
            "by_band": _records(self.by_band),
            "completeness": dict(self.completeness),
        }


def calibrate_judge(
    judgments: Iterable[Judgment],
    *,
    judge: str | None = None,
    experiment: str | None = None,
    settings: Settings | None = None,
) -> Calibration:
    """Compare a judge's verdicts with the deterministic scores of the same documents.

    Args:
        judgments: One per document; of several of one document the callers keep one (`read_judgments` the last).
        judge: The judge to look at, where several judged.
        experiment: The run to look at, where several were judged.
        settings: Gives the bands (the ends of ``field_scoring.ambiguous_band``) and how intervals are made.

    Raises:
        InputError: Several judges or runs are mixed and none is chosen, or there is no such judge or run.

    Examples:
        >>> rows = [Judgment("a", 0.9, "accurate"), Judgment("b", 0.4, "accurate"), Judgment("c", 0.7, "partial")]
        >>> found = calibrate_judge(rows)
        >>> found.agree_rate.value, found.decisive_agreement.value, found.judge_lenient
        (0.3333333333333333, 0.5, 1)
    """
    settings = resolve(settings)
    rows = _only(list(judgments), "judge", judge)
    rows = sorted(_only(rows, "experiment", experiment), key=lambda one: one.document)
    weak, strong = settings.field_scoring.ambiguous_band
    scored = [row for row in rows if row.correctness is not None and row.score is not None]
    cells = np.array([_cell(row, strong, weak) for row in scored], dtype=np.int64)
    statistics = settings.statistics
    boot = CellBootstrap(statistics.n_resamples, statistics.seed, statistics.confidence)
    counts = np.bincount(cells, minlength=9)
    agree = int(counts[0] + counts[8])
    decisive = int(counts[[0, 2, 6, 8]].sum())
    fields = list(dict.fromkeys(name for row in scored for name in row.ambiguous_fields))
    of_field = {name: [name in row.ambiguous_fields for row in scored] for name in sorted(fields)}
    of_band = {band: list(_ROW[cells] == index) for index, band in enumerate(BANDS)}
    return Calibration(
        strong=strong,
        weak=weak,
        n_judged=len(rows),
        n_scored=len(scored),
        table=_table(counts),
        agree_rate=_share(agree, len(scored), statistics.confidence, _NO_VERDICT),
        decisive_agreement=_share(
            agree, decisive, statistics.confidence, "every score is middling or every verdict partial"
        ),
        judge_strict=int(counts[2]),
        judge_lenient=int(counts[6]),
        kappa=_kappa(boot, cells, _DISAGREEMENT),
        kappa_weighted=_kappa(boot, cells, _STEPS),
        lean=_lean(boot, cells),
        by_field=_groups("field", of_field, cells, boot),
        by_band=_groups("band", of_band, cells, boot),
        completeness={str(name): sum(row.completeness == name for row in rows) for name in COMPLETENESS},
        n_errors=sum(row.correctness is None for row in rows),
        judge=rows[0].judge if rows else judge or "",
        experiment=rows[0].experiment if rows else experiment or "",
    )


def _only(rows: list[Judgment], name: str, wanted: str | None) -> list[Judgment]:
    found = sorted({getattr(row, name) for row in rows})
    listed = ", ".join(repr(one) for one in found)
    if wanted is None:
        if len(found) > 1:
            message = f"judgments of {len(found)} {name}s are mixed: {listed}"
            raise InputError(message, field=name, expected=f"one {name} to be chosen")
        return rows
    if wanted not in found:
        raise InputError(f"no {name} {wanted!r}", field=name, expected=f"one of {listed or 'none, there are no rows'}")
    return [row for row in rows if getattr(row, name) == wanted]


def _cell(row: Judgment, strong: float, weak: float) -> int:
    score = row.score or 0.0
    band = 0 if score >= strong else 2 if score <= weak else 1
    return 3 * band + CORRECTNESS.index(row.correctness or "partial")


def _share(part: int, whole: int, confidence: float, why: str) -> Estimate:
    return wilson(part, whole, confidence=confidence) if whole else undefined(why)


def _table(counts: Array | Any) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(counts.reshape(3, 3), index=list(BANDS), columns=list(CORRECTNESS))


_DISAGREEMENT = (_ROW != _COLUMN).astype(float)
_STEPS = np.abs(_ROW - _COLUMN) / 2


def _kappa(boot: CellBootstrap, cells: Any, weights: Array) -> Estimate:
    """Estimate kappa: 1 - observed disagreement over that of chance, each weighted."""
    if not len(cells):
        return undefined(_NO_VERDICT)
    observed = boot.draw(cells, np.eye(9))
    both = "band and verdict never vary, so that agreement by chance is complete"
    estimate = observed.estimate(_kappa_of(weights), undefined_because=both)
    table = observed.observed.reshape(3, 3)
    constant = [
        name
        for name, sums in (("score is in one band", table.sum(axis=1)), ("verdict is the same", table.sum(axis=0)))
        if np.count_nonzero(sums) == 1
    ]
    if estimate.value is None or not constant:
        return estimate
    note = f"every {constant[0]}: kappa is 0 whatever the other says"
    return Estimate(estimate.value, None, None, "none", estimate.n, note=note)


def _kappa_of(weights: Array) -> Callable[[Array], Array]:
    def kappa(sums: Array) -> Array:
        n = sums.sum(axis=1)
        tables = sums.reshape(-1, 3, 3)
        by_chance = (tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]).reshape(-1, 9) @ weights
        return 1 - ratio((sums @ weights) * n, by_chance)

    return kappa


def _lean(boot: CellBootstrap, cells: Any) -> Estimate:
    if not len(cells):
        return undefined(_NO_VERDICT)
    drawn = boot.draw(cells, np.eye(9))
    steps = _VALUES[_COLUMN] - _VALUES[_ROW]
    return drawn.estimate(lambda sums: (sums @ steps) / sums.sum(axis=1), undefined_because=_NO_VERDICT)


def _groups(name: str, members: Mapping[str, Sequence[bool]], cells: Any, boot: CellBootstrap) -> pd.DataFrame:
    """Count verdicts and leaning of groups of rows."""
    import pandas as pd

    columns = [name, "n", *CORRECTNESS, "agree", "strict", "lenient", "lean", "lean_lo", "lean_hi"]
    rows = []
    for group, mask in members.items():
        mine = cells[np.asarray(mask, dtype=bool)]
        counts = np.bincount(mine, minlength=9)
        lean = _lean(boot, mine)
        verdicts = (int(n) for n in counts.reshape(3, 3).sum(axis=0))
        agree, strict, lenient = (int(n) for n in (counts[0] + counts[8], counts[2], counts[6]))
        rows.append((group, len(mine), *verdicts, agree, strict, lenient, lean.value, lean.lo, lean.hi))
    return pd.DataFrame(rows, columns=columns)


@dataclass(frozen=True, eq=False)
class LabelJudging:
    """What a judge said of classifications that do not equal their labels.

    Attributes:
        n: Rows judged.
        verdicts: Rows by verdict.
        correct_share: Share called correct of those with a verdict: what may be wrong with the labels.
        quality: Mean quality.
        pairs: One row per label and answer: rows, and how many of them the judge calls correct; most frequent first.
    """

    n: int
    verdicts: Mapping[str, int]
    correct_share: Estimate
    quality: Estimate
    pairs: pd.DataFrame

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as JSON-ready values."""
        return {
            "n": self.n,
            "verdicts": dict(self.verdicts),
            "correct_share": self.correct_share.as_dict(),
            "quality": self.quality.as_dict(),
            "pairs": _records(self.pairs),
        }


def summarise_label_judgments(judgments: Iterable[LabelJudgment], *, settings: Settings | None = None) -> LabelJudging:
    """Count what a judge said of failed classifications.

    Args:
        judgments: One per document.
        settings: Gives how intervals are made.

    Examples:
        >>> rows = [LabelJudgment("a", "license", "ip", "correct", 0.8), LabelJudgment("b", "ip", "lease", "incorrect")]
        >>> found = summarise_label_judgments(rows)
        >>> found.correct_share.value, found.quality.value
        (0.5, 0.8)
    """
    import pandas as pd

    statistics = resolve(settings).statistics
    rows = sorted(judgments, key=lambda one: one.document)
    boot = CellBootstrap(statistics.n_resamples, statistics.seed, statistics.confidence)
    verdicts = {str(name): sum(row.verdict == name for row in rows) for name in VERDICTS}
    quality = boot.mean([row.quality for row in rows if row.quality is not None])
    frame = pd.DataFrame(
        [(row.expected, row.predicted, row.verdict == "correct") for row in rows],
        columns=["expected", "predicted", "correct"],
    )
    pairs = frame.groupby(["expected", "predicted"])["correct"].agg(n="size", n_correct="sum").reset_index()
    pairs = pairs.sort_values(["n", "expected", "predicted"], ascending=[False, True, True], kind="stable")
    return LabelJudging(
        n=len(rows),
        verdicts=verdicts,
        correct_share=_share(verdicts["correct"], sum(verdicts.values()), statistics.confidence, "no verdict"),
        quality=quality if quality.value is not None else undefined("the judge stated no quality"),
        pairs=pairs.reset_index(drop=True),
    )


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a frame as JSON-ready rows; what is missing is None."""
    clean = frame.astype(object).where(frame.notna(), None)
    return [
        {str(name): value.item() if isinstance(value, np.generic) else value for name, value in row.items()}
        for row in clean.to_dict("records")
    ]
