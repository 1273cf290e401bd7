"""Networks of the transformers library: from the folder that a model hub serves, or at any configuration.

Weights are read from `model.safetensors` only, every tensor of the network must be in it with its own shape, and
arithmetic is float32.
"""

from __future__ import annotations

from typing import Any, TypeVar

import torch

from evaluator.errors import ModelCorrupt, ModelMissing
from export.recipe import Sources
from export.shaken import shaken

Net = TypeVar("Net", bound=torch.nn.Module)

CONFIG, WEIGHTS = "config.json", "model.safetensors"
EAGER = {"attn_implementation": "eager", "dtype": torch.float32}


def load(kind: type[Net], sources: Sources) -> Net:
    """The network of `kind` with the mounted weights. Raises ModelMissing or ModelCorrupt."""
    folder = sources.file(CONFIG).parent
    if sources.file(WEIGHTS).parent != folder:
        raise ModelMissing(f"{folder}: {WEIGHTS} must lie beside {CONFIG}")
    loader: Any = kind
    net, told = loader.from_pretrained(
        folder, local_files_only=True, use_safetensors=True, output_loading_info=True, **EAGER
    )
    wrong = sorted({str(item) for what in ("missing_keys", "mismatched_keys", "error_msgs") for item in told[what]})
    if wrong:
        raise ModelCorrupt(f"{folder / WEIGHTS}: not the weights of {kind.__name__}: {', '.join(wrong[:5])}")
    found: Net = net.eval()
    return found


def random(kind: type[Net], config: Any) -> Net:
    """The network of `kind` at a configuration, with seeded random weights."""
    torch.manual_seed(0)
    maker: Any = kind
    config._attn_implementation = "eager"
    found: Net = maker(config).eval()
    return shaken(found)
