"""Scoring of every kind of task that is not field extraction: labels, hierarchies, questions about contracts."""
