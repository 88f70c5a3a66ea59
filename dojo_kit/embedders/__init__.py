"""Embedders: models of this machine, endpoints, and the cache that makes a second run read vectors only.

The rule by which a cosine lifts a score is in `dojo_kit.scoring.embedding`; here are files, models and the network.
"""

from dojo_kit.embedders.cache import CachedModel, CacheInfo, VectorCache, cache_file
from dojo_kit.embedders.cached import CachedEmbedder
from dojo_kit.embedders.endpoint import EndpointEmbedder
from dojo_kit.embedders.load import load_embedder
from dojo_kit.embedders.local import LocalEmbedder

__all__ = [
    "CacheInfo",
    "CachedEmbedder",
    "CachedModel",
    "EndpointEmbedder",
    "LocalEmbedder",
    "VectorCache",
    "cache_file",
    "load_embedder",
]
