"""Networks of the transformers library: from the folder that a model hub serves, or at any configuration.

Weights are read from `model.safetensors` only, every tensor of the network must be in it with its own shape, and
arithmetic is float32. Importing this module keeps transformers from importing torchvision: no network here needs it,
and the wheel of torchvision does not load beside a torch of another build.
"""

from __future__ import annotations

import sys
from typing import Any, TypeVar

import torch

sys.modules.setdefault("torchvision", None)  # type: ignore[arg-type]  None says: not there

from evaluator.errors import ModelCorrupt, ModelMissing
from export.recipe import Sources

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


def shaken(net: Net) -> Net:
    """The network with every parameter drawn anew: initial values such as all zeros or all ones would hide errors.

    Normal with deviation 1 / sqrt(inputs), around 1 for scales; statistics of normalisations become positive.
    """
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, value in [*net.named_parameters(), *net.named_buffers()]:
            if not value.is_floating_point():
                continue
            fan = value[0].numel() if value.dim() > 1 else 100
            drawn = torch.randn(value.shape, generator=generator) / max(1, fan) ** 0.5
            if name.endswith(("running_var", "original0")):
                value.copy_(1 + drawn.abs())
            elif isinstance(value, torch.nn.Parameter) or name.endswith("running_mean"):
                value.copy_(1 + drawn if is_scale(name, value) else drawn)
    return net


def is_scale(name: str, value: torch.Tensor) -> bool:
    """Whether a parameter is the scale of a normalisation, as far as its name and form say so."""
    return name.endswith("weight") and value.dim() == 1
