"""Text and values: what two strings must share to be called the same.

Pure functions on strings. `tokens` holds canonical text and tokens, `names` the keys of names and
identifiers, `output` the unwrapping of raw model output, `dates`, `money` and `durations` the typed values.
"""
