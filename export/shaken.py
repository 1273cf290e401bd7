"""Random weights for networks at a tiny configuration: every parameter is drawn, so that none can hide an error."""

from __future__ import annotations

from typing import TypeVar

import torch

Net = TypeVar("Net", bound=torch.nn.Module)


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
