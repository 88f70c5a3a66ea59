"""The published resampling stream: Python's Mersenne Twister, one ``randrange(n)`` per drawn unit.

Stored intervals were drawn with a fresh ``random.Random(seed)`` per interval: per round n times
``randrange(n)``, units in record order, and the sorted means of the rounds. This module draws the same
numbers in bulk, so that a stored interval can be recomputed to the last digit in milliseconds. New intervals
use `dojo_kit.stats.intervals`.

CPython's ``randrange(n)`` takes the top k bits of the next 32-bit output, k being ``n.bit_length()``, and
rejects results that are not below n. For a power of two k is one more than needed, so half the outputs are
rejected there too, and even ``randrange(1)`` consumes the stream. NumPy's MT19937 produces the same 32-bit
outputs once it is given Python's state.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Bounds = Literal["runner", "monte_carlo"]
"""Which of the sorted means are the bounds, see `legacy_bootstrap`."""

_BLOCK_CELLS = 2_000_000
_MAX_N = 2**32 - 1
_SMALLEST_RUNNER_N_BOOT = 21


def legacy_indices(n: int, n_boot: int, *, seed: int = 42) -> NDArray[np.intp]:
    """Draw the resampled units of every round.

    Args:
        n: Units.
        n_boot: Rounds.
        seed: Seed of the stream.

    Returns:
        Positions of the drawn units, shape (n_boot, n), not writeable.

    Raises:
        ValueError: n or n_boot is out of range.

    Examples:
        >>> import random
        >>> rng = random.Random(42)
        >>> [rng.randrange(5) for _ in range(5)]
        [0, 0, 2, 1, 1]
        >>> legacy_indices(5, 1).tolist()
        [[0, 0, 2, 1, 1]]
    """
    _check_sizes(n, n_boot)
    return _cached_indices(n, n_boot, seed) if n * n_boot <= _BLOCK_CELLS else _indices(n, n_boot, seed)


def legacy_means(values: ArrayLike, *, seed: int = 42, n_boot: int = 2000) -> NDArray[np.float64]:
    """Means of the rounds, sorted.

    Every mean is the left-to-right sum over the drawn units divided by n, as plain Python adds floats.

    Args:
        values: One value per unit in record order, shape (n,); booleans count as 0 and 1.
        seed: Seed of the stream.
        n_boot: Rounds.

    Returns:
        Shape (n_boot,), ascending.

    Raises:
        ValueError: There are no values, one of them is not finite, or n_boot is out of range.

    Examples:
        >>> legacy_means([0.0, 1.0], n_boot=4).tolist()
        [0.0, 0.0, 0.0, 0.5]
    """
    units = np.asarray(values, dtype=np.float64)
    if units.ndim != 1 or not np.isfinite(units).all():
        raise ValueError("values must be one finite number per unit")
    n = len(units)
    _check_sizes(n, n_boot)
    blocks = [_cached_indices(n, n_boot, seed)] if n * n_boot <= _BLOCK_CELLS else _blocks(n, n_boot, seed)
    # cumsum adds from left to right; sum() adds pairwise and can differ in the last bit
    sums = [np.cumsum(units[block], axis=1)[:, -1] for block in blocks]
    means: NDArray[np.float64] = np.sort(np.concatenate(sums) / n)
    return means


def legacy_bootstrap(
    values: ArrayLike, *, seed: int = 42, n_boot: int = 2000, bounds: Bounds = "runner"
) -> tuple[float, float]:
    """95 % percentile interval of a mean, as published.

    Args:
        values: One value per unit in record order, shape (n,).
        seed: Seed of the stream.
        n_boot: Rounds, B below.
        bounds: ``runner`` takes the sorted means number round(.025 B) - 1 and round(.975 B) - 1, counted
            from 0 and rounded half to even; ``monte_carlo`` number int(.025 B) and int(.975 B).

    Returns:
        Lower and upper bound, not rounded.

    Raises:
        ValueError: There are no values, one is not finite, n_boot is out of range, or bounds is unknown.

    Examples:
        >>> legacy_bootstrap([1.0, 1.0, 0.0, 1.0, 0.5])
        (0.3, 1.0)
        >>> legacy_bootstrap([0.25, 0.5, 0.75], n_boot=200, bounds="monte_carlo")
        (0.25, 0.75)
    """
    if bounds == "runner":
        if n_boot < _SMALLEST_RUNNER_N_BOOT:
            raise ValueError(f"runner bounds need n_boot >= {_SMALLEST_RUNNER_N_BOOT}, not {n_boot}")
        low, high = round(0.025 * n_boot) - 1, round(0.975 * n_boot) - 1
    elif bounds == "monte_carlo":
        low, high = int(0.025 * n_boot), int(0.975 * n_boot)
    else:
        raise ValueError(f"unknown bounds {bounds!r}; known: runner, monte_carlo")
    means = legacy_means(values, seed=seed, n_boot=n_boot)
    return float(means[low]), float(means[high])


def _check_sizes(n: int, n_boot: int) -> None:
    if not 1 <= n <= _MAX_N:
        raise ValueError(f"the number of units must lie between 1 and {_MAX_N}, not {n}")
    if n_boot < 1:
        raise ValueError(f"n_boot must be at least 1, not {n_boot}")


def _indices(n: int, n_boot: int, seed: int) -> NDArray[np.intp]:
    indices = np.concatenate(list(_blocks(n, n_boot, seed)))
    indices.flags.writeable = False
    return indices


_cached_indices = lru_cache(maxsize=4)(_indices)


def _blocks(n: int, n_boot: int, seed: int) -> Iterator[NDArray[np.intp]]:
    """Yield drawn units, shape (rounds in the block, n), as one uninterrupted stream."""
    twister = _twister(seed)
    shift = np.uint64(32 - n.bit_length())
    accepted_share = n / 2 ** n.bit_length()
    rounds = max(1, _BLOCK_CELLS // n)
    drawn = np.empty(0, dtype=np.intp)
    for start in range(0, n_boot, rounds):
        wanted = min(rounds, n_boot - start) * n
        while len(drawn) < wanted:
            missing = wanted - len(drawn)
            raw = twister.random_raw(int(missing / accepted_share * 1.02) + 64) >> shift
            drawn = np.concatenate([drawn, raw[raw < n].astype(np.intp)])
        yield drawn[:wanted].reshape(-1, n)
        drawn = drawn[wanted:]


def _twister(seed: int) -> np.random.MT19937:
    """Return NumPy's Mersenne Twister in the state Python's has after seeding."""
    *key, position = random.Random(seed).getstate()[1]
    twister = np.random.MT19937()
    twister.state = {
        "bit_generator": "MT19937",
        "state": {"key": np.array(key, dtype=np.uint32), "pos": position},
    }
    return twister
