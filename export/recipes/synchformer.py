"""Synchformer (Iashin et al., ICASSP 2024), experiment 24-01-04T16-39-21: by how much sound and picture are apart.

The architecture is in its authors' repository only (MIT): EVALUATOR_CHECKOUT_SYNCHFORMER names the folder of a checkout
of GitHub v-iashin/Synchformer, in an environment that also has what it requires. Weights:
`24-01-04T16-39-21.pt` and its configuration `cfg-24-01-04T16-39-21.yaml`, as AVE-Compass 4.4 reads them.
"""

from __future__ import annotations

import importlib
from typing import Any

import torch

from evaluator.errors import PrerequisiteError
from export.checkout import CHECKOUTS
from export.network import Network
from export.onnx_file import load_weights, seeded
from export.recipe import Sources
from export.shaken import shaken

CHECKOUT = CHECKOUTS["synchformer"]
VISUAL = CHECKOUT.roots[-1]
MOTIONFORMER = "divided_224_16x4.yaml"
"""The checkout fetches this file of another repository as it runs; here it must be there."""
WEIGHTS, CONFIG = "24-01-04T16-39-21.pt", "cfg-24-01-04T16-39-21.yaml"
OLD, NEW = ".modules.feature_selector.", ".sync_model."


class Offsets(torch.nn.Module):
    """video [B, 14, 16, 3, 224, 224], audio [B, 14, 1, 128, 66] -> logits [B, 21]."""

    def __init__(self, net: torch.nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, video: torch.Tensor, audio: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.net(video, audio)[1]
        return logits


def network(net: torch.nn.Module) -> Network:
    """The file of a network."""
    traced, compared = (
        (seeded(1, 14, 16, 3, 224, 224, seed=seed), seeded(1, 14, 1, 128, 66, seed=seed)) for seed in (0, 1)
    )
    return Network("synchformer.onnx", Offsets(net.eval()), traced, compared, half=2e-2)


def model(config: Any) -> torch.nn.Module:
    """The network of the checkout, without the weights of its two halves, which the experiment's own file has."""
    settings = CHECKOUT.folder / VISUAL / "motionformer_src" / MOTIONFORMER
    if not settings.is_file():
        raise PrerequisiteError(f"{settings}: missing; GitHub facebookresearch/Motionformer has it in configs/SSV2")
    parts = config.model.params
    parts.transformer.target = parts.transformer.target.replace(OLD, NEW)  # as its example does for older experiments
    for half in (parts.afeat_extractor, parts.vfeat_extractor):
        half.params.ckpt_path = None
    with CHECKOUT.opened():  # it imports its parts by the names in the configuration
        made: torch.nn.Module = importlib.import_module("utils.utils").instantiate_from_config(config.model)
    return made


def trimmed(weights: dict[str, torch.Tensor], net: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The weights, longer tables of positions cut to the network's."""
    own = net.state_dict()
    return {
        name: value[:, : own[name].shape[1]] if name.endswith("pos_emb") and name in own else value
        for name, value in weights.items()
    }


def networks(sources: Sources) -> list[Network]:
    """synchformer.onnx with the published weights."""
    config = CHECKOUT.module("omegaconf").OmegaConf.load(sources.file(CONFIG))
    net = model(config)
    net.load_state_dict(trimmed(load_weights(sources.file(WEIGHTS))["model"], net))
    return [network(net)]


def tiny() -> list[Network]:
    """The configuration that the checkout ships for this experiment, at its own size, with random weights."""
    config = CHECKOUT.module("omegaconf").OmegaConf.load(CHECKOUT.folder / "configs" / "sync.yaml")
    return [network(shaken(model(config)))]
