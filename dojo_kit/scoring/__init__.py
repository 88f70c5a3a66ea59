"""Scoring: from a predicted and an expected value to a score with its reason, and from runs to frames."""
