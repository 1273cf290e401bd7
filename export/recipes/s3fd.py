"""S3FD, faces at six scales (Zhang et al., ICCV 2017), as it is published with SyncNet: `sfd_face.pth`.

The network is written here from its description: the layers of VGG-16 up to its fifth block, two convolutions in place
of the fully connected layers (the first dilated by 6), four more that halve the map twice; maps 3, 4 and 5 are scaled
to a learned length per channel; one convolution per map for offsets and one for scores. The finest map has three
scores for the background, of which the largest counts. A module's attribute and position are its published name.
Boxes are made of the heads at run time (`evaluator.experts.s3fd_boxes`).
"""

from __future__ import annotations

import torch
from torch.nn import Conv2d, MaxPool2d, ModuleList, Parameter, ReLU
from torch.nn.functional import relu

from evaluator.errors import ModelCorrupt
from export.network import Network
from export.onnx_file import load_weights, seeded
from export.recipe import Sources
from export.shaken import shaken

WEIGHTS = "sfd_face.pth"
BLOCKS = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))
"""(channels, convolutions) of VGG-16; a pooling follows each block, and that of the third rounds up."""
TAPS = (16, 23, 30)
"""Positions in the trunk before the poolings of blocks 3, 4 and 5: what the three finest maps see."""
WIDE = 1024
EXTRAS = ((256, 1), (512, 2), (128, 1), (256, 2))
"""(channels, stride); a stride of two goes with a kernel of three."""
LENGTHS = (10.0, 8.0, 5.0)
"""What the three scales are before training."""
EPSILON = 1e-10


class Scaled(torch.nn.Module):
    """[B, C, H, W], every position brought to length 1 over the channels, times a weight per channel."""

    def __init__(self, channels: int, length: float) -> None:
        super().__init__()
        self.weight = Parameter(torch.full((channels,), length))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        length = x.pow(2).sum(dim=1, keepdim=True).sqrt() + EPSILON
        return x / length * self.weight[:, None, None]


class Faces(torch.nn.Module):
    """image [B, 3, H, W] -> offsets [B, A, 4], scores [B, A, 2]: maps from fine to coarse, in each by rows."""

    def __init__(self, divisor: int = 1) -> None:
        super().__init__()
        self.vgg = ModuleList(trunk(divisor))
        third, fourth, fifth = (BLOCKS[block][0] // divisor for block in (2, 3, 4))
        self.L2Norm3_3, self.L2Norm4_3, self.L2Norm5_3 = map(Scaled, (third, fourth, fifth), LENGTHS)
        inputs = (WIDE, *(channels for channels, _ in EXTRAS[:-1]))
        self.extras = ModuleList(
            Conv2d(before // divisor, channels // divisor, 2 * stride - 1, stride, stride - 1)
            for before, (channels, stride) in zip(inputs, EXTRAS, strict=True)
        )
        seen = (third, fourth, fifth, WIDE // divisor, EXTRAS[1][0] // divisor, EXTRAS[3][0] // divisor)
        self.loc = ModuleList(Conv2d(channels, 4, 3, padding=1) for channels in seen)
        self.conf = ModuleList(Conv2d(channels, 2 if place else 4, 3, padding=1) for place, channels in enumerate(seen))

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        maps = self.maps(image)
        offsets = [by_anchor(head(x)) for head, x in zip(self.loc, maps, strict=True)]
        scores = [by_anchor(one_background(head(x))) for head, x in zip(self.conf, maps, strict=True)]
        return torch.cat(offsets, dim=1), torch.cat(scores, dim=1)

    def maps(self, x: torch.Tensor) -> list[torch.Tensor]:
        """The six maps that the heads look at."""
        found = []
        scale = dict(zip(TAPS, (self.L2Norm3_3, self.L2Norm4_3, self.L2Norm5_3), strict=True))
        for position, layer in enumerate(self.vgg):
            if position in scale:
                found.append(scale[position](x))
            x = layer(x)
        found.append(x)
        for position, layer in enumerate(self.extras):
            x = relu(layer(x))
            if position % 2:
                found.append(x)
        return found


def trunk(divisor: int) -> list[torch.nn.Module]:
    """VGG-16 without its last pooling's successors, then the two convolutions that replace its linear layers."""
    made: list[torch.nn.Module] = []
    before = 3
    for block, (channels, convolutions) in enumerate(BLOCKS):
        for _ in range(convolutions):
            made += [Conv2d(before, channels // divisor, 3, padding=1), ReLU()]
            before = channels // divisor
        made.append(MaxPool2d(2, 2, ceil_mode=block == 2))
    wide = WIDE // divisor
    return [*made, Conv2d(before, wide, 3, padding=6, dilation=6), ReLU(), Conv2d(wide, wide, 1), ReLU()]


def one_background(scores: torch.Tensor) -> torch.Tensor:
    """[B, 2, H, W] of [B, n, H, W]: the largest of all but the last, and the last."""
    return torch.cat([scores[:, :-1].amax(dim=1, keepdim=True), scores[:, -1:]], dim=1)


def by_anchor(head: torch.Tensor) -> torch.Tensor:
    """[B, H W, n] of [B, n, H, W]."""
    return head.flatten(2).transpose(1, 2)


def network(divisor: int) -> Network:
    """The file of a network whose layers have this fraction of the channels; its weights are random."""
    examples = (
        (seeded(1, 3, *size, low=-120.0, high=130.0, seed=seed),) for seed, size in enumerate(((96, 128), (134, 74)))
    )
    return Network("s3fd.onnx", shaken(Faces(divisor)), *examples, full=("/L2Norm",))  # sums of squares pass 65504


def networks(sources: Sources) -> list[Network]:
    """s3fd.onnx with the published weights. Raises ModelCorrupt unless every name and shape fits."""
    found = network(1)
    try:
        found.module.load_state_dict(load_weights(sources.file(WEIGHTS)))
    except RuntimeError as error:
        raise ModelCorrupt(f"{WEIGHTS}: not the weights of S3FD: {error}") from error
    return [found]


def tiny() -> list[Network]:
    """A sixteenth of the channels."""
    return [network(16)]
