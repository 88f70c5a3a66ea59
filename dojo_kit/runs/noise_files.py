"""Noise floors in files: measured once, named in every result that is held against them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from dojo_kit.analysis.noise import NoiseFloor, noise_as_dict, noise_from_dict
from dojo_kit.runs.sources import PathLike, decode_text, read_bytes, source_path
from dojo_kit.runs.strict_json import parse_json
from dojo_kit.storage import write_text

_FILE = "a noise floor as `dojo noise --out` writes it"


def write_noise(path: PathLike, floor: NoiseFloor) -> NoiseFloor:
    """Write a noise floor as JSON, whole or not at all.

    Args:
        path: The file; its folder is made when missing, and a file that is there is replaced.
        floor: The noise floor.

    Returns:
        The noise floor as it is read back: its ``source`` is the file.

    Raises:
        InputError: The file cannot be written.
    """
    entries = ",\n".join(f"{_line(key)}: {_lines(value)}" for key, value in noise_as_dict(floor).items())
    write_text(Path(path), f"{{\n{entries}\n}}\n")
    return replace(floor, source=str(path))


def _lines(value: Any) -> str:
    """Render a table with one row a line, so that two files can be compared line by line."""
    return "[\n" + ",\n".join(map(_line, value)) + "\n]" if isinstance(value, list) and value else _line(value)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def read_noise(path: PathLike) -> NoiseFloor:
    """Read a noise floor.

    Args:
        path: A file of `write_noise`.

    Returns:
        The noise floor; its ``source`` is the file.

    Raises:
        InputError: The file is missing, no strict JSON or no noise floor; the message names the file and the field.
    """
    file = source_path(path, expected=_FILE)
    text = decode_text(read_bytes(file, expected=_FILE), file=file)
    return noise_from_dict(parse_json(text, file=file, expected=_FILE), source=str(path))
