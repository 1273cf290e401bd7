"""ImageBind huge (Girdhar et al., CVPR 2023), image and sound towers; the front end of the sound is in its file.

The architecture is in its authors' repository only (CC BY-NC-SA 4.0): EVALUATOR_CHECKOUT_IMAGEBIND names the folder of
a checkout of GitHub facebookresearch/ImageBind, in an environment that also has what it requires. Weights:
`imagebind_huge.pth`. One ONNX file holds 2 GB at most, so the image tower is in half precision whatever is asked for.

The front end is Kaldi's as torchaudio has it: frames of 400 every 160 that fit whole, their mean off, pre-emphasis
0.97, a symmetric Hann window, 512 points, 128 HTK bands from 20 Hz to 8 kHz that are triangles in mel, natural
logarithm.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as functional

from evaluator.experts.spectral import F64, hertz_to_mel
from export.checkout import CHECKOUTS
from export.network import Network
from export.onnx_file import load_weights, seeded
from export.recipe import Sources
from export.shaken import shaken
from export.sound import fourier_kernels

CHECKOUT = CHECKOUTS["imagebind"]
WEIGHTS = "imagebind_huge.pth"
RATE, FRAME, HOP, FFT, BANDS, COLUMNS = 16_000, 400, 160, 512, 128, 204
LOWEST, EMPHASIS, SMALL = 20.0, 0.97, 1.1920929e-07
MEAN, DEVIATION = -4.268, 9.138


def bank() -> F64:
    """[128, 257]: triangles that are straight in mel; the last bin, at half the rate, is in none."""
    lowest, highest = hertz_to_mel([LOWEST, RATE / 2], "htk").tolist()
    edges = np.linspace(lowest, highest, BANDS + 2)
    mel = hertz_to_mel(np.arange(FFT // 2 + 1) * RATE / FFT, "htk")
    step = edges[1] - edges[0]
    found = np.maximum(0.0, 1.0 - np.abs(mel - edges[1:-1, None]) / step)
    found[:, -1] = 0.0
    return found


class Kaldi(torch.nn.Module):
    """wave [B, 32000] -> columns [B, 1, 128, 204], scaled as the network was trained.

    Mean, pre-emphasis, window and transform of a frame are all linear, and are one convolution.
    """

    def __init__(self) -> None:
        super().__init__()
        window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FRAME) / (FRAME - 1))
        emphasised = np.eye(FRAME) - EMPHASIS * np.eye(FRAME, k=-1)
        emphasised[0, 0] -= EMPHASIS  # the sample before the first is taken to be like it
        centred = np.eye(FRAME) - 1.0 / FRAME
        spectrum = fourier_kernels(window, FFT)[:, 0].double().numpy() @ emphasised @ centred
        self.register_buffer("kernels", torch.from_numpy(spectrum.astype(np.float32))[:, None], persistent=False)
        self.register_buffer("bank", torch.from_numpy(bank().astype(np.float32)), persistent=False)

    def forward(self, wave: torch.Tensor) -> torch.Tensor:
        wave = wave - wave.mean(dim=1, keepdim=True)
        real, imaginary = functional.conv1d(wave[:, None], self.kernels, stride=HOP).chunk(2, dim=1)
        mel = (self.bank @ (real.square() + imaginary.square())).clamp(min=SMALL).log()  # [B, 128, frames]
        padded = functional.pad(mel, (0, COLUMNS - mel.shape[2]))
        return ((padded - MEAN) / DEVIATION)[:, None]


class Tower(torch.nn.Module):
    """One modality of the network -> embedding [B, D]; the published output is brought to length 1 by whoever reads."""

    def __init__(self, net: torch.nn.Module, modality: str, front: torch.nn.Module) -> None:
        super().__init__()
        self.net, self.modality, self.front = net, modality, front

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        embedding: torch.Tensor = self.net({self.modality: self.front(given)})[self.modality]
        return embedding


class Halved(Tower):
    """The image tower with weights of half the size."""

    def __init__(self, net: torch.nn.Module) -> None:
        super().__init__(net, "vision", torch.nn.Identity())
        for parts in (net.modality_preprocessors, net.modality_trunks, net.modality_heads):
            parts[self.modality].half()

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return super().forward(pixels.half()).float()


def towers(net: torch.nn.Module) -> list[Network]:
    """Both files of a network."""
    net = net.eval()
    pixels = (seeded(2, 3, 224, 224),), (seeded(3, 3, 224, 224, seed=1),)
    waves = (seeded(2, 2 * RATE),), (seeded(3, 2 * RATE, seed=1),)
    return [
        Network("imagebind_vision.onnx", Halved(net), *pixels, tolerance=2e-2, half=2e-2),
        Network("imagebind_audio.onnx", Tower(net, "audio", Kaldi()), *waves, full=("/front/",)),
    ]


def networks(sources: Sources) -> list[Network]:
    """Both files with the published weights."""
    net = CHECKOUT.module("imagebind.models.imagebind_model").imagebind_huge(pretrained=False)
    net.load_state_dict(load_weights(sources.file(WEIGHTS)))
    return towers(net)


def tiny() -> list[Network]:
    """Two blocks a tower, and narrow ones."""
    narrow = {f"{tower}_{what}": size for tower in ("vision", "text", "audio") for what, size in SIZES.items()}
    module = CHECKOUT.module("imagebind.models.imagebind_model")
    return towers(shaken(module.ImageBindModel(out_embed_dim=24, audio_drop_path=0.0, **narrow)))


SIZES = {"embed_dim": 32, "num_blocks": 2, "num_heads": 2}
