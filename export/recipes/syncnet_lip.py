"""SyncNet v2, lips (Chung and Zisserman, 2016): five frames -> one vector. Layers as in AVE-Compass 4.3.

Weights: `syncnet_v2.model`.
"""

from __future__ import annotations

from export.network import Network
from export.onnx_file import seeded
from export.recipe import Sources
from export.shaken import shaken
from export.syncnet import lip_layers, load, whole


def network(divisor: int) -> Network:
    """The file of a network whose layers have this fraction of the channels; its weights are random."""
    shape = 3, 5, 224, 224  # the last convolution leaves one position of exactly this
    examples = (seeded(1, *shape, low=0.0, high=255.0),), (seeded(2, *shape, low=0.0, high=255.0, seed=1),)
    return Network("syncnet_lip.onnx", shaken(whole(lip_layers(divisor), divisor)), *examples)


def networks(sources: Sources) -> list[Network]:
    """syncnet_lip.onnx with the published weights."""
    found = network(1)
    load(found.module, sources, "lip")
    return [found]


def tiny() -> list[Network]:
    """A sixteenth of the channels."""
    return [network(16)]
