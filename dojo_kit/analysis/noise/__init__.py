"""The noise floor: which runs are reruns of each other, and how far apart chance alone puts them.

`find_reruns` says which runs differ in nothing but chance and why others do not qualify; `noise_floor` measures them;
`NoiseFloor.band` is what a difference between two other runs is held against.
"""

from dojo_kit.analysis.noise.floor import NoiseFloor, Pool, noise_floor
from dojo_kit.analysis.noise.reruns import RerunGroup, Reruns, find_reruns
from dojo_kit.analysis.noise.tables import noise_as_dict, noise_from_dict

__all__ = [
    "NoiseFloor",
    "Pool",
    "RerunGroup",
    "Reruns",
    "find_reruns",
    "noise_as_dict",
    "noise_floor",
    "noise_from_dict",
]
