"""Table III of ContractEval (arXiv 2508.03080): the counts its printed figures allow, and how sure they are.

Right ranges were found outside this project by trying every pair of counts.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from dojo_kit.errors import InputError
from dojo_kit.settings import Settings
from dojo_kit.tasks.contracteval.candidates import confusion_candidates, share_hull
from dojo_kit.tasks.contracteval.published import PrintedRow, PublishedTable, published_table, table_iii


@pytest.fixture(scope="module")
def table() -> PublishedTable:
    return published_table()


def test_every_row_has_solutions(table: PublishedTable) -> None:
    """19 of 19, e.g. GPT 4.1 with TP 863-865 and FP 584-592."""
    assert len(table.rows) == 19
    assert table.unsolved == ()
    assert (table.row("GPT 4.1").tp, table.row("GPT 4.1").fp) == ((863, 865), (584, 592))
    assert table.row("Qwen3 4B (thinking)").tp == (58, 58)


def test_as_printed(real_data: Path) -> None:
    """The packaged figures are those of the paper."""
    printed = json.loads((real_data / "contracteval" / "contracteval_table_iii.json").read_text(encoding="utf-8"))

    figures = ("f1", "f2", "jaccard", "false_rate")
    assert [(row["model"], row["tier"], *(row[name] for name in figures)) for row in printed["rows"]] == [
        (row.model, row.tier, *(float(getattr(row, name)) for name in figures)) for row in table_iii()
    ]


@pytest.mark.parametrize("row", table_iii(), ids=lambda row: row.model)
def test_no_solution_is_lost(row: PrintedRow) -> None:
    """Every pair of counts of the grid that rounds to the printed figures is found, and no other."""
    tp, fp = np.meshgrid(np.arange(1245), np.arange(2939), indexing="ij")
    fits = np.ones(tp.shape, dtype=bool)
    for printed, gain, weight in ((row.f1, 2, 1), (row.f2, 5, 4)):
        thousandths = int(Decimal(printed) * 1000)
        denominators = tp + fp + weight * 1244
        fits &= np.abs(10_000 * gain * tp - 10 * thousandths * denominators) <= 5 * denominators

    assert confusion_candidates(row.f1, row.f2).tolist() == np.argwhere(fits).tolist()


def test_the_ends_count() -> None:
    """TP 1 of 1,000 positives without false positives: F1 is 2/1001 = 0.001998, printed 0.002 or, cut, 0.001."""
    assert [1, 0] in confusion_candidates("0.002", "0.001", positives=1000, negatives=3).tolist()
    exact = confusion_candidates("0.5", "0.5", positives=2, negatives=4, tolerance="0")
    assert exact.tolist() == [[1, 1]]  # P = R = 1/2
    half = confusion_candidates("0.0005", "0.0005", positives=10, negatives=3)
    assert half.tolist() == [[0, 0], [0, 1], [0, 2], [0, 3]]


def test_implied_precision_and_recall(table: PublishedTable) -> None:
    """To two digits as the closed form gives them: R = 3 / (5/F2 - 2/F1), P = 1 / (2/F1 - 1/R)."""
    for row in table.rows:
        f1, f2 = row.printed["f1"], row.printed["f2"]
        recall = 3 / (5 / f2 - 2 / f1)
        precision = 1 / (2 / f1 - 1 / recall)
        assert row.recall.value == pytest.approx(recall, abs=0.006)
        assert row.precision.value == pytest.approx(precision, abs=0.006)


def test_intervals(table: PublishedTable) -> None:
    """They hold the printed figure and are as wide as a delta-method interval of one candidate, or a little wider."""
    for row in table.rows:
        for name in ("f1", "f2"):
            estimate = getattr(row, name)
            assert estimate.lo < row.printed[name] < estimate.hi
        tp, fp = row.candidates.mean(axis=0)
        denominator = tp + fp + 1244
        by_tp, by_fp = 2 * (fp + 1244) / denominator**2, -2 * tp / denominator**2
        variance = by_tp**2 * tp * (1 - tp / 1244) + by_fp**2 * fp * (1 - fp / 2938)
        width = row.f1.hi - row.f1.lo
        assert 0.95 < width / (2 * 1.96 * variance**0.5) < 1.15
        assert (row.f1.method, row.f1.seed, row.f1.n_boot) == ("parametric-hull", 42, 2000)


def test_ties(table: PublishedTable) -> None:
    """Ties are mutual, hold the nearest rows and no far one, and bound the ranks."""
    ties = {row.model: set(row.ties) for row in table.rows}

    assert ties["GPT 4.1"] == {"GPT 4.1 mini"}
    assert "Qwen3 14B" in ties["Qwen3 8B AWQ"]
    assert "Gemma 3 4B" not in ties["GPT 4.1"]
    assert all(model in ties[other] for model, others in ties.items() for other in others)
    assert table.row("GPT 4.1").rank == table.row("GPT 4.1 mini").rank == (1, 2)
    assert table.row("DeepSeek R1 Distill Qwen 7B").rank == (18, 19)
    one = table.differences.set_index(["model", "other"]).loc[("GPT 4.1", "Gemini 2.5 Pro Preview")]
    assert one["difference"] == pytest.approx(0.144)
    assert 0 < one["lo"] < 0.144 < one["hi"]
    assert len(table.differences) == 19 * 18 // 2


def test_false_rates(table: PublishedTable) -> None:
    """A printed rate of 0 leaves one count and still an interval; others hold every count that rounds to them."""
    none = table.row("Gemma 3 4B").false_rate
    assert none.lo == 0.0
    assert 0.002 < (none.hi or 0) < 0.004
    assert share_hull("0.0715", confidence=0.95).lo < share_hull("0.071", confidence=0.95).hi
    assert share_hull("1.2", confidence=0.95).value is None


def test_rows_without_a_solution() -> None:
    """Figures that contradict each other have no interval, take part in no tie, and are named."""
    rows = [
        PrintedRow("wrong", "0.900", "0.100", "0.5", "0.1"),
        PrintedRow("right", "0.641", "0.672", "0.472", "0.071"),
        PrintedRow("same", "0.641", "0.672", "0.472", "0.071"),
    ]
    table = published_table(rows)

    assert table.unsolved == ("wrong",)
    wrong = table.row("wrong")
    assert (wrong.tp, wrong.fp, wrong.rank, wrong.ties) == (None, None, None, ())
    assert wrong.f1.value is None
    assert "fit no counts" in wrong.f1.note
    assert table.row("right").ties == ("same",)
    assert table.row("right").rank == (1, 2)
    frame = table.frame()
    assert frame.loc[0, ["tp_min", "f1_lo"]].isna().all()
    json.dumps(table.as_dict(), allow_nan=False)


def test_same_seed_same_intervals(table: PublishedTable) -> None:
    again = published_table(table_iii())
    other = published_table(settings=Settings.model_validate({"statistics": {"seed": 7}}))

    assert again.as_dict() == table.as_dict()
    assert other.row("GPT 4.1").f1.lo != table.row("GPT 4.1").f1.lo
    assert other.row("GPT 4.1").f1.lo == pytest.approx(table.row("GPT 4.1").f1.lo, abs=0.003)


def test_unknown_row(table: PublishedTable) -> None:
    with pytest.raises(InputError, match=r"no row 'GPT-4.1' .did you mean 'GPT 4.1'"):
        table.row("GPT-4.1")
    assert len(table.assumptions) == 4
