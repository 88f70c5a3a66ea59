"""A sample corpus that this project wrote itself: contracts, labels and runs with known, planted faults.

`write_samples` writes it from a seed. Since every fault is on record, the sample shows whether the package
finds what is there, and gives the notebooks something to look at without anyone else's data.
"""

from dojo_kit.samples.manifest import Manifest, PlantedFault, SampleDocument
from dojo_kit.samples.shipped import sample_data
from dojo_kit.samples.write import N_CONTRACTS, SEED, write_samples

__all__ = ["N_CONTRACTS", "SEED", "Manifest", "PlantedFault", "SampleDocument", "sample_data", "write_samples"]
