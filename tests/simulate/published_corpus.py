"""Corpora of the public runs for tests: as published, and as read by default; read once a session."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from dojo_kit.runs.corpus_files import read_corpus, read_overrides
from dojo_kit.simulate import Corpus, Votes, votes_of


@cache
def published(data: Path) -> Corpus:
    """Return the corpus behind the published reports: 17,691 rows with five overrides."""
    overrides = read_overrides(data / "analysis" / "legacy_overrides.json")
    return read_corpus([data / "runs"], legacy=True, overrides=overrides)


@cache
def current(data: Path) -> Corpus:
    """Return the corpus of the same files read by default."""
    return read_corpus([data / "runs"])


@cache
def published_votes(data: Path, task: str) -> Votes:
    """Return the published ballots of a task."""
    return votes_of(published(data), task)


@cache
def current_votes(data: Path, task: str) -> Votes:
    """Return the ballots of a task read by default."""
    return votes_of(current(data), task)
