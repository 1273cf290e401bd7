"""A view as the steps that turn a whole decoded picture into it: gray, resize, then a crop or a border. Pure numbers.

The steps are the same for every device; each device has one module that carries them out. The CPU's own path
(`evaluator.media.views`) works from the decoder's planes and is the reference.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluator.media.views import Size, scaled_size, target_size
from evaluator.schema import Filter, Fit, View

KERNELS = {
    Filter.BICUBIC: "cubic",
    Filter.BILINEAR: "linear",
    Filter.FFMPEG_BICUBIC: "cubic",
    Filter.FFMPEG_JPEG: "linear",
    Filter.AREA: "linear",
    Filter.FFMPEG_AREA: "linear",
}
"""Filter of a view -> kernel on a device. Every library means something else by "area"; when a picture becomes smaller,
an antialiased triangle is the nearest kernel that all devices have. `doctor` says how far it is from the CPU's."""

AREAS = frozenset({Filter.AREA, Filter.FFMPEG_AREA})


@dataclass(frozen=True, slots=True)
class Steps:
    """What happens to a picture of `source` (width, height), in this order."""

    gray: bool
    source: Size
    scaled: Size
    kernel: str  # "cubic" or "linear"
    antialias: bool
    crop: tuple[int, int] | None  # top, left of a cut of `target` size
    border: tuple[int, int] | None  # top, left of the picture on a black canvas of `target` size
    target: Size

    @property
    def resizes(self) -> bool:
        """Whether the picture is scaled at all."""
        return self.scaled != self.source


def steps(view: View, width: int, height: int) -> Steps:
    """The steps of a view for pictures of width x height. Raises ValueError for a view without a target size."""
    scaled, target = scaled_size(view, width, height), target_size(view, width, height)
    crop = border = None
    if view.fit is Fit.SHORT_SIDE_CROP:
        crop = round((scaled[1] - target[1]) / 2), round((scaled[0] - target[0]) / 2)
    elif view.fit is Fit.LETTERBOX:
        border = (target[1] - scaled[1]) // 2, (target[0] - scaled[0]) // 2
    kernel = "linear" if view.fit is Fit.NATIVE else KERNELS[view.filter]
    antialias = view.antialias or view.filter in AREAS
    return Steps(view.colour == "gray", (width, height), scaled, kernel, antialias, crop, border, target)
