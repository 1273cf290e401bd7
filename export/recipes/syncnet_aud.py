"""SyncNet v2, sound (Chung and Zisserman, 2016): 13 cepstra of 20 columns -> one vector. Layers as in AVE-Compass 4.3.

Weights: `syncnet_v2.model`.
"""

from __future__ import annotations

from export.network import Network
from export.onnx_file import seeded
from export.recipe import Sources
from export.shaken import shaken
from export.syncnet import load, sound_layers, whole


def network(divisor: int) -> Network:
    """The file of a network whose layers have this fraction of the channels; its weights are random."""
    examples = (seeded(2, 1, 13, 20, high=20.0),), (seeded(3, 1, 13, 20, high=20.0, seed=1),)
    return Network("syncnet_aud.onnx", shaken(whole(sound_layers(divisor), divisor)), *examples)


def networks(sources: Sources) -> list[Network]:
    """syncnet_aud.onnx with the published weights."""
    found = network(1)
    load(found.module, sources, "aud")
    return [found]


def tiny() -> list[Network]:
    """A sixteenth of the channels."""
    return [network(16)]
