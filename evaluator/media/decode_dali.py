"""Frames of a clip through DALI: picked by number on the device, converted and resized there, handed out in spans.

Dynamic mode, because every clip wants other frames and one bad file must not stop the next. Three traps are closed
here. An index past the end would give a black frame: `pad_mode="none"` raises instead. A decode without a list of
frames would hold the whole clip in full size: frames are asked for in spans. DALI converts every limited-range clip
with the BT.601 matrix, whatever its tag says: one linear map makes BT.709 of it.

Works on a GPU (NVDEC) and, with the codecs that DALI's CPU build has, on a CPU, which is how it is tested. Which clips
may come here is decided by `source_route`. Sound is never decoded here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.errors import EngineError, MediaError
from evaluator.media.spans import spans
from evaluator.media.steps import Steps, steps
from evaluator.media.types import I64, VideoInfo
from evaluator.runtime import traffic
from evaluator.schema import View

HELD = 512 << 20
"""Bytes of full-size frames that exist at a time, and once more while their colours are corrected: 86 frames of 1080p.
Every call decodes again from the key frame before it, or from the beginning, so few frames a call are slow."""

BT709_FROM_BT601 = (
    (1.0864, -0.0723, -0.0141),
    (0.0965, 0.8451, 0.0584),
    (-0.0141, -0.0277, 1.0418),
)
"""RGB made with the BT.601 matrix -> RGB as the BT.709 matrix makes it: A709 times the inverse of A601."""

KINDS = {"cubic": "INTERP_CUBIC", "linear": "INTERP_LINEAR"}


class DaliSource:
    """Decodes clips on one device. One instance per worker thread: a context has its own threads and stream."""

    def __init__(
        self,
        device: str = "gpu",
        threads: int = 2,
        stream: int | None = None,
        keep: Callable[[Any], Any] | None = None,
    ) -> None:
        """`stream`: handle of the CUDA stream that everything is ordered by. `keep`: makes a tensor of its own out of
        one of DALI's, on the same device (`Device.keep`); without it pictures are handed out on the host only.
        Raises EngineError without DALI.
        """
        self.device = device
        self.keep = keep
        self._dynamic, self._types = _library("nvidia.dali.experimental.dynamic"), _library("nvidia.dali.types")
        place = {"device_id": 0, "cuda_stream": stream} if device == "gpu" else {}
        try:
            self._context = self._dynamic.EvalContext(num_threads=threads, **place)
        except RuntimeError as error:
            raise EngineError(f"DALI cannot use the {device}: {_short(error)}") from error

    def frames(self, path: Path, video: VideoInfo, index: I64) -> Iterator[tuple[I64, Any]]:
        """(indices [n], uint8 RGB [n, H, W, 3] on the device) of the frames `index`, which rise: some at a time.

        Raises MediaError (`corrupt`) if DALI cannot decode what `probe` promised.
        """
        encoded = np.fromfile(path, np.uint8)
        for part in spans(index, video.keys, max(1, HELD // (3 * video.width * video.height))):
            traffic.went_up(encoded.nbytes)  # DALI is given the file again for every call
            yield part, self._decoded(path, encoded, video, part)

    def pictures(self, frames: Any, view: View, video: VideoInfo) -> Any:
        """uint8 [n, h, w, C] on the device: a view of whole frames. Raises MediaError where DALI cannot make it."""
        with self._context:
            how = steps(view, video.width, video.height)
            try:
                return apply(self._dynamic, self._types, frames, how).evaluate()
            except RuntimeError as error:
                message = f"DALI cannot scale the pictures: {_short(error)}"
                raise MediaError("unsupported_picture", message) from error

    def host(self, tensor: Any) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """A copy in host memory."""
        with self._context:
            copy = np.array(tensor.cpu() if self.device == "gpu" else tensor)
        traffic.came_down(copy.nbytes)
        return copy

    def _decoded(self, path: Path, encoded: np.ndarray[Any, Any], video: VideoInfo, index: I64) -> Any:
        dynamic = self._dynamic
        with self._context:
            try:
                picked = [int(number) for number in index]
                source = dynamic.as_tensor(encoded)
                frames = dynamic.decoders.video(source, frames=picked, pad_mode="none", device=self.device).evaluate()
            except RuntimeError as error:
                raise MediaError("corrupt", f"{path}: DALI cannot decode it: {_short(error)}") from error
            matrix = dynamic.as_tensor(np.array(BT709_FROM_BT601, np.float32))
            return corrected(dynamic, self._types, frames, video, matrix).evaluate()


def corrected(ops: Any, types: Any, frames: Any, video: VideoInfo, matrix: Any) -> Any:
    """Frames as DALI decodes them -> frames in the colours that the file's tags mean.

    `matrix` is BT709_FROM_BT601 as `ops` wants it: a tensor for eager calls, nine numbers for a graph.
    """
    if video.matrix != "bt709" or video.full_range:
        return frames
    return ops.coord_transform(frames, M=matrix, dtype=types.UINT8)


def apply(ops: Any, types: Any, frames: Any, how: Steps) -> Any:
    """The steps of a view on uint8 [n, H, W, 3]: the same calls on a CPU and a GPU, eager or in a graph (`fn`)."""
    if how.gray:
        frames = ops.color_space_conversion(frames, image_type=types.RGB, output_type=types.GRAY)
    if how.resizes:
        kind = getattr(types, KINDS[how.kernel])
        frames = ops.resize(frames, size=list(how.scaled[::-1]), interp_type=kind, antialias=how.antialias)
    where = how.crop or (how.border and (-how.border[0], -how.border[1]))
    if where:  # the border of a picture lies outside of it
        box = {"start": list(where), "shape": list(how.target[::-1]), "axis_names": "HW"}
        frames = ops.slice(frames, **box, out_of_bounds_policy="pad", fill_values=0)
    return frames


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise EngineError(f"DALI is not installed ({error}); use the image's gpu target") from error


def _short(error: BaseException) -> str:
    """The last sentence of DALI's message: what comes before it are the operator's coordinates."""
    lines = [line.strip() for line in str(error).splitlines()]
    return " ".join(line for line in lines if line and not line.startswith(("Stacktrace", "[")))[-300:]
