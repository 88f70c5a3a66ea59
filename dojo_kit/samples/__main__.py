"""``python -m dojo_kit.samples FOLDER`` writes the sample corpus."""

from __future__ import annotations

import argparse
import sys

from dojo_kit.errors import InputError
from dojo_kit.samples import N_CONTRACTS, SEED, write_samples


def main() -> int:
    """Write the sample and say what was written."""
    parser = argparse.ArgumentParser(prog="python -m dojo_kit.samples", description="Write the sample corpus.")
    parser.add_argument("folder", help="where to write it, e.g. data")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--contracts", type=int, default=N_CONTRACTS, help=f"how many, {N_CONTRACTS} by default")
    given = parser.parse_args()
    try:
        manifest = write_samples(given.folder, seed=given.seed, n_contracts=given.contracts)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{given.folder}: {len(manifest.files)} files, {len(manifest.faults)} planted faults, seed {manifest.seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
