"""Placeholder docstring, replaced as the package grows."""
