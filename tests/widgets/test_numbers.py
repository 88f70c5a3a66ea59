"""Numbers look the same in a view, drawn by JavaScript, and in what Python prints: ties go to the even digit."""

from __future__ import annotations

import json
import shutil
import subprocess
from random import Random

import pytest

from dojo_widgets.assets import STATIC

VALUES = [0.0, 1.0, 0.5625, 0.125, 0.375, 0.5, 1.5, 2.5, 0.005, 0.015, 0.545, 5 / 8, 7 / 8, 1.005, 2.675, -0.125, -2.5]
DIGITS = (0, 1, 2, 3)

SCRIPT = """
const { fixed, percent } = await import(process.argv[1]);
const { values, digits } = JSON.parse(process.argv[2]);
console.log(JSON.stringify(values.map((value) => [...digits.map((n) => fixed(value, n)), percent(value)])));
"""


def test_a_view_rounds_as_python_does() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on the path")
    random = Random(4)
    values = [
        *VALUES,
        *(n / 16 for n in range(64)),
        *(n / 200 for n in range(200)),
        *(random.random() for _ in "x" * 99),
    ]
    carried = json.dumps({"values": values, "digits": DIGITS})
    command = [node, "--input-type=module", "-e", SCRIPT, (STATIC / "numbers.js").as_uri(), carried]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    python = [[*(f"{value:.{n}f}" for n in DIGITS), f"{value:.0%}"] for value in values]
    assert json.loads(done.stdout) == python
