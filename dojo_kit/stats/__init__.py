"""Intervals and comparisons on plain arrays: no frames, no files, no knowledge of what is measured."""
